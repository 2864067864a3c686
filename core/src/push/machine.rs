//! The machine behind the decoder: everything but the memory, whose size is the caller's.
//!
//! ```text
//!             ┌──────────────────────── postamble ◄─────────────────────────┐
//!             ▼                                                             │
//!  start ─► preamble ─► gap ─► header ─► body (super::body) ─► tail ─► gap ─┴─► header …
//!             │          │        │         │                   │
//!             └──────────┴────────┴── error ┴───────────────────┘
//!                                       ▼
//!                                    search ─► found ─► gap …
//! ```
//!
//! Input is taken by [`Machine::take`] alone, which shows it to the [`Watch`], but for preambles, which are shown when they
//! have turned out to be none, or without their first byte. So the watch has seen every place where a message can begin,
//! and after an error the search goes on from what it holds: no byte is read again.

use zerocopy::FromBytes;

use super::Link;
use super::body::FrameState;
use super::event::{FrameBegin, MessageEnd};
use super::running::Running;
use super::step::{Carry, Progress, SMALL, Small, Step, split_front};
use super::watch::Watch;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{Frame, Landmark, Walk, check_header, find_landmark};
use crate::message::{check_postamble, check_preamble};
use crate::wire::{
    END_MAGIC, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameHeader, MIN_MESSAGE_SIZE, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble,
    Preamble,
};

/// Bytes of the input that are looked at together in a gap: few, because what is looked at may turn out to be another
/// message's, and is then looked at again.
const GAP_CHUNK: usize = 256;

/// What is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A message.
    Preamble,
    /// The start of any message.
    Search,
    /// The preamble's event.
    Begin,
    /// A frame, or the end of the message.
    Gap,
    /// The rest of a frame's header.
    Header,
    /// A frame's body and tail.
    Body,
    /// The postamble of a message that states its length.
    Postamble,
}

/// Where the decoder stands.
pub(super) struct Machine {
    pub(super) link: Link,
    pub(super) state: State,
    pub(super) small: Small,
    pub(super) carry: Carry,
    /// Whether the bytes that are taken come from the carry: they were counted and watched before.
    replaying: bool,
    watch: Watch,
    /// Where the first message that began inside the one given up lies in the stream.
    pub(super) missed: Option<u64>,
    /// Bytes of the stream taken.
    pub(super) position: u64,
    /// Where the message, or the junk, begins in the stream.
    pub(super) message: u64,
    preamble: Preamble,
    pub(super) walk: Walk,
    /// Bytes of the gap that are ruled out as the beginning of anything.
    gap: u64,
    pub(super) objects: u64,
    pub(super) frame: FrameState,
    pub(super) running: Running,
}

impl Machine {
    pub(super) const fn new(link: Link, position: u64) -> Self {
        let preamble: Preamble = zerocopy::transmute!([0_u8; PREAMBLE_SIZE]);
        Self {
            link,
            state: State::Preamble,
            small: Small::new(),
            carry: Carry::new(),
            replaying: false,
            watch: Watch::new(),
            missed: None,
            position,
            message: position,
            preamble,
            walk: Walk::new(0, 0),
            gap: 0,
            objects: 0,
            frame: FrameState::NONE,
            running: Running::new(),
        }
    }

    /// Gives the message up: what comes is searched for the start of another.
    pub(super) const fn fail(&mut self) {
        self.state = State::Search;
        self.carry.clear();
        self.small.clear();
    }

