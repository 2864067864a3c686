//! The digest of a frame whose bytes pass by.
//!
//! Rule H of FORMAT §2 needs to know whether any frame of the message is flagged, which here only the past can tell: before
//! the first flagged frame the preamble decides, from it on the frame's own flag. Writers that flag frames flag the first one,
//! so that this differs from the rule only for messages of which someone cleared the first flags.

#[cfg(feature = "hash")]
use xxhash_rust::xxh3::Xxh3Default;

#[cfg(feature = "hash")]
use crate::hash::{HashMismatch, Verdict};
use crate::wire::{FrameFlags, MessageFlags};

/// The digest so far, and what says whether there is one to compare with.
#[cfg(feature = "hash")]
pub(super) struct Running {
    state: Xxh3Default,
    presence: Presence,
    is_due: bool,
}

/// What decides whether frames hold a digest.
#[cfg(feature = "hash")]
#[derive(Clone, Copy)]
enum Presence {
    /// Their flags: one of them was flagged, or the preamble promises nothing.
    Flags,
    /// The preamble, which promises digests.
    Preamble,
}

#[cfg(feature = "hash")]
impl Running {
    pub(super) const fn new() -> Self {
        Self { state: Xxh3Default::new(), presence: Presence::Flags, is_due: false }
    }

    /// Begins a message.
    pub(super) const fn begin_message(&mut self, flags: MessageFlags) {
        let promised = flags.has(MessageFlags::HASHES_PRESENT);
        self.presence = if promised { Presence::Preamble } else { Presence::Flags };
    }

    /// Begins a frame.
    pub(super) fn begin_frame(&mut self, flags: FrameFlags) {
        self.state.reset();
        let is_flagged = flags.has(FrameFlags::HASH_PRESENT);
        if is_flagged {
            self.presence = Presence::Flags;
        }
        self.is_due = is_flagged || matches!(self.presence, Presence::Preamble);
    }

    /// Takes in bytes of the body; free where there is no digest.
    pub(super) fn update(&mut self, body: &[u8]) {
        if self.is_due {
            self.state.update(body);
        }
    }

    /// Compares with what the slot holds.
    pub(super) fn verdict(&self, expected: u64) -> Verdict {
        if !self.is_due {
            return Verdict::Missing;
        }
        let computed = self.state.digest();
        if expected == computed { Verdict::Good } else { Verdict::Mismatch(HashMismatch { expected, computed }) }
    }
}

/// Nothing, without feature `hash`.
#[cfg(not(feature = "hash"))]
pub(super) struct Running;

#[cfg(not(feature = "hash"))]
#[expect(clippy::unused_self, reason = "the methods of the one with a digest")]
impl Running {
    pub(super) const fn new() -> Self {
        Self
    }

    pub(super) const fn begin_message(&mut self, _flags: MessageFlags) {}

    pub(super) const fn begin_frame(&mut self, _flags: FrameFlags) {}

    pub(super) const fn update(&mut self, _body: &[u8]) {}
}
