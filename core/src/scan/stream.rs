//! Where a streamed message ends: the walk over its frames, read from a source.

use zerocopy::FromBytes;

use super::find::find;
use super::source::Source;
use super::stated_length;
use crate::frame::{Landmark, Walk, check_cbor_offset, check_end, check_header, find_landmark};
use crate::wire::{
    DATA_OBJECT_FOOTER_SIZE, FRAME_HEADER_SIZE, FrameHeader, MAGIC, ObjectTail, POSTAMBLE_SIZE, PREAMBLE_SIZE,
};

/// Bytes looked at together while looking for a frame or postamble in a gap.
const GAP_CHUNK: usize = 256;
/// What a step to a frame costs of the scan's budget: as much as the smallest frame's bytes.
pub(super) const HOP_COST: u64 = 28;

/// A walk from the preamble of a streamed message to its postamble.
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
    /// A walk over the message that begins at `start` and must end before `end`.
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

    /// Walks to the end of the postamble; `Err` says from where on nothing is certain if that fails.
    pub(super) fn run(&mut self) -> Result<Result<u64, u64>, S::Error> {
        loop {
            match self.find_landmark()? {
                None => return Ok(Err(self.last_frame)),
                Some(Landmark::Postamble) => return self.end(),
                Some(Landmark::Frame) => {
                    let frame = self.walk.position();
                    if !self.enter_frame()? {
                        return Ok(Err(self.last_frame));
                    }
                    self.last_frame = frame;
                }
            }
        }
    }

    /// The end of the postamble that the walk stands at. One that states another length ends another message, whose frames
    /// were taken for this one's.
    fn end(&self) -> Result<Result<u64, u64>, S::Error> {
        let end = self.walk.position().saturating_add(POSTAMBLE_SIZE as u64);
        let stated = stated_length(&self.source.read(self.walk.position())?);
        let is_own = stated == 0 || stated == end.saturating_sub(self.start);
        Ok(if is_own { Ok(end) } else { Err(self.start.saturating_add(PREAMBLE_SIZE as u64)) })
    }

    /// Steps to the next frame or postamble. A start magic before it is that of another message: this one was cut short.
    fn find_landmark(&mut self) -> Result<Option<Landmark>, S::Error> {
        let mut chunk = [0; GAP_CHUNK + POSTAMBLE_SIZE];
        // The usual case needs no more than a header's worth.
        let mut wanted = POSTAMBLE_SIZE.saturating_add(8);
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
