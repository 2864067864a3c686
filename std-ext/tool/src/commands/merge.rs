//! `tgm copy --merge`: all objects in one message.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry as Slot;
use std::io;
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
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::resting::Resting;
use crate::read::structure::Structure;
use crate::show::output::Out;
use crate::write::destination::{Destination, OutputKind, Reads};

/// The annotation that holds arrays of texts, by their names.
const TEXTS: &str = "texts";

/// Put all objects of all messages into one message
///
/// Objects are copied byte for byte, in order, each with its metadata. The message has digests if any input message has
/// some. Arrays of texts stand side by side by their names. If anything cannot be read, nothing is written; `salvage`
/// makes a file of the readable messages.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm copy --merge three.tgm field.tgm -o one.tgm", "one message of all objects")]))]
pub(crate) struct Merge {
    /// Files to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Where to write; appears when it is complete; may be one of the files; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Which annotation counts where messages differ under the same key [default: the first message's, with a remark]
    #[arg(short, long, value_enum)]
    strategy: Option<Strategy>,
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

impl Strategy {
    /// The value that stays of two that differ.
    fn choose(self, own: &mut Value, other: Value) {
        if self == Self::Last {
            *own = other;
        }
    }
}

impl Run for Merge {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let (mut inputs, mut complete) = (Vec::new(), true);
        // Digests of the first object are written before the last message is read.
        let mut hashing = false;
        for path in &self.paths {
            let asked = self.chosen.asked();
            let Some(input) = asked.open_or_report(path, out) else {
                complete = false;
                continue;
            };
            complete &= input.segments().iter().all(Segment::is_message);
            let Some(places) = self.chosen.choice.of(&input, out) else {
                complete = false;
                continue;
            };
            hashing = hashing || places.iter().any(|place| self.has_digests(&input, *place));
            inputs.push((Resting::new(path, input), places));
        }
        let mut merged = Merged::new(hashing);
        for (input, places) in inputs {
            let name = input.name().to_string();
            match input.wake() {
                Ok(input) => complete &= self.add(&mut merged, &input, places, out),
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
            let differing = merged.differing.iter().cloned().collect::<Vec<_>>().join(", ");
            match merged.into_message() {
                Ok(message) => {
                    let reads = Reads::AndReplaces(&self.paths);
                    let is_written =
                        self.output.write(out, OutputKind::Messages, reads, |_, sink| Ok(sink.write_all(&message)?));
                    if is_written && !differing.is_empty() && self.strategy.is_none() {
                        out.remark(&format!("messages differ in {differing}: the first one's stays (see --strategy)"));
                    }
                }
                Err(error) => out.report(&self.output.to_string(), &error),
            }
        }
        Ok(())
    }
}

impl Merge {
    /// Adds the messages of a file. Returns whether all could be added; what could not is reported.
    fn add(&self, merged: &mut Merged, input: &Input, places: Vec<Place>, out: &mut Out) -> bool {
        let mut complete = true;
        for place in places {
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
            if !self.chosen.picks(out, &entry) {
                continue;
            }
            let parts = MessageParts::of(&entry, self.chosen.digests).and_then(|parts| parts.only(&self.only));
            let added = parts.and_then(|parts| merged.add(parts, self.strategy.unwrap_or(Strategy::First)));
            complete &= added.inspect_err(|error| out.report(&entry.place(), error)).is_ok();
        }
        complete
    }

    /// Whether a message that is selected has digests. What cannot be read is reported when it is merged.
    fn has_digests(&self, input: &Input, place: Place) -> bool {
        let has = |entry: Entry<'_>| -> Result<bool> {
            let message = Message::parse(entry.bytes)?;
            Ok(message.hash_presence()? != HashPresence::Absent
                && self
                    .chosen
                    .selection
                    .has(&self.chosen.digests.metadata(&message)?, Structure::new(&message, &entry))?)
        };
        input.reader().entry(place, MessagePart::Outline).and_then(has).unwrap_or(false)
    }
}

/// The messages merged so far.
struct Merged {
    messages: u64,
    metadata: GlobalMetadata,
    message: GrowingMessage,
    /// The keys of annotations in which messages differ.
    differing: BTreeSet<String>,
}

impl Merged {
    /// A message without objects. `hashing` says whether it will have digests.
    fn new(hashing: bool) -> Self {
        let options = EncodeOptions { hashing, ..EncodeOptions::default() };
        Self {
            messages: 0,
            metadata: GlobalMetadata::default(),
            message: GrowingMessage::new(&options),
            differing: BTreeSet::new(),
        }
    }

    /// Adds a message.
    fn add(&mut self, parts: MessageParts<'_>, strategy: Strategy) -> Result<()> {
        self.messages += 1;
        self.metadata.base.extend(parts.metadata.base);
        for object in parts.objects {
            self.message.add_taken(object)?;
        }
        for (key, value) in parts.metadata.extra {
            self.annotate(key, value, strategy)?;
        }
        Ok(())
    }

    /// Adds an annotation. Arrays of texts stand side by side, each under its name.
    fn annotate(&mut self, key: String, value: Value, strategy: Strategy) -> Result<()> {
        let present = match self.metadata.extra.entry(key) {
            Slot::Vacant(slot) => {
                slot.insert(value);
                return Ok(());
            }
            Slot::Occupied(slot) => (slot.key().clone(), slot.into_mut()),
        };
        let mut differing = Vec::new();
        match (present, value) {
            ((key, Value::Map(texts)), Value::Map(others)) if key == TEXTS => {
                for (name, text) in others {
                    match texts.iter_mut().find(|(own, _)| *own == name) {
                        Some((_, own)) if !is_same(own, &text)? => {
                            differing.push(format!("{key}.{}", name.as_text().unwrap_or_default()));
                            strategy.choose(own, text);
                        }
                        Some(_) => {}
                        None => texts.push((name, text)),
                    }
                }
            }
            ((key, own), value) => {
                if !is_same(own, &value)? {
                    differing.push(key);
                    strategy.choose(own, value);
                }
            }
        }
        match differing.first() {
            Some(key) if strategy == Strategy::Error => {
                Err(TensogramError::Metadata(format!("conflicting values for key {key}").into()))
            }
            _ => {
                self.differing.extend(differing);
                Ok(())
            }
        }
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
