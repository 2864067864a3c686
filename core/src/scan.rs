//! Finding where messages begin and end in bytes that hold several, and what lies between them (FORMAT §5.6).
//!
//! A message that states its length takes two reads: its preamble and its end magic. A streamed message does not state its
//! length: the scanner walks from frame to frame to its postamble. If its frames are damaged, it ends at the first end
//! magic, unless an undamaged message begins before that. All other bytes are reported as junk.
//!
//! # Torn messages
//!
//! A writer that is killed leaves a preamble and some frames. The last frame does not end in the file. The bytes inside that
//! frame are payload, even if they look like a message, because a payload may be a file of messages. So the scanner walks
//! the frames of an incomplete message first. It does not search inside whole frames, and it continues its search where
//! they end.
//!
//! If the last frame does not end in the source, the bytes after its header are payload. There are two exceptions, because
//! messages that were written later must not be lost:
//!
//! - A row of messages that reaches to the end of the source was appended by another writer. Its last message may be torn
//!   too. Such a row counts, unless it begins exactly where the frame's body does: then it is the payload.
//! - Messages after an end magic come after a finished message. The frame's length is damaged.
//!
//! # Both ends
//!
//! A scan may also take messages from the end, by [`Scanner::next_message_back`]. What is found from the start decides, and
//! no message from the end changes it: whatever the order of the steps, a scan gives what it gives from the start alone.
//! Where a message from the start reaches into those from the end, these do not count: see [`Scanner::back_agrees`].
//!
//! # Cost
//!
//! The scanner works on any [`Source`]. It reads preambles, postambles and the frame headers of streamed messages, and never
//! payloads. Its time is linear in the length of the source **whatever the bytes are**. One pass finds start magics, and
//! another finds end magics. Walks that fail spend a budget, which grows as the scan comes further. While it is used up,
//! streamed messages end at the next end magic.

mod budget;
mod find;
mod growing;
mod source;
mod stream;
#[cfg(test)]
mod tests;

use zerocopy::FromBytes;

pub use find::find;
pub use source::{Source, find_in_chunks};

use crate::error::{Error, ErrorKind};
use crate::message::check_preamble;
use crate::wire::{
    END_MAGIC, FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FRAME_MAGIC, MAGIC, MIN_MESSAGE_SIZE, POSTAMBLE_SIZE, PREAMBLE_SIZE,
    Preamble, WIRE_VERSION,
};
use budget::{Budget, HOP_COST};
use stream::{End, Progress, StreamWalk, header_of, overrunning, stated_length};

/// How many messages the first step from the end looks back over, to see whether they are the payload of a torn message.
const LOOK_BACK: usize = 64;

/// A part of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A message: it has a preamble and an end magic. [`crate::Message::parse`] checks the rest.
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
        /// The number of bytes.
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

/// The messages in `bytes` and the junk between them, in order: an iterator of [`Segment`] that covers every byte.
///
/// ```
/// use tgm_core::Message;
/// use tgm_core::scan::{Segment, scan};
///
/// assert_eq!(scan(b"no message").collect::<Vec<_>>(), [Segment::Junk { offset: 0, length: 10 }]);
///
/// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
/// for segment in scan(bytes).filter(Segment::is_message) {
///     let message = Message::parse(segment.bytes_of(bytes).unwrap_or_default())?;
///     println!("{} objects", message.outline()?.object_count);
/// }
/// # Ok::<(), tgm_core::Error>(())
/// ```
pub fn scan(bytes: &[u8]) -> Scanner<&[u8]> {
    Scanner::new(bytes)
}

/// A scan in progress. The bytes between [`Self::front`] and [`Self::back`] were not assigned to a segment yet.
#[derive(Clone, Debug)]
pub struct Scanner<S> {
    source: S,
    front: u64,
    back: u64,
    /// Where the search for the next message goes on. Bytes before this place are not read again.
    place: u64,
    /// The message after the junk that was reported last.
    found: Option<(u64, u64)>,
    /// The last search for an end magic: where it started, and the position that it found.
    end_magic: Option<(u64, Option<u64>)>,
    /// What failed walks may still cost.
    budget: Budget,
    torn: Option<u64>,
    /// Whether no message from the start reaches into those from the end.
    back_agrees: bool,
    /// The last walk over frames. It goes on from there if the source could not be read further.
    walked: Option<Progress>,
}

