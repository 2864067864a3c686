//! blosc2: a contiguous Blosc2 frame (PIPELINE §5.5).

#[cfg(feature = "blosc2-decode")]
mod frames;
mod inner;

#[cfg(feature = "blosc2-decode")]
use tgm_core::descriptor::Descriptor;
use tgm_core::descriptor::{ByteOrder, Compression, Key};

#[cfg(feature = "blosc2-decode")]
pub(super) use self::frames::Scratch;
#[cfg(feature = "blosc2")]
pub use self::frames::{Settings, append, compress};
#[cfg(feature = "blosc2-decode")]
pub use self::frames::{decompress, decompress_blosc1, decompress_range};
pub use self::inner::Blosc2Codec;
use super::about::{
    About, Before, CodecResources, Expansion, Implementation, Input, Level, Parameter, Support, Trial, Uncompressed,
};
use super::{Codec, Compress, Compressing, MaskSettings};
#[cfg(feature = "blosc2-decode")]
use super::{Decompress, PartReader, Workspace};
use crate::error::{CodecError, Result};
#[cfg(feature = "blosc2-decode")]
use crate::threads::Threads;

/// The usual level.
pub const LEVEL: i32 = 5;

const ABOUT: About = About {
    compression: Compression::Blosc2,
    input: Input::Bytes,
    is_lossy: false,
    keys: &[Key::Blosc2Codec, Key::Blosc2Clevel],
    usual: Some(&[]),
    level: Some(Level { key: Key::Blosc2Clevel, least: 0, most: 9, usual: LEVEL }),
    expansion: Expansion { bytes: None, by: "a chunk of one value has no bytes" },
    is_in_version_2: true,
    decoding: Support::by(cfg!(feature = "blosc2-decode"), "blosc2-decode"),
    encoding: Support::by(cfg!(feature = "blosc2"), "blosc2"),
    implementation: if cfg!(feature = "blosc2") {
        Implementation::Library("c-blosc2", None)
    } else {
        Implementation::OwnFor("tgm-std (decoding)")
    },
    trial: Trial { before: Before::Nothing, parameters: &parameters(Blosc2Codec::Lz4, LEVEL), loss: 0.0 },
};

/// The parameters for a codec inside of frames, and its level.
pub const fn parameters(codec: Blosc2Codec, level: i32) -> [(Key, Parameter); 2] {
    [(Key::Blosc2Codec, Parameter::Text(codec.name())), (Key::Blosc2Clevel, Parameter::Integer(level as i64))]
}

/// The codec: frames are read here, and written by c-blosc2.
pub(super) struct Blosc2;

impl Codec for Blosc2 {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    #[cfg(feature = "blosc2-decode")]
    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<()> {
        decompress(payload, out)
    }

    #[cfg(feature = "blosc2-decode")]
    fn decompress_on(
        &self,
        threads: Threads,
        payload: &[u8],
        _: &Descriptor<'_>,
        out: &mut [u8],
        work: &mut Workspace,
    ) -> Result<()> {
        frames::decompress_on(threads, payload, out, work)
    }

    #[cfg(feature = "blosc2-decode")]
    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        _: &Descriptor<'a>,
        total: u64,
        _end: u64,
        work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn PartReader + 'a>>> {
        frames::open_parts(payload, total, work).map(Some)
    }

    #[cfg(feature = "blosc2-decode")]
    fn mask_decompressor(&self) -> Option<Decompress> {
        Some(decompress)
    }
}

impl Compressing for Blosc2 {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>> {
        let name = object.parameters.text(Key::Blosc2Codec)?.unwrap_or(Blosc2Codec::Lz4.name());
        let codec = Blosc2Codec::from_name(name);
        let codec = codec.ok_or_else(|| CodecError::new(format!("unknown blosc2 codec: {name}")))?;
        let wrong = |text| CodecError::new(text).in_codec(ABOUT.name());
        let level = object.parameters.i32(Key::Blosc2Clevel)?.unwrap_or(LEVEL);
        let level = u8::try_from(level).ok().filter(|level| *level <= 9);
        let level = level.ok_or_else(|| wrong("blosc2_clevel must be 0 to 9"))?;
        let typesize = match (object.packed_bits, object.is_shuffled) {
            (Some(bits), _) => bits.div_ceil(8),
            (None, true) => 1,
            (None, false) => u32::try_from(object.dtype.byte_width()).unwrap_or(0),
        };
        let typesize = u8::try_from(typesize).ok().filter(|size| *size > 0);
        let typesize = typesize.ok_or_else(|| wrong("elements without a whole number of bytes"))?;
        Ok(Box::new(Frames { codec, level, typesize }))
    }

    #[cfg(feature = "blosc2")]
    fn append_mask(&self, bits: &[u8], _count: u64, settings: MaskSettings, out: &mut Vec<u8>) -> Result<()> {
        append(bits, &Settings::mask(settings.codec, settings.level.unwrap_or(LEVEL).into()), out)
    }

    #[cfg(not(feature = "blosc2"))]
    fn append_mask(&self, _: &[u8], _count: u64, _: MaskSettings, _: &mut Vec<u8>) -> Result<()> {
        Err(ABOUT.cannot_encode())
    }
}

/// Frames of one kind.
#[derive(Debug)]
#[cfg_attr(not(feature = "blosc2"), expect(dead_code, reason = "parameters are checked in every build"))]
struct Frames {
    codec: Blosc2Codec,
    level: u8,
    /// Bytes of an element.
    typesize: u8,
}

impl Compress for Frames {
    #[cfg(feature = "blosc2")]
    fn append(
        &self,
        bytes: &[u8],
        _: ByteOrder,
        resources: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>> {
        let settings = Settings::payload(self.codec, self.level.into(), self.typesize.into())?;
        append(bytes, &settings.with_threads(resources.threads.count()), out).map(|()| None)
    }

    #[cfg(not(feature = "blosc2"))]
    fn append(&self, _: &[u8], _: ByteOrder, _: CodecResources, _: &mut Vec<u8>) -> Result<Option<Vec<u64>>> {
        Err(ABOUT.cannot_encode())
    }
}
