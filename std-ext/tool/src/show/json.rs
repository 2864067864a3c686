//! JSON for programs: values of messages, errors, and the document that a command prints.
//!
//! Values that JSON lacks are objects with one key: `{"$bytes": hex}`, `{"$float": "nan"|"inf"|"-inf"}`, `{"$int":
//! "…"}` beyond 64 bits, `{"$tag": n, "value": v}`, `{"$undefined": true}`, and `{"$pairs": [[k, v], …]}` for maps
//! whose keys are not all text.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Map, Value as Json, json};
use tgm_core::cbor::{Kind, Value};
use tgm_std::TensogramError;
pub(crate) use tgm_std::metadata::json::float_to_json as float_json;

use crate::show::advice::in_our_words;
use crate::show::form::{Notation, of_item};
use crate::show::output::Out;
use crate::show::text::{hex, is_unsafe};

/// One CBOR item as JSON. Recursion is bounded by the nesting that `tgm_core` lets pass.
pub(crate) fn from_cbor(item: &Value<'_>) -> tgm_core::Result<Json> {
    if let Ok(integer) = item.as_integer() {
        return Ok(integer_json(integer));
    }
    Ok(match item.kind() {
        Kind::Null if item.as_encoded() == [0xf7] => json!({"$undefined": true}),
        Kind::Null => Json::Null,
        Kind::Bool => item.as_bool()?.into(),
        Kind::Float | Kind::Integer => float_json(item.as_f64()?),
        Kind::Bytes => json!({"$bytes": hex(item.as_bytes()?.chunks().flatten())}),
        Kind::Text => text_of(item)?.into(),
        Kind::Array => Json::Array(item.as_array()?.iter().map(|item| from_cbor(&item?)).collect::<Result<_, _>>()?),
        Kind::Map => map_json(item.as_map()?.iter())?,
        Kind::Tag => {
            let (tag, tagged) = item.as_tag()?;
            json!({"$tag": tag, "value": from_cbor(&tagged)?})
        }
    })
}

/// A text. Most texts have one piece, which is copied directly.
fn text_of(item: &Value<'_>) -> tgm_core::Result<String> {
    let text = item.as_text()?;
    Ok(text.as_str().map_or_else(|| text.to_string(), str::to_string))
}

/// Entries of a map, in their order. The last entry with a key counts.
pub(crate) fn map_json<'a>(
    entries: impl Iterator<Item = tgm_core::Result<(Value<'a>, Value<'a>)>>,
) -> tgm_core::Result<Json> {
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    if entries.iter().all(|(key, _)| key.kind() == Kind::Text) {
        let pair = |(key, value): &(Value<'a>, Value<'a>)| Ok((text_of(key)?, from_cbor(value)?));
        return Ok(Json::Object(entries.iter().map(pair).collect::<Result<_, _>>()?));
    }
    let pair = |(key, value): &(Value<'a>, Value<'a>)| Ok(Json::Array(vec![from_cbor(key)?, from_cbor(value)?]));
    Ok(json!({"$pairs": entries.iter().map(pair).collect::<tgm_core::Result<Vec<_>>>()?}))
}

fn integer_json(integer: i128) -> Json {
    match (u64::try_from(integer), i64::try_from(integer)) {
        (Ok(integer), _) => integer.into(),
        (_, Ok(integer)) => integer.into(),
        _ => json!({"$int": integer.to_string()}),
    }
}

/// An error as JSON.
pub(crate) fn error_json(error: &TensogramError) -> Json {
    json!({"kind": error.kind_name(), "message": in_our_words(error)})
}

/// An object of entries in their order. Entries without a value are left out.
pub(crate) fn object<'k>(entries: impl IntoIterator<Item = (&'k str, Option<Json>)>) -> Json {
    let entries = entries.into_iter().filter_map(|(key, value)| Some((key.to_string(), value?)));
    Json::Object(entries.collect::<Map<_, _>>())
}

/// A value as JSON text on one line. Characters that could mislead a terminal are escaped too.
pub(crate) fn compact(value: &Json) -> String {
    let text = value.to_string();
    if !text.chars().any(is_unsafe) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        // Such characters occur in strings only.
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// The document that a command prints: `{"schema": …, LIST: [ITEM, …]}`. Each item is one line, written as soon as it
/// is known, unless items are sorted. As JSON lines, the items alone are printed.
pub(crate) struct Document {
    items: u64,
    /// Items that wait to be sorted.
    waiting: Vec<Json>,
    end: &'static str,
}

/// The keys of an item that say where it is from.
const PLACE: [&str; 4] = ["file", "message", "offset", "length"];

/// Whether an item says more than where it is from, and that something is missing or wrong there.
fn has_content(item: &Json) -> bool {
    let Json::Object(item) = item else { return !is_hollow(item) };
    item.get("error").is_none_or(Json::is_null)
        && item.iter().any(|(key, value)| !PLACE.contains(&key.as_str()) && !is_hollow(value))
}

/// Whether a value has no content: null, an error, or only such values.
fn is_hollow(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(values) => values.iter().all(is_hollow),
        Json::Object(map) => map.get("error").is_some_and(|error| !error.is_null()) || map.values().all(is_hollow),
        _ => false,
    }
}

