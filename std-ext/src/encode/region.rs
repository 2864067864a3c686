//! The payload region of a data object, not yet written: what is cheap to make is made where it is written to.

use std::borrow::Cow;

use crate::base::error::Result;
use crate::base::threads::Threads;
use crate::encode::finite::{Masks, zero_masked};
use crate::encode::packing::{BLOCK, Packer, Values};
use crate::encode::shuffle::shuffle_into;
use crate::encode::sink::Sink;

/// Bytes copied and hashed in one go, while they are in the nearest cache.
const PIECE: usize = 32 << 10;
/// Bytes in which masked elements are looked for, for the others to be copied as they are.
const MASKED_PIECE: usize = 4 << 10;

/// The bytes of a payload region.
#[derive(Debug)]
pub(crate) struct Region<'a> {
    pub(crate) payload: Payload<'a>,
    /// Blobs of masks, behind the payload.
    pub(crate) blobs: Vec<u8>,
}

/// An encoded payload, or what it is made of.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// Bytes as they are.
    Bytes(Cow<'a, [u8]>),
    /// Elements of `width` bytes that are zeros where masks are set.
    Masked { bytes: Cow<'a, [u8]>, width: usize, masks: Masks },
    /// Values to be packed; `bytes` holds them, `len` is how many bytes they will be.
    Packed {
        bytes: Cow<'a, [u8]>,
        order: tgm_core::descriptor::ByteOrder,
        packer: Packer,
        len: usize,
        threads: Threads,
    },
    /// Elements of `size` bytes to be shuffled.
    Shuffled { bytes: Cow<'a, [u8]>, size: usize },
}

impl<'a> Payload<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) | Self::Masked { bytes, .. } | Self::Shuffled { bytes, .. } => bytes.len(),
            Self::Packed { len, .. } => *len,
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn write_to(&self, sink: &mut impl Sink) -> Result<()> {
        match self {
            Self::Bytes(bytes) => bytes.chunks(PIECE).try_for_each(|piece| sink.write(piece)),
            Self::Masked { bytes, width, masks } => write_masked(bytes, *width, masks, sink),
            Self::Shuffled { bytes, size } => sink.fill(bytes.len(), &mut |out| shuffle_into(bytes, *size, out)),
            Self::Packed { bytes, order, packer, len, threads } if !threads.is_one() => {
                sink.fill(*len, &mut |out| packer.pack_on(*threads, Values::new(bytes, *order), out))
            }
            Self::Packed { bytes, order, packer, len, .. } => {
                let (mut left, block_len) = (*len, packer.packed_len(BLOCK));
                Values::new(bytes, *order).blocks().try_for_each(|block| {
                    let len = left.min(block_len);
                    left -= len;
                    sink.fill(len, &mut |out| packer.pack_into(block, out))
                })
            }
        }
    }

    /// The bytes, made if need be.
    ///
    /// # Errors
    /// None but for want of memory.
    pub(crate) fn into_bytes(self) -> Result<Cow<'a, [u8]>> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => {
                let mut out = Vec::new();
                crate::base::limits::reserve_more(&mut out, other.len())?;
                other.write_to(&mut out)?;
                Ok(Cow::Owned(out))
            }
        }
    }
}

/// Writes elements of `width` bytes, zeros for those that are masked.
fn write_masked(bytes: &[u8], width: usize, masks: &Masks, sink: &mut impl Sink) -> Result<()> {
    let mask_len = MASKED_PIECE / width / 8;
    for (i, piece) in bytes.chunks(MASKED_PIECE).enumerate() {
        let first = i * mask_len;
        // All of them, which vectorises.
        let is_masked = |mask: &[u8]| mask.iter().skip(first).take(mask_len).fold(0, |all, bits| all | bits) != 0;
        if masks.iter().any(|(_, mask)| is_masked(mask)) {
            sink.fill(piece.len(), &mut |out| {
                out.copy_from_slice(piece);
                zero_masked(out, width, masks, first);
            })?;
        } else {
            sink.write(piece)?;
        }
    }
    Ok(())
}

impl Region<'_> {
    pub(crate) fn len(&self) -> u64 {
        self.payload.len() as u64 + self.blobs.len() as u64
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn write_to(&self, sink: &mut impl Sink) -> Result<()> {
        self.payload.write_to(sink)?;
        sink.write(&self.blobs)
    }
}
