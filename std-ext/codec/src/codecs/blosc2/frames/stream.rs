//! Streams: an i32 size, and after it what the size says.
//!
//! | size | follows | means |
//! |---|---|---|
//! | 0 | | zeros |
//! | −255 … −1 | a byte with bit 0 set | one byte over and over, the size's opposite |
//! | as long as the stream decoded | that many bytes | the bytes as they are |
//! | less | that many bytes | what the chunk's codec wrote |
//!
//! A larger size is an error: otherwise what is decoded would not bound the work.

use std::cmp::Ordering;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::ids::format;
use super::{CodecError, Result, blosclz, lz4};

/// The codec of the streams of a chunk.
#[derive(Clone, Copy)]
pub(super) enum StreamCodec {
    Blosclz,
    /// One LZ4 block: lz4 and lz4hc both write it.
    Lz4,
    /// A zlib stream with its checksum.
    Zlib,
    /// One or more Zstandard frames.
    Zstd,
}

/// A stream before it is decoded.
#[derive(Clone, Copy)]
pub(super) enum Stream<'a> {
    /// One byte over and over.
    Repeated(u8),
    /// The bytes as they are.
    Stored(&'a [u8]),
    /// The output of the codec.
    Coded(&'a [u8]),
}

impl<'a> Stream<'a> {
    /// The stream at the front of `bytes`, which decodes to `len` bytes, and the bytes after it. O(1).
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

/// The state of a zlib decoder, about 10 KiB. It is made when it is first needed.
#[derive(Default)]
pub(super) struct Inflate(Option<Box<DecompressorOxide>>);

impl StreamCodec {
    /// The codec of a format that a chunk names in three bits.
    pub(super) fn of_format(format: u8) -> Result<Self> {
        match format {
            format::BLOSCLZ => Ok(Self::Blosclz),
            format::LZ4 => Ok(Self::Lz4),
            format::ZLIB => Ok(Self::Zlib),
            format::ZSTD => Ok(Self::Zstd),
            other => Err(CodecError::new(format!("codec format {other} is not one of blosclz, lz4, zlib, zstd"))),
        }
    }

    /// Whether the front of a stream can be decoded without the rest of it.
    pub(super) const fn stops_early(self) -> bool {
        matches!(self, Self::Lz4)
    }

    /// Decodes the stream at the front of `bytes` into all of `out`, and returns the bytes after it.
    pub(super) fn read_stream<'a>(self, bytes: &'a [u8], out: &mut [u8], inflate: &mut Inflate) -> Result<&'a [u8]> {
        let (stream, rest) = Stream::parse(bytes, out.len())?;
        self.decode(stream, out.len(), out, inflate)?;
        Ok(rest)
    }

    /// Decodes a stream of `len` bytes: all of it or, if the codec [stops early](Self::stops_early), as much of the
    /// front as `out` holds.
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
            Self::Zstd => crate::codecs::zstd::decompress(stream, out),
        }
    }
}

/// The byte that a run repeats.
fn run_value(size: i32, token: u8) -> Result<u8> {
    let value = u8::try_from(size.unsigned_abs()).ok().filter(|_| token & 1 == 1);
    value.ok_or_else(|| CodecError::new(format!("stream size {size} with token {token:#04x} is not a run")))
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
