//! The fixed layouts of version 3, as they lie in the bytes.
//!
//! Every integer is unsigned and big-endian. Every struct here has alignment 1, so it can be borrowed from the caller's
//! slice at any address. Format: FORMAT §1.2 to §1.9.
//!
//! | structure | bytes | fields |
//! |---|---|---|
//! | [`Preamble`] | 24 | magic 8, version 2, flags 2, reserved 4, total_length 8 |
//! | [`FrameHeader`] | 16 | magic 2, frame_type 2, version 2, flags 2, total_length 8 |
//! | [`FrameTail`] | 12 | hash 8, end 4 |
//! | [`ObjectTail`] | 20 | cbor_offset 8, hash 8, end 4 |
//! | [`Postamble`] | 24 | first_footer_offset 8, total_length 8, magic 8 |

use core::mem::offset_of;

use zerocopy::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::error::ErrorKind;
pub use crate::names::FrameType;

/// The first eight bytes of a message.
pub const MAGIC: &[u8; 8] = b"TENSOGRM";
/// The last eight bytes of a message.
pub const END_MAGIC: &[u8; 8] = b"39277777";
/// The first two bytes of a frame.
pub const FRAME_MAGIC: &[u8; 2] = b"FR";
/// The last four bytes of a frame.
pub const FRAME_END: &[u8; 4] = b"ENDF";
/// The version that this crate reads.
pub const WIRE_VERSION: u16 = 3;

/// The size of a [`Preamble`] in bytes.
pub const PREAMBLE_SIZE: usize = size_of::<Preamble>();
/// The size of a [`FrameHeader`] in bytes.
pub const FRAME_HEADER_SIZE: usize = size_of::<FrameHeader>();
/// The size of a [`FrameTail`] in bytes: the tail of every frame except a data object's.
pub const FRAME_COMMON_FOOTER_SIZE: usize = size_of::<FrameTail>();
/// The size of an [`ObjectTail`] in bytes.
pub const DATA_OBJECT_FOOTER_SIZE: usize = size_of::<ObjectTail>();
/// The size of a [`Postamble`] in bytes.
pub const POSTAMBLE_SIZE: usize = size_of::<Postamble>();
/// The size of the smallest message in bytes: a preamble and a postamble without frames.
pub const MIN_MESSAGE_SIZE: usize = PREAMBLE_SIZE + POSTAMBLE_SIZE;
/// Frames and the postamble start at multiples of this many bytes from the message's start (FORMAT §1.8).
pub const FRAME_ALIGNMENT: usize = 8;

const _: () = assert!(PREAMBLE_SIZE == 24 && POSTAMBLE_SIZE == 24 && FRAME_HEADER_SIZE == 16);
const _: () = assert!(FRAME_COMMON_FOOTER_SIZE == 12 && DATA_OBJECT_FOOTER_SIZE == 20);

/// The first 24 bytes of a message (FORMAT §1.2).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Preamble {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`WIRE_VERSION`].
    pub version: U16,
    /// [`MessageFlags`]: what the message may hold.
    pub flags: U16,
    /// Written as 0, ignored on read.
    pub reserved: U32,
    /// The length of the message in bytes, from the preamble to the end of the postamble. 0 means unknown: a streaming
    /// writer did not come back to fill it in.
    pub total_length: U64,
}

impl Preamble {
    /// The offset of [`version`](Self::version) in the preamble, in bytes.
    pub const VERSION_OFFSET: usize = offset_of!(Self, version);
    /// The offset of [`total_length`](Self::total_length) in the preamble, in bytes.
    pub const TOTAL_LENGTH_OFFSET: usize = offset_of!(Self, total_length);

    /// The flags, unknown bits included.
    pub const fn flags(&self) -> MessageFlags {
        MessageFlags(self.flags.get())
    }
}

/// The first 16 bytes of a frame (FORMAT §1.4).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
#[repr(C)]
pub struct FrameHeader {
    /// [`FRAME_MAGIC`].
    pub magic: [u8; 2],
    /// The number of a [`FrameType`].
    pub frame_type: U16,
    /// Written as 1, ignored on read.
    pub version: U16,
    /// [`FrameFlags`].
    pub flags: U16,
    /// The length of the frame in bytes, from the header to the end of `ENDF`. The padding after it is not included.
    pub total_length: U64,
}

