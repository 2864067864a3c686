//! Fill values in the spellings that writers use, and as attributes of xarray.

use serde_json::{Number, Value as Json, json};
use tgm_core::descriptor::Dtype;
use tgm_dataset::zarr_form;

/// The fill value as version 3 spells it. `None` for what is not a value of the type.
///
/// | type | spellings |
/// |---|---|
/// | floats | a number, also as text; `NaN`, `nan`, `Infinity`, `inf` and so on as text; the bits as `0x…`; beyond the range: infinite |
/// | integers | an integer, also as text or as a float without fraction; `NaT` for times |
/// | truth | a truth, 0 or 1 |
/// | complex | two floats, or one |
pub(super) fn normal(dtype: Dtype, fill: &Json) -> Option<Json> {
    match dtype {
        Dtype::Bitmask => match fill {
            Json::Bool(_) => Some(fill.clone()),
            other => match other.as_f64()? {
                0.0 => Some(false.into()),
                1.0 => Some(true.into()),
                _ => None,
            },
        },
        Dtype::Complex64 | Dtype::Complex128 => {
            let part = if dtype == Dtype::Complex64 { Dtype::Float32 } else { Dtype::Float64 };
            match fill {
                Json::Array(parts) if parts.len() == 2 => {
                    parts.iter().map(|of| float(part, of)).collect::<Option<Vec<_>>>().map(Json::Array)
                }
                Json::Array(_) => None,
                one => Some(json!([float(part, one)?, 0.0])),
            }
        }
        dtype if dtype.is_float() => float(dtype, fill),
        _ => integer(fill),
    }
}

fn float(dtype: Dtype, fill: &Json) -> Option<Json> {
    let value = match fill {
        Json::String(text) if text.starts_with("0x") || text.starts_with("0b") => return Some(fill.clone()),
        // Also the words for what is not finite, in any case.
        Json::String(text) => text.trim().parse().ok()?,
        Json::Number(number) => number.as_f64()?,
        _ => return None,
    };
    let most = match dtype {
        Dtype::Float16 => 65_520.0,
        Dtype::Float32 => f64::from(f32::MAX) * (1.0 + f64::from(f32::EPSILON) / 4.0),
        _ => f64::INFINITY,
    };
    Some(match Number::from_f64(value).filter(|_| value.abs() < most) {
        Some(_) if fill.is_number() => fill.clone(),
        Some(number) => number.into(),
        None => zarr_form::word(value).into(),
    })
}

fn integer(fill: &Json) -> Option<Json> {
    match fill {
        Json::Number(number) if number.is_i64() || number.is_u64() => Some(fill.clone()),
        #[expect(clippy::cast_possible_truncation, reason = "it is an integer within 53 bits")]
        Json::Number(number) => {
            let value = number.as_f64()?;
            (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then(|| (value as i64).into())
        }
        Json::String(text) if text == "NaT" => Some(i64::MIN.into()),
        Json::String(text) => {
            let text = text.trim();
            text.parse::<i64>().map(Json::from).or_else(|_| text.parse::<u64>().map(Json::from)).ok()
        }
        _ => None,
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A float as xarray writes the attribute `_FillValue` of floats in version 3: the base64 of its eight bytes.
pub(super) fn to_base64(value: f64) -> String {
    tgm_std::metadata::json::base64(&value.to_le_bytes())
}

/// The float of such a text.
pub(super) fn from_base64(text: &str) -> Option<f64> {
    let digits = text.strip_suffix('=').filter(|digits| digits.len() == 11)?;
    let digit = |byte: u8| DIGITS.iter().position(|digit| *digit == byte);
    let bits = digits.bytes().try_fold(0_u128, |bits, byte| Some(bits << 6 | digit(byte)? as u128))?;
    // Eleven digits have two bits more than eight bytes.
    let bytes = u64::try_from(bits >> 2).ok()?;
    Some(f64::from_bits(bytes.swap_bytes()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value_are_one() {
        for (dtype, given, expected) in [
            (Dtype::Float32, json!("nan"), json!("NaN")),
            (Dtype::Float32, json!("-inf"), json!("-Infinity")),
            (Dtype::Float32, json!(1e39), json!("Infinity")),
            (Dtype::Float64, json!(1e39), json!(1e39)),
            (Dtype::Float64, json!("1.5"), json!(1.5)),
            (Dtype::Float64, json!(0), json!(0)),
            (Dtype::Float32, json!("0x7fc00000"), json!("0x7fc00000")),
            (Dtype::Int16, json!(1.0), json!(1)),
            (Dtype::Uint64, json!(u64::MAX), json!(u64::MAX)),
            (Dtype::Int64, json!("NaT"), json!(i64::MIN)),
            (Dtype::Bitmask, json!(1), json!(true)),
            (Dtype::Complex64, json!(["NaN", 1]), json!(["NaN", 1])),
            (Dtype::Complex64, json!(1.5), json!([1.5, 0.0])),
        ] {
            assert_eq!(normal(dtype, &given), Some(expected), "{given}");
        }
        for (dtype, given) in [(Dtype::Int8, json!(1.5)), (Dtype::Float32, json!("x")), (Dtype::Bitmask, json!(2))] {
            assert_eq!(normal(dtype, &given), None, "{given}");
        }
    }

    #[test]
    fn base64_is_that_of_xarray() {
        assert_eq!(to_base64(f64::NAN), "AAAAAAAA+H8=");
        for value in [0.0, -999.9, 1e300, f64::INFINITY, f64::from_bits(0x0123_4567_89ab_cdef)] {
            assert_eq!(from_base64(&to_base64(value)).unwrap().to_bits(), value.to_bits());
        }
        for text in ["", "AAAAAAAA+H8", "AAAAAAAA+H8==", "AAAAAAAA-H8="] {
            assert_eq!(from_base64(text), None);
        }
    }
}
