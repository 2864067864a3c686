//! Data types, their names in Zarr, and fill values.

use serde_json::{Value as Json, json};
use tgm_core::descriptor::Dtype;
use tgm_dataset::zarr_form;
use zarrs::metadata::v3::MetadataV3;

use super::Result;
use crate::error::metadata;

/// The data types of numpy for times, and how messages call them.
pub(super) const TIMES: [&str; 2] = ["numpy.datetime64", "numpy.timedelta64"];

/// The type of the elements of an array. In memory booleans take a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// The dtype of the objects: a bitmask for booleans.
    pub(super) dtype: Dtype,
}

impl Element {
    /// The element type of 64-bit indices.
    pub(super) const INDEX: Self = Self { dtype: Dtype::Uint64 };

    /// The type that `data_type` names. The times of numpy are integers of 64 bits.
    pub(super) fn parse(data_type: &MetadataV3) -> Result<Self> {
        let dtype = match data_type.name() {
            name if TIMES.contains(&name) => Some(Dtype::Int64),
            _ if !data_type.configuration_is_none_or_empty() => None,
            "bool" => Some(Dtype::Bitmask),
            "bitmask" => None,
            name => Dtype::from_name(name),
        };
        let element = dtype.map(|dtype| Self { dtype });
        element.ok_or_else(|| metadata(format!("data type {} is not supported", data_type.name())))
    }

    /// The type that every reader knows.
    pub(super) const fn readable(self) -> Self {
        Self { dtype: zarr_form::readable(self.dtype) }
    }

    /// The name in Zarr.
    pub(super) const fn name(self) -> &'static str {
        zarr_form::name(self.dtype)
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
}
