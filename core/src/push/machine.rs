//! The machine behind the decoder: everything except the memory, whose size the caller chooses.
//!
//! ```text
//!             ┌──────────────────────── postamble ◄─────────────────────────┐
//!             ▼                                                             │
//!  start ─► preamble ─► gap ─► header ─► body ─────────────────► tail ─► gap ┴─► header …
//!             │          │        │         │                   │
//!             └──────────┴────────┴── error ┴───────────────────┘
//!                                       ▼
//!                                    search ─► found ─► gap …
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | this one | the state, and how bytes are taken from the input |
//! | `outside.rs` | preambles, gaps, headers and postambles |
//! | `body.rs` | bodies and tails of frames |
//! | `run.rs` | one step after the other, and the end of the stream |
//!
//! Almost all input is taken by [`Machine::take`], which shows every byte to the [`Watch`]. The only exception is a
//! preamble: the watch sees it if it turns out not to be one, and otherwise sees it without its first byte. So the watch
//! has seen every place where a message can begin. After an error the search continues from what the watch holds, and no
//! byte has to be read again.

use super::frame_state::FrameState;
use super::link::Link;
use super::running::Running;
use super::step::{Carry, SMALL, Small, split_front};
use super::watch::Watch;
use crate::error::{ErrorKind, Result};
use crate::frame::Walk;
use crate::wire::{FRAME_MAGIC, POSTAMBLE_SIZE, PREAMBLE_SIZE, Preamble};

/// What the machine expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A message.
    Preamble,
    /// The start of any message, after bytes that belong to none.
    Search,
    /// Nothing: a preamble was read, and its event is due.
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
    /// The part of a fixed layout that has come.
    pub(super) small: Small,
    /// Bytes that were read ahead and have to be read as something else.
    pub(super) carry: Carry,
    /// Whether the bytes being taken come from the carry. Those were counted and watched before.
    pub(super) replaying: bool,
    pub(super) watch: Watch,
    /// Where in the stream the first message begins that was seen inside the one given up.
    pub(super) missed: Option<u64>,
    /// Bytes of the stream that were taken.
    pub(super) position: u64,
    /// Where in the stream the message begins, or the bytes that belong to none.
    pub(super) message: u64,
    pub(super) preamble: Preamble,
    pub(super) walk: Walk,
    /// Bytes of the gap that cannot be the beginning of a frame or postamble.
    pub(super) gap: u64,
    /// Data objects of the message so far.
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

    /// Gives the message up. The bytes that come are searched for the start of another message.
    pub(super) const fn fail(&mut self) {
        self.state = State::Search;
        // The watch is not cleared: it may hold the first bytes of the next message. It has seen the carried bytes too.
        self.carry.clear();
        self.small.clear();
    }

    /// Bytes of the message, if its preamble states them.
    pub(super) fn total_length(&self) -> Option<u64> {
        Some(self.preamble.total_length.get()).filter(|&length| length != 0)
    }

    /// Takes up to `limit` bytes off the input.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] where another message begins instead. Its preamble is then taken, and the watch holds it.
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
            // In a frame on a reliable link, these bytes are most likely data. If they are not, the first of such places
            // counts: a caller that reads again from there meets the others.
            self.missed = self.missed.or(Some(start));
            // The next preamble may begin inside this one.
            self.watch.give_up_first();
        }
        self.position = self.position.saturating_add(unseen.len() as u64);
        Ok(taken)
    }

    /// Whether the preamble that the watch holds began between frames.
    ///
    /// No writer puts anything there, so such a preamble ends the message on any link. A preamble that contains `FR` does
    /// not count: a frame began inside it, whether or not the machine has come to that frame yet.
    fn is_between_frames(&self) -> bool {
        let preamble = self.watch.preamble().unwrap_or_default();
        matches!(self.state, State::Gap | State::Header)
            && !preamble.windows(FRAME_MAGIC.len()).any(|pair| pair == FRAME_MAGIC)
    }

    /// Takes bytes until `self.small` has `len` of them, and returns whether it has.
    pub(super) fn fill_small(&mut self, input: &mut &[u8], len: usize) -> Result<bool> {
        let missing = len.saturating_sub(self.small.len());
        let taken = self.take(input, missing as u64)?;
        self.small.push(taken);
        Ok(self.small.len() >= len)
    }

    /// Starts a gap: what follows is a frame or the end of the message.
    pub(super) const fn enter_gap(&mut self) {
        self.gap = 0;
        self.small.clear();
        self.state = State::Gap;
    }
}

const _: () = assert!(SMALL >= PREAMBLE_SIZE && SMALL >= POSTAMBLE_SIZE);
