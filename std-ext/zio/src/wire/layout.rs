//! Tensors that are not stored in row-major order, and where their elements are.
//!
//! `order[k]` is the dimension that is k-th fastest in memory. `ascend[d]` says whether dimension `d` is stored from its
//! first index to its last. This is the storage order of Boost.MultiArray:
//!
//! ```text
//! step = 1
//! for d in order:   flat += (ascend[d] ? i_d : shape[d] - 1 - i_d) * step
//!                   step *= shape[d]
//! ```

use core::fmt;
use core::iter::FusedIterator;

use tgm_core::error::{ErrorKind, Result};
use tgm_core::tensor::{Element, Elements, Shape};

/// The shape and the storage order of a tensor. `Copy`, borrowed slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout<'a> {
    shape: &'a [u64],
    order: Option<&'a [usize]>,
    ascend: Option<&'a [bool]>,
}

impl<'a> Layout<'a> {
    /// The layout of a tensor of `shape`. Without `order` the last dimension is fastest; without `ascend` all ascend.
    ///
    /// `None` if `order` is not a permutation of the dimensions, or if `ascend` has another length than `shape`. With an
    /// order this takes O(rank²), because there is no memory to mark dimensions in.
    pub fn new(shape: &'a [u64], order: Option<&'a [usize]>, ascend: Option<&'a [bool]>) -> Option<Self> {
        let is_permutation =
            |order: &[usize]| order.len() == shape.len() && (0..shape.len()).all(|d| order.contains(&d));
        let fits = order.is_none_or(is_permutation) && ascend.is_none_or(|ascend| ascend.len() == shape.len());
        fits.then_some(Self { shape, order, ascend })
    }

    /// [`Self::new`] without the checks, for a caller that has checked `order` and `ascend` itself.
    ///
    /// If `order` is not a permutation, the computed places are wrong. Nothing worse happens.
    pub const fn from_checked(shape: &'a [u64], order: Option<&'a [usize]>, ascend: Option<&'a [bool]>) -> Self {
        Self { shape, order, ascend }
    }

    /// The length of each dimension, in the order of coordinates.
    pub const fn shape(&self) -> &'a [u64] {
        self.shape
    }

    /// Whether elements are stored as in C: row after row, and every dimension ascending.
    pub fn is_row_major(&self) -> bool {
        self.ascends() && self.fastest_first().eq((0..self.shape.len()).rev())
    }

    /// Whether every dimension ascends.
    pub fn ascends(&self) -> bool {
        self.ascend.is_none_or(|ascend| ascend.iter().all(|ascends| *ascends))
    }

    /// The numbers of the dimensions, from the fastest to the slowest in memory.
    pub fn fastest_first(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (order, rank) = (self.order, self.shape.len());
        (0..rank).map(move |k| match order {
            Some(order) => order.get(k).copied().unwrap_or(0),
            None => rank.saturating_sub(k).saturating_sub(1),
        })
    }

    /// The length of dimension `d`.
    fn dim(&self, d: usize) -> u64 {
        self.shape.get(d).copied().unwrap_or(0)
    }

    fn ascends_along(&self, d: usize) -> bool {
        self.ascend.is_none_or(|ascend| ascend.get(d).copied().unwrap_or(true))
    }

    /// Writes the stride of each dimension to `strides`, and returns the place of the element with all coordinates 0.
    ///
    /// A stride is the distance between neighbours along the dimension, in elements.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `strides` does not have the length of the shape; [`ErrorKind::ShapeOverflow`] if a
    /// stride exceeds `i64`, or the place exceeds `u64`.
    pub fn strides_into(&self, strides: &mut [i64]) -> Result<u64> {
        if strides.len() != self.shape.len() {
            return Err(ErrorKind::OutputLength.at(0));
        }
        let overflow = ErrorKind::ShapeOverflow.at(0);
        let (mut step, mut offset) = (Some(1_u64), 0_u64);
        // `step` is `None` after an overflow. After the slowest dimension that is fine, because no stride uses it.
        for d in self.fastest_first() {
            let here = step.ok_or(overflow)?;
            let stride = i64::try_from(here).map_err(|_| overflow)?;
            let ascends = self.ascends_along(d);
            if let Some(out) = strides.get_mut(d) {
                *out = if ascends { stride } else { stride.wrapping_neg() };
            }
            // Coordinate 0 of a descending dimension is its last element in memory.
            if !ascends {
                let back = self.dim(d).saturating_sub(1).checked_mul(here);
                offset = back.and_then(|back| offset.checked_add(back)).ok_or(overflow)?;
            }
            step = here.checked_mul(self.dim(d));
        }
        Ok(offset)
    }

    /// The place in memory of the element at `coordinates`, counted in elements. `None` if there are more or fewer
    /// coordinates than dimensions, or if one is not below its dimension. O(rank).
    ///
    /// ```
    /// use tgm_zio::Layout;
    ///
    /// let layout = Layout::new(&[3, 4, 2], Some(&[2, 0, 1]), Some(&[false, true, true])).unwrap();
    /// assert_eq!(layout.flat_index(&[0, 0, 0]), Some(4));
    /// assert_eq!(layout.flat_index(&[2, 1, 1]), Some(7));
    /// ```
    pub fn flat_index(&self, coordinates: &[u64]) -> Option<u64> {
        if coordinates.len() != self.shape.len() {
            return None;
        }
        let (mut flat, mut step) = (0_u64, 1_u64);
        for d in self.fastest_first() {
            let (dim, at) = (self.dim(d), coordinates.get(d).copied()?);
            let last = dim.checked_sub(1).filter(|last| at <= *last)?;
            let at = if self.ascends_along(d) { at } else { last.checked_sub(at)? };
            flat = at.checked_mul(step)?.checked_add(flat)?;
            step = step.saturating_mul(dim);
        }
        Some(flat)
    }
}

