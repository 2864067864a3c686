//! Tensors: elements with a shape.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Deref, Range};

use super::{Element, Elements, Shape, TensorIter};
use crate::descriptor::ByteOrder;
use crate::error::{ErrorKind, Result};

/// A tensor of `T` in place: [`Elements`] in row-major order, and a [`Shape`]. `Copy`, a few machine words.
///
/// It derefs to [`Elements`], and so has their methods: `len`, `as_bytes`, `as_slice`, `get`, `iter`, `elements`,
/// `copy_into`. Slices that they return have the payload's lifetime `'a`, not the view's.
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_core::tensor::{Shape, TensorView};
///
/// let payload = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]; // uint16, big-endian
/// let tensor = TensorView::<u16>::new(&payload, ByteOrder::Big, Shape::from(&[2, 3]))?;
///
/// assert_eq!(tensor.get_at(&[1, 0]), Some(4));
/// assert_eq!(tensor.get(4), Some(5));
/// assert_eq!(tensor.row(1)?.iter().sum::<u16>(), 15);
/// assert!(tensor.rows().map(|row| row.iter().max()).eq([Some(3), Some(6)]));
///
/// let mut middle = [0; 4];
/// tensor.elements(1..5)?.copy_into(&mut middle)?;
/// assert_eq!(middle, [2, 3, 4, 5]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TensorView<'a, T: Element> {
    elements: Elements<'a, T>,
    shape: Shape<'a>,
}

impl<'a, T: Element> TensorView<'a, T> {
    /// A view of `payload` as a tensor of this shape, stored in `order`. O(rank), reads no byte of the payload.
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] if the shape's elements or bytes exceed `usize`; [`ErrorKind::PayloadSize`] if the
    /// payload does not have the length that shape and type imply.
    pub fn new(payload: &'a [u8], order: ByteOrder, shape: Shape<'a>) -> Result<Self> {
        shape.count_in(T::DTYPE, payload)?;
        Ok(Self { elements: Elements::new(payload, order)?, shape })
    }

    /// The dimensions.
    pub const fn shape(&self) -> Shape<'a> {
        self.shape
    }

    /// The element at `coordinates`, slowest first. `None` if there are more or fewer coordinates than dimensions, or if one
    /// is not below its dimension. O(rank).
    pub fn get_at(&self, coordinates: &[u64]) -> Option<T> {
        let flat = self.shape.flat_index(coordinates)?;
        self.get(usize::try_from(flat).ok()?)
    }

    /// The tensor at index `i` of the first dimension. Its rank is one less. O(1), or O(dimensions already left out) for a
    /// shape from a descriptor. Reads nothing.
    ///
    /// # Errors
    /// [`ErrorKind::RangeOutOfBounds`] if `i` is not below the first dimension, or there is no dimension.
    pub fn row(&self, i: u64) -> Result<Self> {
        let row = || {
            let (count, shape) = self.shape.split_first().filter(|(count, _)| i < *count)?;
            let row_len = (self.len() as u64).checked_div(count)?;
            let start = usize::try_from(i.checked_mul(row_len)?).ok()?;
            let end = start.checked_add(usize::try_from(row_len).ok()?)?;
            Some(Self { elements: self.elements.elements(start..end).ok()?, shape })
        };
        row().ok_or(ErrorKind::RangeOutOfBounds.at(0))
    }

    /// The tensors at each index of the first dimension, from either end. Skipping is O(1).
    ///
    /// A tensor of rank 0 has no rows. A tensor without elements yields no rows either, even if its first dimension is large,
    /// so the iterator is never longer than the payload. [`row`](Self::row) still gives such empty rows.
    pub fn rows(&self) -> Rows<'a, T> {
        let (count, shape) = self.shape.split_first().unwrap_or((0, self.shape));
        // If there are elements, there are not more rows than elements, and their number fits `usize`.
        let count = if self.is_empty() { 0 } else { usize::try_from(count).unwrap_or(0) };
        let row_len = self.len().checked_div(count).unwrap_or(0);
        Rows { elements: self.elements, shape, row_len, range: 0..count }
    }
}

impl<'a, T: Element> Deref for TensorView<'a, T> {
    type Target = Elements<'a, T>;

    fn deref(&self) -> &Elements<'a, T> {
        &self.elements
    }
}

impl<'a, T: Element> IntoIterator for &TensorView<'a, T> {
    type Item = T;
    type IntoIter = TensorIter<'a, T>;

    fn into_iter(self) -> TensorIter<'a, T> {
        self.iter()
    }
}

/// Shows dtype, byte order and shape, but no values.
impl<T: Element> fmt::Debug for TensorView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorView")
            .field("dtype", &T::DTYPE)
            .field("byte_order", &self.byte_order())
            .field("shape", &self.shape)
            .finish()
    }
}

/// The rows of a tensor: the tensor at each index of its first dimension.
#[derive(Clone)]
pub struct Rows<'a, T: Element> {
    elements: Elements<'a, T>,
    shape: Shape<'a>,
    row_len: usize,
    range: Range<usize>,
}

impl<'a, T: Element> Rows<'a, T> {
    fn at(&self, i: usize) -> Option<TensorView<'a, T>> {
        let start = i.checked_mul(self.row_len)?;
        let end = start.checked_add(self.row_len)?;
        Some(TensorView { elements: self.elements.elements(start..end).ok()?, shape: self.shape })
    }
}

impl<'a, T: Element> Iterator for Rows<'a, T> {
    type Item = TensorView<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.range.next().and_then(|i| self.at(i))
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.range.nth(n).and_then(|i| self.at(i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl<T: Element> DoubleEndedIterator for Rows<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().and_then(|i| self.at(i))
    }
}

impl<T: Element> ExactSizeIterator for Rows<'_, T> {
    fn len(&self) -> usize {
        self.range.end.saturating_sub(self.range.start)
    }
}

impl<T: Element> FusedIterator for Rows<'_, T> {}

impl<T: Element> fmt::Debug for Rows<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("range", &self.range).field("shape", &self.shape).finish()
    }
}
