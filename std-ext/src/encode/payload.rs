//! The payload of a data object before it is written. Output that is cheap to compute is computed in its final place.

use std::borrow::Cow;

use tgm_codec::fresh::cleared;
use tgm_codec::kernels::finite::{PackedMasks, all_finite, zero_masked};
use tgm_codec::shuffle::shuffle_into;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Dtype};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve_more;
use crate::base::span::head_mut;
use crate::encode::packing::{BLOCK, Packer, Values};
use crate::encode::sink::Sink;

/// Bytes that are copied and hashed at a time. They fit the nearest cache.
const PIECE: usize = 32 << 10;
/// Bytes of values that are looked at, hashed and written at a time. They fit the cache of a processor, and the system's cache
/// takes long writes in less time. A whole number of elements.
const STORED_PIECE: usize = 512 << 10;
/// Bytes that are checked for masked elements at a time. Pieces without any are copied as they are.
const MASKED_PIECE: usize = 4 << 10;

/// An encoded payload, or the input from which it is computed.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// The payload itself.
    Bytes(Cow<'a, [u8]>),
    /// Elements, which are the payload unless one is not finite.
    Stored { bytes: &'a [u8], dtype: Dtype, order: ByteOrder },
    /// Elements of `width` bytes. Zeros replace the masked ones.
    Masked { bytes: Cow<'a, [u8]>, width: usize, masks: PackedMasks },
    /// Values in `order` that are to be packed into `len` bytes.
    Packed { bytes: Cow<'a, [u8]>, order: ByteOrder, packer: Packer, len: usize, threads: Threads },
    /// Elements of `size` bytes that are to be shuffled.
    Shuffled { bytes: Cow<'a, [u8]>, size: usize, threads: Threads },
}

impl<'a> Payload<'a> {
    /// Bytes of the payload.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) | Self::Masked { bytes, .. } | Self::Shuffled { bytes, .. } => bytes.len(),
            Self::Stored { bytes, .. } => bytes.len(),
            Self::Packed { len, .. } => *len,
        }
    }

    /// Writes the payload.
    ///
    /// # Errors
    /// The errors of the sink; [`TensogramError::Encoding`] for a stored value that is not finite.
    pub(crate) fn write_to(&self, sink: &mut impl Sink) -> Result<()> {
        match self {
            Self::Bytes(bytes) => bytes.chunks(PIECE).try_for_each(|piece| sink.write(piece)),
            Self::Stored { bytes, dtype, order } => bytes.chunks(STORED_PIECE).try_for_each(|piece| {
                if !all_finite(piece, *dtype, *order) {
                    return Err(TensogramError::encoding("a stored value is not finite"));
                }
                sink.write(piece)
            }),
            Self::Masked { bytes, width, masks } => write_masked(bytes, *width, masks, sink),
            Self::Shuffled { bytes, size, threads } => {
                sink.fill(bytes.len(), &mut |memory| shuffle_into(bytes, *size, *threads, memory))
            }
            Self::Packed { bytes, order, packer, len, threads } if !threads.is_one() => {
                sink.fill(*len, &mut |memory| packer.pack_on(*threads, Values::new(bytes, *order), memory))
            }
            Self::Packed { bytes, order, packer, len, .. } => {
                let (mut left, block_len) = (*len, packer.packed_len(BLOCK));
                Values::new(bytes, *order).blocks().try_for_each(|block| {
                    let len = left.min(block_len);
                    left -= len;
                    sink.fill(len, &mut |memory| {
                        let out = cleared(memory);
                        packer.pack_into(block, out);
                        out
                    })
                })
            }
        }
    }

    /// The bytes of the payload, computed if necessary.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) if there is no memory.
    pub(crate) fn into_bytes(self) -> Result<Cow<'a, [u8]>> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => {
                let mut out = Vec::new();
                reserve_more(&mut out, other.len())?;
                other.write_to(&mut out)?;
                Ok(Cow::Owned(out))
            }
        }
    }
}

/// Writes elements of `width` bytes, with zeros for the masked ones.
fn write_masked(bytes: &[u8], width: usize, masks: &PackedMasks, sink: &mut impl Sink) -> Result<()> {
    let mask_len = MASKED_PIECE / width / 8;
    // Changed here and not in their final place: that would be cleared first, which takes longer than this copy.
    let mut changed = [0; MASKED_PIECE];
    for (i, piece) in bytes.chunks(MASKED_PIECE).enumerate() {
        let first = i * mask_len;
        // The loop goes through all bytes even if the first is set: without a branch it vectorises.
        let is_masked = |mask: &[u8]| mask.iter().skip(first).take(mask_len).fold(0, |all, bits| all | bits) != 0;
        if masks.iter().any(|(_, mask)| is_masked(mask)) {
            let changed = head_mut(&mut changed, piece.len() as u64);
            changed.copy_from_slice(piece);
            zero_masked(changed, width, masks, first);
            sink.write(changed)?;
        } else {
            sink.write(piece)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tgm_codec::fresh::{self, Make};
    use tgm_core::packing::Packing;

    use super::*;

    /// The lengths of the pieces that were made.
    #[derive(Default)]
    struct Made(Vec<usize>);

    impl Sink for Made {
        fn write(&mut self, _: &[u8]) -> Result<()> {
            Ok(())
        }

        fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
            self.0.push(len);
            Ok(fresh::append(&mut Vec::new(), len, make)?)
        }
    }

    #[test]
    fn values_are_packed_block_by_block_and_several_threads_are_given_all_of_them() {
        let packing =
            Packing { reference_value: 0.0, binary_scale_factor: 0, decimal_scale_factor: 0, bits_per_value: 16 };
        let (packer, bytes) = (Packer::new(&packing).unwrap(), vec![0; 8 * (2 * BLOCK + 5)]);
        let made = |threads| {
            let threads = Threads::resolve(threads, 1, Some(0)).unwrap();
            let (bytes, len) = (Cow::Borrowed(&*bytes), bytes.len() / 4);
            let mut made = Made::default();
            Payload::Packed { bytes, order: ByteOrder::Little, packer, len, threads }.write_to(&mut made).unwrap();
            made.0
        };
        assert_eq!(made(1), [2 * BLOCK, 2 * BLOCK, 10]);
        #[cfg(feature = "parallel")]
        assert_eq!(made(2), [4 * BLOCK + 10]);
    }
}
