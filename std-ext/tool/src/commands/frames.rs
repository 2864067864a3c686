//! `tgm ls --frames`: the raw frames of messages; of damaged messages up to the damage.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::scan::find;
use tgm_core::wire::MAGIC;
use tgm_std::TensogramError;

use crate::args::listing::{Listed, TextFlags};
use crate::commands::frame_list::FrameList;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::input::{Input, MessagePart};
use crate::show::advice::in_our_words;
use crate::show::json::{self, Document, error_json};
use crate::show::output::{Out, Style};
use crate::show::text::escape;

/// List the frames of messages: position, length, digest, flags
///
/// For damaged messages, and for bytes that only begin like a message, the frames up to the damage are listed. --at may
/// name these too.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm ls --frames damaged.tgm", "frames, also of damaged messages")]))]
pub(crate) struct FramesOf {
    /// Files or addresses to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    text: TextFlags,
    #[command(flatten)]
    chosen: Chosen,
}

/// The frames of a part, and the first error.
type Listing = (FrameList, Option<TensogramError>);

/// Shows a part, and reports its error.
fn show(out: &mut Out, document: &mut Option<Document>, part: Option<(FramesPart<'_>, Listing)>) -> io::Result<()> {
    let Some((part, (list, error))) = part else { return Ok(()) };
    if let Some(error) = &error {
        out.report(&part.place(), error);
    }
    match document {
        Some(document) => document.item(out, &part.item(&list, error.as_ref())),
        None => part.print(out, &list, error.as_ref()),
    }
}

/// A message, or bytes that begin like one.
struct FramesPart<'f> {
    file: &'f str,
    message: Option<usize>,
    offset: u64,
    /// Number of start magics in the part. Start magics that follow each other without any frame are joined into one
    /// part: each takes 8 bytes of the file, and would take hundreds of bytes of output.
    beginnings: u64,
    length: u64,
}

