//! The chunk: a header of 32 bytes, and what its flags say follows.
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

use super::block::{Blocks, Scratch};
use super::bytes::{Fields, repeat};
use super::filter::Filters;
use super::stream::StreamCodec;
use super::{CodecError, Result};

/// Bytes of the header.
pub(super) const HEADER_LEN: usize = 32;
/// The flags of a header of this length.
const EXTENDED: u8 = 0b101;
/// The flag of bytes that are stored as they are.
const STORED: u8 = 1 << 1;
/// The flag of blocks of one stream.
const NOT_SPLIT: u8 = 1 << 4;
/// The flags that say something else about the blocks.
const UNSUPPORTED: u8 = 0b1000_1111;

/// A chunk, of the length that the frame gives it.
pub(super) enum Chunk<'a> {
    /// Zeros.
    Zeros,
    /// One value over and over, not empty.
    Repeated(&'a [u8]),
    /// The bytes as they are.
    Stored(&'a [u8]),
    /// Compressed blocks.
    Blocks(Blocks<'a>),
}

impl<'a> Chunk<'a> {
    /// The chunk that `bytes` begin with, which must be `len` bytes, uncompressed. O(1).
    pub(super) fn parse(bytes: &'a [u8], len: usize) -> Result<Self> {
        let mut fields = Fields(bytes);
        let [version, _codec_version, flags, element_size] = fields.array()?;
        let [uncompressed, block_size, chunk_len] = [fields.length()?, fields.length()?, fields.length()?];
        let filters = fields.array()?;
        let [_plugin, _parameter] = fields.array()?;
        let parameters = fields.array()?;
        let [varying, blosc2_flags] = fields.array()?;
        if !(5..=6).contains(&version) || flags & EXTENDED != EXTENDED {
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
        let body = chunk.get(HEADER_LEN..).ok_or_else(|| CodecError::new("a chunk ends within its header"))?;
        match blosc2_flags >> 4 & 7 {
            0 if flags & STORED != 0 => Self::stored(body, len),
            0 => {
                let filters = Filters::new(filters, parameters, element_size)?;
                let streams = if flags & NOT_SPLIT == 0 { element_size } else { 1 };
                Blocks::new(chunk, len, block_size, streams, StreamCodec::of_format(flags >> 5)?, filters)
                    .map(Self::Blocks)
            }
            kind => Self::special(kind, body, len),
        }
    }

    /// A chunk of `len` bytes that all follow from its `kind` and one value.
    pub(super) fn special(kind: u8, value: &'a [u8], len: usize) -> Result<Self> {
        match kind {
            1 if value.is_empty() => Ok(Self::Zeros),
            3 if !value.is_empty() && len.is_multiple_of(value.len()) => Ok(Self::Repeated(value)),
            1 | 3 => Err(CodecError::new("a chunk of one value has a value of another length")),
            2 => Err(CodecError::new("chunks of NaN without a value are not supported")),
            4 => Err(CodecError::new("a chunk was never written")),
            other => Err(CodecError::new(format!("chunks of special kind {other} are not supported"))),
        }
    }

    fn stored(body: &'a [u8], len: usize) -> Result<Self> {
        if body.len() != len {
            return Err(CodecError::new(format!("a stored chunk has {} bytes, expected {len}", body.len())));
        }
        Ok(Self::Stored(body))
    }

    /// Where the block that holds byte `at` ends, counted from the chunk's start; behind that byte if there are no blocks.
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

/// Fills `out` with `value` over and over, beginning `start` bytes after the first.
fn fill(value: &[u8], start: usize, out: &mut [u8]) {
    let seed = value.iter().cycle().skip(start.checked_rem(value.len()).unwrap_or(0)).take(value.len());
    out.iter_mut().zip(seed).for_each(|(byte, value)| *byte = *value);
    let rest = out.len().saturating_sub(value.len());
    // Without a rest there may be less than a value, and nothing to repeat.
    let _ = repeat(out, value.len(), value.len(), rest);
}
