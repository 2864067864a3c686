//! Lookup of keys in metadata, and the selection of messages by queries.
//!
//! A key is a dotted path. The first place that has it gives the value:
//!
//! | keys of | are looked up in |
//! |---|---|
//! | a message | its objects in order, then its annotations, then the structural keys |
//! | an object | the object, then the annotations of its message, then the structural keys |
//!
//! In a message, `extra.KEY` is looked up in the annotations only. `version` is the version of the format.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::cbor::Value;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_std::WIRE_VERSION;
use tgm_std::metadata::query::alias::spellings;
use tgm_std::metadata::query::{ObjectQuery, Query};

use crate::read::asked;
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::structure::Structure;
use crate::show::json;
use crate::show::output::Out;

/// The annotations of a message under the keys of interest. They are the same for all its objects, so they are looked
/// up once.
pub(crate) type Annotations = BTreeMap<String, Json>;

/// Where keys are looked up. Structural keys come last.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'m, 'a> {
    /// In a message: its objects, then its annotations.
    Message(&'m MessageMetadata<'a>, Structure<'m, 'a>),
    /// In an object, then among the annotations of its message.
    Object(&'m ObjectMetadata<'a>, &'m Annotations, Structure<'m, 'a>),
}

impl Scope<'_, '_> {
    /// The value of a key as people type it: of the first that it stands for.
    pub(crate) fn get(&self, key: &str) -> tgm_core::Result<Option<Json>> {
        match spellings(key) {
            Some(keys) => self.first(keys),
            None => self.of_key(key),
        }
    }

    /// The value of this key alone.
    fn of_key(&self, key: &str) -> tgm_core::Result<Option<Json>> {
        let found = match self {
            Self::Message(message, _) => message.get(key)?,
            Self::Object(object, ..) => object.get(key)?,
        };
        self.complete(key, found)
    }

    /// The value of a key for which the metadata, annotations of a message's objects left out, has `found`.
    fn complete(&self, key: &str, found: Option<Value<'_>>) -> tgm_core::Result<Option<Json>> {
        if key == "version" {
            return Ok(Some(WIRE_VERSION.into()));
        }
        let (annotation, structure) = match self {
            Self::Message(_, structure) => (None, structure),
            Self::Object(_, annotations, structure) => (annotations.get(key), structure),
        };
        match (found, annotation) {
            (Some(value), _) => json::from_cbor(&value).map(Some),
            (None, Some(annotation)) => Ok(Some(annotation.clone())),
            (None, None) => structure.get(key),
        }
    }

    /// The value of the first of `keys` that has one.
    pub(crate) fn first(&self, keys: &[&str]) -> tgm_core::Result<Option<Json>> {
        keys.iter().find_map(|key| self.of_key(key).transpose()).transpose()
    }

    /// [`Self::first`], where the metadata of the object has `found` for the first keys.
    pub(crate) fn first_from(&self, keys: &[&str], found: &[Option<Value<'_>>]) -> tgm_core::Result<Option<Json>> {
        for (key, found) in keys.iter().zip(found) {
            if let Some(value) = self.complete(key, *found)? {
                return Ok(Some(value));
            }
        }
        self.first(keys.get(found.len()..).unwrap_or_default())
    }
}

/// The annotations of a message under `keys`. A key may have the prefix `extra.`.
pub(crate) fn annotations<'k>(
    message: &MessageMetadata<'_>,
    keys: impl IntoIterator<Item = &'k str>,
) -> tgm_core::Result<Annotations> {
    let mut found = Annotations::new();
    // Each lookup walks the metadata. Most messages have no annotations, and need no lookup.
    if message.frame().extra_entries().next().is_none() {
        return Ok(found);
    }
    for key in
        keys.into_iter().flat_map(|key| std::iter::once(key).chain(spellings(key).unwrap_or_default().iter().copied()))
    {
        let is_prefixed = key.starts_with("extra.") || key.starts_with("_extra_.");
        let path = if is_prefixed { key.to_string() } else { format!("extra.{key}") };
        if let Some(value) = message.get(&path)? {
            found.insert(key.to_string(), json::from_cbor(&value)?);
        }
    }
    Ok(found)
}

/// A value as text for listings: text as it is, anything else as JSON.
pub(crate) fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => json::compact(other),
    }
}

