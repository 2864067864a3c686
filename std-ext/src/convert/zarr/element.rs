//! Data types, their names in Zarr, and fill values.

use half::{bf16, f16};
use serde_json::{Value as Json, json};
use tgm_core::descriptor::Dtype;

use super::Result;

/// The type of the elements of an array. In memory they are little-endian, and booleans take a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// The dtype of the objects: a bitmask for booleans.
    pub(super) dtype: Dtype,
}

impl Element {
    /// The element type of 64-bit indices.
    pub(super) const INDEX: Self = Self { dtype: Dtype::Uint64 };

    /// The type that `data_type` names.
    pub(super) fn parse(data_type: &Json) -> Result<Self> {
        let name = data_type.as_str().or_else(|| {
            let has_configuration =
                data_type.get("configuration").and_then(Json::as_object).is_some_and(|c| !c.is_empty());
            data_type.get("name").and_then(Json::as_str).filter(|_| !has_configuration)
        });
        let dtype = match name {
            Some("bool") => Some(Dtype::Bitmask),
            Some("bitmask") | None => None,
            Some(name) => Dtype::from_name(name),
        };
        dtype.map(|dtype| Self { dtype }).ok_or_else(|| format!("data type {data_type} is not supported"))
    }

    /// The name in Zarr.
    pub(super) const fn name(self) -> &'static str {
        match self.dtype {
            Dtype::Bitmask => "bool",
            dtype => dtype.name(),
        }
    }

    /// Bytes of an element.
    pub(super) const fn size(self) -> usize {
        match self.dtype {
            Dtype::Bitmask => 1,
            dtype => dtype.byte_width(),
        }
    }

    /// Bytes of the scalars whose byte order counts.
    pub(super) const fn unit(self) -> usize {
        match self.dtype {
            Dtype::Bitmask => 1,
            dtype => dtype.swap_unit_size(),
        }
    }

    /// How many complex values change: masks know whole values, so both parts become NaN or infinite if one is.
    pub(super) fn altered(self, elements: &[u8]) -> usize {
        fn count<const N: usize>(parts: &[[u8; N]], to_f64: impl Fn([u8; N]) -> f64) -> usize {
            let is_altered = |pair: &&[[u8; N]; 2]| {
                let [real, imaginary] = pair.map(&to_f64);
                let is_same = real.to_bits() == imaginary.to_bits() || (real.is_nan() && imaginary.is_nan());
                !(is_same || real.is_finite() && imaginary.is_finite())
            };
            parts.as_chunks::<2>().0.iter().filter(is_altered).count()
        }
        match self.dtype {
            Dtype::Complex64 => count(elements.as_chunks().0, |bytes| f64::from(f32::from_le_bytes(bytes))),
            Dtype::Complex128 => count(elements.as_chunks().0, f64::from_le_bytes),
            _ => 0,
        }
    }

    /// The bytes of a fill value.
    pub(super) fn fill_value(self, fill: &Json) -> Result<Vec<u8>> {
        let wrong = || format!("fill value {fill} is no {}", self.name());
        let bytes = match self.dtype {
            Dtype::Bitmask => fill.as_bool().map(|value| vec![u8::from(value)]),
            Dtype::Complex64 | Dtype::Complex128 => {
                let half = if self.dtype == Dtype::Complex64 { Dtype::Float32 } else { Dtype::Float64 };
                let parts = fill.as_array().filter(|parts| parts.len() == 2).ok_or_else(wrong)?;
                let parts: Option<Vec<_>> = parts.iter().map(|part| float(half, part)).collect();
                parts.map(|parts| parts.concat())
            }
            dtype if dtype.is_float() => float(dtype, fill),
            dtype => integer(dtype, fill),
        };
        bytes.filter(|bytes| bytes.len() == self.size()).ok_or_else(wrong)
    }

    /// The fill value of arrays that are made of objects: NaN if the object has a mask of NaN, otherwise zero.
    pub(super) fn usual_fill(self, has_nan: bool) -> Json {
        let float = || if has_nan { json!("NaN") } else { json!(0.0) };
        match self.dtype {
            Dtype::Bitmask => false.into(),
            Dtype::Complex64 | Dtype::Complex128 => json!([float(), float()]),
            dtype if dtype.is_float() => float(),
            _ => 0.into(),
        }
    }
}

