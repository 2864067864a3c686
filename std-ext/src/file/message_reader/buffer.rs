//! The part of a stream that is kept in memory: the bytes that were read and may still be needed.

use std::io::{self, Read};

use tgm_codec::memory;

use crate::base::error::Result;
use crate::base::interrupt;
use crate::base::span::{head, index, span_len, tail};

/// The memory grows by at least this many bytes. Each read finds at least half as many free bytes.
const CHUNK: usize = 64 << 10;

/// The kept part of a stream. It lies in one piece of memory, which is used again and again.
#[derive(Debug, Default)]
pub(in crate::file) struct Buffer {
    memory: Vec<u8>,
    /// The kept bytes are `memory[begin..end]`.
    begin: usize,
    end: usize,
    /// The place of the first kept byte in the stream.
    start: u64,
}

impl Buffer {
    /// The kept bytes.
    pub(in crate::file) fn bytes(&self) -> &[u8] {
        // Both lie in the memory, in this order, at all times.
        self.memory.get(self.begin..self.end).unwrap_or(&[])
    }

    /// The place of the first kept byte in the stream.
    pub(in crate::file) const fn start(&self) -> u64 {
        self.start
    }

    /// The place in the stream of the next byte that will be read.
    pub(in crate::file) const fn end(&self) -> u64 {
        self.start + (self.end - self.begin) as u64
    }

    /// The kept bytes from `offset` of the stream on. Empty if the byte at `offset` is not kept.
    pub(in crate::file) fn from(&self, offset: u64) -> &[u8] {
        offset.checked_sub(self.start).map_or(&[], |at| tail(self.bytes(), at))
    }

    /// `length` bytes from `offset` of the stream on: fewer if the kept bytes end before.
    pub(in crate::file) fn slice(&self, offset: u64, length: u64) -> &[u8] {
        head(self.from(offset), length)
    }

    /// Drops the bytes before `offset` of the stream: O(1).
    pub(in crate::file) fn drop_before(&mut self, offset: u64) {
        let count = index(span_len(&(self.start..offset))).min(self.end - self.begin);
        self.begin += count;
        self.start += count as u64;
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
    }

    /// Reads once, appends the bytes, and returns their number: 0 at the end of the stream.
    ///
    /// `wanted` is a place in the stream: the caller knows that it needs all bytes before it. It only says how much memory
    /// is worth getting at once.
    ///
    /// # Errors
    /// The errors of the reader, and an error if there is no memory. After [`io::ErrorKind::Interrupted`] the reader is called
    /// again, unless the work is to stop. The kept bytes stay after an error.
    pub(in crate::file) fn read(&mut self, reader: &mut impl Read, wanted: u64) -> Result<usize> {
        self.make_room(wanted)?;
        loop {
            // An empty buffer would look like the end of the stream.
            let room = self.memory.get_mut(self.end..).filter(|room| !room.is_empty());
            let room = room.ok_or_else(|| io::Error::other("no room to read a stream to"))?;
            let len = room.len();
            match reader.read(room) {
                Ok(count) => {
                    self.end += count.min(len);
                    return Ok(count.min(len));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupt::check()?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes room for a read.
    ///
    /// The cost is O(1) for each byte of the stream. Kept bytes move to the front only if at least as many bytes were dropped
    /// before them. The memory grows by at least a quarter of the kept bytes.
    fn make_room(&mut self, wanted: u64) -> Result<()> {
        let is_short = |buffer: &Self| buffer.memory.len() - buffer.end < CHUNK / 2;
        if !is_short(self) {
            return Ok(());
        }
        let kept = self.end - self.begin;
        if self.begin >= kept {
            self.memory.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, kept);
        }
        if is_short(self) {
            let missing = index(span_len(&(self.end()..wanted)));
            // Growing may move all kept bytes. At least a quarter of them is added, so each byte moves a bounded number of
            // times. At most as much as is kept is added: a message that states a large length gets no memory for it before
            // its bytes come.
            let more = missing.clamp(CHUNK.max(kept / 4), kept.max(CHUNK));
            memory::reserve(&mut self.memory, more)?;
            self.memory.resize(self.memory.len() + more, 0);
        }
        Ok(())
    }
}
