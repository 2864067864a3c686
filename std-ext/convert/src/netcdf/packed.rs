//! Integers with a scale factor and an offset.

use ciborium::Value;
use tgm_core::descriptor::{Dtype, Encoding, Key};
use tgm_std::{DataObjectDescriptor, Result};

use super::attributes::{get, missing, number};
use crate::error::encoding;

/// Integers up to this are exact as `f64`.
const EXACT: i128 = 1 << 53;

/// How integers become values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scaling {
    scale: f64,
    offset: f64,
}

impl Scaling {
    /// The scaling of a variable of integers. `None` if it has none.
    pub(super) fn of(attributes: &[(Value, Value)]) -> Option<Self> {
        let found = |name| get(attributes, name).and_then(number);
        let (scale, offset) = (found("scale_factor"), found("add_offset"));
        (scale.is_some() || offset.is_some())
            .then_some(Self { scale: scale.unwrap_or(1.0), offset: offset.unwrap_or(0.0) })
    }

    fn value(self, integer: i128) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "arithmetic is that of float64")]
        let integer = integer as f64;
        integer * self.scale + self.offset
    }

    /// The exponent of the scale, if it is a power of two that `simple_packing` has.
    fn exponent(self) -> Option<i32> {
        let bits = self.scale.to_bits();
        let (exponent, mantissa) = (i32::try_from(bits >> 52).ok()?, bits & ((1 << 52) - 1));
        // The sign is in the exponent's place here, so scales below zero are too large.
        (mantissa == 0 && (1..2047).contains(&exponent)).then_some(exponent - 1023)
    }

    /// `simple_packing` of integers of `bits` bits, of which the least is `least`: its reference value and exponent.
    /// `None` if it would change a value.
    fn packing(self, bits: u32, least: i128, values: &[f64], integers: &[i128]) -> Option<(f64, i32)> {
        let exponent = self.exponent().filter(|_| bits <= 32)?;
        let reference = self.value(least);
        #[expect(clippy::cast_precision_loss, reason = "integers have at most 32 bits")]
        #[expect(clippy::float_cmp, reason = "what is asked is whether they are the same")]
        let is_exact = |(value, integer): (&f64, &i128)| {
            let (above, plain) = ((integer - least) as f64, *integer as f64);
            // Exact sums only: the integers return, and both formulas give the same value.
            value.is_nan()
                || ((value - self.offset) / self.scale == plain
                    && (value - reference) / self.scale == above
                    && reference + above * self.scale == *value)
        };
        let is_kept = reference.is_finite() && values.iter().zip(integers).all(is_exact);
        is_kept.then_some((reference, exponent))
    }
}

