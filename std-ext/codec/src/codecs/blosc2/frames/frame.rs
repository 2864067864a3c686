//! The frame: where the chunks are.
//!
//! | byte | msgpack | field |
//! |---|---|---|
//! | 0 | `9e a8` | "b2frame" and a zero |
//! | 10 | `d2` i32 | length of the header H |
//! | 15 | `cf` u64 | length of the frame |
//! | 24 | `a4` | flags (version, width of offsets, kinds of chunks); kind of frame; codec and level; more flags |
//! | 29, 38 | `d3` i64 | uncompressed bytes; bytes of all chunks C |
//! | 47, 52, 57 | `d2` i32 | element size, block size, chunk size |
//! | 62 … H | | threads, filters, metalayers: not needed to decode |
//! | H, H + C | | chunks; then a chunk of offsets relative to H, one for each chunk |
//! | −23 | `ce` u32 | length of the trailer, which this field is part of; then `d8`, a byte, 16 bytes of fingerprint |
//!
//! Numbers are big-endian here, and little-endian in chunks. Block size, filters and codec stand in each chunk's header
//! again, and decoding goes by those.

use std::num::NonZeroU64;
use std::ops::Range;

use super::bytes::FieldReader;
use super::chunk::Chunk;
use super::ids::{MAGIC, codec, special};
use super::msgpack::{FIXED_16, INT_32, INT_64, STRING_4, UINT_32, UINT_64};
use super::{CodecError, Result};

/// Bytes before the metalayers.
const HEADER_LEN: usize = 87;
/// The end of every trailer, from its length on.
const TRAILER_LEN: usize = 23;
/// Bytes of an offset.
pub(super) const OFFSET_LEN: usize = 8;
/// The newest version of frames that is read: its frames may have chunks and blocks of fixed size, as ours have.
const VERSION: u8 = 3;

/// A frame whose parts have been found to lie within it.
pub(super) struct Frame<'a> {
    total: u64,
    chunk_size: u64,
    /// All chunks; offsets count from here.
    chunks: &'a [u8],
    /// The chunk of offsets.
    index: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Finds the parts by header and trailer. Nothing in chunks is checked, nor in the index, which is a chunk. O(1).
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = Header::parse(bytes)?;
        if header.frame_len != bytes.len() as u64 {
            return Err(CodecError::new(format!("frame of {} bytes says {}", bytes.len(), header.frame_len)));
        }
        let body = usize::try_from(header.header_len).ok().filter(|&len| len >= HEADER_LEN);
        let body = body.and_then(|len| bytes.get(len..)).ok_or_else(|| CodecError::new("header length is wrong"))?;
        let chunks_len = usize::try_from(header.chunks_len).ok();
        let (chunks, after) = chunks_len
            .and_then(|len| body.split_at_checked(len))
            .ok_or_else(|| CodecError::new("chunks reach beyond the frame"))?;
        let index = before_trailer(after)?;
        Ok(Self { total: header.total, chunk_size: header.chunk_size, chunks, index })
    }

    /// Uncompressed bytes.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of the chunks and of the index, of which streams are parts.
    pub(super) const fn stored_len(&self) -> usize {
        self.chunks.len().saturating_add(self.index.len())
    }

    /// Uncompressed bytes of every chunk but the last, which may have fewer.
    pub(super) fn chunk_size(&self) -> Result<NonZeroU64> {
        NonZeroU64::new(self.chunk_size).ok_or_else(|| CodecError::new("chunk size is 0"))
    }

    /// The chunks that hold `bytes`, which are not empty.
    pub(super) fn chunks_of(&self, bytes: &Range<u64>) -> Result<Range<u64>> {
        let chunk_size = self.chunk_size()?;
        Ok(bytes.start / chunk_size..bytes.end.div_ceil(chunk_size.get()))
    }

    /// The chunk of offsets.
    ///
    /// Chunks of fewer bytes than an offset are refused, unless the frame has a header for each. So offsets never take
    /// more memory than the output or the frame.
    pub(super) fn index(&self) -> Result<Chunk<'a>> {
        let chunk_size = self.chunk_size()?;
        let len = self.total.div_ceil(chunk_size.get()).saturating_mul(OFFSET_LEN as u64);
        if chunk_size.get() < OFFSET_LEN as u64 && len > self.chunks.len() as u64 {
            return Err(CodecError::new(format!("index of {len} bytes to chunks of {chunk_size} is too large")));
        }
        Chunk::parse(self.index, usize::try_from(len).map_err(|_| CodecError::new("index is too large"))?)
    }

    /// The chunk `index`, at `offset` by the index. Bit 63 of an offset marks a special chunk that is not stored; the
    /// three lowest bits of the same byte are its kind.
    pub(super) fn chunk(&self, index: u64, offset: [u8; OFFSET_LEN]) -> Result<Chunk<'a>> {
        let offset = u64::from_le_bytes(offset);
        let rest = self.total.saturating_sub(index.saturating_mul(self.chunk_size));
        let len = usize::try_from(rest.min(self.chunk_size)).map_err(|_| CodecError::new("chunk is too large"))?;
        if offset >> 63 == 1 {
            return Chunk::special(offset.to_be_bytes()[0] & special::MASK, &[], len);
        }
        let bytes = usize::try_from(offset).ok().and_then(|offset| self.chunks.get(offset..));
        Chunk::parse(bytes.ok_or_else(|| CodecError::new(format!("chunk {index} lies beyond the chunks")))?, len)
    }
}

