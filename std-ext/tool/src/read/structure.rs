//! Structural keys: what messages and objects are, asked for like metadata.
//!
//! Metadata under such a key comes first. For a message, most keys describe its first object; the keys about its place
//! describe the message.

use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::descriptor::Descriptor;
use tgm_core::object::DataObject;
use tgm_std::metadata::query::{Known, codec};

use crate::read::entry::{Entry, MessageNumber};
use crate::show::summary::Summary;

/// Where structural keys are answered from: a message, or an object of it.
#[derive(Clone, Copy)]
pub(crate) struct Structure<'m, 'a> {
    message: &'m Message<'a>,
    /// The number of the message, and its place in the file.
    index: MessageNumber,
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
    /// The errors of reading the first object.
    pub(crate) fn get(&self, key: &str) -> tgm_core::Result<Option<Json>> {
        match (key, self.object) {
            ("message", _) => Ok(Some(self.index.into())),
            ("object", Some((number, _))) => Ok(Some(number.into())),
            ("object", None) => Ok((self.message.outline()?.object_count > 0).then(|| 0.into())),
            ("objects", _) => Ok(Some(self.message.outline()?.object_count.into())),
            ("offset", None) => Ok(Some(self.offset.into())),
            (_, Some((_, object))) => Ok(object.and_then(|object| self.of(object, key))),
            (key, None) if KEYS.contains(&key) => {
                Ok(self.message.objects().next().transpose()?.and_then(|object| self.of(&object, key)))
            }
            _ => Ok(None),
        }
    }

    /// Whether some message or object answers this key.
    pub(crate) fn has_key(key: &str) -> bool {
        KEYS.contains(&key) || COMPUTED.contains(&key) || matches!(key, "objects" | "version")
    }

    /// The value of a key that queries do not know by themselves.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    pub(crate) fn known(&self, key: &str) -> tgm_core::Result<Option<Known>> {
        if !COMPUTED.contains(&key) {
            return Ok(None);
        }
        let known = |value: Json| value.as_u64().map(Known::Integer).or_else(|| value.as_f64().map(Known::Float));
        Ok(self.get(key)?.and_then(known))
    }

    /// The descriptor of the object, if this is the structure of one.
    pub(crate) fn descriptor(&self) -> Option<&'m Descriptor<'a>> {
        self.object.and_then(|(_, object)| object).map(DataObject::descriptor)
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
            "offset" => Some((self.offset + object.frame().offset()).into()),
            "count" => Some(descriptor.element_count().into()),
            _ => None,
        }
    }
}

/// The keys that an object answers.
const KEYS: [&str; 11] =
    ["dtype", "shape", "ndim", "encoding", "filter", "compression", "codec", "bytes", "stored", "ratio", "count"];

/// Keys that queries of the library do not know, and catalogues neither.
pub(crate) const COMPUTED: [&str; 5] = ["message", "object", "offset", "stored", "ratio"];
