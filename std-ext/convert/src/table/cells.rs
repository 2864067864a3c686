//! The cells of a row: metadata with maps opened up.

use std::collections::BTreeMap;

use ciborium::Value;
use serde_json::{Map, Value as Json};
use tgm_std::RESERVED_KEY;
use tgm_std::metadata::json::hex;

use super::Rows;
use super::describe::Described;

/// The names of columns that say where a message is, and what its objects are.
pub(super) const STRUCTURE: [&str; 12] =
    ["file", "message", "offset", "length", "object", "objects", "dtype", "codec", "shape", "bytes", "stored", "ratio"];

/// The metadata of a row, by the name of the column.
pub(super) type Cells<'a> = BTreeMap<String, &'a Value>;

/// Calls `with` for each row, with the number of its object.
///
/// # Errors
/// The errors of `with`.
pub(super) fn each_row<'a, E>(
    described: &'a Described,
    rows: Rows,
    mut with: impl FnMut(Option<usize>, &Cells<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let mut shared = Cells::new();
    for (section, entries) in [(RESERVED_KEY, &described.metadata.reserved), ("extra", &described.metadata.extra)] {
        for (key, value) in entries {
            open(format!("{section}.{key}"), value, &mut shared);
        }
    }
    let own = |cells: &mut Cells<'a>, index: usize| {
        let entries = described.metadata.base.get(index).into_iter().flatten();
        for (key, value) in entries.filter(|(key, _)| *key != RESERVED_KEY) {
            let is_taken = STRUCTURE.contains(&key.as_str());
            open(if is_taken { format!("metadata.{key}") } else { key.clone() }, value, cells);
        }
    };
    let count = described.objects.len();
    if rows == Rows::Messages || count == 0 {
        (0..count).for_each(|index| own(&mut shared, index));
        return with((count > 0).then_some(0), &shared);
    }
    for index in 0..count {
        let mut cells = shared.clone();
        own(&mut cells, index);
        with(Some(index), &cells)?;
    }
    Ok(())
}

/// Adds a value under its path, or what is in it, if it is a map with keys of text. Cells that are there stay.
fn open<'a>(path: String, value: &'a Value, cells: &mut Cells<'a>) {
    match value {
        Value::Null => {}
        Value::Map(entries) if !entries.is_empty() && entries.iter().all(|(key, _)| key.is_text()) => {
            for (key, value) in entries {
                open(format!("{path}.{}", key.as_text().unwrap_or_default()), value, cells);
            }
        }
        value => _ = cells.entry(path).or_insert(value),
    }
}

/// A value as text: text as it is, everything else in JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bytes(bytes) => hex(bytes),
        value => json(value).to_string(),
    }
}

/// A value in JSON. Bytes become hexadecimal digits, numbers that JSON lacks become text, and tags are left out.
fn json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::Integer(integer) => {
            let integer = i128::from(*integer);
            match (u64::try_from(integer), i64::try_from(integer)) {
                (Ok(integer), _) => integer.into(),
                (_, Ok(integer)) => integer.into(),
                _ => integer.to_string().into(),
            }
        }
        Value::Float(value) if value.is_finite() => (*value).into(),
        Value::Float(value) => value.to_string().into(),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => hex(bytes).into(),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            entries.iter().map(|(key, value)| (text(key), json(value))).collect::<Map<_, _>>().into()
        }
        Value::Tag(_, value) => json(value),
        _ => Json::Null,
    }
}
