//! Decoding coded blocks to samples, and storing them as the caller wants.

use core::mem;
use core::num::NonZeroUsize;

use super::block::{Blocks, Coded};
use super::params::{MAX_BLOCK_SIZE, Params, flags};
use super::predict::unmap;
use super::start::Start;
use crate::error::Result;

/// Decodes and stores a sample for each item of `out`, and returns the bit after the last block that was read. `ahead` may
/// decode some blocks: see [`super::decode_ahead_with`].
// Never inlined: otherwise a small machine keeps the block of values on its stack while the caller does its next work.
#[inline(never)]
pub(super) fn decode<T: Copy>(
    stream: &[u8],
    params: &Params,
    start: Start,
    out: &mut [T],
    store: impl Fn(u32) -> T,
    mut ahead: impl FnMut(Place, &mut [T]) -> Place,
) -> Result<u64> {
    let bias = params.bias();
    let mut out = Output { skip: start.skip, slots: out, store: |sample: u32| store(sample.wrapping_sub(bias)) };
    let mut samples = Samples::new(Blocks::new(stream, params, start.bit_offset)?, params, 0);
    let mut block = [0; MAX_BLOCK_SIZE as usize];
    let block = block.get_mut(..params.block_size() as usize).unwrap_or_default();
    let size = NonZeroUsize::new(block.len()).unwrap_or(NonZeroUsize::MIN);
    while !out.slots.is_empty() {
        if let Some(place) = samples.place() {
            let (slots, room) = out.room(place.blocks, size);
            let after = ahead(place, slots);
            let done = place.blocks.saturating_sub(after.blocks).min(room);
            if done > 0 {
                samples.jump(after, done);
                out.advance(done.wrapping_mul(params.block_size()));
                continue;
            }
        }
        match samples.next(block)? {
            Decoded::Block => out.put(block),
            Decoded::Run { sample, blocks } => out.fill(sample, blocks.wrapping_mul(params.block_size())),
        }
    }
    Ok(samples.position())
}

/// A place between two blocks of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bit at which the next block starts.
    pub bit: u64,
    /// The sample before it, plus [`Params::bias`].
    pub before: u32,
    /// The number of blocks of the interval that are still to come.
    pub blocks: u32,
}

/// Decodes blocks to samples. [`Params::bias`] is added to each, so they are 0 to `max`.
pub(super) struct Samples<'a> {
    blocks: Blocks<'a>,
    has_predictor: bool,
    bias: u32,
    max: u32,
    /// The last sample decoded.
    before: u32,
}

/// The result of a step of [`Samples`].
#[derive(Clone, Copy)]
pub(super) enum Decoded {
    /// The block that was given is filled.
    Block,
    /// This many blocks, in which every sample is the same.
    Run { sample: u32, blocks: u32 },
}

impl<'a> Samples<'a> {
    /// The samples of `blocks`, after the sample `before`.
    #[inline]
    pub(super) const fn new(blocks: Blocks<'a>, params: &Params, before: u32) -> Self {
        Self { blocks, has_predictor: params.has(flags::PREPROCESS), bias: params.bias(), max: params.max(), before }
    }

    /// The bit where the next block starts.
    pub(super) const fn position(&self) -> u64 {
        self.blocks.position()
    }

    /// The next block's place in its interval.
    pub(super) const fn index(&self) -> u32 {
        self.blocks.index()
    }

    /// The last decoded sample, plus the bias.
    pub(super) const fn before(&self) -> u32 {
        self.before
    }

    /// The place of the next block; `None` if it is the first of its interval.
    #[inline]
    fn place(&self) -> Option<Place> {
        let blocks = self.blocks.left()?;
        Some(Place { bit: self.blocks.position(), before: self.before, blocks })
    }

    /// Moves to `place`, up to which the caller has decoded `blocks` blocks itself.
    #[inline]
    fn jump(&mut self, place: Place, blocks: u32) {
        self.before = place.before & self.max;
        self.blocks.jump(place.bit, blocks);
    }

    /// Decodes a block, or a run of blocks of one sample.
    #[inline]
    pub(super) fn next(&mut self, block: &mut [u32]) -> Result<Decoded> {
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
            // With the predictor, differences of zero repeat the sample before. Without it, `before` stays 0.
            Coded::Zeros(blocks) => Decoded::Run { sample: self.before, blocks },
        })
    }
}

/// The part of the output that is not filled yet.
struct Output<'o, T, F> {
    /// Samples to leave out before the first slot.
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

    /// The slots of the next blocks of `size` samples, at most `blocks` of them, and the number of these blocks.
    ///
    /// If samples are to be left out, these are only blocks whose samples are all left out. The slots are overwritten
    /// later, so anything may be written to them.
    #[inline]
    fn room(&mut self, blocks: u32, size: NonZeroUsize) -> (&mut [T], u32) {
        let len = self.slots.len();
        let room = if self.skip == 0 { len } else { usize::try_from(self.skip).unwrap_or(usize::MAX).min(len) };
        // Cannot overflow: at most 256 · 4096.
        let all = (blocks as usize).wrapping_mul(size.get());
        // Division is slow, and there is nearly always room for all blocks.
        let blocks = if room >= all { blocks } else { u32::try_from(room / size).unwrap_or(blocks) };
        let slots = self.slots.get_mut(..(blocks as usize).wrapping_mul(size.get())).unwrap_or_default();
        (slots, blocks)
    }

    /// Steps over `count` samples that were written to the slots of [`Self::room`].
    #[inline]
    fn advance(&mut self, count: u32) {
        if self.skip == 0 {
            self.take(usize::try_from(count).unwrap_or(usize::MAX));
        } else {
            self.skip = self.skip.saturating_sub(count.into());
        }
    }

    /// Stores the same sample `count` times.
    fn fill(&mut self, sample: u32, count: u32) {
        let skip = self.skip.min(count.into());
        self.skip = self.skip.wrapping_sub(skip);
        let count = usize::try_from(u64::from(count).wrapping_sub(skip)).unwrap_or(usize::MAX);
        self.take(count).fill((self.store)(sample));
    }

    /// The samples after those to leave out.
    #[cold]
    fn skipped<'s>(&mut self, samples: &'s [u32]) -> &'s [u32] {
        let skip = usize::try_from(self.skip).unwrap_or(usize::MAX).min(samples.len());
        self.skip = self.skip.wrapping_sub(skip as u64);
        samples.get(skip..).unwrap_or_default()
    }

    /// The next `count` slots, or all if there are fewer.
    #[inline]
    fn take(&mut self, count: usize) -> &'o mut [T] {
        let slots = mem::take(&mut self.slots);
        let (taken, rest) = slots.split_at_mut_checked(count.min(slots.len())).unwrap_or_default();
        self.slots = rest;
        taken
    }
}
