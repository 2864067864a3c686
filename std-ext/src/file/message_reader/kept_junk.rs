//! The first bytes of junk, kept for the caller.

use super::buffer::Buffer;
use crate::base::span::{head, span_len};

/// The first bytes of the junk that is being read, at most as many as the options say.
#[derive(Debug, Default)]
pub(super) struct KeptJunk {
    most: usize,
    /// Where in the stream the junk begins.
    start: u64,
    bytes: Vec<u8>,
}

impl KeptJunk {
    /// Keeps at most `most` bytes.
    pub(super) const fn new(most: usize) -> Self {
        Self { most, start: 0, bytes: Vec::new() }
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes from `start` to `end` of the stream are junk, as far as is known. Copies the part that was not copied yet.
    pub(super) fn add(&mut self, start: u64, end: u64, buffer: &Buffer) {
        if self.start != start {
            self.start = start;
            self.bytes.clear();
        }
        let have = start + self.bytes.len() as u64;
        let new = buffer.slice(have, span_len(&(have..end)));
        let room = self.most - self.bytes.len();
        self.bytes.extend_from_slice(head(new, room as u64));
    }
}
