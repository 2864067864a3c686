//! From containers to the stream, interval by interval.

use std::ops::Range;

use tgm_core::szip::{Params, flags};

use super::block::BlockWriter;
use super::{parallel_encode, predict, samples};
use crate::base::threads::Threads;
use crate::codec::CodecError;

/// Samples, rounded up to whole blocks, that are mapped at once: their two arrays stay in the first cache.
const PIECE: usize = 2048;

/// Compresses samples, and returns the stream with the bit at which each reference sample interval starts.
///
/// `data` are containers of [`Params::container_size`] bytes in [`Params::byte_order`]. Of each container, the lower
/// bits that make a sample count. The offsets are right, as `szip_block_offsets` should hold them. No data gives no
/// bytes and no offsets.
///
/// The stream is the one that libaec writes, except where libaec's own decoder refuses it: with [`flags::PAD_RSI`] each
/// interval does start at a byte here; and blocks of more than 64 samples have no pairs of values without a code.
///
/// ```
/// use tgm_core::szip::{Params, flags};
/// use tgm_std::codec::szip::compress;
///
/// let params = Params::new(8, 8, 2, flags::PREPROCESS).map_err(|kind| kind.at(0))?;
/// let (payload, offsets) = compress(&[5, 6, 7, 8, 9], &params).expect("five samples");
/// assert_eq!((payload, offsets), (vec![0x20, 0xa4, 0x93, 0xc0], vec![0]));
/// # Ok::<(), tgm_std::core::Error>(())
/// ```
///
/// # Errors
/// [`CodecError`] if `data` does not consist of whole containers, or if memory runs out.
///
/// Format: PIPELINE §7.
pub fn compress(data: &[u8], params: &Params) -> Result<(Vec<u8>, Vec<u64>), CodecError> {
    let mut payload = Vec::new();
    let offsets = append_on(Threads::NONE, data, params, &mut payload)?;
    Ok((payload, offsets))
}

/// [`compress`] on several threads, to the end of `out`.
///
/// # Errors
/// As [`compress`].
pub(crate) fn append_on(
    threads: Threads,
    data: &[u8],
    params: &Params,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    check_whole_samples(data, params)?;
    let code = |range: Range<usize>, coder: &mut Coder<'_>| {
        let part = data.get(range).unwrap_or_default();
        part.chunks(coder.interval_len()).try_for_each(|interval| coder.put_interval(interval))
    };
    parallel_encode::append(threads, data.len(), params, code, out)
}

/// [`append_on`] of `len` bytes of containers that `make` writes, interval by interval.
///
/// `make` gets the number of the interval's first byte, and the slice to fill.
///
/// # Errors
/// As [`compress`].
pub(crate) fn append_made(
    threads: Threads,
    len: usize,
    params: &Params,
    make: impl Fn(usize, &mut [u8]) + Sync,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    let width = params.container_size();
    if !len.is_multiple_of(width) {
        return Err(not_whole_samples(len, width));
    }
    let code = |range: Range<usize>, coder: &mut Coder<'_>| {
        let (mut scratch, interval_len) = (Vec::new(), coder.interval_len().min(range.len()).max(1));
        scratch.try_reserve_exact(interval_len).map_err(|_| CodecError::new("cannot allocate an interval"))?;
        scratch.resize(interval_len, 0);
        for start in range.clone().step_by(interval_len) {
            let interval = scratch.get_mut(..(range.end - start).min(interval_len)).unwrap_or_default();
            make(start, interval);
            coder.put_interval(interval)?;
        }
        Ok(())
    };
    parallel_encode::append(threads, len, params, code, out)
}

/// A stream that is being written, and the bits at which its intervals start.
pub(super) struct Coder<'a> {
    encoder: Encoder<'a>,
    offsets: Vec<u64>,
    /// Bytes of containers that have been coded.
    done: usize,
    /// All bytes of containers.
    len: usize,
}

