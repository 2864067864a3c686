//! The chunk: a header of 32 bytes, and after it what its flags say.
//!
//! | byte | field |
//! |---|---|
//! | 0, 1 | version of the format, version of the codec's |
//! | 2 | flags: bits 0 and 2, this header and not the 16 bytes of Blosc 1; 1, stored; 4, blocks not split; 5–7, codec |
//! | 3 | element size |
//! | 4, 8, 12 | i32 uncompressed bytes, block size, bytes of the chunk |
//! | 16 | six filters |
//! | 22 | codec of a plug-in and its parameter |
//! | 24 | a parameter for each filter |
//! | 30 | flags: blocks of varying size |
//! | 31 | flags: 0, dictionary; 1, longer header; 3, blocks left behind; 4–6, special; 7, measurements for values |

use std::ops::RangeInclusive;

use super::block::{Blocks, Scratch};
use super::bytes::{FieldReader, repeat};
use super::filter::Filters;
use super::ids::{CHUNK_HEADER_LEN, special};
use super::stream::StreamCodec;
use super::{CodecError, Result};

/// The flags of a header of this length, both set.
const EXTENDED: u8 = 0b101;
/// The flag of bytes stored as they are.
const STORED: u8 = 1 << 1;
/// The flag of blocks of one stream.
const NOT_SPLIT: u8 = 1 << 4;
/// The flags of layouts that are not read here.
const UNSUPPORTED: u8 = 0b1000_1111;

/// The first bit of the stream format in the flags.
const FORMAT_SHIFT: u32 = 5;
/// The first bit of the special kind in the last flags.
pub(super) const SPECIAL_SHIFT: u32 = 4;
/// Versions of the format that chunks may have.
const VERSIONS: RangeInclusive<u8> = 5..=6;

/// Bytes of the header of Blosc 1.
const BLOSC1_HEADER_LEN: usize = 16;
/// Versions of the format that buffers of Blosc 1 may have.
const BLOSC1_VERSIONS: RangeInclusive<u8> = 1..=2;
/// The flags of the filters of Blosc 1.
const BLOSC1_SHUFFLE: u8 = 1;
const BLOSC1_BIT_SHUFFLE: u8 = 1 << 2;

