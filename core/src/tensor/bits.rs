//! Elements that are bits.
//!
//! Element `i` is bit `7 - i % 8` of byte `i / 8`: the most significant bit comes first. The last byte may have pad bits,
//! which writers need not clear and nothing here looks at.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

use super::Shape;
use crate::descriptor::Dtype;
use crate::error::{ErrorKind, Result};

/// A tensor of dtype `bitmask` as it is stored: eight elements a byte. `Copy`, a few machine words.
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
    /// `payload` seen as bits of that shape. O(rank), reads no byte of the payload.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] if the shape's elements exceed `usize`; [`ErrorKind::PayloadSize`] if the payload is
    /// not exactly ⌈elements / 8⌉ bytes.
    pub fn new(payload: &'a [u8], shape: Shape<'a>) -> Result<Self> {
        let len = shape.count_in(Dtype::Bitmask, payload)?;
        Ok(Self { bytes: payload, len, shape })
    }

    /// How many elements there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
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

    /// The element at `index` in flat order, or `None` beyond the end. O(1).
    pub fn get(&self, index: usize) -> Option<bool> {
        if index < self.len { bit(self.bytes, index) } else { None }
    }

    /// The element at `coordinates` (slowest first); `None` if their number is not the rank, or one of them is not below
    /// its dimension. O(rank).
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
    /// [`ErrorKind::RangeOutOfBounds`] if the range ends beyond the last element, or before it starts.
    pub fn bits(&self, range: Range<usize>) -> Result<Bits<'a>> {
        if range.start <= range.end && range.end <= self.len {
            Ok(Bits { bytes: self.bytes, range })
        } else {
            Err(ErrorKind::RangeOutOfBounds.at(0))
        }
    }

    /// How many elements are true. O(len), whole bytes at a time.
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

/// Shape only; no values.
impl fmt::Debug for BitView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitView").field("shape", &self.shape).finish()
    }
}

/// Bit `index` of `bytes`, most significant first.
#[inline]
fn bit(bytes: &[u8], index: usize) -> Option<bool> {
    bytes.get(index / 8).map(|byte| bit_of(*byte, place(index)))
}

/// Where in its byte element `index` lies, counted from the most significant bit.
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

/// How many of the first `place` bits of `byte` are ones.
const fn ones_before(byte: u8, place: u32) -> usize {
    (byte & !0xFF_u8.wrapping_shr(place)).count_ones() as usize
}

/// A run of bits, from either end. Skipping is O(1).
///
/// Prefer `for_each`, `fold` and the like to `for`: these load each byte once.
#[derive(Clone)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    /// Within `bytes`, and not reversed.
    range: Range<usize>,
}

impl<'a> Bits<'a> {
    /// How many of the bits that are left are ones. O(len), eight bytes at a time.
    pub fn count_ones(&self) -> usize {
        let Range { start, end } = self.range;
        // Ones up to the last whole byte, and in the cut byte after it; less those before the start in its byte.
        let whole = ones(self.bytes.get(start / 8..end / 8).unwrap_or_default());
        let upto_start = self.bytes.get(start / 8).map_or(0, |byte| ones_before(*byte, place(start)));
        let upto_end = self.bytes.get(end / 8).map_or(0, |byte| ones_before(*byte, place(end)));
        whole.wrapping_add(upto_end).wrapping_sub(upto_start)
    }

    /// The bits up to the start of a byte, the whole bytes, and the bits after them.
    fn split(&self) -> (Self, &'a [u8], Self) {
        let Range { start, end } = self.range;
        let first = start.checked_next_multiple_of(8).map_or(end, |first| first.min(end));
        let last = first.max(end & !7);
        let bytes = self.bytes.get(first / 8..last / 8).unwrap_or_default();
        (Self { bytes: self.bytes, range: start..first }, bytes, Self { bytes: self.bytes, range: last..end })
    }
}

/// Ones in `bytes`, eight bytes a step. No sum overflows: there are at most 8 × `isize::MAX` bits.
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

/// Which bits are left; no values.
impl fmt::Debug for Bits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bits").field("range", &self.range).finish()
    }
}