impl FrameHeader {
    /// The offset of [`frame_type`](Self::frame_type) in the frame, in bytes.
    pub const FRAME_TYPE_OFFSET: usize = offset_of!(Self, frame_type);
    /// The offset of [`total_length`](Self::total_length) in the frame, in bytes.
    pub const TOTAL_LENGTH_OFFSET: usize = offset_of!(Self, total_length);

    /// The flags, unknown bits included.
    pub const fn flags(&self) -> FrameFlags {
        FrameFlags(self.flags.get())
    }
}

/// The last 12 bytes of every frame (FORMAT §1.6). A data object has the same 12 at the end of its [`ObjectTail`].
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
#[repr(C)]
pub struct FrameTail {
    /// The XXH3-64 digest of the body, if [`FrameFlags::HASH_PRESENT`] is set; before release 0.21 the preamble says
    /// whether it is there (see [`crate::hash`]).
    pub hash: U64,
    /// [`FRAME_END`].
    pub end: [u8; 4],
}

impl FrameTail {
    /// The offset of [`end`](Self::end) in the tail, in bytes.
    pub const END_OFFSET: usize = offset_of!(Self, end);
}

/// The last 20 bytes of a data-object frame (FORMAT §1.6).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ObjectTail {
    /// The offset of the descriptor in the frame, in bytes.
    pub cbor_offset: U64,
    /// As in [`FrameTail`].
    pub hash: U64,
    /// [`FRAME_END`].
    pub end: [u8; 4],
}

/// The last 24 bytes of a message (FORMAT §1.9).
#[derive(Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Postamble {
    /// Bytes from the message's start to its first footer frame, or to the postamble if there is no footer frame. It is
    /// a hint: readers accept a wrong one.
    pub first_footer_offset: U64,
    /// A copy of the preamble's `total_length`; 0 means unknown.
    pub total_length: U64,
    /// [`END_MAGIC`].
    pub magic: [u8; 8],
}

impl Postamble {
    /// The offset of [`total_length`](Self::total_length) in the postamble, in bytes.
    pub const TOTAL_LENGTH_OFFSET: usize = offset_of!(Self, total_length);
    /// The offset of [`magic`](Self::magic) in the postamble, in bytes.
    pub const MAGIC_OFFSET: usize = offset_of!(Self, magic);
}

/// Flags of a preamble (FORMAT §1.3): what the writer intended to put into the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MessageFlags(u16);

impl MessageFlags {
    /// A header metadata frame.
    pub const HEADER_METADATA: u16 = 1 << 0;
    /// A footer metadata frame.
    pub const FOOTER_METADATA: u16 = 1 << 1;
    /// A header index frame.
    pub const HEADER_INDEX: u16 = 1 << 2;
    /// A footer index frame.
    pub const FOOTER_INDEX: u16 = 1 << 3;
    /// A header hash frame.
    pub const HEADER_HASHES: u16 = 1 << 4;
    /// A footer hash frame.
    pub const FOOTER_HASHES: u16 = 1 << 5;
    /// Preceder frames may come before objects.
    pub const PRECEDER_METADATA: u16 = 1 << 6;
    /// Frames were hashed. Writers before 0.21 set only this flag; later ones also set [`FrameFlags::HASH_PRESENT`].
    pub const HASHES_PRESENT: u16 = 1 << 7;
    /// All bits that have a meaning. Writers set the others to 0, and readers ignore them.
    pub const KNOWN: u16 = 0x00ff;

    /// Flags from their bits. Unknown bits are kept.
    pub const fn new(bits: u16) -> Self {
        Self(bits)
    }

    /// All sixteen bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether every bit of `mask` is set.
    pub const fn has(self, mask: u16) -> bool {
        self.0 & mask == mask
    }

    /// Sets every bit of `mask`.
    pub const fn set(&mut self, mask: u16) {
        self.0 |= mask;
    }

    /// Whether the flags announce a metadata frame, before the objects or after them.
    pub const fn has_metadata(self) -> bool {
        self.has(Self::HEADER_METADATA) || self.has(Self::FOOTER_METADATA)
    }
}

