//! The flags that name one message.

use std::ops::Range;

use clap::Args;
use tgm_core::scan::Segment;

use crate::read::entry::Place;
use crate::read::input::Input;
use crate::show::output::Out;

/// The flags that name one message.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct MessageChoice {
    /// Only message N of each file, from 0
    #[arg(short, long, value_name = "N")]
    pub(crate) message: Option<usize>,
    /// Only the message that begins at byte OFFSET of each file; unlike a number, an offset stays right when a message
    /// is lost
    #[arg(long, value_name = "OFFSET", conflicts_with = "message")]
    pub(crate) at: Option<u64>,
}

impl MessageChoice {
    /// Whether a flag names one message.
    pub(crate) const fn is_one(self) -> bool {
        self.message.is_some() || self.at.is_some()
    }

    /// These flags, with message 0 as default.
    pub(crate) const fn or_first(self) -> Self {
        if self.is_one() { self } else { Self { message: Some(0), at: None } }
    }

    /// Whether `--at` names a byte of this part of the file.
    pub(crate) fn is_in(self, part: &Segment) -> bool {
        self.at.is_some_and(|at| at.checked_sub(part.offset()).is_some_and(|behind| behind < part.length()))
    }

    /// Whether `--at` names this offset.
    pub(crate) fn is_at(self, offset: u64) -> bool {
        self.at == Some(offset)
    }

    /// The places of the named messages that can be selected. `None` if the file lacks the named message, which is reported.
    pub(crate) fn of(self, input: &Input, out: &mut Out) -> Option<Vec<Place>> {
        let numbers = self.find(input).inspect_err(|text| out.problem(&format!("{}: {text}", input.name()))).ok()?;
        Some(input.places(numbers).filter(|place| input.can_be(place.index)).collect())
    }

    /// The numbers of the named messages.
    ///
    /// # Errors
    /// A sentence, if the file lacks the named message.
    pub(crate) fn find(self, input: &Input) -> Result<Range<usize>, String> {
        let count = input.message_count();
        let index = match self {
            Self { message: None, at: None } => return Ok(0..count),
            Self { message: Some(index), .. } if index < count => index,
            Self { message: Some(index), .. } => return Err(no_number(index, count)),
            Self { at: Some(offset), .. } => at(input, offset)?,
        };
        Ok(index..index + 1)
    }
}

/// The number of the message that begins at `offset`, or a sentence that none does.
fn at(input: &Input, offset: u64) -> Result<usize, String> {
    let index = input.message_from(offset);
    if input.places(index..index + 1).any(|place| place.offset == offset) {
        return Ok(index);
    }
    let around = index.saturating_sub(1)..input.message_count().min(index + 1);
    Err(none_at(offset, input.places(around).map(|place| (place.index, place.offset))))
}

/// A sentence that no message begins at `offset`. `around` are the messages before and after it.
pub(crate) fn none_at(offset: u64, around: impl Iterator<Item = (usize, u64)>) -> String {
    let around: Vec<_> = around.map(|(index, place)| format!("message {index} at {place}")).collect();
    let hint =
        if around.is_empty() { "there is none at all".to_string() } else { format!("near: {}", around.join(", ")) };
    format!("no message begins at byte {offset} ({hint})")
}

/// A sentence that there is no such message.
pub(crate) fn no_number(index: usize, count: usize) -> String {
    format!("there is no message {index} ({count} messages)")
}