/// A chunk, of the length that the frame gives it.
pub(super) enum Chunk<'a> {
    /// Zeros.
    Zeros,
    /// One value over and over. It is not empty.
    Repeated(&'a [u8]),
    /// The bytes as they are.
    Stored(&'a [u8]),
    /// Compressed blocks.
    Blocks(Blocks<'a>),
}

impl<'a> Chunk<'a> {
    /// The chunk at the front of `bytes`. Uncompressed it must have `len` bytes. O(1).
    pub(super) fn parse(bytes: &'a [u8], len: usize) -> Result<Self> {
        let mut fields = FieldReader(bytes);
        let [version, _codec_version, flags, element_size] = fields.array()?;
        let [uncompressed, block_size, chunk_len] = [fields.length()?, fields.length()?, fields.length()?];
        let filters = fields.array()?;
        let [_plugin, _parameter] = fields.array()?;
        let parameters = fields.array()?;
        let [varying, blosc2_flags] = fields.array()?;
        if !VERSIONS.contains(&version) || flags & EXTENDED != EXTENDED {
            return Err(CodecError::new(format!(
                "chunks of version {version} and flags {flags:#04x} are not supported"
            )));
        }
        if varying != 0 || blosc2_flags & UNSUPPORTED != 0 {
            return Err(CodecError::new("dictionaries, lazy blocks and blocks of varying size are not supported"));
        }
        if element_size == 0 {
            return Err(CodecError::new("element size of a chunk is 0"));
        }
        if uncompressed != len {
            return Err(CodecError::new(format!("a chunk holds {uncompressed} bytes, expected {len}")));
        }
        let chunk = bytes.get(..chunk_len).ok_or_else(|| CodecError::new("a chunk is cut short"))?;
        let body = chunk.get(CHUNK_HEADER_LEN..).ok_or_else(|| CodecError::new("a chunk ends within its header"))?;
        match blosc2_flags >> SPECIAL_SHIFT & special::MASK {
            special::NOT_SPECIAL if flags & STORED != 0 => Self::stored(body, len),
            special::NOT_SPECIAL => {
                let filters = Filters::new(filters, parameters, element_size)?;
                let streams = if flags & NOT_SPLIT == 0 { element_size } else { 1 };
                let codec = StreamCodec::of_format(flags >> FORMAT_SHIFT)?;
                Blocks::new((chunk, CHUNK_HEADER_LEN), len, block_size, streams, codec, filters).map(Self::Blocks)
            }
            kind => Self::special(kind, body, len),
        }
    }

    /// A buffer of Blosc 1, which is a chunk with a header of 16 bytes. Uncompressed it must have `len` bytes. O(1).
    pub(super) fn parse_blosc1(bytes: &'a [u8], len: usize) -> Result<Self> {
        let mut fields = FieldReader(bytes);
        let [version, _codec_version, flags, element_size] = fields.array()?;
        let [uncompressed, block_size, chunk_len] = [fields.length()?, fields.length()?, fields.length()?];
        if !BLOSC1_VERSIONS.contains(&version) || flags & EXTENDED == EXTENDED || element_size == 0 {
            return Err(CodecError::new(format!(
                "buffers of version {version} and flags {flags:#04x} are not supported"
            )));
        }
        if uncompressed != len {
            return Err(CodecError::new(format!("a buffer holds {uncompressed} bytes, expected {len}")));
        }
        let chunk = bytes.get(..chunk_len).ok_or_else(|| CodecError::new("a buffer is cut short"))?;
        let body = chunk.get(BLOSC1_HEADER_LEN..).ok_or_else(|| CodecError::new("a buffer ends within its header"))?;
        if flags & STORED != 0 || len == 0 {
            return Self::stored(body, len);
        }
        let filters = Filters::of_blosc1(flags & BLOSC1_SHUFFLE != 0, flags & BLOSC1_BIT_SHUFFLE != 0, element_size);
        let streams = if flags & NOT_SPLIT == 0 { element_size } else { 1 };
        let codec = StreamCodec::of_format(flags >> FORMAT_SHIFT)?;
        Blocks::new((chunk, BLOSC1_HEADER_LEN), len, block_size, streams, codec, filters).map(Self::Blocks)
    }

    /// A special chunk of `len` bytes: all follow from its `kind` and at most one value.
    pub(super) fn special(kind: u8, value: &'a [u8], len: usize) -> Result<Self> {
        match kind {
            special::ZEROS if value.is_empty() => Ok(Self::Zeros),
            special::REPEATED if !value.is_empty() && len.is_multiple_of(value.len()) => Ok(Self::Repeated(value)),
            special::ZEROS | special::REPEATED => {
                Err(CodecError::new("a chunk of one value has a value of another length"))
            }
            special::NAN => Err(CodecError::new("chunks of NaN without a value are not supported")),
            special::UNWRITTEN => Err(CodecError::new("a chunk was never written")),
            other => Err(CodecError::new(format!("chunks of special kind {other} are not supported"))),
        }
    }

    fn stored(body: &'a [u8], len: usize) -> Result<Self> {
        if body.len() != len {
            return Err(CodecError::new(format!("a stored chunk has {} bytes, expected {len}", body.len())));
        }
        Ok(Self::Stored(body))
    }

    /// The end of the block that holds byte `at`, counted from the chunk's start. Without blocks it is the byte after
    /// `at`.
    pub(super) fn end_of_block(&self, at: u64) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.end_of_block(at),
            _ => at.saturating_add(1),
        }
    }

    /// Uncompressed bytes of every block but the last, if there are blocks.
    pub(super) const fn block_size(&self) -> Option<usize> {
        match self {
            Self::Blocks(blocks) => Some(blocks.block_size()),
            _ => None,
        }
    }

    /// Decodes `out.len()` bytes, which the chunk must have, from byte `start` on.
    pub(super) fn decode_range(&self, start: usize, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        match self {
            Self::Zeros => out.fill(0),
            Self::Repeated(value) => fill(value, start, out),
            Self::Stored(bytes) => {
                let end = start.checked_add(out.len());
                let range = end.and_then(|end| bytes.get(start..end));
                out.copy_from_slice(range.ok_or_else(|| CodecError::new("range exceeds a stored chunk"))?);
            }
            Self::Blocks(blocks) => blocks.decode_range(start, out, scratch)?,
        }
        Ok(())
    }
}

/// Fills `out` with `value` over and over, from byte `start` of that repetition on.
fn fill(value: &[u8], start: usize, out: &mut [u8]) {
    let seed = value.iter().cycle().skip(start.checked_rem(value.len()).unwrap_or(0)).take(value.len());
    out.iter_mut().zip(seed).for_each(|(byte, value)| *byte = *value);
    let rest = out.len().saturating_sub(value.len());
    // `None` if `out` is shorter than a value: then it is filled already.
    let _ = repeat(out, value.len(), value.len(), rest);
}
