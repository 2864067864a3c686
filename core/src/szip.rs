//! szip: the entropy coder of CCSDS 121.0-B, as libaec writes it. Whole streams, ranges, pieces, and straight to floats.
//!
//! ```text
//! stream     = interval*                    reference sample intervals: rsi blocks each, the last one may be shorter
//! interval   = block*                       nothing between them, and no header: all else is in Params
//! block      = ID [reference sample] codes  block_size values, or a run of blocks of zeros
//! ```
//!
//! The way is bits → values (unary codes and fields) → samples (predictor undone) → slots of the output. Only the last step
//! knows what a slot is, so containers of any width and order, floats and whatever else a caller makes of a sample come
//! from one decoder. One block of values on the stack, 1 KiB, is all the memory used. Streams that come in pieces are decoded by
//! [`PieceDecoder`], which keeps a block and its bytes between them.
//!
//! A sample depends on all samples before it in its interval, and on nothing before the interval. Where an interval starts
//! is not to be seen in the stream: `szip_block_offsets` in the descriptor says it, in bits. What the reference writes there
//! is not always right; [`find_rsi`] and [`RsiOffsets`] find the truth by reading, at several times the speed of decoding.
//! Decoding returns the bit where it stopped, which after a whole interval is where the next one starts.
//!
//! Whatever the bits say, no more is written than the output holds, and the work is in proportion to output and stream.
//! Damage shows only where it leads to a code without a meaning, or beyond the end: a digest is the safer witness.
//!
//! libaec agrees on every stream that it decodes, with three exceptions, all on damaged ones. Refused here, while libaec
//! returns something: a value wider than a sample; a last block that is cut behind the last sample wanted. Decoded here,
//! while libaec reports an error: some streams with an invalid block after the last sample wanted.
//! Format: PIPELINE §5.4 and §7.

mod bits;
mod block;
mod finder;
mod params;
mod pieces;
mod predict;
mod samples;
mod start;
mod walk;

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "small numbers")]
mod tests;

pub use finder::RsiFinder;
pub use params::{MAX_BLOCK_SIZE, MAX_RSI, Params, flags};
pub use pieces::PieceDecoder;
pub use samples::Place;
pub use start::Start;
pub use walk::{RsiOffsets, find_rsi, find_rsi_near};

use crate::error::{ErrorKind, Result};
pub use crate::formula::Formula;
use crate::names::ByteOrder;

/// Decodes a stream from its start: `out` is filled with samples of [`Params::container_size`] bytes each.
///
/// Bytes that follow are ignored. O(`out.len()` + `stream.len()`), no allocation.
///
/// ```
/// use tgm_core::szip::{Params, decode_into};
///
/// let params = Params::new(8, 8, 2, 8).map_err(|kind| kind.at(0))?;
/// let mut samples = [0; 5];
/// decode_into(&[0x20, 0xa4, 0x93, 0xc0], &params, &mut samples)?;
/// assert_eq!(samples, [5, 6, 7, 8, 9]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::OutputLength`] if `out` is not a whole number of samples long; [`ErrorKind::Truncated`] at the stream's end
/// if a block reaches beyond it; [`ErrorKind::SzipStream`] at a block with a code that no sample has. In the latter two
/// cases the samples before that block are in `out`.
pub fn decode_into(stream: &[u8], params: &Params, out: &mut [u8]) -> Result<()> {
    decode_from(stream, params, Start::default(), out).map(|_| ())
}

/// Decodes `out.len()` bytes of samples, starting with sample `first_sample` of the stream.
///
/// `rsi_offsets` are the bit offsets of the intervals, as far as known: [`Start::at_sample`] says how they are used.
/// O(`out.len()` + samples of an interval), and O(`stream.len()`) if the offset is not there.
///
/// # Errors
/// Those of [`decode_into`].
pub fn decode_range_into(
    stream: &[u8],
    params: &Params,
    rsi_offsets: impl IntoIterator<Item = u64>,
    first_sample: u64,
    out: &mut [u8],
) -> Result<()> {
    let start = Start::at_sample(stream, params, rsi_offsets, first_sample)?;
    decode_from(stream, params, start, out).map(|_| ())
}

