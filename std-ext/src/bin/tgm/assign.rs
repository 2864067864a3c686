//! What `tgm set` is told to set: `KEY=VALUE,…`, and where keys lead.

use std::collections::BTreeMap;

use ciborium::Value;
use serde_json::Value as Json;
use tgm_core::descriptor::Key;
use tgm_std::{RESERVED_KEY, Result, TensogramError};

use crate::edit::Parts;

/// Last segments of keys that are not to be changed, wherever they stand: copies of what describes the payload.
const IMMUTABLE: [Key; 16] = [
    Key::Shape,
    Key::Strides,
    Key::Dtype,
    Key::Ndim,
    Key::Type,
    Key::Encoding,
    Key::Filter,
    Key::Compression,
    Key::SzipRsi,
    Key::SzipBlockSize,
    Key::SzipFlags,
    Key::SzipBlockOffsets,
    Key::SpReferenceValue,
    Key::SpBinaryScaleFactor,
    Key::SpDecimalScaleFactor,
    Key::SpBitsPerValue,
];
/// Another two; the first has no meaning since version 3 of the format.
const IMMUTABLE_TOO: [&str; 2] = ["hash", Key::ShuffleElementSize.name()];

/// One key and its new value.
#[derive(Debug)]
pub(crate) struct Assignment {
    key: String,
    place: Place,
    path: Vec<String>,
    value: Value,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the metadata of every object.
    Base,
    /// In the message's annotations.
    Extra,
    /// In the descriptor of one object.
    Object(usize),
}

impl Assignment {
    /// Reads `KEY=VALUE,KEY=VALUE,…` with values that are text, up to the next comma.
    pub(crate) fn parse_texts(list: &str) -> Result<Vec<Self>, String> {
        list.split(',')
            .map(|item| {
                let (key, value) = split_key(item)?;
                Self::new(key, Value::Text(value.to_string()))
            })
            .collect()
    }

    /// Reads `KEY=VALUE,KEY=VALUE,…` with values that are JSON.
    pub(crate) fn parse_json(list: &str) -> Result<Vec<Self>, String> {
        let (mut assignments, mut rest) = (Vec::new(), list);
        loop {
            let (key, after) = split_key(rest)?;
            let mut values = serde_json::Deserializer::from_str(after).into_iter::<Json>();
            let value = values.next().ok_or_else(|| format!("{key} has no value"))?;
            let value = value.map_err(|error| format!("the value of {key} is no JSON: {error}"))?;
            assignments.push(Self::new(key, from_json(value))?);
            let after = after.get(values.byte_offset()..).unwrap_or_default().trim_start();
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(assignments),
                None => return Err(format!("expected a comma behind the value of {key}")),
            }
        }
    }

    fn new(key: &str, value: Value) -> Result<Self, String> {
        let segments: Vec<&str> = key.split('.').collect();
        if segments.contains(&"") {
            return Err(format!("{key:?} is no key: a segment is empty"));
        }
        let (place, path) = match segments.as_slice() {
            ["extra" | "_extra_", path @ ..] => (Place::Extra, path),
            ["objects", index, path @ ..] => {
                let index = index.parse().map_err(|_| format!("{key}: expected objects.NUMBER.KEY"))?;
                (Place::Object(index), path)
            }
            ["objects"] => return Err(format!("{key}: expected objects.NUMBER.KEY")),
            path => (Place::Base, path),
        };
        let (Some(first), Some(last)) = (path.first(), path.last()) else {
            return Err(format!("{key} names no key of its own"));
        };
        let is_immutable = segments.first() == Some(&RESERVED_KEY)
            || (place != Place::Extra && *first == RESERVED_KEY)
            || IMMUTABLE_TOO.contains(last)
            || Key::from_name(last).is_some_and(|key| IMMUTABLE.contains(&key))
            || (matches!(place, Place::Object(_)) && is_read_by_decoders(first));
        if is_immutable {
            return Err(format!("cannot modify immutable key: {key}"));
        }
        let path = path.iter().map(ToString::to_string).collect();
        Ok(Self { key: key.to_string(), place, path, value })
    }

    /// Sets the value in a message.
    pub(crate) fn apply(&self, parts: &mut Parts<'_>) -> Result<()> {
        match self.place {
            Place::Base if parts.metadata.base.is_empty() => {
                let text = format!("cannot set {}: there is no object (extra.KEY is the message's)", self.key);
                Err(TensogramError::Metadata(text.into()))
            }
            Place::Base => parts.metadata.base.iter_mut().try_for_each(|entry| self.assign(entry)),
            Place::Extra => self.assign(&mut parts.metadata.extra),
            Place::Object(index) => {
                let count = parts.objects.len();
                let object = parts.objects.get_mut(index).ok_or_else(|| {
                    let text = format!("cannot set {}: there is no such object ({count} objects)", self.key);
                    TensogramError::Object(text.into())
                })?;
                let mut params = object.descriptor().params.clone();
                self.assign(&mut params)?;
                if params == object.descriptor().params { Ok(()) } else { object.set_params(params) }
            }
        }
    }

    fn assign(&self, entries: &mut BTreeMap<String, Value>) -> Result<()> {
        let Some((first, path)) = self.path.split_first() else { return Ok(()) };
        if path.is_empty() {
            entries.insert(first.clone(), self.value.clone());
            return Ok(());
        }
        let mut found = entries.entry(first.clone()).or_insert_with(|| Value::Map(Vec::new()));
        for segment in path {
            let Value::Map(pairs) = found else {
                let text = format!("cannot set {}: what stands before {segment} is no map", self.key);
                return Err(TensogramError::Metadata(text.into()));
            };
            found = entry_of(pairs, segment);
        }
        found.clone_from(&self.value);
        Ok(())
    }
}

/// The value under a key, made an empty map if there is none. Of equal keys the last counts, and stays.
fn entry_of<'v>(pairs: &'v mut Vec<(Value, Value)>, name: &str) -> &'v mut Value {
    let is_named = |(key, _): &(Value, Value)| key.as_text() == Some(name);
    let mut left = pairs.iter().filter(|pair| is_named(pair)).count();
    pairs.retain(|pair| {
        left -= usize::from(is_named(pair));
        !is_named(pair) || left == 0
    });
    if !pairs.iter().any(is_named) {
        pairs.push((Value::from(name), Value::Map(Vec::new())));
    }
    let at = pairs.iter().position(is_named).unwrap_or_default();
    &mut pairs[at].1
}

/// Whether a decoder looks at this entry of a descriptor, or at least insists on its type.
fn is_read_by_decoders(name: &str) -> bool {
    Key::from_name(name).is_some_and(|key| key.is_field() || key.is_parameter())
}

fn split_key(item: &str) -> Result<(&str, &str), String> {
    item.split_once('=').ok_or_else(|| format!("{item:?}: expected KEY=VALUE"))
}

fn from_json(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => bool.into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(integer), _) => integer.into(),
            (_, Some(integer)) => integer.into(),
            // Whatever JSON has as a number is one here.
            _ => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => text.into(),
        Json::Array(items) => Value::Array(items.into_iter().map(from_json).collect()),
        Json::Object(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (key.into(), from_json(value))).collect())
        }
    }
}
