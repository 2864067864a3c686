//! roaring: a bit count as big-endian u32, then a roaring bitmap of a bitmask's set bits (PIPELINE §5.8).

use tgm_core::descriptor::{Compression, Descriptor};
use tgm_core::mask::BitmapForm;

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
