//! Decodes a whole stream: on several threads, by the offsets of its intervals, or in turns on one.
//!
//! Stored offsets may be wrong, and a wrong one mostly gives wrong samples without an error. But decoding a piece tells
//! the bit at which it ends. The first piece begins at bit 0. So if each piece ends where the next one began, all
//! offsets that were used are right. If one piece does not, the stream is decoded from front to back.

use tgm_core::descriptor::Descriptor;
use tgm_core::szip::{Params, Start};

use crate::error::CodecError;
use crate::interrupt;
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
        let start_of_piece = Start { bit_offset, skip: 0 };
        let end = decode_in_turns(params, slot, start_of_piece, piece, &decode).map_err(|_| ())?;
        let next = start + piece.len();
        let agrees = next == len || offsets.get(next / interval) == Some(&end);
        agrees.then_some(()).ok_or(())
    };
    threads.pieces(out, INTERVALS * interval, piece).ok()
}

/// Decodes samples into `out`, `slot` bytes each, from `start` on, and returns the bit at which that ended. Work that can be
/// stopped asks now and then.
///
/// # Errors
/// The errors of `decode`, and [`CodecError::interrupted`].
pub(super) fn decode_in_turns(
    params: &Params,
    slot: usize,
    start: Start,
    out: &mut [u8],
    decode: impl Fn(Start, &mut [u8]) -> tgm_core::Result<u64>,
) -> Result<u64, CodecError> {
    let interval = usize::try_from(params.samples_per_rsi().get()).ok().and_then(|samples| samples.checked_mul(slot));
    let turn = interval.and_then(|interval| interrupt::BLOCK.checked_next_multiple_of(interval)).unwrap_or(usize::MAX);
    if out.len() <= turn || !interrupt::is_watched() {
        return Ok(decode(start, out)?);
    }
    // Turns end where intervals do: what is passed over is a part of the first one.
    let passed = usize::try_from(start.skip).unwrap_or(usize::MAX).saturating_mul(slot);
    let (first, rest) = out.split_at_mut(turn.saturating_sub(passed).max(slot).min(out.len()));
    if (first.len().saturating_add(passed)) % turn != 0 {
        return Ok(decode(start, out)?);
    }
    interrupt::check()?;
    let mut bit_offset = decode(start, first)?;
    for piece in rest.chunks_mut(turn) {
        interrupt::check()?;
        bit_offset = decode(Start { bit_offset, skip: 0 }, piece)?;
    }
    Ok(bit_offset)
}
