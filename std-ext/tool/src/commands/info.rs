//! `tgm ls --summary`: a summary of each file.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clap::Args;
use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::metadata::Metadata;
use tgm_std::{TensogramError, WIRE_VERSION};

use crate::args::files::Files;
use crate::args::listing::Listed;
use crate::commands::{Run, examples};
use crate::read::candidates::Level;
use crate::read::cataloged::Asked;
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::input::{Input, MessagePart};
use crate::read::select::Selection;
use crate::show::json::{self, Document};
use crate::show::output::Out;
use crate::show::table::{Cell, Column, Table};
use crate::show::text::escape;

/// Summarize files: messages, objects, junk, writers and times
///
/// With --csv, --sort or --limit each file is a row.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm ls --summary field.tgm three.tgm", "what each file holds")]))]
pub(crate) struct Info {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    digests: Digests,
}

/// Counts over one file.
#[derive(Default)]
struct FileContents {
    bytes: u64,
    messages: usize,
    streamed: usize,
    unreadable: usize,
    objects: usize,
    junk: u64,
    /// Number of messages for each encoder. The name is empty if a message names none.
    encoders: BTreeMap<String, usize>,
    first_time: Option<String>,
    last_time: Option<String>,
}

impl Run for Info {
    fn listed(&self) -> Listed<'_> {
        self.files.listed()
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = self.files.json().then(|| Document::begin(out, "tgm.info/1", "files")).transpose()?;
        let has_rows = document.is_none() && self.files.listing.is_about_rows();
        let numbers = ["messages", "objects", "bytes", "junk"].map(Column::right);
        let texts = ["encoder", "first", "last"].map(Column::left);
        let mut table = Table::new([Column::left("file")].into_iter().chain(numbers).chain(texts));
        let asked = Asked::new(MessageChoice::default(), &self.selection, Level::Messages);
        for path in &self.files.paths {
            let Some(input) = asked.open_or_report(path, out) else { continue };
            let contents = FileContents::of(&input, (&self.selection, self.digests), out)?;
            match &mut document {
                Some(document) => document.item(out, &contents.to_json(input.name()))?,
                None if has_rows => table.row(out, contents.cells(input.name()))?,
                None => contents.print(out, input.name())?,
            }
        }
        if has_rows {
            table.finish(out)?;
        }
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl FileContents {
    fn of(input: &Input, (selection, digests): (&Selection, Digests), out: &mut Out) -> io::Result<Self> {
        let segments = input.segments().iter();
        let junk = segments.filter(|segment| !segment.is_message()).map(tgm_core::scan::Segment::length).sum();
        let places: Vec<_> = input.all().filter(|place| input.can_be(place.index)).collect();
        let (count, mut read) = (places.len(), 0);
        let mut contents = Self { bytes: input.len(), messages: count, junk, ..Self::default() };
        input.for_each(out, places, MessagePart::Outline, |out, entry| {
            read += 1;
            if !selection.picks(out, entry, digests) {
                contents.messages -= 1;
                return Ok(());
            }
            if let Err(error) = contents.count(entry.bytes, digests) {
                contents.unreadable += 1;
                out.report(&entry.place(), &error);
            }
            Ok(())
        })?;
        contents.unreadable += count - read;
        Ok(contents)
    }

    fn count(&mut self, bytes: &[u8], digests: Digests) -> Result<(), TensogramError> {
        let message = Message::parse(bytes)?;
        self.streamed += usize::from(message.total_length().is_none());
        let outline = message.outline()?;
        self.objects += outline.object_count;
        let metadata = digests.metadata(&message)?;
        *self.encoders.entry(encoder(metadata.frame())?).or_default() += 1;
        let Some(time) = reserved_text(metadata.frame(), &["time"])? else { return Ok(()) };
        // Times in this notation sort as text.
        if self.first_time.as_ref().is_none_or(|first| time < *first) {
            self.first_time = Some(time.clone());
        }
        if self.last_time.as_ref().is_none_or(|last| time > *last) {
            self.last_time = Some(time);
        }
        Ok(())
    }

    /// The cells of the file's row.
    fn cells(&self, name: &str) -> Vec<Cell> {
        let encoders: Vec<_> = self.encoders.keys().filter(|name| !name.is_empty()).cloned().collect();
        let time = |time: &Option<String>| Cell::from(time.clone().unwrap_or_default());
        let numbers = [self.messages.into(), self.objects.into(), self.bytes.into(), self.junk.into()];
        let texts = [encoders.join(", ").into(), time(&self.first_time), time(&self.last_time)];
        [name.into()].into_iter().chain(numbers).chain(texts).collect()
    }

    fn print(&self, out: &mut Out, name: &str) -> io::Result<()> {
        writeln!(out, "File: {}", escape(name))?;
        let kinds = match (self.messages, self.streamed) {
            (_, 0) => String::new(),
            (messages, streamed) if messages == streamed => " (streamed)".into(),
            (_, streamed) => format!(" ({streamed} of them streamed)"),
        };
        writeln!(out, "  Messages: {}{kinds}", self.messages)?;
        if self.unreadable > 0 {
            writeln!(out, "  Unreadable: {} of them", self.unreadable)?;
        }
        writeln!(out, "  Objects: {}", self.objects)?;
        writeln!(out, "  Size: {} bytes", self.bytes)?;
        if self.junk > 0 {
            writeln!(out, "  Junk: {} bytes belong to no message (see tgm scan)", self.junk)?;
        }
        if self.messages > 0 {
            writeln!(out, "  Version: {WIRE_VERSION}")?;
        }
        for (encoder, messages) in &self.encoders {
            let name = if encoder.is_empty() { "unknown" } else { encoder };
            let share = if self.encoders.len() > 1 { format!(" ({messages} of the messages)") } else { String::new() };
            writeln!(out, "  Encoder: {}{share}", escape(name))?;
        }
        match (&self.first_time, &self.last_time) {
            (Some(first), Some(last)) if first != last => {
                writeln!(out, "  Written: {} to {}", escape(first), escape(last))?;
            }
            (Some(time), _) => writeln!(out, "  Written: {}", escape(time))?,
            _ => {}
        }
        writeln!(out)
    }

    fn to_json(&self, name: &str) -> Json {
        let named = |(name, messages): (&String, &usize)| {
            let name = (!name.is_empty()).then_some(name);
            json!({"encoder": name, "messages": messages})
        };
        json::object([
            ("file", Some(name.into())),
            ("bytes", Some(self.bytes.into())),
            ("messages", Some(self.messages.into())),
            ("streamed", Some(self.streamed.into())),
            ("unreadable", Some(self.unreadable.into())),
            ("objects", Some(self.objects.into())),
            ("junk", Some(self.junk.into())),
            ("version", (self.messages > 0).then(|| WIRE_VERSION.into())),
            ("encoders", Some(self.encoders.iter().map(named).collect())),
            ("first_time", self.first_time.clone().map(Json::from)),
            ("last_time", self.last_time.clone().map(Json::from)),
        ])
    }
}

/// Name and release of the encoder, if the message has them.
fn encoder(metadata: &Metadata<'_>) -> tgm_core::Result<String> {
    let parts = [reserved_text(metadata, &["encoder", "name"])?, reserved_text(metadata, &["encoder", "version"])?];
    Ok(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// A text in `_reserved_` of the message.
fn reserved_text(metadata: &Metadata<'_>, path: &[&str]) -> tgm_core::Result<Option<String>> {
    let mut map = metadata.reserved();
    let mut found = None;
    for key in path {
        found = map.get(key)?;
        map = found.and_then(|value| value.as_map().ok()).unwrap_or(tgm_core::cbor::Map::EMPTY);
    }
    Ok(found.and_then(|value| value.as_text().ok()).map(|text| text.to_string()))
}