/// The index: the bytes before the trailer. The trailer ends with its own length and a fingerprint, which no writer
/// sets.
fn before_trailer(bytes: &[u8]) -> Result<&[u8]> {
    let damaged = || CodecError::new("trailer is damaged");
    let (_, end) = bytes.split_last_chunk::<TRAILER_LEN>().ok_or_else(damaged)?;
    let mut fields = FieldReader(end);
    let trailer_len = number(&mut fields, UINT_32).map(u32::from_be_bytes)?;
    let [FIXED_16, ..] = *fields.0 else { return Err(damaged()) };
    let trailer_len = usize::try_from(trailer_len).ok().filter(|&len| len >= TRAILER_LEN);
    let index_len = trailer_len.and_then(|len| bytes.len().checked_sub(len));
    index_len.and_then(|len| bytes.get(..len)).ok_or_else(damaged)
}

/// The fields of the header that decoding needs.
struct Header {
    header_len: u32,
    frame_len: u64,
    total: u64,
    chunks_len: u64,
    chunk_size: u64,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut fields = FieldReader(bytes);
        if fields.array().ok() != Some(MAGIC) {
            return Err(CodecError::new("not a Blosc2 frame"));
        }
        let header_len = number(&mut fields, INT_32).map(u32::from_be_bytes)?;
        let frame_len = number(&mut fields, UINT_64).map(u64::from_be_bytes)?;
        check_flags(number(&mut fields, STRING_4)?)?;
        let total = number(&mut fields, INT_64).map(u64::from_be_bytes)?;
        let chunks_len = number(&mut fields, INT_64).map(u64::from_be_bytes)?;
        let element_size = number(&mut fields, INT_32).map(i32::from_be_bytes)?;
        let _block_size = number::<4>(&mut fields, INT_32)?;
        let chunk_size = number(&mut fields, INT_32).map(i32::from_be_bytes)?;
        if element_size <= 0 {
            return Err(CodecError::new(format!("element size is {element_size}")));
        }
        let chunk_size = u64::try_from(chunk_size).map_err(|_| CodecError::new("chunk size is negative"))?;
        Ok(Self { header_len, frame_len, total, chunks_len, chunk_size })
    }
}

/// The bytes of a msgpack number or string of fixed length, whose first byte must be `marker`.
fn number<const N: usize>(fields: &mut FieldReader<'_>, marker: u8) -> Result<[u8; N]> {
    match fields.array()? {
        [found] if found == marker => fields.array(),
        [found] => Err(CodecError::new(format!("frame has the marker {found:#04x} where {marker:#04x} belongs"))),
    }
}

/// Checks that the frame is of a kind that can be read: contiguous, of chunks and blocks of fixed size.
fn check_flags([general, kind, codec_and_level, _split]: [u8; 4]) -> Result<()> {
    let (version, widths) = (general & 0x0f, general >> 4);
    if version > VERSION {
        return Err(CodecError::new(format!("frames of version {version} are not supported")));
    }
    if widths != 1 {
        return Err(CodecError::new("only 64-bit offsets and chunks and blocks of fixed size are supported"));
    }
    if kind != 0 {
        return Err(CodecError::new(format!("frames of kind {kind} are not contiguous")));
    }
    match codec_and_level & 0x0f {
        codec::BLOSCLZ | codec::LZ4 | codec::LZ4HC | codec::ZLIB | codec::ZSTD => Ok(()),
        other => Err(CodecError::new(format!("codec {other} is not one of blosclz, lz4, lz4hc, zlib, zstd"))),
    }
}
