//! Integers of any width in bits, in three forms, and the conversions between these.
//!
//! ```text
//! dense       one integer after the other, without unused bits between them: 3 integers of 12 bits take 5 bytes
//! expanded    dense, with an integer for every point of a grid: any where the point has no value
//! containers  each integer in whole bytes, big-endian, as szip takes and returns them
//! ```
//!
//! The bits after the last integer are 0. All functions are O(bytes read and written). Their output is at most 64 times as
//! long as their input: each bit of a bitmap becomes an integer of at most 64 bits.

use tgm_std::internal::{reserve, reserve_more};
use tgm_std::{Result, TensogramError};

use super::bitmap;
use crate::error::encoding;

/// Stands for a missing value among integers, which are within 2^53.
pub(super) const NONE: i64 = i64::MIN;

/// Bytes that `count` integers of `bits` bits take.
///
/// # Errors
/// [`TensogramError::Encoding`] if a `usize` cannot hold that length.
pub(super) fn packed_len(count: u64, bits: u32) -> Result<usize> {
    let bits = count.checked_mul(bits.into()).map(|bits| bits.div_ceil(8));
    let len = bits.and_then(|bytes| usize::try_from(bytes).ok());
    len.ok_or_else(|| too_many(count))
}

/// Bytes that `count` containers of `width` bytes take.
///
/// # Errors
/// [`TensogramError::Encoding`] if a `usize` cannot hold that length.
pub(super) fn containers_len(count: u64, width: usize) -> Result<usize> {
    let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
    len.ok_or_else(|| too_many(count))
}

fn too_many(count: u64) -> TensogramError {
    encoding(format!("{count} values are too many for this machine"))
}

/// `count` integers of `bits` bits, dense: 0 for `None`.
pub(super) fn packed(integers: impl Iterator<Item = Option<u64>>, count: u64, bits: u32) -> Result<Vec<u8>> {
    let mut to = Writer::new(packed_len(count, bits)?)?;
    integers.for_each(|integer| to.put(integer.unwrap_or(0), bits));
    Ok(to.finish())
}

/// The integers of `expanded` whose bit in `bitmap` is 1, dense.
pub(super) fn compact(expanded: &[u8], bits: u32, bitmap: &[u8], points: u64) -> Result<Vec<u8>> {
    let len = packed_len(bitmap::count_ones(bitmap, points), bits)?;
    let (mut from, mut to) = (Reader::new(expanded), Writer::new(len)?);
    for has_value in bitmap::iter(bitmap, points) {
        let integer = from.take(bits);
        if has_value {
            to.put(integer, bits);
        }
    }
    Ok(to.finish())
}

/// What each of `points` points has: the next item of `integers` where the bit in `bitmap` is 1, and `None` elsewhere.
/// Without a bitmap each point has the next item. An item can be [`NONE`], which means that the point has no value.
pub(super) fn placed<'i>(
    integers: &'i [i64],
    bitmap: Option<&'i [u8]>,
    points: u64,
) -> impl Iterator<Item = Option<u64>> + Clone + 'i {
    let integers = integers.iter().map(|integer| u64::try_from(*integer).ok());
    at_points(integers, bitmap, points)
}

/// The same for integers of any source.
pub(super) fn at_points<'i, T: 'i>(
    mut integers: impl Iterator<Item = Option<T>> + Clone + 'i,
    bitmap: Option<&'i [u8]>,
    points: u64,
) -> impl Iterator<Item = Option<T>> + Clone + 'i {
    let mut bits = bitmap.map(|bits| bitmap::iter(bits, points));
    // More points than addresses are more than the integers in memory, which end first.
    let points = usize::try_from(points).unwrap_or(usize::MAX);
    let next = move || match bits.as_mut().map(Iterator::next) {
        Some(Some(false)) => Some(None),
        Some(None) => None,
        Some(Some(true)) | None => Some(integers.next().flatten()),
    };
    std::iter::from_fn(next).take(points)
}

/// The integers of `dense`, which are `bits` bits each. After the last byte there are zeros.
pub(super) fn each(dense: &[u8], bits: u32) -> impl Iterator<Item = Option<u64>> + Clone + '_ {
    let mut reader = Reader::new(dense);
    std::iter::from_fn(move || Some(Some(reader.take(bits))))
}

/// The integers of `dense` with another number of bits. `None` if one of them does not fit.
pub(super) fn with_width(dense: &[u8], (from, to): (u32, u32), count: u64) -> Result<Option<Vec<u8>>> {
    let (mut reader, mut writer) = (Reader::new(dense), Writer::new(packed_len(count, to)?)?);
    for _ in 0..count {
        let integer = reader.take(from);
        if integer.checked_shr(to).unwrap_or(0) != 0 {
            return Ok(None);
        }
        writer.put(integer, to);
    }
    Ok(Some(writer.finish()))
}

/// The inverse of [`placed`]: the integers that it was given. `gaps` is the mask, with a bit for each point.
///
/// `None` if a point has a value although its bit in `bitmap` is 0, if an integer does not fit `i64`, and if there is no
/// memory.
pub(super) fn taken(stored: &[u8], bits: u32, bitmap: Option<&[u8]>, gaps: &[u8], points: u64) -> Option<Vec<i64>> {
    let mut integers = Vec::new();
    integers.try_reserve_exact(usize::try_from(points).ok()?).ok()?;
    let (mut from, mut present) = (Reader::new(stored), bitmap.map(|bits| bitmap::iter(bits, points)));
    for is_gap in bitmap::iter(gaps, points) {
        let integer = from.take(bits);
        let is_present = present.as_mut().is_none_or(|bits| bits.next() == Some(true));
        match (is_present, is_gap) {
            (true, false) => integers.push(i64::try_from(integer).ok()?),
            (true, true) => integers.push(NONE),
            (false, true) => {}
            (false, false) => return None,
        }
    }
    Some(integers)
}

