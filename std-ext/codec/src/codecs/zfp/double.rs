//! The parts of an `f64`, and of the header that a block makes of them.

/// Bits of a block's exponent.
pub(super) const EXPONENT_BITS: u32 = 11;
/// Bits of the exponent and of the 1 before it.
pub(super) const HEADER_BITS: u32 = 1 + EXPONENT_BITS;

/// The number that is added to exponents, in `f64` as in a block's header.
pub(super) const EXPONENT_BIAS: i32 = 1023;
/// Bits of the fraction of an `f64`.
pub(super) const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of the least positive number.
pub(super) const LEAST_EXPONENT: i32 = -1074;
