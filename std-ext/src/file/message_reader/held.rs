//! The kept bytes of a stream as a source of scans.

use std::cell::Cell;

use memchr::memmem;
use tgm_core::scan::Source;
use tgm_core::wire::{MAGIC, POSTAMBLE_SIZE};

use super::buffer::Buffer;
use crate::base::span::{span, span_before, span_len};

/// The error where bytes have not come yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Starved {
    /// The scan needs the bytes before this place of the stream.
    pub(super) wanted: u64,
}

/// The kept bytes of a stream. It grows until it is ended.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) buffer: Buffer,
    has_ended: bool,
    /// The last search for an end magic that found none: where it began, and where it stopped. A search for a start magic
    /// needs no such memory, because the scan itself moves on.
    searched: Cell<(u64, u64)>,
}

impl Held {
    /// Whether the stream has ended.
    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The stream ends where the kept bytes end.
    pub(super) const fn end(&mut self) {
        self.has_ended = true;
    }

    /// The error for a scan that needs the bytes before `wanted`: at least one more than there are.
    fn starved(&self, wanted: u64) -> Starved {
        Starved { wanted: wanted.max(self.buffer.end() + 1) }
    }

    /// Looks for `magic` in the kept bytes from `from` to `end`.
    fn find_kept(&self, magic: &[u8; 8], from: u64, end: u64) -> Option<u64> {
        let found = memmem::find(self.buffer.slice(from, span_len(&(from..end))), magic)?;
        Some(from + found as u64)
    }
}

impl Source for Held {
    type Error = Starved;

    fn len(&self) -> u64 {
        if self.has_ended { self.buffer.end() } else { u64::MAX }
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Starved> {
        let bytes = self.buffer.from(offset);
        let least = out.len().min(POSTAMBLE_SIZE);
        if bytes.len() < least && !self.has_ended {
            return Err(self.starved(span(offset, least as u64).end));
        }
        let read = bytes.len().min(out.len());
        out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(read)
    }

    fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N], Starved> {
        let bytes = self.buffer.from(offset);
        if let Some(bytes) = bytes.first_chunk() {
            return Ok(*bytes);
        }
        if !self.has_ended {
            return Err(self.starved(span(offset, N as u64).end));
        }
        let mut padded = [0; N];
        padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(padded)
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, Starved> {
        let is_start = magic == MAGIC;
        let (before, upto) = self.searched.get();
        let skips = !is_start && before <= from && from <= upto;
        if let Some(at) = self.find_kept(magic, if skips { upto } else { from }, end) {
            return Ok(Some(at));
        }
        let come = self.buffer.end();
        if self.has_ended || end <= come {
            return Ok(None);
        }
        // The last seven bytes may be the beginning of a magic.
        let cut_off = span_before(come, magic.len() as u64 - 1).start.max(from);
        if is_start && cut_off < come {
            return Ok(Some(cut_off));
        }
        if !is_start {
            self.searched.set((if skips { before } else { from }, cut_off));
        }
        Err(self.starved(from))
    }
}
