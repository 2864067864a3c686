//! Which frames hold a digest (Rule H of FORMAT §2).

use crate::wire::MessageFlags;

/// Which frames of a message hold a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashPresence {
    /// Those whose flag says so (written since 0.21, and the strict reading of anything).
    Flagged,
    /// All of them: none is flagged, but the preamble says that hashing was on (0.17 to 0.20).
    All,
    /// None of them.
    Absent,
}

impl HashPresence {
    /// What settles it before any frame was seen.
    pub(crate) const fn promised(flags: MessageFlags) -> Self {
        if flags.has(MessageFlags::HASHES_PRESENT) { Self::All } else { Self::Flagged }
    }
}
