//! Keys and values of `-s`: `KEY=VALUE`, `KEY:TYPE=VALUE`, several of them separated by commas.

use ciborium::Value;
use ciborium::value::Integer;
use serde_json::Value as Json;
use tgm_std::metadata::json::{integer_beyond_64_bits, to_cbor_with};

/// The pieces between commas. Commas within brackets or quotes do not separate.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    text.split(|c| {
        match c {
            '"' if !escaped => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            // What closes nothing is found by whoever reads the value.
            ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        c == ',' && depth == 0 && !quoted
    })
    .collect()
}

/// A key and its value. Without a type, the value is JSON (so `5` is an integer), and text if it is not JSON. The types
/// have the names of ecCodes: `s` is text, `i` an integer, `d` a float.
///
/// # Errors
/// A sentence, for text without "=" and for values that are not of their type.
pub(crate) fn key_and_value(text: &str) -> Result<(&str, Value), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?}: expected KEY=VALUE"))?;
    let wrong = |what| format!("the value of {key} is not {what}: {value}");
    match key.rsplit_once(':') {
        Some((key, "s")) => Ok((key, value.into())),
        Some((key, "i")) => integer(value).map(|integer| (key, integer)).ok_or_else(|| wrong("an integer of 64 bits")),
        Some((key, "d")) => {
            let float = value.parse().map_err(|_| wrong("a number"))?;
            if is_too_great(value) { Err(wrong("a number that float64 has")) } else { Ok((key, Value::Float(float))) }
        }
        _ => match value_of_json(value) {
            Ok(value) => Ok((key, value)),
            Err(NotExact::Json(_)) if is_too_great(value) => {
                Err(wrong("a number that float64 has; KEY:s=VALUE makes it text"))
            }
            Err(NotExact::Json(_)) => Ok((key, value.into())),
            Err(NotExact::Integer(integer)) => {
                Err(format!("{key}: {}; KEY:s=VALUE makes it text, KEY:d=VALUE a float", beyond(&integer)))
            }
        },
    }
}

/// Why a text of JSON has no value.
#[derive(Debug)]
pub(crate) enum NotExact {
    /// It is not JSON.
    Json(serde_json::Error),
    /// An integer in it has more than 64 bits.
    Integer(String),
}

impl std::fmt::Display for NotExact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::Integer(integer) => beyond(integer).fmt(f),
        }
    }
}

fn beyond(integer: &str) -> String {
    format!("the integer {integer} is beyond 64 bits")
}

/// The value of a text of JSON. Every route from JSON of the user into metadata leads through here: integers are exact.
///
/// # Errors
/// The text is not JSON, or has an integer beyond 64 bits, which readers of JSON would make a float.
pub(crate) fn json(text: &str) -> Result<Json, NotExact> {
    let json = serde_json::from_str(text).map_err(NotExact::Json)?;
    exact(text)?;
    Ok(json)
}

/// Checks that all integers of a text of JSON are exact as numbers of JSON.
///
/// # Errors
/// [`NotExact::Integer`] with the first one that is not.
pub(crate) fn exact(text: &str) -> Result<(), NotExact> {
    integer_beyond_64_bits(text).map_or(Ok(()), |integer| Err(NotExact::Integer(integer.to_string())))
}

/// The value as metadata. A negative integer alone may have 65 bits, as CBOR has them.
fn value_of_json(text: &str) -> Result<Value, NotExact> {
    json(text).map(|json| to_cbor(&json)).or_else(|error| match error {
        NotExact::Integer(_) => integer(text).ok_or(error),
        NotExact::Json(_) => Err(error),
    })
}

/// An integer of CBOR: from -2^64 to 2^64 - 1.
fn integer(text: &str) -> Option<Value> {
    let text = text.trim_ascii();
    // Rust reads a plus sign, JSON does not.
    let digits: i128 = text.parse().ok().filter(|_| !text.starts_with('+'))?;
    Integer::try_from(digits).ok().map(Value::Integer)
}

