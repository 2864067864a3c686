//! Dimensions, from a descriptor or from a slice.

use core::fmt;
use core::iter::FusedIterator;
use core::slice;

use crate::cbor::{Uints, UintsIter};
use crate::descriptor::Dtype;
use crate::error::{ErrorKind, Result};

/// The dimensions of a tensor, slowest first. They are borrowed from a descriptor, and decoded when read, or from a slice.
///
/// It takes a few machine words at any rank. A tensor of shape `[]` has one element. A tensor with a dimension of 0 has no
/// elements. Dimensions come from the input and may be any `u64`, so no loop here runs as often as a dimension says.
///
/// ```
/// use tgm_core::tensor::Shape;
///
/// let shape = Shape::from(&[2, 3, 4]);
/// assert_eq!((shape.rank(), shape.element_count()), (3, Some(24)));
/// assert_eq!(shape.flat_index(&[1, 0, 2]), Some(14));
/// assert_eq!(shape.flat_index(&[1, 3, 2]), None);
/// ```
#[derive(Clone, Copy)]
pub struct Shape<'a> {
    source: Source<'a>,
    /// How many leading dimensions are left out, because this is the shape of a row.
    skip: usize,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Encoded(Uints<'a>),
    Listed(&'a [u64]),
}

impl<'a> Shape<'a> {
    /// The number of dimensions. O(1).
    pub const fn rank(&self) -> usize {
        let all = match &self.source {
            Source::Encoded(dims) => dims.len(),
            Source::Listed(dims) => dims.len(),
        };
        all.saturating_sub(self.skip)
    }

    /// The dimensions, slowest first.
    pub fn dims(&self) -> Dims<'a> {
        let mut dims = Dims(match self.source {
            Source::Encoded(dims) => DimsOf::Encoded(dims.iter()),
            Source::Listed(dims) => DimsOf::Listed(dims.iter()),
        });
        if let Some(last_skipped) = self.skip.checked_sub(1) {
            dims.nth(last_skipped);
        }
        dims
    }

    /// The product of the dimensions: 1 for `[]`, 0 if a dimension is 0; `None` if it exceeds `u64`. O(rank).
    pub fn element_count(&self) -> Option<u64> {
        let mut count = Some(1_u64);
        for dim in self.dims() {
            if dim == 0 {
                return Some(0);
            }
            count = count.and_then(|count| count.checked_mul(dim));
        }
        count
    }

    /// Bytes of a payload of this shape and `dtype`, if it needs no decoding. O(rank).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] if the number of elements or of bytes exceeds `usize`.
    pub fn byte_len(&self, dtype: Dtype) -> Result<usize> {
        self.sizes(dtype).map(|(_, bytes)| bytes).ok_or(ErrorKind::ShapeOverflow.at(0))
    }

    /// The number of elements in `payload`, after the check that it has the length that this shape and `dtype` imply.
    ///
    /// # Errors
    /// [`ErrorKind::PayloadSize`] if it has another length; [`ErrorKind::ShapeOverflow`].
    pub(super) fn count_in(&self, dtype: Dtype, payload: &[u8]) -> Result<usize> {
        let (count, bytes) = self.sizes(dtype).ok_or(ErrorKind::ShapeOverflow.at(0))?;
        if bytes == payload.len() { Ok(count) } else { Err(ErrorKind::PayloadSize.at(0)) }
    }

    /// The number of elements and the number of bytes, if both fit `usize`.
    fn sizes(&self, dtype: Dtype) -> Option<(usize, usize)> {
        let count = self.element_count()?;
        let bytes = dtype.byte_len(count)?;
        Some((usize::try_from(count).ok()?, usize::try_from(bytes).ok()?))
    }

    /// The index in row-major order of the element at `coordinates`, slowest first. `None` if there are more or fewer
    /// coordinates than dimensions, or if one is not below its dimension. O(rank).
    pub fn flat_index(&self, coordinates: &[u64]) -> Option<u64> {
        if coordinates.len() != self.rank() {
            return None;
        }
        self.dims()
            .zip(coordinates)
            .try_fold(0_u64, |flat, (dim, &at)| if at < dim { flat.checked_mul(dim)?.checked_add(at) } else { None })
    }

    /// Writes the stride of each dimension to `out`: the distance between neighbours along it, in elements, in row-major
    /// order.
    ///
    /// A stride is the product of the later dimensions: 1 for the last dimension, and 0 before a dimension of 0. O(rank).
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if the length of `out` is not the [`rank`](Self::rank); [`ErrorKind::ShapeOverflow`] if a
    /// stride exceeds `u64`. This can also happen to a shape without elements. The contents of `out` then have no meaning.
    ///
    /// ```
    /// use tgm_core::tensor::Shape;
    ///
    /// let mut strides = [0; 3];
    /// Shape::from(&[2, 3, 4]).row_major_strides_into(&mut strides)?;
    /// assert_eq!(strides, [12, 4, 1]);
    /// # Ok::<(), tgm_core::error::Error>(())
    /// ```
    pub fn row_major_strides_into(&self, out: &mut [u64]) -> Result<()> {
        if out.len() != self.rank() {
            return Err(ErrorKind::OutputLength.at(0));
        }
        for (out, dim) in out.iter_mut().zip(self.dims()) {
            *out = dim;
        }
        let mut stride = Some(1_u64);
        for out in out.iter_mut().rev() {
            let here = stride.ok_or(ErrorKind::ShapeOverflow.at(0))?;
            stride = here.checked_mul(*out);
            *out = here;
        }
        Ok(())
    }

    /// The first dimension, and the shape of a row; `None` for `[]`. O(1) for a shape from a slice, O(dimensions already
    /// left out) for a shape from a descriptor.
    ///
    /// ```
    /// use tgm_core::tensor::Shape;
    ///
    /// assert_eq!(Shape::from(&[2, 3, 4]).split_first(), Some((2, Shape::from(&[3, 4]))));
    /// ```
    pub fn split_first(&self) -> Option<(u64, Self)> {
        let first = self.dims().next()?;
        Some((first, Self { source: self.source, skip: self.skip.saturating_add(1) }))
    }
}

