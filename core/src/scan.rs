//! Where messages begin and end in bytes that hold several, and what lies between them (FORMAT §5.6).
//!
//! A message that states its length is found by its preamble and its end magic, two reads. One that does not (a streamed
//! message) is walked from frame to frame to its postamble; if its frames are damaged, it reaches to the first end magic,
//! unless a sound message begins before that. Whatever belongs to no message is reported as junk.
//!
//! # Torn messages
//! A writer that is killed leaves a preamble and some frames, the last of which does not end in the file. What lies inside of
//! that frame is payload, also where it looks like a message: a payload may be a file of messages. So of a message that is
//! not whole the frames are walked first. The search for other messages goes on where they lead, and inside of whole frames
//! nothing is looked for. If the last frame does not end in the source, nothing behind its header is a message, with two
//! exceptions, as what was written later must not be lost:
//!
//! - A row of messages that reaches to the end of the source, the last of them torn perhaps, was appended by a writer that did
//!   not look at what was there. It is believed, unless it begins where the frame's body does.
//! - Messages behind an end magic follow a message that was finished, and whose frame has a damaged length.
//!
//! A row that begins where the body does is payload: an appended one would have to meet the frame's header exactly.
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

use crate::error::{Error, ErrorKind};
use crate::message::check_preamble;
use crate::wire::{
    END_MAGIC, FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FRAME_MAGIC, MAGIC, MIN_MESSAGE_SIZE, POSTAMBLE_SIZE, PREAMBLE_SIZE,
    Preamble, WIRE_VERSION,
};
use stream::{End, HOP_COST, StreamWalk, header_of, overrunning, stated_length};

/// Failed walks may cost this many times the length of the source, and [`FREE_BUDGET`] more.
const BUDGET_PER_BYTE: u64 = 4;
/// What failed walks may cost however short the source is: in short sources every candidate is looked at with care.
const FREE_BUDGET: u64 = 64 << 10;
/// Messages that a first step from the end looks back over, to see whether they are the payload of a torn message.
const LOOK_BACK: usize = 64;

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
    torn: Option<u64>,
}

/// What is found at a place where a message may begin.
enum Place {
    /// A message of this length.
    Message(u64),
    /// None; the next one begins here or behind.
    Nothing(u64),
    /// One that was not finished, and reaches to the end of the source.
    Torn,
}