/// Whether a text is a finite number that becomes infinite as a float.
fn is_too_great(text: &str) -> bool {
    text.contains(|char: char| char.is_ascii_digit()) && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// JSON as CBOR. Byte strings, NaN, infinities and integers beyond 64 bits are written as the tool prints them.
pub(crate) fn to_cbor(json: &Json) -> Value {
    to_cbor_with(json, &|entries| {
        let (key, value) = entries.iter().next().filter(|_| entries.len() == 1)?;
        special_of(key, value.as_str()?)
    })
}

fn special_of(key: &str, text: &str) -> Option<Value> {
    match (key, text) {
        ("$float", "nan") => Some(f64::NAN.into()),
        ("$float", "inf") => Some(f64::INFINITY.into()),
        ("$float", "-inf") => Some(f64::NEG_INFINITY.into()),
        ("$int", digits) => integer(digits),
        ("$bytes", hex) if hex.is_ascii() && hex.len() % 2 == 0 => {
            let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
            let bytes = digits.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<Vec<u8>>>()?;
            Some(Value::Bytes(bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commas_within_values_stay() {
        assert_eq!(
            split("a=1,b=[1,2],c=\"x,\\\",y\",d={\"e\":[1,2]}"),
            ["a=1", "b=[1,2]", "c=\"x,\\\",y\"", "d={\"e\":[1,2]}"]
        );
    }

    #[test]
    fn values_have_types() {
        for (text, value) in [
            ("k=5", Value::from(5)),
            ("k=-2.5", Value::from(-2.5)),
            ("k=2t", "2t".into()),
            ("k=", "".into()),
            ("k=a=b", "a=b".into()),
            ("k=\"6\"", "6".into()),
            ("k:s=5", "5".into()),
            ("k:s=\"5\"", "\"5\"".into()),
            ("k:i=-5", Value::from(-5)),
            ("k=18446744073709551615", u64::MAX.into()),
            ("k=-18446744073709551616", Value::Integer(Integer::try_from(-(1_i128 << 64)).unwrap())),
            ("k:i=-18446744073709551616", Value::Integer(Integer::try_from(-(1_i128 << 64)).unwrap())),
            ("k:s=18446744073709551616", "18446744073709551616".into()),
            ("k:d=18446744073709551616", Value::from(18_446_744_073_709_551_616.0)),
            ("k=99999999999999999999 m", "99999999999999999999 m".into()),
            ("k:d=5", Value::from(5.0)),
            ("k:d=-inf", Value::from(f64::NEG_INFINITY)),
        ] {
            assert_eq!(key_and_value(text), Ok(("k", value)), "{text}");
        }
        assert_eq!(key_and_value("a:b=c"), Ok(("a:b", "c".into())));
        for text in [
            "k",
            "k:i=2t",
            "k:i=2.0",
            "k:i=",
            "k:i=+5",
            "k:i=18446744073709551616",
            "k=18446744073709551616",
            "k=-18446744073709551617",
            "k={\"a\":[18446744073709551616]}",
            "k=1e400",
            "k:d=1e400",
            "k:d=x",
        ] {
            assert!(key_and_value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_json_lacks_reads_as_it_is_printed() {
        assert_eq!(to_cbor(&json!({"$bytes": "00ff"})), Value::Bytes(vec![0, 255]));
        assert_eq!(to_cbor(&json!({"$float": "-inf"})), Value::from(f64::NEG_INFINITY));
        assert!(to_cbor(&json!({"$bytes": "0g"})).is_map());
        let lowest = Integer::try_from(-(1_i128 << 64)).unwrap();
        assert_eq!(to_cbor(&json!({"$int": "-18446744073709551616"})), Value::Integer(lowest));
        assert!(to_cbor(&json!({"$int": "18446744073709551616"})).is_map());
    }
}
