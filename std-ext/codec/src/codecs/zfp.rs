//! zfp: float64 values as a one-dimensional array, in blocks of four, as a bare bit stream (PIPELINE §5.6).
//!
//! ```text
//! for each four values, the last ones repeated to make four:
//!     if all are 0, or too small for the tolerance: the bit 0
//!     else: the bit 1, the exponent of the greatest value in 11 bits,
//!           the values as 64-bit integers of that exponent, decorrelated, in negabinary,
//!           their bit planes from the top: as many as precision or tolerance ask for, or as the rate has room for
//!     fixed rate: zeros up to the block's length
//! ```
//!
//! The stream does not describe itself: the mode and the number of values come from the descriptor. Decoded values equal
//! zfp's to the last bit. A payload must be exactly as long as its blocks, in whole words. The reference reads
//! zeros after the end of a payload that was cut off; here that is an error.
//!
//! Encoded bytes are zfp's too, except for two kinds of blocks that zfp garbles. Blocks whose values are all below
//! 2^-962 are scaled in two steps, and those below 2^-1013 get the least exponent that decodes; any zfp reads them
//! back. Values near the greatest number that would decode to infinity are an error. As in zfp, a tolerance is kept as
//! far as 64-bit integers reach, to about 2^-58 of a block's greatest value.
//!
//! `backend` serves objects, `block_limits` turns a mode into limits of a block, `blocks` walks the blocks of a
//! payload, `block` is one block, and `planes` codes its bit planes.

mod backend;
mod bits;
mod block;
mod block_limits;
mod blocks;
mod double;
mod part;
mod planes;
#[cfg(test)]
mod tests;

use tgm_core::descriptor::{ByteOrder, ZfpMode};
use zerocopy::IntoBytes as _;

pub(super) use self::backend::Zfp;
pub use self::backend::parameters;
use self::bits::BitWriter;
use self::block_limits::BlockLimits;
use self::blocks::{read_all, read_range};
use crate::error::CodecError;
use crate::interrupt::Pace;
use crate::threads::Threads;

/// Blocks that one thread writes at a time: 512 KiB of values. At a fixed rate they take whole words.
const PIECE: usize = 1 << 14;
/// Blocks that are read together before they are written: 8 KiB of values.
const RUN: usize = 256;
/// Runs between two questions whether to go on.
const PACE: u32 = 64;
/// Rounding can turn values from here on into infinity.
const NEAR_INFINITY: f64 = f64::MAX / 4.0;

/// Decompresses all values of a stream into `out`.
///
/// O(values), no allocation.
///
/// # Errors
/// A parameter out of range; a payload that is not exactly as long as `out.len()` values take.
pub fn decompress_values(payload: &[u8], mode: ZfpMode, out: &mut [f64]) -> Result<(), CodecError> {
    read_all(payload, mode, out, |value| value)
}

/// Decompresses the values from `start` on into `out`, of a stream of `count` values.
///
/// O(values) at a fixed rate. In other modes the end of a block is known only when it has been read, so the blocks
/// before the range are read too: O(start + values), and no more than the payload has. Blocks after the range are not
/// read. So the payload's length is checked against the range, and against the least and the most that `count` values
/// can take.
///
/// # Errors
/// The errors of [`decompress_values`] as far as they are noticed; a range that is not within `count`.
pub fn decompress_range(
    payload: &[u8],
    mode: ZfpMode,
    count: u64,
    start: u64,
    out: &mut [f64],
) -> Result<(), CodecError> {
    read_range(payload, mode, count, start, out, |value| value)
}

/// Compresses values, which must be finite. They decode to within the tolerance, or as close as the rate or the
/// precision allows.
///
/// # Errors
/// A parameter out of range; a value that is not finite, or would decode to infinity; no memory for the result.
pub fn compress_values(values: &[f64], mode: ZfpMode) -> Result<Vec<u8>, CodecError> {
    compress_on(Threads::NONE, values.as_bytes().as_chunks().0, ByteOrder::NATIVE, mode)
}

