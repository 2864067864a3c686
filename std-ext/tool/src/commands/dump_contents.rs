//! What `tgm dump` shows of a message, as JSON values.

use serde_json::{Map, Value as Json, json};
use tgm_core::Message;
use tgm_core::cbor::Value;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_core::object::DataObject;
use tgm_std::TensogramError;

use crate::args::object_numbers::ObjectNumbers;
use crate::commands::frame_list::FrameList;
use crate::read::digests::Digests;
use crate::show::json;
use crate::show::wire_flags::message_flags;

/// The shown content of one message. Parts that cannot be read are missing here and listed among the errors.
#[derive(Default)]
pub(crate) struct Contents {
    /// The preamble's fields.
    pub(crate) preamble: Map<String, Json>,
    /// The postamble's fields.
    pub(crate) postamble: Option<Map<String, Json>>,
    /// The frames.
    pub(crate) frames: Option<FrameList>,
    /// The writer's annotations of the message.
    pub(crate) extra: Option<Json>,
    /// The `_reserved_` entries of the message.
    pub(crate) reserved: Option<Json>,
    /// The objects.
    pub(crate) objects: Vec<Object>,
    /// What could not be read, each with its object.
    pub(crate) errors: Vec<(Option<usize>, TensogramError)>,
    only: ObjectNumbers,
}

/// The shown content of one object.
#[derive(Default)]
pub(crate) struct Object {
    /// Positions of payload and masks.
    pub(crate) layout: Map<String, Json>,
    /// The whole descriptor.
    pub(crate) descriptor: Option<Json>,
    /// The object's metadata.
    pub(crate) metadata: Option<Json>,
}

impl Contents {
    /// The objects that are shown, with their numbers.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, &Object)> {
        self.objects.iter().enumerate().filter(|(index, _)| self.only.has(*index))
    }

    /// What could not be read, each with its object.
    #[cfg(feature = "browse")]
    pub(crate) fn errors(&self) -> impl Iterator<Item = &(Option<usize>, TensogramError)> {
        self.errors.iter()
    }

    /// All of a message, with these objects.
    pub(crate) fn of(message: &Message<'_>, only: &ObjectNumbers, digests: Digests) -> Self {
        let mut contents =
            Self { only: only.clone(), preamble: preamble(message), postamble: postamble(message), ..Self::default() };
        let mut frames = FrameList::of(message);
        let walk_error = frames.error.take();
        let is_walked = walk_error.is_none();
        contents.errors.extend(walk_error.map(|error| (None, error)));
        contents.frames = Some(frames);
        let metadata = digests.metadata(message);
        let (metadata, error) = match metadata {
            Ok(metadata) => {
                let error = contents.read_metadata(&metadata).err().map(TensogramError::from);
                (Some(metadata), error)
            }
            Err(error) => (None, Some(error)),
        };
        contents.errors.extend(error.filter(|_| is_walked).map(|error| (None, error)));
        contents.read_objects(message, metadata.as_ref());
        contents.errors.extend(only.check(contents.objects.len()).err().map(|error| (None, error)));
        contents
    }

    fn read_metadata(&mut self, metadata: &MessageMetadata<'_>) -> tgm_core::Result<()> {
        self.extra = Some(json::map_json(metadata.frame().extra_entries())?);
        self.reserved = Some(json::map_json(metadata.frame().reserved().iter())?);
        Ok(())
    }

    fn read_objects(&mut self, message: &Message<'_>, metadata: Option<&MessageMetadata<'_>>) {
        let mut entries = metadata.map(MessageMetadata::objects);
        let frames = message.frames().map_while(Result::ok).filter(|frame| frame.frame_type().is_data_object());
        for (index, frame) in frames.enumerate() {
            let entry = entries.as_mut().and_then(Iterator::next).and_then(Result::ok);
            let mut object = Object::default();
            if let Err(error) = DataObject::parse(frame).and_then(|found| object.read(&found, entry.as_ref())) {
                self.errors.push((Some(index), error.into()));
            }
            self.objects.push(object);
        }
    }
}

impl Object {
    fn read(&mut self, object: &DataObject<'_>, metadata: Option<&ObjectMetadata<'_>>) -> tgm_core::Result<()> {
        self.layout = layout(object);
        self.descriptor = Some(json::from_cbor(&Value::parse(object.descriptor().as_encoded(), 0)?)?);
        self.metadata = metadata.map(|metadata| json::map_json(metadata.entries())).transpose()?;
        Ok(())
    }

    /// This object as an item of the JSON document.
    pub(crate) fn to_json(&self, index: usize) -> Json {
        json::object([
            ("object", Some(index.into())),
            ("descriptor", self.descriptor.clone()),
            ("metadata", self.metadata.clone()),
            ("layout", Some(Json::Object(self.layout.clone()))),
        ])
    }
}

fn preamble(message: &Message<'_>) -> Map<String, Json> {
    let preamble = message.preamble();
    map([
        ("version", preamble.version.get().into()),
        ("flags", preamble.flags.get().into()),
        ("flag_names", json!(message_flags(message.flags()))),
        ("reserved", preamble.reserved.get().into()),
        ("total_length", preamble.total_length.get().into()),
    ])
}

fn postamble(message: &Message<'_>) -> Option<Map<String, Json>> {
    message.postamble().map(|postamble| {
        map([
            ("first_footer_offset", postamble.first_footer_offset.get().into()),
            ("total_length", postamble.total_length.get().into()),
        ])
    })
}

/// Positions in bytes from the message's start, and the method of each mask.
fn layout(object: &DataObject<'_>) -> Map<String, Json> {
    let start = object.region_offset();
    let masks = object.descriptor().masks().iter().map(|(kind, mask)| {
        json!({
            "kind": kind.name(),
            "method": mask.method().to_string(),
            "offset": start + mask.offset(),
            "length": mask.length(),
        })
    });
    map([
        ("frame_offset", object.frame().offset().into()),
        ("payload_offset", start.into()),
        ("payload_length", object.payload().len().into()),
        ("descriptor_offset", object.descriptor().offset().into()),
        ("descriptor_length", object.descriptor().as_encoded().len().into()),
        ("decoded_length", object.descriptor().decoded_len().map_or(Json::Null, Json::from)),
        ("ratio", ratio(object).map_or(Json::Null, Json::from)),
        ("masks", masks.collect()),
    ])
}

/// Decoded length divided by payload length, to two places. `None` without a payload.
#[expect(clippy::cast_precision_loss, reason = "two places are shown")]
fn ratio(object: &DataObject<'_>) -> Option<f64> {
    let (decoded, stored) = (object.descriptor().decoded_len().ok()?, object.payload().len());
    (stored > 0).then(|| (decoded as f64 / stored as f64 * 100.0).round() / 100.0)
}

fn map<const N: usize>(entries: [(&str, Json); N]) -> Map<String, Json> {
    entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}