/// What there is at a place where a message may begin.
enum Place {
    /// A message of this length.
    Message(u64),
    /// No message. The search goes on from here.
    Nothing(u64),
    /// A message that was not finished. It reaches to the end of the source.
    Torn,
}

impl<S> Scanner<S> {
    /// The same scan over another source, which must hold the same bytes.
    ///
    /// A source that does not have all bytes at hand fails where one is missing. A failed call changes nothing, so the scan
    /// goes on from the same place once the source has the byte, or over another source that has it.
    ///
    /// ```
    /// use tgm_core::scan::{Scanner, Segment};
    ///
    /// let bytes = b"no message".to_vec();
    /// let scan = Scanner::new(&bytes[..]).with_source(()); // borrows no bytes
    /// let mut resumed = scan.with_source(&bytes[..]);
    /// assert_eq!(resumed.next(), Some(Segment::Junk { offset: 0, length: 10 }));
    /// ```
    pub fn with_source<T>(self, source: T) -> Scanner<T> {
        let Self { source: _, front, back, place, found, end_magic, budget, torn, back_agrees, walked } = self;
        Scanner { source, front, back, place, found, end_magic, budget, torn, back_agrees, walked }
    }

    /// The source that is scanned.
    pub const fn source(&self) -> &S {
        &self.source
    }

    /// Where the unassigned bytes begin.
    pub const fn front(&self) -> u64 {
        self.front
    }

    /// Where the unassigned bytes end.
    pub const fn back(&self) -> u64 {
        self.back
    }

    /// Where a torn message begins, once [`Self::next_segment`] has come to it: a message whose writer did not finish it.
    ///
    /// All bytes from there to the end of the source are junk. If [`Self::next_message_back`] returned messages in that
    /// part, they are payload of the torn message, and do not count ([`Self::back_agrees`]).
    pub const fn torn(&self) -> Option<u64> {
        self.torn
    }

    /// Whether the messages that [`Self::next_message_back`] returned count.
    ///
    /// They do not if [`Self::next_segment`] found a message that reaches into them, or a torn message: they lie inside that
    /// message. Such bytes are damaged. [`Self::back`] is then the end of the source again, all of which is scanned from
    /// the start.
    pub const fn back_agrees(&self) -> bool {
        self.back_agrees
    }
}

impl<S: Source> Scanner<S> {
    /// A scan of the whole source.
    pub fn new(source: S) -> Self {
        let back = source.len();
        Self {
            source,
            front: 0,
            back,
            place: 0,
            found: None,
            end_magic: None,
            budget: Budget::new(0),
            torn: None,
            back_agrees: true,
            walked: None,
        }
    }

    /// The next segment from the front; `None` when every byte has been assigned.
    ///
    /// # Errors
    /// The errors of reading the source. The scan is then as it was before, and the call can be made again.
    pub fn next_segment(&mut self) -> Result<Option<Segment>, S::Error> {
        if self.found.is_none() {
            self.found = self.find_message()?;
        }
        let (offset, length) = self.found.unwrap_or((self.back, 0));
        if offset > self.front {
            let junk = Segment::Junk { offset: self.front, length: offset.saturating_sub(self.front) };
            self.front = offset;
            self.place = offset;
            return Ok(Some(junk));
        }
        self.found = None;
        self.front = self.front.saturating_add(length);
        self.place = self.front;
        Ok((length > 0).then_some(Segment::Message { offset, length }))
    }

    /// The message that ends at the back, if its postamble states its length and a preamble agrees: two reads.
    ///
    /// `None` if there is no such message, if it is longer than `max_length`, if it seems to be the payload of a torn
    /// message, or if an earlier one did not count ([`Self::back_agrees`]). [`Self::next_segment`] then has to find the rest.
    ///
    /// # Errors
    /// The errors of reading the source. The scan is then as it was before.
    ///
    /// Format: FORMAT §5.6, backward.
    pub fn next_message_back(&mut self, max_length: u64) -> Result<Option<Segment>, S::Error> {
        let start = self.found.map_or(self.front, |(offset, length)| offset.saturating_add(length));
        let room = self.back.saturating_sub(start);
        if room < MIN_MESSAGE_SIZE as u64 || !self.back_agrees {
            return Ok(None);
        }
        let tail = self.source.read::<POSTAMBLE_SIZE>(self.back.saturating_sub(POSTAMBLE_SIZE as u64))?;
        let length = stated_length(&tail);
        if length < MIN_MESSAGE_SIZE as u64 || length > room.min(max_length) {
            return Ok(None);
        }
        let offset = self.back.saturating_sub(length);
        let head = self.source.read::<PREAMBLE_SIZE>(offset)?;
        if !states(&head, length) {
            return Ok(None);
        }
        if self.back == self.source.len() && self.is_torn_payload(offset)? {
            return Ok(None);
        }
        self.back = offset;
        Ok(Some(Segment::Message { offset, length }))
    }

