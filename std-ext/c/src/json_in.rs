//! Metadata and descriptors of the caller, as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::json::{integer_beyond_64_bits, to_cbor};
use tgm_std::{DataObjectDescriptor, GlobalMetadata};

use crate::error::{METADATA, Report, Result};

/// Entries of a map of metadata.
type Entries = BTreeMap<String, Value>;
type JsonMap = serde_json::Map<String, Json>;

/// What `metadata_json` says of a message.
#[derive(Default)]
pub(crate) struct Description {
    pub(crate) descriptors: Vec<DataObjectDescriptor>,
    pub(crate) metadata: GlobalMetadata,
}

/// Reads the description of a message with its descriptors.
pub(crate) fn description(text: &str) -> Result<Description> {
    read(text, "metadata", Top { has_descriptors: true })
}

/// Reads the metadata of a message whose objects come later. `descriptors` is a key like any other there.
pub(crate) fn metadata(text: &str) -> Result<GlobalMetadata> {
    Ok(read(text, "metadata", Top { has_descriptors: false })?.metadata)
}

/// Reads a map whose integers stay what they are, up to 64 bits without a sign.
pub(crate) fn exact_entries(text: &str) -> Result<Entries> {
    read(text, "metadata", std::marker::PhantomData)
}

/// Reads one descriptor.
pub(crate) fn descriptor(text: &str) -> Result<DataObjectDescriptor> {
    read(text, "descriptor", std::marker::PhantomData)
}

/// Reads the metadata of one object.
pub(crate) fn entry(text: &str) -> Result<Entries> {
    match read(text, "metadata", std::marker::PhantomData::<Json>)? {
        Json::Object(entries) => Ok(to_entries(entries)),
        _ => Err(Report::new(METADATA, "metadata_json must be a JSON object").into()),
    }
}

fn read<'t, S: DeserializeSeed<'t>>(text: &'t str, what: &str, seed: S) -> Result<S::Value> {
    if let Some(integer) = integer_beyond_64_bits(text) {
        let reason = format!("failed to parse {what} JSON: the integer {integer} is beyond 64 bits");
        return Err(Report::new(METADATA, reason).into());
    }
    let mut json = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    value.map_err(|error| Report::new(METADATA, format!("failed to parse {what} JSON: {error}")).into())
}

/// The top level of `metadata_json`.
struct Top {
    has_descriptors: bool,
}

/// The key of the message's annotations.
const EXTRA: [&str; 2] = ["_extra_", "extra"];
const VERSION: &str = "version";

impl<'de> DeserializeSeed<'de> for Top {
    type Value = Description;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<Description, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top {
    type Value = Description;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that describes a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Description, A::Error> {
        let (mut descriptors, mut base, mut version) = (None, None::<Vec<JsonMap>>, None::<Option<u16>>);
        let (mut extra, mut free) = (None::<JsonMap>, Entries::new());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "descriptors" if self.has_descriptors => {
                    let List(list) = map.next_value()?;
                    once(&mut descriptors, "descriptors", list)?;
                }
                "base" => once(&mut base, "base", map.next_value()?)?,
                VERSION => once(&mut version, VERSION, map.next_value()?)?,
                name if EXTRA.contains(&name) => once(&mut extra, "_extra_ (or extra)", map.next_value()?)?,
                _ => {
                    free.insert(key, to_cbor(&map.next_value()?));
                }
            }
        }
        // The version of the format is not the caller's: a number that is given is an annotation.
        free.extend(version.flatten().map(|version| (VERSION.to_string(), version.into())));
        free.extend(extra.map(to_entries).unwrap_or_default());
        let base = base.unwrap_or_default().into_iter().map(to_entries).collect();
        let metadata = GlobalMetadata { base, extra: free, ..GlobalMetadata::default() };
        Ok(Description { descriptors: descriptors.unwrap_or_default(), metadata })
    }
}

/// The descriptors of a message. Errors name the object.
struct List(Vec<DataObjectDescriptor>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(json: D) -> std::result::Result<Self, D::Error> {
        json.deserialize_seq(Self(Vec::new()))
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of descriptors")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> std::result::Result<Self, A::Error> {
        let named = |index: usize| move |error: A::Error| A::Error::custom(format_args!("object {index}: {error}"));
        while let Some(descriptor) = list.next_element().map_err(named(self.0.len()))? {
            self.0.push(descriptor);
        }
        Ok(self)
    }
}

/// Keeps the value of a key that may be there once.
fn once<T, E: Error>(place: &mut Option<T>, name: &'static str, value: T) -> std::result::Result<(), E> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

fn to_entries(map: JsonMap) -> Entries {
    map.into_iter().map(|(key, value)| (key, to_cbor(&value))).collect()
}
