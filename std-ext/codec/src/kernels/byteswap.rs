//! Reversing the byte order of whole buffers: core's loops, compiled for AVX2, and loops of our own for AVX-512 and NEON.
//!
//! A swap is one permutation between a load and a store, so memory is the limit: with AVX2, 15 instructions swap 128 bytes.
//! Output that is larger than the caches is written past them (`Uncached`).

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

use tgm_core::{Result, byteswap};

use super::simd::{Level, Simd};
use super::uncached::{Uncached, Work};

/// [`tgm_core::byteswap::swap_in_place`], with the processor's vector instructions.
///
/// # Errors
/// The errors of that function.
#[inline]
pub fn swap_in_place(bytes: &mut [u8], unit: usize) -> Result<()> {
    swap_in_place_by(Simd::best(), bytes, unit)
}

/// [`tgm_core::byteswap::swap_into`], with the processor's vector instructions.
///
/// # Errors
/// The errors of that function.
#[inline]
pub fn swap_into(src: &[u8], unit: usize, out: &mut [u8]) -> Result<()> {
    let simd = Simd::best();
    let is_whole = src.len() == out.len() && matches!(unit, 2 | 4 | 8) && src.len().is_multiple_of(unit);
    match Uncached::new(simd, out.len(), Work::Moving).filter(|_| is_whole) {
        Some(uncached) => {
            // Each block but the last is a multiple of 64 bytes, so all blocks hold whole units, and no swap fails.
            uncached.fill::<_, 64>(out, |first, block| {
                let part = src.get(first..).and_then(|rest| rest.get(..block.len()));
                part.is_some_and(|part| swap_into_by(simd, part, unit, block).is_ok())
            });
            Ok(())
        }
        None => swap_into_by(simd, src, unit, out),
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
fn swap_in_place_by(simd: Simd, bytes: &mut [u8], unit: usize) -> Result<()> {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Avx2 | Level::Avx512 => unsafe { avx2::swap_in_place(bytes, unit) },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Neon => unsafe { neon::swap_in_place(bytes, unit) },
        _ => byteswap::swap_in_place(bytes, unit),
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
fn swap_into_by(simd: Simd, src: &[u8], unit: usize, out: &mut [u8]) -> Result<()> {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Avx2 => unsafe { avx2::swap_into(src, unit, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Avx512 => unsafe { avx512::swap_into(src, unit, out) },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Neon => unsafe { neon::swap_into(src, unit, out) },
        _ => byteswap::swap_into(src, unit, out),
    }
}

/// Core's functions, compiled for AVX2. Core marks them `#[inline(always)]`, so here their loops become AVX2 code.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Result, byteswap};

    #[target_feature(enable = "avx2")]
    pub(super) fn swap_in_place(bytes: &mut [u8], unit: usize) -> Result<()> {
        byteswap::swap_in_place(bytes, unit)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn swap_into(src: &[u8], unit: usize, out: &mut [u8]) -> Result<()> {
        byteswap::swap_into(src, unit, out)
    }
}

/// Swaps 64 bytes at a time, the size of a cache line. The processor need not read a line that a store overwrites whole.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{_mm512_broadcast_i32x4, _mm512_shuffle_epi8};

    use super::{Result, byteswap};
    use crate::kernels::registers::{load_128, load_512, store_512};

    #[target_feature(enable = "avx512f,avx512bw,avx2")]
    pub(super) fn swap_into(src: &[u8], unit: usize, out: &mut [u8]) -> Result<()> {
        if out.len() != src.len() || !matches!(unit, 2 | 4 | 8) || !src.len().is_multiple_of(unit) {
            return byteswap::swap_into(src, unit, out);
        }
        let mut reversed = [0_u8; 16];
        // For a unit of 4 bytes, `place ^ 3` turns 0 1 2 3 into 3 2 1 0, and 4 5 6 7 into 7 6 5 4. A unit is a power of two,
        // so `unit - 1` masks the bits of a place within the unit.
        for (place, slot) in reversed.iter_mut().enumerate() {
            *slot = u8::try_from(place ^ (unit - 1)).unwrap_or(0);
        }
        let ((sources, source_rest), (slots, slot_rest)) = (src.as_chunks::<64>(), out.as_chunks_mut::<64>());
        let reversed = _mm512_broadcast_i32x4(load_128(&reversed));
        for (source, slot) in sources.iter().zip(slots) {
            store_512(_mm512_shuffle_epi8(load_512(source), reversed), slot);
        }
        byteswap::swap_into(source_rest, unit, slot_rest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn output_larger_than_the_caches_is_swapped_as_core_does() {
        let src: Vec<u8> = (0..(17_u32 << 20) + 16).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut out = vec![0xaa; src.len() + 1];
        for (unit, len) in [(2, src.len() - 2), (4, src.len()), (8, src.len() - 8), (8, src.len() - 3), (3, src.len())]
        {
            let mut expected = vec![0xaa; len];
            let result = byteswap::swap_into(&src[..len], unit, &mut expected);
            out.fill(0xaa);
            assert_eq!(swap_into(&src[..len], unit, &mut out[1..=len]), result);
            assert!(out[1..=len] == expected);
        }
    }

    proptest! {
        #[test]
        fn every_level_agrees_with_core(
            src in prop::collection::vec(any::<u8>(), 0..700),
            unit in 0_usize..10,
            whole in any::<bool>(),
            excess in prop_oneof![4 => Just(0_usize), 1 => 0_usize..9],
        ) {
            let len = if whole { src.len() / unit.max(1) * unit.max(1) } else { src.len() };
            let src = &src[..len];
            let mut expected = vec![0xaa; len + excess];
            let result = byteswap::swap_into(src, unit, &mut expected);
            for simd in Simd::all() {
                let mut out = vec![0xaa; len + excess];
                prop_assert_eq!(swap_into_by(simd, src, unit, &mut out), result);
                prop_assert_eq!(&out, &expected);
                let mut place = src.to_vec();
                let in_place = swap_in_place_by(simd, &mut place, unit);
                let mut core = src.to_vec();
                prop_assert_eq!(in_place, byteswap::swap_in_place(&mut core, unit));
                prop_assert_eq!(place, core);
            }
        }
    }
}
