//! `tgm merge`: all objects in one message.

use std::collections::btree_map::Entry as Slot;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use ciborium::Value;
use clap::{Args, ValueEnum};
use tgm_core::Message;
use tgm_core::hash::HashPresence;
use tgm_core::scan::Segment;
use tgm_std::encode::GrowingMessage;
use tgm_std::metadata::global_metadata_to_cbor;
use tgm_std::{EncodeOptions, GlobalMetadata, Result, TensogramError};

use crate::args::object_numbers::ObjectNumbers;
use crate::change::edit::MessageParts;
use crate::commands::Run;
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::opening::open_or_report;
use crate::read::resting::Resting;
use crate::read::select::Selection;
use crate::read::structure::Structure;
use crate::show::output::Out;
use crate::write::destination::{Destination, OutputKind, Reads};

/// Put all objects of all messages into one message
///
/// Objects are copied byte for byte, in order, each with its metadata. The message has digests if any input message has
/// some. If anything cannot be read, nothing is written; `salvage` makes a file of the readable messages.
#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// Files to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Where to write; appears when it is complete; may be one of the files; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
    #[command(flatten)]
    choice: MessageChoice,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    only: ObjectNumbers,
    #[command(flatten)]
    digests: Digests,
    /// Which annotation counts where messages differ under the same key
    #[arg(short, long, value_enum, default_value_t = Strategy::First)]
    strategy: Strategy,
}

/// The rule for annotations that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// The first message's
    First,
    /// The last message's
    Last,
    /// Neither: a difference is an error
    Error,
}

impl Run for Merge {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let (mut inputs, mut complete) = (Vec::new(), true);
        // Digests of the first object are written before the last message is read.
        let mut hashing = false;
        for path in &self.paths {
            let Some(input) = open_or_report(path, out) else {
                complete = false;
                continue;
            };
            complete &= input.segments().iter().all(Segment::is_message);
            let Some(numbers) = self.choice.of(&input, out) else {
                complete = false;
                continue;
            };
            hashing = hashing || input.places(numbers.clone()).any(|place| self.has_digests(&input, place));
            inputs.push((Resting::new(path, input), numbers));
        }
        let mut merged = Merged::new(hashing);
        for (input, numbers) in inputs {
            let name = input.name().to_string();
            match input.wake() {
                Ok(input) => complete &= self.add(&mut merged, &input, numbers, out),
                Err(error) => {
                    complete = false;
                    out.report(&name, &error);
                }
            }
        }
        if !complete {
            out.problem(&format!("{}: nothing was written", self.output));
        } else if merged.messages == 0 {
            out.problem(&format!("{}: nothing was written, there is no message", self.output));
        } else {
            match merged.into_message() {
                Ok(message) => {
                    let reads = Reads::AndReplaces(&self.paths);
                    self.output.write(out, OutputKind::Messages, reads, |_, sink| Ok(sink.write_all(&message)?));
                }
                Err(error) => out.report(&self.output.to_string(), &error),
            }
        }
        Ok(())
    }
}

impl Merge {
    /// Adds the messages of a file. Returns whether all could be added; what could not is reported.
    fn add(&self, merged: &mut Merged, input: &Input, numbers: Range<usize>, out: &mut Out) -> bool {
        let mut complete = true;
        for place in input.places(numbers) {
            let Place { index, offset, length } = place;
            input.progress.take_up(place.end(), length, index + 1);
            // The message is in memory, and one of the messages that go into it.
            let bytes = match input.bytes(offset, length) {
                Ok(bytes) => bytes,
                Err(error) => {
                    complete = false;
                    out.report(&format!("{}: message {index}", input.name()), &error);
                    continue;
                }
            };
            let entry = Entry::new(input.name(), place, &bytes);
            if !self.selection.picks(out, &entry, self.digests) {
                continue;
            }
            let parts = MessageParts::of(&entry, self.digests).and_then(|parts| parts.only(&self.only));
            let added = parts.and_then(|parts| merged.add(parts, self.strategy));
            complete &= added.inspect_err(|error| out.report(&entry.place(), error)).is_ok();
        }
        complete
    }

    /// Whether a message that is selected has digests. What cannot be read is reported when it is merged.
    fn has_digests(&self, input: &Input, place: Place) -> bool {
        let has = |entry: Entry<'_>| -> Result<bool> {
            let message = Message::parse(entry.bytes)?;
            Ok(message.hash_presence()? != HashPresence::Absent
                && self.selection.has(&self.digests.metadata(&message)?, Structure::new(&message, &entry))?)
        };
        input.reader().entry(place, MessagePart::Outline).and_then(has).unwrap_or(false)
    }
}

/// The messages merged so far.
struct Merged {
    messages: u64,
    metadata: GlobalMetadata,
    message: GrowingMessage,
}

impl Merged {
    /// A message without objects. `hashing` says whether it will have digests.
    fn new(hashing: bool) -> Self {
        let options = EncodeOptions { hashing, ..EncodeOptions::default() };
        Self { messages: 0, metadata: GlobalMetadata::default(), message: GrowingMessage::new(&options) }
    }

    /// Adds a message.
    fn add(&mut self, parts: MessageParts<'_>, strategy: Strategy) -> Result<()> {
        self.messages += 1;
        self.metadata.base.extend(parts.metadata.base);
        for object in parts.objects {
            self.message.add_taken(object)?;
        }
        for (key, value) in parts.metadata.extra {
            match (self.metadata.extra.entry(key), strategy) {
                (Slot::Vacant(slot), _) => {
                    slot.insert(value);
                }
                (Slot::Occupied(mut slot), Strategy::Last) => {
                    slot.insert(value);
                }
                (Slot::Occupied(slot), Strategy::Error) if !is_same(slot.get(), &value)? => {
                    let text = format!("conflicting values for key {}", slot.key());
                    return Err(TensogramError::Metadata(text.into()));
                }
                (Slot::Occupied(_), Strategy::First | Strategy::Error) => {}
            }
        }
        Ok(())
    }

    fn into_message(self) -> Result<Vec<u8>> {
        Ok(self.message.finish(&self.metadata)?)
    }
}

/// Whether two values have the same encoding. NaN equals NaN.
fn is_same(one: &Value, other: &Value) -> Result<bool> {
    let cbor = |value: &Value| {
        let extra = [(String::new(), value.clone())].into();
        global_metadata_to_cbor(&GlobalMetadata { extra, ..GlobalMetadata::default() })
    };
    Ok(cbor(one)? == cbor(other)?)
}
