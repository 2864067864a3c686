//! One stream while it is written: from containers to blocks, interval by interval.

use tgm_core::szip::{Params, flags};

use super::block::BlockWriter;
use super::{predict, samples};
use crate::codecs::CodecError;
use crate::interrupt;

/// Samples, rounded up to whole blocks, that are mapped at once: their two arrays stay in the first cache.
const PIECE: usize = 2048;

/// Bytes of the containers of an interval.
pub(super) fn interval_len(params: &Params) -> usize {
    params.samples_per_rsi().get() as usize * params.container_size()
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
    /// A stream of `len` bytes of containers, after the bytes of `before`. The best k of the block before them is `k`.
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
    pub(super) fn interval_len(&self) -> usize {
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
        interrupt::check()?;
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
