//! Values of any numeric type: converted to float64 for stages that take nothing else, and compared.

use half::{bf16, f16};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::TensogramError;

/// Converts values to float64 of this machine's byte order.
///
/// # Errors
/// For types that are not real numbers, and for integers that float64 cannot hold exactly.
pub(crate) fn to_float64(dtype: Dtype, order: ByteOrder, data: &[u8]) -> Result<Vec<u8>, TensogramError> {
    let values = reals(dtype, order, data)?;
    Ok(values.into_iter().flat_map(f64::to_ne_bytes).collect())
}

/// The greatest difference between values of the same type, shape and byte order. 0 if all are equal; NaN equals NaN.
/// Infinite if one value of a pair is finite and the other is not.
///
/// # Errors
/// For types that are not numbers.
pub(crate) fn greatest_difference(
    dtype: Dtype,
    order: ByteOrder,
    before: &[u8],
    after: &[u8],
) -> Result<f64, TensogramError> {
    let scalar = match dtype {
        Dtype::Complex64 => Dtype::Float32,
        Dtype::Complex128 => Dtype::Float64,
        other => other,
    };
    let (before, after) = (reals(scalar, order, before)?, reals(scalar, order, after)?);
    if before.len() != after.len() {
        return Ok(f64::INFINITY);
    }
    Ok(before.iter().zip(&after).map(|(before, after)| difference(*before, *after)).fold(0.0, f64::max))
}

fn difference(before: f64, after: f64) -> f64 {
    // Subtraction of equal infinities would give NaN.
    let is_same = before.to_bits() == after.to_bits() || (before.is_nan() && after.is_nan());
    let difference = if is_same { 0.0 } else { (before - after).abs() };
    if difference.is_nan() { f64::INFINITY } else { difference }
}

fn reals(dtype: Dtype, order: ByteOrder, data: &[u8]) -> Result<Vec<f64>, TensogramError> {
    let load = |dtype| match dtype {
        Dtype::Float16 => Some(each(data, order, |b| f16::from_le_bytes(b).to_f64())),
        Dtype::Bfloat16 => Some(each(data, order, |b| bf16::from_le_bytes(b).to_f64())),
        Dtype::Float32 => Some(each(data, order, |b| f32::from_le_bytes(b).into())),
        Dtype::Float64 => Some(each(data, order, f64::from_le_bytes)),
        Dtype::Int8 => Some(each(data, order, |b| i8::from_le_bytes(b).into())),
        Dtype::Int16 => Some(each(data, order, |b| i16::from_le_bytes(b).into())),
        Dtype::Int32 => Some(each(data, order, |b| i32::from_le_bytes(b).into())),
        Dtype::Uint8 => Some(each(data, order, |b| u8::from_le_bytes(b).into())),
        Dtype::Uint16 => Some(each(data, order, |b| u16::from_le_bytes(b).into())),
        Dtype::Uint32 => Some(each(data, order, |b| u32::from_le_bytes(b).into())),
        _ => None,
    };
    match dtype {
        Dtype::Int64 => exact(data, order, |b| i64::from_le_bytes(b).into()),
        Dtype::Uint64 => exact(data, order, |b| u64::from_le_bytes(b).into()),
        other => load(other)
            .ok_or_else(|| TensogramError::Encoding(format!("values are {dtype}, which are no real numbers").into())),
    }
}

/// The numbers of `W` bytes each, converted from little-endian bytes by `load`.
fn each<const W: usize>(data: &[u8], order: ByteOrder, load: impl Fn([u8; W]) -> f64) -> Vec<f64> {
    let values: &[[u8; W]] = data.as_chunks().0;
    values.iter().map(|bytes| load(little(*bytes, order))).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "that is what is looked for")]
fn exact(data: &[u8], order: ByteOrder, load: impl Fn([u8; 8]) -> i128) -> Result<Vec<f64>, TensogramError> {
    let values: &[[u8; 8]] = data.as_chunks().0;
    let convert = |(index, bytes): (usize, &[u8; 8])| {
        let integer = load(little(*bytes, order));
        let number = integer as f64;
        (number as i128 == integer).then_some(number).ok_or_else(|| {
            TensogramError::Encoding(format!("element {index} is {integer}, which no float64 is equal to").into())
        })
    };
    values.iter().enumerate().map(convert).collect()
}

fn little<const W: usize>(mut bytes: [u8; W], order: ByteOrder) -> [u8; W] {
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_convert_if_a_float_is_equal_to_them() {
        let convert = |value: i64| to_float64(Dtype::Int64, ByteOrder::Big, &value.to_be_bytes());
        assert_eq!(convert(-(1 << 53)).unwrap(), (-9_007_199_254_740_992.0_f64).to_ne_bytes());
        assert!(convert((1 << 53) + 1).unwrap_err().to_string().contains("element 0 is 9007199254740993"));
        assert!(to_float64(Dtype::Complex64, ByteOrder::Big, &[]).is_err());
    }

    #[test]
    fn differences_are_infinite_where_only_one_value_is_finite() {
        let difference = |a: f64, b: f64| {
            greatest_difference(Dtype::Float64, ByteOrder::Little, &a.to_le_bytes(), &b.to_le_bytes()).unwrap()
        };
        let found = [difference(1.0, 1.5), difference(f64::NAN, -f64::NAN), difference(0.0, -0.0)];
        assert_eq!(found.map(f64::to_bits), [0.5_f64, 0.0, 0.0].map(f64::to_bits));
        assert!(difference(f64::NAN, 0.0).is_infinite() && difference(f64::INFINITY, 1.0).is_infinite());
    }
}
