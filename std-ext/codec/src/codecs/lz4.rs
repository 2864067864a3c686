//! lz4: the uncompressed length as little-endian u32, then one LZ4 block (PIPELINE §5.2).

#[cfg(feature = "lz4")]
mod block;

#[cfg(feature = "lz4")]
use tgm_core::descriptor::Descriptor;
use tgm_core::descriptor::{ByteOrder, Compression};

#[cfg(feature = "lz4")]
pub use self::block::{append, decompress};
#[cfg(feature = "lz4")]
use super::Decompress;
use super::about::{About, Before, CodecResources, Expansion, Implementation, Input, Support, Trial, Uncompressed};
use super::{Codec, Compress, Compressing, MaskSettings};
use crate::error::Result;

const SUPPORT: Support = Support::by(cfg!(feature = "lz4"), "lz4");

const ABOUT: About = About {
    compression: Compression::Lz4,
    input: Input::Bytes,
    is_lossy: false,
    keys: &[],
    usual: Some(&[]),
    level: None,
    expansion: Expansion { bytes: Some(255), by: "a byte of a match's length" },
    is_in_version_2: true,
    decoding: SUPPORT,
    encoding: SUPPORT,
    implementation: Implementation::Rust("lz4_flex"),
    trial: Trial { before: Before::Nothing, parameters: &[], loss: 0.0 },
};

/// The codec, on `lz4_flex`.
#[derive(Debug)]
pub(super) struct Lz4;

impl Codec for Lz4 {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    #[cfg(feature = "lz4")]
    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<()> {
        decompress(payload, out)
    }

    #[cfg(feature = "lz4")]
    fn mask_decompressor(&self) -> Option<Decompress> {
        Some(decompress)
    }
}

impl Compressing for Lz4 {
    fn compressor(&self, _: &Uncompressed<'_>) -> Result<Box<dyn Compress>> {
        Ok(Box::new(Self))
    }

    fn append_mask(&self, bits: &[u8], _count: u64, _: MaskSettings, out: &mut Vec<u8>) -> Result<()> {
        write(bits, out)
    }
}

impl Compress for Lz4 {
    fn append(&self, bytes: &[u8], _: ByteOrder, _: CodecResources, out: &mut Vec<u8>) -> Result<Option<Vec<u64>>> {
        write(bytes, out).map(|()| None)
    }
}

#[cfg(feature = "lz4")]
fn write(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    append(bytes, out)
}

#[cfg(not(feature = "lz4"))]
fn write(_: &[u8], _: &mut Vec<u8>) -> Result<()> {
    Err(ABOUT.cannot_encode())
}
