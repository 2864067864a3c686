//! Where messages begin and end in bytes that hold several, and what lies between them (FORMAT §5.6).
//!
//! A message that states its length is found by its preamble and its end magic, two reads. One that does not (a streamed
//! message) is walked from frame to frame to its postamble; if its frames are damaged, it reaches to the first end magic,
//! unless a sound message begins before that. Whatever belongs to no message is reported as junk.
//!
//! The scanner works on any [`Source`] and touches preambles, postambles and the frame headers of streamed messages, never
//! payloads. Its time is linear in the length of the source **whatever the bytes are**: start magics are found by one pass,
//! end magics by another, and walks that fail spend a budget proportional to the length, after which streamed messages are
//! delimited by the end magic alone.

mod find;
mod source;
mod stream;

use zerocopy::FromBytes;

pub use find::find;
pub use source::{Source, find_in_chunks};

use crate::error::Error;
use crate::message::check_preamble;
use crate::wire::{END_MAGIC, MAGIC, MIN_MESSAGE_SIZE, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble};
use stream::{HOP_COST, StreamWalk};

/// Failed walks may cost this many times the length of the source.
const BUDGET_PER_BYTE: u64 = 2;

/// A part of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A message: preamble and end magic are there, the rest is [`crate::Message::parse`]'s to check.
    Message {
        /// Bytes from the source's start.
        offset: u64,
        /// Bytes of the message.
        length: u64,
    },
    /// Bytes that belong to no message.
    Junk {
        /// Bytes from the source's start.
        offset: u64,
        /// How many bytes.
        length: u64,
    },
}

impl Segment {
    /// Bytes from the source's start.
    pub const fn offset(&self) -> u64 {
        match *self {
            Self::Message { offset, .. } | Self::Junk { offset, .. } => offset,
        }
    }

    /// Bytes of the segment.
    pub const fn length(&self) -> u64 {
        match *self {
            Self::Message { length, .. } | Self::Junk { length, .. } => length,
        }
    }

    /// Whether this is a message.
    pub const fn is_message(&self) -> bool {
        matches!(self, Self::Message { .. })
    }

    /// The segment's bytes in the slice that was scanned.
    pub fn bytes_of<'a>(&self, scanned: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.offset()).ok()?;
        let len = usize::try_from(self.length()).ok()?;
        scanned.get(start..start.checked_add(len)?)
    }
}

/// The messages in `bytes` and what lies between them, in order: an iterator of [`Segment`] that covers every byte.
///
/// ```
/// use tgm_core::scan::{Segment, scan};
///
/// assert_eq!(scan(b"no message").collect::<Vec<_>>(), [Segment::Junk { offset: 0, length: 10 }]);
/// ```
pub fn scan(bytes: &[u8]) -> Scanner<&[u8]> {
    Scanner::new(bytes)
}

/// A scan in progress: what lies between [`Self::front`] and [`Self::back`] has not been assigned yet.
#[derive(Clone, Debug)]
pub struct Scanner<S> {
    source: S,
    front: u64,
    back: u64,
    /// A message found while the junk before it was reported.
    found: Option<(u64, u64)>,
    /// What the last search for an end magic found: where it began, and the magic's position.
    end_magic: Option<(u64, Option<u64>)>,
    budget: u64,
}

impl<S: Source> Scanner<S> {
    /// A scan of the whole source.
    pub fn new(source: S) -> Self {
        let back = source.len();
        let budget = back.saturating_mul(BUDGET_PER_BYTE);
        Self { source, front: 0, back, found: None, end_magic: None, budget }
    }

    /// What is scanned.
    pub const fn source(&self) -> &S {
        &self.source
    }

    /// Where what has not been assigned yet begins.
    pub const fn front(&self) -> u64 {
        self.front
    }

    /// Where what has not been assigned yet ends.
    pub const fn back(&self) -> u64 {
        self.back
    }

    /// The next segment from the front; `None` when every byte has been assigned.
    ///
    /// # Errors
    /// Those of reading the source.
    pub fn next_segment(&mut self) -> Result<Option<Segment>, S::Error> {
        if self.found.is_none() {
            self.found = self.find_message()?;
        }
        let (offset, length) = self.found.unwrap_or((self.back, 0));
        if offset > self.front {
            let junk = Segment::Junk { offset: self.front, length: offset.saturating_sub(self.front) };
            self.front = offset;
            return Ok(Some(junk));
        }
        self.found = None;
        self.front = self.front.saturating_add(length);
        Ok((length > 0).then_some(Segment::Message { offset, length }))
    }

    /// The message that ends at the back, if its postamble states its length and a preamble that agrees stands there: two
    /// reads. `None` leaves the rest to [`Self::next_segment`]; messages longer than `max_length` are left too.
    ///
    /// # Errors
    /// Those of reading the source.
    ///
    /// Format: FORMAT §5.6, backward.
    pub fn next_message_back(&mut self, max_length: u64) -> Result<Option<Segment>, S::Error> {
        let start = self.found.map_or(self.front, |(offset, length)| offset.saturating_add(length));
        let room = self.back.saturating_sub(start);
        if room < MIN_MESSAGE_SIZE as u64 {
            return Ok(None);
        }
        let tail = self.source.read::<POSTAMBLE_SIZE>(self.back.saturating_sub(POSTAMBLE_SIZE as u64))?;
        let length = stated_length(&tail);
        if length < MIN_MESSAGE_SIZE as u64 || length > room.min(max_length) {
            return Ok(None);
        }
        let offset = self.back.saturating_sub(length);
        let head = self.source.read::<PREAMBLE_SIZE>(offset)?;
        if preamble(&head, length) != Ok(Some(length)) {
            return Ok(None);
        }
        self.back = offset;
        Ok(Some(Segment::Message { offset, length }))
    }

