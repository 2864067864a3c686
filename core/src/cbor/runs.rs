//! Unsigned integers in a row, as encoded bytes: eight at a time, as most of them have the same width.
//!
//! ```text
//! plainly:   for each integer:  read its head, which says where the next head is
//! trick:     all integers with the first head's byte have the same width W
//!            so look at bytes 0, W, 2W, … 7W at once; if all equal the first head, step over 8·W bytes
//! ```
//!
//! The eight loads do not wait for each other, so long arrays take a fraction of the time. The offsets and lengths of an
//! index are mostly of one width, and so are the offsets of szip's intervals, which can be thousands.

use super::head::first;
use crate::target::READS_ONE_BY_ONE;

/// Integers that are looked at together.
pub(super) const EIGHT: usize = 8;

/// Steps over integers that begin with the same byte, at most `most` of them. Returns how many these are, and the bytes after
/// them.
#[inline]
pub(super) fn skip_alike(bytes: &[u8], most: usize) -> (usize, &[u8]) {
    if most < EIGHT || READS_ONE_BY_ONE {
        return (0, bytes);
    }
    let (width, count) = match bytes.first() {
        Some(&head @ first::UNSIGNED_8) => (2, alike::<2>(bytes, head, most)),
        Some(&head @ first::UNSIGNED_16) => (3, alike::<3>(bytes, head, most)),
        Some(&head @ first::UNSIGNED_32) => (5, alike::<5>(bytes, head, most)),
        Some(&head @ first::UNSIGNED_64) => (9, alike::<9>(bytes, head, most)),
        _ => (1, bytes.iter().take(most).take_while(|&&byte| byte < first::UNSIGNED_SHORT_END).count()),
    };
    // There are enough bytes: the bytes of all counted integers were looked at.
    bytes.get(count.wrapping_mul(width)..).map_or((0, bytes), |rest| (count, rest))
}

/// The bytes after `count` integers. `None` if one of them is something else, or is cut off.
pub(super) fn skip_all(mut bytes: &[u8], count: usize) -> Option<&[u8]> {
    let mut left = count;
    while left > 0 {
        let (alike, mut rest) = skip_alike(bytes, left);
        if alike == 0 {
            rest = bytes.get(width_of(*bytes.first()?)?..)?;
        }
        bytes = rest;
        left = left.saturating_sub(alike.max(1));
    }
    Some(bytes)
}

/// The bytes of an integer that begins with this one. `None` if no unsigned integer does.
const fn width_of(head: u8) -> Option<usize> {
    match head {
        ..first::UNSIGNED_SHORT_END => Some(1),
        first::UNSIGNED_8 => Some(2),
        first::UNSIGNED_16 => Some(3),
        first::UNSIGNED_32 => Some(5),
        first::UNSIGNED_64 => Some(9),
        _ => None,
    }
}

/// The first eight of `count` integers, if all eight have two bytes after the head or all have four, and the bytes after them.
#[inline]
pub(super) fn take_eight(bytes: &[u8], count: usize) -> Option<([u64; EIGHT], &[u8])> {
    if count < EIGHT || READS_ONE_BY_ONE {
        return None;
    }
    let mut eight = [0; EIGHT];
    // Loops, as `map` of an array is a call where the crate is compiled in several units.
    let len = match bytes.first() {
        Some(&head @ first::UNSIGNED_16) => {
            for (to, [_, a, b]) in eight.iter_mut().zip(eight_of::<3>(bytes, head)?) {
                *to = u64::from(u16::from_be_bytes([a, b]));
            }
            EIGHT.wrapping_mul(3)
        }
        Some(&head @ first::UNSIGNED_32) => {
            for (to, [_, a, b, c, d]) in eight.iter_mut().zip(eight_of::<5>(bytes, head)?) {
                *to = u64::from(u32::from_be_bytes([a, b, c, d]));
            }
            EIGHT.wrapping_mul(5)
        }
        _ => return None,
    };
    Some((eight, bytes.get(len..)?))
}

/// The first eight integers of `WIDTH` bytes, if all begin with `head`.
#[inline]
fn eight_of<const WIDTH: usize>(bytes: &[u8], head: u8) -> Option<[[u8; WIDTH]; EIGHT]> {
    let group = bytes.as_chunks::<WIDTH>().0.first_chunk::<EIGHT>()?;
    (alike::<WIDTH>(group.as_flattened(), head, EIGHT) == EIGHT).then_some(*group)
}

/// How many integers of `WIDTH` bytes begin with `head`: counted in groups of eight, and at most `most`.
fn alike<const WIDTH: usize>(bytes: &[u8], head: u8, most: usize) -> usize {
    let (groups, _) = bytes.as_chunks::<WIDTH>().0.as_chunks::<EIGHT>();
    let is_alike = |group: &&[[u8; WIDTH]; EIGHT]| {
        group.iter().fold(0, |difference, integer| difference | integer.first().map_or(0xff, |&byte| byte ^ head)) == 0
    };
    groups.iter().take(most / EIGHT).take_while(is_alike).count().wrapping_mul(EIGHT)
}