/// Flags of a frame header (FORMAT §1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameFlags(u16);

impl FrameFlags {
    /// Data objects only: the descriptor follows the payload.
    pub const CBOR_AFTER_PAYLOAD: u16 = 1 << 0;
    /// The tail's `hash` holds a digest.
    pub const HASH_PRESENT: u16 = 1 << 1;
    /// All bits that have a meaning. Writers set the others to 0, and readers ignore them.
    pub const KNOWN: u16 = Self::CBOR_AFTER_PAYLOAD | Self::HASH_PRESENT;

    /// Flags from their bits. Unknown bits are kept.
    pub const fn new(bits: u16) -> Self {
        Self(bits)
    }

    /// All sixteen bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether every bit of `mask` is set.
    pub const fn has(self, mask: u16) -> bool {
        self.0 & mask == mask
    }
}

impl FrameType {
    /// The type with this number.
    ///
    /// # Errors
    /// [`ErrorKind::ReservedFrameType`] for 4, [`ErrorKind::UnknownFrameType`] for 0 and everything above 9.
    pub const fn from_u16(number: u16) -> Result<Self, ErrorKind> {
        match (Self::of_number(number), number) {
            (Some(frame_type), _) => Ok(frame_type),
            (None, 4) => Err(ErrorKind::ReservedFrameType),
            (None, _) => Err(ErrorKind::UnknownFrameType(number)),
        }
    }

    /// The size of this type's tail in bytes: 20 for data objects, 12 for all others.
    pub const fn tail_size(self) -> usize {
        if self.is_data_object() { DATA_OBJECT_FOOTER_SIZE } else { FRAME_COMMON_FOOTER_SIZE }
    }

    /// The size of the smallest frame of this type in bytes: header and tail, without a body.
    pub const fn min_size(self) -> usize {
        FRAME_HEADER_SIZE.saturating_add(self.tail_size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_at_the_offsets_of_the_format() {
        let bytes: [u8; 24] = [
            b'T', b'E', b'N', b'S', b'O', b'G', b'R', b'M', // magic
            0, 3, // version
            0, 0x95, // flags
            0, 0, 0, 1, // reserved
            0, 0, 0, 0, 0, 0, 2, 0x50, // total_length
        ];
        let p = Preamble::ref_from_bytes(&bytes).unwrap();
        assert_eq!((&p.magic, p.version.get(), p.reserved.get(), p.total_length.get()), (MAGIC, 3, 1, 592));
        assert!(p.flags().has(MessageFlags::HEADER_METADATA | MessageFlags::HASHES_PRESENT));
        assert!(!p.flags().has(MessageFlags::FOOTER_INDEX));
        assert_eq!((Preamble::VERSION_OFFSET, Preamble::TOTAL_LENGTH_OFFSET), (8, 16));
        assert_eq!((FrameHeader::FRAME_TYPE_OFFSET, FrameHeader::TOTAL_LENGTH_OFFSET), (2, 8));
        assert_eq!((FrameTail::END_OFFSET, Postamble::TOTAL_LENGTH_OFFSET, Postamble::MAGIC_OFFSET), (8, 8, 16));
    }

    #[test]
    fn flags_are_set_and_stay_set() {
        let mut flags = MessageFlags::new(0x8000);
        assert!(!flags.has_metadata());
        flags.set(MessageFlags::FOOTER_METADATA | MessageFlags::FOOTER_INDEX);
        assert!(flags.has_metadata() && !flags.has(MessageFlags::HEADER_METADATA));
        assert_eq!(flags.bits(), 0x800a);
        flags.set(MessageFlags::FOOTER_METADATA);
        assert_eq!(flags.bits(), 0x800a);
    }

    #[test]
    fn frame_types_round_trip_and_other_numbers_are_refused() {
        for number in 0..=u16::MAX {
            let known = FrameType::from_u16(number);
            match known {
                Ok(known) => assert!(known.as_u16() == number && FrameType::ALL.contains(&known)),
                Err(ErrorKind::ReservedFrameType) => assert_eq!(number, 4),
                Err(error) => {
                    assert_eq!((error, number == 0 || number > 9), (ErrorKind::UnknownFrameType(number), true));
                }
            }
        }
    }
}
