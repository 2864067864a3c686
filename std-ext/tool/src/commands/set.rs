//! `tgm set`: new values for metadata keys.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use tgm_core::Message;
use tgm_std::Result;

use crate::args::RARE;
use crate::args::files::usage;
use crate::args::object_numbers::ObjectNumbers;
use crate::args::placed::Placed;
use crate::change::assign::Assignment;
use crate::change::edit::MessageParts;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::entry::Entry;
use crate::read::input::MessagePart;
use crate::read::opening::open_or_report;
use crate::read::structure::Structure;
use crate::read::threads::thread_count;
use crate::show::output::Out;
use crate::write::destination::{Failure, OutputKind, Reads};

/// Set and delete metadata keys, leaving payloads and masks as they are
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
#[command(after_help = examples(&[
    ("tgm set -s mars.step=6,mars.expver:s=0001 field.tgm out.tgm", "a number and a text"),
    ("tgm set --objects -w mars.param=tp -s unit=m -d units field.tgm out.tgm", "of some objects"),
]))]
pub(crate) struct Set {
    /// What to set; values are JSON (5 is an integer), and text otherwise; KEY:s=VALUE is text, KEY:i= an
    /// integer, KEY:d= a float
    #[arg(short, long = "set", value_name = "KEY=VALUE,...", required_unless_present = "delete")]
    set: Vec<String>,
    /// Keys to delete, with all that is below them, before others are set
    #[arg(short, long, value_name = "KEY,...")]
    delete: Vec<String>,
    /// Values must be JSON: numbers, true, null, "text", [...], {...}
    #[arg(long, help_heading = RARE)]
    json_values: bool,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Apply -w to each object by itself, and change the metadata of these objects alone
    #[arg(long)]
    objects: bool,
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    output: Placed,
}

impl Run for Set {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let parse = if self.json_values { Assignment::parse_json } else { Assignment::parse };
        let deleted = self.delete.iter().map(|list| Assignment::parse_deleted(list));
        let assignments = deleted.chain(self.set.iter().map(|list| parse(list))).collect::<Result<Vec<_>, _>>();
        let assignments: Vec<_> = assignments.unwrap_or_else(|text| usage(&text)).into_iter().flatten().collect();
        if self.objects || !self.only.numbers().is_empty() {
            assignments.iter().try_for_each(Assignment::check_is_of_objects).unwrap_or_else(|text| usage(&text));
        }
        let Some(input) = open_or_report(&self.input, out) else { return Ok(()) };
        let Some(places) = self.chosen.choice.of(&input, out) else { return Ok(()) };
        let meant: HashSet<_> = places.iter().map(|place| place.index).collect();
        let reads = Reads::AndReplaces(slice::from_ref(&self.input));
        self.output.get().write(out, OutputKind::Messages, reads, |out, file| {
            let work = |(): &mut (), entry: &Entry<'_>| {
                let is_meant = entry.index.0.is_some_and(|index| meant.contains(&index));
                let changed = if is_meant { self.change(entry, &assignments) } else { Ok(None) };
                match changed {
                    Ok(changed) => (changed.unwrap_or_else(|| entry.bytes.to_vec()), None),
                    Err(error) => (entry.bytes.to_vec(), Some(error)),
                }
            };
            let mut segments = input.segments().iter();
            let place = (input.all(), MessagePart::Whole, thread_count(0));
            input.in_order(
                place,
                || (),
                work,
                |place, done| {
                    // What lies between messages stays where it is.
                    for lost in segments.by_ref().take_while(|segment| segment.offset() != place.offset) {
                        input.copy(lost.offset(), lost.length(), file)?;
                    }
                    let at = || format!("{}: message {}", input.name(), place.index);
                    let (bytes, error) = done.map_err(Failure::at(at()))?;
                    if let Some(error) = &error {
                        out.report(&at(), error);
                    }
                    Ok::<_, Failure>(file.write_all(&bytes)?)
                },
            )?;
            segments.try_for_each(|lost| Ok(input.copy(lost.offset(), lost.length(), file)?))
        });
        Ok(())
    }
}

impl Set {
    /// The message with the new values. `None` if it is not selected or not changed.
    fn change(&self, entry: &Entry<'_>, assignments: &[Assignment]) -> Result<Option<Vec<u8>>> {
        let chosen = self.chosen(entry)?;
        if chosen.as_ref().is_some_and(Vec::is_empty) {
            self.chosen.digests.check_bytes(entry.bytes)?;
            return Ok(None);
        }
        let mut parts = MessageParts::of(entry, self.chosen.digests)?;
        let before = (parts.metadata.clone(), parts.params());
        assignments.iter().try_for_each(|assignment| assignment.apply(&mut parts, chosen.as_deref()))?;
        if before == (parts.metadata.clone(), parts.params()) {
            return Ok(None);
        }
        parts.into_message().map(Some)
    }

    /// The numbers of the objects to change: none in a message that is not selected. `None` means all.
    fn chosen(&self, entry: &Entry<'_>) -> Result<Option<Vec<usize>>> {
        let numbers = (!self.only.numbers().is_empty()).then(|| self.only.numbers().to_vec());
        if self.chosen.selection.is_empty() {
            return Ok(numbers);
        }
        let message = Message::parse(entry.bytes)?;
        let metadata = self.chosen.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        if !self.objects {
            return Ok(if self.chosen.selection.has(&metadata, structure)? { numbers } else { Some(Vec::new()) });
        }
        let among = self.chosen.selection.of_objects(&metadata)?;
        let mut chosen = Vec::new();
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            let object = object.ok();
            if self.only.has(index) && among.has(&about?, structure.of_object(index, object.as_ref()))? {
                chosen.push(index);
            }
        }
        Ok(Some(chosen))
    }
}
