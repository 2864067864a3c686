//! Decodes a whole stream on several threads, by the offsets of its intervals.
//!
//! Stored offsets may be wrong, and a wrong one mostly gives wrong samples without an error. But decoding a piece tells
//! the bit at which it ends. The first piece begins at bit 0. So if each piece ends where the next one began, all
//! offsets that were used are right. If one piece does not, the stream is decoded from front to back.

use tgm_core::descriptor::Descriptor;
use tgm_core::szip::{Params, Start};

use crate::threads::Threads;

/// Intervals that are worth a piece of work of their own.
const INTERVALS: usize = 4;

/// Decodes all samples into `out`, `slot` bytes each. `decode` decodes from a start on, and returns the bit at which it
/// ended.
///
/// `None` if that cannot be done on several threads: `out` then has any content.
pub(super) fn decode(
    threads: Threads,
    descriptor: &Descriptor<'_>,
    params: &Params,
    slot: usize,
    out: &mut [u8],
    decode: impl Fn(Start, &mut [u8]) -> tgm_core::Result<u64> + Sync,
) -> Option<()> {
    let interval = usize::try_from(params.samples_per_rsi().get()).ok()?.checked_mul(slot)?;
    if threads.is_one() || out.len() < 2 * INTERVALS * interval {
        return None;
    }
    let offsets: Vec<u64> = descriptor.szip_block_offsets().ok()??.iter().collect();
    if offsets.first() != Some(&0) || offsets.len() < out.len().div_ceil(interval) {
        return None;
    }
    let len = out.len();
    let piece = |start: usize, piece: &mut [u8]| {
        let bit_offset = *offsets.get(start / interval).ok_or(())?;
        let end = decode(Start { bit_offset, skip: 0 }, piece).map_err(|_| ())?;
        let next = start + piece.len();
        let agrees = next == len || offsets.get(next / interval) == Some(&end);
        agrees.then_some(()).ok_or(())
    };
    threads.pieces(out, INTERVALS * interval, piece).ok()
}
