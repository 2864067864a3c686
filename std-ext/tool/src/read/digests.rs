//! Checks of digests before values are shown and before messages are copied. One flag for all commands.
//!
//! Frames without a digest pass. A rewritten message gets a new digest, which must not cover damaged bytes.

use clap::Args;
use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::metadata::MessageMetadata;
use tgm_std::validate::check_digests;
use tgm_std::{Result, TensogramError, hash};

/// The flag that turns the checks off.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Digests {
    /// Also accept damaged data: digests are not checked, and rewritten messages get digests of the bytes as they are
    #[arg(long)]
    ignore_hash: bool,
}

impl Digests {
    /// The flag, or its absence.
    pub(crate) const fn ignored(ignore_hash: bool) -> Self {
        Self { ignore_hash }
    }

    /// Whether wrong digests are accepted.
    pub(crate) const fn are_ignored(self) -> bool {
        self.ignore_hash
    }

    /// Checks the digests of all frames of a whole message: reads every byte.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`] for the first wrong digest; errors of the walk over frames; indexes and hash
    /// lists that contradict the objects.
    pub(crate) fn check_all(self, message: &Message<'_>) -> Result<()> {
        if self.ignore_hash { Ok(()) } else { Ok(check_digests(message)?) }
    }

    /// [`Self::check_all`] for a message given as bytes.
    ///
    /// # Errors
    /// The errors of [`Self::check_all`] and of [`Message::parse`].
    pub(crate) fn check_bytes(self, message: &[u8]) -> Result<()> {
        if self.ignore_hash { Ok(()) } else { self.check_all(&Message::parse(message)?) }
    }

    /// The metadata of a message, whose frames are checked.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`]; the errors of [`Message::metadata`].
    pub(crate) fn metadata<'a>(self, message: &Message<'a>) -> Result<MessageMetadata<'a>> {
        if self.ignore_hash { Ok(message.metadata()?) } else { hash::checked_metadata(message) }
    }

    /// The check for single objects of a message: O(frames).
    ///
    /// # Errors
    /// The errors of the walk over frames.
    pub(crate) fn of(self, message: &Message<'_>) -> Result<ObjectCheck> {
        let presence = if self.ignore_hash { HashPresence::Absent } else { message.hash_presence()? };
        Ok(ObjectCheck { presence })
    }
}

/// The check for single objects of one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectCheck {
    presence: HashPresence,
}

impl ObjectCheck {
    /// Checks the digest of an object's frame: reads every byte of the frame.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`].
    pub(crate) fn check(self, index: usize, frame: &Frame<'_>) -> Result<()> {
        match hash::check(self.presence, frame) {
            Verdict::Good | Verdict::Missing => Ok(()),
            Verdict::Mismatch(mismatch) => Err(TensogramError::hash_mismatch(Some(index), mismatch)),
        }
    }
}