/// Decodes `out.len()` bytes of samples from `start` on, and returns the bit behind the last block read.
///
/// If the last sample written is the last one of an interval, that is the bit at which the next interval starts.
///
/// # Errors
/// Those of [`decode_into`]; [`ErrorKind::Truncated`] at the stream's end also if `start` lies beyond it.
pub fn decode_from(stream: &[u8], params: &Params, start: Start, out: &mut [u8]) -> Result<u64> {
    let slots = Slots { stream, params, start, out };
    match (params.container_size(), params.byte_order()) {
        (1, _) => slots.decode(u32::to_le_bytes, |[a, _, _, _]| [a]),
        (2, ByteOrder::Big) => slots.decode(u32::to_be_bytes, |[_, _, a, b]| [a, b]),
        (2, ByteOrder::Little) => slots.decode(u32::to_le_bytes, |[a, b, _, _]| [a, b]),
        (3, ByteOrder::Big) => slots.decode(u32::to_be_bytes, |[_, a, b, c]| [a, b, c]),
        (3, ByteOrder::Little) => slots.decode(u32::to_le_bytes, |[a, b, c, _]| [a, b, c]),
        (_, ByteOrder::Big) => slots.decode(u32::to_be_bytes, |bytes| bytes),
        (_, ByteOrder::Little) => slots.decode(u32::to_le_bytes, |bytes| bytes),
    }
}

/// The arguments of [`decode_from`].
struct Slots<'a> {
    stream: &'a [u8],
    params: &'a Params,
    start: Start,
    out: &'a mut [u8],
}

impl Slots<'_> {
    /// Decodes to containers of `SIZE` of a sample's bytes.
    fn decode<const SIZE: usize>(
        self,
        bytes: impl Fn(u32) -> [u8; 4],
        low: impl Fn([u8; 4]) -> [u8; SIZE],
    ) -> Result<u64> {
        let (slots, []) = self.out.as_chunks_mut() else { return Err(ErrorKind::OutputLength.at(0)) };
        decode_with(self.stream, self.params, self.start, slots, |sample| low(bytes(sample)))
    }
}

/// Decodes `out.len()` samples from `start` on, each stored as `store` makes it of the sample, which signed ones reach
/// sign-extended. Returns the bit behind the last block read.
///
/// # Errors
/// Those of [`decode_from`] but [`ErrorKind::OutputLength`].
pub fn decode_with<T: Copy>(
    stream: &[u8],
    params: &Params,
    start: Start,
    out: &mut [T],
    store: impl Fn(u32) -> T,
) -> Result<u64> {
    samples::decode(stream, params, start, out, store, |place, _| place)
}

/// [`decode_with`] for whoever can decode some blocks faster: `ahead` is asked before each block but the first ones of
/// intervals.
///
/// `ahead` gets the place and slots for whole blocks, fills as many blocks from the front as it likes, of no more than
/// the interval, and returns the place behind them; the place it was given if that is none. What it does not do is
/// done here, errors included. What it does is not looked at, but that the counts fit.
///
/// While samples are left out, the slots of blocks that `ahead` decodes are those that the next samples will be
/// written to.
///
/// # Errors
/// Those of [`decode_with`], for what `ahead` leaves.
#[inline]
pub fn decode_ahead_with<T: Copy>(
    stream: &[u8],
    params: &Params,
    start: Start,
    out: &mut [T],
    store: impl Fn(u32) -> T,
    ahead: impl FnMut(Place, &mut [T]) -> Place,
) -> Result<u64> {
    samples::decode(stream, params, start, out, store, ahead)
}

/// Decodes and unpacks `out.len()` values of `simple_packing` from `start` on, in one pass.
///
/// `store` makes a slot of a value: `|value| value`, [`f64::to_be_bytes`], `|value| value as f32`. Returns the bit behind
/// the last block read. The byte order among the flags is without effect: the format packs most significant bits first.
///
/// ```
/// use tgm_core::szip::{Formula, Params, Start, decode_packed_with};
///
/// let params = Params::new(16, 8, 2, 8).map_err(|kind| kind.at(0))?;
/// let formula = Formula { reference: 250.0, scale: 0.5 };
/// let mut values = [0.0; 3];
/// let start = Start { bit_offset: 0, skip: 1 };
/// decode_packed_with(&[0x10, 0x3e, 0x82, 0x49, 0x24, 0x80], &params, start, formula, &mut values, |value| value)?;
/// assert_eq!(values, [750.5, 751.0, 751.5]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::SzipBitsPerSample`] if values do not fill whole bytes: the packed stream then does not consist of samples,
/// and must be decoded as bytes first. Else those of [`decode_with`].
pub fn decode_packed_with<T: Copy>(
    stream: &[u8],
    params: &Params,
    start: Start,
    formula: Formula,
    out: &mut [T],
    store: impl Fn(f64) -> T,
) -> Result<u64> {
    let bits = params.bits_per_sample();
    if !bits.is_multiple_of(8) {
        return Err(ErrorKind::SzipBitsPerSample(bits).at(0));
    }
    let max = params.max();
    decode_with(stream, params, start, out, |sample| store(formula.value(sample & max)))
}
