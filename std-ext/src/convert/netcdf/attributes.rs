//! Attributes as metadata.

use ciborium::Value;
use netcdf::{Attribute, AttributeValue};

use crate::convert::note::Note;

/// The attributes as a map. Those of types that metadata lacks are reported.
pub(super) fn map<'a>(
    attributes: impl Iterator<Item = Attribute<'a>>,
    place: &str,
    report: &mut dyn FnMut(Note),
) -> Vec<(Value, Value)> {
    let mut entries = Vec::new();
    for attribute in attributes {
        match attribute.value() {
            Ok(value) => entries.push((attribute.name().into(), cbor(value))),
            Err(error) => report(Note::not_kept(place, format!("attribute {}: {error}", attribute.name()))),
        }
    }
    entries
}

fn cbor(value: AttributeValue) -> Value {
    fn list<T: Into<Value>>(values: Vec<T>) -> Value {
        Value::Array(values.into_iter().map(Into::into).collect())
    }
    match value {
        AttributeValue::Uchar(value) => value.into(),
        AttributeValue::Uchars(values) => list(values),
        AttributeValue::Schar(value) => value.into(),
        AttributeValue::Schars(values) => list(values),
        AttributeValue::Ushort(value) => value.into(),
        AttributeValue::Ushorts(values) => list(values),
        AttributeValue::Short(value) => value.into(),
        AttributeValue::Shorts(values) => list(values),
        AttributeValue::Uint(value) => value.into(),
        AttributeValue::Uints(values) => list(values),
        AttributeValue::Int(value) => value.into(),
        AttributeValue::Ints(values) => list(values),
        AttributeValue::Ulonglong(value) => value.into(),
        AttributeValue::Ulonglongs(values) => list(values),
        AttributeValue::Longlong(value) => value.into(),
        AttributeValue::Longlongs(values) => list(values),
        AttributeValue::Float(value) => f64::from(value).into(),
        AttributeValue::Floats(values) => list(values.into_iter().map(f64::from).collect()),
        AttributeValue::Double(value) => value.into(),
        AttributeValue::Doubles(values) => list(values),
        AttributeValue::Str(text) => text.into(),
        AttributeValue::Strs(texts) => list(texts),
    }
}

/// The attribute of that name.
pub(super) fn get<'m>(attributes: &'m [(Value, Value)], name: &str) -> Option<&'m Value> {
    attributes.iter().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value)
}

/// A number as `f64`.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "arithmetic is that of float64")]
        Value::Integer(integer) => Some(i128::from(*integer) as f64),
        Value::Float(float) => Some(*float),
        Value::Array(items) => match items.as_slice() {
            [item] => number(item),
            _ => None,
        },
        _ => None,
    }
}

/// The values that stand for missing ones.
pub(super) fn missing(attributes: &[(Value, Value)]) -> Vec<&Value> {
    let named = ["_FillValue", "missing_value"].into_iter().filter_map(|name| get(attributes, name));
    let each = named.flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        value => vec![value],
    });
    each.collect()
}
