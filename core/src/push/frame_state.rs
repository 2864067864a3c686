//! What is known of the frame whose bytes are passing.

use super::event::{Cbor, Chunk, Event, FrameBegin, FrameEnd, ObjectDescriptor, Part, TooLarge};
use crate::descriptor::Descriptor;
use crate::error::Result;
#[cfg(feature = "hash")]
use crate::hash::Verdict;
use crate::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

/// Bytes of a descriptor that are gathered before the first try to read it. Each further try needs twice as many.
const FIRST_TRY: usize = 64;

/// A frame that has begun. Its positions count from the body's first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameState {
    pub(super) begin: FrameBegin,
    pub(super) stage: Stage,
    pub(super) form: Form,
    pub(super) body_len: u64,
    /// Bytes of the body still to come.
    pub(super) left: u64,
    /// Bytes of the body in the memory.
    pub(super) held: usize,
    /// Bytes that the memory must hold for the next try to read the descriptor.
    pub(super) next_try: usize,
    /// Where the descriptor begins. Known once the descriptor or the tail has come.
    pub(super) cbor_start: u64,
    /// Bytes of a descriptor that comes first.
    pub(super) cbor_len: u64,
    /// Bytes of the payload. Known once a descriptor that comes first was read.
    pub(super) payload_len: u64,
    #[cfg(feature = "hash")]
    pub(super) verdict: Verdict,
}

/// What the machine does next in a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// Decide, with the body's first byte.
    Start,
    /// Keep the whole body.
    Gather,
    /// Keep bytes until the descriptor is whole.
    Descriptor,
    /// Tell of the bytes in the memory from this position on: the part of the region that was kept.
    Kept(usize),
    /// Pass the body on as it comes.
    Pass,
    /// Pass the region on as it comes, but keep the bytes that may be the descriptor.
    Region,
    /// Read the tail.
    Tail,
    /// Tell of the descriptor, which is in the memory from this position on.
    KeptDescriptor(usize),
    /// Tell of the frame's end.
    End,
}

/// What the body consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// CBOR.
    Cbor,
    /// CBOR that does not fit the memory.
    LargeCbor,
    /// A descriptor, then the region.
    First,
    /// A descriptor that does not fit the memory, then the region. Where the region begins is not known.
    LargeFirst,
    /// The region, then a descriptor.
    Last,
}

impl FrameState {
    /// The value before the first frame.
    pub(super) const NONE: Self = Self::new(
        FrameBegin {
            frame_type: FrameType::HeaderMetadata,
            flags: FrameFlags::new(0),
            offset: 0,
            total_length: 0,
            object_index: None,
        },
        Form::Cbor,
    );

    pub(super) const fn begin(begin: FrameBegin) -> Self {
        let form = match (begin.frame_type.is_data_object(), begin.flags.has(FrameFlags::CBOR_AFTER_PAYLOAD)) {
            (false, _) => Form::Cbor,
            (true, true) => Form::Last,
            (true, false) => Form::First,
        };
        Self::new(begin, form)
    }

    const fn new(begin: FrameBegin, form: Form) -> Self {
        // Cannot underflow: `check_header` refuses smaller frames.
        let body_len = begin.total_length.saturating_sub(begin.frame_type.min_size() as u64);
        Self {
            begin,
            stage: Stage::Start,
            form,
            body_len,
            left: body_len,
            held: 0,
            next_try: FIRST_TRY,
            cbor_start: 0,
            cbor_len: 0,
            payload_len: 0,
            #[cfg(feature = "hash")]
            verdict: Verdict::Missing,
        }
    }

    /// Where the body starts in the message.
    pub(super) const fn body_offset(&self) -> u64 {
        self.begin.offset.saturating_add(FRAME_HEADER_SIZE as u64)
    }

    /// Bytes of the body that have come.
    pub(super) const fn done(&self) -> u64 {
        self.body_len.saturating_sub(self.left)
    }

    /// The part that the byte at `position` belongs to, and how many bytes from there on belong to it.
    pub(super) const fn part_at(&self, position: u64) -> (Part, u64) {
        match self.form {
            Form::Cbor | Form::LargeCbor => (Part::Cbor, u64::MAX),
            Form::LargeFirst => (Part::Body, u64::MAX),
            Form::Last => (Part::Region, u64::MAX),
            Form::First => match self.payload_len.saturating_sub(position.saturating_sub(self.cbor_len)) {
                0 => (Part::Masks, u64::MAX),
                payload_left => (Part::Payload, payload_left),
            },
        }
    }

    pub(super) const fn too_large(&self, length: Option<u64>, region_len: Option<u64>) -> TooLarge {
        let FrameBegin { frame_type, object_index, .. } = self.begin;
        TooLarge { frame_type, object_index, length, region_len }
    }

    pub(super) fn end(&self) -> FrameEnd {
        FrameEnd {
            frame_type: self.begin.frame_type,
            object_index: self.begin.object_index,
            end_offset: self.begin.offset.saturating_add(self.begin.total_length),
            #[cfg(feature = "hash")]
            verdict: self.verdict,
        }
    }

    /// The event of the frame's CBOR.
    pub(super) const fn cbor<'a>(&self, bytes: &'a [u8]) -> Event<'a> {
        Event::Cbor(Cbor {
            frame_type: self.begin.frame_type,
            bytes,
            offset: self.body_offset(),
            #[cfg(feature = "hash")]
            verdict: self.verdict,
        })
    }

    /// The event of a part of the body.
    pub(super) const fn chunk<'a>(&self, bytes: &'a [u8], part: Part, body_offset: u64) -> Event<'a> {
        Event::Chunk(Chunk {
            object_index: self.begin.object_index,
            part,
            offset: self.body_offset().saturating_add(body_offset),
            region_offset: body_offset.saturating_sub(self.cbor_len),
            bytes,
        })
    }

    /// The event of the descriptor that `bytes` begin with.
    ///
    /// # Errors
    /// The errors of [`crate::object::DataObject::parse`].
    pub(super) fn descriptor<'a>(&self, bytes: &'a [u8]) -> Result<Event<'a>> {
        let descriptor = Descriptor::parse(bytes, self.body_offset().saturating_add(self.cbor_start))?;
        let region_len =
            if self.form == Form::Last { self.cbor_start } else { self.body_len.saturating_sub(self.cbor_len) };
        let payload_len = descriptor.masks().payload_len(region_len)?;
        let object_index = self.begin.object_index.unwrap_or(0);
        Ok(Event::Descriptor(ObjectDescriptor { object_index, descriptor, region_len, payload_len }))
    }
}
