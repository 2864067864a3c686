//! Looking metadata up by dotted path, and walking what is found (COMPAT §7.2, FORMAT §7.4).
//!
//! The owned counterpart of the lookup in [`tgm_core::metadata`], with its rules: at message level the first object in
//! which the whole path resolves counts, then the writer's annotations; `_extra_.` or `extra.` asks for those alone. What
//! is absent is `None`, which neither a value of another type nor a zero is. One difference: a path that begins with
//! `_reserved_` finds the writer's annotation of that name here, as with the reference, and nothing there.

mod deserialize;

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::{EXTRA_KEY, RESERVED_KEY};

pub use self::deserialize::{Borrowed, deserialize};
use crate::model::types::GlobalMetadata;

/// The type of a metadata value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaType {
    /// Null, and what has no type here: tags.
    Null,
    /// False or true.
    Bool,
    /// An integer of either sign.
    Int,
    /// A float.
    Float,
    /// Text.
    String,
    /// A byte string.
    Bytes,
    /// An array.
    Array,
    /// A map, or a whole section.
    Map,
}

/// One metadata value, borrowed from the [`GlobalMetadata`] that it was found in.
///
/// The `as_*` methods convert nothing but integers to floats: a value of another type, or beyond the range, is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetaValue<'a>(Node<'a>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Node<'a> {
    Value(&'a Value),
    Section(&'a BTreeMap<String, Value>),
}

impl<'a> MetaValue<'a> {
    const fn new(value: &'a Value) -> Self {
        Self(Node::Value(value))
    }

    const fn section(entries: &'a BTreeMap<String, Value>) -> Self {
        Self(Node::Section(entries))
    }

    /// The type.
    pub const fn value_type(&self) -> MetaType {
        match self.0 {
            Node::Section(_) | Node::Value(Value::Map(_)) => MetaType::Map,
            Node::Value(Value::Bool(_)) => MetaType::Bool,
            Node::Value(Value::Integer(_)) => MetaType::Int,
            Node::Value(Value::Float(_)) => MetaType::Float,
            Node::Value(Value::Text(_)) => MetaType::String,
            Node::Value(Value::Bytes(_)) => MetaType::Bytes,
            Node::Value(Value::Array(_)) => MetaType::Array,
            Node::Value(_) => MetaType::Null,
        }
    }

    /// Whether the type is [`MetaType::Null`].
    pub const fn is_null(&self) -> bool {
        matches!(self.value_type(), MetaType::Null)
    }

    /// The value, if it is no section.
    const fn value(&self) -> Option<&'a Value> {
        match self.0 {
            Node::Value(value) => Some(value),
            Node::Section(_) => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        self.value()?.as_bool()
    }

    /// The integer, if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.value()?.as_integer()?.try_into().ok()
    }

    /// The integer, if it is not negative and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.value()?.as_integer()?.try_into().ok()
    }

    /// The float; an integer as the nearest one.
    pub fn as_f64(&self) -> Option<f64> {
        match self.value()? {
            Value::Float(x) => Some(*x),
            #[expect(clippy::cast_precision_loss, reason = "rounding is what the caller asked for")]
            Value::Integer(n) => Some(i128::from(*n) as f64),
            _ => None,
        }
    }

    /// The text.
    pub fn as_str(&self) -> Option<&'a str> {
        self.value()?.as_text()
    }

    /// The byte string.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        self.value()?.as_bytes().map(Vec::as_slice)
    }

    /// How many items an array has, or entries a map; 0 for anything else.
    pub fn len(&self) -> usize {
        match self.0 {
            Node::Section(entries) => entries.len(),
            Node::Value(Value::Array(items)) => items.len(),
            Node::Value(Value::Map(entries)) => entries.len(),
            Node::Value(_) => 0,
        }
    }

    /// Whether [`Self::len`] is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Item `index` of an array.
    pub fn get_index(&self, index: usize) -> Option<Self> {
        self.value()?.as_array()?.get(index).map(Self::new)
    }

    /// The value of a key, which is no path, in a map; of repeated keys, of the last. A walk, except in a section.
    pub fn get_key(&self, key: &str) -> Option<Self> {
        match self.0 {
            Node::Section(entries) => entries.get(key),
            Node::Value(value) => get_text(value, key),
        }
        .map(Self::new)
    }

    /// Whether a map has the key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get_key(key).is_some()
    }

    /// The key of entry `index` of a map, if it is text. Sections are sorted by their keys' bytes.
    pub fn key_at(&self, index: usize) -> Option<&'a str> {
        match self.0 {
            Node::Section(entries) => entries.keys().nth(index).map(String::as_str),
            Node::Value(value) => value.as_map()?.get(index)?.0.as_text(),
        }
    }

    /// The value of entry `index` of a map.
    pub fn value_at(&self, index: usize) -> Option<Self> {
        match self.0 {
            Node::Section(entries) => entries.values().nth(index).map(Self::new),
            Node::Value(value) => value.as_map()?.get(index).map(|(_, value)| Self::new(value)),
        }
    }
}

