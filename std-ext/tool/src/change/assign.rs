//! The assignments of `tgm set`: `KEY=VALUE,…`, and the places they set.

use std::collections::BTreeMap;

use ciborium::Value;
use serde_json::Value as Json;
use tgm_core::descriptor::Key;
use tgm_std::metadata::segments;
use tgm_std::{RESERVED_KEY, Result, TensogramError};

use crate::args::key_path::{KeyOwner, KeyPath};
use crate::args::values::{exact, key_and_value, split, to_cbor};
use crate::change::edit::MessageParts;

/// Last segments of keys that cannot be set, at any place in a path. They copy what describes the payload.
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
/// Two more such keys. `hash` has no meaning since version 3 of the format.
const IMMUTABLE_TOO: [&str; 2] = ["hash", Key::ShuffleElementSize.name()];

/// One key and its new value. Without a value it is deleted.
#[derive(Debug)]
pub(crate) struct Assignment {
    key: KeyPath,
    value: Option<Value>,
}

impl Assignment {
    /// Reads `KEY=VALUE,KEY:TYPE=VALUE,…`.
    pub(crate) fn parse(list: &str) -> Result<Vec<Self>, String> {
        let assignment = |item| key_and_value(item).and_then(|(key, value)| Self::new(key, Some(value)));
        split(list).into_iter().map(assignment).collect()
    }

    /// Reads `KEY,KEY,…`: keys to delete.
    pub(crate) fn parse_deleted(list: &str) -> Result<Vec<Self>, String> {
        list.split(',').map(|key| Self::new(key, None)).collect()
    }

    /// Reads `KEY=VALUE,KEY=VALUE,…` with values that are JSON.
    pub(crate) fn parse_json(list: &str) -> Result<Vec<Self>, String> {
        let (mut assignments, mut rest) = (Vec::new(), list);
        loop {
            let (key, after) = split_key(rest)?;
            let mut values = serde_json::Deserializer::from_str(after).into_iter::<Json>();
            let value = values.next().ok_or_else(|| format!("{key} has no value"))?;
            let value = value.map_err(|error| format!("the value of {key} is not JSON: {error}"))?;
            let parts = after.split_at_checked(values.byte_offset());
            let (taken, after) = parts.ok_or_else(|| format!("the value of {key} ends within a character"))?;
            exact(taken).map_err(|error| format!("{key}: {error}"))?;
            assignments.push(Self::new(key, Some(to_cbor(&value)))?);
            let after = after.trim_start();
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(assignments),
                None => return Err(format!("expected a comma after the value of {key}")),
            }
        }
    }

    fn new(key: &str, value: Option<Value>) -> Result<Self, String> {
        let key = KeyPath::parse(key, |number, key| {
            format!(
                "write --object {number} -s {key}=... to set it in object {number} alone, {key}=... for all objects"
            )
        })?;
        let (Some(first), Some(last)) = (segments(key.path()).next(), segments(key.path()).last()) else {
            return Err(format!("{} names no key of its own", key.text()));
        };
        let is_immutable = segments(key.text()).next() == Some(RESERVED_KEY)
            || (key.place() != KeyOwner::Extra && first == RESERVED_KEY)
            || IMMUTABLE_TOO.contains(&last)
            || Key::from_name(last).is_some_and(|key| IMMUTABLE.contains(&key))
            || (matches!(key.place(), KeyOwner::Descriptor(_)) && is_read_by_decoders(first));
        if is_immutable {
            return Err(format!("cannot modify immutable key: {}", key.text()));
        }
        Ok(Self { key, value })
    }

    /// Checks that `--object` can apply to the key, which must be in the metadata of objects.
    ///
    /// # Errors
    /// A sentence, if the key is elsewhere.
    pub(crate) fn check_is_of_objects(&self) -> Result<(), String> {
        let key = self.key.text();
        match self.key.place() {
            KeyOwner::Base => Ok(()),
            KeyOwner::Extra => Err(format!("--object chooses whose metadata is set, and {key} is the message's")),
            KeyOwner::Descriptor(_) => {
                Err(format!("--object chooses whose metadata is set, and {key} names its object"))
            }
        }
    }

    /// Sets the value in a message, in the metadata of these objects. `None` means all objects.
    pub(crate) fn apply(&self, parts: &mut MessageParts<'_>, objects: Option<&[usize]>) -> Result<()> {
        let count = parts.objects.len();
        let no_object = |index: usize| {
            let text = format!("cannot set {}: there is no object {index} ({count} objects)", self.key.text());
            TensogramError::Object(text.into())
        };
        match (self.key.place(), objects) {
            (KeyOwner::Base, Some(objects)) => objects.iter().try_for_each(|index| {
                let entry = parts.metadata.base.get_mut(*index).ok_or_else(|| no_object(*index))?;
                self.change(entry)
            }),
            (KeyOwner::Base, None) if parts.metadata.base.is_empty() && self.value.is_some() => {
                let text = format!("cannot set {}: there is no object (extra.KEY is the message's)", self.key.text());
                Err(TensogramError::Metadata(text.into()))
            }
            (KeyOwner::Base, None) => parts.metadata.base.iter_mut().try_for_each(|entry| self.change(entry)),
            (KeyOwner::Extra, _) => self.change(&mut parts.metadata.extra),
            (KeyOwner::Descriptor(index), _) => {
                let object = parts.objects.get_mut(index).ok_or_else(|| no_object(index))?;
                let mut params = object.descriptor().params.clone();
                self.change(&mut params)?;
                if params == object.descriptor().params { Ok(()) } else { object.set_params(params) }
            }
        }
    }

    fn change(&self, entries: &mut BTreeMap<String, Value>) -> Result<()> {
        let Some(value) = &self.value else {
            self.key.remove(entries);
            return Ok(());
        };
        self.key.set(entries, value)
    }
}

/// Whether a decoder reads this entry of a descriptor, or checks its type.
fn is_read_by_decoders(name: &str) -> bool {
    Key::from_name(name).is_some_and(|key| key.is_field() || key.is_parameter())
}

fn split_key(item: &str) -> Result<(&str, &str), String> {
    item.split_once('=').ok_or_else(|| format!("{item:?}: expected KEY=VALUE"))
}