impl Document {
    /// Begins the document of `schema`, whose items are in `list`.
    pub(crate) fn begin(out: &mut Out, schema: &str, list: &str) -> io::Result<Self> {
        Self::begin_with(out, &format!("{{\"schema\":\"{schema}\",\"{list}\":["), "]}\n")
    }

    /// Begins a document that is an array of items.
    pub(crate) fn begin_array(out: &mut Out) -> io::Result<Self> {
        Self::begin_with(out, "[", "]\n")
    }

    fn begin_with(out: &mut Out, start: &str, end: &'static str) -> io::Result<Self> {
        if !is_lines(out) {
            out.write_all(start.as_bytes())?;
        }
        Ok(Self { items: 0, waiting: Vec::new(), end })
    }

    /// Writes the next item.
    pub(crate) fn item(&mut self, out: &mut Out, item: &Json) -> io::Result<()> {
        out.note_row(has_content(item));
        if !out.form().sort.is_empty() {
            self.waiting.push(item.clone());
            return Ok(());
        }
        if out.admits_one() { self.write(out, item) } else { Ok(()) }
    }

    fn write(&mut self, out: &mut Out, item: &Json) -> io::Result<()> {
        if is_lines(out) {
            return writeln!(out, "{}", compact(item));
        }
        out.write_all(if self.items == 0 { b"\n" } else { b",\n" })?;
        self.items += 1;
        out.write_all(compact(item).as_bytes())
    }

    /// Writes the items that waited.
    fn finish(&mut self, out: &mut Out) -> io::Result<()> {
        let (mut items, form) = (std::mem::take(&mut self.waiting), out.form().clone());
        let text = |value: &Json| value.as_str().map_or_else(|| compact(value), str::to_string);
        let key = |number: usize| form.sort.get(number).map(|sort| sort.key.as_str()).unwrap_or_default();
        let told = form.arrange(&mut items, |item, number| of_item(item, key(number)).map_or(String::new(), text));
        for told in &told {
            out.problem(told);
        }
        items.iter().try_for_each(|item| {
            out.count_one();
            self.write(out, item)
        })
    }

    /// Ends the document.
    pub(crate) fn end(mut self, out: &mut Out) -> io::Result<()> {
        self.finish(out)?;
        if is_lines(out) {
            return Ok(());
        }
        out.write_all(if self.items == 0 { b"" } else { b"\n" })?;
        out.write_all(self.end.as_bytes())
    }

    /// Ends the document with a value under `key`, after the items.
    pub(crate) fn end_with(mut self, out: &mut Out, key: &str, value: &Json) -> io::Result<()> {
        self.finish(out)?;
        if is_lines(out) {
            return writeln!(out, "{{\"{key}\":{}}}", compact(value));
        }
        let before = if self.items == 0 { "" } else { "\n" };
        writeln!(out, "{before}],\n\"{key}\":{}}}", compact(value))
    }
}

fn is_lines(out: &Out) -> bool {
    out.form().notation == Notation::JsonLines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_escaped_and_reads_back() {
        let value = json!({"k\u{9b}": "a\u{7f}\u{1b}b\u{202e}", "é": [1, -2, 0.5]});
        let text = compact(&value);
        assert!(text.is_ascii() || !text.chars().any(is_unsafe), "{text}");
        assert_eq!(serde_json::from_str::<Json>(&text).ok(), Some(value));
    }

    #[test]
    fn what_json_lacks_is_spelt_out() {
        let of = |bytes: &[u8]| Value::parse(bytes, 0).and_then(|item| from_cbor(&item)).ok();
        assert_eq!(of(&[0xf7]), Some(json!({"$undefined": true})));
        assert_eq!(of(&[0xf6]), Some(Json::Null));
        assert_eq!(of(&[0xf9, 0xfc, 0x00]), Some(json!({"$float": "-inf"})));
        assert_eq!(of(&[0x42, 0x00, 0xff]), Some(json!({"$bytes": "00ff"})));
        assert_eq!(of(&[0xa1, 0x01, 0x02]), Some(json!({"$pairs": [[1, 2]]})));
        assert_eq!(of(&[0xc1, 0x01]), Some(json!({"$tag": 1, "value": 1})));
        let lowest = [0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(of(&lowest), Some(json!({"$int": "-18446744073709551616"})));
    }
}
