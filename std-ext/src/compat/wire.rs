//! The fixed layouts as values that can be read, changed and written (FORMAT §1.2 to §1.9).
//!
//! Frame types, flags, sizes and layouts come from [`tgm_core::wire`]. Its structures have every field, and are
//! borrowed from the caller's bytes. The types here own their fields, as native integers, and leave out the magics:
//! reading checks a magic, and writing adds it.

use tgm_core::ErrorKind;
use tgm_core::wire;
pub use tgm_core::wire::{
    DATA_OBJECT_FOOTER_SIZE, END_MAGIC, FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE, FRAME_MAGIC,
    FrameFlags, FrameType, MAGIC, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, WIRE_VERSION,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::base::error::{Result, TensogramError};

/// Flags that only data-object frames have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataObjectFlags;

impl DataObjectFlags {
    /// The descriptor follows the payload.
    pub const CBOR_AFTER_PAYLOAD: u16 = FrameFlags::CBOR_AFTER_PAYLOAD;
}

/// The size of this frame type's tail in bytes: 20 for data objects, 12 for all others.
pub const fn footer_size_for(frame_type: FrameType) -> usize {
    frame_type.tail_size()
}

/// The first 24 bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// [`WIRE_VERSION`].
    pub version: u16,
    /// What the writer announces: frames that the message may hold.
    pub flags: MessageFlags,
    /// Written as 0, ignored on read.
    pub reserved: u32,
    /// The length of the message in bytes, from the preamble to the end of the postamble. 0 means unknown.
    pub total_length: u64,
}

impl Preamble {
    /// Reads the preamble at the start of `bytes`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there are fewer than 24 bytes, if the magic is wrong, or if the version is not 3.
    pub fn read_from(bytes: &[u8]) -> Result<Self> {
        let layout: &wire::Preamble = layout(bytes, "preamble")?;
        if layout.magic != *MAGIC {
            return Err(TensogramError::opening(ErrorKind::StartMagic.at(0), bytes));
        }
        if layout.version != WIRE_VERSION {
            return Err(ErrorKind::Version(layout.version.get()).at(8).into());
        }
        Ok(Self {
            version: layout.version.get(),
            flags: layout.flags(),
            reserved: layout.reserved.get(),
            total_length: layout.total_length.get(),
        })
    }

    /// Appends the 24 bytes to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let layout = wire::Preamble {
            magic: *MAGIC,
            version: self.version.into(),
            flags: self.flags.bits().into(),
            reserved: self.reserved.into(),
            total_length: self.total_length.into(),
        };
        out.extend_from_slice(layout.as_bytes());
    }
}

/// The first 16 bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// What the frame holds.
    pub frame_type: FrameType,
    /// Written as 1, ignored on read.
    pub version: u16,
    /// [`FrameFlags`].
    pub flags: u16,
    /// The length of the frame in bytes, from the header to the end of `ENDF`. The padding after it is not included.
    pub total_length: u64,
}

impl FrameHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there are fewer than 16 bytes, if the magic is wrong, or if the format does not
    /// have this frame type.
    pub fn read_from(bytes: &[u8]) -> Result<Self> {
        let layout: &wire::FrameHeader = layout(bytes, "frame header")?;
        if layout.magic != *FRAME_MAGIC {
            return Err(ErrorKind::FrameMagic.at(0).into());
        }
        let frame_type = FrameType::from_u16(layout.frame_type.get()).map_err(|kind| kind.at(2))?;
        Ok(Self {
            frame_type,
            version: layout.version.get(),
            flags: layout.flags().bits(),
            total_length: layout.total_length.get(),
        })
    }

    /// Appends the 16 bytes to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let layout = wire::FrameHeader {
            magic: *FRAME_MAGIC,
            frame_type: self.frame_type.as_u16().into(),
            version: self.version.into(),
            flags: self.flags.into(),
            total_length: self.total_length.into(),
        };
        out.extend_from_slice(layout.as_bytes());
    }
}

/// The last 24 bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Postamble {
    /// Bytes from the message's start to its first footer frame, or to the postamble if there is no footer frame.
    pub first_footer_offset: u64,
    /// A copy of the preamble's `total_length`; 0 means unknown.
    pub total_length: u64,
}

impl Postamble {
    /// Reads the postamble at the start of `bytes`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there are fewer than 24 bytes, or if the end magic is wrong.
    pub fn read_from(bytes: &[u8]) -> Result<Self> {
        let layout: &wire::Postamble = layout(bytes, "postamble")?;
        if layout.magic != *END_MAGIC {
            return Err(ErrorKind::EndMagic.at(16).into());
        }
        Ok(Self { first_footer_offset: layout.first_footer_offset.get(), total_length: layout.total_length.get() })
    }

    /// Appends the 24 bytes to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let layout = wire::Postamble {
            first_footer_offset: self.first_footer_offset.into(),
            total_length: self.total_length.into(),
            magic: *END_MAGIC,
        };
        out.extend_from_slice(layout.as_bytes());
    }
}

/// Borrows the layout at the start of `bytes`. `name` is for the error text.
fn layout<'a, T: FromBytes + Immutable + KnownLayout>(bytes: &'a [u8], name: &str) -> Result<&'a T> {
    T::ref_from_prefix(bytes).map(|(layout, _)| layout).map_err(|_| {
        let (least, len) = (size_of::<T>(), bytes.len());
        TensogramError::Framing(format!("buffer too short for {name}: {len} < {least} bytes").into())
    })
}
