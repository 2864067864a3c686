//! From coded blocks to samples, stored as the caller wants them.

use core::mem;

use super::bits::GROUP;
use super::block::{Blocks, Coded};
use super::params::{MAX_BLOCK_SIZE, Params, flags};
use super::predict::unmap;
use crate::error::Result;

/// Decodes samples from the interval that starts at bit `position` on; returns the bit behind the last block decoded.
pub(super) fn decode<S: Copy>(
    stream: &[u8],
    params: &Params,
    position: u64,
    skip: u64,
    out: &mut [S],
    store: impl Fn(u32) -> S,
) -> Result<u64> {
    let mut blocks = Blocks::new(stream, params, position)?;
    let mut all = [0; MAX_BLOCK_SIZE as usize];
    let values = all.get_mut(..params.block_size() as usize).unwrap_or_default();
    let bias = params.bias();
    let mut out = Unfilled { skip, out, store: |sample: u32| store(sample.wrapping_sub(bias)) };
    let mut before = 0;
    while !out.is_full() {
        let has_reference = blocks.has_reference();
        let coded = blocks.next(values)?;
        if !params.has(flags::PREPROCESS) {
            match coded {
                Coded::Values(_) => out.put(values),
                Coded::Zeros(blocks) => out.fill(0, blocks.wrapping_mul(params.block_size())),
            }
            continue;
        }
        let (reference, mapped) = values.split_at_mut_checked(has_reference.into()).unwrap_or_default();
        if let [reference] = reference {
            *reference ^= bias;
            before = *reference;
        }
        match coded {
            Coded::Values(all) => {
                before = unmap(mapped, all, before, params.max());
                out.put(values);
            }
            Coded::Zeros(blocks) => out.fill(before, blocks.wrapping_mul(params.block_size())),
        }
    }
    Ok(blocks.position())
}

/// What is left of the output.
struct Unfilled<'o, S, F> {
    /// Samples to leave out before the first slot.
    skip: u64,
    out: &'o mut [S],
    store: F,
}

impl<S: Copy, F: Fn(u32) -> S> Unfilled<'_, S, F> {
    #[inline]
    fn is_full(&self) -> bool {
        self.out.is_empty()
    }

    /// Stores samples.
    #[inline]
    fn put(&mut self, samples: &[u32]) {
        let samples = if self.skip == 0 { samples } else { self.skipped(samples) };
        let out = mem::take(&mut self.out);
        let count = samples.len().min(out.len());
        let (slots, rest) = out.split_at_mut_checked(count).unwrap_or_default();
        self.out = rest;
        let (groups, tail) = slots.as_chunks_mut::<GROUP>();
        let (sources, rest) = samples.as_chunks::<GROUP>();
        for (slots, samples) in groups.iter_mut().zip(sources) {
            *slots = samples.map(&self.store);
        }
        let rest = if rest.is_empty() { samples.get(count & !7..).unwrap_or_default() } else { rest };
        for (slot, sample) in tail.iter_mut().zip(rest) {
            *slot = (self.store)(*sample);
        }
    }

    /// The samples that are not to be left out.
    #[cold]
    fn skipped<'s>(&mut self, samples: &'s [u32]) -> &'s [u32] {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX).min(samples.len());
        self.skip = self.skip.wrapping_sub(skip as u64);
        samples.get(skip..).unwrap_or_default()
    }

    /// Stores `count` times the same sample.
    fn fill(&mut self, sample: u32, count: u32) {
        let skip = self.skip.min(count.into());
        self.skip = self.skip.wrapping_sub(skip);
        let count = usize::try_from(u64::from(count).wrapping_sub(skip)).unwrap_or(usize::MAX);
        let out = mem::take(&mut self.out);
        let (slots, rest) = out.split_at_mut_checked(count.min(out.len())).unwrap_or_default();
        self.out = rest;
        slots.fill((self.store)(sample));
    }
}
