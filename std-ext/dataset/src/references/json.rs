//! Attributes and numbers as the JSON of Zarr 2.

use serde_json::{Number, Value as Json, json};
use tgm_core::descriptor::Dtype;
use tgm_std::deps::ciborium;

use crate::describe::nested;
use crate::elements::{floats, whole};
use crate::model::{Attribute, Attributes, text_attribute};
use crate::reading::FILL;
use crate::times::{NUMPY_DTYPE, time_of};
use crate::zarr_form::{float, word};

/// Whether elements are real numbers that can be NaN.
pub(crate) const fn is_real(dtype: Dtype) -> bool {
    dtype.is_float() && !matches!(dtype, Dtype::Complex64 | Dtype::Complex128)
}

/// How NaN and infinities are written, which JSON lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotFinite {
    /// As Python writes and reads them: `NaN`. Other readers refuse the whole text.
    Bare,
    /// As Zarr writes fill values: `"NaN"`.
    Quoted,
}

impl NotFinite {
    /// Attributes as JSON, with the dimensions of an array.
    pub(crate) fn attributes(self, attributes: &Attributes, dims: Option<&[String]>) -> String {
        let entry =
            |(name, value): &(String, Attribute)| format!("{}:{}", Json::from(name.as_str()), self.text(&value.into()));
        let mut entries: Vec<String> = attributes.iter().map(entry).collect();
        entries.extend(dims.map(|dims| format!("\"_ARRAY_DIMENSIONS\":{}", json!(dims))));
        format!("{{{}}}", entries.join(","))
    }

    /// A value of metadata.
    fn text(self, value: &ciborium::Value) -> String {
        use ciborium::Value;
        match value {
            Value::Float(number) => self.float(*number),
            Value::Array(items) => {
                format!("[{}]", items.iter().map(|item| self.text(item)).collect::<Vec<_>>().join(","))
            }
            Value::Map(entries) => {
                let key = |key: &Value| key.as_text().map_or_else(|| self.text(key), str::to_string);
                let entry = |(own, value): &(Value, Value)| format!("{}:{}", Json::from(key(own)), self.text(value));
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
            }
            other => nested(other).to_string(),
        }
    }

    fn float(self, number: f64) -> String {
        match (Number::from_f64(number), self) {
            (Some(number), _) => number.to_string(),
            (None, Self::Bare) => word(number).into(),
            (None, Self::Quoted) => format!("\"{}\"", word(number)),
        }
    }
}

/// An element as a fill value. Null for what is not one number.
pub(crate) fn number_of(dtype: Dtype, element: &[u8]) -> Json {
    if let Ok([number]) = whole(dtype, element).as_deref() {
        return if dtype == Dtype::Bitmask { (*number != 0).into() } else { (*number).into() };
    }
    if dtype == Dtype::Uint64 {
        return element.try_into().map_or(Json::Null, |element| u64::from_ne_bytes(element).into());
    }
    match floats(dtype, element).as_deref() {
        Ok([number]) => float(*number),
        _ => Json::Null,
    }
}

/// The fill value that attributes tell. `None` if there is none, or if the type cannot hold it.
pub(super) fn fill_of_attribute(attributes: &Attributes, dtype: Dtype) -> Option<Json> {
    let is_time = text_attribute(attributes, NUMPY_DTYPE).and_then(time_of).is_some();
    if is_time && dtype == Dtype::Int64 {
        return Some(i64::MIN.into());
    }
    let (_, value) = attributes.iter().find(|(name, _)| name == FILL)?;
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    match value {
        Attribute::Integer(number) if is_real(dtype) => Some(float(*number as f64)),
        Attribute::Integers(numbers) if is_real(dtype) => numbers.first().map(|number| float(*number as f64)),
        Attribute::Float(number) if is_real(dtype) => Some(float(*number)),
        Attribute::Floats(numbers) if is_real(dtype) => numbers.first().map(|number| float(*number)),
        Attribute::Integer(number) => Some((*number).into()),
        Attribute::Integers(numbers) => numbers.first().map(|number| (*number).into()),
        _ => None,
    }
}

/// Says of numbers that are times of numpy what they are, as CF does. Texts need no word.
pub(super) fn take_time(attributes: &mut Attributes) {
    let Some(dtype) = text_attribute(attributes, NUMPY_DTYPE) else { return };
    let found = if dtype == "S" { Some(Vec::new()) } else { time_of(dtype) };
    let Some(found) = found else { return };
    attributes.retain(|(name, _)| name != NUMPY_DTYPE && !found.iter().any(|(own, _)| own == name));
    attributes.extend(found.into_iter().map(|(name, text)| (name.to_string(), Attribute::Text(text))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_attributes_are_json_and_bare_ones_are_what_python_reads() {
        let nested = ciborium::Value::Array(vec![ciborium::Value::Float(f64::NAN), 1.into()]);
        let attributes: Attributes = vec![
            ("missing_value".into(), Attribute::Float(f64::NAN)),
            ("valid_range".into(), Attribute::Floats(vec![f64::NEG_INFINITY, 0.5, f64::INFINITY])),
            ("deep".into(), Attribute::Nested(nested)),
        ];
        let quoted = NotFinite::Quoted.attributes(&attributes, None);
        let right = json!({"missing_value": "NaN", "valid_range": ["-Infinity", 0.5, "Infinity"], "deep": ["NaN", 1]});
        assert_eq!(serde_json::from_str::<Json>(&quoted).unwrap(), right);
        let bare = r#"{"missing_value":NaN,"valid_range":[-Infinity,0.5,Infinity],"deep":[NaN,1]}"#;
        assert_eq!(NotFinite::Bare.attributes(&attributes, None), bare);
    }
}
