//! What a dataset is, in parts that people and programs are shown: dimensions, coordinates, variables.

use std::borrow::Cow;
use std::cmp::Reverse;

#[cfg(feature = "json")]
use serde_json::{Value as Json, json};
use tgm_std::TensogramError;
#[cfg(feature = "json")]
use tgm_std::deps::ciborium;

use crate::dataset::Dataset;
#[cfg(feature = "json")]
use crate::model::{Attributes, Values};
use crate::model::{Coordinate, Variable};
#[cfg(feature = "json")]
use crate::moment::NO_TIME;

/// The coordinates of a dataset with their labels, and what is not one.
#[derive(Debug)]
pub struct Parts<'d> {
    /// Coordinates. Coordinates of files on several dimensions are among the variables.
    pub coordinates: Vec<Cow<'d, Coordinate>>,
    /// Variables that are not among the coordinates.
    pub variables: Vec<&'d Variable>,
    /// Coordinates of files whose labels cannot be read, by their names. They are among the variables too.
    pub unread: Vec<(&'d str, TensogramError)>,
}

impl Coordinate {
    /// The label at an index, as text. It is empty for a moment that is missing, and beyond the last label.
    pub fn label_text(&self, index: usize) -> String {
        self.values.label(index).map_or_else(String::new, |label| label.to_string())
    }
}

impl Dataset {
    /// All dimensions with their lengths, in the order of the variable that has the most of them, and then of the others.
    pub fn dims(&self) -> Vec<(&str, u64)> {
        let mut found: Vec<(&str, u64)> = Vec::new();
        let mut variables: Vec<&Variable> = self.variables.iter().collect();
        variables.sort_by_key(|it| Reverse(it.dims.len()));
        for (dim, len) in variables.iter().flat_map(|it| it.dims.iter().zip(&it.shape)) {
            if !found.iter().any(|(known, _)| known == dim) {
                found.push((dim, *len));
            }
        }
        found
    }

    /// Coordinates and variables apart. The labels of files' coordinates are read.
    pub fn parts(&self) -> Parts<'_> {
        let coordinates = self.coordinates.iter().map(Cow::Borrowed).collect();
        let mut parts = Parts { coordinates, variables: Vec::new(), unread: Vec::new() };
        let names = self.coordinate_names();
        for variable in &self.variables {
            if variable.dims.len() > 1 || !names.contains(variable.name.as_str()) {
                parts.variables.push(variable);
                continue;
            }
            match self.labels(&variable.name) {
                Ok(found) => parts.coordinates.extend(found),
                Err(error) => {
                    parts.unread.push((&variable.name, error));
                    parts.variables.push(variable);
                }
            }
        }
        parts
    }

    /// The dataset as JSON: `dimensions`, `coordinates` with their labels, `variables`, `attributes`, up to `holes` places without
    /// an object, `left_out` and `notes`. [`Parts::unread`] is what could not be read for it.
    ///
    /// Times are texts, steps are seconds. Floats that JSON lacks are objects: `{"$float": "nan"}`, `"inf"` or `"-inf"`.
    #[cfg(feature = "json")]
    pub fn to_json(&self, holes: usize) -> (Json, Parts<'_>) {
        let parts = self.parts();
        let dims: Json = self.dims().into_iter().map(|(name, len)| json!({"name": name, "length": len})).collect();
        let left_out = self
            .left_out
            .iter()
            .map(|it| json!({"name": it.name, "what": it.what, "why": it.why, "objects": it.objects}));
        let variable = |it: &&Variable| {
            json!({
                "name": it.name,
                "dtype": it.dtype().map_or("text", |dtype| dtype.name()),
                "dimensions": it.dims,
                "shape": it.shape,
                "object_shape": it.piece_shape(),
                "objects": it.object_count(),
                "holes": it.hole_count(),
                "attributes": attributes(&it.attributes),
            })
        };
        let described = json!({
            "dimensions": dims,
            "coordinates": parts.coordinates.iter().map(|it| coordinate(it)).collect::<Json>(),
            "variables": parts.variables.iter().map(variable).collect::<Json>(),
            "attributes": attributes(&self.attributes),
            "holes": self.holes(holes),
            "left_out": left_out.collect::<Json>(),
            "notes": self.notes,
        });
        (described, parts)
    }
}

#[cfg(feature = "json")]
fn floats(numbers: &[f64]) -> Json {
    numbers.iter().copied().map(tgm_std::metadata::json::float_to_json).collect()
}

#[cfg(feature = "json")]
fn attributes(attributes: &Attributes) -> Json {
    Json::Object(attributes.iter().map(|(name, it)| (name.clone(), nested(&it.into()))).collect())
}

/// A value of metadata. Bytes are hexadecimal digits, numbers beyond 64 bits are text, and tags are left out.
#[cfg(feature = "json")]
pub(crate) fn nested(value: &ciborium::Value) -> Json {
    use ciborium::Value;
    match value {
        Value::Float(number) => tgm_std::metadata::json::float_to_json(*number),
        Value::Array(items) => items.iter().map(nested).collect(),
        Value::Map(entries) => {
            let key = |key: &Value| key.as_text().map_or_else(|| nested(key).to_string(), str::to_string);
            Json::Object(entries.iter().map(|(own, value)| (key(own), nested(value))).collect())
        }
        Value::Bytes(bytes) => tgm_std::metadata::json::hex(bytes).into(),
        Value::Tag(_, value) => nested(value),
        other => tgm_std::metadata::json::from_cbor(other, "").unwrap_or_else(|_| match other {
            Value::Integer(integer) => i128::from(*integer).to_string().into(),
            _ => Json::Null,
        }),
    }
}

#[cfg(feature = "json")]
fn coordinate(coordinate: &Coordinate) -> Json {
    let (kind, values): (_, Json) = match &coordinate.values {
        Values::Integers(numbers) => ("integer", json!(numbers)),
        Values::Floats(numbers) => ("float", floats(numbers)),
        Values::Texts(texts) => ("text", json!(texts)),
        Values::Times(times) => {
            let text = |at| Some(coordinate.label_text(at)).filter(|text| !text.is_empty());
            ("time", (0..times.len()).map(text).collect())
        }
        Values::Durations(steps) => {
            ("seconds", steps.iter().map(|step| Some(*step).filter(|step| *step != NO_TIME)).collect())
        }
    };
    // Labels of an axis are all there; where points are on two dimensions, they are many.
    let values = (coordinate.dims.len() < 2).then_some(values);
    let entries = [
        ("name", Some(json!(coordinate.name))),
        ("dimensions", Some(json!(coordinate.dims))),
        ("kind", Some(kind.into())),
        ("values", values),
        ("attributes", Some(attributes(&coordinate.attributes))),
    ];
    Json::Object(entries.into_iter().filter_map(|(key, value)| Some((key.into(), value?))).collect())
}
