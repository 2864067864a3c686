//! Integers of any width, packed one after the other: with gaps, without gaps, and each in its own bytes.
//!
//! ```text
//! dense       3 12-bit integers in 5 bytes, the last 4 bits 0
//! expanded    the same for all points of a grid: those without a value are 0
//! containers  each integer in whole bytes, big-endian, as szip takes and returns them
//! ```
//!
//! All functions are O(bytes read and written). Output is at most 64 times as long as a bitmap, or the bytes that were
//! given.

use super::bitmap;
use crate::base::error::{Result, TensogramError};
use crate::base::limits::{reserve, reserve_more};

/// Bytes that `count` integers of `bits` bits take.
///
/// # Errors
/// [`TensogramError::Encoding`] if memory cannot be that large.
pub(super) fn packed_len(count: u64, bits: u32) -> Result<usize> {
    let bits = count.checked_mul(bits.into()).map(|bits| bits.div_ceil(8));
    let len = bits.and_then(|bytes| usize::try_from(bytes).ok());
    len.ok_or_else(|| too_many(count))
}

/// Bytes that `count` containers of `width` bytes take.
///
/// # Errors
/// [`TensogramError::Encoding`] if memory cannot be that large.
pub(super) fn containers_len(count: u64, width: usize) -> Result<usize> {
    let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
    len.ok_or_else(|| too_many(count))
}

fn too_many(count: u64) -> TensogramError {
    TensogramError::encoding(format!("{count} values are too many for this machine"))
}

/// Integers for all `points`: those whose bit is 1 from `dense` in order, the others 0.
pub(super) fn expand(dense: &[u8], bits: u32, bitmap: &[u8], points: u64) -> Result<Vec<u8>> {
    let (mut from, mut to) = (Reader::new(dense, bits), Writer::new(packed_len(points, bits)?, bits)?);
    for has_value in bitmap::iter(bitmap, points) {
        to.put(if has_value { from.take() } else { 0 });
    }
    Ok(to.finish())
}

/// The integers of `expanded` whose bit is 1.
pub(super) fn compact(expanded: &[u8], bits: u32, bitmap: &[u8], points: u64) -> Result<Vec<u8>> {
    let len = packed_len(bitmap::count_ones(bitmap, points), bits)?;
    let (mut from, mut to) = (Reader::new(expanded, bits), Writer::new(len, bits)?);
    for has_value in bitmap::iter(bitmap, points) {
        let integer = from.take();
        if has_value {
            to.put(integer);
        }
    }
    Ok(to.finish())
}

/// `count` integers of `bits` bits, each in containers of `width` bytes.
pub(super) fn to_containers(dense: &[u8], bits: u32, count: u64, width: usize) -> Result<Vec<u8>> {
    let mut containers = reserve(containers_len(count, width)?)?;
    let mut from = Reader::new(dense, bits);
    for container in containers.chunks_exact_mut(width) {
        let integer = from.take().to_be_bytes();
        let low = integer.get(integer.len().saturating_sub(width)..).unwrap_or_default();
        container.iter_mut().zip(low).for_each(|(to, from)| *to = *from);
    }
    Ok(containers)
}

/// The integers of big-endian containers of `width` bytes, of which the lower `bits` bits count.
pub(super) fn from_containers(containers: &[u8], bits: u32, width: usize) -> Result<Vec<u8>> {
    let count = (containers.len() / width) as u64;
    let mut to = Writer::new(packed_len(count, bits)?, bits)?;
    for container in containers.chunks_exact(width) {
        to.put(container.iter().fold(0, |integer, byte| integer << 8 | u64::from(*byte)));
    }
    Ok(to.finish())
}

/// Reads integers of one width, 1 to 64 bits, from the highest bit of the first byte on. Beyond the end all bits are 0.
struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    bits: u32,
    /// Bits that were read and not taken, at the low end: fewer than 8 between calls.
    held: u128,
    held_bits: u32,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], bits: u32) -> Self {
        Self { bytes: bytes.iter(), bits, held: 0, held_bits: 0 }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the integer has at most 64 bits")]
    fn take(&mut self) -> u64 {
        while self.held_bits < self.bits {
            self.held = self.held << 8 | u128::from(self.bytes.next().copied().unwrap_or(0));
            self.held_bits += 8;
        }
        self.held_bits -= self.bits;
        let integer = self.held >> self.held_bits;
        self.held &= (1 << self.held_bits) - 1;
        integer as u64
    }
}

/// Writes integers of one width, the mirror of [`Reader`].
struct Writer {
    bytes: Vec<u8>,
    bits: u32,
    held: u128,
    held_bits: u32,
}

impl Writer {
    /// A writer of at most `len` bytes.
    fn new(len: usize, bits: u32) -> Result<Self> {
        let mut bytes = Vec::new();
        reserve_more(&mut bytes, len)?;
        Ok(Self { bytes, bits, held: 0, held_bits: 0 })
    }

    #[expect(clippy::cast_possible_truncation, reason = "one byte at a time")]
    fn put(&mut self, integer: u64) {
        let integer = u128::from(integer) & ((1 << self.bits) - 1);
        self.held = self.held << self.bits | integer;
        self.held_bits += self.bits;
        while self.held_bits >= 8 {
            self.held_bits -= 8;
            self.bytes.push((self.held >> self.held_bits) as u8);
        }
        self.held &= (1 << self.held_bits) - 1;
    }

    #[expect(clippy::cast_possible_truncation, reason = "fewer than 8 bits are held")]
    fn finish(mut self) -> Vec<u8> {
        if self.held_bits > 0 {
            self.bytes.push((self.held << (8 - self.held_bits)) as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// `count` integers of `bits` bits.
    fn dense(count: u64, bits: u32) -> Vec<u8> {
        let mut to = Writer::new(0, bits).unwrap();
        (1..=count).for_each(|i| to.put(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7));
        to.finish()
    }

    #[test]
    fn twelve_bits_lie_one_after_the_other() {
        let mut to = Writer::new(5, 12).unwrap();
        to.put(0xabc);
        to.put(0x123);
        to.put(0xfff);
        assert_eq!(to.finish(), [0xab, 0xc1, 0x23, 0xff, 0xf0]);
    }

    #[test]
    fn gaps_and_containers_return_at_every_width() {
        let bitmap = [0b1010_0111, 0b0000_1111, 0b1100_0000];
        for bits in 1..=64 {
            for points in 17..=24 {
                let count = bitmap::count_ones(&bitmap, points);
                let packed = dense(count, bits);
                let expanded = expand(&packed, bits, &bitmap, points).unwrap();
                assert_eq!(expanded.len(), packed_len(points, bits).unwrap());
                assert_eq!(compact(&expanded, bits, &bitmap, points).unwrap(), packed, "{bits} bits");
                if bits <= 32 {
                    let width = bits.div_ceil(8) as usize;
                    let containers = to_containers(&packed, bits, count, width).unwrap();
                    assert_eq!(from_containers(&containers, bits, width).unwrap(), packed, "{bits} bits");
                }
            }
        }
        let expanded = expand(&[0x12, 0x34], 4, &[0b1011_0100], 6).unwrap();
        assert_eq!(expanded, [0x10, 0x23, 0x04]);
    }

    #[test]
    fn integers_of_no_bits_take_no_bytes() {
        assert!(expand(&[], 0, &[0b1010_0000], 3).unwrap().is_empty());
        assert!(compact(&[], 0, &[0b1010_0000], 3).unwrap().is_empty());
    }
}
