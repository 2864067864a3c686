//! rle: a bit count as big-endian u32, then the runs of a bitmask's bits (PIPELINE §5.8).

use tgm_core::descriptor::{Compression, Descriptor, Dtype};
use tgm_core::mask::{BitmapForm, Mask};

use super::{Codec, CodecError};

/// The backend, on the run iterator of `tgm_core`.
pub(super) struct Rle;

impl Codec for Rle {
    fn name(&self) -> &'static str {
        Compression::Rle.name()
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        bitmap_into(BitmapForm::Rle, payload, descriptor.dtype(), out)
    }
}

/// Writes the bits of a counted bitmap to all of `out`. The count covers the packed bytes, padding bits included.
pub(super) fn bitmap_into(form: BitmapForm, payload: &[u8], dtype: Dtype, out: &mut [u8]) -> Result<(), CodecError> {
    if dtype != Dtype::Bitmask {
        return Err(CodecError::new(format!("only supports dtype=bitmask, got dtype={dtype}")));
    }
    let (prefix, blob) =
        payload.split_first_chunk().ok_or_else(|| CodecError::new("payload shorter than its bit count"))?;
    let count = u64::from(u32::from_be_bytes(*prefix));
    let expected = (out.len() as u64).saturating_mul(8);
    if count != expected {
        return Err(CodecError::new(format!("bit count is {count}, expected {expected}")));
    }
    Mask::new(form, blob, count)
        .bits_into(0, count, out)
        .map_err(|error| CodecError::new(error.shift(prefix.len() as u64).to_string()))
}
