//! Blocks of a chunk: found by their starts, read from streams, their filters undone.

use std::mem;
use std::num::{NonZeroU64, NonZeroUsize};

use super::bytes::{Piece, Pieces};
use super::filter::{Filter, Filters};
use super::stream::{Inflate, Stream, StreamCodec};
use super::{CodecError, Result};
use crate::interrupt;
use crate::kernels::shuffle;

/// The largest block that is decoded when only a part of it is wanted. Encoders choose 4 MiB at most, unless told
/// otherwise.
const MAX_PARTIAL_BLOCK: usize = 64 << 20;

/// Memory that the blocks of a frame share, and that one frame after the other uses. Nothing is reserved before it is
/// needed.
#[derive(Default)]
pub(in crate::codecs) struct Scratch {
    /// The offsets of the chunks wanted.
    index: Vec<u8>,
    /// The block of which a part is wanted.
    block: Vec<u8>,
    /// The largest block that is decoded for a part of it, if that is less than [`MAX_PARTIAL_BLOCK`].
    most_partial: Option<usize>,
    work: Work,
}

/// Memory to decode one block in.
#[derive(Default)]
struct Work {
    /// The block before its last filter is undone, and one more if there are several filters.
    filtered: [Vec<u8>; 2],
    reading: Reading,
}

/// State for reading streams.
#[derive(Default)]
struct Reading {
    inflate: Inflate,
    /// Bytes that the streams still to be read may have. All streams together may have no more than the frame: in a
    /// frame that an encoder wrote, they do not overlap.
    budget: usize,
    /// Bytes of blocks that were decoded so far.
    decoded: u64,
}

impl Reading {
    /// Notes that a block of `len` bytes is decoded.
    const fn count(&mut self, len: usize) {
        self.decoded = self.decoded.saturating_add(len as u64);
    }

    /// Takes a stream off the budget: the bytes of `bytes` before `rest`.
    fn spend(&mut self, bytes: &[u8], rest: &[u8]) -> Result<()> {
        let budget = self.budget.checked_sub(bytes.len().saturating_sub(rest.len()));
        self.budget = budget.ok_or_else(|| CodecError::new("blocks overlap"))?;
        Ok(())
    }
}

impl Scratch {
    /// Begins one walk over a frame of `frame_len` bytes, which decodes each block once.
    pub(super) const fn begin(&mut self, frame_len: usize) {
        self.work.reading.budget = frame_len;
    }

    /// Memory for one of several pieces of a frame, of `len` bytes. A block that is longer than the piece is not
    /// decoded for a part of it. So all pieces together take no more than a few times the memory of the output,
    /// whatever the frame says.
    pub(super) fn of_piece(len: usize) -> Self {
        Self { most_partial: Some(len.min(MAX_PARTIAL_BLOCK)), ..Self::default() }
    }

    /// Takes the memory for the index. [`Self::keep_index`] gives it back after the walk.
    pub(super) fn take_index(&mut self) -> Vec<u8> {
        mem::take(&mut self.index)
    }

    /// Keeps the memory for the index for the next walk.
    pub(super) fn keep_index(&mut self, index: Vec<u8>) {
        self.index = index;
    }

    /// Bytes of blocks that were decoded so far.
    pub(super) const fn decoded(&self) -> u64 {
        self.work.reading.decoded
    }
}

/// The blocks of a chunk.
pub(super) struct Blocks<'a> {
    /// The chunk with its header: starts count from its first byte.
    chunk: &'a [u8],
    /// Bytes of the header of the chunk. The starts follow it.
    header_len: usize,
    /// The start of each block, little-endian.
    starts: &'a [[u8; 4]],
    /// Uncompressed bytes of the chunk.
    len: usize,
    /// Uncompressed bytes of every block but the last one, which may have fewer.
    block_size: NonZeroUsize,
    /// Streams of a block of that size. A shorter block has one.
    streams: NonZeroUsize,
    codec: StreamCodec,
    filters: Filters,
}

