//! Ranges of a payload that is decompressed in parts: each block is decoded once, whatever the ranges are.
//!
//! ```text
//! blocks   │        │        │        │        │        │
//! ranges      ──a──   ──b──
//!                 ────c────                 ─d─
//! read        1111111222222222              333
//! ```
//!
//! Ranges come in ascending order. For a range that is not at hand, all that is missing of it is read, and so much of its
//! last block as ranges behind it want. What is read stays at hand as long as a range can want it, that is from the
//! start of the range at hand on.
//!
//! So a call decodes each block once at most. It keeps the bytes of its longest range and a block, beside what the codec needs
//! for itself.

use std::ops::Range;

use tgm_core::descriptor::Descriptor;
use tgm_core::stored::{Stored, window_of};

use super::pipeline::codec_error;
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::codec::window::Window;
use crate::codec::{Codec, Parts};

/// A payload that is decompressed part by part, and the part at hand.
pub(super) struct AtHand<'s> {
    backend: &'static dyn Codec,
    parts: Box<dyn Parts + 's>,
    window: Window,
    buffer: &'s mut Vec<u8>,
}

impl<'s> AtHand<'s> {
    pub(super) fn new(backend: &'static dyn Codec, parts: Box<dyn Parts + 's>, buffer: &'s mut Vec<u8>) -> Self {
        Self { backend, parts, window: Window::default(), buffer }
    }

    /// The uncompressed bytes that hold the first of `ranges`. The others are those that will be asked for later, in
    /// ascending order.
    ///
    /// # Errors
    /// Those of the codec; of a range that the object does not have; of the limits.
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
            let Self { backend, parts, window, buffer } = self;
            let read = window.extend(buffer, wanted.start, until, |start, out| parts.read_into(start, out));
            read.map_err(|error| codec_error(*backend, &error))?;
        }
        let bytes = self.window.get(self.buffer, &wanted).unwrap_or_default();
        Ok(Stored::window(descriptor, bytes, wanted.start)?)
    }

    /// How far to read for `wanted`: to its end or, if ranges behind it begin in its last block, to the end of what they
    /// want of that block.
    fn until(
        &mut self,
        descriptor: &Descriptor<'_>,
        wanted: &Range<u64>,
        behind: impl Iterator<Item = Range<u64>>,
    ) -> Result<u64> {
        let mut behind = behind.map(|range| window_of(descriptor, &range)).peekable();
        if behind.peek().is_none() {
            return Ok(wanted.end);
        }
        let end = self.parts.end_of_block(wanted).map_err(|error| codec_error(self.backend, &error))?;
        let mut until = wanted.end;
        for range in behind {
            let range = range?;
            if range.start >= end {
                break;
            }
            until = until.max(range.end.min(end));
        }
        Ok(until)
    }
}

#[cfg(test)]
mod tests;
