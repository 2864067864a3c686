//! The walk over a message's frames, read from a source. It finds the end of a message that does not state its length, or
//! whose stated length is wrong.

use zerocopy::FromBytes;

use super::budget::HOP_COST;
use super::find::find;
use super::source::Source;
use crate::frame::{Landmark, Walk, check_cbor_offset, check_end, check_header, find_landmark};
use crate::wire::{
    DATA_OBJECT_FOOTER_SIZE, END_MAGIC, FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FrameHeader, MAGIC, ObjectTail,
    POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble,
};

/// Bytes that are read at once while searching for a frame or postamble in a gap.
const GAP_CHUNK: usize = 256;

/// The largest length of a frame that is taken seriously: 64 PiB.
const MOST: u64 = 1 << 56;

/// The length of the frame with this `header`, if the frame is longer than `room`, which is the number of bytes up to the
/// end of the source.
///
/// A length above 2⁵⁶ is damaged, and gives `None`. Such a length may be text, for example the end magic of a message.
#[inline]
pub(super) fn overrunning(header: &[u8; FRAME_HEADER_SIZE], room: u64) -> Option<u64> {
    let header = FrameHeader::ref_from_bytes(header).ok()?;
    let (_, length) = check_header(header, MOST).ok()?;
    (length > room).then_some(length)
}

/// How a walk over the frames of a message ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// At the end of the postamble.
    Whole(u64),
    /// At damage. The frames cannot be relied on from here on.
    Broken(u64),
    /// In a frame that does not end in the source.
    Overrun {
        /// Where the frame's body begins.
        body: u64,
        /// Where the frame would end.
        end: u64,
    },
    /// At the end of the source, after whole frames: inside the next frame's header or inside the postamble.
    Short,
}

impl End {
    /// The place up to which the frames can be relied on. `last_frame` is where the last whole frame begins.
    pub(super) const fn certain(self, last_frame: u64) -> u64 {
        match self {
            Self::Whole(end) => end,
            Self::Broken(from) => from,
            Self::Overrun { body, .. } => header_of(body),
            Self::Short => last_frame,
        }
    }
}

/// Where the frame with this `body` begins.
pub(super) const fn header_of(body: u64) -> u64 {
    body.saturating_sub(FRAME_HEADER_SIZE as u64)
}

/// How far a walk over the frames of a message has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Where the message begins.
    start: u64,
    /// Where the walk ends at the latest.
    end: u64,
    walk: Walk,
    /// Where the last entered frame begins. If its length is damaged, it may end with a frame of the next message.
    last_frame: u64,
    /// Where that frame ends.
    behind: u64,
    cost: u64,
    /// How the walk ended.
    ended: Option<End>,
}

impl Progress {
    /// The beginning of a walk over the message at `start`, up to `end` at most.
    pub(super) const fn new(start: u64, end: u64) -> Self {
        let first = start.saturating_add(PREAMBLE_SIZE as u64);
        Self { start, end, walk: Walk::new(first, end), last_frame: first, behind: first, cost: 0, ended: None }
    }

    /// Whether this is a walk over the message at `start`, up to `end`.
    pub(super) const fn is_of(&self, start: u64, end: u64) -> bool {
        self.start == start && self.end == end
    }

    /// The walk's position.
    pub(super) const fn position(&self) -> u64 {
        self.walk.position()
    }

    /// Where the last entered frame ends, or the preamble.
    pub(super) const fn behind(&self) -> u64 {
        self.behind
    }

    /// The cost so far, in bytes.
    pub(super) const fn cost(&self) -> u64 {
        self.cost
    }

    /// Where the last entered frame begins.
    pub(super) const fn last_frame(&self) -> u64 {
        self.last_frame
    }
}

/// A walk from the preamble of a message to its postamble, whatever length the preamble states.
pub(super) struct StreamWalk<'s, S> {
    source: &'s S,
    at: Progress,
}

impl<'s, S: Source> StreamWalk<'s, S> {
    /// A walk that goes on from `at`.
    pub(super) const fn new(source: &'s S, at: Progress) -> Self {
        Self { source, at }
    }

    /// How far the walk has come.
    pub(super) const fn progress(&self) -> Progress {
        self.at
    }

    /// Walks to the end of the postamble, or as far as the frames lead.
    ///
    /// After an error of the source it goes on from the same place. A step is paid for when it is done, so the cost is the
    /// same however often the source had to be asked.
    pub(super) fn run(&mut self) -> Result<End, S::Error> {
        loop {
            if let Some(end) = self.at.ended {
                return Ok(end);
            }
            let end = match self.find_landmark()? {
                None if self.is_short()? => Some(End::Short),
                None => Some(End::Broken(self.at.last_frame)),
                Some(Landmark::Postamble) => Some(self.end()?),
                Some(Landmark::Frame) => {
                    let frame = self.at.walk.position();
                    if self.enter_frame()? {
                        self.at.last_frame = frame;
                        self.at.behind = self.at.walk.position();
                        None
                    } else {
                        Some(self.overrun()?)
                    }
                }
            };
            self.at.cost = self.at.cost.saturating_add(HOP_COST);
            self.at.ended = end;
        }
    }

