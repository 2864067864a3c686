//! Stepping over maps that are alike: the same keys in the same order, with values of nearly the same length.
//!
//! The entries of `base` are such maps: one for each object, all written by the same program.
//!
//! # Plain walk
//!
//! ```text
//! for each map:  read a head; skip its bytes; read the next head; …
//! ```
//!
//! A walk waits for each head, because only that head says where the next one is.
//!
//! # Trick: compare with a model
//!
//! The first map is walked, and becomes the model. The walk notes of each byte of the model how much of it has to be the
//! same in a sibling:
//!
//! | byte of the model | bits that must be equal | why |
//! |---|---|---|
//! | head, or length of a text | all | the sibling then has its next head at the same place |
//! | text | the highest | it is 0, so the sibling's text is ASCII too, which is UTF-8 |
//! | number | none | any bytes are a number |
//!
//! A sibling is then compared with the model 64 bytes at a time:
//!
//! ```text
//! for each byte:  differs = (sibling ^ model) & bits that must be equal
//! ```
//!
//! If nothing differs, the sibling has the model's structure, and so it is well-formed and as long as the model.
//!
//! If a head differs, the two values may only differ in length, such as "2t" and "10u". Then both values are stepped over,
//! and the comparison goes on after them. Anything else ends the comparison, and the sibling is walked plainly and becomes
//! the next model.
//!
//! # Why this is right
//!
//! Every byte of a head is compared in full, so the sibling's items have the types and lengths of the model's, up to the
//! first difference. A value that differs is read on its own, and it must be flat: a text or an integer, in the place of
//! one of the same type. So the items after it are again in the order of the model's.

use super::head::{first, split_first_byte};
use super::plain::{self, Witness, high_bytes, number};
use super::utf8::Check;
use crate::target::IS_SMALL;

/// Bytes that a model and the padding after it may have. Larger maps are walked plainly.
const ROOM: usize = 1024;
/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Words that are compared at once.
const BLOCK_WORDS: usize = 8;
/// Bytes that are compared at once. So many bytes after the model match anything, because a map may end inside a block.
const BLOCK: usize = BLOCK_WORDS * WORD;
/// Arrays of up to this many maps are walked map by map: learning a model would take longer.
pub(super) const FEW: usize = if IS_SMALL { usize::MAX } else { 2 };

/// A walk over maps with text keys that lie side by side.
pub(super) struct Siblings<'a> {
    /// The model, and a block of bytes after it. Empty if there is no model.
    model: &'a [u8],
    /// For each byte of `model`, the bits that a sibling must share: [`HEAD`], [`TEXT`] or [`NUMBER`].
    fixed: [u8; ROOM],
    /// How many bytes of `fixed` the last model wrote.
    used: usize,
}

impl<'a> Siblings<'a> {
    /// A walk before the first map.
    pub(super) const fn new() -> Self {
        Self { model: &[], fixed: [TEXT; ROOM], used: 0 }
    }

