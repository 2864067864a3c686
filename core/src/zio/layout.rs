//! Where the elements of a tensor lie whose storage order is not that of rows.
//!
//! `order[k]` is the dimension that is k-th fastest in memory, `ascend[d]` says whether dimension `d` is stored from its
//! first index to its last (the storage order of Boost.MultiArray):
//!
//! ```text
//! step = 1
//! for d in order:   flat += (ascend[d] ? i_d : shape[d] - 1 - i_d) * step
//!                   step *= shape[d]
//! ```

use core::fmt;
use core::iter::FusedIterator;

use crate::error::{ErrorKind, Result};
use crate::tensor::{Element, Elements, Shape};

/// Shape and storage order of a tensor. `Copy`, borrowed slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout<'a> {
    shape: &'a [u64],
    order: Option<&'a [usize]>,
    ascend: Option<&'a [bool]>,
}

impl<'a> Layout<'a> {
    /// The layout of a tensor of `shape`; without `order` the last dimension is fastest, without `ascend` all ascend.
    ///
    /// `None` if `order` is not a permutation of the dimensions, or `ascend` has another number of them. O(rank²) with an
    /// order, without memory to mark dimensions in.
    pub fn new(shape: &'a [u64], order: Option<&'a [usize]>, ascend: Option<&'a [bool]>) -> Option<Self> {
        let is_permutation =
            |order: &[usize]| order.len() == shape.len() && (0..shape.len()).all(|d| order.contains(&d));
        let fits = order.is_none_or(is_permutation) && ascend.is_none_or(|ascend| ascend.len() == shape.len());
        fits.then_some(Self { shape, order, ascend })
    }

    /// [`Self::new`] for a caller who has checked `order` and `ascend`, in O(rank) with memory of its own. With an `order`
    /// that is no permutation places are wrong, nothing worse.
    pub const fn from_checked(shape: &'a [u64], order: Option<&'a [usize]>, ascend: Option<&'a [bool]>) -> Self {
        Self { shape, order, ascend }
    }

    /// The dimensions, as coordinates count them.
    pub const fn shape(&self) -> &'a [u64] {
        self.shape
    }

    /// Whether elements are stored as in C: rows behind each other, every dimension ascending.
    pub fn is_row_major(&self) -> bool {
        self.ascends() && self.fastest_first().eq((0..self.shape.len()).rev())
    }

    /// Whether every dimension ascends.
    pub fn ascends(&self) -> bool {
        self.ascend.is_none_or(|ascend| ascend.iter().all(|ascends| *ascends))
    }

    /// The dimensions from the fastest to the slowest in memory.
    pub fn fastest_first(&self) -> impl Iterator<Item = usize> + use<'a> {
        let (order, rank) = (self.order, self.shape.len());
        (0..rank).map(move |k| match order {
            Some(order) => order.get(k).copied().unwrap_or(0),
            None => rank.saturating_sub(k).saturating_sub(1),
        })
    }

    fn dim(&self, d: usize) -> u64 {
        self.shape.get(d).copied().unwrap_or(0)
    }

    fn ascends_along(&self, d: usize) -> bool {
        self.ascend.is_none_or(|ascend| ascend.get(d).copied().unwrap_or(true))
    }

    /// Writes to `strides` how many elements lie between neighbours along each dimension, and returns where the element
    /// with all coordinates 0 lies.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `strides` has another length than the shape; [`ErrorKind::ShapeOverflow`] if a stride
    /// or the offset exceeds its integer.
    pub fn strides_into(&self, strides: &mut [i64]) -> Result<u64> {
        if strides.len() != self.shape.len() {
            return Err(ErrorKind::OutputLength.at(0));
        }
        let overflow = ErrorKind::ShapeOverflow.at(0);
        let (mut step, mut offset) = (Some(1_u64), 0_u64);
        for d in self.fastest_first() {
            let here = step.ok_or(overflow)?;
            let stride = i64::try_from(here).map_err(|_| overflow)?;
            let ascends = self.ascends_along(d);
            if let Some(out) = strides.get_mut(d) {
                *out = if ascends { stride } else { stride.wrapping_neg() };
            }
            if !ascends {
                let back = self.dim(d).saturating_sub(1).checked_mul(here);
                offset = back.and_then(|back| offset.checked_add(back)).ok_or(overflow)?;
            }
            step = here.checked_mul(self.dim(d));
        }
        Ok(offset)
    }

    /// The place in memory of the element at `coordinates`, counted in elements; `None` if their number is not the rank, or
    /// one of them is not below its dimension. O(rank).
    ///
    /// ```
    /// use tgm_core::zio::Layout;
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