    /// Whether the message at `offset`, which ends with the source, is payload of a torn message.
    ///
    /// It is if this message, or one of the messages right before it, begins with the body of a frame that does not end in
    /// the source. Only [`LOOK_BACK`] messages are looked at, so this is O(1).
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
                Some(start) if states(&self.source.read(start)?, length) => offset = start,
                _ => return Ok(false),
            }
        }
        Ok(false)
    }

    /// The first message at or after the front, as offset and length.
    ///
    /// After an error of the source the search goes on at the same place.
    fn find_message(&mut self) -> Result<Option<(u64, u64)>, S::Error> {
        // Since a call that failed, messages may have been found from the end, before the place that it had come to.
        self.come_to(self.place);
        // Messages mostly follow each other directly, so the first place to look at is the front itself.
        while self.place < self.back {
            let (at, budget) = (self.place, self.budget);
            // A place that could not be read is looked at again, and its walks are paid for then.
            let place = self.place_at(at).inspect_err(|_| self.budget = budget)?;
            match place {
                Place::Message(length) => {
                    self.come_to(at.saturating_add(length));
                    return Ok(Some((at, length)));
                }
                Place::Nothing(from) => {
                    self.come_to(from);
                    self.place = from;
                }
                Place::Torn => {
                    self.come_to(self.source.len());
                    self.torn = Some(at);
                    return Ok(None);
                }
            }
            match self.source.find(MAGIC, self.place, self.back)? {
                Some(next) => self.place = next,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Notes that the search from the start has reached `place`. If a message that was found from the end begins before that
    /// place, the messages from the end do not count, and the search goes on to the end of the source.
    #[inline]
    fn come_to(&mut self, place: u64) {
        if place > self.back {
            self.back = self.source.len();
            self.back_agrees = false;
        }
    }

    /// What there is at `at`.
    fn place_at(&mut self, at: u64) -> Result<Place, S::Error> {
        self.budget.come_to(at);
        let next = Place::Nothing(at.saturating_add(1));
        let room = self.source.len().saturating_sub(at);
        if room < MIN_MESSAGE_SIZE as u64 {
            return Ok(next);
        }
        let mut head = self.source.read(at)?;
        // Writers of this library write the start magic last. So after a message, zeros or a part of it may be
        // in its place.
        let is_unwritten = at == self.front && fill_magic(&mut head);
        match preamble(&head, room) {
            Ok(None) if !is_unwritten => return self.streamed_message(at),
            Ok(Some(length)) if !is_unwritten && self.stated_message(at, length)? => return Ok(Place::Message(length)),
            Err(error) if matches!(error.kind(), ErrorKind::StartMagic | ErrorKind::Version(_)) => return Ok(next),
            _ => {}
        }
        // A start magic without a frame after it is not worth a walk. So many bare magics cost little.
        let first = at.saturating_add(PREAMBLE_SIZE as u64);
        if !self.budget.allows_a_walk() || self.source.read(first)? != *FRAME_MAGIC {
            return Ok(next);
        }
        let stated = Preamble::ref_from_bytes(&head).map_or(0, |preamble| preamble.total_length.get());
        let stated_end = if stated == 0 { u64::MAX } else { at.saturating_add(stated) };
        let (end, walked) = self.walk(at, self.source.len())?;
        let (stopped, last_frame) = (walked.behind(), walked.last_frame());
        let is_torn = self.source.len() < stated_end && self.is_torn(end, stated_end)?;
        Ok(match end {
            _ if is_torn => Place::Torn,
            // The walk came to where the message should end: all frames are whole, and only the end is damaged.
            _ if is_padding(stopped, stated_end.saturating_sub(POSTAMBLE_SIZE as u64)) => Place::Nothing(stopped),
            _ => Place::Nothing(end.certain(last_frame)),
        })
    }

    /// Whether a message was left unfinished by its writer. `end` is how a walk over its frames ended, and `stated_end` is
    /// where the preamble says that the message ends.
    fn is_torn(&mut self, end: End, stated_end: u64) -> Result<bool, S::Error> {
        match end {
            End::Short => Ok(true),
            // A frame that ends beyond its message has a damaged length.
            End::Overrun { body, end } if end <= stated_end => self.is_payload(body, stated_end == u64::MAX),
            _ => Ok(false),
        }
    }

    /// Whether all bytes from `body` on are payload of the frame whose body begins there, even if they contain messages. The
    /// frame does not end in the source.
    fn is_payload(&mut self, body: u64, is_streamed: bool) -> Result<bool, S::Error> {
        let end = self.source.len();
        let (mut from, mut any) = (body, false);
        while let Some(at) = self.find_sound(from, end)? {
            let before: [u8; END_MAGIC.len()] = self.source.read(at.saturating_sub(END_MAGIC.len() as u64))?;
            if at > body && before == *END_MAGIC {
                return Ok(false);
            }
            // Find the end of the row of messages that begins there.
            let mut behind = at;
            while let Some(length) = self.sound_length(behind, end)? {
                behind = behind.saturating_add(length);
                self.budget.spend(HOP_COST);
            }
            if at > body && (behind >= end || self.is_begun(behind)?) {
                return Ok(false);
            }
            (from, any) = (behind, true);
        }
        // An end magic may be the end of this very message, if it is streamed and its last frame has a damaged length.
        let may_be_whole = is_streamed && !any && self.find_end_magic(header_of(body))?.is_some();
        // If the budget is used up, not all bytes were searched.
        Ok(!may_be_whole && self.budget.allows_a_walk())
    }

    /// Whether a preamble begins at `at`. The end of the source may cut it off.
    fn is_begun(&self, at: u64) -> Result<bool, S::Error> {
        let mut head = self.source.read::<PREAMBLE_SIZE>(at)?;
        let room = usize::try_from(self.source.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let magic = head.get(..MAGIC.len().min(room)).unwrap_or_default();
        Ok(MAGIC.starts_with(magic) || fill_magic(&mut head))
    }

    /// Whether a message of this stated length has its end magic in the right place.
    fn stated_message(&self, at: u64, length: u64) -> Result<bool, S::Error> {
        let end = at.saturating_add(length);
        let magic: [u8; END_MAGIC.len()] = self.source.read(end.saturating_sub(END_MAGIC.len() as u64))?;
        Ok(magic == *END_MAGIC)
    }

    /// The streamed message at `at`. It ends with its frames or, if they are damaged, with the first end magic.
    fn streamed_message(&mut self, at: u64) -> Result<Place, S::Error> {
        // The fewest bytes before an end magic: the preamble, and the postamble up to its magic.
        const BEFORE_END_MAGIC: u64 = (MIN_MESSAGE_SIZE - END_MAGIC.len()) as u64;
        let (end, broken) = self.walk_stream(at, self.source.len())?;
        if let End::Whole(end) = end {
            return Ok(Place::Message(end.saturating_sub(at)));
        }
        if self.is_torn(end, u64::MAX)? {
            return Ok(Place::Torn);
        }
        // An end magic inside its whole frames does not count.
        let earliest = at.saturating_add(BEFORE_END_MAGIC).max(broken);
        let Some(magic) = self.find_end_magic(earliest)? else { return Ok(Place::Nothing(broken)) };
        if self.find_sound(broken, magic)?.is_some() {
            return Ok(Place::Nothing(broken));
        }
        Ok(Place::Message(magic.saturating_add(END_MAGIC.len() as u64).saturating_sub(at)))
    }

    /// Walks the frames of the streamed message at `at`, up to `end` at most. Returns how the walk ended, and the place up to
    /// which the frames can be relied on. Only a walk that fails takes from the budget.
    fn walk_stream(&mut self, at: u64, end: u64) -> Result<(End, u64), S::Error> {
        if !self.budget.allows_a_walk() {
            let first = Progress::new(at, end).position();
            return Ok((End::Broken(first), first));
        }
        let (end, walked) = self.walk(at, end)?;
        Ok((end, end.certain(walked.last_frame())))
    }

    /// Walks the frames of the message at `at`, up to `end` at most. A walk that the source interrupted goes on where it
    /// was. Only a walk that fails takes from the budget.
    fn walk(&mut self, at: u64, end: u64) -> Result<(End, Progress), S::Error> {
        let before = self.walked.filter(|walked| walked.is_of(at, end)).unwrap_or_else(|| Progress::new(at, end));
        let mut walk = StreamWalk::new(&self.source, before);
        let ended = walk.run();
        let walked = walk.progress();
        self.walked = Some(walked);
        let end = ended?;
        self.budget.come_to(walked.position());
        if !matches!(end, End::Whole(_)) {
            self.budget.spend(walked.cost());
        }
        Ok((end, walked))
    }

    /// Where the first undamaged message between `from` and `to` begins.
    ///
    /// If there is one after a damaged frame, the damaged message was cut short, and an end magic at `to` is not its own.
    fn find_sound(&mut self, from: u64, to: u64) -> Result<Option<u64>, S::Error> {
        let mut from = from;
        while self.budget.allows_a_walk() {
            let found = self.source.find(MAGIC, from, to)?;
            let searched = found.unwrap_or(to);
            self.budget.come_to(searched);
            self.budget.spend(searched.saturating_sub(from).saturating_add(HOP_COST));
            let Some(at) = found else { return Ok(None) };
            if self.sound_length(at, self.source.len())?.is_some() {
                return Ok(Some(at));
            }
            from = at.saturating_add(1);
        }
        Ok(None)
    }

    /// The length of the message at `at`, if it is undamaged and ends at `end` at the latest.
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
                // This walk is made again for every damaged message before it, so it takes from the budget even if it succeeds.
                self.budget.spend(walked.unwrap_or(0));
                Ok(walked)
            }
            Err(_) => Ok(None),
        }
    }

    /// The first end magic at or after `from`. The result is remembered, so all searches together are one pass.
    fn find_end_magic(&mut self, from: u64) -> Result<Option<u64>, S::Error> {
        let at = match self.end_magic {
            Some((searched_from, at)) if searched_from <= from && at.is_none_or(|at| at >= from) => at,
            _ => {
                let at = self.source.find(END_MAGIC, from, self.source.len())?;
                self.end_magic = Some((from, at));
                at
            }
        };
        Ok(at)
    }
}

