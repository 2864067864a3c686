//! Offsets of chunks: the part of the index that has been decoded.

use std::mem;
use std::ops::Range;

use super::block::Scratch;
use super::frame::{Frame, OFFSET_LEN};
use super::{CodecError, Result};
use crate::codec::window::Window;

/// Offsets of chunks. If they are asked for in ascending order, each block of the index is decoded twice at most.
#[derive(Default)]
pub(super) struct Offsets {
    window: Window,
    was_read: bool,
}

impl Offsets {
    /// The offsets of `chunks`, which the frame must have. They are kept in `buffer`, which must be the same in each
    /// call.
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
            // The first call decodes only what it asks for. A second call is likely to be followed by others, so it
            // decodes to the end of the block.
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