impl Run for FramesOf {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = self.text.json().then(|| Document::begin(out, "tgm.frames/1", "messages")).transpose()?;
        for path in &self.paths {
            let asked = self.chosen.asked();
            let Some(input) = asked.open_or_report(path, out) else { continue };
            let mut run: Option<(FramesPart<'_>, Listing)> = None;
            self.for_each_part(&input, out, |out, part, found| {
                match &mut run {
                    Some((last, _)) if part.adds_nothing(&found) && last.is_followed_by(&part) => last.extend(&part),
                    _ => {
                        show(out, &mut document, run.take())?;
                        if part.adds_nothing(&found) {
                            run = Some((part, found));
                        } else {
                            show(out, &mut document, Some((part, found)))?;
                        }
                    }
                }
                Ok(())
            })?;
            show(out, &mut document, run)?;
        }
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl FramesOf {
    /// Calls `with` for each message of a file, and for each start magic in the bytes between them.
    fn for_each_part<'f>(
        &self,
        input: &'f Input,
        out: &mut Out,
        mut with: impl FnMut(&mut Out, FramesPart<'f>, Listing) -> io::Result<()>,
    ) -> io::Result<()> {
        let is_damaged = input.segments().iter().any(|lost| self.chosen.choice.is_in(lost) && !lost.is_message());
        let places = if is_damaged { Vec::new() } else { self.chosen.choice.of(input, out).unwrap_or_default() };
        let (mut places, mut reader) = (places.into_iter().peekable(), input.reader());
        for segment in input.segments() {
            let offset = segment.offset();
            if let Some(place) = places.next_if(|place| place.offset == offset) {
                match reader.entry(place, MessagePart::Outline) {
                    Ok(entry) if !self.chosen.picks(out, &entry) => {}
                    Ok(entry) => {
                        let part = FramesPart::new(input, Some(place.index), offset, entry.bytes);
                        with(out, part, frames(entry.bytes))?;
                    }
                    Err(error) => {
                        if input.report_unread(out, place, places.len(), &error) {
                            return Ok(());
                        }
                    }
                }
            } else if !segment.is_message()
                && self.chosen.selection.is_empty()
                && (!self.chosen.choice.is_one() || self.chosen.choice.is_in(segment))
            {
                let bytes = match input.bytes(offset, segment.length()) {
                    Ok(bytes) => bytes,
                    Err(error) => {
                        out.report(input.name(), &error);
                        return Ok(());
                    }
                };
                let (mut found, parts) = (false, beginnings(&bytes));
                for (start, bytes) in parts {
                    let offset = offset + start;
                    if !self.chosen.choice.is_one() || self.chosen.choice.is_at(offset) {
                        found = true;
                        with(out, FramesPart::new(input, None, offset, bytes), frames(bytes))?;
                    }
                }
                if self.chosen.choice.is_one() && !found {
                    self.chosen.choice.of(input, out);
                }
            }
        }
        Ok(())
    }
}

/// The positions of start magics in `bytes`, each with the bytes up to the next one.
fn beginnings(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut beginnings = Vec::new();
    let mut position = 0_usize;
    while let Some(rest) = bytes.get(position..)
        && let Some(gap) = find(rest, MAGIC)
        && let Some(from_magic) = rest.get(gap..)
    {
        let behind = from_magic.get(MAGIC.len()..).unwrap_or_default();
        let len = find(behind, MAGIC).map_or(from_magic.len(), |next| next + MAGIC.len());
        beginnings.push(((position + gap) as u64, from_magic.get(..len).unwrap_or_default()));
        position += gap + len;
    }
    beginnings
}

/// The frames of bytes that begin like a message.
fn frames(bytes: &[u8]) -> Listing {
    match Message::parse(bytes) {
        Ok(message) => {
            let mut list = FrameList::of(&message);
            let error = list.error.take();
            (list, error)
        }
        Err(error) => (FrameList::of_damaged(bytes), Some(error.into())),
    }
}

impl<'f> FramesPart<'f> {
    fn new(input: &'f Input, message: Option<usize>, offset: u64, bytes: &[u8]) -> Self {
        Self { file: input.name(), message, offset, beginnings: 1, length: bytes.len() as u64 }
    }

    fn place(&self) -> String {
        match self.message {
            Some(message) => format!("{}: message {message}", self.file),
            None if self.beginnings > 1 => {
                format!("{}: {} damaged messages from byte {} on", self.file, self.beginnings, self.offset)
            }
            None => format!("{}: damaged message at byte {}", self.file, self.offset),
        }
    }

    /// Whether the part has a start magic and nothing else.
    fn adds_nothing(&self, (list, _): &Listing) -> bool {
        self.message.is_none() && list.frames.is_empty()
    }

    const fn is_followed_by(&self, next: &Self) -> bool {
        self.offset + self.length == next.offset
    }

    /// Joins the next part to this one.
    const fn extend(&mut self, next: &Self) {
        self.beginnings += 1;
        self.length += next.length;
    }

    fn print(&self, out: &mut Out, list: &FrameList, error: Option<&TensogramError>) -> io::Result<()> {
        let title = format!("{}: {} bytes at {}", self.place(), self.length, self.offset);
        out.styled(Style::Heading, &escape(&title))?;
        writeln!(out)?;
        list.print(out, "  ")?;
        for error in [error, list.error.as_ref()].into_iter().flatten() {
            out.styled(Style::Bad, &format!("  {}", escape(&in_our_words(error))))?;
            writeln!(out)?;
        }
        writeln!(out)
    }

    fn item(&self, list: &FrameList, error: Option<&TensogramError>) -> Json {
        json::object([
            ("file", Some(self.file.into())),
            ("message", self.message.map(Json::from)),
            ("offset", Some(self.offset.into())),
            ("length", Some(self.length.into())),
            ("beginnings", (self.beginnings > 1).then(|| self.beginnings.into())),
            ("frames", Some(list.to_json())),
            ("error", error.map(error_json)),
            ("walk_error", list.error.as_ref().map(error_json)),
        ])
    }
}
