//! Flat runs of elements.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;
use core::slice;

use zerocopy::{FromBytes, IntoBytes};

use super::Element;
use crate::descriptor::ByteOrder;
use crate::error::{ErrorKind, Result};

/// A flat run of elements in place: at any alignment, in either byte order. Three machine words, `Copy`.
///
/// It borrows the payload for `'a`. Slices that it returns also live for `'a`, and so longer than the run itself.
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_core::tensor::Elements;
///
/// let run = Elements::<i16>::new(&[0, 1, 0xff, 0xff], ByteOrder::Big)?;
/// assert_eq!((run.len(), run.get(1)), (2, Some(-1)));
/// assert_eq!(run.iter().sum::<i16>(), 0);
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Elements<'a, T: Element> {
    units: &'a [T::Bytes],
    order: ByteOrder,
}

impl<'a, T: Element> Elements<'a, T> {
    /// A view of `bytes` as elements stored in `order`. O(1), reads nothing.
    ///
    /// # Errors
    /// [`ErrorKind::PayloadSize`] if the number of bytes is not a multiple of the element's.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Result<Self> {
        let units = FromBytes::ref_from_bytes(bytes).map_err(|_| ErrorKind::PayloadSize.at(0))?;
        Ok(Self { units, order })
    }

    /// The number of elements.
    pub const fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether the run has no elements.
    pub const fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The byte order in which the elements are stored. It means nothing for single bytes.
    pub const fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The bytes as stored.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.units.as_bytes()
    }

    /// The elements as a slice, if they are in native byte order (or single bytes) and aligned for `T`. O(1), reads nothing.
    ///
    /// [`try_as_slice`](Self::try_as_slice) says why there is no slice. [`copy_into`](Self::copy_into) converts.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        self.try_as_slice().ok()
    }

    /// The elements as a slice, or the reason why they cannot be borrowed as one. O(1).
    ///
    /// # Errors
    /// [`ErrorKind::SwappedBytes`] if they are in the other byte order and wider than a byte;
    /// [`ErrorKind::Misaligned`] if their address does not suit `T`.
    pub fn try_as_slice(&self) -> Result<&'a [T]> {
        if self.order != ByteOrder::NATIVE && T::DTYPE.swap_unit_size() > 1 {
            return Err(ErrorKind::SwappedBytes.at(0));
        }
        FromBytes::ref_from_bytes(self.as_bytes()).map_err(|_| ErrorKind::Misaligned.at(0))
    }

    /// The element at `index`; `None` beyond the end. O(1).
    pub fn get(&self, index: usize) -> Option<T> {
        self.units.get(index).map(|unit| T::from_bytes(*unit, self.order))
    }

    /// Each element, from either end.
    ///
    /// In loops this is faster than [`get`](Self::get). `for_each`, `sum` and similar methods are faster than a `for` loop,
    /// because they test the byte order only once.
    pub fn iter(&self) -> TensorIter<'a, T> {
        TensorIter { units: self.units.iter(), order: self.order }
    }

    /// The elements in `range`. O(1), reads nothing.
    ///
    /// # Errors
    /// [`ErrorKind::RangeOutOfBounds`] if the range ends beyond the last element or before its own start.
    pub fn elements(&self, range: Range<usize>) -> Result<Self> {
        let units = self.units.get(range).ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
        Ok(Self { units, order: self.order })
    }

    /// Writes all elements to `out`, in native byte order: a memory copy, or a vectorised swap. O(len).
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` does not have the length of the run. Then nothing is written.
    pub fn copy_into(&self, out: &mut [T]) -> Result<()> {
        if out.len() != self.len() {
            return Err(ErrorKind::OutputLength.at(0));
        }
        // One loop for each order, so that no loop tests the order at every element.
        let pairs = out.iter_mut().zip(self.units);
        match self.order {
            ByteOrder::Big => pairs.for_each(|(out, unit)| *out = T::from_bytes(*unit, ByteOrder::Big)),
            ByteOrder::Little => pairs.for_each(|(out, unit)| *out = T::from_bytes(*unit, ByteOrder::Little)),
        }
        Ok(())
    }
}

impl<'a, T: Element> IntoIterator for &Elements<'a, T> {
    type Item = T;
    type IntoIter = TensorIter<'a, T>;

    fn into_iter(self) -> TensorIter<'a, T> {
        self.iter()
    }
}

/// Shows dtype, byte order and length, but no values.
impl<T: Element> fmt::Debug for Elements<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elements")
            .field("dtype", &T::DTYPE)
            .field("byte_order", &self.order)
            .field("len", &self.len())
            .finish()
    }
}

/// The elements of a run or tensor, in flat order, from either end. Skipping is O(1).
#[derive(Clone)]
pub struct TensorIter<'a, T: Element> {
    units: slice::Iter<'a, T::Bytes>,
    order: ByteOrder,
}

impl<'a, T: Element> TensorIter<'a, T> {
    /// The elements that are left.
    pub fn as_elements(&self) -> Elements<'a, T> {
        Elements { units: self.units.as_slice(), order: self.order }
    }
}

impl<T: Element> Iterator for TensorIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.units.next().map(|unit| T::from_bytes(*unit, self.order))
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.units.nth(n).map(|unit| T::from_bytes(*unit, self.order))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.units.size_hint()
    }

    fn last(mut self) -> Option<T> {
        self.next_back()
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        match self.order {
            ByteOrder::Big => self.units.fold(init, |acc, unit| f(acc, T::from_bytes(*unit, ByteOrder::Big))),
            ByteOrder::Little => self.units.fold(init, |acc, unit| f(acc, T::from_bytes(*unit, ByteOrder::Little))),
        }
    }
}

impl<T: Element> DoubleEndedIterator for TensorIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.units.next_back().map(|unit| T::from_bytes(*unit, self.order))
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.units.nth_back(n).map(|unit| T::from_bytes(*unit, self.order))
    }
}

impl<T: Element> ExactSizeIterator for TensorIter<'_, T> {
    fn len(&self) -> usize {
        self.units.as_slice().len()
    }
}

impl<T: Element> FusedIterator for TensorIter<'_, T> {}

impl<T: Element> fmt::Debug for TensorIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TensorIter").field(&self.as_elements()).finish()
    }
}
