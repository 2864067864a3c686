//! Encoding: c-blosc2 makes the chunks, and the frame around them is written here, byte for byte as the reference
//! writes it.
//!
//! c-blosc2 does two things here: it makes a context, and it compresses chunks into memory of ours ([`context`]). Its
//! own functions for frames copy every chunk, do not check whether an allocation failed, and leak on errors.
//!
//! Nothing is loaded or started. c-blosc2 looks for plug-ins, with the help of a Python interpreter, only for codecs,
//! filters and tuners that were registered. `blosc2_init` would register some, and is not called; all ids used here are
//! built in. Threads share no state: each call has its own contexts, and what `blosc2_init` sets up serves functions
//! without a context.
//!
//! | bytes | equal to the reference's |
//! |---|---|
//! | lz4, lz4hc, zlib, zstd | always, if not in several threads |
//! | blosclz | around the streams; these are of an older blosclz, which gives up later, so some are shorter |

mod context;
mod frame;
#[cfg(test)]
mod tests;

use std::num::NonZeroU8;

use self::context::{Context, Parameters};
use self::frame::FrameWriter;
use super::ids::{codec as codec_id, filter};
use crate::codecs::Blosc2Codec;
use crate::error::CodecError;

type Result<T> = std::result::Result<T, CodecError>;

/// The most uncompressed bytes of a chunk. A chunk has the greatest multiple of the element size within it.
const CHUNK_LEN: usize = 256 << 20;
/// The highest level.
const MAX_LEVEL: u8 = 9;

/// Environment variables that c-blosc2 obeys instead of its parameters.
const OVERRIDES: [&str; 7] = [
    "BLOSC_BLOCKSIZE",
    "BLOSC_CLEVEL",
    "BLOSC_COMPRESSOR",
    "BLOSC_DELTA",
    "BLOSC_SHUFFLE",
    "BLOSC_SPLITMODE",
    "BLOSC_TYPESIZE",
];

/// The number of a codec in the headers of frames.
const fn code(codec: Blosc2Codec) -> u8 {
    match codec {
        Blosc2Codec::Blosclz => codec_id::BLOSCLZ,
        Blosc2Codec::Lz4 => codec_id::LZ4,
        Blosc2Codec::Lz4hc => codec_id::LZ4HC,
        Blosc2Codec::Zlib => codec_id::ZLIB,
        Blosc2Codec::Zstd => codec_id::ZSTD,
    }
}

/// How to compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The codec inside.
    pub codec: Blosc2Codec,
    /// 0, bytes as they are, to 9, smallest and slowest.
    pub level: u8,
    /// Bytes of an element, whose bytes or bits are shuffled. Data need not be whole elements.
    pub typesize: NonZeroU8,
    /// Whether bits are shuffled, by the first slot of filters, as in masks. Otherwise bytes are, by the last slot, as
    /// in payloads.
    pub bit_shuffle: bool,
    /// Threads that compress the blocks of a chunk; 0 means 1. With more than one the order of blocks may differ from
    /// call to call, and so may bytes where next to nothing is saved. No more are started than the machine runs at
    /// once.
    pub threads: u32,
}

impl Settings {
    /// Settings for a payload, by the parameters of a descriptor: `blosc2_clevel` and the bytes of an element.
    ///
    /// # Errors
    /// [`CodecError`] if the level is not 0 to 9, or the size not 1 to 255. `bitmask` and values packed to 0 bits have
    /// a size of 0.
    ///
    /// Format: PIPELINE §5.5.
    pub fn payload(codec: Blosc2Codec, level: i64, typesize: u64) -> Result<Self> {
        let level = u8::try_from(level).ok().filter(|level| *level <= MAX_LEVEL).ok_or_else(|| bad_level(level))?;
        let size = u8::try_from(typesize).ok().and_then(NonZeroU8::new);
        let typesize = size.ok_or_else(|| {
            CodecError::new(format!("elements of {typesize} bytes cannot be compressed: it must be 1 to 255"))
        })?;
        Ok(Self { codec, level, typesize, bit_shuffle: false, threads: 1 })
    }

    /// Settings for the bits of a mask: elements of one byte, bits shuffled, the level clamped to 1 to 9.
    ///
    /// Format: PIPELINE §6.3.
    pub fn mask(codec: Blosc2Codec, level: i64) -> Self {
        let level = u8::try_from(level.clamp(1, MAX_LEVEL.into())).unwrap_or(MAX_LEVEL);
        Self { codec, level, typesize: NonZeroU8::MIN, bit_shuffle: true, threads: 1 }
    }

    /// The same settings with this number of threads.
    #[must_use]
    pub const fn with_threads(self, threads: u32) -> Self {
        Self { threads, ..self }
    }

    /// The filter of each slot.
    const fn filters(&self) -> [u8; 6] {
        const NONE: u8 = filter::NONE;
        if self.bit_shuffle {
            [filter::BIT_SHUFFLE, NONE, NONE, NONE, NONE, NONE]
        } else {
            [NONE, NONE, NONE, NONE, NONE, filter::SHUFFLE]
        }
    }
}

fn bad_level(level: impl std::fmt::Display) -> CodecError {
    CodecError::new(format!("level {level} is not one of 0 to {MAX_LEVEL}"))
}

/// Compresses `data` to a contiguous frame.
///
/// Takes memory for the data and little more: chunks are compressed to where they stay.
///
/// ```
/// use tgm_codec::Blosc2Codec;
/// use tgm_codec::blosc2::{Settings, compress};
///
/// let values: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
/// let frame = compress(&values, &Settings::payload(Blosc2Codec::Zstd, 5, 4)?)?;
/// assert!(frame.starts_with(b"\x9e\xa8b2frame\0") && frame.len() < values.len() / 4);
/// # Ok::<(), tgm_codec::CodecError>(())
/// ```
///
/// # Errors
/// [`CodecError`] for no data, for a level above 9, if there is no memory, and if an environment variable is set that
/// overrides c-blosc2's parameters.
///
/// Format: PIPELINE §5.5.
pub fn compress(data: &[u8], settings: &Settings) -> Result<Vec<u8>> {
    let mut frame = Vec::new();
    append(data, settings, &mut frame)?;
    frame.shrink_to_fit();
    Ok(frame)
}

/// [`compress`], to the end of `out`.
///
/// # Errors
/// As there.
pub fn append(data: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<()> {
    let typesize = usize::from(settings.typesize.get());
    append_in_chunks(data, settings, CHUNK_LEN.saturating_sub(CHUNK_LEN % typesize), out)
}

/// [`append`], in chunks of `chunk_len` bytes.
fn append_in_chunks(data: &[u8], settings: &Settings, chunk_len: usize, out: &mut Vec<u8>) -> Result<()> {
    if data.is_empty() {
        return Err(CodecError::new("there is nothing to compress: a blosc2 frame holds at least one byte"));
    }
    if settings.level > MAX_LEVEL {
        return Err(bad_level(settings.level));
    }
    if let Some(name) = OVERRIDES.into_iter().find(|name| std::env::var_os(name).is_some()) {
        return Err(CodecError::new(format!("environment variable {name} changes what c-blosc2 writes: unset it")));
    }
    let mut context = Context::new(&Parameters::of_data(settings))?;
    let mut frame = FrameWriter::new(data.len(), chunk_len.min(data.len()), out)?;
    for chunk in data.chunks(chunk_len) {
        frame.push(|out| context.compress(chunk, out))?;
    }
    frame.finish(settings, |index, out| Context::new(&Parameters::of_index())?.compress(index, out))
}
