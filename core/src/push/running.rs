//! The digest of a frame, computed as its bytes pass.
//!
//! Rule H of FORMAT §2 asks whether any frame of the message is flagged. A decoder of pieces knows only the frames that
//! have come. So the preamble decides before the first flagged frame, and each frame's own flag decides from there on.
//! Writers that flag frames flag the first one. The result differs from Rule H only if someone cleared the first flags.

#[cfg(feature = "hash")]
use xxhash_rust::xxh3::Xxh3Default;

#[cfg(feature = "hash")]
use crate::hash::{HashMismatch, Verdict};
use crate::wire::{FrameFlags, MessageFlags};

/// The digest so far, and whether the frame holds one to compare with.
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
    /// The flag of each frame, because a frame was flagged or the preamble promises no digests.
    Flags,
    /// The preamble, because it promises digests and no frame was flagged yet.
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

    /// Adds bytes of the body. Does nothing if the frame holds no digest.
    pub(super) fn update(&mut self, body: &[u8]) {
        if self.is_due {
            self.state.update(body);
        }
    }

    /// Compares the digest with the one in the frame's slot.
    pub(super) fn verdict(&self, expected: u64) -> Verdict {
        if !self.is_due {
            return Verdict::Missing;
        }
        let computed = self.state.digest();
        if expected == computed { Verdict::Good } else { Verdict::Mismatch(HashMismatch { expected, computed }) }
    }
}

/// Without feature `hash` nothing is computed.
#[cfg(not(feature = "hash"))]
pub(super) struct Running;

#[cfg(not(feature = "hash"))]
#[expect(clippy::unused_self, reason = "same methods as with the feature")]
impl Running {
    pub(super) const fn new() -> Self {
        Self
    }

    pub(super) const fn begin_message(&mut self, _flags: MessageFlags) {}

    pub(super) const fn begin_frame(&mut self, _flags: FrameFlags) {}

    pub(super) const fn update(&mut self, _body: &[u8]) {}
}