impl<'a> From<Uints<'a>> for Shape<'a> {
    fn from(dims: Uints<'a>) -> Self {
        Self { source: Source::Encoded(dims), skip: 0 }
    }
}

impl<'a> From<&'a [u64]> for Shape<'a> {
    fn from(dims: &'a [u64]) -> Self {
        Self { source: Source::Listed(dims), skip: 0 }
    }
}

impl<'a, const RANK: usize> From<&'a [u64; RANK]> for Shape<'a> {
    fn from(dims: &'a [u64; RANK]) -> Self {
        Self::from(dims.as_slice())
    }
}

/// Shapes are equal if their dimensions are equal.
impl PartialEq for Shape<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.dims().eq(other.dims())
    }
}

impl Eq for Shape<'_> {}

/// Shows a list: `[2, 3, 4]`.
impl fmt::Debug for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.dims()).finish()
    }
}

impl<'a> IntoIterator for Shape<'a> {
    type Item = u64;
    type IntoIter = Dims<'a>;

    fn into_iter(self) -> Dims<'a> {
        self.dims()
    }
}

/// The dimensions of a [`Shape`], slowest first.
#[derive(Clone, Debug)]
pub struct Dims<'a>(DimsOf<'a>);

#[derive(Clone, Debug)]
enum DimsOf<'a> {
    Encoded(UintsIter<'a>),
    Listed(slice::Iter<'a, u64>),
}

impl Iterator for Dims<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match &mut self.0 {
            DimsOf::Encoded(dims) => dims.next(),
            DimsOf::Listed(dims) => dims.next().copied(),
        }
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        match &mut self.0 {
            DimsOf::Encoded(dims) => dims.nth(n),
            DimsOf::Listed(dims) => dims.nth(n).copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl ExactSizeIterator for Dims<'_> {
    fn len(&self) -> usize {
        match &self.0 {
            DimsOf::Encoded(dims) => dims.size_hint().0,
            DimsOf::Listed(dims) => dims.as_slice().len(),
        }
    }
}

impl FusedIterator for Dims<'_> {}