/// A tensor's elements, seen in the order of its coordinates wherever they are stored. `Copy`.
#[derive(Clone, Copy)]
pub struct OrderedView<'a, T: Element> {
    elements: Elements<'a, T>,
    shape: &'a [u64],
    strides: &'a [i64],
    offset: u64,
}

impl<'a, T: Element> OrderedView<'a, T> {
    /// `elements` as a tensor of `shape` with the strides and the offset that [`Layout::strides_into`] gave.
    ///
    /// # Errors
    /// [`ErrorKind::StridesMismatch`] if there is not one stride for each dimension; [`ErrorKind::PayloadSize`] if the
    /// elements are not as many as the shape says; [`ErrorKind::ShapeOverflow`].
    pub fn new(elements: Elements<'a, T>, shape: &'a [u64], strides: &'a [i64], offset: u64) -> Result<Self> {
        if shape.len() != strides.len() {
            return Err(ErrorKind::StridesMismatch.at(0));
        }
        match Shape::from(shape).element_count().ok_or(ErrorKind::ShapeOverflow.at(0))? {
            count if count == elements.len() as u64 => Ok(Self { elements, shape, strides, offset }),
            _ => Err(ErrorKind::PayloadSize.at(0)),
        }
    }

    /// The elements as they are stored.
    pub const fn stored(&self) -> Elements<'a, T> {
        self.elements
    }

    /// The dimensions, as coordinates count them.
    pub const fn shape(&self) -> &'a [u64] {
        self.shape
    }

    /// Elements between neighbours along each dimension, negative where it descends.
    pub const fn strides(&self) -> &'a [i64] {
        self.strides
    }

    /// The element at `coordinates` (slowest first); `None` if they are not inside the shape. O(rank).
    pub fn get_at(&self, coordinates: &[u64]) -> Option<T> {
        if coordinates.len() != self.shape.len() || coordinates.iter().zip(self.shape).any(|(at, dim)| at >= dim) {
            return None;
        }
        let pairs = coordinates.iter().zip(self.strides);
        let flat = pairs.fold(self.offset, |flat, (at, stride)| step(flat, *at, *stride));
        self.elements.get(usize::try_from(flat).ok()?)
    }

    /// The element that is `index`th in row-major order of the coordinates.
    fn nth_of(&self, index: usize) -> Option<T> {
        let (mut rest, mut flat) = (index as u64, self.offset);
        for (dim, stride) in self.shape.iter().zip(self.strides).rev() {
            flat = step(flat, rest.checked_rem(*dim)?, *stride);
            rest = rest.checked_div(*dim)?;
        }
        self.elements.get(usize::try_from(flat).ok()?)
    }

    /// Each element, in row-major order of the coordinates: O(rank) each.
    pub const fn iter(&self) -> OrderedIter<'a, T> {
        OrderedIter { view: *self, next: 0 }
    }

    /// Writes all elements to `out` in row-major order of the coordinates and native byte order.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` has another length.
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

/// Elements and shape; no values.
impl<T: Element> fmt::Debug for OrderedView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderedView").field("elements", &self.elements).field("shape", &self.shape).finish()
    }
}

/// `flat` moved by `at` strides. What wraps lies outside, and is not found.
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
    use crate::descriptor::ByteOrder;

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
