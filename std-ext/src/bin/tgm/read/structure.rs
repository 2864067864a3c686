//! Structural keys: what messages and objects are, asked for like metadata.
//!
//! Metadata under such a key comes first. Of a message, the keys describe its first object, except those of its place.

use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::descriptor::Descriptor;
use tgm_core::object::DataObject;

use crate::read::messages::Entry;
use crate::show::summary::Summary;

/// Where structural keys are answered from: a message, or an object of it.
#[derive(Clone, Copy)]
pub(crate) struct Structure<'m, 'a> {
    message: &'m Message<'a>,
    /// The number of the message, and its place in the file.
    index: usize,
    offset: u64,
    object: Option<(usize, Option<&'m DataObject<'a>>)>,
}

impl<'m, 'a> Structure<'m, 'a> {
    /// The structure of a message.
    pub(crate) const fn new(message: &'m Message<'a>, entry: &Entry<'_>) -> Self {
        Self { message, index: entry.index, offset: entry.offset, object: None }
    }

    /// The structure of an object of this message. Without the object itself only its number is known.
    pub(crate) const fn of_object(self, index: usize, object: Option<&'m DataObject<'a>>) -> Self {
        Self { object: Some((index, object)), ..self }
    }

    /// The value of a structural key.
    ///
    /// # Errors
    /// Those of reading the first object.
    pub(crate) fn get(&self, key: &str) -> tgm_core::Result<Option<Json>> {
        match (key, self.object) {
            ("message", _) => Ok(Some(self.index.into())),
            ("object", Some((number, _))) => Ok(Some(number.into())),
            ("objects", _) => Ok(Some(self.message.outline()?.object_count.into())),
            ("offset", None) => Ok(Some(self.offset.into())),
            (_, Some((_, object))) => Ok(object.and_then(|object| self.of(object, key))),
            (key, None) if KEYS.contains(&key) => {
                Ok(self.message.objects().next().transpose()?.and_then(|object| self.of(&object, key)))
            }
            _ => Ok(None),
        }
    }

    fn of(&self, object: &DataObject<'_>, key: &str) -> Option<Json> {
        let descriptor = object.descriptor();
        match key {
            "dtype" => Some(descriptor.dtype().name().into()),
            "shape" => Some(descriptor.shape().iter().collect()),
            "ndim" => Some(descriptor.shape().len().into()),
            "encoding" => Some(descriptor.encoding().to_string().into()),
            "filter" => Some(descriptor.filter().to_string().into()),
            "compression" => Some(descriptor.compression().to_string().into()),
            "codec" => Some(codec(descriptor).into()),
            "bytes" => descriptor.decoded_len().ok().map(Json::from),
            "stored" => Some(object.region().len().into()),
            "ratio" => {
                Summary::of(object).ratio().and_then(|ratio| ratio.parse::<f64>().ok()).map(|ratio| json!(ratio))
            }
            "offset" => Some(self.offset.saturating_add(object.frame().offset()).into()),
            "count" => Some(descriptor.element_count().into()),
            _ => None,
        }
    }
}

/// The keys that an object answers.
const KEYS: [&str; 11] =
    ["dtype", "shape", "ndim", "encoding", "filter", "compression", "codec", "bytes", "stored", "ratio", "count"];

/// The stages of an object that are not "none", with "+" between them; "none" without any.
pub(crate) fn codec(descriptor: &Descriptor<'_>) -> String {
    let stages =
        [descriptor.encoding().to_string(), descriptor.filter().to_string(), descriptor.compression().to_string()];
    let stages: Vec<_> = stages.into_iter().filter(|stage| stage != "none").collect();
    if stages.is_empty() { "none".to_string() } else { stages.join("+") }
}
