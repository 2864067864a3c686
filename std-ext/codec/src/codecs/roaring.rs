//! roaring: a bit count as big-endian u32, then a roaring bitmap of a bitmask's set bits (PIPELINE §5.8).

use tgm_core::descriptor::{Compression, Descriptor};
use tgm_core::mask::BitmapForm;

#[cfg(feature = "roaring")]
use ::roaring::RoaringBitmap;

#[cfg(feature = "roaring")]
use super::rle::bit_count;
use super::rle::bitmap_into;
use super::{Codec, CodecError};

/// The backend, on the run iterator of `tgm_core`.
pub(super) struct Roaring;

impl Codec for Roaring {
    fn name(&self) -> &'static str {
        Compression::Roaring.name()
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        bitmap_into(BitmapForm::Roaring, payload, descriptor.dtype(), out)
    }
}

/// Compresses a bitmask's packed bytes, padding bits included.
///
/// # Errors
/// [`CodecError`] for more bits than the count can say.
#[cfg(feature = "roaring")]
pub fn compress(bits: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut payload = bit_count(bits)?.to_be_bytes().to_vec();
    append_bitmap(bits, 8 * bits.len() as u64, &mut payload)?;
    Ok(payload)
}

/// Appends a bitmap of the first `count` bits. They lie in `bits` from the highest bit of the first byte on, and the
/// bits behind them are zeros.
///
/// # Errors
/// [`CodecError`] for more bits than a bitmap has.
#[cfg(feature = "roaring")]
pub fn append_bitmap(bits: &[u8], count: u64, out: &mut Vec<u8>) -> Result<(), CodecError> {
    if count > u64::from(u32::MAX) {
        return Err(CodecError::new(format!("{count} bits are more than a roaring bitmap has")));
    }
    // The crate takes bit 0 from the lowest place of a byte.
    let bits: Vec<u8> = bits.iter().map(|byte| byte.reverse_bits()).collect();
    let mut bitmap = RoaringBitmap::from_lsb0_bytes(0, &bits);
    bitmap.optimize();
    bitmap.serialize_into(out).map_err(|error| CodecError::new(error.to_string()))
}
