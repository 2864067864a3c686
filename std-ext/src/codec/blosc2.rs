//! blosc2: a contiguous Blosc2 frame, read here in Rust, safe but for the copies of LZ4 blocks (lz4.rs), and written by
//! c-blosc2 with feature `blosc2` (PIPELINE §5.5).
//!
//! c-blosc2 reads out of bounds on damaged frames, and for codec ids it does not know it starts a Python interpreter.
//! This decoder knows the five codecs and two filters of the format, and refuses the rest.
//!
//! ```text
//! frame   header │ chunk 0 │ chunk 1 │ … │ index: a chunk of offsets │ trailer          (frame.rs)
//! chunk   header │ one of: nothing (zeros), one repeated value, the bytes as they are,  (chunk.rs)
//!                │         start of block 0, 1, … │ blocks
//! block   streams, one, or one for each byte of an element; then filters undone         (block.rs, filter.rs)
//! stream  size │ one of: nothing (zeros), a repeated byte, the bytes as they are,       (stream.rs, blosclz.rs, lz4.rs)
//!              │         what a codec wrote
//! ```
//!
//! Each byte wanted is written once, by a stream no longer than what it decodes to, and all streams together are no longer
//! than the frame, however index and starts of blocks may overlap. So time is bounded by the frame and by what is wanted,
//! in whole blocks. Of blocks that are wanted in part, damage behind that part may go unseen. Memory is eight bytes for each chunk wanted, a block for streams before filters (two for several), and
//! one for blocks wanted in part, which are refused above a size that no encoder chooses by itself.

mod block;
mod blosclz;
mod bytes;
mod chunk;
#[cfg(feature = "blosc2")]
mod encode;
mod filter;
mod frame;
mod lz4;
mod stream;

#[cfg(test)]
mod tests;

use tgm_core::descriptor::{Compression, Descriptor};

pub(super) use self::block::Scratch;
use self::bytes::Pieces;
#[cfg(feature = "blosc2")]
pub(crate) use self::encode::append;
#[cfg(feature = "blosc2")]
pub use self::encode::{Settings, compress};
use self::frame::Frame;
use super::{Codec, CodecError, Parts, Workspace};
use crate::threads::Threads;

type Result<T> = std::result::Result<T, CodecError>;

/// Bytes that are worth a piece of work of their own.
const LEAST_PIECE: usize = 64 << 10;

/// The backend.
pub(super) struct Blosc2;

impl Codec for Blosc2 {
    fn name(&self) -> &'static str {
        Compression::Blosc2.name()
    }

    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<()> {
        decompress(payload, out)
    }

    fn decompress_on(
        &self,
        threads: Threads,
        payload: &[u8],
        _: &Descriptor<'_>,
        out: &mut [u8],
        work: &mut Workspace,
    ) -> Result<()> {
        let frame = open(payload, out.len() as u64)?;
        // Pieces end where blocks do, so that none is decoded twice; whether all is well is known after all of them.
        let block = usize::try_from(frame.block_size()).unwrap_or(usize::MAX);
        let grain = LEAST_PIECE.checked_next_multiple_of(block).unwrap_or(LEAST_PIECE);
        let read_piece = |start: usize, piece: &mut [u8]| read(&frame, start as u64, piece, &mut Scratch::default());
        if !threads.is_one() && threads.pieces(out, grain, read_piece).is_ok() {
            return Ok(());
        }
        read(&frame, 0, out, &mut work.blosc2)
    }

    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        _: &Descriptor<'a>,
        total: u64,
        _end: u64,
    ) -> Result<Option<Box<dyn Parts + 'a>>> {
        Ok(Some(Box::new(open(payload, total)?)))
    }
}

impl Parts for Frame<'_> {
    fn read_into(&self, start: u64, out: &mut [u8], work: &mut Workspace) -> Result<()> {
        read(self, start, out, &mut work.blosc2)
    }
}

/// Decompresses into all of `out`.
pub(crate) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
    decompress_range(payload, out.len() as u64, 0, out)
}

/// Decompresses `out.len()` bytes, beginning with byte `start` of the `total` that the whole frame decompresses to.
///
/// Touches only the blocks that hold them, and of the index only the blocks that lead there.
pub(crate) fn decompress_range(payload: &[u8], total: u64, start: u64, out: &mut [u8]) -> Result<()> {
    read(&open(payload, total)?, start, out, &mut Scratch::default())
}

/// The frame, which must hold `total` bytes.
fn open(payload: &[u8], total: u64) -> Result<Frame<'_>> {
    let frame = Frame::parse(payload)?;
    if frame.total() != total {
        return Err(CodecError::new(format!("frame holds {} bytes, expected {total}", frame.total())));
    }
    Ok(frame)
}

/// Decodes `out.len()` bytes of the frame from byte `start` on.
fn read(frame: &Frame<'_>, start: u64, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    let (len, total) = (out.len(), frame.total());
    if start.checked_add(len as u64).is_none_or(|end| end > total) {
        return Err(CodecError::new(format!("range of {len} bytes from byte {start} exceeds {total}")));
    }
    if out.is_empty() {
        return Ok(());
    }
    scratch.begin(frame.stored_len());
    let mut offsets = scratch.take_offsets();
    frame.read_offsets(start, len, &mut offsets, scratch)?;
    for (piece, offset) in Pieces::new(frame.chunk_size()?, start, out).zip(&offsets) {
        frame.chunk(piece.index, *offset)?.decode_range(piece.skip, piece.out, scratch)?;
    }
    scratch.keep_offsets(offsets);
    Ok(())
}
