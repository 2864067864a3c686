//! What is wrong with a message, and where.

use std::fmt;

use tgm_core::frame::Frame;
use tgm_core::wire::FrameType;

use crate::base::error::TensogramError;

/// What is wrong with a message, and where: the first thing that [`check_message`](super::check_message) finds.
#[derive(Debug)]
pub struct Damage {
    offset: u64,
    frame: Option<FrameType>,
    object: Option<usize>,
    error: TensogramError,
}

impl Damage {
    pub(super) fn of_structure(error: TensogramError) -> Self {
        let offset = error.cause().map_or(0, |cause| cause.offset());
        Self { offset, frame: None, object: None, error }
    }

    pub(super) fn of_frame(frame: &Frame<'_>, object: Option<usize>, error: TensogramError) -> Self {
        Self { offset: frame.offset(), frame: Some(frame.frame_type()), object, error }
    }

    pub(super) fn from_core(error: tgm_core::Error) -> Self {
        Self::of_structure(error.into())
    }

    /// Bytes from the start of the message to the damage: to the frame whose digest is wrong, or to the bytes that break
    /// the structure.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The type of the frame whose digest is wrong. `None` if the structure is broken.
    pub const fn frame(&self) -> Option<FrameType> {
        self.frame
    }

    /// The number of the object whose digest is wrong or missing. `None` for other frames, and if the structure is broken.
    pub const fn object(&self) -> Option<usize> {
        self.object
    }

    /// Whether nothing is known to be wrong: an object has no digest, and all that could be checked is right.
    pub const fn is_missing_digest(&self) -> bool {
        matches!(self.error, TensogramError::MissingHash { .. })
    }

    /// What is wrong.
    pub const fn error(&self) -> &TensogramError {
        &self.error
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            Some(frame) => write!(f, "{frame} at byte {}: {}", self.offset, self.error),
            // Errors of the structure say where they are.
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for Damage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Damage> for TensogramError {
    fn from(damage: Damage) -> Self {
        damage.error
    }
}
