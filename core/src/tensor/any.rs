//! A view of any dtype.

use half::{bf16, f16};

use super::{BitView, Complex, Shape, TensorView};
use crate::descriptor::{ByteOrder, Dtype};
use crate::error::Result;

/// A tensor of any dtype, in place: each dtype has a variant, which holds the typed view.
///
/// ```
/// use tgm_core::descriptor::{ByteOrder, Dtype};
/// use tgm_core::tensor::{AnyView, Shape};
///
/// let view = AnyView::new(Dtype::Int16, &[0xFF, 0xFE], ByteOrder::Big, Shape::from(&[]))?;
/// assert!(matches!(view, AnyView::Int16(tensor) if tensor.get(0) == Some(-2)));
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum AnyView<'a> {
    /// Dtype `float16`.
    Float16(TensorView<'a, f16>),
    /// Dtype `bfloat16`.
    Bfloat16(TensorView<'a, bf16>),
    /// Dtype `float32`.
    Float32(TensorView<'a, f32>),
    /// Dtype `float64`.
    Float64(TensorView<'a, f64>),
    /// Dtype `complex64`.
    Complex64(TensorView<'a, Complex<f32>>),
    /// Dtype `complex128`.
    Complex128(TensorView<'a, Complex<f64>>),
    /// Dtype `int8`.
    Int8(TensorView<'a, i8>),
    /// Dtype `int16`.
    Int16(TensorView<'a, i16>),
    /// Dtype `int32`.
    Int32(TensorView<'a, i32>),
    /// Dtype `int64`.
    Int64(TensorView<'a, i64>),
    /// Dtype `uint8`.
    Uint8(TensorView<'a, u8>),
    /// Dtype `uint16`.
    Uint16(TensorView<'a, u16>),
    /// Dtype `uint32`.
    Uint32(TensorView<'a, u32>),
    /// Dtype `uint64`.
    Uint64(TensorView<'a, u64>),
    /// Dtype `bitmask`.
    Bitmask(BitView<'a>),
}

/// Evaluates one expression on the view of any variant.
macro_rules! on_view {
    ($any:expr, $view:ident => $value:expr) => {
        match $any {
            AnyView::Float16($view) => $value,
            AnyView::Bfloat16($view) => $value,
            AnyView::Float32($view) => $value,
            AnyView::Float64($view) => $value,
            AnyView::Complex64($view) => $value,
            AnyView::Complex128($view) => $value,
            AnyView::Int8($view) => $value,
            AnyView::Int16($view) => $value,
            AnyView::Int32($view) => $value,
            AnyView::Int64($view) => $value,
            AnyView::Uint8($view) => $value,
            AnyView::Uint16($view) => $value,
            AnyView::Uint32($view) => $value,
            AnyView::Uint64($view) => $value,
            AnyView::Bitmask($view) => $value,
        }
    };
}

impl<'a> AnyView<'a> {
    /// A view of `payload` as a tensor of this dtype and shape, stored in `order`. For bitmasks `order` means nothing.
    /// O(rank), reads no byte of the payload.
    ///
    /// # Errors
    /// The errors of [`TensorView::new`] and [`BitView::new`].
    pub fn new(dtype: Dtype, payload: &'a [u8], order: ByteOrder, shape: Shape<'a>) -> Result<Self> {
        Ok(match dtype {
            Dtype::Float16 => Self::Float16(TensorView::new(payload, order, shape)?),
            Dtype::Bfloat16 => Self::Bfloat16(TensorView::new(payload, order, shape)?),
            Dtype::Float32 => Self::Float32(TensorView::new(payload, order, shape)?),
            Dtype::Float64 => Self::Float64(TensorView::new(payload, order, shape)?),
            Dtype::Complex64 => Self::Complex64(TensorView::new(payload, order, shape)?),
            Dtype::Complex128 => Self::Complex128(TensorView::new(payload, order, shape)?),
            Dtype::Int8 => Self::Int8(TensorView::new(payload, order, shape)?),
            Dtype::Int16 => Self::Int16(TensorView::new(payload, order, shape)?),
            Dtype::Int32 => Self::Int32(TensorView::new(payload, order, shape)?),
            Dtype::Int64 => Self::Int64(TensorView::new(payload, order, shape)?),
            Dtype::Uint8 => Self::Uint8(TensorView::new(payload, order, shape)?),
            Dtype::Uint16 => Self::Uint16(TensorView::new(payload, order, shape)?),
            Dtype::Uint32 => Self::Uint32(TensorView::new(payload, order, shape)?),
            Dtype::Uint64 => Self::Uint64(TensorView::new(payload, order, shape)?),
            Dtype::Bitmask => Self::Bitmask(BitView::new(payload, shape)?),
        })
    }

    /// The dtype.
    pub const fn dtype(&self) -> Dtype {
        match self {
            Self::Float16(_) => Dtype::Float16,
            Self::Bfloat16(_) => Dtype::Bfloat16,
            Self::Float32(_) => Dtype::Float32,
            Self::Float64(_) => Dtype::Float64,
            Self::Complex64(_) => Dtype::Complex64,
            Self::Complex128(_) => Dtype::Complex128,
            Self::Int8(_) => Dtype::Int8,
            Self::Int16(_) => Dtype::Int16,
            Self::Int32(_) => Dtype::Int32,
            Self::Int64(_) => Dtype::Int64,
            Self::Uint8(_) => Dtype::Uint8,
            Self::Uint16(_) => Dtype::Uint16,
            Self::Uint32(_) => Dtype::Uint32,
            Self::Uint64(_) => Dtype::Uint64,
            Self::Bitmask(_) => Dtype::Bitmask,
        }
    }

    /// The dimensions.
    pub const fn shape(&self) -> Shape<'a> {
        on_view!(self, view => view.shape())
    }

    /// The bytes as stored, pad bits of a bitmask included.
    pub fn as_bytes(&self) -> &'a [u8] {
        on_view!(self, view => view.as_bytes())
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        on_view!(self, view => view.len())
    }

    /// Whether the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