impl<S: Source> Scanner<S> {
    /// A scan of the whole source.
    pub fn new(source: S) -> Self {
        let back = source.len();
        let budget = back.saturating_mul(BUDGET_PER_BYTE).saturating_add(FREE_BUDGET);
        Self { source, front: 0, back, found: None, end_magic: None, budget, torn: None }
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

    /// Where a message begins whose frames show that its writer did not finish it, once [`Self::next_segment`] has come to
    /// it: from there to the end of the source all is junk. Messages that [`Self::next_message_back`] gave and that lie there
    /// are part of its payload.
    pub const fn torn(&self) -> Option<u64> {
        self.torn
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
    /// reads. `None` leaves the rest to [`Self::next_segment`]; messages longer than `max_length` are left too, and those that
    /// seem to be the payload of a torn message.
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
        if self.back == self.source.len() && self.is_torn_payload(offset)? {
            return Ok(None);
        }
        self.back = offset;
        Ok(Some(Segment::Message { offset, length }))
    }

    /// Whether the message at `offset`, which ends with the source, or one of those right before it, begins where the body
    /// of a frame does that does not end in the source. A few messages before it are looked at, so that this is O(1).
    fn is_torn_payload(&self, offset: u64) -> Result<bool, S::Error> {
        let mut offset = offset;
        for _ in 0..LOOK_BACK {
            let Some(before) = offset.checked_sub(FRAME_HEADER_SIZE as u64) else { return Ok(false) };
            let room = self.source.len().saturating_sub(before);
            if overrunning(&self.source.read(before)?, room).is_some() {
                return Ok(true);
            }
            let tail = self.source.read::<POSTAMBLE_SIZE>(offset.saturating_sub(POSTAMBLE_SIZE as u64))?;
            let length = stated_length(&tail);
            match offset.checked_sub(length) {
                Some(start) if preamble(&self.source.read(start)?, length) == Ok(Some(length)) => offset = start,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// The first message that begins at or behind the front, as offset and length.
    fn find_message(&mut self) -> Result<Option<(u64, u64)>, S::Error> {
        // Where messages follow each other there is nothing to search for.
        let mut at = self.front;
        loop {
            let from = match self.place_at(at)? {
                Place::Message(length) => return Ok(Some((at, length))),
                Place::Nothing(from) => from,
                Place::Torn => {
                    self.back = self.source.len();
                    self.torn = Some(at);
                    return Ok(None);
                }
            };
            match self.source.find(MAGIC, from, self.back)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
    }

    /// What begins at `at`.
    fn place_at(&mut self, at: u64) -> Result<Place, S::Error> {
        let next = Place::Nothing(at.saturating_add(1));
        let room = self.back.saturating_sub(at);
        if room < MIN_MESSAGE_SIZE as u64 {
            return Ok(next);
        }
        let mut head = self.source.read(at)?;
        // Writers of this library write the start magic last. Behind a message, zeros may stand for one.
        let is_unwritten = at == self.front && fill_magic(&mut head);
        match preamble(&head, room) {
            Ok(None) if !is_unwritten => return self.streamed_message(at),
            Ok(Some(length)) if !is_unwritten && self.stated_message(at, length)? => return Ok(Place::Message(length)),
            Err(error) if matches!(error.kind(), ErrorKind::StartMagic | ErrorKind::Version(_)) => return Ok(next),
            _ => {}
        }
        // Where there is no frame, nothing is walked: start magics alone are cheap.
        let first = at.saturating_add(PREAMBLE_SIZE as u64);
        if self.budget == 0 || self.source.read(first)? != *FRAME_MAGIC {
            return Ok(next);
        }
        let stated = Preamble::ref_from_bytes(&head).map_or(0, |preamble| preamble.total_length.get());
        let stated_end = if stated == 0 { u64::MAX } else { at.saturating_add(stated) };
        let mut walk = StreamWalk::new(&self.source, at, self.back);
        let end = walk.run()?;
        let (cost, stopped, last_frame) = (walk.cost(), walk.position(), walk.last_frame());
        if !matches!(end, End::Whole(_)) {
            self.budget = self.budget.saturating_sub(cost);
        }
        let is_torn = self.source.len() < stated_end && self.is_torn(end, stated_end)?;
        Ok(match end {
            _ if is_torn => Place::Torn,
            // All frames are there: it is the end that is damaged.
            _ if is_padding(stopped, stated_end.saturating_sub(POSTAMBLE_SIZE as u64)) => Place::Nothing(stopped),
            _ => Place::Nothing(end.certain(last_frame)),
        })
    }

    /// Whether a message whose frames end like that, and which states to end at `stated_end`, was left by a writer that did
    /// not finish it.
    fn is_torn(&mut self, end: End, stated_end: u64) -> Result<bool, S::Error> {
        match end {
            End::Short => Ok(true),
            // A length that is beyond what the message states is damaged.
            End::Overrun { body, end } if end <= stated_end => self.is_payload(body, stated_end == u64::MAX),
            _ => Ok(false),
        }
    }

    /// Whether all that lies from `body` on, the inside of a frame that does not end in the source, is the frame's payload,
    /// messages included.
    fn is_payload(&mut self, body: u64, is_streamed: bool) -> Result<bool, S::Error> {
        let end = self.source.len();
        let (mut from, mut any) = (body, false);
        while let Some(at) = self.find_sound(from, end)? {
            let before: [u8; END_MAGIC.len()] = self.source.read(at.saturating_sub(END_MAGIC.len() as u64))?;
            if at > body && before == *END_MAGIC {
                return Ok(false);
            }
            // The row of messages that begins there.
            let mut behind = at;
            while let Some(length) = self.sound_length(behind, end)? {
                behind = behind.saturating_add(length);
                self.budget = self.budget.saturating_sub(HOP_COST);
            }
            if at > body && (behind >= end || self.is_begun(behind)?) {
                return Ok(false);
            }
            (from, any) = (behind, true);
        }
        // The end of a streamed message, the length of whose last frame is damaged.
        let may_be_whole = is_streamed && !any && self.find_end_magic(header_of(body))?.is_some();
        // Without a budget not all has been seen.
        Ok(!may_be_whole && self.budget > 0)
    }

    /// Whether a preamble begins at `at`, as far as it is there.
    fn is_begun(&self, at: u64) -> Result<bool, S::Error> {
        let mut head = self.source.read::<PREAMBLE_SIZE>(at)?;
        let room = usize::try_from(self.source.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let magic = head.get(..MAGIC.len().min(room)).unwrap_or_default();
        Ok(MAGIC.starts_with(magic) || fill_magic(&mut head))
    }

    /// A message that states its length is one if the end magic is where it should be.
    fn stated_message(&self, at: u64, length: u64) -> Result<bool, S::Error> {
        let end = at.saturating_add(length);
        let magic: [u8; END_MAGIC.len()] = self.source.read(end.saturating_sub(END_MAGIC.len() as u64))?;
        Ok(magic == *END_MAGIC)
    }

    /// The streamed message that begins at `at`: it ends with its frames, or else with the first end magic.
    fn streamed_message(&mut self, at: u64) -> Result<Place, S::Error> {
        // Preamble, and the postamble up to its magic.
        const BEFORE_END_MAGIC: u64 = (MIN_MESSAGE_SIZE - END_MAGIC.len()) as u64;
        let (end, broken) = self.walk_stream(at, self.back)?;
        if let End::Whole(end) = end {
            return Ok(Place::Message(end.saturating_sub(at)));
        }
        if self.is_torn(end, u64::MAX)? {
            return Ok(Place::Torn);
        }
        // Not inside of its whole frames.
        let earliest = at.saturating_add(BEFORE_END_MAGIC).max(broken);
        let Some(magic) = self.find_end_magic(earliest)? else { return Ok(Place::Nothing(broken)) };
        if self.find_sound(broken, magic)?.is_some() {
            return Ok(Place::Nothing(broken));
        }
        Ok(Place::Message(magic.saturating_add(END_MAGIC.len() as u64).saturating_sub(at)))
    }

    /// Walks the frames of the streamed message at `at`, which must end at `end` at the latest; how that ended, and from
    /// where on nothing is certain if it failed. Only a walk that fails is paid for.
    fn walk_stream(&mut self, at: u64, end: u64) -> Result<(End, u64), S::Error> {
        let mut walk = StreamWalk::new(&self.source, at, end);
        if self.budget == 0 {
            return Ok((End::Broken(walk.position()), walk.position()));
        }
        let end = walk.run()?;
        let (cost, last_frame) = (walk.cost(), walk.last_frame());
        if !matches!(end, End::Whole(_)) {
            self.budget = self.budget.saturating_sub(cost);
        }
        Ok((end, end.certain(last_frame)))
    }

    /// Where the first message that can be trusted begins between `from` and `to`. Behind a damaged frame that means that the
    /// damaged message is cut short, and an end magic at `to` is not its own.
    fn find_sound(&mut self, from: u64, to: u64) -> Result<Option<u64>, S::Error> {
        let mut from = from;
        while self.budget > 0 {
            let found = self.source.find(MAGIC, from, to)?;
            let looked_at = found.unwrap_or(to).saturating_sub(from).saturating_add(HOP_COST);
            self.budget = self.budget.saturating_sub(looked_at);
            let Some(at) = found else { return Ok(None) };
            if self.sound_length(at, self.source.len().min(self.back.max(to)))?.is_some() {
                return Ok(Some(at));
            }
            from = at.saturating_add(1);
        }
        Ok(None)
    }

    /// The length of the message at `at`, if one can be trusted to be there and ends at `end` at the latest.
    fn sound_length(&mut self, at: u64, end: u64) -> Result<Option<u64>, S::Error> {
        let room = end.saturating_sub(at);
        if room < MIN_MESSAGE_SIZE as u64 {
            return Ok(None);
        }
        match preamble(&self.source.read(at)?, room) {
            Ok(Some(length)) => Ok(self.stated_message(at, length)?.then_some(length)),
            Ok(None) => {
                let walked = match self.walk_stream(at, end)?.0 {
                    End::Whole(end) => Some(end.saturating_sub(at)),
                    _ => None,
                };
                // This walk is made again for every damaged message before it, so that it is paid for as well.
                self.budget = self.budget.saturating_sub(walked.unwrap_or(0));
                Ok(walked)
            }
            Err(_) => Ok(None),
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

/// Puts the start magic where zeros stand for it before the rest of a preamble; whether they do.
fn fill_magic(head: &mut [u8; PREAMBLE_SIZE]) -> bool {
    let Some((magic, rest)) = head.split_first_chunk_mut::<{ MAGIC.len() }>() else { return false };
    let is_unwritten = *magic == [0; MAGIC.len()] && rest.starts_with(&WIRE_VERSION.to_be_bytes());
    if is_unwritten {
        *magic = *MAGIC;
    }
    is_unwritten
}

/// Whether `from` and `to` are padding apart.
const fn is_padding(from: u64, to: u64) -> bool {
    from <= to && to.saturating_sub(from) < FRAME_ALIGNMENT as u64
}
