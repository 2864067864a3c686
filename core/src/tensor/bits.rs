//! Tensors whose elements are bits.
//!
//! Element `i` is bit `7 - i % 8` of byte `i / 8`: the most significant bit comes first. The last byte may have pad bits.
//! Writers need not clear them, and nothing here reads them.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use super::Shape;
use crate::descriptor::Dtype;
use crate::error::{ErrorKind, Result};

/// A tensor of dtype `bitmask`, in place: eight elements in each byte. `Copy`, a few machine words.
///
/// ```
/// use tgm_core::tensor::{BitView, Shape};
///
/// let mask = BitView::new(&[0b1010_0000, 0b1011_1111], Shape::from(&[2, 5]))?; // the last six bits are padding
/// assert_eq!(mask.get_at(&[1, 3]), Some(true));
/// assert_eq!(mask.count_ones(), 3);
/// assert!(mask.bits(7..10)?.eq([false, true, false]));
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct BitView<'a> {
    bytes: &'a [u8],
    len: usize,
    shape: Shape<'a>,
}

impl<'a> BitView<'a> {
    /// A view of `payload` as bits of this shape. O(rank), reads no byte of the payload.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] if the shape's elements exceed `usize`; [`ErrorKind::PayloadSize`] if the payload is
    /// not exactly ⌈elements / 8⌉ bytes.
    pub fn new(payload: &'a [u8], shape: Shape<'a>) -> Result<Self> {
        let len = shape.count_in(Dtype::Bitmask, payload)?;
        Ok(Self { bytes: payload, len, shape })
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the tensor has no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The dimensions.
    pub const fn shape(&self) -> Shape<'a> {
        self.shape
    }

    /// The bytes as stored, pad bits included.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The element at `index` in flat order; `None` beyond the end. O(1).
    pub fn get(&self, index: usize) -> Option<bool> {
        if index < self.len { bit(self.bytes, index) } else { None }
    }

    /// The element at `coordinates`, slowest first. `None` if there are more or fewer coordinates than dimensions, or if one
    /// is not below its dimension. O(rank).
    pub fn get_at(&self, coordinates: &[u64]) -> Option<bool> {
        let flat = self.shape.flat_index(coordinates)?;
        self.get(usize::try_from(flat).ok()?)
    }

    /// Each element in flat order, from either end.
    pub const fn iter(&self) -> Bits<'a> {
        Bits { bytes: self.bytes, range: 0..self.len }
    }

    /// The elements in `range`. O(1), reads nothing.
    ///
    /// # Errors
    /// [`ErrorKind::RangeOutOfBounds`] if the range ends beyond the last element or before its own start.
    pub fn bits(&self, range: Range<usize>) -> Result<Bits<'a>> {
        if range.start <= range.end && range.end <= self.len {
            Ok(Bits { bytes: self.bytes, range })
        } else {
            Err(ErrorKind::RangeOutOfBounds.at(0))
        }
    }

    /// The number of elements that are true. O(len), whole bytes at a time.
    pub fn count_ones(&self) -> usize {
        self.iter().count_ones()
    }
}

impl<'a> IntoIterator for &BitView<'a> {
    type Item = bool;
    type IntoIter = Bits<'a>;

    fn into_iter(self) -> Bits<'a> {
        self.iter()
    }
}

/// Shows the shape, but no values.
impl fmt::Debug for BitView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitView").field("shape", &self.shape).finish()
    }
}

/// Bit `index` of `bytes`. The most significant bit of each byte comes first.
#[inline]
fn bit(bytes: &[u8], index: usize) -> Option<bool> {
    bytes.get(index / 8).map(|byte| bit_of(*byte, place(index)))
}

/// The place of element `index` in its byte, counted from the most significant bit.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "below 8")]
const fn place(index: usize) -> u32 {
    (index % 8) as u32
}

/// The bit of `byte` at `place`.
#[inline]
const fn bit_of(byte: u8, place: u32) -> bool {
    // `!place` is 7 - place, modulo 8.
    byte.wrapping_shr(!place) & 1 != 0
}

/// The number of ones among the first `place` bits of `byte`.
const fn ones_before(byte: u8, place: u32) -> usize {
    (byte & !0xFF_u8.wrapping_shr(place)).count_ones() as usize
}

/// An iterator over bits, from either end. Skipping is O(1).
///
/// `for_each`, `fold` and similar methods load each byte once; a `for` loop loads it for every bit.
#[derive(Clone)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    /// The bits that are left. Its start is not above its end, and its end is not beyond `bytes`.
    range: Range<usize>,
}

impl<'a> Bits<'a> {
    /// The number of ones among the bits that are left. O(len), eight bytes at a time.
    pub fn count_ones(&self) -> usize {
        let Range { start, end } = self.range;
        // Count whole bytes from the start's byte to the end's byte; add the ones of the end's byte that come before the
        // end; subtract the ones of the start's byte that come before the start.
        let whole = ones(self.bytes.get(start / 8..end / 8).unwrap_or_default());
        let upto_start = self.bytes.get(start / 8).map_or(0, |byte| ones_before(*byte, place(start)));
        let upto_end = self.bytes.get(end / 8).map_or(0, |byte| ones_before(*byte, place(end)));
        whole.wrapping_add(upto_end).wrapping_sub(upto_start)
    }

    /// Splits into the bits up to the next start of a byte, the whole bytes, and the bits after them.
    fn split(&self) -> (Self, &'a [u8], Self) {
        let Range { start, end } = self.range;
        let first = start.checked_next_multiple_of(8).map_or(end, |first| first.min(end));
        let last = first.max(end & !7);
        let bytes = self.bytes.get(first / 8..last / 8).unwrap_or_default();
        (Self { bytes: self.bytes, range: start..first }, bytes, Self { bytes: self.bytes, range: last..end })
    }
}

/// The number of ones in `bytes`, eight bytes at a time. The sum fits `usize`: callers count elements, which fit too.
fn ones(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word).count_ones());
    let rest = rest.iter().map(|byte| byte.count_ones());
    words.chain(rest).fold(0, |sum, ones| sum.wrapping_add(ones as usize))
}

impl Iterator for Bits<'_> {
    type Item = bool;

    #[inline]
    fn next(&mut self) -> Option<bool> {
        self.range.next().and_then(|i| bit(self.bytes, i))
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<bool> {
        self.range.nth(n).and_then(|i| bit(self.bytes, i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }

    fn last(mut self) -> Option<bool> {
        self.next_back()
    }

    #[inline]
    fn fold<B, F: FnMut(B, bool) -> B>(self, init: B, mut f: F) -> B {
        let (head, bytes, tail) = self.split();
        let mut acc = init;
        for bit in head {
            acc = f(acc, bit);
        }
        for byte in bytes {
            for place in 0..8 {
                acc = f(acc, bit_of(*byte, place));
            }
        }
        for bit in tail {
            acc = f(acc, bit);
        }
        acc
    }
}

impl DoubleEndedIterator for Bits<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<bool> {
        self.range.next_back().and_then(|i| bit(self.bytes, i))
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<bool> {
        self.range.nth_back(n).and_then(|i| bit(self.bytes, i))
    }
}

impl ExactSizeIterator for Bits<'_> {
    fn len(&self) -> usize {
        self.range.end.saturating_sub(self.range.start)
    }
}

impl FusedIterator for Bits<'_> {}

/// Shows which bits are left, but no values.
impl fmt::Debug for Bits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bits").field("range", &self.range).finish()
    }
}
