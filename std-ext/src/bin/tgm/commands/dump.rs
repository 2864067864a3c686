//! `tgm dump`: all structure and metadata of messages, without payloads.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value as Json, json};
use tgm_core::Message;
use tgm_core::cbor::Value;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_core::object::DataObject;
use tgm_std::TensogramError;

use crate::args::listing::{Listed, TextFlags};
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::Run;
use crate::commands::dump_text;
use crate::commands::frame_list::FrameList;
use crate::read::input::{Entry, Wanted, for_each_message};
use crate::read::messages::Which;
use crate::read::select::{Scope, Selection};
use crate::read::structure::Structure;
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;
use crate::show::wire_flags::message_flags;

/// Show everything about messages but their values
///
/// Flags, frames, metadata, objects with all parameters, and masks.
#[derive(Args, Debug)]
pub(crate) struct Dump {
    /// Files or addresses to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    text: TextFlags,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Only the values of these keys, missing ones left out
    #[arg(short = 'p', long = "keys", value_name = "KEY,...", value_delimiter = ',')]
    keys: Vec<String>,
}

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
    errors: Vec<(Option<usize>, TensogramError)>,
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

impl Run for Dump {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = if self.text.json() { Some(Document::begin(out, "tgm.dump/1", "messages")?) } else { None };
        for_each_message(&self.paths, self.which, Wanted::Outline, out, |out, entry| {
            let Some(contents) = self.read(entry).transpose() else { return Ok(()) };
            report(out, entry, &contents);
            match (&mut document, contents) {
                (Some(document), contents) => document.item(out, &item(entry, contents)),
                (None, Ok(Shown::All(contents))) => dump_text::print(out, entry, &contents),
                (None, Ok(Shown::Keys(values))) => dump_text::print_keys(out, entry, &values),
                (None, Err(_)) => dump_text::print_unreadable(out, entry),
            }
        })?;
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Dump {
    fn read(&self, entry: &Entry<'_>) -> Result<Option<Shown>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        if self.selection.is_empty() && self.keys.is_empty() {
            return Ok(Some(Shown::All(Box::new(Contents::of(&message, &self.only)))));
        }
        let metadata = message.metadata()?;
        let structure = Structure::new(&message, entry);
        let scope = Scope::Message(&metadata, structure);
        if !self.selection.has(&metadata, structure)? {
            return Ok(None);
        }
        if self.keys.is_empty() {
            return Ok(Some(Shown::All(Box::new(Contents::of(&message, &self.only)))));
        }
        let mut values = Map::new();
        for key in &self.keys {
            values.extend(scope.get(key)?.map(|value| (key.clone(), value)));
        }
        Ok(Some(Shown::Keys(values)))
    }
}

/// Either all of a message, or the values of some keys.
enum Shown {
    All(Box<Contents>),
    Keys(Map<String, Json>),
}

fn report(out: &mut Out, entry: &Entry<'_>, shown: &Result<Shown, TensogramError>) {
    match shown {
        Err(error) => out.report(&entry.place(), error),
        Ok(Shown::Keys(_)) => {}
        Ok(Shown::All(contents)) => {
            for (object, error) in &contents.errors {
                out.report(&object.map_or(entry.place(), |object| entry.object_place(object)), error);
            }
        }
    }
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
    pub(crate) fn of(message: &Message<'_>, only: &ObjectNumbers) -> Self {
        let mut contents =
            Self { only: only.clone(), preamble: preamble(message), postamble: postamble(message), ..Self::default() };
        let mut frames = FrameList::of(message);
        let walk_error = frames.error.take();
        let is_walked = walk_error.is_none();
        contents.errors.extend(walk_error.map(|error| (None, error)));
        contents.frames = Some(frames);
        let metadata = message.metadata();
        if let Err(error) =
            metadata.as_ref().map_err(|&error| error).and_then(|metadata| contents.read_metadata(metadata))
            && is_walked
        {
            contents.errors.push((None, error.into()));
        }
        contents.read_objects(message, metadata.as_ref().ok());
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

    fn to_json(&self, index: usize) -> Json {
        json::object([
            ("object", Some(index.into())),
            ("descriptor", self.descriptor.clone()),
            ("metadata", self.metadata.clone()),
            ("layout", Some(Json::Object(self.layout.clone()))),
        ])
    }
}

fn item(entry: &Entry<'_>, contents: Result<Shown, TensogramError>) -> Json {
    let place = [
        ("file", Some(entry.file.into())),
        ("message", Some(entry.index.into())),
        ("offset", Some(entry.offset.into())),
        ("length", Some(entry.length().into())),
    ];
    let rest = match contents {
        Ok(Shown::All(contents)) => {
            let objects = contents.shown().map(|(i, object)| object.to_json(i)).collect();
            vec![
                ("preamble", Some(Json::Object(contents.preamble))),
                ("postamble", contents.postamble.map(Json::Object)),
                ("frames", contents.frames.map(|frames| frames.to_json())),
                ("extra", contents.extra),
                ("reserved", contents.reserved),
                ("objects", Some(objects)),
                ("errors", errors_json(&contents.errors)),
            ]
        }
        Ok(Shown::Keys(values)) => vec![("values", Some(Json::Object(values)))],
        Err(error) => vec![("errors", Some(json!([error_json(&error)])))],
    };
    json::object(place.into_iter().chain(rest))
}

/// The errors, each with its object. `None` without errors.
fn errors_json(errors: &[(Option<usize>, TensogramError)]) -> Option<Json> {
    let one = |(object, error): &(Option<usize>, TensogramError)| {
        let mut entry = error_json(error);
        if let (Some(object), Some(map)) = (object, entry.as_object_mut()) {
            map.insert("object".into(), (*object).into());
        }
        entry
    };
    (!errors.is_empty()).then(|| errors.iter().map(one).collect())
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
            "offset": start.saturating_add(mask.offset()),
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
