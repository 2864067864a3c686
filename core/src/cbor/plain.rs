//! Stepping over containers as writers of the format leave them: definite lengths, few levels, ASCII.
//!
//! The general walk in [`super::cursor`] asks of every item what it might be; this one knows what it will be, and gives up
//! without a word where it is something else, so that the general walk begins anew and says what is wrong.
//!
//! Texts are not looked at one by one. ASCII has no byte of 0x80 or more; the heads and numbers in between have some, which
//! the walk counts as it meets them. If the whole item has as many, its texts have none.

use super::cursor::Check;
use crate::target::IS_SMALL;

/// Containers inside each other that this walk follows, at most.
const LEVELS: usize = 8;

/// Somebody who is told what a walk meets, and how many bytes from its start.
pub(super) trait Witness {
    /// A head, or a length behind one.
    fn head(&mut self, at: usize);
    /// The bytes of a number.
    fn number(&mut self, at: usize, len: usize);
}

/// Nobody.
impl Witness for () {
    #[inline]
    fn head(&mut self, _at: usize) {}
    #[inline]
    fn number(&mut self, _at: usize, _len: usize) {}
}

/// What follows the item that `bytes` begin with, in which at most `nesting` containers may be inside each other; `None`
/// if the item is not plain, or not well-formed.
#[inline(never)]
pub(super) fn skip(bytes: &[u8], check: Check, nesting: u16) -> Option<&[u8]> {
    skip_checked::<false>(bytes, check, nesting, &mut ())
}

/// [`skip`] for a map whose keys are text, and nothing else. The `witness` is told of what there is, even if in the end
/// that is not returned.
#[inline(never)]
pub(super) fn skip_text_map<'a>(
    bytes: &'a [u8],
    check: Check,
    nesting: u16,
    witness: &mut impl Witness,
) -> Option<&'a [u8]> {
    let head = bytes.first()?.wrapping_sub(0xa0);
    if head < 24 { skip_checked::<true>(bytes, check, nesting, witness) } else { None }
}

#[inline]
fn skip_checked<'a, const TEXT_KEYS: bool>(
    bytes: &'a [u8],
    check: Check,
    nesting: u16,
    witness: &mut impl Witness,
) -> Option<&'a [u8]> {
    if IS_SMALL || usize::from(nesting) < LEVELS {
        return None;
    }
    let (rest, high) = walk::<TEXT_KEYS>(bytes, witness)?;
    if check == Check::Done {
        return Some(rest);
    }
    let items = bytes.get(..bytes.len().saturating_sub(rest.len()))?;
    (high_bytes(items) == high).then_some(rest)
}

/// What follows the item, and how many bytes of 0x80 or more its heads and numbers have. With `TEXT_KEYS` every other item
/// in the outermost container has to be text.
#[inline]
fn walk<'a, const TEXT_KEYS: bool>(bytes: &'a [u8], witness: &mut impl Witness) -> Option<(&'a [u8], usize)> {
    let (mut rest, mut high) = (bytes, 0_usize);
    // Items still to come, in the levels around the innermost one and in that one.
    let (mut outer, mut depth, mut left) = ([0_usize; LEVELS], 0_usize, 1_usize);
    loop {
        while left == 0 {
            if depth == 0 {
                return Some((rest, high));
            }
            depth = depth.wrapping_sub(1);
            left = *outer.get(depth)?;
        }
        let at = bytes.len().wrapping_sub(rest.len());
        let (&head, after) = rest.split_first()?;
        witness.head(at);
        left = left.wrapping_sub(1);
        let text = head.wrapping_sub(0x60);
        if text < 24 {
            rest = after.get(text.into()..)?;
            continue;
        }
        if TEXT_KEYS && depth == 1 && left & 1 == 1 && head != LONG_TEXT {
            return None;
        }
        if head < 24 || head.wrapping_sub(0x20) < 24 {
            rest = after;
        } else if let Some(items) = container(head) {
            high = high.wrapping_add(1);
            rest = after;
            if items > rest.len() {
                return None;
            }
            *outer.get_mut(depth)? = left;
            depth = depth.wrapping_add(1);
            left = items;
        } else {
            let (number, behind) = after.split_at_checked(number(head)?)?;
            high = high.wrapping_add((head >> 7).into()).wrapping_add(high_bytes(number));
            rest = behind;
            if head == LONG_TEXT {
                rest = rest.get(usize::from(*number.first()?)..)?;
                witness.head(at.wrapping_add(1));
            } else {
                witness.number(at.wrapping_add(1), number.len());
            }
        }
    }
}

/// Head of a text whose length is in the next byte.
pub(super) const LONG_TEXT: u8 = 0x78;

/// How many items an array or map has whose head is one byte.
#[inline]
fn container(head: u8) -> Option<usize> {
    match head {
        0x80..0x98 => Some(usize::from(head.wrapping_sub(0x80))),
        0xa0..0xb8 => Some(usize::from(head.wrapping_sub(0xa0)).wrapping_mul(2)),
        _ => None,
    }
}

/// How many bytes the number has that follows this head of a plain item.
#[inline]
pub(super) fn number(head: u8) -> Option<usize> {
    match head {
        0x18 | 0x38 | LONG_TEXT => Some(1),
        0x19 | 0x39 | 0xf9 => Some(2),
        0x1a | 0x3a | 0xfa => Some(4),
        0x1b | 0x3b | 0xfb => Some(8),
        // False, true, null, undefined.
        0xf4..=0xf7 => Some(0),
        _ => None,
    }
}

/// How many bytes are 0x80 or more.
#[inline]
pub(super) fn high_bytes(bytes: &[u8]) -> usize {
    let (words, odd) = bytes.as_chunks::<8>();
    // Eight sums in one word, and their sum in its highest byte, which holds 255.
    let sum_of = |words: &[[u8; 8]]| {
        let sums = words.iter().fold(0, |sums, word| (u64::from_ne_bytes(*word) >> 7 & EACH_BYTE).wrapping_add(sums));
        (sums.wrapping_mul(EACH_BYTE) >> 56) as usize
    };
    let whole = words.chunks(255 / 8).fold(0, |sum: usize, words| sum.wrapping_add(sum_of(words)));
    odd.iter().fold(whole, |sum, byte| sum.wrapping_add((byte >> 7).into()))
}

/// 1 in each byte.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
