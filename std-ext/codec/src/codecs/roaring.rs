//! roaring: a bit count as big-endian u32, then a roaring bitmap of a bitmask's set bits (PIPELINE §5.8).

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor};
use tgm_core::mask::BitmapForm;

#[cfg(feature = "roaring")]
use ::roaring::RoaringBitmap;

use super::about::{About, Before, CodecResources, Expansion, Implementation, Input, Support, Trial, Uncompressed};
#[cfg(feature = "roaring")]
use super::compress::append_made;
#[cfg(feature = "roaring")]
use super::rle::bit_count;
use super::rle::bitmap_into;
use super::{Codec, Compress, Compressing, MaskSettings};
use crate::error::CodecError;

const ABOUT: About = About {
    compression: Compression::Roaring,
    input: Input::Bits,
    is_lossy: false,
    keys: &[],
    usual: Some(&[]),
    level: None,
    expansion: Expansion { bytes: None, by: "what is not listed is not set; 512 MiB at most" },
    is_in_version_2: false,
    decoding: Support::Whole,
    encoding: Support::by(cfg!(feature = "roaring"), "roaring"),
    implementation: Implementation::Rust("roaring"),
    trial: Trial { before: Before::Nothing, parameters: &[], loss: 0.0 },
};

/// The codec, on the run iterator of `tgm_core`. The crate `roaring` writes.
#[derive(Debug)]
pub(super) struct Roaring;

impl Codec for Roaring {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        bitmap_into(BitmapForm::Roaring, payload, descriptor.dtype(), out)
    }
}

impl Compressing for Roaring {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>, CodecError> {
        object.check_bits(ABOUT.name())?;
        Ok(Box::new(Self))
    }

    #[cfg(feature = "roaring")]
    fn append_mask(&self, bits: &[u8], count: u64, _: MaskSettings, out: &mut Vec<u8>) -> Result<(), CodecError> {
        append_bitmap(bits, count, out)
    }

    #[cfg(not(feature = "roaring"))]
    fn append_mask(&self, _: &[u8], _count: u64, _: MaskSettings, _: &mut Vec<u8>) -> Result<(), CodecError> {
        Err(ABOUT.cannot_encode())
    }
}

impl Compress for Roaring {
    #[cfg(feature = "roaring")]
    fn append(
        &self,
        bytes: &[u8],
        _: ByteOrder,
        _: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>, CodecError> {
        append_made(compress(bytes)?, out).map(|()| None)
    }

    #[cfg(not(feature = "roaring"))]
    fn append(
        &self,
        _: &[u8],
        _: ByteOrder,
        _: CodecResources,
        _: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>, CodecError> {
        Err(ABOUT.cannot_encode())
    }
}

/// Compresses a bitmask's packed bytes, padding bits included.
#[cfg(feature = "roaring")]
fn compress(bits: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut payload = bit_count(bits)?.to_be_bytes().to_vec();
    append_bitmap(bits, 8 * bits.len() as u64, &mut payload)?;
    Ok(payload)
}

/// Appends a bitmap of the first `count` bits. They lie in `bits` from the highest bit of the first byte on, and the
/// bits after them are zeros.
#[cfg(feature = "roaring")]
fn append_bitmap(bits: &[u8], count: u64, out: &mut Vec<u8>) -> Result<(), CodecError> {
    if count > u64::from(u32::MAX) {
        return Err(CodecError::new(format!("{count} bits are more than a roaring bitmap has")));
    }
    // The crate takes bit 0 from the lowest place of a byte.
    let bits: Vec<u8> = bits.iter().map(|byte| byte.reverse_bits()).collect();
    let mut bitmap = RoaringBitmap::from_lsb0_bytes(0, &bits);
    bitmap.optimize();
    bitmap.serialize_into(out).map_err(|error| CodecError::new(error.to_string()))
}
