//! `tgm dump`: all structure and metadata of messages, without payloads.

use std::io;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value as Json, json};
use tgm_core::Message;
use tgm_std::TensogramError;

use crate::args::listing::{Listed, TextFlags};
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::dump_contents::Contents;
use crate::commands::dump_text;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::entry::Entry;
use crate::read::input::MessagePart;
use crate::read::messages::for_each_message;
use crate::read::select::Scope;
use crate::read::structure::Structure;
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;

/// Show everything about messages but their values
///
/// Flags, frames, metadata, objects with all parameters, and masks.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm dump --object 0 field.tgm", "one object and all about its message"),
    ("tgm dump -m 1 --json three.tgm", "one message, for programs"),
]))]
pub(crate) struct Dump {
    /// Files or addresses to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    text: TextFlags,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Only the values of these keys, missing ones left out
    #[arg(short = 'p', long = "keys", value_name = "KEY,...", value_delimiter = ',')]
    keys: Vec<String>,
}

impl Run for Dump {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = self.text.json().then(|| Document::begin(out, "tgm.dump/1", "messages")).transpose()?;
        let mut is_void = true;
        for_each_message(&self.paths, self.chosen.asked(), MessagePart::Outline, out, |out, entry| {
            let Some(contents) = self.read(entry).transpose() else { return Ok(()) };
            report(out, entry, &contents);
            is_void &= !self.has_content(&contents);
            match (&mut document, contents) {
                (Some(document), contents) => document.item(out, &item(entry, contents)),
                (None, Ok(Shown::All(contents))) => dump_text::print(out, entry, &contents),
                (None, Ok(Shown::Keys(values))) => dump_text::print_keys(out, entry, &values),
                (None, Err(_)) => dump_text::print_unreadable(out, entry),
            }
        })?;
        if is_void {
            out.note_void();
        }
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Dump {
    /// Whether a message has what was asked for.
    fn has_content(&self, shown: &Result<Shown, TensogramError>) -> bool {
        match shown {
            Ok(Shown::All(contents)) => self.only.numbers().is_empty() || contents.shown().next().is_some(),
            Ok(Shown::Keys(values)) => !values.is_empty(),
            Err(_) => false,
        }
    }

    fn read(&self, entry: &Entry<'_>) -> Result<Option<Shown>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        if self.chosen.selection.is_empty() && self.keys.is_empty() {
            return Ok(Some(Shown::All(Box::new(Contents::of(&message, &self.only, self.chosen.digests)))));
        }
        let metadata = self.chosen.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        let scope = Scope::Message(&metadata, structure);
        if !self.chosen.selection.has(&metadata, structure)? {
            return Ok(None);
        }
        if self.keys.is_empty() {
            return Ok(Some(Shown::All(Box::new(Contents::of(&message, &self.only, self.chosen.digests)))));
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
