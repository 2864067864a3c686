//! From coded blocks to samples, stored as the caller wants them.

use core::mem;

use super::Start;
use super::block::{Blocks, Coded};
use super::params::{MAX_BLOCK_SIZE, Params, flags};
use super::predict::unmap;
use crate::error::Result;

/// Decodes and stores as many samples as there are slots; returns the bit behind the last block read.
// Never inlined: on small machines the block of values is not to lie below what the caller does next.
#[inline(never)]
pub(super) fn decode<T: Copy>(
    stream: &[u8],
    params: &Params,
    start: Start,
    out: &mut [T],
    store: impl Fn(u32) -> T,
) -> Result<u64> {
    let bias = params.bias();
    let mut out = Output { skip: start.skip, slots: out, store: |sample: u32| store(sample.wrapping_sub(bias)) };
    let mut samples = Samples {
        blocks: Blocks::new(stream, params, start.bit_offset)?,
        has_predictor: params.has(flags::PREPROCESS),
        bias,
        max: params.max(),
        before: 0,
    };
    let mut block = [0; MAX_BLOCK_SIZE as usize];
    let block = block.get_mut(..params.block_size() as usize).unwrap_or_default();
    while !out.slots.is_empty() {
        match samples.next(block)? {
            Decoded::Block => out.put(block),
            Decoded::Run { sample, blocks } => out.fill(sample, blocks.wrapping_mul(params.block_size())),
        }
    }
    Ok(samples.blocks.position())
}

/// Samples, moved up by `bias` so that they are 0 to `max`.
struct Samples<'a> {
    blocks: Blocks<'a>,
    has_predictor: bool,
    bias: u32,
    max: u32,
    /// The last sample decoded.
    before: u32,
}

/// What a step of [`Samples`] yields.
enum Decoded {
    /// The block that was passed in is filled.
    Block,
    /// So many blocks of one sample.
    Run { sample: u32, blocks: u32 },
}

impl Samples<'_> {
    /// Decodes a block, or several equal ones.
    #[inline]
    fn next(&mut self, block: &mut [u32]) -> Result<Decoded> {
        let has_reference = self.blocks.has_reference();
        let coded = self.blocks.next(block)?;
        let (reference, mapped) = block.split_at_mut_checked(has_reference.into()).unwrap_or_default();
        if let [reference] = reference {
            *reference ^= self.bias;
            self.before = *reference;
        }
        Ok(match coded {
            Coded::Values(all) => {
                if self.has_predictor {
                    self.before = unmap(mapped, all, self.before, self.max);
                }
                Decoded::Block
            }
            // Without the predictor nothing but the initial 0 is ever in `before`.
            Coded::Zeros(blocks) => Decoded::Run { sample: self.before, blocks },
        })
    }
}

/// The part of the output that is not filled.
struct Output<'o, T, F> {
    /// Samples to be left out before the first slot.
    skip: u64,
    slots: &'o mut [T],
    store: F,
}

impl<'o, T: Copy, F: Fn(u32) -> T> Output<'o, T, F> {
    /// Stores samples.
    #[inline]
    fn put(&mut self, samples: &[u32]) {
        let samples = if self.skip == 0 { samples } else { self.skipped(samples) };
        for (slot, sample) in self.take(samples.len()).iter_mut().zip(samples) {
            *slot = (self.store)(*sample);
        }
    }

    /// Stores `count` times the same sample.
    fn fill(&mut self, sample: u32, count: u32) {
        let skip = self.skip.min(count.into());
        self.skip = self.skip.wrapping_sub(skip);
        let count = usize::try_from(u64::from(count).wrapping_sub(skip)).unwrap_or(usize::MAX);
        self.take(count).fill((self.store)(sample));
    }

    /// The samples after those to be left out.
    #[cold]
    fn skipped<'s>(&mut self, samples: &'s [u32]) -> &'s [u32] {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX).min(samples.len());
        self.skip = self.skip.wrapping_sub(skip as u64);
        samples.get(skip..).unwrap_or_default()
    }

    /// The next `count` slots, or as many as there are.
    #[inline]
    fn take(&mut self, count: usize) -> &'o mut [T] {
        let slots = mem::take(&mut self.slots);
        let (taken, rest) = slots.split_at_mut_checked(count.min(slots.len())).unwrap_or_default();
        self.slots = rest;
        taken
    }
}
