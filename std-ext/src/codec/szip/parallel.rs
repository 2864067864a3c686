//! A whole stream on several threads, by the offsets of its intervals.
//!
//! Stored offsets may be wrong, and a wrong one gives wrong samples mostly without an error. But decoding says where it
//! ends: if each piece ends where the next one was told to begin, then, the first beginning at bit 0, all of them began where they
//! should. If that fails for one of them, the offsets are of no use, and the stream has to be read from front to back.

use tgm_core::descriptor::Descriptor;
use tgm_core::szip::{Params, Start};

use crate::base::threads::Threads;

/// Intervals that are worth a piece of work of their own.
const INTERVALS: usize = 4;

/// Decodes all samples into `out`, `slot` bytes each; `decode` does it from a start on, and says at which bit it ended.
/// `None` if that cannot be done on several threads: `out` is then undefined.
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
