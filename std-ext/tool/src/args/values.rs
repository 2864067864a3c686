//! Keys and values of `-s`: `KEY=VALUE`, `KEY:TYPE=VALUE`, several of them separated by commas.

use ciborium::Value;
use serde_json::Value as Json;

/// The pieces between commas. Commas within brackets or quotes do not separate.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    text.split(|c| {
        match c {
            '"' if !escaped => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
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
        Some((key, "i")) => match serde_json::from_str::<Json>(value) {
            Ok(number @ Json::Number(_)) if !number.is_f64() => Ok((key, to_cbor(number))),
            _ => Err(wrong("an integer of 64 bits")),
        },
        Some((key, "d")) => Ok((key, Value::Float(value.parse().map_err(|_| wrong("a number"))?))),
        _ => Ok((key, serde_json::from_str(value).map_or_else(|_| value.into(), to_cbor))),
    }
}

/// JSON as CBOR. Byte strings, NaN and infinities are written as the tool prints them.
pub(crate) fn to_cbor(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => value.into(),
        Json::Number(number) => number
            .as_u64()
            .map(Value::from)
            .or_else(|| number.as_i64().map(Value::from))
            .unwrap_or_else(|| number.as_f64().map_or(Value::Null, Value::from)),
        Json::String(text) => text.into(),
        Json::Array(items) => Value::Array(items.into_iter().map(to_cbor).collect()),
        Json::Object(entries) => {
            let special = entries.iter().next().filter(|_| entries.len() == 1);
            if let Some(value) = special.and_then(|(key, value)| special_of(key, value.as_str()?)) {
                return value;
            }
            Value::Map(entries.into_iter().map(|(key, value)| (key.into(), to_cbor(value))).collect())
        }
    }
}

fn special_of(key: &str, text: &str) -> Option<Value> {
    match (key, text) {
        ("$float", "nan") => Some(f64::NAN.into()),
        ("$float", "inf") => Some(f64::INFINITY.into()),
        ("$float", "-inf") => Some(f64::NEG_INFINITY.into()),
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
            ("k:d=5", Value::from(5.0)),
            ("k:d=-inf", Value::from(f64::NEG_INFINITY)),
        ] {
            assert_eq!(key_and_value(text), Ok(("k", value)), "{text}");
        }
        assert_eq!(key_and_value("a:b=c"), Ok(("a:b", "c".into())));
        for text in ["k", "k:i=2t", "k:i=2.0", "k:i=", "k:i=18446744073709551616", "k:d=x"] {
            assert!(key_and_value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_json_lacks_reads_as_it_is_printed() {
        assert_eq!(to_cbor(json!({"$bytes": "00ff"})), Value::Bytes(vec![0, 255]));
        assert_eq!(to_cbor(json!({"$float": "-inf"})), Value::from(f64::NEG_INFINITY));
        assert!(to_cbor(json!({"$bytes": "0g"})).is_map());
    }
}
