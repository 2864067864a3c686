//! A payload that is decompressed in parts for ranges: each block is decoded once, whatever the ranges are.
//!
//! ```text
//! blocks   │        │        │        │        │        │
//! ranges      ──a──   ──b──
//!                 ────c────                 ─d─
//! read        1111111222222222              333
//! ```
//!
//! Ranges come in ascending order. If the bytes of a range are not all at hand, the missing ones are read, and also the
//! bytes of the range's last block that later ranges want. Bytes stay at hand as long as a range may want them: from
//! the start of the current range on.
//!
//! So a call decodes each block at most once. It keeps the bytes of its longest range and one block, besides what the
//! codec needs for itself.

use std::ops::Range;

use tgm_codec::window::Window;
use tgm_codec::{Codec, PartReader};
use tgm_core::descriptor::Descriptor;
use tgm_core::stored::{Stored, window_of};

use super::stored::codec_error;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;

/// A compressed payload, and the part of its stored bytes that is at hand.
pub(super) struct PayloadParts<'s> {
    codec: &'static dyn Codec,
    /// Where the payload starts, for errors.
    payload_offset: u64,
    parts: Box<dyn PartReader + 's>,
    /// Which stored bytes the buffer holds.
    window: Window,
    buffer: &'s mut Vec<u8>,
}

impl<'s> PayloadParts<'s> {
    /// A payload at byte `payload_offset`, whose `parts` the codec has opened. They will be written to `buffer`.
    pub(super) fn new(
        codec: &'static dyn Codec,
        payload_offset: u64,
        parts: Box<dyn PartReader + 's>,
        buffer: &'s mut Vec<u8>,
    ) -> Self {
        Self { codec, payload_offset, parts, window: Window::default(), buffer }
    }

    /// The stored bytes that hold the first of `ranges`. Later calls ask for the other ranges, in ascending order.
    ///
    /// # Errors
    /// The errors of the codec and of the limits; an error for a range that the object does not have.
    pub(super) fn stored(
        &mut self,
        descriptor: &Descriptor<'_>,
        mut ranges: impl Iterator<Item = Range<u64>>,
        options: &DecodeOptions,
    ) -> Result<Stored<'_>> {
        let wanted = window_of(descriptor, &ranges.next().unwrap_or(0..0))?;
        if !wanted.is_empty() && self.window.get(self.buffer, &wanted).is_none() {
            let until = self.until(descriptor, &wanted, ranges)?;
            options.limits.check_bytes(u64::MAX, until - wanted.start)?;
            let Self { codec, payload_offset, parts, window, buffer } = self;
            let read = window.extend(buffer, wanted.start, until, |start, out| parts.read_into(start, out));
            read.map_err(|error| codec_error(*codec, error, *payload_offset))?;
        }
        // Nothing was read for an empty range.
        let empty = wanted.is_empty().then_some(&[][..]);
        let bytes = self.window.get(self.buffer, &wanted).or(empty);
        let bytes = bytes.ok_or_else(|| TensogramError::encoding("a codec gave fewer bytes than it was asked for"))?;
        Ok(Stored::window(descriptor, bytes, wanted.start)?)
    }

    /// The stored byte up to which to read for `wanted`: its end. If later ranges begin in its last block, the end of
    /// what they want of that block.
    fn until(
        &mut self,
        descriptor: &Descriptor<'_>,
        wanted: &Range<u64>,
        later: impl Iterator<Item = Range<u64>>,
    ) -> Result<u64> {
        let mut later = later.map(|range| window_of(descriptor, &range)).peekable();
        // Asking for the end of a block can cost a look into the payload, so a last range does not ask.
        if later.peek().is_none() {
            return Ok(wanted.end);
        }
        let block_end =
            self.parts.end_of_block(wanted).map_err(|error| codec_error(self.codec, error, self.payload_offset))?;
        let mut until = wanted.end;
        for range in later {
            let range = range?;
            if range.start >= block_end {
                break;
            }
            until = until.max(range.end.min(block_end));
        }
        Ok(until)
    }
}

#[cfg(test)]
mod tests;
