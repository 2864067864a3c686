//! One message of version 2: preamble, frames, and a postamble of 16 bytes.

use tgm_core::ErrorKind;
use tgm_core::wire::{END_MAGIC, MAGIC, PREAMBLE_SIZE, Preamble};
use zerocopy::FromBytes;

use super::WIRE_VERSION;
use super::frame::{Frames, Postamble};
use crate::base::error::{Result, TensogramError};

/// Bytes of the smallest message.
const MIN_SIZE: usize = PREAMBLE_SIZE + size_of::<Postamble>();

/// A message with a checked preamble. If the preamble states the length, the end magic is checked too.
pub(super) struct Message<'a> {
    /// The bytes between preamble and postamble; in a streamed message all bytes after the preamble.
    behind_preamble: &'a [u8],
    /// The length that the preamble states. `None` for a streamed message.
    total_length: Option<usize>,
}

impl<'a> Message<'a> {
    /// Opens the message at the start of `bytes`: O(1).
    ///
    /// # Errors
    /// [`TensogramError::Framing`].
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (preamble, rest) = Preamble::ref_from_prefix(bytes)
            .map_err(|_| framing(format!("buffer too short for preamble: {} < {PREAMBLE_SIZE} bytes", bytes.len())))?;
        if preamble.magic != *MAGIC {
            return Err(TensogramError::opening(ErrorKind::StartMagic.at(0), bytes));
        }
        let version = preamble.version.get();
        if version != WIRE_VERSION {
            return Err(framing(format!("message is of version {version}: only version {WIRE_VERSION} is upgraded")));
        }
        let stated = preamble.total_length.get();
        if stated == 0 {
            return Ok(Self { behind_preamble: rest, total_length: None });
        }
        let len = usize::try_from(stated).ok().filter(|len| *len <= bytes.len());
        let len = len.ok_or_else(|| framing(format!("total_length {stated} exceeds buffer size {}", bytes.len())))?;
        if len < MIN_SIZE {
            return Err(framing(format!("total_length {len} is smaller than the minimum message size of {MIN_SIZE}")));
        }
        let message = bytes.get(PREAMBLE_SIZE..len).and_then(|rest| Postamble::ref_from_suffix(rest).ok());
        match message {
            Some((frames, postamble)) if postamble.magic == *END_MAGIC => {
                Ok(Self { behind_preamble: frames, total_length: Some(len) })
            }
            _ => Err(framing(format!("invalid end magic in postamble (expected 39277777 before byte {len})"))),
        }
    }

    /// Whether only a walk over its frames finds the message's end.
    pub(super) const fn is_streamed(&self) -> bool {
        self.total_length.is_none()
    }

    /// The frames.
    pub(super) fn frames(&self) -> Frames<'a> {
        Frames::new(self.behind_preamble, PREAMBLE_SIZE as u64, self.is_streamed())
    }

    /// The message's length, and the steps that finding it took. A streamed message is walked; the length is `None` if
    /// the walk fails.
    pub(super) fn measure(&self) -> (Option<usize>, u64) {
        if self.total_length.is_some() {
            return (self.total_length, 0);
        }
        let mut frames = self.frames();
        let is_whole = frames.by_ref().all(|frame| frame.is_ok());
        let end = frames.position() + size_of::<Postamble>() as u64;
        (usize::try_from(end).ok().filter(|_| is_whole), frames.steps())
    }
}

fn framing(text: String) -> TensogramError {
    TensogramError::Framing(text.into())
}