impl<'a> Blocks<'a> {
    /// Finds the starts, one for each block. O(1).
    pub(super) fn new(
        (chunk, header_len): (&'a [u8], usize),
        len: usize,
        block_size: usize,
        streams: u8,
        codec: StreamCodec,
        filters: Filters,
    ) -> Result<Self> {
        let block_size = NonZeroUsize::new(block_size.min(len)).ok_or_else(|| CodecError::new("block size is 0"))?;
        let streams = NonZeroUsize::new(streams.into()).ok_or_else(|| CodecError::new("a block has no streams"))?;
        let (words, _) = chunk.get(header_len..).unwrap_or_default().as_chunks();
        let starts = words.get(..len.div_ceil(block_size.get()));
        let starts = starts.ok_or_else(|| CodecError::new("a chunk ends within the starts of its blocks"))?;
        Ok(Self { chunk, header_len, starts, len, block_size, streams, codec, filters })
    }

    /// Uncompressed bytes of every block but the last.
    pub(super) const fn block_size(&self) -> usize {
        self.block_size.get()
    }

    /// The end of the block that holds byte `at` of the chunk.
    pub(super) fn end_of_block(&self, at: u64) -> u64 {
        let block_size = self.block_size.get() as u64;
        (at - at % block_size).saturating_add(block_size).min(self.len as u64)
    }

    /// Decodes `out.len()` bytes, which the chunk must have, from byte `start` on.
    pub(super) fn decode_range(&self, start: usize, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let block_size = NonZeroU64::try_from(self.block_size).map_err(|_| CodecError::new("block is too large"))?;
        Pieces::new(block_size, start as u64, out).try_for_each(|mut piece| {
            interrupt::check()?;
            self.decode_piece(&mut piece, scratch)
        })
    }

    /// Decodes the wanted part of one block, in place if that is the whole block.
    fn decode_piece(&self, piece: &mut Piece<'_>, scratch: &mut Scratch) -> Result<()> {
        let index = usize::try_from(piece.index).map_err(|_| CodecError::new("a block has no start"))?;
        let block_start = index.saturating_mul(self.block_size.get());
        let len = self.len.saturating_sub(block_start).min(self.block_size.get());
        let most_partial = scratch.most_partial.unwrap_or(MAX_PARTIAL_BLOCK);
        let is_bounded = piece.out.len() == len || len <= most_partial;
        if let [Filter::Shuffle(size)] = self.filters.undoing()
            && is_bounded
            && len % usize::from((*size).max(1)) == 0
        {
            match size {
                2 => return self.decode_shuffled::<2>(index, len, piece, &mut scratch.work),
                4 => return self.decode_shuffled::<4>(index, len, piece, &mut scratch.work),
                8 => return self.decode_shuffled::<8>(index, len, piece, &mut scratch.work),
                16 => return self.decode_shuffled::<16>(index, len, piece, &mut scratch.work),
                _ => {}
            }
        }
        if piece.out.len() == len {
            return self.decode(index, piece.out, &mut scratch.work);
        }
        if !is_bounded {
            return Err(CodecError::new(format!("a block of {len} bytes is too large to decode in part")));
        }
        let block = reserve(&mut scratch.block, len)?;
        self.decode(index, block, &mut scratch.work)?;
        let end = piece.skip.checked_add(piece.out.len());
        let wanted = end.and_then(|end| block.get(piece.skip..end));
        piece.out.copy_from_slice(wanted.ok_or_else(|| CodecError::new("range exceeds a block"))?);
        Ok(())
    }

    /// Decodes the wanted part of block `index`, of `len` bytes, which are whole shuffled elements under no other
    /// filter.
    ///
    /// If each plane is a stream of its own, planes that are stored as they are stay where they are, and of the others
    /// only the wanted front is decoded, if the codec can stop there.
    fn decode_shuffled<const SIZE: usize>(
        &self,
        index: usize,
        len: usize,
        piece: &mut Piece<'_>,
        work: &mut Work,
    ) -> Result<()> {
        let streams = self.streams_of(len)?;
        let plane_len = len / SIZE;
        let Work { filtered: [buffer, _], reading } = work;
        reading.count(len);
        if streams.get() != SIZE {
            let buffer = reserve(buffer, len)?;
            self.read_streams(index, buffer, reading)?;
            return shuffle::unshuffle_range_into(buffer, SIZE as u64, piece.skip as u64, piece.out)
                .map_err(|error| error.kind().into());
        }
        let mut bytes = self.bytes_of(index)?;
        let mut streams = [Stream::Repeated(0); SIZE];
        for stream in &mut streams {
            let rest;
            (*stream, rest) = Stream::parse(bytes, plane_len)?;
            reading.spend(bytes, rest)?;
            bytes = rest;
        }
        let end = piece.skip.saturating_add(piece.out.len()).div_ceil(SIZE).min(plane_len);
        let wanted = if self.codec.stops_early() { end } else { plane_len };
        let decoded = streams.iter().filter(|stream| !matches!(stream, Stream::Stored(_))).count();
        let mut buffer = reserve(buffer, decoded.saturating_mul(wanted))?;
        let mut planes = [[].as_slice(); SIZE];
        for (plane, stream) in planes.iter_mut().zip(streams) {
            if let Stream::Stored(bytes) = stream {
                *plane = bytes;
                continue;
            }
            let (out, rest) = mem::take(&mut buffer).split_at_mut_checked(wanted).unwrap_or_default();
            self.codec.decode(stream, plane_len, out, &mut reading.inflate)?;
            (*plane, buffer) = (out, rest);
        }
        shuffle::unshuffle_planes_into(planes, piece.skip, piece.out).map_err(|error| error.kind().into())
    }

    /// Decodes all of block `index`, which has `out.len()` bytes.
    fn decode(&self, index: usize, out: &mut [u8], work: &mut Work) -> Result<()> {
        work.reading.count(out.len());
        let Some((last, earlier)) = self.filters.undoing().split_last() else {
            return self.read_streams(index, out, &mut work.reading);
        };
        let [from, to] = &mut work.filtered;
        let mut from = reserve(from, out.len())?;
        self.read_streams(index, from, &mut work.reading)?;
        if !earlier.is_empty() {
            let mut to = reserve(to, out.len())?;
            for filter in earlier {
                filter.undo(from, to)?;
                mem::swap(&mut from, &mut to);
            }
        }
        last.undo(from, out)
    }

    /// Reads the streams of block `index`, which has `out.len()` bytes, without undoing its filters.
    fn read_streams(&self, index: usize, out: &mut [u8], reading: &mut Reading) -> Result<()> {
        let streams = self.streams_of(out.len())?;
        let mut bytes = self.bytes_of(index)?;
        for stream in out.chunks_exact_mut(out.len() / streams) {
            let rest = self.codec.read_stream(bytes, stream, &mut reading.inflate)?;
            reading.spend(bytes, rest)?;
            bytes = rest;
        }
        Ok(())
    }

    /// The number of streams of a block of `len` bytes.
    fn streams_of(&self, len: usize) -> Result<NonZeroUsize> {
        let streams = if len == self.block_size.get() { self.streams } else { NonZeroUsize::MIN };
        if len == 0 || len % streams != 0 {
            return Err(CodecError::new(format!("a block of {len} bytes is not {streams} equal streams")));
        }
        Ok(streams)
    }

    /// The chunk from the start of block `index` on.
    fn bytes_of(&self, index: usize) -> Result<&'a [u8]> {
        let start = self.starts.get(index).and_then(|start| usize::try_from(i32::from_le_bytes(*start)).ok());
        let start = start.filter(|&start| start >= self.header_len + self.starts.as_flattened().len());
        let bytes = start.and_then(|start| self.chunk.get(start..));
        bytes.ok_or_else(|| CodecError::new(format!("block {index} does not start within its chunk")))
    }
}

/// The first `len` bytes of `buffer`, with any content. The caller bounds `len`.
fn reserve(buffer: &mut Vec<u8>, len: usize) -> Result<&mut [u8]> {
    if let Some(missing) = len.checked_sub(buffer.len()) {
        buffer.try_reserve_exact(missing).map_err(|_| CodecError::new(format!("cannot allocate {len} bytes")))?;
        buffer.resize(len, 0);
    }
    buffer.get_mut(..len).ok_or_else(|| CodecError::new("no scratch memory"))
}
