//! Contiguous Blosc2 frames, and buffers of Blosc 1.
//!
//! Frames are read here in Rust, without unsafe code except for the copies of LZ4 blocks (`lz4`). With feature `blosc2`
//! they are written too, by c-blosc2 (`encode`).
//!
//! c-blosc2 reads out of bounds on damaged frames, and starts a Python interpreter for codec ids that it does not know.
//! This decoder knows the five codecs and two filters of the format, and refuses the rest.
//!
//! ```text
//! frame   header │ chunk 0 │ chunk 1 │ … │ index: a chunk of offsets │ trailer          (frame.rs)
//! chunk   header │ one of: nothing (zeros), one repeated value, the bytes as they are,  (chunk.rs)
//!                │         start of block 0, 1, … │ blocks
//! block   streams, one, or one for each byte of an element; then filters undone         (block.rs, filter.rs)
//! stream  size │ one of: nothing (zeros), a repeated byte, the bytes as they are,       (stream.rs, blosclz.rs,
//!              │         what a codec wrote                                             lz4.rs)
//! ```
//!
//! Time is bounded by the frame and by the output, in whole blocks. Each byte wanted is written once, by a stream no
//! longer than what it decodes to; and all streams together are no longer than the frame, even if the index or the
//! starts of blocks overlap. If only a part of a block is wanted, damage after that part may go unseen.
//!
//! Parts that are read in ascending order decode each block once, and each block of the index twice at most.
//!
//! Memory beside the output: eight bytes for each chunk wanted, with the rest of a block of the index; a block for
//! streams before filters, or two if there are several filters; and a block of which only a part is wanted. Such a
//! block is refused above 64 MiB, a size that no encoder chooses by itself.
//!
//! On several threads each piece has such memory of its own. Pieces end where the first chunk says that blocks end. If
//! a piece had to decode a block longer than itself for a part of it, it gives up, and one thread decodes everything.
//! So the threads together take less than three times the memory of the output.

mod block;
mod blosclz;
mod bytes;
mod chunk;
#[cfg(feature = "blosc2")]
mod encode;
mod filter;
mod frame;
mod ids;
mod lz4;
mod msgpack;
mod offsets;
mod stream;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(in crate::codecs) use self::block::Scratch;
use self::bytes::Pieces;
use self::chunk::Chunk;
#[cfg(feature = "blosc2")]
pub use self::encode::append;
#[cfg(feature = "blosc2")]
pub use self::encode::{Settings, compress};
use self::frame::{Frame, OFFSET_LEN};
use self::offsets::Offsets;
use crate::codecs::{PartReader, Workspace};
use crate::error::CodecError;
use crate::threads::Threads;

type Result<T> = std::result::Result<T, CodecError>;

/// Bytes that are worth a piece of work of their own.
const LEAST_PIECE: usize = 64 << 10;

/// Decompresses into all of `out`, on several threads if blocks are such that they can be shared.
pub(super) fn decompress_on(threads: Threads, payload: &[u8], out: &mut [u8], work: &mut Workspace) -> Result<()> {
    let frame = open(payload, out.len() as u64)?;
    if !threads.is_one() && !out.is_empty() && read_on(threads, &frame, out, &mut work.blosc2)? {
        return Ok(());
    }
    read(&frame, 0, out, &mut work.blosc2)
}

/// Opens a frame of `total` bytes for reading parts of it.
pub(super) fn open_parts<'a>(
    payload: &'a [u8],
    total: u64,
    work: &'a mut Workspace,
) -> Result<Box<dyn PartReader + 'a>> {
    Ok(Box::new(OpenFrame { frame: open(payload, total)?, offsets: Offsets::default(), work }))
}

/// Decompresses a buffer of Blosc 1 into all of `out`.
///
/// # Errors
/// [`CodecError`] for a buffer that is damaged or holds another number of bytes.
pub fn decompress_blosc1(buffer: &[u8], out: &mut [u8]) -> Result<()> {
    let mut scratch = Scratch::default();
    scratch.begin(buffer.len());
    Chunk::parse_blosc1(buffer, out.len())?.decode_range(0, out, &mut scratch)
}

/// A frame of which parts are read.
struct OpenFrame<'a> {
    frame: Frame<'a>,
    offsets: Offsets,
    work: &'a mut Workspace,
}

impl OpenFrame<'_> {
    /// Calls `work` with the offsets of the chunks that hold `bytes`.
    fn with_offsets<T>(
        &mut self,
        bytes: &Range<u64>,
        work: impl FnOnce(&Frame<'_>, &[[u8; OFFSET_LEN]], &mut Scratch) -> Result<T>,
    ) -> Result<T> {
        let (frame, scratch) = (&self.frame, &mut self.work.blosc2);
        let before = scratch.decoded();
        let chunks = frame.chunks_of(bytes)?;
        let mut index = scratch.take_index();
        let offsets = self.offsets.read(frame, &chunks, &mut index, scratch);
        let result = offsets.and_then(|offsets| work(frame, offsets, scratch));
        scratch.keep_index(index);
        let decoded = self.work.blosc2.decoded().saturating_sub(before);
        self.work.done.decoded = self.work.done.decoded.saturating_add(decoded);
        result
    }
}

