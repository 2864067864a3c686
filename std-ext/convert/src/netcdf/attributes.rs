//! Attributes as metadata, and metadata as attributes.

use ciborium::Value;
use netcdf::AttributeValue;

use super::types;

/// A value of the library as metadata.
pub(super) fn cbor(value: AttributeValue) -> Value {
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

/// A value of metadata as an attribute of the type that is called `kind`, if it fits that. Otherwise integers become
/// `int`, or `int64` and `uint64` where they are too large, and floats `double`. `None` for what an attribute cannot be, and
/// for integers that `double` would round.
pub(super) fn attribute(value: &Value, kind: Option<&str>) -> Option<AttributeValue> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        value => std::slice::from_ref(value),
    };
    let is_list = matches!(value, Value::Array(_));
    let texts: Option<Vec<&str>> = items.iter().map(text).collect();
    if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
        return match texts.as_slice() {
            [text] if !is_list => Some(AttributeValue::Str((*text).to_string())),
            texts => Some(AttributeValue::Strs(texts.iter().map(ToString::to_string).collect())),
        };
    }
    let integers: Option<Vec<i128>> = items.iter().map(|item| item.as_integer().map(i128::from)).collect();
    let floats: Option<Vec<f64>> = items.iter().map(exact).collect();
    let as_kind = |kind: &str| types::numbers(kind, integers.as_deref(), floats.as_deref());
    let usual = || ["int", "int64", "uint64", "double"].into_iter().find_map(as_kind);
    // A list without numbers is of the type that it had.
    kind.and_then(as_kind).or_else(|| if items.is_empty() { None } else { usual() })
}

/// A text, or a truth as one.
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Bool(true) => Some("true"),
        Value::Bool(false) => Some("false"),
        _ => None,
    }
}

/// A number that is the same as `f64`.
fn exact(value: &Value) -> Option<f64> {
    let is_same = |float: &f64| match value.as_integer() {
        #[expect(clippy::cast_possible_truncation, reason = "integers of metadata have 65 bits")]
        Some(integer) => *float as i128 == i128::from(integer),
        None => !value.is_array(),
    };
    number(value).filter(is_same)
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
