//! What the decoder says about the bytes that it was given.

use core::fmt;

use crate::descriptor::Descriptor;
use crate::error::Result;
#[cfg(feature = "hash")]
use crate::hash::Verdict;
use crate::index::{HashList, Index};
use crate::metadata::Metadata;
use crate::wire::{FrameFlags, FrameType, Postamble, Preamble};

/// One fact about the stream. Offsets count from the message's first byte; slices are borrowed from the input, or from the
/// decoder where it had to gather them.
///
/// ```text
/// [Resynchronised] Preamble { FrameBegin { Cbor | Chunk … Descriptor | Descriptor Chunk … | TooLarge Chunk … } FrameEnd } … MessageEnd
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A message begins behind bytes that belong to none: junk, or a message that was given up.
    Resynchronised {
        /// How many bytes, those of the message given up included.
        skipped: u64,
    },
    /// A message begins. Where in the stream, says [`super::PushDecoder::message_offset`].
    Preamble(Preamble),
    /// A frame begins: its header is right, and it may stand here.
    FrameBegin(FrameBegin),
    /// All of a frame's CBOR: metadata, index or digests. The frame's end has been seen, and its digest compared.
    Cbor(Cbor<'a>),
    /// What a data object is: before the chunks of its region or behind them, as the frame's flag says.
    Descriptor(ObjectDescriptor<'a>),
    /// A part of a frame's body, as much as there is in one piece.
    Chunk(Chunk<'a>),
    /// CBOR that neither came in one piece nor fits the memory.
    TooLarge(TooLarge),
    /// A frame has ended as it should.
    FrameEnd(FrameEnd),
    /// A message has ended as it should.
    MessageEnd(MessageEnd),
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameBegin {
    /// What the frame holds.
    pub frame_type: FrameType,
    /// The header's flags.
    pub flags: FrameFlags,
    /// Where the frame starts.
    pub offset: u64,
    /// Bytes of the frame without padding.
    pub total_length: u64,
    /// Which data object it is, if it is one.
    pub object_index: Option<u64>,
}

/// The CBOR of a metadata, index or hash frame; not looked at yet.
#[derive(Clone, Copy)]
pub struct Cbor<'a> {
    pub(super) frame_type: FrameType,
    pub(super) bytes: &'a [u8],
    pub(super) offset: u64,
    #[cfg(feature = "hash")]
    pub(super) verdict: Verdict,
}

impl<'a> Cbor<'a> {
    /// What the frame holds.
    pub const fn frame_type(&self) -> FrameType {
        self.frame_type
    }

    /// The frame's body.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the body starts.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// What comparing the frame's digest found.
    #[cfg(feature = "hash")]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The metadata of a header, footer or preceder frame.
    ///
    /// # Errors
    /// Those of [`Metadata::of_frame`].
    pub fn metadata(&self) -> Result<Metadata<'a>> {
        Metadata::of_body(self.frame_type, self.bytes, self.offset)
    }

    /// The index of an index frame.
    ///
    /// # Errors
    /// Those of [`Index::parse`].
    pub fn index(&self) -> Result<Index<'a>> {
        Index::from_body(self.bytes, self.offset)
    }

    /// The digests that a hash frame lists.
    ///
    /// # Errors
    /// Those of [`HashList::parse`].
    pub fn hash_list(&self) -> Result<HashList<'a>> {
        HashList::from_body(self.bytes, self.offset)
    }
}

impl fmt::Debug for Cbor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cbor")
            .field("frame_type", &self.frame_type)
            .field("offset", &self.offset)
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// The descriptor of a data object, and how its region divides.
#[derive(Clone, Copy, Debug)]
pub struct ObjectDescriptor<'a> {
    /// Which data object.
    pub object_index: u64,
    /// What it is. Its digest has been compared only if it follows the region.
    pub descriptor: Descriptor<'a>,
    /// Bytes of the region: payload and masks.
    pub region_len: u64,
    /// Bytes of the region before the first mask: the encoded payload.
    pub payload_len: u64,
}

/// What a [`Chunk`] is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The encoded payload; the descriptor came before.
    Payload,
    /// The blobs of masks, which the descriptor divides by their offsets in the region.
    Masks,
    /// Payload and masks; the descriptor that divides them follows.
    Region,
    /// A data object's body whose descriptor comes first and is too large: where it ends is not known.
    Body,
    /// The body of a metadata, index or hash frame, which is too large.
    Cbor,
}

/// A slice of a frame's body.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    /// Which data object, if it is one.
    pub object_index: Option<u64>,
    /// What the bytes are a part of.
    pub part: Part,
    /// Where they start in the message.
    pub offset: u64,
    /// Where they start in the region, payload and masks alike; in the body for [`Part::Body`] and [`Part::Cbor`].
    pub region_offset: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl fmt::Debug for Chunk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk")
            .field("object_index", &self.object_index)
            .field("part", &self.part)
            .field("offset", &self.offset)
            .field("region_offset", &self.region_offset)
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// CBOR that was not kept. Its bytes pass as chunks: [`Part::Cbor`] and [`Part::Body`] behind this event; the beginning of a
/// descriptor that follows its region as the last [`Part::Region`] bytes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What the frame holds.
    pub frame_type: FrameType,
    /// Which data object, if it is one.
    pub object_index: Option<u64>,
    /// Bytes of the CBOR; `None` for a descriptor before its region, whose end is not known.
    pub length: Option<u64>,
    /// Bytes of the region, which are the first that passed as [`Part::Region`]; known if the descriptor follows.
    pub region_len: Option<u64>,
}

/// The end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEnd {
    /// What the frame holds.
    pub frame_type: FrameType,
    /// Which data object it is, if it is one.
    pub object_index: Option<u64>,
    /// Where it ends and padding begins.
    pub end_offset: u64,
    /// What comparing its digest found.
    #[cfg(feature = "hash")]
    pub verdict: Verdict,
}

/// The end of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageEnd {
    /// Bytes of the message.
    pub length: u64,
    /// How many data objects it has.
    pub object_count: u64,
    /// Its last 24 bytes.
    pub postamble: Postamble,
}
