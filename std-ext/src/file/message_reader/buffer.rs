//! The bytes of a stream that are kept: those that have come and may still be needed.

use std::io::{self, Read};

use crate::base::error::Result;
use crate::base::memory;

/// Free bytes that a read finds at least.
const CHUNK: usize = 64 << 10;

/// A part of a stream, in one piece of memory that is used again and again.
#[derive(Debug, Default)]
pub(in crate::file) struct Buffer {
    memory: Vec<u8>,
    /// The kept bytes are `memory[begin..end]`.
    begin: usize,
    end: usize,
    /// Where in the stream the first kept byte is.
    start: u64,
}

impl Buffer {
    /// The kept bytes.
    pub(in crate::file) fn bytes(&self) -> &[u8] {
        self.memory.get(self.begin..self.end).unwrap_or_default()
    }

    /// Where in the stream the first kept byte is.
    pub(in crate::file) const fn start(&self) -> u64 {
        self.start
    }

    /// Where in the stream the next byte to come is.
    pub(in crate::file) const fn end(&self) -> u64 {
        self.start.saturating_add(self.end.saturating_sub(self.begin) as u64)
    }

    /// The kept bytes from `offset` of the stream on.
    pub(in crate::file) fn from(&self, offset: u64) -> &[u8] {
        let at = offset.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.bytes().get(at..)).unwrap_or_default()
    }

    /// `length` bytes from `offset` of the stream on, as far as they are kept.
    pub(in crate::file) fn slice(&self, offset: u64, length: u64) -> &[u8] {
        let bytes = self.from(offset);
        usize::try_from(length).ok().and_then(|length| bytes.get(..length)).unwrap_or(bytes)
    }

    /// Drops the bytes before `offset` of the stream: O(1).
    pub(in crate::file) fn drop_before(&mut self, offset: u64) {
        let kept = self.end.saturating_sub(self.begin);
        let count = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX).min(kept);
        self.begin = self.begin.saturating_add(count);
        self.start = self.start.saturating_add(count as u64);
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
    }

    /// Appends what one read gives, and returns the number of bytes: 0 at the end of the stream. The bytes before `wanted`
    /// of the stream are known to be needed.
    ///
    /// # Errors
    /// Those of the reader except [`io::ErrorKind::Interrupted`], after which it is asked again. Nothing is lost by an error.
    pub(in crate::file) fn read(&mut self, reader: &mut impl Read, wanted: u64) -> Result<usize> {
        self.make_room(wanted)?;
        loop {
            let room = self.memory.get_mut(self.end..).unwrap_or_default();
            let len = room.len();
            match reader.read(room) {
                Ok(count) => {
                    self.end = self.end.saturating_add(count.min(len));
                    return Ok(count.min(len));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes room for a read. Moving and growing cost O(1) for each byte of the stream, because both happen only after as
    /// many bytes were dropped or read as are moved.
    fn make_room(&mut self, wanted: u64) -> Result<()> {
        let is_short = |buffer: &Self| buffer.memory.len().saturating_sub(buffer.end) < CHUNK / 2;
        if !is_short(self) {
            return Ok(());
        }
        let kept = self.end.saturating_sub(self.begin);
        if self.begin >= kept {
            self.memory.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, kept);
        }
        if is_short(self) {
            let missing = usize::try_from(wanted.saturating_sub(self.end())).unwrap_or(usize::MAX);
            // At least a fraction of what is kept, so that growing step by step moves each byte a bounded number of times.
            let more = missing.clamp(CHUNK.max(kept / 4), kept.max(CHUNK));
            memory::reserve(&mut self.memory, more)?;
            self.memory.resize(self.memory.len().saturating_add(more), 0);
        }
        Ok(())
    }
}
