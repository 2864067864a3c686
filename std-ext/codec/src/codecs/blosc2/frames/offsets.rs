//! The offsets of chunks, decoded from the frame's index part by part.

use std::mem;
use std::ops::Range;

use super::block::Scratch;
use super::frame::{Frame, OFFSET_LEN};
use super::{CodecError, Result};
use crate::codecs::window::Window;

/// The part of the index that is decoded. If chunks are asked for in ascending order, each block of the index is
/// decoded at most twice.
#[derive(Default)]
pub(super) struct Offsets {
    window: Window,
    /// Whether an earlier call has decoded a part.
    was_read: bool,
}

impl Offsets {
    /// The offsets of `chunks`, which the frame must have. `buffer` holds the decoded part between calls, so each call
    /// must pass the same one.
    pub(super) fn read<'b>(
        &mut self,
        frame: &Frame<'_>,
        chunks: &Range<u64>,
        buffer: &'b mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<&'b [[u8; OFFSET_LEN]]> {
        let too_large = || CodecError::new("index is too large");
        let bytes = |chunk: u64| chunk.checked_mul(OFFSET_LEN as u64).ok_or_else(too_large);
        let wanted = bytes(chunks.start)?..bytes(chunks.end)?;
        if self.window.get(buffer, &wanted).is_none() {
            let index = frame.index()?;
            // Many programs make one call, so the first call decodes only what it asks for. After a second call there
            // are likely more, so it decodes on to the end of the block.
            let is_first = !mem::replace(&mut self.was_read, true);
            let until = if is_first { wanted.end } else { index.end_of_block(wanted.end.saturating_sub(1)) };
            scratch.begin(frame.stored_len());
            self.window.extend(buffer, wanted.start, until.max(wanted.end), |start, out| {
                index.decode_range(usize::try_from(start).map_err(|_| too_large())?, out, scratch)
            })?;
        }
        let (offsets, _) = self.window.get(buffer, &wanted).ok_or_else(too_large)?.as_chunks();
        Ok(offsets)
    }
}
