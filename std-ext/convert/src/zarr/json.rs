//! JSON as writers of Zarr write it: `NaN`, `Infinity` and `-Infinity` stand bare, and integers may have any number of digits.

use std::fmt;

use ciborium::Value;
use serde_json::Number;

type Result<T> = std::result::Result<T, NotJson>;

/// What is wrong with a text, and at which byte.
#[derive(Debug)]
pub(super) struct NotJson {
    what: String,
    /// The byte, from the start of the text.
    pub(super) at: usize,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for NotJson {}

/// How deep lists and objects lie within others.
const MAX_NESTING: usize = 64;

/// The value of a text. Numbers that are not finite are floats. Integers beyond 64 bits stay text: metadata has no such numbers.
///
/// # Errors
/// What is wrong, and at which byte.
pub(super) fn parse(text: &[u8]) -> Result<Value> {
    let not_utf8 = |error: std::str::Utf8Error| NotJson { what: "this is not UTF-8".into(), at: error.valid_up_to() };
    let text = std::str::from_utf8(text).map_err(not_utf8)?;
    let mut parser = Parser { text, rest: text.trim_start_matches('\u{feff}') };
    let value = parser.value(0)?;
    parser.blanks();
    if parser.rest.is_empty() { Ok(value) } else { Err(parser.wrong("something follows the value")) }
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl Parser<'_> {
    fn wrong(&self, what: &str) -> NotJson {
        NotJson { what: what.into(), at: self.text.len() - self.rest.len() }
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Takes `token` and the blanks before it.
    fn take(&mut self, token: &str) -> bool {
        self.blanks();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > MAX_NESTING {
            return Err(self.wrong("values are nested too deeply"));
        }
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ];
        for (word, value) in words {
            if self.take(word) {
                return Ok(value);
            }
        }
        if self.rest.starts_with('"') {
            return self.string().map(Value::Text);
        }
        if self.take("[") {
            return self.list(depth);
        }
        if self.take("{") {
            return self.object(depth);
        }
        self.number()
    }

    fn list(&mut self, depth: usize) -> Result<Value> {
        let mut items = Vec::new();
        if self.take("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take("]") {
                return Ok(Value::Array(items));
            }
            if !self.take(",") {
                return Err(self.wrong("a list does not go on"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value> {
        let mut entries = Vec::new();
        if self.take("}") {
            return Ok(Value::Map(Vec::new()));
        }
        loop {
            self.blanks();
            let key = self.string()?;
            if !self.take(":") {
                return Err(self.wrong("a key has no value"));
            }
            entries.push((key, self.value(depth + 1)?));
            if self.take("}") {
                return Ok(Value::Map(last_of_each(entries)));
            }
            if !self.take(",") {
                return Err(self.wrong("an object does not go on"));
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        let inner = self.rest.strip_prefix('"').ok_or_else(|| self.wrong("a text does not begin with a quote"))?;
        let mut is_escaped = false;
        let end = inner.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        // Both quotes are one byte each.
        let token = end.and_then(|end| self.rest.split_at_checked(end + 2));
        let (token, rest) = token.ok_or_else(|| self.wrong("a text does not end"))?;
        let text = serde_json::from_str(token).map_err(|error| self.wrong(&error.to_string()))?;
        self.rest = rest;
        Ok(text)
    }

    fn number(&mut self) -> Result<Value> {
        let is_part = |char: char| char.is_ascii_digit() || matches!(char, '+' | '-' | '.' | 'e' | 'E');
        let end = self.rest.find(|char| !is_part(char)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        let is_integer = !token.contains(['.', 'e', 'E']);
        let number: Number = match serde_json::from_str(token) {
            Ok(number) => number,
            // A float beyond the range is infinite for other readers.
            Err(_) if !is_integer && token.parse::<f64>().is_ok_and(f64::is_infinite) => {
                return Err(self.wrong("a number is beyond the range of float64"));
            }
            Err(_) => return Err(self.wrong("this is not JSON")),
        };
        self.rest = rest;
        Ok(match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(integer), ..) => integer.into(),
            (_, Some(integer), _) => integer.into(),
            (.., Some(float)) if !is_integer || token.trim_start_matches('-').bytes().all(|digit| digit == b'0') => {
                float.into()
            }
            _ => token.into(),
        })
    }
}

/// The last value of each key, at the place of the first.
fn last_of_each(entries: Vec<(String, Value)>) -> Vec<(Value, Value)> {
    let mut places = std::collections::BTreeMap::new();
    let mut found: Vec<(Value, Value)> = Vec::new();
    for (key, value) in entries {
        let place = *places.entry(key.clone()).or_insert(found.len());
        match found.get_mut(place) {
            Some(entry) => entry.1 = value,
            None => found.push((key.into(), value)),
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn what_python_writes_is_read() {
        let value =
            parse(b" {\"a\": [NaN, Infinity, -Infinity, 1, -2, 1.5, 1e3, true, null, \"x\\\"\\u00e9\"], \"b\": {}} ");
        let entries = value.unwrap().into_map().unwrap();
        let items = entries[0].1.as_array().unwrap();
        assert!(items[0].as_float().unwrap().is_nan());
        let rest: Vec<Value> = vec![
            f64::INFINITY.into(),
            f64::NEG_INFINITY.into(),
            1.into(),
            (-2).into(),
            1.5.into(),
            1000.0.into(),
            true.into(),
            Value::Null,
            "x\"é".into(),
        ];
        assert_eq!(items[1..], rest);
        assert_eq!(parse(b"18446744073709551615").unwrap(), Value::from(u64::MAX));
        assert_eq!(parse(b"-18446744073709551617").unwrap(), Value::from("-18446744073709551617"));
        assert_eq!(parse(b"{\"a\":1,\"b\":2,\"a\":3}").unwrap().as_map().unwrap()[0].1, Value::from(3));
    }

    #[test]
    fn what_is_not_json_is_an_error_with_its_place() {
        let nested = "[".repeat(100_000);
        for text in [
            "", "{", "[1", "[1 2]", "{\"a\"}", "{a:1}", "\"a", "\"a\\\"", "nan", "1 2", "01", "1e999", "\"\n\"",
            &nested,
        ] {
            assert!(parse(text.as_bytes()).unwrap_err().to_string().contains("at byte"), "{text:.20}");
        }
        assert_eq!(parse(b"\"\xff\"").unwrap_err().at, 1);
        assert_eq!(parse(b"[1, 2, x]").unwrap_err().at, 7);
    }
}
