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

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{CodecError, Result, blosclz};

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

    /// Reads the stream that `bytes` begin with into all of `out`, and returns the bytes after it.
    pub(super) fn read_stream<'a>(self, bytes: &'a [u8], out: &mut [u8], inflate: &mut Inflate) -> Result<&'a [u8]> {
        let cut_short = || CodecError::new("a stream is cut short");
        let (size, bytes) = bytes.split_first_chunk().ok_or_else(cut_short)?;
        let size = i32::from_le_bytes(*size);
        if size == 0 {
            out.fill(0);
            return Ok(bytes);
        }
        let Ok(len) = usize::try_from(size) else {
            let (token, bytes) = bytes.split_first().ok_or_else(cut_short)?;
            out.fill(run_value(size, *token)?);
            return Ok(bytes);
        };
        let (stream, bytes) = bytes.split_at_checked(len).ok_or_else(cut_short)?;
        if len > out.len() {
            return Err(CodecError::new(format!("a stream of {len} bytes decodes to only {}", out.len())));
        }
        if len == out.len() {
            out.copy_from_slice(stream);
        } else {
            self.decompress(stream, out, inflate)?;
        }
        Ok(bytes)
    }

    fn decompress(self, stream: &[u8], out: &mut [u8], inflate: &mut Inflate) -> Result<()> {
        match self {
            Self::Blosclz => blosclz::decompress(stream, out),
            Self::Lz4 => lz4(stream, out),
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

fn lz4(stream: &[u8], out: &mut [u8]) -> Result<()> {
    let written = lz4_flex::block::decompress_into(stream, out).map_err(|error| CodecError::new(error.to_string()))?;
    check_written("lz4", written, out.len())
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
