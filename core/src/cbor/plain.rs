//! Stepping over containers as writers of the format leave them: definite lengths, few levels, ASCII text.
//!
//! The general walk in [`super::cursor`] asks of every item what it might be. This walk knows what to expect, and returns
//! `None` at the first byte that it does not expect, without saying why. The general walk then starts again from the
//! item's first byte, and it finds what is wrong, if anything is.
//!
//! # Plain walk
//!
//! ```text
//! loop:
//!     while no items are left in this level:     go back to the level around it; return at the outermost
//!     read a first byte; one item less is left
//!     short text:   skip its bytes
//!     container:    push a level
//!     number:       skip its bytes
//!     byte string, or map with its number of entries in a byte of its own, as keys of GRIB have them: the same
//!     anything else: give up
//! ```
//!
//! # Trick: check all text at once
//!
//! A text of ASCII has no byte of 0x80 or more ("high" bytes here), and ASCII is UTF-8. Checking each text costs a loop of
//! its own, with a start and an end. So the walk does not read texts. It counts the high bytes of everything else: first
//! bytes, length bytes and numbers. Afterwards one vectorised pass counts the high bytes of the whole item. If both counts
//! are equal, no text has a high byte.
//!
//! This is right because each byte of the item belongs to a text or to something else, never to both. It gives up on text
//! that is valid UTF-8 but not ASCII; the general walk accepts that.

use super::head::{first, info};
use super::utf8::Check;
use crate::target::IS_SMALL;

/// Containers inside each other that this walk follows, at most.
const LEVELS: usize = 8;

/// An observer of the walk: it gets what the walk meets, with positions in bytes from the item's start.
pub(super) trait Witness {
    /// Whether the walk may meet byte strings, and maps of 24 entries and more. It gives up at them otherwise.
    const KNOWS_LONG: bool = false;
    /// A first byte, or the length byte after one, at `at`.
    fn head(&mut self, at: usize);
    /// The `len` bytes of a number at `at`.
    fn number(&mut self, at: usize, len: usize);
}

/// An observer that remembers nothing.
impl Witness for () {
    const KNOWS_LONG: bool = true;

    #[inline]
    fn head(&mut self, _at: usize) {}
    #[inline]
    fn number(&mut self, _at: usize, _len: usize) {}
}

/// The bytes after the item that `bytes` begin with, in which at most `nesting` containers may be inside each other.
/// `None` if the item is not plain, or not well-formed.
#[inline(never)]
pub(super) fn skip(bytes: &[u8], check: Check, nesting: u16) -> Option<&[u8]> {
    skip_checked::<false, ()>(bytes, check, nesting, &mut ())
}

/// [`skip`] for a map whose keys are all text; `None` for any other item. The `witness` hears of what the walk meets, even
/// if the walk gives up later.
#[inline(never)]
pub(super) fn skip_text_map<'a, W: Witness>(
    bytes: &'a [u8],
    check: Check,
    nesting: u16,
    witness: &mut W,
) -> Option<&'a [u8]> {
    let &head = bytes.first()?;
    let is_map = head.wrapping_sub(first::MAP) < info::SHORT_END || (W::KNOWS_LONG && head == first::MAP_8);
    if is_map { skip_checked::<true, W>(bytes, check, nesting, witness) } else { None }
}

#[inline]
fn skip_checked<'a, const TEXT_KEYS: bool, W: Witness>(
    bytes: &'a [u8],
    check: Check,
    nesting: u16,
    witness: &mut W,
) -> Option<&'a [u8]> {
    if IS_SMALL || usize::from(nesting) < LEVELS {
        return None;
    }
    let (rest, high) = walk::<TEXT_KEYS, W>(bytes, witness)?;
    if check == Check::Done {
        return Some(rest);
    }
    let items = bytes.get(..bytes.len().saturating_sub(rest.len()))?;
    (high_bytes(items) == high).then_some(rest)
}

