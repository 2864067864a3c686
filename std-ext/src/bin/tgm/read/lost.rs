//! Bytes that belong to no message: telling users of them, and what can be said about them.
//!
//! A message that is lost shifts the numbers of those behind it. So every command that opens a file says what is lost and
//! where, and its exit code is 1.

use tgm_core::ErrorKind;
use tgm_core::message::check_preamble;
use tgm_core::scan::Segment;
use tgm_core::wire::{MAGIC, PREAMBLE_SIZE, Preamble};
use tgm_std::{Leftover, v2};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::read::input::Input;
use crate::show::advice::in_our_words;
use crate::show::output::Out;

/// What to do about them.
const SALVAGE: &str = "`tgm salvage` may save what is in them";
/// Files up to this length are searched for messages of version 2, if they hold none of version 3.
const SEARCHED: u64 = 256 << 20;

/// Reports the bytes of a file that belong to no message, each region with its place; of a file without any message, what
/// it holds instead.
pub(crate) fn report(input: &Input, out: &mut Out) {
    if input.len() > 0 && input.message_count() == 0 {
        return out.problem(&format!("{}: {}", input.name(), no_message(input)));
    }
    for segment in input.segments().iter().filter(|segment| !segment.is_message()) {
        out.problem(&format!("{}: {}", input.name(), describe(input, segment)));
    }
}

/// What is to be said about bytes that belong to no message: where they are, why they are none, and which number the
/// message behind them has.
pub(crate) fn describe(input: &Input, lost: &Segment) -> String {
    let (offset, length) = (lost.offset(), lost.length());
    let why = note(input, lost).map_or(String::new(), |why| format!(" ({why})"));
    let is_old = preamble(input, offset).is_some_and(|preamble| preamble.version.get() == v2::WIRE_VERSION);
    let way_out = if is_old { String::new() } else { format!("; {SALVAGE}") };
    let behind = input.message_from(offset);
    let behind = input.places(behind..behind + 1).next();
    let shift = behind.map_or(String::new(), |place| {
        format!("; they are not counted, message {} is the one at {}", place.index, place.offset)
    });
    format!("{}{why}{shift}{way_out}", plain_place(offset, length))
}

/// [`describe`] where only the place is known.
pub(crate) fn plain(offset: u64, length: u64) -> String {
    format!("{}; {SALVAGE}", plain_place(offset, length))
}

fn plain_place(offset: u64, length: u64) -> String {
    format!("{length} bytes at offset {offset} belong to no message")
}

/// What can be said about bytes of a file that belong to no message: why they are none, if they begin like one.
pub(crate) fn note(input: &Input, lost: &Segment) -> Option<String> {
    let preamble = preamble(input, lost.offset())?;
    Some(note_on(&preamble, input.len().saturating_sub(lost.offset())))
}

/// [`note`] for bytes in memory.
pub(crate) fn note_in(bytes: &[u8]) -> Option<String> {
    let (preamble, _) = Preamble::read_from_prefix(bytes).ok()?;
    (preamble.magic == *MAGIC).then(|| note_on(&preamble, bytes.len() as u64))
}

fn note_on(preamble: &Preamble, room: u64) -> String {
    format!("begins like a message: {}", reason(preamble, room))
}

/// The preamble that stands at `offset`, if one does.
fn preamble(input: &Input, offset: u64) -> Option<Preamble> {
    let head = input.bytes(offset, PREAMBLE_SIZE as u64).ok()?;
    let preamble = Preamble::read_from_bytes(&head).ok()?;
    (preamble.magic == *MAGIC).then_some(preamble)
}

/// Why no message begins with this preamble, which has `room` bytes from its start to the end of the file.
fn reason(preamble: &Preamble, room: u64) -> String {
    let (version, stated) = (preamble.version.get(), preamble.total_length.get());
    match check_preamble(preamble, room) {
        Err(error) if error.kind() == ErrorKind::Version(version) => Leftover::of(preamble.as_bytes()).to_string(),
        Err(error) if error.kind() == ErrorKind::MessageExceedsBuffer => {
            format!("truncated: it wants {stated} bytes, and the file ends after {room} of them")
        }
        Err(error) => in_our_words(error),
        Ok(Some(stated)) => format!("it says that it has {stated} bytes, and does not end there"),
        Ok(None) => "truncated or damaged: its frames do not end".to_string(),
    }
}

/// What is to be said about a file that holds bytes but no message.
fn no_message(input: &Input) -> String {
    let length = input.len();
    let bytes = if length <= SEARCHED { input.all_bytes().ok() } else { None };
    let leftover = bytes.map_or(Leftover::Unknown, |bytes| Leftover::of(&bytes));
    match (leftover, preamble(input, 0)) {
        (Leftover::Version2 { .. }, _) => leftover.to_string(),
        (_, None) => format!("no message found in {length} bytes"),
        (_, Some(preamble)) => {
            let reason = reason(&preamble, length);
            format!("no whole message: {length} bytes at offset 0 begin like one: {reason}; {SALVAGE}")
        }
    }
}
