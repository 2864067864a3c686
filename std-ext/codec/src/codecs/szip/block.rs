//! Writes blocks as bits, and runs of blocks of zeros as one code.

use tgm_core::szip::{Params, flags};

use super::bits::BitWriter;
use super::select::{Code, Selector, pair_code, union};
use crate::codecs::CodecError;

/// Blocks of a segment. A run of blocks of zeros ends with its segment.
const SEGMENT: u32 = 64;
/// The code of a run to the end of its segment or interval. Shorter runs than this many blocks have codes of their own.
const REST_OF_SEGMENT: u32 = 4;

/// Writes blocks of values to a stream.
#[derive(Debug)]
pub(super) struct BlockWriter<'a> {
    params: &'a Params,
    stream: BitWriter,
    selector: Selector,
    /// Blocks of the interval that have been put.
    index: u32,
    /// Blocks of zeros that are put and not written yet.
    zeros: u32,
    /// The reference sample of the first of them.
    zeros_reference: Option<u32>,
}

impl<'a> BlockWriter<'a> {
    /// A stream after the bytes of `before`. The best k of the block before the first one is `k`.
    pub(super) fn new(params: &'a Params, before: Vec<u8>, k: u32) -> Self {
        let (stream, selector) = (BitWriter::new(before), Selector::new(params, k));
        Self { params, stream, selector, index: 0, zeros: 0, zeros_reference: None }
    }

    /// The number of bits written. Between intervals the next one starts at that bit.
    pub(super) const fn position(&self) -> u64 {
        self.stream.position()
    }

    /// [`BitWriter::expect`].
    pub(super) fn expect(&mut self, done: usize, all: usize) {
        self.stream.expect(done, all);
    }

    /// [`Selector::k`].
    pub(super) const fn k(&self) -> (u32, bool) {
        self.selector.k()
    }

    /// Writes the intervals of another stream, which began with the k that this one came to.
    pub(super) fn append(&mut self, other: &Self) -> Result<(), CodecError> {
        if let (k, true) = other.k() {
            self.selector = Selector::new(self.params, k);
        }
        self.stream.append(&other.stream)
    }

    /// The stream, after the bytes before it.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.stream.into_bytes()
    }

    /// Writes whole blocks. A reference sample comes with the first block of an interval, whose first value is then 0.
    pub(super) fn put(&mut self, values: &[u32], mut reference: Option<u32>) -> Result<(), CodecError> {
        let block_size = self.params.block_size() as usize;
        let block_bits = block_size * self.params.bits_per_sample() as usize;
        // A plain block is the longest. ID and reference take at most 38 bits, and the code of a run fewer than 64: 128
        // bits hold both. A run from before may be waiting too.
        self.stream.reserve((values.len() / block_size + 1) * (block_bits + 128))?;
        for block in values.chunks_exact(block_size) {
            let (reference, all) = (reference.take(), union(block));
            self.index += 1;
            if all != 0 {
                self.put_zeros(false);
                self.put_block(block, all, reference);
                continue;
            }
            self.zeros_reference = self.zeros_reference.or(reference);
            self.zeros += 1;
            if self.index.is_multiple_of(SEGMENT) {
                self.put_zeros(true);
            }
        }
        Ok(())
    }

    /// Writes the rest of an interval.
    pub(super) fn end_interval(&mut self) {
        self.put_zeros(true);
        self.index = 0;
        if self.params.has(flags::PAD_RSI) {
            self.stream.align();
        }
    }

    /// Writes the run of blocks of zeros, if there is one. `ends_segment`: it may reach to the end of its segment or
    /// interval.
    fn put_zeros(&mut self, ends_segment: bool) {
        let code = match self.zeros {
            0 => return,
            blocks @ 1..=REST_OF_SEGMENT => blocks - 1,
            _ if ends_segment => REST_OF_SEGMENT,
            blocks => blocks,
        };
        self.zeros = 0;
        let reference = self.zeros_reference.take();
        self.put_id(0, self.params.id_bits() + 1, reference);
        self.stream.put_unary(code.into());
    }

    /// Writes a block that is not all zeros. `all` is the OR of its values.
    fn put_block(&mut self, block: &[u32], all: u32, reference: Option<u32>) {
        let id_bits = self.params.id_bits();
        let values = block.get(reference.map_or(0, |_| 1)..).unwrap_or_default();
        match self.selector.select(block, all, values.len()) {
            Code::Split(k) => {
                self.put_id(k + 1, id_bits, reference);
                self.stream.put_quotients(values, k);
                self.stream.put_fields(values, k);
            }
            Code::Pairs => {
                self.put_id(1, id_bits + 1, reference);
                for &pair in block.as_chunks().0 {
                    self.stream.put_unary(pair_code(pair));
                }
            }
            Code::Plain => {
                self.put_id((1 << id_bits) - 1, id_bits, reference);
                self.stream.put_fields(values, self.params.bits_per_sample());
            }
        }
    }

    fn put_id(&mut self, id: u32, width: u32, reference: Option<u32>) {
        self.stream.put(id.into(), width);
        if let Some(reference) = reference {
            self.stream.put(reference.into(), self.params.bits_per_sample());
        }
    }
}
