//! szip: decoding of CCSDS 121.0-B as libaec writes it. Whole streams, ranges, pieces, and directly to floats.
//!
//! ```text
//! stream     = interval*                    reference sample intervals of rsi blocks; the last one may be shorter
//! interval   = block*                       without anything between blocks, and without a header
//! block      = ID [reference sample] codes  block_size values, or a run of blocks of zeros
//! ```
//!
//! Decoding has four steps, each with a file:
//!
//! ```text
//! bits (bits.rs) ─► values (block.rs) ─► samples (predict.rs) ─► items of the output (samples.rs)
//! ```
//!
//! Only the last step knows what an item of the output is. So one decoder serves samples of any width and byte order,
//! floats, and anything else that a caller makes of a sample. It keeps one block of values on the stack, 1 KiB, and uses
//! no other memory. [`PieceDecoder`] decodes streams that come in pieces. It keeps a block and its bytes between pieces.
//!
//! # Intervals
//!
//! A sample depends on all samples before it in its interval, and on nothing before the interval. So decoding can start at
//! any interval. The stream does not show where intervals start; `szip_block_offsets` in the descriptor lists their bit
//! offsets. The reference sometimes writes a wrong offset there. [`find_rsi`] and [`RsiOffsets`] find the true offsets by
//! reading the stream, several times faster than decoding it. Decoding returns the bit after the last block it read; after
//! a whole interval that is the start of the next one.
//!
//! # Damaged streams
//!
//! Whatever the bits are, the output is never exceeded, and the work is proportional to output and stream. Damage is
//! reported if it leads to a code without a meaning, or beyond the end. Other damage gives wrong samples. Only a digest
//! finds all damage.
//!
//! On undamaged streams the samples are libaec's. On damaged streams there are three differences. Two are refused here,
//! while libaec returns samples: a value wider than a sample, and a last block that ends too early, after the last wanted
//! sample. The third is decoded here, while libaec reports an error: some streams with an invalid block after the last
//! wanted sample. Format: PIPELINE §5.4 and §7.

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
#[doc(hidden)]
pub use predict::unmap_each;
pub use samples::Place;
pub use start::Start;
pub use walk::{RsiOffsets, find_rsi, find_rsi_near};

use crate::error::{ErrorKind, Result};
pub use crate::formula::Formula;
use crate::names::ByteOrder;

/// Decodes a stream from its start. `out` is filled with samples of [`Params::container_size`] bytes each.
///
/// Bytes after the last needed block are ignored. O(`out.len()` + `stream.len()`), no allocation.
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
/// [`ErrorKind::OutputLength`] if the length of `out` is not a multiple of the sample's; [`ErrorKind::Truncated`] at the
/// stream's end if a block reaches beyond it; [`ErrorKind::SzipStream`] at a block with a code that stands for no sample.
/// In the last two cases `out` holds the samples before that block.
pub fn decode_into(stream: &[u8], params: &Params, out: &mut [u8]) -> Result<()> {
    decode_from(stream, params, Start::default(), out).map(|_| ())
}

/// Decodes `out.len()` bytes of samples, starting with sample `first_sample` of the stream.
///
/// `rsi_offsets` are the bit offsets of the intervals, if known; [`Start::at_sample`] says how they are used.
/// O(`out.len()` + samples of an interval); without the interval's offset O(`stream.len()`).
///
/// # Errors
/// The errors of [`decode_into`].
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

/// Decodes `out.len()` bytes of samples from `start` on, and returns the bit after the last block that was read.
///
/// If the last written sample is the last one of an interval, the next interval starts at that bit.
///
/// # Errors
/// The errors of [`decode_into`]; [`ErrorKind::Truncated`] at the stream's end also if `start` lies beyond it.
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
    /// Decodes to containers of `SIZE` bytes. `low` takes them from the four bytes of a sample.
    fn decode<const SIZE: usize>(
        self,
        bytes: impl Fn(u32) -> [u8; 4],
        low: impl Fn([u8; 4]) -> [u8; SIZE],
    ) -> Result<u64> {
        let (slots, []) = self.out.as_chunks_mut() else { return Err(ErrorKind::OutputLength.at(0)) };
        decode_with(self.stream, self.params, self.start, slots, |sample| low(bytes(sample)))
    }
}

/// Decodes `out.len()` samples from `start` on, and returns the bit after the last block that was read.
///
/// `store` makes an item of the output from a sample. Signed samples are given to it sign-extended.
///
/// # Errors
/// The errors of [`decode_from`] except [`ErrorKind::OutputLength`].
pub fn decode_with<T: Copy>(
    stream: &[u8],
    params: &Params,
    start: Start,
    out: &mut [T],
    store: impl Fn(u32) -> T,
) -> Result<u64> {
    samples::decode(stream, params, start, out, store, |place, _| place)
}

/// [`decode_with`] with a faster way to decode some blocks: `ahead`, which is called before each block that is not the
/// first of its interval.
///
/// `ahead` gets the place of the next block, and output for whole blocks of the interval. It fills as many blocks as it
/// chooses, from the front, and returns the place after them. If it fills none, it returns the place that it was given.
/// The decoder here decodes the other blocks, and reports their errors. It checks that the returned counts fit, and trusts
/// `ahead` for everything else.
///
/// Samples before the first wanted one are decoded into the same output, and are overwritten later.
///
/// # Errors
/// The errors of [`decode_with`], for blocks that `ahead` does not decode.
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
/// `store` makes an item of the output from a value: `|value| value`, [`f64::to_be_bytes`], `|value| value as f32`. Returns
/// the bit after the last block that was read. The flag for the byte order has no effect, because packed values always have
/// their most significant bits first.
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
/// [`ErrorKind::SzipBitsPerSample`] if a value does not fill whole bytes: samples and packed values then differ. The errors of
/// [`decode_with`].
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
