//! Outside of frame bodies: preambles, gaps between frames, headers, postambles.

use zerocopy::FromBytes;

use super::event::{FrameBegin, MessageEnd};
use super::frame_state::FrameState;
use super::machine::{Machine, State};
use super::step::{Progress, Step, split_front};
use crate::error::{ErrorKind, Result};
use crate::frame::{Walk, check_header, find_landmark};
use crate::message::{check_postamble, check_preamble};
use crate::wire::{
    END_MAGIC, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameHeader, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble,
};

/// Bytes of the input that are searched at once in a gap.
///
/// The number is small because these bytes may turn out to be another message's, and are then searched again.
const GAP_CHUNK: usize = 256;

impl Machine {
    /// Reads the preamble of a message that follows another one, or begins the stream.
    pub(super) fn read_preamble<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        let missing = PREAMBLE_SIZE.saturating_sub(self.small.len());
        // Not by `take`: the watch would find this preamble, and report it as another message that begins here.
        let taken = split_front(input, missing as u64);
        self.position = self.position.saturating_add(taken.len() as u64);
        self.small.push(taken);
        let Ok(&preamble) = Preamble::ref_from_bytes(self.small.as_slice()) else { return Ok(Progress::Hungry) };
        self.watch.clear();
        self.missed = None;
        // How many bytes the stream has shows at its end. So a stated length is not held against them here.
        if let Err(error) = check_preamble(&preamble, u64::MAX) {
            // These 24 bytes are not a preamble, so at most a part at their end can be the beginning of one.
            self.watch.feed(self.small.as_slice());
            return Err(error);
        }
        self.accept(preamble);
        Ok(Progress::Moved)
    }

    /// Looks for the preamble of any message.
    pub(super) fn search<'i>(&mut self, input: &mut &'i [u8]) -> Progress<'i> {
        if self.watch.preamble().is_none() {
            let seen = self.watch.feed(input);
            let taken = split_front(input, seen.unwrap_or(input.len()) as u64);
            self.position = self.position.saturating_add(taken.len() as u64);
        }
        let found = self.watch.preamble();
        let Some(Ok(&preamble)) = found.as_ref().map(|bytes| Preamble::ref_from_bytes(bytes)) else {
            return Progress::Hungry;
        };
        self.watch.clear();
        self.missed = None;
        let start = self.position.saturating_sub(PREAMBLE_SIZE as u64);
        let skipped = start.saturating_sub(self.message);
        self.message = start;
        self.accept(preamble);
        Progress::Tell(Step::Resynchronised { skipped })
    }

    /// Begins the message of this preamble.
    fn accept(&mut self, preamble: Preamble) {
        // Another message may begin inside this preamble, but not at its first byte.
        let [_, rest @ ..]: [u8; PREAMBLE_SIZE] = zerocopy::transmute!(preamble);
        self.watch.feed(&rest);
        self.preamble = preamble;
        self.state = State::Begin;
        self.small.clear();
    }

    /// Reports the preamble, and starts the walk over frames.
    pub(super) fn begin<'i>(&mut self) -> Progress<'i> {
        // Without a stated length any frame may follow: only the end magic of a postamble ends the message.
        let end = self.total_length().unwrap_or(u64::MAX).saturating_sub(POSTAMBLE_SIZE as u64);
        self.walk = Walk::new(PREAMBLE_SIZE as u64, end);
        self.objects = 0;
        self.running.begin_message(self.preamble.flags());
        self.enter_gap();
        Progress::Tell(Step::Preamble(self.preamble))
    }

    /// Leaves the gap for the frame or postamble after it.
    const fn leave_gap(&mut self, state: State) {
        self.walk.skip(self.gap);
        self.gap = 0;
        self.state = state;
    }

    /// Looks for `FR` up to the postamble, between the frames of a message that states its length.
    pub(super) fn bounded_gap<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        let [first, _] = *FRAME_MAGIC;
        let before = self.gap.saturating_add(self.small.len() as u64);
        let room = self.walk.room().saturating_sub(before);
        // The postamble comes at the stated place, whatever the bytes of the gap look like.
        if room == 0 {
            self.walk.finish()?;
            self.small.clear();
            self.state = State::Postamble;
            return Ok(Progress::Moved);
        }
        if self.small.len() == 0 {
            let skipped = self.take(input, gap_len(input, room, first))?;
            self.gap = self.gap.saturating_add(skipped.len() as u64);
            if !skipped.is_empty() {
                return Ok(Progress::Moved);
            }
        }
        let room = self.walk.room().saturating_sub(self.gap);
        // One byte before the postamble cannot be `FR`. Waiting for two would take a byte of the postamble.
        let wanted = FRAME_MAGIC.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        if !self.fill_small(input, wanted)? {
            return Ok(Progress::Hungry);
        }
        self.frame_or_shift();
        Ok(Progress::Moved)
    }

    /// Enters the frame that begins with the small bytes. If none does, drops the first of them.
    fn frame_or_shift(&mut self) {
        if self.small.as_slice().starts_with(FRAME_MAGIC) {
            // A gap may have read up to a postamble's length ahead. The frame reads these bytes again.
            self.carry.set(self.small);
            self.small.clear();
            self.leave_gap(State::Header);
        } else {
            self.small.remove_first();
            self.gap = self.gap.saturating_add(1);
        }
    }

    /// Looks for `FR` or a postamble, between the frames of a message that does not state its length.
    ///
    /// Only a whole postamble can be recognised, by the magic at its end (see [`find_landmark`]).
    pub(super) fn open_gap<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.small.len() == 0 {
            // A frame that begins here is read where it lies. No byte of it goes by way of the carry.
            if input.starts_with(FRAME_MAGIC) {
                self.leave_gap(State::Header);
                return Ok(Progress::Moved);
            }
            let skipped = self.take(input, open_gap_len(input))?;
            self.gap = self.gap.saturating_add(skipped.len() as u64);
            if !skipped.is_empty() {
                return Ok(Progress::Moved);
            }
        }
        let is_full = self.fill_small(input, POSTAMBLE_SIZE)?;
        // `FR` counts before all 24 bytes have come: a frame may be the last thing that a slow link sends for a while.
        if self.small.as_slice().starts_with(FRAME_MAGIC) {
            self.frame_or_shift();
            return Ok(Progress::Moved);
        }
        if !is_full {
            return Ok(Progress::Hungry);
        }
        if self.small.as_slice().ends_with(END_MAGIC) {
            self.leave_gap(State::Postamble);
            self.walk.finish()?;
            return self.end_message();
        }
        self.frame_or_shift();
        Ok(Progress::Moved)
    }

    /// Reads the rest of a frame's header.
    pub(super) fn header<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        let offset = self.walk.position();
        let room = self.walk.room();
        if room < FRAME_HEADER_SIZE as u64 {
            return Err(ErrorKind::Truncated.at(offset.saturating_add(room)));
        }
        if !self.fill_small(input, FRAME_HEADER_SIZE)? {
            return Ok(Progress::Hungry);
        }
        let Ok(&header) = FrameHeader::ref_from_bytes(self.small.as_slice()) else {
            return Err(ErrorKind::Truncated.at(offset));
        };
        let (frame_type, total_length) = check_header(&header, room).map_err(|error| error.shift(offset))?;
        self.walk.enter(frame_type, total_length)?;
        let is_object = frame_type.is_data_object();
        let object_index = is_object.then_some(self.objects);
        self.objects = self.objects.saturating_add(u64::from(is_object));
        let begin = FrameBegin { frame_type, flags: header.flags(), offset, total_length, object_index };
        self.frame = FrameState::begin(begin);
        self.running.begin_frame(header.flags());
        self.small.clear();
        self.state = State::Body;
        Ok(Progress::Tell(Step::FrameBegin(begin)))
    }

    /// Reads the postamble of a message that states its length.
    pub(super) fn read_postamble<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.fill_small(input, POSTAMBLE_SIZE)? { self.end_message() } else { Ok(Progress::Hungry) }
    }

    /// Ends the message. The small bytes are its postamble.
    fn end_message<'i>(&mut self) -> Result<Progress<'i>> {
        let length = self.position.saturating_sub(self.message);
        let Ok(&postamble) = Postamble::ref_from_bytes(self.small.as_slice()) else {
            return Err(ErrorKind::Truncated.at(length));
        };
        if let Some(total_length) = self.total_length() {
            check_postamble(&postamble, total_length)?;
        }
        self.message = self.position;
        self.small.clear();
        self.watch.clear();
        self.missed = None;
        self.state = State::Preamble;
        Ok(Progress::Tell(Step::MessageEnd(MessageEnd { length, object_count: self.objects, postamble })))
    }
}

/// How many bytes come before the first byte that equals `first`, at most `room`. Searches [`GAP_CHUNK`] bytes.
fn gap_len(input: &[u8], room: u64, first: u8) -> u64 {
    let ahead = input.get(..GAP_CHUNK).unwrap_or(input);
    let len = ahead.iter().position(|&byte| byte == first).unwrap_or(ahead.len());
    room.min(len as u64)
}

/// How many of the first bytes cannot be the beginning of a frame or postamble, as far as the input shows.
fn open_gap_len(input: &[u8]) -> u64 {
    let ahead = input.get(..GAP_CHUNK).unwrap_or(input);
    // A postamble that begins closer to the end than its own size cannot be recognised yet.
    let known = ahead.len().saturating_sub(POSTAMBLE_SIZE.saturating_sub(1));
    let at = find_landmark(ahead, true).map_or(known, |(at, _)| at);
    at.min(known) as u64
}
