//! The events of the decoder: what it reports about the bytes that it was given.

use core::fmt;

use crate::descriptor::Descriptor;
use crate::error::Result;
#[cfg(feature = "hash")]
use crate::hash::Verdict;
use crate::index::{HashList, Index};
use crate::metadata::Metadata;
use crate::wire::{FrameFlags, FrameType, Postamble, Preamble};

/// One fact about the stream.
///
/// Offsets count from the message's first byte. Slices are borrowed from the input or, if the decoder had to gather bytes,
/// from the decoder. Events come in this order:
///
/// ```text
/// message = Preamble  frame …  MessageEnd      after skipped bytes, Resynchronised comes first
/// frame   = FrameBegin  body  FrameEnd
/// body    = Cbor                   a metadata, index or hash frame
///         | TooLarge Chunk …       the same, if its CBOR does not fit
///         | Descriptor Chunk …     a data object whose descriptor comes first
///         | TooLarge Chunk …       the same, if its descriptor does not fit
///         | Chunk … Descriptor     a data object whose descriptor comes last
///         | Chunk … TooLarge       the same, if its descriptor does not fit
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A message begins, after bytes that belong to no message or to one that was given up.
    Resynchronised {
        /// The number of these bytes.
        skipped: u64,
    },
    /// A message begins. [`super::PushDecoder::message_offset`] is its place in the stream.
    Preamble(Preamble),
    /// A frame begins. Its header is valid, and its type is allowed here.
    FrameBegin(FrameBegin),
    /// The whole CBOR of a metadata, index or hash frame. The frame's tail was read. With the feature `hash` the digest was
    /// compared, and the event comes even if it is wrong: see `Cbor::verdict`.
    Cbor(Cbor<'a>),
    /// The descriptor of a data object. It comes before or after the chunks of the region, as the frame's flag says.
    Descriptor(ObjectDescriptor<'a>),
    /// The next bytes of a frame's body. Their number depends on how the input was cut.
    Chunk(Chunk<'a>),
    /// CBOR that did not come in one piece and does not fit the memory.
    TooLarge(TooLarge),
    /// A frame has ended, and its tail is valid.
    FrameEnd(FrameEnd),
    /// A message has ended, and its postamble is valid.
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

/// The CBOR of a metadata, index or hash frame. It was not parsed yet.
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

    /// The result of checking the frame's digest.
    #[cfg(feature = "hash")]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The metadata of a header, footer or preceder frame.
    ///
    /// # Errors
    /// The errors of [`Metadata::of_frame`].
    pub fn metadata(&self) -> Result<Metadata<'a>> {
        Metadata::of_body(self.frame_type, self.bytes, self.offset)
    }

    /// The index of an index frame.
    ///
    /// # Errors
    /// The errors of [`Index::parse`].
    pub fn index(&self) -> Result<Index<'a>> {
        Index::from_body(self.bytes, self.offset)
    }

    /// The digests that a hash frame lists.
    ///
    /// # Errors
    /// The errors of [`HashList::parse`].
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

/// The descriptor of a data object, and the sizes of the parts of its region.
#[derive(Clone, Copy, Debug)]
pub struct ObjectDescriptor<'a> {
    /// Which data object.
    pub object_index: u64,
    /// The descriptor. If it comes before the region, the frame's digest was not checked yet.
    pub descriptor: Descriptor<'a>,
    /// Bytes of the region: payload and masks.
    pub region_len: u64,
    /// Bytes of the region before the first mask: the encoded payload.
    pub payload_len: u64,
}

/// The part of a frame that a [`Chunk`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The encoded payload. The descriptor came before.
    Payload,
    /// The blobs of the masks. The descriptor came before, and has their offsets in the region.
    Masks,
    /// Payload or masks. The descriptor comes later, and says where the payload ends.
    Region,
    /// The body of a data object whose descriptor comes first and is too large. Where the descriptor ends is not known.
    Body,
    /// The body of a metadata, index or hash frame that is too large.
    Cbor,
}

/// A slice of a frame's body.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    /// Which data object, if it is one.
    pub object_index: Option<u64>,
    /// The part that the bytes belong to.
    pub part: Part,
    /// Where the bytes start in the message.
    pub offset: u64,
    /// Where the bytes start in the region; for [`Part::Body`] and [`Part::Cbor`], in the body.
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

/// CBOR that was not kept, because it does not fit the memory.
///
/// The CBOR of a metadata, index or hash frame comes after this event, as chunks of [`Part::Cbor`]. A descriptor before its
/// region comes after this event too: it and the region are chunks of [`Part::Body`].
///
/// A descriptor after its region is different. Its first bytes came before this event, as the last bytes of
/// [`Part::Region`]. Its last bytes, as many as the memory holds, do not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What the frame holds.
    pub frame_type: FrameType,
    /// Which data object, if it is one.
    pub object_index: Option<u64>,
    /// Bytes of the CBOR. `None` for a descriptor before its region, because its end is not known.
    pub length: Option<u64>,
    /// Bytes of the region, if the descriptor comes after it. The bytes of [`Part::Region`] beyond these are CBOR.
    pub region_len: Option<u64>,
}

/// The end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameEnd {
    /// What the frame holds.
    pub frame_type: FrameType,
    /// Which data object it is, if it is one.
    pub object_index: Option<u64>,
    /// Where the frame ends and padding begins.
    pub end_offset: u64,
    /// The result of checking its digest.
    #[cfg(feature = "hash")]
    pub verdict: Verdict,
}

/// The end of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageEnd {
    /// Bytes of the message.
    pub length: u64,
    /// The number of data objects in it.
    pub object_count: u64,
    /// Its last 24 bytes.
    pub postamble: Postamble,
}
