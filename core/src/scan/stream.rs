//! Where a message ends that does not say so, or is not believed: the walk over its frames, read from a source.

use zerocopy::FromBytes;

use super::find::find;
use super::source::Source;
use crate::frame::{Landmark, Walk, check_cbor_offset, check_end, check_header, find_landmark};
use crate::wire::{
    DATA_OBJECT_FOOTER_SIZE, END_MAGIC, FRAME_ALIGNMENT, FRAME_COMMON_FOOTER_SIZE, FRAME_HEADER_SIZE, FrameHeader,
    MAGIC, ObjectTail, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble,
};

/// Bytes looked at together while looking for a frame or postamble in a gap.
const GAP_CHUNK: usize = 256;
/// What a step to a frame costs of the scan's budget: the bytes of the smallest frame.
pub(super) const HOP_COST: u64 = (FRAME_HEADER_SIZE + FRAME_COMMON_FOOTER_SIZE) as u64;

/// More bytes than this no frame has.
const MOST: u64 = 1 << 56;

/// The length of a frame, if `header` is that of a frame with `room` bytes from its start to the end of the source, and the
/// frame does not end there. No frame has 2⁵⁶ bytes, 64 PiB: a length that says so is damaged. It may be text, even the end magic
/// of a message behind which the next one begins.
pub(super) fn overrunning(header: &[u8; FRAME_HEADER_SIZE], room: u64) -> Option<u64> {
    let header = FrameHeader::ref_from_bytes(header).ok()?;
    let (_, length) = check_header(header, MOST).ok()?;
    (length > room).then_some(length)
}

/// How a walk over the frames of a message ended.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// At the end of the postamble.
    Whole(u64),
    /// From here on nothing is certain.
    Broken(u64),
    /// The frame whose body begins at `body` ends at `end`, which is behind the end of the source.
    Overrun {
        /// Where the frame's body begins.
        body: u64,
        /// Where the frame would end.
        end: u64,
    },
    /// Behind whole frames the source ends, in the next one's header or in the postamble.
    Short,
}

impl End {
    /// Up to where the frames can be relied on, the last whole one of which begins at `last_frame`.
    pub(super) const fn certain(self, last_frame: u64) -> u64 {
        match self {
            Self::Whole(end) => end,
            Self::Broken(from) => from,
            Self::Overrun { body, .. } => header_of(body),
            Self::Short => last_frame,
        }
    }
}

/// Where the frame begins whose body is at `body`.
pub(super) const fn header_of(body: u64) -> u64 {
    body.saturating_sub(FRAME_HEADER_SIZE as u64)
}

/// A walk from the preamble of a message to its postamble, wherever the preamble says that this is.
pub(super) struct StreamWalk<'s, S> {
    source: &'s S,
    /// Where the message begins.
    start: u64,
    walk: Walk,
    /// Where the last frame begins: what seems to be its end may be that of a frame of the next message.
    last_frame: u64,
    cost: u64,
}

impl<'s, S: Source> StreamWalk<'s, S> {
    /// A walk over the message that begins at `start` and must end at `end` at the latest.
    pub(super) const fn new(source: &'s S, start: u64, end: u64) -> Self {
        let first = start.saturating_add(PREAMBLE_SIZE as u64);
        Self { source, start, walk: Walk::new(first, end), last_frame: first, cost: 0 }
    }

    /// Where the walk stands.
    pub(super) const fn position(&self) -> u64 {
        self.walk.position()
    }

    /// The work done so far, in bytes looked at.
    pub(super) const fn cost(&self) -> u64 {
        self.cost
    }

    /// Where the last frame begins that was entered.
    pub(super) const fn last_frame(&self) -> u64 {
        self.last_frame
    }

    /// Walks to the end of the postamble, or as far as the frames lead.
    pub(super) fn run(&mut self) -> Result<End, S::Error> {
        loop {
            match self.find_landmark()? {
                None if self.is_short()? => return Ok(End::Short),
                None => return Ok(End::Broken(self.last_frame)),
                Some(Landmark::Postamble) => return self.end(),
                Some(Landmark::Frame) => {
                    let frame = self.walk.position();
                    if !self.enter_frame()? {
                        return self.overrun();
                    }
                    self.last_frame = frame;
                }
            }
        }
    }