    /// The first message that begins at or behind the front, as offset and length.
    fn find_message(&mut self) -> Result<Option<(u64, u64)>, S::Error> {
        // Where messages follow each other there is nothing to search for.
        if let Some(length) = self.message_at(self.front)? {
            return Ok(Some((self.front, length)));
        }
        let mut from = self.front.saturating_add(1);
        while let Some(at) = self.source.find(MAGIC, from, self.back)? {
            if let Some(length) = self.message_at(at)? {
                return Ok(Some((at, length)));
            }
            from = at.saturating_add(1);
        }
        Ok(None)
    }

    /// The length of the message that begins at `at`, if one does.
    fn message_at(&mut self, at: u64) -> Result<Option<u64>, S::Error> {
        let room = self.back.saturating_sub(at);
        if room < MIN_MESSAGE_SIZE as u64 {
            return Ok(None);
        }
        match preamble(&self.source.read(at)?, room) {
            Ok(Some(length)) => self.stated_message(at, length),
            Ok(None) => self.streamed_message(at),
            Err(_) => Ok(None),
        }
    }

    /// A message that states its length is one if the end magic is where it should be.
    fn stated_message(&self, at: u64, length: u64) -> Result<Option<u64>, S::Error> {
        let end = at.saturating_add(length);
        let magic: [u8; END_MAGIC.len()] = self.source.read(end.saturating_sub(END_MAGIC.len() as u64))?;
        Ok((magic == *END_MAGIC).then_some(length))
    }

    /// The length of the streamed message that begins at `at`: by its frames, or else by the first end magic.
    fn streamed_message(&mut self, at: u64) -> Result<Option<u64>, S::Error> {
        // Preamble, and the postamble up to its magic.
        const BEFORE_END_MAGIC: u64 = (MIN_MESSAGE_SIZE - END_MAGIC.len()) as u64;
        let broken = match self.walk_stream(at)? {
            Ok(end) => return Ok(Some(end.saturating_sub(at))),
            Err(broken) => broken,
        };
        let earliest = at.saturating_add(BEFORE_END_MAGIC);
        let Some(magic) = self.find_end_magic(earliest)? else { return Ok(None) };
        if self.sound_message_between(broken, magic)? {
            return Ok(None);
        }
        Ok(Some(magic.saturating_add(END_MAGIC.len() as u64).saturating_sub(at)))
    }

    /// Walks the frames of the streamed message at `at` to the end of its postamble; `Err` says from where on nothing is
    /// certain if that fails. Only a walk that fails is paid for.
    fn walk_stream(&mut self, at: u64) -> Result<Result<u64, u64>, S::Error> {
        let mut walk = StreamWalk::new(&self.source, at, self.back);
        if self.budget == 0 {
            return Ok(Err(walk.position()));
        }
        let end = walk.run()?;
        if end.is_err() {
            let cost = walk.cost();
            self.budget = self.budget.saturating_sub(cost);
        }
        Ok(end)
    }

    /// Whether a message that can be trusted begins between a damaged frame at `from` and the end magic at `to`: then the
    /// damaged message is cut short, and that end magic is not its own.
    fn sound_message_between(&mut self, from: u64, to: u64) -> Result<bool, S::Error> {
        let mut from = from;
        while self.budget > 0 {
            let found = self.source.find(MAGIC, from, to)?;
            let looked_at = found.unwrap_or(to).saturating_sub(from).saturating_add(HOP_COST);
            self.budget = self.budget.saturating_sub(looked_at);
            let Some(at) = found else { return Ok(false) };
            if self.is_sound(at)? {
                return Ok(true);
            }
            from = at.saturating_add(1);
        }
        Ok(false)
    }

    fn is_sound(&mut self, at: u64) -> Result<bool, S::Error> {
        let room = self.back.saturating_sub(at);
        if room < MIN_MESSAGE_SIZE as u64 {
            return Ok(false);
        }
        match preamble(&self.source.read(at)?, room) {
            Ok(Some(length)) => Ok(self.stated_message(at, length)?.is_some()),
            Ok(None) => {
                let walked = self.walk_stream(at)?;
                // This walk is made again for every damaged message before it, so that it is paid for as well.
                self.budget = self.budget.saturating_sub(walked.unwrap_or(at).saturating_sub(at));
                Ok(walked.is_ok())
            }
            Err(_) => Ok(false),
        }
    }

    /// The first end magic at or behind `from`, remembered: searches go forward, so that all of them together are one pass.
    fn find_end_magic(&mut self, from: u64) -> Result<Option<u64>, S::Error> {
        let at = match self.end_magic {
            Some((searched_from, at)) if searched_from <= from && at.is_none_or(|at| at >= from) => at,
            _ => {
                let at = self.source.find(END_MAGIC, from, self.back)?;
                self.end_magic = Some((from, at));
                at
            }
        };
        Ok(at.filter(|at| at.saturating_add(END_MAGIC.len() as u64) <= self.back))
    }
}

impl<S: Source<Error = core::convert::Infallible>> Iterator for Scanner<S> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let Ok(segment) = self.next_segment();
        segment
    }
}

/// The length that a preamble states, with `room` bytes from its start on.
fn preamble(bytes: &[u8; PREAMBLE_SIZE], room: u64) -> Result<Option<u64>, Error> {
    Preamble::ref_from_bytes(bytes).map_or(Ok(None), |preamble| check_preamble(preamble, room))
}

/// The length that a postamble states; 0 if it is none, or does not say.
fn stated_length(bytes: &[u8; POSTAMBLE_SIZE]) -> u64 {
    let postamble = Postamble::ref_from_bytes(bytes).ok().filter(|postamble| postamble.magic == *END_MAGIC);
    postamble.map_or(0, |postamble| postamble.total_length.get())
}
