//! Which frames hold a digest (Rule H of FORMAT §2).

use crate::wire::MessageFlags;

/// Which frames of a message hold a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashPresence {
    /// The frames whose own flag says so. Writers since 0.21 set it. This is also the strict way to read any message.
    Flagged,
    /// All frames. No frame is flagged, but the preamble says that hashing was on (writers from 0.17 to 0.20).
    All,
    /// No frame.
    Absent,
}

impl HashPresence {
    /// The assumption before any frame was read.
    pub(crate) const fn promised(flags: MessageFlags) -> Self {
        if flags.has(MessageFlags::HASHES_PRESENT) { Self::All } else { Self::Flagged }
    }
}
