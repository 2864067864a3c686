//! The Rust type of each dtype.

use core::fmt::Debug;

use half::{bf16, f16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::descriptor::{ByteOrder, Dtype};

/// A Rust type for the elements of a tensor. Every dtype except `bitmask` has exactly one.
///
/// Sealed: each bit pattern of these types is a value, and their stored bytes are known. This was checked only for the
/// types that are listed here.
pub trait Element:
    sealed::Sealed + Copy + Debug + PartialEq + Send + Sync + FromBytes + IntoBytes + Immutable + KnownLayout + 'static
{
    /// The dtype that this type is for.
    const DTYPE: Dtype;

    /// The stored bytes of an element: `[u8; N]`, where N is the [width](Dtype::byte_width) of the dtype.
    type Bytes: Copy + Debug + Send + Sync + FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned + 'static;

    /// The value that is stored as `bytes` in byte order `order`. Free, or one swap for each scalar.
    fn from_bytes(bytes: Self::Bytes, order: ByteOrder) -> Self;
}

/// A complex number: real and imaginary part. `complex64` is `Complex<f32>`, and `complex128` is `Complex<f64>`.
///
/// It has the layout of C's `float _Complex` and of `num_complex::Complex`, and the alignment of its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! scalars {
    ($($scalar:ty => $dtype:ident,)*) => {$(
        impl sealed::Sealed for $scalar {}

        impl Element for $scalar {
            const DTYPE: Dtype = Dtype::$dtype;
            type Bytes = [u8; size_of::<$scalar>()];

            #[inline]
            fn from_bytes(bytes: Self::Bytes, order: ByteOrder) -> Self {
                match order {
                    ByteOrder::Big => Self::from_be_bytes(bytes),
                    ByteOrder::Little => Self::from_le_bytes(bytes),
                }
            }
        }
    )*};
}

macro_rules! complexes {
    ($($part:ty => $dtype:ident,)*) => {$(
        impl sealed::Sealed for Complex<$part> {}

        impl Element for Complex<$part> {
            const DTYPE: Dtype = Dtype::$dtype;
            type Bytes = [u8; size_of::<Self>()];

            #[inline]
            fn from_bytes(bytes: Self::Bytes, order: ByteOrder) -> Self {
                let [re, im]: [[u8; size_of::<$part>()]; 2] = zerocopy::transmute!(bytes);
                Self { re: <$part>::from_bytes(re, order), im: <$part>::from_bytes(im, order) }
            }
        }
    )*};
}

scalars! {
    f16 => Float16,
    bf16 => Bfloat16,
    f32 => Float32,
    f64 => Float64,
    i8 => Int8,
    i16 => Int16,
    i32 => Int32,
    i64 => Int64,
    u8 => Uint8,
    u16 => Uint16,
    u32 => Uint32,
    u64 => Uint64,
}

complexes! {
    f32 => Complex64,
    f64 => Complex128,
}
