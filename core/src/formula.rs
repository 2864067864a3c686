//! The formula of `simple_packing`, and the float types that values can have.

/// R + scale · q: how `simple_packing` makes a value of an integer q (PIPELINE §3.5).
///
/// The product is rounded, and then the sum. A fused multiply-add would round once, and its last bit would differ from
/// what other readers return.
///
/// ```
/// use tgm_core::packing::Packing;
///
/// let packing =
///     Packing { reference_value: 250.0, binary_scale_factor: -10, decimal_scale_factor: 0, bits_per_value: 12 };
/// assert_eq!(packing.formula().value(512), 250.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Formula {
    /// R, the value of q = 0.
    pub reference: f64,
    /// The distance between neighbouring values.
    pub scale: f64,
}

impl Formula {
    /// The value of a q of at most 32 bits, which `f64` holds exactly.
    #[inline]
    pub const fn value(&self, q: u32) -> f64 {
        self.value_of(q as f64)
    }

    /// The value of a q that is an `f64` already: the `f64` nearest to an integer of at most 64 bits.
    #[inline]
    pub const fn value_of(&self, q: f64) -> f64 {
        self.reference + self.scale * q
    }
}

/// A type that packed values can be unpacked to: `f64`, or `f32`, which is the `f64` rounded once more.
///
/// Sealed: the formula's result is an `f64`, and how it is rounded is fixed for these two types.
pub trait Unpack: sealed::FromF64 {}

impl Unpack for f64 {}
impl Unpack for f32 {}

pub(crate) mod sealed {
    /// The conversion behind [`super::Unpack`], closed to other crates.
    pub trait FromF64: Copy {
        /// The nearest value of this type.
        fn from_f64(value: f64) -> Self;
    }

    impl FromF64 for f64 {
        #[inline]
        fn from_f64(value: f64) -> Self {
            value
        }
    }

    impl FromF64 for f32 {
        #[inline]
        #[allow(clippy::cast_possible_truncation, reason = "rounding to single precision is the purpose")]
        fn from_f64(value: f64) -> Self {
            value as Self
        }
    }
}