/// The bytes after the item, and how many bytes of 0x80 or more it has outside of texts. With `TEXT_KEYS` every other item
/// of the outermost container has to be text.
#[inline]
fn walk<'a, const TEXT_KEYS: bool, W: Witness>(bytes: &'a [u8], witness: &mut W) -> Option<(&'a [u8], usize)> {
    let (mut rest, mut high) = (bytes, 0_usize);
    // Items still to come: `left` in the innermost level, `outer[..depth]` in the levels around it.
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
        // Short texts are most of what there is. Their first byte is below 0x80.
        let text = head.wrapping_sub(first::TEXT);
        if text < info::SHORT_END {
            rest = after.get(text.into()..)?;
            continue;
        }
        // A map of n entries begins with `left` at 2·n, so before a key `left` was even and now it is odd.
        if TEXT_KEYS && depth == 1 && left & 1 == 1 && head != first::TEXT_8 {
            return None;
        }
        if head < first::UNSIGNED_SHORT_END || head.wrapping_sub(first::NEGATIVE) < info::SHORT_END {
            rest = after;
        } else if let Some(items) = container(head) {
            // First bytes of arrays and maps are high.
            high = high.wrapping_add(1);
            rest = after;
            if items > rest.len() {
                return None;
            }
            *outer.get_mut(depth)? = left;
            depth = depth.wrapping_add(1);
            left = items;
        } else if W::KNOWS_LONG
            && let Some(width) = bytes_width(head)
        {
            let (length, behind) = after.split_at_checked(width)?;
            let length = match *length {
                [] => usize::from(head.wrapping_sub(first::BYTES)),
                [one] => usize::from(one),
                [upper, lower] => usize::from(u16::from_be_bytes([upper, lower])),
                _ => return None,
            };
            let len = width.checked_add(length)?;
            high = high.wrapping_add(high_bytes(after.get(..len)?));
            rest = behind.get(length..)?;
        } else if W::KNOWS_LONG && head == first::MAP_8 {
            let (&entries, behind) = after.split_first()?;
            high = high.wrapping_add(1).wrapping_add((entries >> 7).into());
            rest = behind;
            let items = usize::from(entries).wrapping_mul(2);
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
            if head == first::TEXT_8 {
                rest = rest.get(usize::from(*number.first()?)..)?;
                witness.head(at.wrapping_add(1));
            } else {
                witness.number(at.wrapping_add(1), number.len());
            }
        }
    }
}

/// How many items follow this first byte, if it opens an array or map of fewer than 24 entries.
#[inline]
fn container(head: u8) -> Option<usize> {
    match head {
        first::ARRAY..first::ARRAY_SHORT_END => Some(usize::from(head.wrapping_sub(first::ARRAY))),
        first::MAP..first::MAP_SHORT_END => Some(usize::from(head.wrapping_sub(first::MAP)).wrapping_mul(2)),
        _ => None,
    }
}

/// How many bytes of length follow this first byte of a byte string of up to 64 KiB.
#[inline]
fn bytes_width(head: u8) -> Option<usize> {
    match head {
        first::BYTES..first::BYTES_SHORT_END => Some(0),
        first::BYTES_8 => Some(1),
        first::BYTES_16 => Some(2),
        _ => None,
    }
}

/// How many bytes of number or length follow this first byte of a plain item.
#[inline]
pub(super) fn number(head: u8) -> Option<usize> {
    match head {
        first::UNSIGNED_8 | first::NEGATIVE_8 | first::TEXT_8 => Some(1),
        first::UNSIGNED_16 | first::NEGATIVE_16 | first::FLOAT_16 => Some(2),
        first::UNSIGNED_32 | first::NEGATIVE_32 | first::FLOAT_32 => Some(4),
        first::UNSIGNED_64 | first::NEGATIVE_64 | first::FLOAT_64 => Some(8),
        first::FALSE..=first::UNDEFINED => Some(0),
        _ => None,
    }
}

/// How many bytes are 0x80 or more.
///
/// ```text
/// plainly:   sum of (byte >> 7) over all bytes
/// trick:     treat eight bytes as one word; word >> 7 & 0x0101…01 has each byte's top bit in the byte's lowest place
///            add such words: each byte of the sum counts one column
///            sum * 0x0101…01 has the sum of all eight columns in its highest byte
/// ```
///
/// The columns' sum has to fit a byte, so only 255 / 8 words are added before the sum is taken.
#[inline]
pub(super) fn high_bytes(bytes: &[u8]) -> usize {
    let (words, odd) = bytes.as_chunks::<8>();
    let sum_of = |words: &[[u8; 8]]| {
        let sums = words.iter().fold(0, |sums, word| (u64::from_ne_bytes(*word) >> 7 & EACH_BYTE).wrapping_add(sums));
        (sums.wrapping_mul(EACH_BYTE) >> 56) as usize
    };
    let whole = words.chunks(255 / 8).fold(0, |sum: usize, words| sum.wrapping_add(sum_of(words)));
    odd.iter().fold(whole, |sum, byte| sum.wrapping_add((byte >> 7).into()))
}

/// 1 in each byte.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