/// The elements of a tensor of any storage order, accessed by coordinates. `Copy`.
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_core::tensor::Elements;
/// use tgm_zio::{Layout, OrderedView};
///
/// let layout = Layout::new(&[2, 2], Some(&[0, 1]), None).unwrap(); // column after column
/// let mut strides = [0; 2];
/// let offset = layout.strides_into(&mut strides)?;
/// let elements = Elements::<u8>::new(&[1, 3, 2, 4], ByteOrder::Little)?;
/// assert!(OrderedView::new(elements, &[2, 2], &strides, offset)?.iter().eq([1, 2, 3, 4]));
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct OrderedView<'a, T: Element> {
    elements: Elements<'a, T>,
    shape: &'a [u64],
    strides: &'a [i64],
    offset: u64,
}

impl<'a, T: Element> OrderedView<'a, T> {
    /// A view of `elements` as a tensor of `shape`. `strides` and `offset` come from [`Layout::strides_into`].
    ///
    /// # Errors
    /// [`ErrorKind::StridesMismatch`] if there is not one stride for each dimension; [`ErrorKind::PayloadSize`] if the
    /// number of elements is not the product of the shape; [`ErrorKind::ShapeOverflow`] if that product overflows;
    /// [`ErrorKind::RangeOutOfBounds`] if the strides lead outside of the elements.
    pub fn new(elements: Elements<'a, T>, shape: &'a [u64], strides: &'a [i64], offset: u64) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(ErrorKind::StridesMismatch.at(0));
        }
        let count = Shape::from(shape).element_count().ok_or(ErrorKind::ShapeOverflow.at(0))?;
        if count != elements.len() as u64 {
            return Err(ErrorKind::PayloadSize.at(0));
        }
        if count > 0 && greatest_place(shape, strides, offset).is_none_or(|place| place >= count) {
            return Err(ErrorKind::RangeOutOfBounds.at(0));
        }
        Ok(Self { elements, shape, strides, offset })
    }

    /// The elements in the order of memory.
    pub const fn stored(&self) -> Elements<'a, T> {
        self.elements
    }

    /// The length of each dimension, in the order of coordinates.
    pub const fn shape(&self) -> &'a [u64] {
        self.shape
    }

    /// The stride of each dimension, in elements. Negative for a dimension that descends.
    pub const fn strides(&self) -> &'a [i64] {
        self.strides
    }

    /// The element at `coordinates`, slowest first. `None` if they are not inside the shape. O(rank).
    pub fn get_at(&self, coordinates: &[u64]) -> Option<T> {
        if coordinates.len() != self.shape.len() || coordinates.iter().zip(self.shape).any(|(at, dim)| at >= dim) {
            return None;
        }
        let pairs = coordinates.iter().zip(self.strides);
        let flat = pairs.fold(self.offset, |flat, (at, stride)| step(flat, *at, *stride));
        self.elements.get(usize::try_from(flat).ok()?)
    }

    /// The element with this index in row-major order of the coordinates.
    fn nth_of(&self, index: usize) -> Option<T> {
        // Divide the index into coordinates, last dimension first.
        let (mut rest, mut flat) = (index as u64, self.offset);
        for (dim, stride) in self.shape.iter().zip(self.strides).rev() {
            flat = step(flat, rest.checked_rem(*dim)?, *stride);
            rest = rest.checked_div(*dim)?;
        }
        self.elements.get(usize::try_from(flat).ok()?)
    }

    /// The elements in row-major order of the coordinates: O(rank) for each.
    pub const fn iter(&self) -> OrderedIter<'a, T> {
        OrderedIter { view: *self, next: 0 }
    }

    /// Writes all elements to `out`, in row-major order of the coordinates and in native byte order.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` does not have the number of elements.
    pub fn copy_into(&self, out: &mut [T]) -> Result<()> {
        if out.len() != self.elements.len() {
            return Err(ErrorKind::OutputLength.at(0));
        }
        out.iter_mut().zip(self.iter()).for_each(|(out, element)| *out = element);
        Ok(())
    }
}

