//! Messages of a stream whose bytes all arrive, by the rules of scans.

use std::io::Read;

use tgm_core::message::check_preamble;
use tgm_core::push::{Event, Link, PushDecoder};
use tgm_core::scan::{Scanner, Segment};
use tgm_core::wire::{PREAMBLE_SIZE, Preamble};
use zerocopy::FromBytes;

use super::buffer::Buffer;
use super::held::Held;
use super::kept_junk::KeptJunk;
use super::next_segment::NextSegment;
use crate::base::error::Result;
use crate::base::span::{span, span_before, span_len};
use crate::scan::MessageLayout;

/// Finds messages by a scan of the bytes that have come.
#[derive(Debug)]
pub(super) struct Reliable {
    scanner: Scanner<Held>,
    skipped: Option<Skipped>,
}

/// A message that is longer than the limit, and that is not kept.
#[derive(Debug)]
enum Skipped {
    /// A message that states its length.
    Stated(MessageLayout),
    /// A message that does not state its length. Its frames lead to its end. They are walked up to this place.
    Streamed(Box<PushDecoder<0>>, u64),
}

impl Reliable {
    pub(super) fn new() -> Self {
        Self { scanner: Scanner::growing(Held::default(), 0), skipped: None }
    }

    /// The kept bytes.
    pub(super) const fn buffer(&self) -> &Buffer {
        &self.scanner.source().buffer
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
        self.skip(reader)?;
        loop {
            let starved = match self.scanner.next_segment() {
                Ok(None) => return Ok(None),
                Ok(Some(Segment::Message { offset, length })) => {
                    return Ok(Some(NextSegment::message(offset, length, limit)));
                }
                Ok(Some(Segment::Junk { offset, length })) => return Ok(Some(self.junk(offset, length, junk))),
                Err(starved) => starved,
            };
            self.release(junk);
            let (place, end) = (self.scanner.place(), self.buffer().end());
            let most = span(place, limit).end;
            if starved.wanted > most && end >= most {
                match self.over_limit(place, limit, junk) {
                    Some(found) => return Ok(Some(found)),
                    None => continue,
                }
            }
            let wanted = starved.wanted.min(most);
            while !self.scanner.source().has_ended() && self.buffer().end() < wanted {
                self.read(reader, wanted)?;
            }
        }
    }

    /// Reads once.
    fn read(&mut self, reader: &mut impl Read, wanted: u64) -> Result<()> {
        let held = self.scanner.source_mut();
        let count = held.buffer.read(reader, wanted)?;
        if count == 0 {
            held.end();
            self.scanner.end();
        }
        Ok(())
    }

    /// Drops the bytes that the scan does not need any more.
    fn release(&mut self, junk: &mut KeptJunk) {
        let (front, place) = (self.scanner.front(), self.scanner.place());
        let buffer = &mut self.scanner.source_mut().buffer;
        junk.add(front, place, buffer);
        buffer.drop_before(place);
    }

    fn junk(&self, offset: u64, length: u64, junk: &mut KeptJunk) -> NextSegment {
        junk.add(offset, span(offset, length).end, self.buffer());
        NextSegment::Junk { offset, length }
    }

    /// What there is at `place`, where the scan needs more bytes than the limit allows. `None` if it is not a message.
    fn over_limit(&mut self, place: u64, limit: u64, junk: &mut KeptJunk) -> Option<NextSegment> {
        let Some(skipped) = self.too_large(place, limit) else {
            self.scanner.pass_over();
            return None;
        };
        let front = self.scanner.front();
        self.scanner.resume_at(place);
        if front < place {
            return Some(self.junk(front, span_len(&(front..place)), junk));
        }
        let length = match &skipped {
            Skipped::Stated(message) => Some(message.length),
            Skipped::Streamed(..) => None,
        };
        self.skipped = Some(skipped);
        Some(NextSegment::TooLarge { offset: place, length })
    }

    /// The message at `place`, if it is longer than the limit.
    fn too_large(&self, place: u64, limit: u64) -> Option<Skipped> {
        let mut bytes = self.buffer().from(place);
        let preamble = Preamble::ref_from_bytes(bytes.get(..PREAMBLE_SIZE)?).ok()?;
        if let Some(length) = check_preamble(preamble, u64::MAX).ok()? {
            return (length > limit).then_some(Skipped::Stated(MessageLayout { offset: place, length }));
        }
        let mut decoder = Box::new(PushDecoder::new(Link::Reliable));
        decoder.reset(place);
        // If the frames that have come are damaged, the message is not only long.
        matches!(walk(&mut decoder, &mut bytes), Walked::Inside)
            .then(|| Skipped::Streamed(decoder, self.buffer().end()))
    }

    /// Reads to the end of a message that is too long, and keeps nothing of it.
    fn skip(&mut self, reader: &mut impl Read) -> Result<()> {
        let Some(mut skipped) = self.skipped.take() else { return Ok(()) };
        loop {
            let end = self.buffer().end();
            let ended = match &mut skipped {
                Skipped::Stated(message) => Some(message.end()).filter(|behind| *behind <= end),
                Skipped::Streamed(decoder, walked) => {
                    let mut bytes = self.scanner.source().buffer.from(*walked);
                    *walked = end;
                    match walk(decoder, &mut bytes) {
                        Walked::Inside => None,
                        Walked::Ended => Some(decoder.position()),
                        // Another preamble may be the reason. It was taken.
                        Walked::Damaged => Some(span_before(decoder.position(), PREAMBLE_SIZE as u64).start),
                    }
                }
            };
            let ended = ended.or_else(|| self.scanner.source().has_ended().then_some(end));
            // Damage may be noticed up to a preamble after the place where the scan has to go on.
            let keeps = if matches!(skipped, Skipped::Streamed(..)) { PREAMBLE_SIZE as u64 } else { 0 };
            let buffer = &mut self.scanner.source_mut().buffer;
            if let Some(behind) = ended {
                buffer.drop_before(behind);
                let start = buffer.start();
                self.scanner.resume_at(start);
                return Ok(());
            }
            buffer.drop_before(span_before(end, keeps).start);
            if let Err(error) = self.read(reader, 0) {
                self.skipped = Some(skipped);
                return Err(error);
            }
        }
    }
}

/// Where a walk over the frames of a message ended.
enum Walked {
    /// Inside the message: more bytes are needed.
    Inside,
    /// At the end of the message.
    Ended,
    /// At damage.
    Damaged,
}

/// Walks the frames in `bytes`.
fn walk(decoder: &mut PushDecoder<0>, bytes: &mut &[u8]) -> Walked {
    loop {
        match decoder.next_event(bytes) {
            Ok(None) => return Walked::Inside,
            Ok(Some(Event::MessageEnd(_))) => return Walked::Ended,
            Ok(Some(_)) => {}
            Err(_) => return Walked::Damaged,
        }
    }
}