    /// Goes on until there is something to tell, or no input.
    pub(super) fn step<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Option<Step<'i>>> {
        loop {
            if self.carry.rest().is_empty() {
                match self.advance(memory, input)? {
                    Progress::Tell(step) => return Ok(Some(step)),
                    Progress::Moved => {}
                    Progress::Hungry => return Ok(None),
                }
                continue;
            }
            let carry = self.carry;
            let mut ahead = carry.rest();
            let available = ahead.len();
            self.replaying = true;
            let progress = self.advance(memory, &mut ahead);
            self.replaying = false;
            // A header that was read ahead does not put another carry in this one's place: it is followed by a body.
            self.carry.advance(available.saturating_sub(ahead.len()));
            if let Progress::Tell(step) = progress? {
                return Ok(Some(step.carried(carry.at())));
            }
        }
    }

    fn advance<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        match self.state {
            State::Preamble => self.read_preamble(input),
            State::Search => Ok(self.search(input)),
            State::Begin => Ok(self.begin()),
            State::Gap if self.total_length().is_some() => self.bounded_gap(input),
            State::Gap => self.open_gap(input),
            State::Header => self.header(input),
            State::Body => self.body(memory, input),
            State::Postamble => self.read_postamble(input),
        }
    }

    /// Bytes of the message, if it states them.
    fn total_length(&self) -> Option<u64> {
        Some(self.preamble.total_length.get()).filter(|&length| length != 0)
    }

    /// Takes up to `limit` bytes off the input.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] where another message begins instead: its preamble is taken, and held by the watch.
    pub(super) fn take<'i>(&mut self, input: &mut &'i [u8], limit: u64) -> Result<&'i [u8]> {
        let before = *input;
        let taken = split_front(input, limit);
        if self.replaying {
            return Ok(taken);
        }
        let mut unseen = taken;
        while let Some(seen) = self.watch.feed(unseen) {
            self.position = self.position.saturating_add(seen as u64);
            unseen = unseen.get(seen..).unwrap_or_default();
            let start = self.position.saturating_sub(PREAMBLE_SIZE as u64);
            if self.link == Link::Lossy || self.is_between_frames() {
                let rest = taken.len().saturating_sub(unseen.len());
                *input = before.get(rest..).unwrap_or_default();
                return Err(ErrorKind::Truncated.at(start.saturating_sub(self.message)));
            }
            self.missed = self.missed.or(Some(start));
            self.watch.give_up_first();
        }
        self.position = self.position.saturating_add(unseen.len() as u64);
        Ok(taken)
    }

    /// Whether the preamble that the watch holds began between frames: no writer puts anything there, so that it is
    /// believed on any link. But not if it holds `FR`: then a frame began there, be that seen yet or not.
    fn is_between_frames(&self) -> bool {
        let preamble = self.watch.preamble().unwrap_or_default();
        matches!(self.state, State::Gap | State::Header)
            && !preamble.windows(FRAME_MAGIC.len()).any(|pair| pair == FRAME_MAGIC)
    }

    /// Takes bytes until `self.small` has `len` of them; whether it has.
    pub(super) fn fill_small(&mut self, input: &mut &[u8], len: usize) -> Result<bool> {
        let missing = len.saturating_sub(self.small.len());
        let taken = self.take(input, missing as u64)?;
        self.small.push(taken);
        Ok(self.small.len() >= len)
    }

    fn read_preamble<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        let missing = PREAMBLE_SIZE.saturating_sub(self.small.len());
        let taken = split_front(input, missing as u64);
        self.position = self.position.saturating_add(taken.len() as u64);
        self.small.push(taken);
        let Ok(&preamble) = Preamble::ref_from_bytes(self.small.as_slice()) else { return Ok(Progress::Hungry) };
        self.watch.clear();
        self.missed = None;
        if let Err(error) = check_preamble(&preamble, u64::MAX) {
            // It is none itself, so that what it holds is at most the beginning of one.
            self.watch.feed(self.small.as_slice());
            return Err(error);
        }
        self.accept(preamble);
        Ok(Progress::Moved)
    }

    fn search<'i>(&mut self, input: &mut &'i [u8]) -> Progress<'i> {
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

    /// Begins the message of this preamble. Another may begin inside of it.
    fn accept(&mut self, preamble: Preamble) {
        let [_, rest @ ..]: [u8; PREAMBLE_SIZE] = zerocopy::transmute!(preamble);
        self.watch.feed(&rest);
        self.preamble = preamble;
        self.state = State::Begin;
        self.small.clear();
    }

    fn begin<'i>(&mut self) -> Progress<'i> {
        let end = self.total_length().unwrap_or(u64::MAX).saturating_sub(POSTAMBLE_SIZE as u64);
        self.walk = Walk::new(PREAMBLE_SIZE as u64, end);
        self.objects = 0;
        self.running.begin_message(self.preamble.flags());
        self.enter_gap();
        Progress::Tell(Step::Preamble(self.preamble))
    }

    pub(super) const fn enter_gap(&mut self) {
        self.gap = 0;
        self.small.clear();
        self.state = State::Gap;
    }

    /// Leaves the gap for the frame or postamble behind it.
    const fn leave_gap(&mut self, state: State) {
        self.walk.skip(self.gap);
        self.gap = 0;
        self.state = state;
    }

    /// Between frames of a message that states its length: `FR` is looked for up to the postamble.
    fn bounded_gap<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        let [first, _] = *FRAME_MAGIC;
        let before = self.gap.saturating_add(self.small.len() as u64);
        let room = self.walk.room().saturating_sub(before);
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
        let wanted = FRAME_MAGIC.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        if !self.fill_small(input, wanted)? {
            return Ok(Progress::Hungry);
        }
        self.frame_or_shift();
        Ok(Progress::Moved)
    }

    /// Enters the frame that begins with the small bytes, or rules their first out.
    fn frame_or_shift(&mut self) {
        if self.small.as_slice().starts_with(FRAME_MAGIC) {
            self.carry.set(self.small);
            self.small.clear();
            self.leave_gap(State::Header);
        } else {
            self.small.remove_first();
            self.gap = self.gap.saturating_add(1);
        }
    }

    /// Between frames of a message that does not state its length: `FR` or a postamble is looked for, which is known as one
    /// only when all of it has come (see [`find_landmark`]).
    fn open_gap<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.small.len() == 0 {
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

    fn header<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
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

    fn read_postamble<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.fill_small(input, POSTAMBLE_SIZE)? { self.end_message() } else { Ok(Progress::Hungry) }
    }

    /// Ends the message whose postamble the small bytes are.
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

    /// What is wrong if nothing follows.
    pub(super) fn finish(&self) -> Result<()> {
        let received = self.position.saturating_sub(self.message);
        match self.state {
            State::Preamble if received == 0 => Ok(()),
            State::Preamble => Err(ErrorKind::Truncated.at(received)),
            State::Search => Ok(()),
            _ if self.total_length().is_some() => {
                Err(ErrorKind::MessageExceedsBuffer.at_index(Preamble::TOTAL_LENGTH_OFFSET))
            }
            _ if received < MIN_MESSAGE_SIZE as u64 => Err(ErrorKind::Truncated.at(received)),
            State::Begin | State::Gap | State::Postamble => Err(self.unfinished_gap()),
            State::Header => Err(ErrorKind::Truncated.at(received)),
            State::Body => Err(ErrorKind::FrameExceedsMessage
                .at_index(FrameHeader::TOTAL_LENGTH_OFFSET)
                .shift(self.frame.begin.offset)),
        }
    }

    /// What is wrong with a message of unknown length that ends behind a frame.
    fn unfinished_gap(&self) -> Error {
        let small = self.small.as_slice();
        if let Some((at, Landmark::Frame)) = find_landmark(small, true) {
            let mut walk = self.walk;
            walk.skip(self.gap.saturating_add(at as u64));
            let offset = walk.position();
            let frame = small.get(at..).unwrap_or_default();
            // Had more come, its header would have been looked at first.
            let entered = FrameHeader::ref_from_prefix(frame).ok().map(|(header, _)| {
                let (frame_type, length) = check_header(header, walk.room()).map_err(|error| error.shift(offset))?;
                walk.enter(frame_type, length)
            });
            let parsed = Frame::parse_at(frame, offset).map(|_| ());
            if let Err(error) = entered.unwrap_or(Ok(())).and(parsed) {
                return error;
            }
        }
        ErrorKind::EndMagic.at(self.walk.position())
    }
}

/// How many of the first bytes are not `first`, of `room` at most, as far as they are looked at.
fn gap_len(input: &[u8], room: u64, first: u8) -> u64 {
    let ahead = input.get(..GAP_CHUNK).unwrap_or(input);
    let len = ahead.iter().position(|&byte| byte == first).unwrap_or(ahead.len());
    room.min(len as u64)
}

/// How many of the first bytes cannot be the beginning of a frame or postamble, as far as the input shows it.
fn open_gap_len(input: &[u8]) -> u64 {
    let ahead = input.get(..GAP_CHUNK).unwrap_or(input);
    // Of a place this close to the end of what is looked at it is not known whether a postamble begins there.
    let known = ahead.len().saturating_sub(POSTAMBLE_SIZE.saturating_sub(1));
    let at = find_landmark(ahead, true).map_or(known, |(at, _)| at);
    at.min(known) as u64
}

const _: () = assert!(SMALL >= PREAMBLE_SIZE && SMALL >= POSTAMBLE_SIZE);
