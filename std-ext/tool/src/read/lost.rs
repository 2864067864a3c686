//! Bytes that belong to no message: reports of them, and what they hold instead.
//!
//! A lost message shifts the numbers of the messages after it. So every command that opens a file says what is lost and
//! where, and its exit code is 1.

use std::borrow::Cow;

use tgm_core::scan::Segment;
use tgm_core::wire::{POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble};
use tgm_std::{Leftover, v2};
use zerocopy::FromBytes as _;

use crate::read::input::{Input, slice};
use crate::show::advice::in_our_words;
use crate::show::foreign::{LOOKED_AT, advice};
use crate::show::output::Out;

/// The advice for lost bytes.
pub(crate) const SALVAGE: &str = "`tgm salvage` may save what is in them";
/// A file without messages of version 3 is searched for messages of version 2 if it is not longer than this.
pub(crate) const SEARCHED: usize = 256 << 20;

/// Reports the bytes of a file that belong to no message, each region with its place. If a file has no message, it
/// reports what the file holds instead.
pub(crate) fn report(input: &Input, out: &mut Out) {
    if input.len() > 0 && input.message_count() == 0 {
        return out.problem(&format!("{}: {}", input.name(), no_message(input)));
    }
    for segment in input.segments().iter().filter(|segment| !segment.is_message()) {
        out.problem(&format!("{}: {}", input.name(), describe(input, segment)));
    }
}

/// A sentence on bytes that belong to no message: where they are, what they hold, and which number the message after them
/// has.
pub(crate) fn describe(input: &Input, lost: &Segment) -> String {
    let (offset, length) = (lost.offset(), lost.length());
    let behind = input.message_from(offset);
    let behind = input.places(behind..behind + 1).next();
    sentence(offset, length, at(input, offset), behind.map(|place| (place.index, place.offset)))
}

/// The sentence of [`describe`]. `behind` is the number and the place of the message after the lost bytes.
fn sentence(offset: u64, length: u64, leftover: Option<Leftover>, behind: Option<(usize, u64)>) -> String {
    let is_old = matches!(leftover, Some(Leftover::OtherVersion { version: v2::WIRE_VERSION, .. }));
    let what = leftover.map_or(String::new(), |leftover| format!(" ({})", in_our_words(leftover)));
    let way_out = if is_old { String::new() } else { format!("; {SALVAGE}") };
    let shift = behind.map_or(String::new(), |(index, place)| {
        format!("; they are not counted, message {index} is the one at {place}")
    });
    format!("{}{what}{shift}{way_out}", plain_place(offset, length))
}

/// The sentence of [`describe`] where only the place is known.
pub(crate) fn plain(offset: u64, length: u64) -> String {
    format!("{}; {SALVAGE}", plain_place(offset, length))
}

fn plain_place(offset: u64, length: u64) -> String {
    format!("{length} bytes at offset {offset} belong to no message")
}

/// What bytes of a file hold that belong to no message, if they begin like one.
pub(crate) fn note(input: &Input, lost: &Segment) -> Option<String> {
    at(input, lost.offset()).map(in_our_words)
}

/// [`note`] for bytes in memory.
pub(crate) fn note_in(bytes: &[u8]) -> Option<String> {
    beginning(bytes.len() as u64, |at, len| slice(bytes, at, len).map(Cow::Borrowed)).map(in_our_words)
}

/// What begins at `offset` of a file, if it begins like a message.
fn at(input: &Input, offset: u64) -> Option<Leftover> {
    beginning(input.len().checked_sub(offset)?, |at, len| input.bytes(offset.checked_add(at)?, len).ok())
}

/// What begins like a message, `room` bytes before the end. `read` returns bytes at an offset from its start: only the
/// preamble and the postamble are read.
fn beginning<'b>(room: u64, read: impl Fn(u64, u64) -> Option<Cow<'b, [u8]>>) -> Option<Leftover> {
    let preamble = Preamble::read_from_bytes(&read(0, PREAMBLE_SIZE as u64)?).ok()?;
    Leftover::of_preamble(&preamble, room, |at| Postamble::read_from_bytes(&read(at, POSTAMBLE_SIZE as u64)?).ok())
}

/// A sentence on a file that holds bytes but no message.
fn no_message(input: &Input) -> String {
    let length = input.len();
    let bytes = if length <= SEARCHED as u64 { input.all_bytes().ok() } else { None };
    // Without these bytes the sentence has no advice.
    let start = input.bytes(0, length.min(LOOKED_AT as u64)).unwrap_or_default();
    no_message_sentence(length, bytes.as_deref(), at(input, 0), &start)
}

/// The sentence of [`no_message`] on a file of `length` bytes. `bytes` are all of them, if they are searched, `first` is what
/// begins at the first one, and `start` are the first few.
fn no_message_sentence(length: u64, bytes: Option<&[u8]>, first: Option<Leftover>, start: &[u8]) -> String {
    match (bytes.map_or(Leftover::Unknown, Leftover::of), first) {
        (found @ Leftover::Version2 { .. }, _) => found.to_string(),
        (_, None) => format!("no message found in {length} bytes{}", advice(start)),
        (_, Some(leftover)) => {
            format!("no whole message: {length} bytes at offset 0 hold {}; {SALVAGE}", in_our_words(leftover))
        }
    }
}

/// Bytes of a stream that belong to no message.
#[derive(Clone, Debug)]
pub(crate) struct Stray {
    /// Bytes from the stream's start.
    pub(crate) offset: u64,
    /// How many they are.
    pub(crate) length: u64,
    /// The first of them, at most [`SEARCHED`].
    pub(crate) beginning: Vec<u8>,
}

impl Stray {
    /// The sentence of [`describe`]. `behind` is the number of the message after these bytes.
    pub(crate) fn describe(&self, behind: Option<usize>) -> String {
        let behind = behind.map(|index| (index, self.offset + self.length));
        sentence(self.offset, self.length, self.leftover(), behind)
    }

    /// A sentence on a stream that holds only these bytes.
    pub(crate) fn no_message(&self) -> String {
        let is_whole = self.beginning.len() as u64 == self.length;
        let start = self.beginning.get(..LOOKED_AT).unwrap_or(&self.beginning);
        no_message_sentence(self.length, is_whole.then_some(&self.beginning), self.leftover(), start)
    }

    /// [`note`] for these bytes.
    pub(crate) fn note(&self) -> Option<String> {
        self.leftover().map(in_our_words)
    }

    fn leftover(&self) -> Option<Leftover> {
        beginning(self.length, |at, len| slice(&self.beginning, at, len).map(Cow::Borrowed))
    }
}
