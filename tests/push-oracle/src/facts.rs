//! What a stream contains, independent of its pieces: chunks are joined, events are in one order.

use tgm_core::error::Error;
use tgm_core::hash::Verdict;
use tgm_core::push::{Chunk, Event, Link, ObjectDescriptor, Part, PushDecoder};
use tgm_core::wire::FrameType;

/// One finding. Offsets count from the start of the stream or message, as in the events.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as in events")]
pub enum Fact {
    /// So many bytes belong to no message.
    Skipped(u64),
    /// A message begins.
    Start,
    /// A frame begins.
    Frame { frame_type: FrameType, offset: u64, length: u64, object_index: Option<u64> },
    /// The CBOR of a frame without payload.
    Cbor { bytes: Vec<u8>, offset: u64 },
    /// Region and descriptor of an object.
    Object { region: Vec<u8>, region_offset: u64, descriptor: Vec<u8>, cbor_offset: u64, payload_len: u64 },
    /// A frame ends.
    FrameEnd { offset: u64, verdict: Verdict },
    /// The message ends.
    End { length: u64, objects: u64 },
    /// What is wrong.
    Error(Error),
}

/// The data object that is being received.
#[derive(Default)]
struct Partial {
    region: Vec<u8>,
    region_offset: u64,
    descriptor: Option<(Vec<u8>, u64, u64, u64)>,
}

impl Partial {
    fn chunk(&mut self, chunk: &Chunk<'_>) {
        assert_eq!(chunk.region_offset, self.region.len() as u64, "{chunk:?}");
        if self.region.is_empty() {
            self.region_offset = chunk.offset;
        }
        assert_eq!(chunk.offset, self.region_offset + chunk.region_offset, "{chunk:?}");
        assert!(!chunk.bytes.is_empty(), "{chunk:?}");
        let end = chunk.region_offset + chunk.bytes.len() as u64;
        match (chunk.part, &self.descriptor) {
            (Part::Region, None) => {}
            (Part::Payload, Some((_, _, _, payload_len))) => assert!(end <= *payload_len, "{chunk:?}"),
            (Part::Masks, Some((_, _, _, payload_len))) => assert!(chunk.region_offset >= *payload_len, "{chunk:?}"),
            other => panic!("{other:?}"),
        }
        self.region.extend_from_slice(chunk.bytes);
    }

    fn descriptor(&mut self, object: &ObjectDescriptor<'_>) {
        let d = &object.descriptor;
        self.descriptor = Some((d.as_encoded().to_vec(), d.offset(), object.region_len, object.payload_len));
    }

    fn finish(self) -> Fact {
        let (descriptor, cbor_offset, region_len, payload_len) = self.descriptor.unwrap();
        assert_eq!(self.region.len() as u64, region_len);
        // The place of an empty region is not reported.
        let region_offset = if self.region.is_empty() { 0 } else { self.region_offset };
        Fact::Object { region: self.region, region_offset, descriptor, cbor_offset, payload_len }
    }
}

/// The facts that `decoder` reports for `pieces`, to the end of the stream. Its memory must be large enough.
pub fn facts_of<'a, const N: usize>(link: Link, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Fact> {
    let mut decoder = PushDecoder::<N>::new(link);
    let mut facts = Vec::new();
    let mut partial = Partial::default();
    for piece in pieces {
        let mut rest = piece;
        loop {
            let before = (decoder.position(), rest.len());
            match decoder.next_event(&mut rest) {
                Ok(None) => break,
                Ok(Some(event)) => note(&event, &mut facts, &mut partial),
                Err(error) => {
                    partial = Partial::default();
                    facts.push(Fact::Error(error));
                }
            }
            // Every taken byte is counted.
            assert_eq!(decoder.position() - before.0, (before.1 - rest.len()) as u64);
        }
        assert!(rest.is_empty());
    }
    if let Err(error) = decoder.finish() {
        facts.push(Fact::Error(error));
    }
    facts
}

fn note(event: &Event<'_>, facts: &mut Vec<Fact>, partial: &mut Partial) {
    let fact = match *event {
        Event::Resynchronised { skipped } => Fact::Skipped(skipped),
        Event::Preamble(_) => Fact::Start,
        Event::FrameBegin(begin) => Fact::Frame {
            frame_type: begin.frame_type,
            offset: begin.offset,
            length: begin.total_length,
            object_index: begin.object_index,
        },
        Event::Cbor(ref cbor) => Fact::Cbor { bytes: cbor.as_bytes().to_vec(), offset: cbor.offset() },
        Event::Descriptor(ref object) => return partial.descriptor(object),
        // The frame claims more bytes than any file has. An error follows.
        Event::TooLarge(_) | Event::Chunk(Chunk { part: Part::Cbor | Part::Body, .. }) => return,
        Event::Chunk(chunk) => return partial.chunk(&chunk),
        Event::FrameEnd(end) => {
            if end.object_index.is_some() {
                facts.push(std::mem::take(partial).finish());
            }
            Fact::FrameEnd { offset: end.end_offset, verdict: end.verdict }
        }
        Event::MessageEnd(end) => Fact::End { length: end.length, objects: end.object_count },
        ref other => panic!("{other:?}"),
    };
    facts.push(fact);
}

/// The facts up to the first error or the end of the first message.
pub fn first_message(mut facts: Vec<Fact>) -> Vec<Fact> {
    if let Some(last) = facts.iter().position(|fact| matches!(fact, Fact::Error(_) | Fact::End { .. })) {
        facts.truncate(last + 1);
    }
    without_last_begin(facts)
}

/// The facts without the beginning of a frame right before an error: it is reported only if enough bytes came.
pub fn without_last_begin(mut facts: Vec<Fact>) -> Vec<Fact> {
    if let [.., Fact::Frame { .. }, Fact::Error(_)] = facts.as_slice() {
        facts.remove(facts.len() - 2);
    }
    facts
}
