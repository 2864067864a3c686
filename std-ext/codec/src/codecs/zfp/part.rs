//! Blocks of a stream of fixed rate as a stream of their own.

use std::borrow::Cow;
use std::ops::Range;

use tgm_core::descriptor::Descriptor;

use super::backend::{Zfp, mode_of};
use super::block::LEN;
use super::block_limits::BlockLimits;
use crate::codecs::part::Divisible;

/// Blocks whose bits are whole words of eight bytes, whatever the rate: a stream is a row of such words.
const BLOCKS: u64 = u64::BITS as u64;

/// Bits of a block, if all blocks have the same.
fn block_bits(descriptor: &Descriptor<'_>) -> Option<u64> {
    BlockLimits::new(mode_of(descriptor).ok()?).ok()?.block_bits.map(u64::from)
}

impl Divisible for Zfp {
    fn grain(&self, descriptor: &Descriptor<'_>) -> Option<u64> {
        block_bits(descriptor).map(|_| BLOCKS * LEN as u64)
    }

    fn bytes_of(&self, descriptor: &Descriptor<'_>, payload_len: u64, elements: &Range<u64>) -> Option<Range<u64>> {
        let bits = block_bits(descriptor)?;
        let limits = BlockLimits::new(mode_of(descriptor).ok()?).ok()?;
        let all = descriptor.element_count();
        if limits.lens(all.div_ceil(LEN as u64)).0 != payload_len {
            return None;
        }
        let byte = |element: u64| (element / LEN as u64).checked_mul(bits).map(|bits| bits / 8);
        let end = if elements.end == all { payload_len } else { byte(elements.end)? };
        Some(byte(elements.start)?..end)
    }

    fn payload_of<'b>(&self, _: &Descriptor<'_>, _: &Range<u64>, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        Some(Cow::Borrowed(bytes))
    }
}