fn integer(dtype: Dtype, fill: &Json) -> Option<Vec<u8>> {
    let value = fill.as_i64().map(i128::from).or_else(|| fill.as_u64().map(i128::from))?;
    let bits = u32::try_from(dtype.byte_width()).ok()?.checked_mul(8)?;
    let is_signed = matches!(dtype, Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64);
    let (least, most) = if is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
    if !(least..=most).contains(&value) {
        return None;
    }
    value.to_le_bytes().get(..dtype.byte_width()).map(<[u8]>::to_vec)
}

/// A float: a number, the name of one that is not finite, or its bits in hexadecimal digits.
#[expect(clippy::cast_possible_truncation, reason = "the nearest float is what a decimal number means")]
fn float(dtype: Dtype, fill: &Json) -> Option<Vec<u8>> {
    if let Some(digits) = fill.as_str().and_then(|text| text.strip_prefix("0x")) {
        let bits = u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2 * dtype.byte_width())?;
        return bits.to_le_bytes().get(..dtype.byte_width()).map(<[u8]>::to_vec);
    }
    let value = match fill.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        Some(_) => return None,
        None => fill.as_f64()?,
    };
    Some(match dtype {
        Dtype::Float16 => f16::from_f64(value).to_le_bytes().to_vec(),
        Dtype::Bfloat16 => bf16::from_f64(value).to_le_bytes().to_vec(),
        Dtype::Float32 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn complex_values_with_one_part_that_is_not_finite_change() {
        let bytes = |parts: &[f32]| parts.iter().flat_map(|part| part.to_le_bytes()).collect::<Vec<_>>();
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let element = Element { dtype: Dtype::Complex64 };
        assert_eq!(element.altered(&bytes(&[1.0, 2.0, nan, nan, inf, inf, -inf, -inf])), 0);
        assert_eq!(element.altered(&bytes(&[1.0, nan, inf, 0.0, inf, -inf, nan, inf])), 4);
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers make it there")]
    fn fill(name: &str, fill: Json) -> Option<Vec<u8>> {
        Element::parse(&name.into()).unwrap().fill_value(&fill).ok()
    }

    #[test]
    fn fill_values_have_the_forms_of_the_specification() {
        assert_eq!(fill("int16", json!(-2)), Some(vec![0xfe, 0xff]));
        assert_eq!(fill("uint8", json!(256)), None);
        assert_eq!(fill("uint8", json!(-1)), None);
        assert_eq!(fill("int64", json!(i64::MIN)), Some(i64::MIN.to_le_bytes().to_vec()));
        assert_eq!(fill("uint64", json!(u64::MAX)), Some(vec![0xff; 8]));
        assert_eq!(fill("float32", json!("NaN")), Some(vec![0, 0, 0xc0, 0x7f]));
        assert_eq!(fill("float32", json!("0x7fc00001")), Some(vec![1, 0, 0xc0, 0x7f]));
        assert_eq!(fill("float32", json!("0x7fc0")), None);
        assert_eq!(fill("float64", json!("-Infinity")), Some(f64::NEG_INFINITY.to_le_bytes().to_vec()));
        assert_eq!(fill("bfloat16", json!(1)), Some(vec![0x80, 0x3f]));
        assert_eq!(fill("complex64", json!([1.0, "NaN"])), Some(vec![0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f]));
        assert_eq!(fill("bool", json!(true)), Some(vec![1]));
        assert_eq!(fill("bool", json!(1)), None);
        assert!(Element::parse(&json!("string")).is_err());
        assert!(Element::parse(&json!({"name": "numpy.datetime64", "configuration": {"unit": "s"}})).is_err());
    }
}
