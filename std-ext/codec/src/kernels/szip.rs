//! szip: split and plain blocks by vector instructions, a register of samples at a time; all other blocks by core.
//!
//! ```text
//! unary codes   the ends of the codes are the positions of the ones in a window of 64 bits
//! lower bits    fields of one width: a permutation of bytes and a shift, as in simple_packing
//! predictor     differences are added up by a prefix sum; only if one is out of range, sample by sample
//! ```
//!
//! A stream does not say where its blocks begin, so each block waits for the length of the one before it. The trick is
//! to know that length early: the end of the last unary code alone gives it, and the samples themselves may come later.
//!
//! [`tgm_core::szip::decode_ahead_with`] walks the stream and asks here for blocks between the first and the last of an
//! interval. Whatever is unusual is left to it: zero blocks, pairs, codes longer than a window, the stream's last
//! bytes, and everything that is wrong. Format: PIPELINE §7.
//!
//! `driver` is the walk over blocks, `avx2`, `avx512` and `neon` are the steps of a block, `sink` stores the samples.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod driver;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod sink;
#[cfg(test)]
mod tests;

use tgm_core::descriptor::ByteOrder;
use tgm_core::szip::{self, Formula, Params, Place, Start, decode_ahead_with, flags};
use tgm_core::{ErrorKind, Result};

use self::sink::{Containers, Packed, Sink};
use super::packing::Value;
use super::packing::store::{BigEndian, LittleEndian, Store};
use super::simd::{Level, Simd};

/// [`tgm_core::szip::decode_into`], as fast as the processor can.
///
/// # Errors
/// As there.
pub fn decode_into(stream: &[u8], params: &Params, out: &mut [u8]) -> Result<()> {
    decode_from(stream, params, Start::default(), out).map(|_| ())
}

/// [`tgm_core::szip::decode_from`], as fast as the processor can.
///
/// # Errors
/// As there.
pub fn decode_from(stream: &[u8], params: &Params, start: Start, out: &mut [u8]) -> Result<u64> {
    decode_by(Simd::best(), stream, params, start, out)
}

/// [`tgm_core::szip::decode_packed_with`] to numbers, as fast as the processor can.
///
/// # Errors
/// As there.
pub fn decode_packed_into<T: Value>(
    stream: &[u8],
    params: &Params,
    start: Start,
    formula: Formula,
    out: &mut [T],
) -> Result<u64> {
    decode_packed_by::<T::Store>(Simd::best(), stream, params, start, formula, out)
}

/// [`tgm_core::szip::decode_packed_with`] to the bytes of `f64` in `order`, as fast as the processor can.
///
/// # Errors
/// As there.
pub fn decode_packed_bytes_into(
    stream: &[u8],
    params: &Params,
    start: Start,
    formula: Formula,
    order: ByteOrder,
    out: &mut [[u8; 8]],
) -> Result<u64> {
    let simd = Simd::best();
    match order {
        ByteOrder::Big => decode_packed_by::<BigEndian>(simd, stream, params, start, formula, out),
        ByteOrder::Little => decode_packed_by::<LittleEndian>(simd, stream, params, start, formula, out),
    }
}

fn decode_by(simd: Simd, stream: &[u8], params: &Params, start: Start, out: &mut [u8]) -> Result<u64> {
    if !is_usual(simd, params) {
        return szip::decode_from(stream, params, start, out);
    }
    let stream = CodedStream { simd, bytes: stream, params };
    match (params.container_size(), params.byte_order()) {
        (1, order) => stream.containers::<1>(start, order, out),
        (2, order) => stream.containers::<2>(start, order, out),
        (3, order) => stream.containers::<3>(start, order, out),
        (_, order) => stream.containers::<4>(start, order, out),
    }
}

fn decode_packed_by<S: Store>(
    simd: Simd,
    stream: &[u8],
    params: &Params,
    start: Start,
    formula: Formula,
    out: &mut [S::Slot],
) -> Result<u64> {
    if !is_usual(simd, params) || !params.bits_per_sample().is_multiple_of(8) {
        return szip::decode_packed_with(stream, params, start, formula, out, S::one);
    }
    CodedStream { simd, bytes: stream, params }.decode(start, out, &Packed::<S>::new(params, formula))
}

/// Whether blocks are decoded here: samples are predicted, and blocks are whole registers, or the half of one.
fn is_usual(simd: Simd, params: &Params) -> bool {
    simd.level() > Level::Base && params.has(flags::PREPROCESS) && matches!(params.block_size(), 8 | 16 | 32 | 64)
}

/// How many blocks are left to core before it is asked again whether the next one is a usual one.
///
/// To ask takes a tenth of the time that core takes for a block. Noise has no usual blocks, so there each answer in vain
/// doubles the wait, and a usual block ends it.
#[derive(Default)]
struct Patience {
    wait: u32,
    left: u32,
}

impl Patience {
    /// The longest wait, in blocks.
    const MOST: u32 = 15;

    /// The place after the blocks that `decode` decodes from `place` on, or `place` while the wait lasts.
    #[inline]
    fn ask(&mut self, place: Place, decode: impl FnOnce() -> Place) -> Place {
        if self.left > 0 {
            self.left -= 1;
            return place;
        }
        let after = decode();
        if after.blocks == place.blocks {
            self.left = self.wait;
            self.wait = (2 * self.wait + 1).min(Self::MOST);
        } else {
            self.wait = 0;
        }
        after
    }
}

/// A stream, how it is coded, and by which instructions it is decoded.
struct CodedStream<'a> {
    simd: Simd,
    bytes: &'a [u8],
    params: &'a Params,
}

impl CodedStream<'_> {
    fn containers<const SIZE: usize>(&self, start: Start, order: ByteOrder, out: &mut [u8]) -> Result<u64> {
        let (slots, []) = out.as_chunks_mut() else { return Err(ErrorKind::OutputLength.at(0)) };
        self.decode(start, slots, &Containers::<SIZE>::new(self.params, order))
    }

    fn decode<S: Sink>(&self, start: Start, out: &mut [S::Slot], sink: &S) -> Result<u64> {
        let store = |sample: u32| sink.one(sample);
        let mut patience = Patience::default();
        decode_ahead_with(self.bytes, self.params, start, out, store, |place, slots| {
            patience.ask(place, || self.ahead(place, slots, sink))
        })
    }

    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    fn ahead<S: Sink>(&self, place: Place, slots: &mut [S::Slot], sink: &S) -> Place {
        match self.simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the level.
            Level::Avx512 => unsafe { avx512::decode(self.bytes, self.params, place, slots, sink) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the level.
            Level::Avx2 => unsafe { avx2::decode(self.bytes, self.params, place, slots, sink) },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            // SAFETY: the processor has the level.
            Level::Neon => unsafe { neon::decode(self.bytes, self.params, place, slots, sink) },
            _ => {
                let _ = (slots, sink);
                place
            }
        }
    }
}