/// The bytes of integers of type `dtype` whose values are `values`, and `missing` where values are NaN. `None` if one of
/// them has no such integer.
pub(super) fn pack(values: &[f64], dtype: Dtype, scaling: Scaling, missing: Option<i128>) -> Option<Vec<u8>> {
    let integer = |value: &f64| {
        if value.is_nan() {
            return missing;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a number beyond the type is found out by its bytes")]
        let integer = ((value - scaling.offset) / scaling.scale).round() as i128;
        let is_same = scaling.value(integer).to_bits() == value.to_bits();
        (is_same && missing != Some(integer)).then_some(integer)
    };
    macro_rules! each {
        ($($dtype:ident $type:ty),*) => {
            match dtype {
                $(Dtype::$dtype => {
                    let bytes = |value| Some(<$type>::try_from(integer(value)?).ok()?.to_ne_bytes());
                    values.iter().map(bytes).collect::<Option<Vec<_>>>().map(|bytes| bytes.into_flattened())
                })*
                _ => None,
            }
        };
    }
    each!(Int8 i8, Int16 i16, Int32 i32, Int64 i64, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64)
}

/// The integers of native bytes.
fn integers(dtype: Dtype, bytes: &[u8]) -> Result<Vec<i128>> {
    macro_rules! each {
        ($($dtype:ident $type:ty),*) => {
            match dtype {
                $(Dtype::$dtype => {
                    let (chunks, _) = bytes.as_chunks();
                    chunks.iter().map(|bytes| <$type>::from_ne_bytes(*bytes).into()).collect()
                })*
                other => return Err(encoding(format!("{other} is not an integer"))),
            }
        };
    }
    Ok(each!(Int8 i8, Int16 i16, Int32 i32, Int64 i64, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64))
}

/// The values of packed integers, with NaN for those that are missing, and whether `simple_packing` keeps the integers:
/// then `descriptor` says so.
pub(super) fn unpack(
    dtype: Dtype,
    bytes: &[u8],
    scaling: Scaling,
    attributes: &[(Value, Value)],
    descriptor: &mut DataObjectDescriptor,
) -> Result<(Vec<f64>, bool)> {
    let missing: Vec<i128> =
        missing(attributes).into_iter().filter_map(|value| value.as_integer().map(i128::from)).collect();
    let integers = integers(dtype, bytes)?;
    let value = |integer: &i128| if missing.contains(integer) { f64::NAN } else { scaling.value(*integer) };
    let values: Vec<f64> = integers.iter().map(value).collect();
    let bits = u32::try_from(dtype.byte_width() * 8).unwrap_or(u32::MAX);
    let is_signed = matches!(dtype, Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64);
    let least = if is_signed { -(1_i128 << (bits - 1)) } else { 0 };
    let packing = scaling.packing(bits, least, &values, &integers);
    let is_exact = integers.iter().all(|integer| (-EXACT..=EXACT).contains(integer));
    if let Some((reference, exponent)) = packing.filter(|_| is_exact) {
        descriptor.encoding = Encoding::SimplePacking.name().to_string();
        descriptor.set_param(Key::SpReferenceValue, reference);
        descriptor.set_param(Key::SpBinaryScaleFactor, exponent);
        descriptor.set_param(Key::SpDecimalScaleFactor, 0);
        descriptor.set_param(Key::SpBitsPerValue, bits);
        return Ok((values, true));
    }
    Ok((values, false))
}

/// Puts `missing` in the place of NaN, in floats of native bytes.
pub(super) fn fill_floats(dtype: Dtype, bytes: &mut [u8], missing: f64) {
    if dtype == Dtype::Float32 {
        #[expect(clippy::cast_possible_truncation, reason = "attributes have the type of the values")]
        let missing = (missing as f32).to_ne_bytes();
        let values = bytes.as_chunks_mut().0.iter_mut();
        values.filter(|value| f32::from_ne_bytes(**value).is_nan()).for_each(|value| *value = missing);
    } else {
        let values = bytes.as_chunks_mut().0.iter_mut();
        values.filter(|value| f64::from_ne_bytes(**value).is_nan()).for_each(|value| *value = missing.to_ne_bytes());
    }
}

/// Puts NaN in the place of floats that stand for missing ones.
pub(super) fn mask_floats(dtype: Dtype, bytes: &mut [u8], attributes: &[(Value, Value)]) {
    let missing: Vec<f64> = missing(attributes).into_iter().filter_map(number).collect();
    if missing.is_empty() {
        return;
    }
    if dtype == Dtype::Float32 {
        for value in bytes.as_chunks_mut().0 {
            if missing.contains(&f64::from(f32::from_ne_bytes(*value))) {
                *value = f32::NAN.to_ne_bytes();
            }
        }
    } else {
        for value in bytes.as_chunks_mut().0 {
            if missing.contains(&f64::from_ne_bytes(*value)) {
                *value = f64::NAN.to_ne_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_have_an_exponent() {
        let exponent = |scale| Scaling { scale, offset: 0.0 }.exponent();
        assert_eq!([1.0, 2.0, 0.25, 2_f64.powi(-60)].map(exponent), [Some(0), Some(1), Some(-2), Some(-60)]);
        assert_eq!([0.01, -1.0, 0.0, 3.0, f64::NAN, f64::INFINITY].map(exponent), [None; 6]);
    }
}