    /// Whether the source ends before padding and a postamble would be complete.
    fn is_short(&self) -> Result<bool, S::Error> {
        const REST: usize = POSTAMBLE_SIZE + FRAME_ALIGNMENT - 1;
        let room = self.source.len().saturating_sub(self.at.behind);
        Ok(room < REST as u64 && find(&self.source.read::<REST>(self.at.behind)?, END_MAGIC).is_none())
    }

    /// How the walk ends at a frame that it cannot enter.
    fn overrun(&self) -> Result<End, S::Error> {
        let at = self.at.walk.position();
        let room = self.source.len().saturating_sub(at);
        if room < FRAME_HEADER_SIZE as u64 {
            return Ok(End::Short);
        }
        Ok(match overrunning(&self.source.read(at)?, room) {
            Some(length) => {
                End::Overrun { body: at.saturating_add(FRAME_HEADER_SIZE as u64), end: at.saturating_add(length) }
            }
            None => End::Broken(self.at.last_frame),
        })
    }

    /// How the walk ends at a postamble. If that states another length, it belongs to another message, and frames of that
    /// message were taken for this one's.
    fn end(&self) -> Result<End, S::Error> {
        let end = self.at.walk.position().saturating_add(POSTAMBLE_SIZE as u64);
        let stated = stated_length(&self.source.read(self.at.walk.position())?);
        let is_own = stated == 0 || stated == end.saturating_sub(self.at.start);
        Ok(if is_own { End::Whole(end) } else { End::Broken(self.at.start.saturating_add(PREAMBLE_SIZE as u64)) })
    }

    /// Steps to the next frame or postamble. `None` if a start magic comes first: this message was then cut short.
    fn find_landmark(&mut self) -> Result<Option<Landmark>, S::Error> {
        let mut chunk = [0; GAP_CHUNK + POSTAMBLE_SIZE];
        // Mostly padding and a postamble's worth of bytes are enough.
        let mut wanted = POSTAMBLE_SIZE.saturating_add(FRAME_ALIGNMENT);
        while self.at.walk.room() > 0 {
            let room = self.at.walk.room();
            let wanted_here = usize::try_from(room).unwrap_or(usize::MAX).min(wanted);
            let read =
                self.source.read_at(self.at.walk.position(), chunk.get_mut(..wanted_here).unwrap_or_default())?;
            let looked_at = chunk.get(..read).unwrap_or_default();
            // A place counts only if a whole postamble would have been seen there.
            let is_last = read as u64 >= room;
            let counts = if is_last { read } else { read.saturating_sub(POSTAMBLE_SIZE - 1) };
            let found = find_landmark(looked_at, true).filter(|&(at, _)| at < counts);
            let gap = found.map_or(counts, |(at, _)| at);
            // The place of the magic, the cost and the walk's position do not depend on how many bytes a read gave.
            let searched = looked_at.get(..gap.saturating_add(const { MAGIC.len() - 1 })).unwrap_or(looked_at);
            let next_message = find(searched, MAGIC);
            let passed = next_message.unwrap_or(gap) as u64;
            self.at.cost = self.at.cost.saturating_add(passed);
            self.at.walk.skip(passed);
            if found.is_some() || next_message.is_some() || is_last || counts == 0 {
                let landmark = found.filter(|_| next_message.is_none());
                return Ok(landmark.map(|(_, landmark)| landmark));
            }
            wanted = chunk.len();
        }
        Ok(None)
    }

    /// Enters the frame at the walk's position, if its header, tail and order are valid. Returns whether they are.
    fn enter_frame(&mut self) -> Result<bool, S::Error> {
        if self.at.walk.room() < FRAME_HEADER_SIZE as u64 {
            return Ok(false);
        }
        let bytes = self.source.read::<FRAME_HEADER_SIZE>(self.at.walk.position())?;
        let Ok(header) = FrameHeader::ref_from_bytes(&bytes) else { return Ok(false) };
        let Ok((frame_type, length)) = check_header(header, self.at.walk.room()) else { return Ok(false) };
        let end = self.at.walk.position().saturating_add(length);
        // All frames end like a data object's tail. Other frames have only its last part.
        let tail = end.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
        let bytes = self.source.read::<DATA_OBJECT_FOOTER_SIZE>(tail)?;
        let Ok(tail) = ObjectTail::ref_from_bytes(&bytes) else { return Ok(false) };
        let is_whole = check_end(&tail.end, length).is_ok()
            && (!frame_type.is_data_object() || check_cbor_offset(tail, length).is_ok());
        Ok(is_whole && self.at.walk.enter(frame_type, length).is_ok())
    }
}

/// The length that a postamble states; 0 if these bytes are not a postamble, or if it does not state a length.
#[inline]
pub(super) fn stated_length(bytes: &[u8; POSTAMBLE_SIZE]) -> u64 {
    let postamble = Postamble::ref_from_bytes(bytes).ok().filter(|postamble| postamble.magic == *END_MAGIC);
    postamble.map_or(0, |postamble| postamble.total_length.get())
}
