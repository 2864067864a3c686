//! Messages of a stream that may have lost bytes, by the rules of the push decoder for lossy links.

use std::io::Read;
use std::mem;

use tgm_core::push::{Event, Link, PushDecoder};
use tgm_core::wire::PREAMBLE_SIZE;

use super::buffer::Buffer;
use super::kept_junk::KeptJunk;
use super::next_segment::NextSegment;
use crate::base::error::Result;
use crate::base::span::{span_before, span_len};

/// CBOR up to this length is checked. Longer CBOR is checked only if it comes in one piece.
const CBOR: usize = 64 << 10;

/// Finds messages by a push decoder for lossy links.
#[derive(Debug)]
pub(super) struct Lossy {
    buffer: Buffer,
    decoder: Box<PushDecoder<CBOR>>,
    /// Where the bytes begin that were not returned yet.
    front: u64,
    /// Whether the message that is being read is longer than the limit, which was reported.
    is_too_large: bool,
    has_ended: bool,
}

impl Lossy {
    pub(super) fn new() -> Self {
        let decoder = Box::new(PushDecoder::new(Link::Lossy));
        Self { buffer: Buffer::default(), decoder, front: 0, is_too_large: false, has_ended: false }
    }

    /// The kept bytes.
    pub(super) const fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The next part of the stream. `None` at its end.
    ///
    /// # Errors
    /// The errors of reading. Nothing is lost then: the call can be repeated.
    pub(super) fn next(
        &mut self,
        reader: &mut impl Read,
        limit: u64,
        junk: &mut KeptJunk,
    ) -> Result<Option<NextSegment>> {
        loop {
            if let Some(found) = self.decode(limit, junk) {
                return Ok(Some(found));
            }
            if let Some(found) = self.over_limit(limit) {
                return Ok(Some(found));
            }
            self.release(junk);
            if self.has_ended {
                let end = self.buffer.end();
                let found = (self.front < end).then(|| self.junk(end, junk));
                return Ok(found);
            }
            self.has_ended = self.buffer.read(reader, 0)? == 0;
        }
    }

    /// Decodes what has come.
    fn decode(&mut self, limit: u64, junk: &mut KeptJunk) -> Option<NextSegment> {
        let mut bytes = self.buffer.from(self.decoder.position());
        loop {
            match self.decoder.next_event(&mut bytes) {
                Ok(None) => return None,
                Ok(Some(Event::Resynchronised { .. })) => {
                    self.is_too_large = false;
                    let start = self.decoder.message_offset();
                    if self.front < start {
                        return Some(self.junk(start, junk));
                    }
                }
                Ok(Some(Event::MessageEnd(end))) => {
                    let behind = self.decoder.position();
                    self.front = behind;
                    if !mem::take(&mut self.is_too_large) {
                        return Some(NextSegment::message(span_before(behind, end.length).start, end.length, limit));
                    }
                }
                // The decoder looks for the next message.
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }

    /// The junk from the front to `end`.
    fn junk(&mut self, end: u64, junk: &mut KeptJunk) -> NextSegment {
        let (offset, length) = (self.front, span_len(&(self.front..end)));
        junk.add(offset, end, &self.buffer);
        self.front = end;
        NextSegment::Junk { offset, length }
    }

    /// The message that is being read, if it is longer than the limit and was not reported yet.
    fn over_limit(&mut self, limit: u64) -> Option<NextSegment> {
        let offset = self.decoder.message_offset();
        let is_over = !self.decoder.is_searching() && span_len(&(offset..self.decoder.position())) > limit;
        if !is_over || self.is_too_large {
            return None;
        }
        self.is_too_large = true;
        Some(NextSegment::TooLarge { offset, length: None })
    }

    /// Drops the bytes that are not needed any more: all before the message, or before the bytes that may begin one.
    fn release(&mut self, junk: &mut KeptJunk) {
        let place = if self.decoder.is_searching() || self.is_too_large {
            span_before(self.decoder.position(), PREAMBLE_SIZE as u64).start.max(self.front)
        } else {
            self.decoder.message_offset()
        };
        if self.decoder.is_searching() {
            junk.add(self.front, place, &self.buffer);
        }
        self.buffer.drop_before(place);
    }
}
