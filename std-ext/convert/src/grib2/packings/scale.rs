//! The manual's formula: Y = (X · 2^E + R) · 10^-D.
//!
//! Rounded step by step in this order, as ecCodes does it. The format's own formula has the other order, and differs by its roundings where D
//! is not 0.

use super::super::error::{GribError, GribErrorKind};
use super::super::sections::Section;

/// Integers beyond this many bits are not exact as `f64`.
const EXACT_BITS: u32 = f64::MANTISSA_DIGITS;
/// How far a value may be from the one that an integer gives, in proportion to it. Libraries of machines differ in the last place of powers and
/// exponentials.
const NEAR: f64 = 4.0 * f64::EPSILON;

/// R, E, D and the bits of an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Scale {
    pub(super) reference: f64,
    /// 2^E.
    binary: f64,
    /// 10^-D.
    decimal: f64,
    pub(super) bits: u32,
}

impl Scale {
    /// # Errors
    /// [`GribErrorKind::Bits`] for integers that are not exact as `f64`, [`GribErrorKind::ReferenceValue`]; `at` is where the section begins.
    pub(in super::super) fn new(
        reference: f64,
        (binary, decimal): (i32, i32),
        bits: u8,
        at: usize,
    ) -> Result<Self, GribError> {
        if u32::from(bits) > EXACT_BITS {
            return Err(GribErrorKind::Bits(bits).at(at));
        }
        let (binary, decimal) = (2_f64.powi(binary), power_of_ten(-decimal));
        // Beyond these there is no value at all.
        if !reference.is_finite() || !binary.is_finite() || !decimal.is_finite() {
            return Err(GribErrorKind::ReferenceValue.at(at));
        }
        Ok(Self { reference, binary, decimal, bits: bits.into() })
    }

    /// Octets 12 to 20 of section 5.
    pub(super) fn parse(section: Section<'_>) -> Result<Self, GribError> {
        let reference = f32::from_be_bytes(section.array(12)?);
        Self::new(reference.into(), (section.i16(16)?, section.i16(18)?), section.u8(20)?, section.offset())
    }

    /// The value of an integer.
    pub(super) fn value(&self, integer: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "it has 53 bits at most")]
        self.value_of(integer as f64)
    }

    fn value_of(&self, integer: f64) -> f64 {
        (integer * self.binary + self.reference) * self.decimal
    }

    /// The integer that `formula` makes `value` from, if it is the only one near: `formula` turns the value of an integer into what is
    /// stored, and `line` is what the value of the integer would have to be.
    pub(super) fn integer(&self, value: f64, line: f64, size: f64, formula: impl Fn(f64) -> f64) -> Option<u64> {
        let is_near = |integer: f64| (formula(self.value_of(integer)) - value).abs() <= size * NEAR;
        let integer = self.nearest(line);
        let below = integer >= 1.0 && is_near(integer - 1.0);
        let above = integer < self.greatest() && is_near(integer + 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and has 53 bits at most"
        )]
        (is_near(integer) && !below && !above).then_some(integer as u64)
    }

    /// The integer whose value is nearest.
    pub(super) fn nearest(&self, value: f64) -> f64 {
        let integer = ((value / self.decimal - self.reference) / self.binary).round();
        // A scale of 0 gives no number.
        if integer > 0.0 { integer.min(self.greatest()) } else { 0.0 }
    }

    /// The greatest integer of these bits.
    fn greatest(&self) -> f64 {
        2_f64.powi(self.bits.cast_signed()) - 1.0
    }
}

/// 10^`exponent`, multiplied or divided step by step, as ecCodes rounds it.
pub(super) fn power_of_ten(exponent: i32) -> f64 {
    let step = |power: f64| if exponent < 0 { power / 10.0 } else { power * 10.0 };
    (0..exponent.unsigned_abs()).fold(1.0, |power, _| step(power))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn each_integer_comes_back_from_its_value_and_from_its_neighbour_in_the_last_place() {
        for (reference, exponents) in [(-293.8337, (-6, 0)), (0.0, (3, 2)), (1e20, (-3, -2)), (7.0, (0, 5))] {
            let scale = Scale::new(reference, exponents, 16, 0).unwrap();
            for integer in (0..1 << 16).step_by(37) {
                let value = scale.value(integer);
                // 0 has a neighbour too.
                let size = value.abs().max(f64::MIN_POSITIVE);
                let found = scale.integer(value, value, size, |value| value);
                // 1e20 swallows differences.
                assert_eq!(found, (reference < 1e19).then_some(integer), "{reference}");
                let next = f64::from_bits(value.to_bits() + 1);
                assert_eq!(scale.integer(next, next, size, |value| value), found);
            }
        }
    }

    #[test]
    fn what_has_no_values_is_refused() {
        assert!(Scale::new(f64::NAN, (0, 0), 8, 0).is_err());
        assert!(Scale::new(0.0, (2000, 0), 8, 0).is_err());
        assert!(Scale::new(0.0, (0, -400), 8, 0).is_err());
        assert!(Scale::new(0.0, (0, 0), 54, 0).is_err());
    }
}