impl<S: Source<Error = core::convert::Infallible>> Iterator for Scanner<S> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let Ok(segment) = self.next_segment();
        segment
    }
}

/// The length that a preamble states. `room` is the number of bytes from its start on.
#[inline]
fn preamble(bytes: &[u8; PREAMBLE_SIZE], room: u64) -> Result<Option<u64>, Error> {
    Preamble::ref_from_bytes(bytes).map_or(Ok(None), |preamble| check_preamble(preamble, room))
}

/// Whether a preamble states this length, and all `length` bytes from its start on are there.
#[inline]
fn states(bytes: &[u8; PREAMBLE_SIZE], length: u64) -> bool {
    matches!(preamble(bytes, length), Ok(Some(stated)) if stated == length)
}

/// Writes the start magic if zeros, or a part of it, are in its place before the rest of a preamble. Returns whether they
/// were.
#[inline]
fn fill_magic(head: &mut [u8; PREAMBLE_SIZE]) -> bool {
    let Some((magic, rest)) = head.split_first_chunk_mut::<{ MAGIC.len() }>() else { return false };
    // A crash can leave a part of the magic: the border between two sectors of the disk may lie in it.
    let is_part = *magic != *MAGIC && magic.iter().zip(MAGIC).all(|(byte, full)| *byte == 0 || byte == full);
    let is_unwritten = is_part && rest.starts_with(&WIRE_VERSION.to_be_bytes());
    if is_unwritten {
        *magic = *MAGIC;
    }
    is_unwritten
}

/// Whether the bytes from `from` to `to` can be padding.
const fn is_padding(from: u64, to: u64) -> bool {
    from <= to && to.saturating_sub(from) < FRAME_ALIGNMENT as u64
}
