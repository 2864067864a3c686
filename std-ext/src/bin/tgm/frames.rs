//! `tgm frames`: the raw frames of messages, of damaged ones as far as they go.

use std::io::{self, Write};

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::scan::{Segment, find};
use tgm_core::wire::MAGIC;
use tgm_std::TensogramError;

use crate::advice::in_our_words;
use crate::cli::Files;
use crate::frame_list::FrameList;
use crate::input::{Input, open_or_report, report_no_message};
use crate::json::{self, Document, error_json};
use crate::output::{Out, Style};
use crate::text::escape;

/// List the frames of messages: where they are, how long, their digests and flags
///
/// Of damaged messages, and of what only begins like one, the frames up to the damage are listed.
#[derive(Args, Debug)]
pub(crate) struct FramesOf {
    #[command(flatten)]
    files: Files,
}

/// A message, or what begins like one.
struct Part<'f> {
    file: &'f str,
    message: Option<usize>,
    offset: u64,
    bytes: &'f [u8],
}

impl FramesOf {
    /// Lists the frames of all files.
    pub(crate) fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = if self.files.json { Some(Document::begin(out, "tgm.frames/1", "messages")?) } else { None };
        for path in &self.files.paths {
            let Some(input) = open_or_report(path, out) else { continue };
            report_no_message(&input, out);
            for part in parts(&input) {
                let (list, error) = part.frames();
                if let Some(error) = &error {
                    out.report(&part.place(), error);
                }
                match &mut document {
                    Some(document) => document.item(out, &part.item(&list, error.as_ref()))?,
                    None => part.print(out, &list, error.as_ref())?,
                }
            }
        }
        document.map_or(Ok(()), |document| document.end(out))
    }
}

/// The messages of a file, and what begins like one in the bytes between them.
fn parts(input: &Input) -> impl Iterator<Item = Part<'_>> {
    let mut messages = 0..;
    input.segments().iter().flat_map(move |segment| {
        let message = if segment.is_message() { messages.next() } else { None };
        let bytes = input.bytes_of(segment);
        let starts = if message.is_some() { vec![(0, bytes)] } else { beginnings(bytes) };
        let of = |(start, bytes)| part(input, segment, message, start, bytes);
        starts.into_iter().map(of).collect::<Vec<_>>()
    })
}

fn part<'f>(input: &'f Input, segment: &Segment, message: Option<usize>, start: u64, bytes: &'f [u8]) -> Part<'f> {
    Part { file: input.name(), message, offset: segment.offset().saturating_add(start), bytes }
}

/// Where start magics stand in `bytes`, each with the bytes up to the next.
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

impl Part<'_> {
    fn place(&self) -> String {
        match self.message {
            Some(message) => format!("{}: message {message}", self.file),
            None => format!("{}: damaged message at byte {}", self.file, self.offset),
        }
    }

    /// The frames, and the first thing that is wrong.
    fn frames(&self) -> (FrameList, Option<TensogramError>) {
        match Message::parse(self.bytes) {
            Ok(message) => {
                let mut list = FrameList::of(&message);
                let error = list.error.take();
                (list, error)
            }
            Err(error) => (FrameList::of_damaged(self.bytes), Some(error.into())),
        }
    }

    fn print(&self, out: &mut Out, list: &FrameList, error: Option<&TensogramError>) -> io::Result<()> {
        let title = format!("{}: {} bytes at {}", self.place(), self.bytes.len(), self.offset);
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
            ("length", Some(self.bytes.len().into())),
            ("frames", Some(list.to_json())),
            ("error", error.map(error_json)),
            ("walk_error", list.error.as_ref().map(error_json)),
        ])
    }
}
