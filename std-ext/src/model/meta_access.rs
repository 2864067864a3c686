//! Lookup of owned metadata by dotted path, and access to the values that are found (COMPAT §7.2, FORMAT §7.4).
//!
//! [`tgm_core::metadata`] looks up borrowed metadata by the same rules. For a message, the first object in which the
//! whole path resolves counts, and then the writer's annotations. A path that begins with `_extra_.` or `extra.` finds
//! annotations only. An absent value is `None`; it is never a zero or a value of another type. There is one difference:
//! a path that begins with `_reserved_` finds the writer's annotation of that name here, as in the reference, and
//! nothing in `tgm_core`.

mod deserialize;

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::{RESERVED_KEY, split_path};

pub use self::deserialize::{Borrowed, deserialize};
use crate::model::metadata::path::{PathOwner, get_text, keys_to, path_owner};
use crate::model::types::GlobalMetadata;

/// The type of a metadata value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaType {
    /// Null, or a tag, which has no type of its own here.
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
    /// A map, or a whole section of the metadata.
    Map,
}

/// One metadata value, borrowed from the [`GlobalMetadata`] that holds it.
///
/// The `as_*` methods return `None` for values of another type or out of range. The only conversion is from integer to
/// float.
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

    /// The value, unless this is a section.
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

    /// The float, or the float that is nearest to the integer.
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

    /// The number of items of an array, or of entries of a map. 0 for other values.
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

    /// The value of a key in a map. `key` is a single key, not a path. The last of repeated keys counts. In a
    /// nested map this walks over the entries.
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

    /// The key of entry `index` of a map, if the key is text. The entries of a section are sorted by the bytes of their
    /// keys.
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
    /// The number of objects that have metadata.
    pub const fn num_objects(&self) -> usize {
        self.base.len()
    }

    /// The value at a dotted path, such as `mars.param`. The first object in which the whole path resolves counts, then
    /// the writer's annotations. A path under `_extra_.` or `extra.` finds annotations only. What objects have under
    /// `_reserved_` is not found.
    pub fn get_value(&self, path: &str) -> Option<&Value> {
        if let PathOwner::Message(key) = path_owner(path) {
            return find(&self.extra, key?);
        }
        match split_path(path).0 {
            "" => None,
            RESERVED_KEY => find(&self.extra, path),
            _ => self.base.iter().find_map(|entries| find(entries, path)).or_else(|| find(&self.extra, path)),
        }
    }

    /// The value at a dotted path in the metadata of object `index`. What the object has under `_reserved_` is not
    /// found.
    pub fn get_value_at(&self, index: usize, path: &str) -> Option<&Value> {
        let entries = self.base.get(index)?;
        if matches!(split_path(path).0, "" | RESERVED_KEY) { None } else { find(entries, path) }
    }

    /// The value that [`Self::get_value`] finds.
    pub fn get(&self, path: &str) -> Option<MetaValue<'_>> {
        self.get_value(path).map(MetaValue::new)
    }

    /// The value that [`Self::get_value_at`] finds.
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

    /// The metadata of object `index` as a map, `_reserved_` included.
    pub fn object(&self, index: usize) -> Option<MetaValue<'_>> {
        self.base.get(index).map(MetaValue::section)
    }

    /// The writer's annotations as a map.
    pub const fn extra_view(&self) -> MetaValue<'_> {
        MetaValue::section(&self.extra)
    }

    /// The entries that the library wrote about the message, as a map.
    pub const fn reserved_view(&self) -> MetaValue<'_> {
        MetaValue::section(&self.reserved)
    }
}

/// Follows a path into a section, by the rules of [`tgm_core::metadata`].
fn find<'a>(entries: &'a BTreeMap<String, Value>, path: &str) -> Option<&'a Value> {
    let keys = keys_to(entries, path)?;
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(entries.get(*first)?, |found, key| get_text(found, key))
}
