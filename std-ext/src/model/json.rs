//! Conversion between JSON and CBOR.

use std::fmt::Write as _;

use ciborium::Value;
use serde_json::{Map, Number, Value as Json, json};

use crate::base::error::Result;
use crate::model::params::metadata;

/// Limit on nested containers. Readers of JSON, including this one, stop at 128, and some levels are around what is
/// stored here.
const MAX_NESTING: usize = 130;

/// JSON as CBOR: integers stay integers, other numbers become `f64`.
pub fn to_cbor(json: &Json) -> Value {
    to_cbor_with(json, &|_| None)
}

/// [`to_cbor`], but for objects of JSON that stand for another value, which `special` gives.
pub fn to_cbor_with(json: &Json, special: &dyn Fn(&Map<String, Json>) -> Option<Value>) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(integer), _) => integer.into(),
            (_, Some(integer)) => integer.into(),
            _ => number.as_f64().map_or(Value::Null, Value::Float),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::Array(items.iter().map(|item| to_cbor_with(item, special)).collect()),
        Json::Object(members) => special(members).unwrap_or_else(|| {
            let member = |(key, value): (&String, &Json)| (key.as_str().into(), to_cbor_with(value, special));
            Value::Map(members.iter().map(member).collect())
        }),
    }
}

/// A float as JSON. What JSON lacks is an object: `{"$float": "nan"}`, `"inf"` or `"-inf"`.
pub fn float_to_json(float: f64) -> Json {
    let name = match float {
        float if float.is_nan() => "nan",
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        float => return float.into(),
    };
    json!({"$float": name})
}

/// Bytes as base64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let group = three.iter().chain(&[0; 3]).take(3).fold(0_usize, |group, byte| group << 8 | usize::from(*byte));
        let digits = [18, 12, 6, 0].map(|shift| DIGITS.get(group >> shift & 63).copied().map_or('A', char::from));
        // One byte has two digits, and two have three.
        text.extend(digits.into_iter().enumerate().map(|(at, digit)| if at > three.len() { '=' } else { digit }));
    }
    text
}

/// Lower-case hexadecimal digits of `bytes`.
pub fn hex<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> String {
    bytes.into_iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The first integer of a JSON text that has no exact value in 64 bits, with or without a sign. Readers of JSON make it the
/// nearest float without a word.
///
/// The text may be followed by other text, and need not be JSON: then a reader says so.
pub fn integer_beyond_64_bits(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|char: char| !matches!(char, '"' | '-') && !char.is_ascii_digit());
        if rest.is_empty() {
            return None;
        }
        if let Some(inner) = rest.strip_prefix('"') {
            rest = behind_text(inner);
            continue;
        }
        let end = rest.find(|char: char| !matches!(char, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let (number, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_integer && number.parse::<u64>().is_err() && number.parse::<i64>().is_err() {
            return Some(number);
        }
        rest = behind;
    }
}

/// What follows the text in quotes whose first quote was taken.
fn behind_text(inner: &str) -> &str {
    let mut is_escaped = false;
    let end = inner.find(|char| {
        let is_end = char == '"' && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|end| inner.get(end..)?.strip_prefix('"')).unwrap_or("")
}

/// CBOR as JSON. `path` is the value's path, for errors.
///
/// # Errors
/// [`TensogramError::Metadata`](crate::TensogramError::Metadata) with the path of what JSON has no words for.
pub fn from_cbor(value: &Value, path: &str) -> Result<Json> {
    from_cbor_at(value, path, 0)
}

fn from_cbor_at(value: &Value, path: &str, depth: usize) -> Result<Json> {
    if depth > MAX_NESTING {
        return Err(metadata(format!("{path} is nested too deeply for JSON")));
    }
    let none = |what: &str| metadata(format!("{path}: JSON has no {what}"));
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Integer(integer) => {
            let integer = i128::from(*integer);
            match (u64::try_from(integer), i64::try_from(integer)) {
                (Ok(integer), _) => integer.into(),
                (_, Ok(integer)) => integer.into(),
                _ => return Err(none("integers beyond 64 bits")),
            }
        }
        Value::Float(value) => Json::Number(Number::from_f64(*value).ok_or_else(|| none("NaN and infinities"))?),
        Value::Text(text) => text.as_str().into(),
        Value::Array(items) => {
            let item = |(index, item)| from_cbor_at(item, &format!("{path}[{index}]"), depth + 1);
            Json::Array(items.iter().enumerate().map(item).collect::<Result<_>>()?)
        }
        Value::Map(entries) => {
            let mut members = Map::new();
            for (key, value) in entries {
                let key = key.as_text().ok_or_else(|| none("keys other than text"))?;
                let value = from_cbor_at(value, &format!("{path}.{key}"), depth + 1)?;
                members.insert(key.to_string(), value);
            }
            Json::Object(members)
        }
        Value::Bytes(_) => return Err(none("byte strings")),
        Value::Tag(..) => return Err(none("tags")),
        _ => return Err(none("such values")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_64_bits_are_found_where_json_has_numbers() {
        for (text, found) in [
            ("18446744073709551615", None),
            ("18446744073709551616", Some("18446744073709551616")),
            ("[-9223372036854775808, -9223372036854775809]", Some("-9223372036854775809")),
            ("{\"18446744073709551616\": 1e30, \"b\": [1.5, -0, 1E+400]}", None),
            ("{\"\\\"99999999999999999999\": 1, \"b\":99999999999999999999}", Some("99999999999999999999")),
            ("\"99999999999999999999", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(integer_beyond_64_bits(text), found, "{text}");
        }
    }
}
