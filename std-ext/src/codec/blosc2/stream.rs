//! Streams: an i32 size, and what it says follows.
//!
//! | size | follows | means |
//! |---|---|---|
//! | 0 | | zeros |
//! | −255 … −1 | a byte with bit 0 set | one byte over and over, the size's opposite |
//! | as long as the stream decoded | that many bytes | the bytes as they are |
//! | less | that many bytes | what the chunk's codec wrote |
//!
//! A larger size is an error: work would not be bounded by what is decoded.

use std::cmp::Ordering;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{CodecError, Result, blosclz, lz4};

/// What streams are compressed with.
#[derive(Clone, Copy)]
pub(super) enum StreamCodec {
    Blosclz,
    /// One LZ4 block, from lz4 as from lz4hc.
    Lz4,
    /// A zlib stream with its checksum.
    Zlib,
    /// One or more Zstandard frames.
    Zstd,
}

/// What a stream is, before anything is decoded.
#[derive(Clone, Copy)]
pub(super) enum Stream<'a> {
    /// One byte over and over.
    Repeated(u8),
    /// The bytes as they are.
    Stored(&'a [u8]),
    /// What the codec wrote.
    Coded(&'a [u8]),
}

impl<'a> Stream<'a> {
    /// The stream of `len` bytes, decoded, that `bytes` begin with, and the bytes after it. O(1).
    pub(super) fn parse(bytes: &'a [u8], len: usize) -> Result<(Self, &'a [u8])> {
        let cut_short = || CodecError::new("a stream is cut short");
        let (size, bytes) = bytes.split_first_chunk().ok_or_else(cut_short)?;
        let size = i32::from_le_bytes(*size);
        if size == 0 {
            return Ok((Self::Repeated(0), bytes));
        }
        let Ok(size) = usize::try_from(size) else {
            let (token, bytes) = bytes.split_first().ok_or_else(cut_short)?;
            return Ok((Self::Repeated(run_value(size, *token)?), bytes));
        };
        let (stream, bytes) = bytes.split_at_checked(size).ok_or_else(cut_short)?;
        match size.cmp(&len) {
            Ordering::Greater => Err(CodecError::new(format!("a stream of {size} bytes decodes to only {len}"))),
            Ordering::Equal => Ok((Self::Stored(stream), bytes)),
            Ordering::Less => Ok((Self::Coded(stream), bytes)),
        }
    }
}

/// The state of a zlib decoder, some 10 KiB, made when it is first needed.
#[derive(Default)]
pub(super) struct Inflate(Option<Box<DecompressorOxide>>);

impl StreamCodec {
    /// The codec of a format, which chunks name in three bits.
    pub(super) fn of_format(format: u8) -> Result<Self> {
        match format {
            0 => Ok(Self::Blosclz),
            1 => Ok(Self::Lz4),
            3 => Ok(Self::Zlib),
            4 => Ok(Self::Zstd),
            other => Err(CodecError::new(format!("codec format {other} is none of blosclz, lz4, zlib, zstd"))),
        }
    }

    /// Whether the front of a stream can be had without the rest of it.
    pub(super) const fn stops_early(self) -> bool {
        matches!(self, Self::Lz4)
    }

    /// Reads the stream that `bytes` begin with into all of `out`, and returns the bytes after it.
    pub(super) fn read_stream<'a>(self, bytes: &'a [u8], out: &mut [u8], inflate: &mut Inflate) -> Result<&'a [u8]> {
        let (stream, rest) = Stream::parse(bytes, out.len())?;
        self.decode(stream, out.len(), out, inflate)?;
        Ok(rest)
    }

    /// Decodes a stream of `len` bytes: all of it or, if the codec [stops early](Self::stops_early), as much of the front as
    /// `out` holds.
    pub(super) fn decode(self, stream: Stream<'_>, len: usize, out: &mut [u8], inflate: &mut Inflate) -> Result<()> {
        match stream {
            Stream::Repeated(value) => out.fill(value),
            Stream::Stored(bytes) => {
                let front = bytes.get(..out.len()).ok_or_else(|| CodecError::new("a stream is shorter than wanted"))?;
                out.copy_from_slice(front);
            }
            Stream::Coded(bytes) => match self {
                Self::Lz4 => lz4::decompress(bytes, len, out)?,
                _ => self.decompress(bytes, out, inflate)?,
            },
        }
        Ok(())
    }

    fn decompress(self, stream: &[u8], out: &mut [u8], inflate: &mut Inflate) -> Result<()> {
        match self {
            Self::Blosclz => blosclz::decompress(stream, out),
            Self::Lz4 => lz4::decompress(stream, out.len(), out),
            Self::Zlib => inflate.decompress(stream, out),
            Self::Zstd => super::super::zstd::decompress(stream, out),
        }
    }
}

/// The byte that a run is of.
fn run_value(size: i32, token: u8) -> Result<u8> {
    let value = u8::try_from(size.unsigned_abs()).ok().filter(|_| token & 1 == 1);
    value.ok_or_else(|| CodecError::new(format!("stream size {size} with token {token:#04x} is no run")))
}

fn check_written(codec: &str, written: usize, expected: usize) -> Result<()> {
    if written != expected {
        return Err(CodecError::new(format!("a stream of {codec} has {written} bytes, expected {expected}")));
    }
    Ok(())
}

impl Inflate {
    fn decompress(&mut self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        const FLAGS: u32 =
            inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let state = self.0.get_or_insert_default();
        state.init();
        match decompress(state, stream, out, 0, FLAGS) {
            (TINFLStatus::Done, _, written) => check_written("zlib", written, out.len()),
            (status, ..) => Err(CodecError::new(format!("a stream of zlib ends with {status:?}"))),
        }
    }
}
