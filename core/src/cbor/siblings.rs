//! Stepping over maps that are made alike, as the entries of `base` are: the same keys in the same order, and values that
//! hardly differ in length.
//!
//! A walk waits for each head before it knows where the next one is. Of a map that is made as another one was, all those
//! places are known before: it is compared, 64 bytes at a time, with what the other one's heads were. Where a value is
//! longer or shorter than its sibling, both are stepped over, and the comparison goes on behind them.

use super::cursor::Check;
use super::plain::{self, LONG_TEXT, Witness, high_bytes, number};
use crate::target::IS_SMALL;

/// Bytes of a map up to which others are compared with it.
const ROOM: usize = 1024;
/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Words that are compared at once.
const BLOCK: usize = 8;
/// Bytes of a block. So many behind a model are made to be like anything, as it need not end where a block does.
const BEHIND: usize = BLOCK * WORD;
/// Arrays of up to this many maps are walked map by map: learning a model would take longer.
pub(super) const FEW: usize = if IS_SMALL { usize::MAX } else { 2 };

/// Maps with text keys side by side.
pub(super) struct Siblings<'a> {
    /// The one that the next ones are compared with, and what stands behind it; nothing if there is none.
    model: &'a [u8],
    /// The bits of each of its bytes in which they have to be like it: all of heads and lengths, the highest of text, none
    /// of numbers.
    fixed: [u8; ROOM],
    /// How many of its bytes there may be of a map that was to be the model.
    used: usize,
}

impl<'a> Siblings<'a> {
    /// Before the first of them.
    pub(super) const fn new() -> Self {
        Self { model: &[], fixed: [TEXT; ROOM], used: 0 }
    }

    /// What follows the map that `bytes` begin with, in which at most `nesting` containers may be inside each other; `None` if
    /// it is not plain, or not well-formed. `nesting` and `check` are the same for all of them.
    #[inline]
    pub(super) fn skip(&mut self, bytes: &'a [u8], check: Check, nesting: u16) -> Option<&'a [u8]> {
        self.skip_alike(bytes).or_else(|| self.skip_as_model(bytes, check, nesting))
    }

    /// [`Self::skip`] for a map that is made as the model is.
    #[inline]
    pub(super) fn skip_alike(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (mut model, mut rest) = (self.model, bytes);
        let mut fixed = self.fixed.get(..model.len()).filter(|fixed| !fixed.is_empty())?;
        // Where the comparison would reach behind the bytes, they are walked.
        while rest.len() >= model.len() {
            let Some(at) = first_difference(fixed, model, rest) else {
                return rest.get(model.len().saturating_sub(BEHIND)..);
            };
            if *fixed.get(at)? != HEAD {
                return None;
            }
            let at = match (fixed.get(..at)?.last(), model.get(..at)?.last()) {
                (Some(&HEAD), Some(&LONG_TEXT)) => at.saturating_sub(1),
                _ => at,
            };
            let (theirs, ours) = (Flat::at(model.get(at..)?)?, Flat::at(rest.get(at..)?)?);
            let (value, behind) = rest.get(at..)?.split_at_checked(ours.len)?;
            if theirs.is_text != ours.is_text || high_bytes(value.get(ours.head..)?) > 0 {
                return None;
            }
            rest = behind;
            let next = at.checked_add(theirs.len)?;
            (fixed, model) = (fixed.get(next..)?, model.get(next..)?);
        }
        None
    }

    /// [`Self::skip`] for a map that the next ones are to be compared with.
    #[inline(never)]
    fn skip_as_model(&mut self, bytes: &'a [u8], check: Check, nesting: u16) -> Option<&'a [u8]> {
        self.fixed.get_mut(..self.used)?.fill(TEXT);
        (self.model, self.used) = (&[], ROOM);
        let rest = plain::skip_text_map(bytes, check, nesting, self)?;
        let len = bytes.len().saturating_sub(rest.len());
        if let Some(behind) = self.fixed.get_mut(len..).and_then(|behind| behind.get_mut(..BEHIND)) {
            behind.fill(NUMBER);
            self.used = len.wrapping_add(BEHIND);
            self.model = bytes.get(..self.used).unwrap_or_default();
        }
        Some(rest)
    }
}

/// What is fixed of a byte of a head, of a text, of a number.
const HEAD: u8 = 0xff;
const TEXT: u8 = 0x80;
const NUMBER: u8 = 0;

impl Witness for Siblings<'_> {
    #[inline]
    fn head(&mut self, at: usize) {
        if let Some(fixed) = self.fixed.get_mut(at) {
            *fixed = HEAD;
        }
    }

    #[inline]
    fn number(&mut self, at: usize, len: usize) {
        if let Some(number) = self.fixed.get_mut(at..).and_then(|fixed| fixed.get_mut(..len)) {
            number.fill(NUMBER);
        }
    }
}

/// The first byte of which bits that are fixed are not the model's, as far as there are whole blocks.
#[inline]
fn first_difference(fixed: &[u8], model: &[u8], bytes: &[u8]) -> Option<usize> {
    let blocks = fixed.as_chunks().0.iter().zip(model.as_chunks().0).zip(bytes.as_chunks().0);
    for (number, ((fixed, model), bytes)) in blocks.enumerate() {
        let [fixed, model, bytes] = [fixed, model, bytes].map(words);
        let differ = fixed.zip(model).zip(bytes).map(|((fixed, model), bytes)| (bytes ^ model) & fixed);
        if differ.clone().fold(0, |all, word| all | word) != 0 {
            let (word, bits) = differ.enumerate().find(|(_, word)| *word != 0)?;
            let words = number.wrapping_mul(BLOCK).wrapping_add(word);
            return Some(words.wrapping_mul(WORD).wrapping_add(bits.trailing_zeros() as usize / 8));
        }
    }
    None
}

/// The words of a block, whose first bytes are the lowest bits.
#[inline]
fn words(block: &[u8; BEHIND]) -> impl Iterator<Item = u64> + Clone {
    block.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// A text in one piece or an integer.
struct Flat {
    is_text: bool,
    /// Bytes of its head, with those of a number.
    head: usize,
    /// Bytes of all of it.
    len: usize,
}

impl Flat {
    /// The one that `bytes` begin with.
    fn at(bytes: &[u8]) -> Option<Self> {
        let &first = bytes.first()?;
        let (is_text, head, text) = match first {
            0..0x18 | 0x20..0x38 => (false, 1, 0),
            0x18..=0x1b | 0x38..=0x3b => (false, number(first)?.wrapping_add(1), 0),
            0x60..0x78 => (true, 1, usize::from(first & 0x1f)),
            LONG_TEXT => (true, 2, usize::from(*bytes.get(1)?)),
            _ => return None,
        };
        Some(Self { is_text, head, len: text.wrapping_add(head) })
    }
}