/// The first `count` integers of `dense`, each in a container of `width` bytes.
pub(super) fn to_containers(dense: &[u8], bits: u32, count: u64, width: usize) -> Result<Vec<u8>> {
    let mut containers = reserve(containers_len(count, width)?)?;
    let mut from = Reader::new(dense);
    for container in containers.chunks_exact_mut(width) {
        put_container(from.take(bits), container);
    }
    Ok(containers)
}

/// Writes the lower bytes of an integer, big-endian.
pub(super) fn put_container(integer: u64, container: &mut [u8]) {
    let integer = integer.to_be_bytes();
    let low = integer.get(integer.len().saturating_sub(container.len())..).unwrap_or_default();
    container.iter_mut().zip(low).for_each(|(to, from)| *to = *from);
}

/// The inverse of [`to_containers`]: the lower `bits` bits of each container, without bits between them.
pub(super) fn from_containers(containers: &[u8], bits: u32, width: usize) -> Result<Vec<u8>> {
    let count = (containers.len() / width) as u64;
    let mut to = Writer::new(packed_len(count, bits)?)?;
    for container in containers.chunks_exact(width) {
        to.put(container.iter().fold(0, |integer, byte| integer << 8 | u64::from(*byte)), bits);
    }
    Ok(to.finish())
}

/// Reads integers of 0 to 64 bits, from the highest bit of the first byte on. After the last byte it reads zeros.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The position of the next bit.
    at: u64,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the integer has at most 64 bits")]
    pub(super) fn take(&mut self, bits: u32) -> u64 {
        let rest = usize::try_from(self.at / 8).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        // 64 bits that begin within a byte lie in 9 bytes, so a window of 16 bytes has them all. Near the end fewer bytes are
        // left, and zeros take the place of the missing ones.
        let window = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut window = [0; 16];
            window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            window
        });
        let window = u128::from_be_bytes(window) << (self.at % 8);
        self.at += u64::from(bits);
        // An integer of 0 bits is 0: a shift by all 128 bits would overflow.
        window.checked_shr(u128::BITS - bits).unwrap_or(0) as u64
    }
}

/// Writes integers of 0 to 64 bits, the mirror of [`Reader`].
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// The low `held_bits` bits were put, but are not in `bytes` yet. The bits above them are in `bytes` already.
    held: u128,
    /// Fewer than 64 between calls.
    held_bits: u32,
}

impl Writer {
    /// A writer with memory for `len` bytes.
    pub(super) fn new(len: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        reserve_more(&mut bytes, len)?;
        Ok(Self { bytes, held: 0, held_bits: 0 })
    }

    /// A writer that appends to `bytes`.
    pub(super) const fn behind(bytes: Vec<u8>) -> Self {
        Self { bytes, held: 0, held_bits: 0 }
    }

    #[expect(clippy::cast_possible_truncation, reason = "eight bytes at a time")]
    pub(super) fn put(&mut self, integer: u64, bits: u32) {
        let integer = u128::from(integer) & ((1 << bits) - 1);
        self.held = self.held << bits | integer;
        self.held_bits += bits;
        if self.held_bits >= u64::BITS {
            self.held_bits -= u64::BITS;
            self.bytes.extend_from_slice(&((self.held >> self.held_bits) as u64).to_be_bytes());
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        // The held bits move to the top, and the bits above them, which are in `bytes` already, fall out.
        let rest = self.held.checked_shl(u128::BITS - self.held_bits).unwrap_or(0).to_be_bytes();
        self.bytes.extend(rest.iter().take(self.held_bits.div_ceil(8) as usize));
        self.bytes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn expand(dense: &[u8], bits: u32, bitmap: &[u8], points: u64) -> Result<Vec<u8>> {
        packed(at_points(each(dense, bits), Some(bitmap), points), points, bits)
    }

    /// `count` arbitrary integers of `bits` bits, in the dense form.
    fn dense(count: u64, bits: u32) -> Vec<u8> {
        let mut to = Writer::new(0).unwrap();
        (1..=count).for_each(|i| to.put(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7, bits));
        to.finish()
    }

    #[test]
    fn integers_of_another_width_are_the_same_or_do_not_fit() {
        let packed = dense(9, 12);
        let wide = with_width(&packed, (12, 16), 9).unwrap().unwrap();
        assert_eq!(with_width(&wide, (16, 12), 9).unwrap(), Some(packed));
        assert_eq!(with_width(&[0x80], (8, 7), 1).unwrap(), None);
        assert_eq!(with_width(&[0; 8], (64, 0), 1).unwrap(), Some(vec![]));
        assert_eq!(with_width(&[0xff; 8], (64, 64), 1).unwrap(), Some(vec![0xff; 8]));
    }

    #[test]
    fn twelve_bits_lie_one_after_the_other() {
        let mut to = Writer::new(5).unwrap();
        to.put(0xabc, 12);
        to.put(0x123, 12);
        to.put(0xfff, 12);
        assert_eq!(to.finish(), [0xab, 0xc1, 0x23, 0xff, 0xf0]);
    }

    #[test]
    fn expansion_and_containers_can_be_undone_at_every_width() {
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
