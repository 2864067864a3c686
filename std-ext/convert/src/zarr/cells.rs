//! What the attributes of an array say about its numbers, by the convention CF.

use ciborium::Value;
use serde_json::{Value as Json, json};
use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use super::describe::Array;
use super::element::Element;
use super::fill::from_base64;
use super::to_zarr::usual_codecs;
use crate::error::encoding;
use crate::given::widened;
use crate::maps::Entries;
use crate::streamed::of_numbers;
use tgm_dataset::reading::{self, AttributeValue, FILL, Fate, List, NAMES, Numbers, Reading};
use tgm_dataset::zarr_form::float;

/// The level of zstd for arrays whose type changes.
const LEVEL: i32 = 3;

/// How the numbers of an array become values, and what stays beside the values.
pub(super) struct Values {
    pub(super) reading: Reading,
    pub(super) attributes: Entries,
    /// The attributes that each object needs, because its numbers stay packed.
    pub(super) of_each: Entries,
    /// The attributes that do not stay as they were.
    pub(super) packing: Entries,
    /// Whether they are packed integers, or few different numbers as [`Reading::is_scaled`] says.
    pub(super) is_scaled: bool,
}

impl Values {
    /// The reading of an array with these attributes. With `keep_packed` integers with a scale stay what they are.
    pub(super) fn of(array: &Array, attributes: Entries, keep_packed: bool) -> Self {
        let dtype = array.element.dtype;
        let told: Vec<(&str, AttributeValue)> = attributes
            .iter()
            .filter_map(|(name, value)| Some((name.as_text()?, value)))
            .filter(|(name, _)| NAMES.contains(name))
            .map(|(name, value)| (name, told(name, value, dtype)))
            .collect();
        let reading = Reading::of(dtype, &told);
        let is_kept = keep_packed && reading.is_packed();
        let is_scaled = is_kept || reading.is_scaled();
        let reading = if is_kept { reading.kept() } else { reading };
        let (mut kept, mut packing) = (Vec::new(), Vec::new());
        for (name, value) in attributes {
            let fate = name.as_text().map_or(&Fate::Stays, |name| reading.fate(name));
            match fate {
                Fate::Stays => kept.push((name, value)),
                Fate::Dropped => packing.push((name, value)),
                Fate::Becomes(numbers) => {
                    kept.push((name.clone(), of_numbers(numbers, value.is_array())));
                    packing.push((name, value));
                }
            }
        }
        if !packing.is_empty() {
            packing.push(("type".into(), dtype.name().into()));
        }
        let is_own = |(name, _): &&(Value, Value)| is_kept && name.as_text().is_some_and(|name| NAMES.contains(&name));
        let of_each = kept.iter().filter(is_own).cloned().collect();
        Self { reading, attributes: kept, of_each, packing, is_scaled }
    }

    /// The description of an array that holds the values in place of the numbers.
    ///
    /// # Errors
    /// A fill value that is not a value.
    pub(super) fn describe(&self, array: &Array, json: &mut Json) -> Result<()> {
        if self.reading.is_as_stored() {
            return Ok(());
        }
        let element = Element { dtype: self.reading.dtype() };
        let fill = self.reading.cells(array.fill_bytes().to_vec())?.bytes;
        let fill = match element.dtype {
            Dtype::Float64 => f64::from_ne_bytes(first(&fill)?),
            dtype if dtype.is_float() => f32::from_ne_bytes(first(&widened(dtype, fill)?)?).into(),
            _ => {
                json["fill_value"] = i64::from_ne_bytes(first(&fill)?).into();
                f64::NAN
            }
        };
        if element.dtype.is_float() {
            json["fill_value"] = float(fill);
        }
        if element.dtype != array.element.dtype {
            json["data_type"] = json!(element.name());
            json["codecs"] = usual_codecs(element, Some(LEVEL));
        }
        Ok(())
    }
}

/// The first bytes of one value.
fn first<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.first_chunk().copied().ok_or_else(|| encoding(format!("it has {} bytes, and {N} are needed", bytes.len())))
}

/// What an attribute says. Fill values of floats are words, or the base64 of xarray.
fn told(name: &str, value: &Value, dtype: Dtype) -> AttributeValue {
    let word = value.as_text().filter(|_| name == FILL && dtype.is_float());
    match word.and_then(|text| from_base64(text).or_else(|| text.parse().ok())) {
        Some(number) => AttributeValue::Numbers(Numbers { dtype: None, list: List::Floats(vec![number]) }),
        None if value.as_array().is_some_and(Vec::is_empty) => AttributeValue::Other,
        None => reading::told(value, None),
    }
}