impl PartReader for OpenFrame<'_> {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64> {
        self.with_offsets(part, |frame, offsets, _| {
            let (chunk_size, at) = (frame.chunk_size()?, part.end.saturating_sub(1));
            let Some(offset) = offsets.last() else { return Ok(part.end) };
            let end = frame.chunk(at / chunk_size, *offset)?.end_of_block(at % chunk_size);
            Ok((at - at % chunk_size).saturating_add(end))
        })
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<()> {
        let bytes = range_of(&self.frame, start, out)?;
        if out.is_empty() {
            return Ok(());
        }
        self.with_offsets(&bytes, |frame, offsets, scratch| {
            scratch.begin(frame.stored_len());
            read_chunks(frame, offsets, start, out, scratch)
        })
    }
}

/// Decompresses into all of `out`.
///
/// # Errors
/// [`CodecError`] for a frame that is damaged or holds another number of bytes.
pub fn decompress(payload: &[u8], out: &mut [u8]) -> Result<()> {
    decompress_range(payload, out.len() as u64, 0, out)
}

/// Decompresses `out.len()` bytes from byte `start` on, of a frame of `total` uncompressed bytes.
///
/// Reads only the blocks that hold them, and the blocks of the index that lead there.
///
/// # Errors
/// [`CodecError`] for a frame that is damaged where it is read, or holds another number of bytes.
pub fn decompress_range(payload: &[u8], total: u64, start: u64, out: &mut [u8]) -> Result<()> {
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
    let bytes = range_of(frame, start, out)?;
    if out.is_empty() {
        return Ok(());
    }
    let mut index = scratch.take_index();
    let offsets = Offsets::default().read(frame, &frame.chunks_of(&bytes)?, &mut index, scratch)?;
    scratch.begin(frame.stored_len());
    read_chunks(frame, offsets, start, out, scratch)?;
    scratch.keep_index(index);
    Ok(())
}

/// Decodes all of the frame, which is not empty, on several threads. `false` if that fails: `out` then has any content.
fn read_on(threads: Threads, frame: &Frame<'_>, out: &mut [u8], scratch: &mut Scratch) -> Result<bool> {
    let mut index = scratch.take_index();
    let offsets = Offsets::default().read(frame, &frame.chunks_of(&range_of(frame, 0, out)?)?, &mut index, scratch)?;
    // Pieces end where blocks of the first chunk do, so that no block is decoded twice. Other chunks may differ: then a
    // piece fails.
    let first = frame.chunk(0, offsets.first().copied().unwrap_or_default())?;
    let chunk_size = usize::try_from(frame.chunk_size()?.get()).unwrap_or(usize::MAX);
    let grain = match first.block_size() {
        Some(block) if chunk_size % block.max(1) == 0 || offsets.len() == 1 => block,
        _ => chunk_size,
    };
    let grain = LEAST_PIECE.checked_next_multiple_of(grain).unwrap_or(LEAST_PIECE);
    let is_done = threads.pieces(out, grain, |start, piece| {
        let mut scratch = Scratch::of_piece(piece.len().max(LEAST_PIECE));
        scratch.begin(frame.stored_len());
        let before = start.checked_div(chunk_size).unwrap_or(0);
        read_chunks(frame, offsets.get(before..).unwrap_or_default(), start as u64, piece, &mut scratch)
    });
    let is_done = is_done.is_ok();
    scratch.keep_index(index);
    Ok(is_done)
}

/// The range of `out.len()` bytes from byte `start` on, which the frame must have.
fn range_of(frame: &Frame<'_>, start: u64, out: &[u8]) -> Result<Range<u64>> {
    let (len, total) = (out.len(), frame.total());
    let end = start.checked_add(len as u64).filter(|&end| end <= total);
    let end = end.ok_or_else(|| CodecError::new(format!("range of {len} bytes from byte {start} exceeds {total}")))?;
    Ok(start..end)
}

/// Decodes `out.len()` bytes from byte `start` on, of the chunks at `offsets`.
fn read_chunks(
    frame: &Frame<'_>,
    offsets: &[[u8; OFFSET_LEN]],
    start: u64,
    out: &mut [u8],
    scratch: &mut Scratch,
) -> Result<()> {
    let mut pieces = Pieces::new(frame.chunk_size()?, start, out).zip(offsets);
    pieces
        .try_for_each(|(piece, offset)| frame.chunk(piece.index, *offset)?.decode_range(piece.skip, piece.out, scratch))
}