    /// The bytes after the map that `bytes` begin with, in which at most `nesting` containers may be inside each other.
    /// `None` if the map is not plain, or not well-formed. Every call must give the same `check` and `nesting`.
    #[inline]
    pub(super) fn skip(&mut self, bytes: &'a [u8], check: Check, nesting: u16) -> Option<&'a [u8]> {
        let rest = self.skip_alike(bytes).or_else(|| self.skip_as_model(bytes, check, nesting));
        // A map that cannot be a model is walked all the same.
        rest.or_else(|| plain::skip_text_map(bytes, check, nesting, &mut ()))
    }

    /// The bytes after a map that has the structure of the model; `None` for any other.
    #[inline]
    pub(super) fn skip_alike(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (mut model, mut rest) = (self.model, bytes);
        let mut fixed = self.fixed.get(..model.len()).filter(|fixed| !fixed.is_empty())?;
        // The comparison must not read beyond the bytes. The last map is often too close to the end, and is walked.
        while rest.len() >= model.len() {
            let Some(at) = first_difference(fixed, model, rest) else {
                return rest.get(model.len().saturating_sub(BLOCK)..);
            };
            if *fixed.get(at)? != HEAD {
                return None;
            }
            // The difference may be in a text's length byte. The value then begins one byte before, with its first byte.
            let at = match (fixed.get(..at)?.last(), model.get(..at)?.last()) {
                (Some(&HEAD), Some(&first::TEXT_8)) => at.saturating_sub(1),
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

    /// Walks a map plainly, and makes it the model if it fits.
    #[inline(never)]
    fn skip_as_model(&mut self, bytes: &'a [u8], check: Check, nesting: u16) -> Option<&'a [u8]> {
        self.fixed.get_mut(..self.used)?.fill(TEXT);
        // If the walk gives up, there is no model, and any byte of `fixed` may have been written.
        (self.model, self.used) = (&[], ROOM);
        let rest = plain::skip_text_map(bytes, check, nesting, self)?;
        let len = bytes.len().saturating_sub(rest.len());
        if let Some(behind) = self.fixed.get_mut(len..).and_then(|behind| behind.get_mut(..BLOCK)) {
            behind.fill(NUMBER);
            self.used = len.wrapping_add(BLOCK);
            self.model = bytes.get(..self.used).unwrap_or_default();
        }
        Some(rest)
    }
}

/// Bits that must be equal in a byte of a head: all.
const HEAD: u8 = 0xff;
/// Bits that must be equal in a byte of a text: the highest.
const TEXT: u8 = 0x80;
/// Bits that must be equal in a byte of a number: none.
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

/// The first byte in which a fixed bit differs from the model's. Looks at whole blocks only.
#[inline]
fn first_difference(fixed: &[u8], model: &[u8], bytes: &[u8]) -> Option<usize> {
    let blocks = fixed.as_chunks().0.iter().zip(model.as_chunks().0).zip(bytes.as_chunks().0);
    for (number, ((fixed, model), bytes)) in blocks.enumerate() {
        let [fixed, model, bytes] = [fixed, model, bytes].map(words);
        let differ = fixed.zip(model).zip(bytes).map(|((fixed, model), bytes)| (bytes ^ model) & fixed);
        // One branch for the whole block, so the eight words are compared in vector registers.
        if differ.clone().fold(0, |all, word| all | word) != 0 {
            let (word, bits) = differ.enumerate().find(|(_, word)| *word != 0)?;
            let words = number.wrapping_mul(BLOCK_WORDS).wrapping_add(word);
            return Some(words.wrapping_mul(WORD).wrapping_add(bits.trailing_zeros() as usize / 8));
        }
    }
    None
}

/// The words of a block. Little-endian, so that the lowest set bit belongs to the first byte.
#[inline]
fn words(block: &[u8; BLOCK]) -> impl Iterator<Item = u64> + Clone {
    block.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// A text in one piece, or an integer.
struct Flat {
    is_text: bool,
    /// Bytes of its head; of an integer all bytes.
    head: usize,
    /// Bytes of the whole item.
    len: usize,
}

impl Flat {
    /// The item that `bytes` begin with, if it is flat.
    fn at(bytes: &[u8]) -> Option<Self> {
        let &head = bytes.first()?;
        let (is_text, head, text) = match head {
            first::UNSIGNED..first::UNSIGNED_SHORT_END | first::NEGATIVE..first::NEGATIVE_SHORT_END => (false, 1, 0),
            first::UNSIGNED_8..=first::UNSIGNED_64 | first::NEGATIVE_8..=first::NEGATIVE_64 => {
                (false, number(head)?.wrapping_add(1), 0)
            }
            first::TEXT..first::TEXT_SHORT_END => (true, 1, usize::from(split_first_byte(head).1)),
            first::TEXT_8 => (true, 2, usize::from(*bytes.get(1)?)),
            _ => return None,
        };
        Some(Self { is_text, head, len: text.wrapping_add(head) })
    }
}