impl GlobalMetadata {
    /// How many objects there is metadata for.
    pub const fn num_objects(&self) -> usize {
        self.base.len()
    }

    /// The value at a dotted path, such as `mars.param`: in the first object in which all of it resolves, `_reserved_`
    /// left out, else in the writer's annotations; under `_extra_.` or `extra.` in those only.
    pub fn get_value(&self, path: &str) -> Option<&Value> {
        let (first, rest) = split_path(path);
        match first {
            "" => None,
            EXTRA_KEY | "extra" => find(&self.extra, rest?),
            RESERVED_KEY => find(&self.extra, path),
            _ => self.base.iter().find_map(|entries| find(entries, path)).or_else(|| find(&self.extra, path)),
        }
    }

    /// The value at a dotted path in the metadata of object `index`, `_reserved_` left out.
    pub fn get_value_at(&self, index: usize, path: &str) -> Option<&Value> {
        let entries = self.base.get(index)?;
        if matches!(split_path(path).0, "" | RESERVED_KEY) { None } else { find(entries, path) }
    }

    /// What [`Self::get_value`] finds.
    pub fn get(&self, path: &str) -> Option<MetaValue<'_>> {
        self.get_value(path).map(MetaValue::new)
    }

    /// What [`Self::get_value_at`] finds.
    pub fn get_at(&self, index: usize, path: &str) -> Option<MetaValue<'_>> {
        self.get_value_at(index, path).map(MetaValue::new)
    }

    /// Whether [`Self::get_value`] finds anything.
    pub fn contains(&self, path: &str) -> bool {
        self.get_value(path).is_some()
    }

    /// Whether [`Self::get_value_at`] finds anything.
    pub fn contains_at(&self, index: usize, path: &str) -> bool {
        self.get_value_at(index, path).is_some()
    }

    /// All metadata of object `index` as a map, `_reserved_` included.
    pub fn object(&self, index: usize) -> Option<MetaValue<'_>> {
        self.base.get(index).map(MetaValue::section)
    }

    /// The writer's annotations as a map.
    pub const fn extra_view(&self) -> MetaValue<'_> {
        MetaValue::section(&self.extra)
    }

    /// What the library wrote about the message, as a map.
    pub const fn reserved_view(&self) -> MetaValue<'_> {
        MetaValue::section(&self.reserved)
    }
}

/// Follows a path from a section.
fn find<'a>(entries: &'a BTreeMap<String, Value>, path: &str) -> Option<&'a Value> {
    let (first, mut rest) = split_path(path);
    let mut found = entries.get(first)?;
    while let Some(path) = rest {
        let (segment, after) = split_path(path);
        found = get_text(found, segment)?;
        rest = after;
    }
    Some(found)
}

/// The value of a text key in a map.
fn get_text<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    map.as_map()?.iter().rev().find(|(other, _)| other.as_text() == Some(key)).map(|(_, value)| value)
}

/// The first segment of a dotted path, and what follows its dot.
fn split_path(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;
