//! Digests, checked before values are handed out and before anything is copied: one flag for all commands.
//!
//! Frames without a digest pass. What a command writes anew gets a new digest, which must not vouch for damaged bytes.

use clap::Args;
use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_std::{Result, TensogramError, hash};

/// Whether digests are looked at.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Digests {
    /// Take what is damaged too: digests are not checked, and what is written anew gets digests of the bytes as they are
    #[arg(long)]
    ignore_hash: bool,
}

impl Digests {
    /// Whether wrong digests are let pass.
    pub(crate) const fn are_ignored(self) -> bool {
        self.ignore_hash
    }

    /// Checks the digests of all frames of a message that is there as a whole: reads every byte of it.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`] for the first that is wrong; those of the walk over frames, and of indexes and hash
    /// lists that contradict the objects.
    pub(crate) fn check_all(self, message: &Message<'_>) -> Result<()> {
        if self.ignore_hash { Ok(()) } else { check_all(message, message.hash_presence()?) }
    }

    /// Checks the digests of all frames of the message that these bytes are, before they are copied.
    ///
    /// # Errors
    /// As [`Self::check_all`], and those of [`Message::parse`].
    pub(crate) fn check_bytes(self, message: &[u8]) -> Result<()> {
        if self.ignore_hash { Ok(()) } else { self.check_all(&Message::parse(message)?) }
    }

    /// What checks objects of a message one by one: O(frames).
    ///
    /// # Errors
    /// Those of the walk over frames.
    pub(crate) fn of(self, message: &Message<'_>) -> Result<ObjectCheck> {
        let presence = if self.ignore_hash { HashPresence::Absent } else { message.hash_presence()? };
        Ok(ObjectCheck { presence })
    }
}

/// Checks objects of one message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectCheck {
    presence: HashPresence,
}

impl ObjectCheck {
    /// Checks the digest of an object's frame: reads every byte of it.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`].
    pub(crate) fn check(self, index: usize, frame: &Frame<'_>) -> Result<()> {
        check_one(self.presence, Some(index), frame)
    }
}

/// Checks the digests of all frames that have one, and that indexes and hash lists agree with the objects.
///
/// # Errors
/// As [`Digests::check_all`].
pub(crate) fn check_all(message: &Message<'_>, presence: HashPresence) -> Result<()> {
    let mut objects = 0..;
    for frame in message.frames() {
        let frame = frame?;
        let index = if frame.frame_type().is_data_object() { objects.next() } else { None };
        check_one(presence, index, &frame)?;
    }
    // A message whose objects were swapped would otherwise be made anew as if they had always stood there.
    message.verify_index()?;
    message.verify_hash_lists(presence)?;
    Ok(())
}

fn check_one(presence: HashPresence, object_index: Option<usize>, frame: &Frame<'_>) -> Result<()> {
    match hash::check(presence, frame) {
        Verdict::Good | Verdict::Missing => Ok(()),
        Verdict::Mismatch(mismatch) => Err(TensogramError::hash_mismatch(object_index, mismatch)),
    }
}