/// [`compress_values`] of stored values, on several threads: each reads and writes a stream of its own, and these are joined
/// bit by bit, as a block does not depend on the blocks before it. That takes the memory of the result twice.
///
/// # Errors
/// As [`compress_values`].
pub(super) fn compress_on(
    threads: Threads,
    values: &[Stored],
    order: ByteOrder,
    mode: ZfpMode,
) -> Result<Vec<u8>, CodecError> {
    let limits = BlockLimits::new(mode)?;
    let (blocks, rest) = values.as_chunks();
    let (mut stream, mut greatest) = if threads.is_one() {
        written(&limits, blocks, 0, order)?
    } else {
        written_on(threads, &limits, blocks, order)?
    };
    let mut last = [0.0; block::LEN];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = number(*from, order));
    greatest = greatest.max(checked(&last, values.len() - rest.len())?);
    // zfp fills up the last block in this order.
    let [x, y, z, _] = last;
    match rest.len() {
        1 => block::write(&mut stream, &limits, &[x, x, x, x]),
        2 => block::write(&mut stream, &limits, &[x, y, y, x]),
        3 => block::write(&mut stream, &limits, &[x, y, z, x]),
        _ => {}
    }
    let payload = stream.into_bytes();
    if greatest >= NEAR_INFINITY.to_bits() {
        let mut decoded = vec![0.0; values.len()];
        decompress_values(&payload, mode, &mut decoded)?;
        if let Some(index) = decoded.iter().position(|value| !value.is_finite()) {
            return Err(CodecError::new(format!("value {index} is so great that it would decode to infinity")));
        }
    }
    Ok(payload)
}

/// A value as a message stores it.
type Stored = [u8; 8];

fn number(stored: Stored, order: ByteOrder) -> f64 {
    match order {
        ByteOrder::Big => f64::from_be_bytes(stored),
        ByteOrder::Little => f64::from_le_bytes(stored),
    }
}

/// The bits of the greatest magnitude of values that begin with number `start`.
///
/// # Errors
/// A value that is not finite, with its number.
fn checked(values: &[f64], start: usize) -> Result<u64, CodecError> {
    let greatest = block::max_magnitude(values);
    if greatest >= f64::INFINITY.to_bits() {
        let index = start + values.iter().position(|value| !value.is_finite()).unwrap_or_default();
        return Err(CodecError::new(format!("value {index} is not finite")));
    }
    Ok(greatest)
}

/// The stream of `blocks`, which begin with value number `start`, with room for one block more; and the bits of the greatest
/// magnitude.
fn written(
    limits: &BlockLimits,
    blocks: &[[Stored; block::LEN]],
    start: usize,
    order: ByteOrder,
) -> Result<(BitWriter, u64), CodecError> {
    let mut stream = stream_for(blocks.len() as u64 + 1, limits)?;
    let (mut numbers, mut greatest) = ([[0.0; block::LEN]; RUN], 0);
    let mut pace = Pace::of(PACE);
    for (index, blocks) in blocks.chunks(RUN).enumerate() {
        pace.step()?;
        let numbers = numbers.get_mut(..blocks.len()).unwrap_or_default();
        for (to, from) in numbers.iter_mut().zip(blocks) {
            *to = from.map(|stored| number(stored, order));
        }
        greatest = greatest.max(checked(numbers.as_flattened(), start + index * RUN * block::LEN)?);
        for values in &*numbers {
            block::write(&mut stream, limits, values);
        }
    }
    Ok((stream, greatest))
}

/// [`written`] from the first value on, by several threads.
fn written_on(
    threads: Threads,
    limits: &BlockLimits,
    blocks: &[[Stored; block::LEN]],
    order: ByteOrder,
) -> Result<(BitWriter, u64), CodecError> {
    let pieces: Vec<_> = blocks.chunks(PIECE).enumerate().collect();
    let pieces = threads.map(&pieces, |(index, piece)| written(limits, piece, index * PIECE * block::LEN, order))?;
    let (_, last_block) = limits.lens(1);
    let len = pieces.iter().map(|(piece, _)| piece.len()).sum::<u64>();
    let mut stream = BitWriter::new(reserved(len + last_block)?);
    let mut greatest = 0;
    for (piece, greatest_of_piece) in pieces {
        stream.append(&piece);
        greatest = greatest.max(greatest_of_piece);
    }
    Ok((stream, greatest))
}

/// An empty stream with room for `blocks`: exactly at a fixed rate, and by a guess otherwise.
fn stream_for(blocks: u64, limits: &BlockLimits) -> Result<BitWriter, CodecError> {
    let (shortest, longest) = limits.lens(blocks);
    Ok(BitWriter::new(reserved(shortest.max(longest / 4))?))
}

fn reserved(len: u64) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    usize::try_from(len)
        .ok()
        .and_then(|len| bytes.try_reserve_exact(len).ok())
        .ok_or_else(|| CodecError::new(format!("no memory for {len} bytes")))?;
    Ok(bytes)
}