/// The queries of a command. All must hold.
#[derive(Args, Debug, Default)]
pub(crate) struct Selection {
    /// Only messages for which FILTER holds: KEY=VALUE[/VALUE...], KEY!=VALUE[/VALUE...] (none of them, or missing),
    /// KEY<VALUE, KEY<=VALUE, KEY>VALUE, KEY>=VALUE, KEY in LOW..HIGH (HIGH not included; ..= includes it), KEY?
    /// (present); `*` in values of = and != is any text; joined by " and ", " or ", "not " and brackets; may be repeated,
    /// all must hold
    #[arg(short = 'w', long = "where", value_name = "FILTER")]
    queries: Vec<Query>,
}

impl Selection {
    /// The queries.
    pub(crate) fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// Whether there is no query, so that everything is selected.
    pub(crate) const fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// Whether a message is selected.
    pub(crate) fn has(&self, message: &MessageMetadata<'_>, structure: Structure<'_, '_>) -> tgm_core::Result<bool> {
        let is_selected = self.holds(message, structure)?;
        if !self.is_empty() {
            asked::note_answer(is_selected);
            asked::note_keys(&self.queries, message)?;
        }
        Ok(is_selected)
    }

    fn holds(&self, message: &MessageMetadata<'_>, structure: Structure<'_, '_>) -> tgm_core::Result<bool> {
        for query in &self.queries {
            if !query.matches_with(message, |key| structure.known(key))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of the first object of a message that is selected by itself. If none is, but the message is, the first one
    /// of all. `None` if nothing is selected, or the message cannot be read, which is reported.
    pub(crate) fn pick_object(&self, out: &mut Out, entry: &Entry<'_>, digests: Digests) -> Option<usize> {
        self.find_object(entry, digests).inspect_err(|error| out.report(&entry.place(), error)).ok().flatten()
    }

    fn find_object(&self, entry: &Entry<'_>, digests: Digests) -> tgm_std::Result<Option<usize>> {
        let message = Message::parse(entry.bytes)?;
        let (metadata, structure) = (digests.metadata(&message)?, Structure::new(&message, entry));
        let selection = self.of_objects(&metadata)?;
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            // A damaged object still has metadata.
            if selection.has(&about?, structure.of_object(index, object.ok().as_ref()))? {
                return Ok(Some(index));
            }
        }
        let is_selected = self.holds(&metadata, structure)?;
        if is_selected {
            asked::note_answer(true);
        }
        Ok(is_selected.then_some(0))
    }

    /// Whether a message is selected. A message that cannot be read is reported and not selected.
    pub(crate) fn picks(&self, out: &mut Out, entry: &Entry<'_>, digests: Digests) -> bool {
        self.chooses(entry, digests).inspect_err(|error| out.report(&entry.place(), error)).unwrap_or(false)
    }

    /// Whether a message is selected.
    ///
    /// # Errors
    /// For a message that cannot be read.
    pub(crate) fn chooses(&self, entry: &Entry<'_>, digests: Digests) -> tgm_std::Result<bool> {
        if self.is_empty() {
            return Ok(true);
        }
        let message = Message::parse(entry.bytes)?;
        Ok(self.has(&digests.metadata(&message)?, Structure::new(&message, entry))?)
    }

    /// The selection among the objects of a message. It looks the keys up in the message's annotations once, for all
    /// objects.
    pub(crate) fn of_objects<'s, 'a>(
        &'s self,
        message: &MessageMetadata<'a>,
    ) -> tgm_core::Result<ObjectSelection<'s, 'a>> {
        asked::note_keys(&self.queries, message)?;
        self.queries.iter().map(|query| query.for_objects(message)).collect::<Result<_, _>>().map(ObjectSelection)
    }
}

/// A [`Selection`] among the objects of one message. All queries must hold.
pub(crate) struct ObjectSelection<'s, 'a>(Vec<ObjectQuery<'s, 'a>>);

impl<'a> ObjectSelection<'_, 'a> {
    /// Whether an object with this metadata and structure is selected.
    pub(crate) fn has(&self, object: &ObjectMetadata<'a>, structure: Structure<'_, '_>) -> tgm_core::Result<bool> {
        let mut is_selected = true;
        for query in &self.0 {
            is_selected =
                is_selected && query.matches_with(object, structure.descriptor(), |key| structure.known(key))?;
        }
        if !self.0.is_empty() {
            asked::note_answer(is_selected);
        }
        Ok(is_selected)
    }
}
