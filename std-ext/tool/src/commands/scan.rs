//! `tgm ls --scan`: positions of messages, and of the bytes between them.

use std::io::{self, Write as _};
use std::path::Path;

use clap::Args;
use serde_json::Value as Json;
use tgm_core::scan::Segment;

use crate::args::files::Files;
use crate::args::listing::Listed;
use crate::commands::{Run, examples};
use crate::read::entry::end_of;
use crate::read::input::Input;
use crate::read::lost;
use crate::read::opening::open_or_report;
use crate::read::streamed::{Next, Streamed, is_stream};
use crate::show::json::{self, Document};
use crate::show::output::Out;
use crate::show::table::{Column, Table};

/// List the positions of messages, and of bytes that belong to none
///
/// The exit code is 1 if bytes belong to no message.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm ls --scan --csv damaged.tgm", "where messages are, and what lies between them")]))]
pub(crate) struct Scan {
    #[command(flatten)]
    files: Files,
}

/// A part of a file.
struct ScanRow {
    kind: &'static str,
    message: Option<usize>,
    offset: u64,
    length: u64,
    note: Option<String>,
}

impl Run for Scan {
    fn listed(&self) -> Listed<'_> {
        self.files.listed()
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = self.files.json().then(|| Document::begin(out, "tgm.scan/1", "segments")).transpose()?;
        let file_column = (self.files.paths.len() > 1).then_some(Column::left("file"));
        let mut table = Table::new(file_column.into_iter().chain([
            Column::left("kind"),
            Column::right("message"),
            Column::right("offset"),
            Column::right("length"),
            Column::left("note").optional(),
        ]));
        self.for_each_part(out, |out, part| {
            let Some((file, part)) = part else { return table.pause(out) };
            if let Some(document) = &mut document {
                return document.item(out, &part.to_json(file));
            }
            let file = file_column.map(|_| file.into());
            let message = part.message.map_or(String::new(), |index| index.to_string());
            let cells = [part.kind.into(), message.into(), part.offset.into(), part.length.into()];
            let note = part.note.unwrap_or_default().into();
            table.row(out, file.into_iter().chain(cells).chain([note]).collect())
        })?;
        table.finish(out)?;
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Scan {
    /// Calls `with` for each part of each file, with the file's name, and with `None` when a stream pauses.
    fn for_each_part(
        &self,
        out: &mut Out,
        mut with: impl FnMut(&mut Out, Option<(&str, ScanRow)>) -> io::Result<()>,
    ) -> io::Result<()> {
        for path in &self.files.paths {
            if is_stream(path) {
                for_each_streamed(path, out, &mut with)?;
                continue;
            }
            let Some(input) = open_or_report(path, out) else { continue };
            let mut messages = 0..;
            for segment in input.segments() {
                let message = if segment.is_message() { messages.next() } else { None };
                let (length, end) = (segment.length(), end_of(segment));
                input.progress.take_up(end, length, message.map_or(messages.start, |message| message + 1));
                with(out, Some((input.name(), ScanRow::of(&input, segment, message))))?;
            }
        }
        Ok(())
    }
}

/// The parts of a stream, each when its end has come.
fn for_each_streamed(
    path: &Path,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, Option<(&str, ScanRow)>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(mut stream) = Streamed::open_or_report(path, out) else { return Ok(()) };
    let name = stream.name().to_string();
    while let Some(next) = stream.next_or_report(out) {
        let row = match next {
            Next::Message(entry) => {
                let (offset, length) = (entry.offset, entry.length());
                ScanRow { kind: "message", message: entry.index.0, offset, length, note: None }
            }
            Next::Lost(stray) => {
                let (offset, length) = (stray.offset, stray.length);
                ScanRow { kind: "junk", message: None, offset, length, note: stray.note() }
            }
            Next::Pause => {
                with(out, None)?;
                out.flush()?;
                continue;
            }
        };
        with(out, Some((&name, row)))?;
    }
    Ok(())
}

impl ScanRow {
    fn of(input: &Input, segment: &Segment, message: Option<usize>) -> Self {
        Self {
            kind: if message.is_some() { "message" } else { "junk" },
            message,
            offset: segment.offset(),
            length: segment.length(),
            note: if message.is_some() { None } else { lost::note(input, segment) },
        }
    }

    fn to_json(&self, file: &str) -> Json {
        json::object([
            ("file", Some(file.into())),
            ("kind", Some(self.kind.into())),
            ("message", self.message.map(Json::from)),
            ("offset", Some(self.offset.into())),
            ("length", Some(self.length.into())),
            ("note", self.note.as_deref().map(Json::from)),
        ])
    }
}
