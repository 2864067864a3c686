//! zstd: one or more Zstandard frames, usually without a content size (PIPELINE §5.1).

#[cfg(feature = "zstd")]
mod frames;

#[cfg(feature = "zstd")]
use tgm_core::descriptor::Descriptor;
use tgm_core::descriptor::{ByteOrder, Compression, Key};

#[cfg(feature = "zstd")]
pub use self::frames::{append, compress_with_len, decompress};
use super::about::{
    About, Before, CodecResources, Expansion, Implementation, Input, Level, Parameter, Support, Trial, Uncompressed,
};
use super::{Codec, Compress, Compressing, MaskSettings};
#[cfg(feature = "zstd")]
use super::{Decompress, PartReader, Workspace};
use crate::error::Result;
use crate::threads::Threads;

/// The usual level.
pub const LEVEL: i32 = 3;

const SUPPORT: Support = Support::by(cfg!(feature = "zstd"), "zstd");

const ABOUT: About = About {
    compression: Compression::Zstd,
    input: Input::Bytes,
    is_lossy: false,
    keys: &[Key::ZstdLevel],
    usual: Some(&[]),
    // Beyond its bounds libzstd takes the nearest level in silence.
    level: Some(Level { key: Key::ZstdLevel, least: -131_072, most: 22, usual: LEVEL }),
    expansion: Expansion { bytes: Some(32_768), by: "a block of 128 KiB that repeats a byte, in four" },
    is_in_version_2: true,
    decoding: SUPPORT,
    encoding: SUPPORT,
    #[cfg(feature = "zstd")]
    implementation: Implementation::Library("libzstd", Some(frames::version)),
    #[cfg(not(feature = "zstd"))]
    implementation: Implementation::Library("libzstd", None),
    trial: Trial { before: Before::Shuffle, parameters: &parameters(LEVEL), loss: 0.0 },
};

/// The parameters for a level.
pub const fn parameters(level: i32) -> [(Key, Parameter); 1] {
    [(Key::ZstdLevel, Parameter::Integer(level as i64))]
}

/// The codec, on libzstd.
pub(super) struct Zstd;

impl Codec for Zstd {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    #[cfg(feature = "zstd")]
    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<()> {
        decompress(payload, out)
    }

    #[cfg(feature = "zstd")]
    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        _: &Descriptor<'a>,
        total: u64,
        end: u64,
        _work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn PartReader + 'a>>> {
        Ok(frames::open_parts(payload, total, end))
    }

    #[cfg(feature = "zstd")]
    fn mask_decompressor(&self) -> Option<Decompress> {
        Some(decompress)
    }
}

impl Compressing for Zstd {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>> {
        Ok(Box::new(AtLevel(object.parameters.i32(Key::ZstdLevel)?.unwrap_or(LEVEL))))
    }

    fn append_mask(&self, bits: &[u8], _count: u64, settings: MaskSettings, out: &mut Vec<u8>) -> Result<()> {
        AtLevel(settings.level.unwrap_or(LEVEL)).write(bits, Threads::NONE, out)
    }
}

/// Frames of one level.
#[derive(Debug)]
struct AtLevel(i32);

impl AtLevel {
    fn write(&self, bytes: &[u8], threads: Threads, out: &mut Vec<u8>) -> Result<()> {
        append(bytes, self.0, threads, out)
    }
}

/// Parameters are checked in every build.
#[cfg(not(feature = "zstd"))]
fn append(_: &[u8], _: i32, _: Threads, _: &mut Vec<u8>) -> Result<()> {
    Err(ABOUT.cannot_encode())
}

impl Compress for AtLevel {
    fn append(
        &self,
        bytes: &[u8],
        _: ByteOrder,
        resources: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>> {
        self.write(bytes, resources.threads, out).map(|()| None)
    }
}