impl<'a, T: Element> IntoIterator for &OrderedView<'a, T> {
    type Item = T;
    type IntoIter = OrderedIter<'a, T>;

    fn into_iter(self) -> OrderedIter<'a, T> {
        self.iter()
    }
}

/// Shows elements and shape, but no values.
impl<T: Element> fmt::Debug for OrderedView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderedView").field("elements", &self.elements).field("shape", &self.shape).finish()
    }
}

/// The greatest place that coordinates within `shape` lead to. No dimension has the length 0. `None` if a place is below 0 or
/// above 2^64 − 1.
fn greatest_place(shape: &[u64], strides: &[i64], offset: u64) -> Option<u64> {
    let (mut least, mut greatest) = (offset, offset);
    for (dim, stride) in shape.iter().zip(strides) {
        let way = dim.checked_sub(1)?.checked_mul(stride.unsigned_abs())?;
        if *stride < 0 {
            least = least.checked_sub(way)?;
        } else {
            greatest = greatest.checked_add(way)?;
        }
    }
    Some(greatest)
}

/// `flat` plus `at` strides, modulo 2^64. So a negative stride, as an unsigned number, subtracts.
const fn step(flat: u64, at: u64, stride: i64) -> u64 {
    flat.wrapping_add(at.wrapping_mul(stride.cast_unsigned()))
}

/// The elements of an [`OrderedView`], in row-major order of the coordinates.
#[derive(Clone, Debug)]
pub struct OrderedIter<'a, T: Element> {
    view: OrderedView<'a, T>,
    next: usize,
}

impl<T: Element> Iterator for OrderedIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next >= self.view.elements.len() {
            return None;
        }
        let element = self.view.nth_of(self.next);
        self.next = self.next.saturating_add(1);
        element
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.view.elements.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

impl<T: Element> ExactSizeIterator for OrderedIter<'_, T> {}

impl<T: Element> FusedIterator for OrderedIter<'_, T> {}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use tgm_core::descriptor::ByteOrder;

    #[test]
    fn orders_that_are_no_permutation_are_refused() {
        for order in [&[0][..], &[0, 0], &[1, 2], &[0, 1, 2]] {
            assert_eq!(Layout::new(&[2, 3], Some(order), None), None);
        }
        assert_eq!(Layout::new(&[2, 3], None, Some(&[true])), None);
    }

    #[test]
    fn elements_come_in_the_order_of_coordinates() {
        // Fortran order, the first dimension descending: element (i, j) is 10 i + j.
        let stored = [10_u8, 0, 11, 1, 12, 2];
        let layout = Layout::new(&[2, 3], Some(&[0, 1]), Some(&[false, true])).unwrap();
        let mut strides = [0; 2];
        let offset = layout.strides_into(&mut strides).unwrap();
        assert_eq!((strides, offset), ([-1, 2], 1));
        let elements = Elements::<u8>::new(&stored, ByteOrder::Little).unwrap();
        let view = OrderedView::new(elements, layout.shape(), &strides, offset).unwrap();
        assert_eq!(view.iter().collect::<Vec<_>>(), [0, 1, 2, 10, 11, 12]);
        assert_eq!((view.get_at(&[1, 2]), view.get_at(&[2, 0]), view.get_at(&[0])), (Some(12), None, None));
        let mut out = [0; 6];
        view.copy_into(&mut out).unwrap();
        assert_eq!(out, [0, 1, 2, 10, 11, 12]);
    }

    #[test]
    fn a_shape_without_elements_has_no_place_and_may_have_no_strides() {
        let layout = Layout::new(&[1 << 40, 1 << 40, 0], Some(&[0, 1, 2]), None).unwrap();
        assert_eq!(layout.flat_index(&[0, 0, 0]), None);
        assert_eq!(layout.strides_into(&mut [0; 3]).unwrap_err().kind(), ErrorKind::ShapeOverflow);
    }
}