    /// Whether the source ends where the postamble, and padding before it, would not be whole.
    fn is_short(&self) -> Result<bool, S::Error> {
        const REST: usize = POSTAMBLE_SIZE + FRAME_ALIGNMENT - 1;
        let room = self.source.len().saturating_sub(self.walk.position());
        let rest = self.source.read::<REST>(self.walk.position())?;
        Ok(room < REST as u64 && find(&rest, END_MAGIC).is_none())
    }

    /// What the frame is that the walk stands at and cannot enter.
    fn overrun(&self) -> Result<End, S::Error> {
        let at = self.walk.position();
        let room = self.source.len().saturating_sub(at);
        if room < FRAME_HEADER_SIZE as u64 {
            return Ok(End::Short);
        }
        Ok(match overrunning(&self.source.read(at)?, room) {
            Some(length) => {
                End::Overrun { body: at.saturating_add(FRAME_HEADER_SIZE as u64), end: at.saturating_add(length) }
            }
            None => End::Broken(self.last_frame),
        })
    }

    /// The end of the postamble that the walk stands at. One that states another length ends another message, whose frames
    /// were taken for this one's.
    fn end(&self) -> Result<End, S::Error> {
        let end = self.walk.position().saturating_add(POSTAMBLE_SIZE as u64);
        let stated = stated_length(&self.source.read(self.walk.position())?);
        let is_own = stated == 0 || stated == end.saturating_sub(self.start);
        Ok(if is_own { End::Whole(end) } else { End::Broken(self.start.saturating_add(PREAMBLE_SIZE as u64)) })
    }

    /// Steps to the next frame or postamble. A start magic before it is that of another message: this one was cut short.
    fn find_landmark(&mut self) -> Result<Option<Landmark>, S::Error> {
        let mut chunk = [0; GAP_CHUNK + POSTAMBLE_SIZE];
        // The usual case needs no more than a header's worth.
        let mut wanted = POSTAMBLE_SIZE.saturating_add(FRAME_ALIGNMENT);
        while self.walk.room() > 0 {
            let room = self.walk.room();
            let wanted_here = usize::try_from(room).unwrap_or(usize::MAX).min(wanted);
            let read = self.source.read_at(self.walk.position(), chunk.get_mut(..wanted_here).unwrap_or_default())?;
            let looked_at = chunk.get(..read).unwrap_or_default();
            // A frame counts only where a postamble before it would have been seen whole.
            let is_last = read as u64 >= room;
            let counts = if is_last { read } else { read.saturating_sub(POSTAMBLE_SIZE) };
            let found = find_landmark(looked_at, true).filter(|&(at, _)| at < counts);
            let before = looked_at.get(..found.map_or(read, |(at, _)| at)).unwrap_or_default();
            let gap = found.map_or(counts, |(at, _)| at);
            self.cost = self.cost.saturating_add(gap as u64).saturating_add(HOP_COST);
            if is_last && found.is_none() || counts == 0 || find(before, MAGIC).is_some() {
                return Ok(None);
            }
            self.walk.skip(gap as u64);
            if let Some((_, landmark)) = found {
                return Ok(Some(landmark));
            }
            wanted = chunk.len();
        }
        Ok(None)
    }

    /// Enters the frame that the walk stands at: header, tail and order must be right.
    fn enter_frame(&mut self) -> Result<bool, S::Error> {
        if self.walk.room() < FRAME_HEADER_SIZE as u64 {
            return Ok(false);
        }
        let bytes = self.source.read::<FRAME_HEADER_SIZE>(self.walk.position())?;
        let Ok(header) = FrameHeader::ref_from_bytes(&bytes) else { return Ok(false) };
        let Ok((frame_type, length)) = check_header(header, self.walk.room()) else { return Ok(false) };
        let end = self.walk.position().saturating_add(length);
        // The tail of a data object, of which other frames have the last part only.
        let tail = end.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
        let bytes = self.source.read::<DATA_OBJECT_FOOTER_SIZE>(tail)?;
        let Ok(tail) = ObjectTail::ref_from_bytes(&bytes) else { return Ok(false) };
        let is_whole = check_end(&tail.end, length).is_ok()
            && (!frame_type.is_data_object() || check_cbor_offset(tail, length).is_ok());
        Ok(is_whole && self.walk.enter(frame_type, length).is_ok())
    }
}

/// The length that a postamble states; 0 if it is none, or does not say.
pub(super) fn stated_length(bytes: &[u8; POSTAMBLE_SIZE]) -> u64 {
    let postamble = Postamble::ref_from_bytes(bytes).ok().filter(|postamble| postamble.magic == *END_MAGIC);
    postamble.map_or(0, |postamble| postamble.total_length.get())
}
