//! `tgm set`: new values for metadata keys.

use std::io;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use tgm_core::Message;
use tgm_std::Result;

use crate::args::files::usage;
use crate::change::assign::Assignment;
use crate::change::edit::MessageParts;
use crate::commands::Run;
use crate::read::digests::Digests;
use crate::read::input::{Entry, Wanted, open_or_report};
use crate::read::messages::Which;
use crate::read::select::Selection;
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, Reads, What};

/// Set metadata keys, leaving payloads and masks as they are
///
/// KEY is a dotted path in the metadata of every object, or of the objects that --object names. extra.KEY is in the
/// message's annotations, objects.N.KEY in the descriptor of object N. Only a map can replace a map. Keys that describe
/// payloads, and keys that the library writes, cannot be set.
///
/// Changed messages are written buffered, with a new uuid, time and encoder, and with digests if they had some. All
/// else is copied unchanged: messages that are not selected or not changed, unreadable messages, messages with a wrong
/// digest, and bytes that belong to no message. The last three make the exit code 1. OUT may be IN. If -m or --at names
/// a message that is not there, nothing is written.
#[derive(Args, Debug)]
pub(crate) struct Set {
    /// What to set; values are text
    #[arg(short, long = "set", value_name = "KEY=VALUE,...", required = true)]
    set: Vec<String>,
    /// Values are JSON: numbers, true, null, "text", [...], {...}
    #[arg(long)]
    json_values: bool,
    #[command(flatten)]
    which: Which,
    /// Only in the metadata of this object of each message, from 0; may be repeated
    #[arg(long = "object", value_name = "N")]
    objects: Vec<usize>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    digests: Digests,
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write; appears when it is complete; "-" is standard output
    #[arg(value_name = "OUT")]
    output: Destination,
}

impl Run for Set {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let parse = if self.json_values { Assignment::parse_json } else { Assignment::parse_texts };
        let assignments = self.set.iter().map(|list| parse(list)).collect::<Result<Vec<_>, _>>();
        let assignments: Vec<_> = assignments.unwrap_or_else(|text| usage(&text)).into_iter().flatten().collect();
        if !self.objects.is_empty() {
            assignments.iter().try_for_each(Assignment::check_is_of_objects).unwrap_or_else(|text| usage(&text));
        }
        let Some(input) = open_or_report(&self.input, out) else { return Ok(()) };
        let Some(numbers) = self.which.of(&input, out) else { return Ok(()) };
        let reads = Reads::AndReplaces(slice::from_ref(&self.input));
        self.output.write(out, What::Messages, reads, |out, file| {
            let (mut places, mut reader) = (input.all().peekable(), input.reader());
            for segment in input.segments() {
                let Some(place) = places.next_if(|place| place.offset == segment.offset()) else {
                    input.copy(segment.offset(), segment.length(), file)?;
                    continue;
                };
                let entry = reader.entry(place, Wanted::Whole);
                let entry = entry.map_err(Failure::at(format!("{}: message {}", input.name(), place.index)))?;
                let changed = if numbers.contains(&entry.index) { self.change(&entry, &assignments) } else { Ok(None) };
                let changed = changed.unwrap_or_else(|error| {
                    out.report(&entry.place(), &error);
                    None
                });
                file.write_all(changed.as_deref().unwrap_or(entry.bytes))?;
            }
            Ok(())
        });
        Ok(())
    }
}

impl Set {
    /// The message with the new values. `None` if it is not selected or not changed.
    fn change(&self, entry: &Entry<'_>, assignments: &[Assignment]) -> Result<Option<Vec<u8>>> {
        if !self.selection.is_empty() {
            let message = Message::parse(entry.bytes)?;
            if !self.selection.has(&message.metadata()?)? {
                self.digests.check_all(&message)?;
                return Ok(None);
            }
        }
        let mut parts = MessageParts::of(entry, self.digests)?;
        let before = (parts.metadata.clone(), parts.params());
        assignments.iter().try_for_each(|assignment| assignment.apply(&mut parts, &self.objects))?;
        if before == (parts.metadata.clone(), parts.params()) {
            return Ok(None);
        }
        parts.into_message().map(Some)
    }
}