impl<'a> Coder<'a> {
    /// A stream of `len` bytes of containers, behind the bytes of `before`. The best k of the block before them is `k`.
    pub(super) fn new(len: usize, params: &'a Params, before: Vec<u8>, k: u32) -> Result<Self, CodecError> {
        let mut coder = Self { encoder: Encoder::new(params, before, k), offsets: Vec::new(), done: 0, len };
        let intervals = len.div_ceil(coder.interval_len());
        coder
            .offsets
            .try_reserve_exact(intervals)
            .map_err(|_| CodecError::new("cannot allocate the table of intervals"))?;
        Ok(coder)
    }

    /// Bytes of an interval's containers.
    fn interval_len(&self) -> usize {
        interval_len(self.encoder.params)
    }

    /// The best k of the last block, and whether there was a block that is not all zeros.
    pub(super) const fn k(&self) -> (u32, bool) {
        self.encoder.writer.k()
    }

    /// Adds the intervals of another stream, which has nothing before it and began with the k that this one came to.
    pub(super) fn append(&mut self, other: &Self) -> Result<(), CodecError> {
        let position = self.encoder.writer.position();
        self.offsets.extend(other.offsets.iter().map(|offset| offset + position));
        self.encoder.writer.expect(self.done, self.len);
        self.done += other.done;
        self.encoder.writer.append(&other.encoder.writer)
    }

    /// Codes the containers of an interval.
    pub(super) fn put_interval(&mut self, interval: &[u8]) -> Result<(), CodecError> {
        self.offsets.push(self.encoder.writer.position());
        self.encoder.writer.expect(self.done, self.len);
        self.done += interval.len();
        self.encoder.put_interval(interval)
    }

    /// The bytes, and the bits at which the intervals start.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u64>) {
        (self.encoder.writer.into_bytes(), self.offsets)
    }
}

/// Bytes of the containers of an interval.
pub(super) fn interval_len(params: &Params) -> usize {
    params.samples_per_rsi().get() as usize * params.container_size()
}

/// Checks that the data do not end within a sample.
pub(super) fn check_whole_samples(data: &[u8], params: &Params) -> Result<(), CodecError> {
    let (len, width) = (data.len(), params.container_size());
    if len.is_multiple_of(width) { Ok(()) } else { Err(not_whole_samples(len, width)) }
}

fn not_whole_samples(len: usize, width: usize) -> CodecError {
    CodecError::new(format!("data length {len} is not a multiple of sample byte width {width}"))
}

/// Turns containers into blocks. The buffers are kept from one interval to the next.
struct Encoder<'a> {
    params: &'a Params,
    writer: BlockWriter<'a>,
    samples: Vec<u32>,
    mapped: Vec<u32>,
}

impl<'a> Encoder<'a> {
    fn new(params: &'a Params, before: Vec<u8>, k: u32) -> Self {
        Self { params, writer: BlockWriter::new(params, before, k), samples: Vec::new(), mapped: Vec::new() }
    }

    /// Writes the samples of an interval. The last block is filled up with the last sample.
    fn put_interval(&mut self, interval: &[u8]) -> Result<(), CodecError> {
        let block_size = self.params.block_size() as usize;
        let piece_len = PIECE.next_multiple_of(block_size) * self.params.container_size();
        let mut before = None;
        for piece in interval.chunks(piece_len) {
            samples::load(piece, self.params, &mut self.samples);
            let (Some(&first), Some(&last)) = (self.samples.first(), self.samples.last()) else { break };
            self.samples.resize(self.samples.len().next_multiple_of(block_size), last);
            let (values, reference) = if self.params.has(flags::PREPROCESS) {
                predict::map(&self.samples, before.unwrap_or(first), self.params.max(), &mut self.mapped);
                (&self.mapped, before.is_none().then_some(first ^ self.params.bias()))
            } else {
                (&self.samples, None)
            };
            self.writer.put(values, reference)?;
            before = Some(last);
        }
        self.writer.end_interval();
        Ok(())
    }
}
