//! What `simple_packing` asks of values on their way in: where they lie, and their fields.
//!
//! The scalar code of `encode::packing` is what is right; here is the bulk of it, in whole registers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use tgm_core::descriptor::ByteOrder;

use super::simd::{Level, Simd};

/// Values that are packed at a time: their fields are whole words of 64 bits, whatever their width.
pub(crate) const BLOCK: usize = 64;

/// Values as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) bytes: &'a [[u8; 8]],
    pub(crate) order: ByteOrder,
}

/// The least and the greatest of some values, and whether all are finite; otherwise the other two mean nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) least: f64,
    pub(crate) greatest: f64,
    pub(crate) finite: bool,
}

/// (value - reference) · factor, rounded, in fields of `bits`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) reference: f64,
    pub(crate) factor: f64,
    pub(crate) bits: u32,
}

/// The extent of the first values, and of how many.
#[allow(unsafe_code, reason = "instructions that not every processor has")]
pub(crate) fn extent(simd: Simd, source: Source<'_>) -> Option<(Extent, usize)> {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        Level::Avx512 => Some(unsafe { avx512::extent(source) }),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        Level::Avx2 => Some(unsafe { avx2::extent(source) }),
        _ => {
            let _ = source;
            None
        }
    }
}

/// Packs values to the front of `out`, as many whole blocks of [`BLOCK`] as there are; returns how many values.
#[allow(unsafe_code, reason = "instructions that not every processor has")]
pub(crate) fn pack(simd: Simd, source: Source<'_>, fields: Fields, out: &mut [u8]) -> usize {
    match (simd.level(), fields.bits) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        (Level::Avx512, 1..=32) => unsafe { avx512::pack(source, fields, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        (Level::Avx2, 1..=31) => unsafe { avx2::pack(source, fields, out) },
        _ => {
            let _ = (source, out);
            0
        }
    }
}

/// Fields of up to 32 bits, one after the other; `out` is as many words as they fill.
#[cfg(target_arch = "x86_64")]
#[inline]
fn join(fields: &[u32; BLOCK], bits: u32, out: &mut [u8]) {
    let (words, _) = out.as_chunks_mut::<8>();
    let mut words = words.iter_mut();
    let (mut gathered, mut count) = (0_u128, 0);
    let (pairs, _) = fields.as_chunks::<2>();
    for [first, second] in pairs {
        gathered = gathered << (2 * bits) | u128::from(u64::from(*first) << bits | u64::from(*second));
        count += 2 * bits;
        if count >= 64 {
            count -= 64;
            #[expect(clippy::cast_possible_truncation, reason = "the bits above have been written")]
            let word = (gathered >> count) as u64;
            if let Some(slot) = words.next() {
                *slot = word.to_be_bytes();
            }
        }
    }
}
