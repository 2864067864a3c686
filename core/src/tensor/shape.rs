//! Dimensions, wherever they are written.

use core::fmt;
use core::iter::FusedIterator;
use core::slice;

use crate::cbor::{Uints, UintsIter};
use crate::descriptor::Dtype;
use crate::error::{ErrorKind, Result};

/// The dimensions of a tensor, slowest first: borrowed from a descriptor (and decoded when looked at) or from a slice.
///
/// A few machine words, whatever the rank. The shape `[]` is that of a single element, a shape that contains a 0 that of
/// none. Dimensions come from the input and may be any `u64`: nothing here trusts them, and nothing loops by them.
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
    /// Leading dimensions that do not count: those of the tensors that this one is a row of.
    skip: usize,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Encoded(Uints<'a>),
    Listed(&'a [u64]),
}

impl<'a> Shape<'a> {
    /// How many dimensions there are. O(1).
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

    /// The product of the dimensions: 1 for `[]`, 0 if any of them is 0; `None` if it exceeds `u64`. O(rank).
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

    /// Bytes of a payload of this shape and `dtype` that needs no decoding. O(rank).
    ///
    /// # Errors
    /// [`ErrorKind::ShapeOverflow`] if the number of elements or of bytes exceeds `usize`.
    pub fn byte_len(&self, dtype: Dtype) -> Result<usize> {
        self.sizes(dtype).map(|(_, bytes)| bytes).ok_or(ErrorKind::ShapeOverflow.at(0))
    }

    /// The elements of `payload`, counted, which this shape and `dtype` describe.
    ///
    /// # Errors
    /// [`ErrorKind::PayloadSize`] if the payload is not exactly as long as that.
    pub(super) fn count_in(&self, dtype: Dtype, payload: &[u8]) -> Result<usize> {
        let (count, bytes) = self.sizes(dtype).ok_or(ErrorKind::ShapeOverflow.at(0))?;
        if bytes == payload.len() { Ok(count) } else { Err(ErrorKind::PayloadSize.at(0)) }
    }

    /// Elements and bytes, if both can be counted on this machine.
    fn sizes(&self, dtype: Dtype) -> Option<(usize, usize)> {
        let count = self.element_count()?;
        let bytes = dtype.byte_len(count)?;
        Some((usize::try_from(count).ok()?, usize::try_from(bytes).ok()?))
    }

    /// The place of the element at `coordinates` (slowest first) in row-major order; `None` if their number is not the
    /// rank, or one of them is not below its dimension. O(rank).
    pub fn flat_index(&self, coordinates: &[u64]) -> Option<u64> {
        if coordinates.len() != self.rank() {
            return None;
        }
        self.dims()
            .zip(coordinates)
            .try_fold(0_u64, |flat, (dim, &at)| if at < dim { flat.checked_mul(dim)?.checked_add(at) } else { None })
    }

    /// Writes to `out`, for each dimension, how many elements lie between neighbours along it in row-major order.
    ///
    /// That is the product of the dimensions after it: 1 for the last, 0 where a later one is 0. O(rank).
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` has another length than [`rank`](Self::rank);
    /// [`ErrorKind::ShapeOverflow`] if a stride exceeds `u64`, which a shape that contains a 0 can do though its
    /// element count does not. `out` holds no strides then.
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

    /// The first dimension and the shape of what lies at each index of it; `None` for `[]`. O(1) for listed dimensions,
    /// else O(dimensions already dropped).
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

/// Shapes are equal if their dimensions are, wherever they are written.
impl PartialEq for Shape<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.dims().eq(other.dims())
    }
}

impl Eq for Shape<'_> {}

/// A list: `[2, 3, 4]`.
impl fmt::Debug for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.dims()).finish()
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
