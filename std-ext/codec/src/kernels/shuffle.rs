//! The shuffle filter and its inverse, for elements of 2, 4, 8 and 16 bytes.
//!
//! ```text
//! shuffled[k · count + i] = data[i · S + k]        byte k of element i; an element has S bytes
//! ```
//!
//! So byte k of all elements lies side by side in `shuffled`: that is plane k.
//!
//! # Trick: one step, repeated
//!
//! ```text
//! step(rows):                                      16 elements in S registers (rows) of 16 bytes
//!     for i in 0 .. S / 2:
//!         rows 2i and 2i + 1 = the bytes of row i and of row i + S / 2, in turn
//!
//! unshuffle: log2 S steps        shuffle: 4 steps, or the inverse of the step log2 S times
//! ```
//!
//! Why this is right: number the bytes in the rows from 0 to 16 · S - 1. The upper log2 S bits of a number say which row,
//! the lower four bits say where in the row. A step moves byte n to the place whose number is n rotated left by one bit.
//! Unshuffling moves byte 16 · k + i to place S · i + k, which is a rotation by log2 S bits. Shuffling moves it back,
//! which is a rotation by the other four bits. NEON has an instruction for the inverse of the step, so it shuffles that way.
//!
//! Registers of 32 bytes hold 16 elements in each half. For data larger than the caches, memory is the limit.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

use std::mem::MaybeUninit;

use tgm_core::{Result, shuffle};

use super::simd::{Level, Simd};

/// The number of elements in a block. The vector code moves whole blocks.
const BLOCK: usize = 32;

/// [`tgm_core::shuffle::unshuffle_into`], with the processor's vector instructions.
///
/// # Errors
/// The errors of that function.
pub fn unshuffle_into(shuffled: &[u8], element_size: u64, out: &mut [u8]) -> Result<()> {
    if out.len() != shuffled.len() {
        return shuffle::unshuffle_into(shuffled, element_size, out);
    }
    unshuffle_range_into(shuffled, element_size, 0, out)
}

/// [`tgm_core::shuffle::unshuffle_range_into`], with the processor's vector instructions.
///
/// # Errors
/// The errors of that function.
pub fn unshuffle_range_into(shuffled: &[u8], element_size: u64, start: u64, out: &mut [u8]) -> Result<()> {
    match element_size {
        2 => unshuffle_by::<2>(Simd::best(), shuffled, start, out),
        4 => unshuffle_by::<4>(Simd::best(), shuffled, start, out),
        8 => unshuffle_by::<8>(Simd::best(), shuffled, start, out),
        16 => unshuffle_by::<16>(Simd::best(), shuffled, start, out),
        _ => shuffle::unshuffle_range_into(shuffled, element_size, start, out),
    }
}

fn unshuffle_by<const SIZE: usize>(simd: Simd, shuffled: &[u8], start: u64, out: &mut [u8]) -> Result<()> {
    let core = |start, out: &mut [u8]| shuffle::unshuffle_range_into(shuffled, SIZE as u64, start, out);
    // For elements of 2 bytes, the compiler's code for core's loop is faster than our NEON code.
    let is_core_faster = simd.level() == Level::Base || simd.level() == Level::Neon && SIZE == 2;
    if is_core_faster || out.len() < 2 * BLOCK * SIZE {
        return core(start, out);
    }
    // The last byte comes first. If any byte is out of reach, the last one is, so an error comes before anything is written.
    let last = out.len() - 1;
    match (start.checked_add(last as u64), out.get_mut(last..)) {
        (Some(byte), Some(slot)) => core(byte, slot)?,
        _ => return core(start, out),
    }
    // Core does the bytes before the first whole element and after the last whole block.
    let first = start.next_multiple_of(SIZE as u64);
    let head = usize::try_from(first - start).unwrap_or(0);
    let element = usize::try_from(first).unwrap_or(0) / SIZE;
    let Some((head, body)) = out.split_at_mut_checked(head) else { return core(start, out) };
    core(start, head)?;
    let mut planes = shuffled.chunks_exact((shuffled.len() / SIZE).max(1));
    let planes = [(); SIZE].map(|()| planes.next().and_then(|plane| plane.get(element..)).unwrap_or_default());
    let (elements, _) = body.as_chunks_mut();
    let (blocks, _) = elements.as_chunks_mut();
    let done = unshuffle_bulk(simd, planes, blocks) * BLOCK * SIZE;
    core(first + done as u64, body.get_mut(done..).unwrap_or_default())
}

/// Unshuffles `out.len()` bytes, from byte `start` of the elements on. `planes[k]` holds byte k of each element. The planes
/// need not lie side by side.
///
/// # Errors
/// [`tgm_core::ErrorKind::Truncated`] if a plane is too short.
#[cfg(feature = "blosc2-decode")]
pub fn unshuffle_planes_into<const SIZE: usize>(planes: [&[u8]; SIZE], start: usize, out: &mut [u8]) -> Result<()> {
    unshuffle_planes_by(Simd::best(), planes, start, out)
}

#[cfg(any(feature = "blosc2-decode", test))]
fn unshuffle_planes_by<const SIZE: usize>(
    simd: Simd,
    planes: [&[u8]; SIZE],
    start: usize,
    out: &mut [u8],
) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let end = start.saturating_add(out.len()).div_ceil(SIZE);
    if planes.iter().any(|plane| plane.len() < end) {
        return Err(tgm_core::ErrorKind::Truncated.at(0));
    }
    let one_by_one = |start: usize, out: &mut [u8]| {
        for (at, byte) in (start..).zip(out) {
            let plane = planes.get(at % SIZE).copied().unwrap_or_default();
            *byte = plane.get(at / SIZE).copied().unwrap_or_default();
        }
    };
    let first = start.next_multiple_of(SIZE);
    let Some((head, body)) = out.split_at_mut_checked(first - start) else {
        one_by_one(start, out);
        return Ok(());
    };
    one_by_one(start, head);
    let planes = planes.map(|plane| plane.get(first / SIZE..).unwrap_or_default());
    let (elements, tail) = body.as_chunks_mut::<SIZE>();
    let done = unshuffle_bulk(simd, planes, elements.as_chunks_mut().0) * BLOCK;
    for (at, element) in elements.iter_mut().enumerate().skip(done) {
        *element = planes.map(|plane| plane.get(at).copied().unwrap_or_default());
    }
    one_by_one(first + elements.as_flattened().len(), tail);
    Ok(())
}

/// Unshuffles elements from the fronts of the planes, as many whole blocks as planes and `out` hold. Returns the number of
/// blocks: 0 if there is no vector code for this processor.
#[allow(unsafe_code, reason = "instructions that not every processor has")]
fn unshuffle_bulk<const SIZE: usize>(simd: Simd, planes: [&[u8]; SIZE], out: &mut [[[u8; SIZE]; BLOCK]]) -> usize {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Avx2 | Level::Avx512 => unsafe { avx2::unshuffle(planes, out) },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Neon => unsafe { neon::unshuffle(planes, out) },
        _ => {
            let _ = (planes, out);
            0
        }
    }
}

/// Shuffles the whole blocks of `data` to the fronts of `planes`, all bytes of which are written as far as the blocks reach.
/// Returns the number of elements: 0 if there is no vector code for this processor. The caller shuffles the rest.
pub fn shuffle_blocks<const SIZE: usize>(data: &[[u8; SIZE]], planes: [&mut [MaybeUninit<u8>]; SIZE]) -> usize {
    shuffle_by(Simd::best(), data, planes)
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
fn shuffle_by<const SIZE: usize>(simd: Simd, data: &[[u8; SIZE]], planes: [&mut [MaybeUninit<u8>]; SIZE]) -> usize {
    let (blocks, _) = data.as_chunks();
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Avx2 | Level::Avx512 => unsafe { avx2::shuffle(blocks, planes) * BLOCK },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: a `Simd` exists only for a level that the processor has.
        Level::Neon => unsafe { neon::shuffle(blocks, planes) * BLOCK },
        _ => {
            let _: (&[[[u8; SIZE]; BLOCK]], _) = (blocks, planes);
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks both ways of unshuffling against core, at each level.
    fn check<const SIZE: usize>(shuffled: &[u8], start: u64, len: usize) {
        let mut expected = vec![0xaa; len];
        let result = shuffle::unshuffle_range_into(shuffled, SIZE as u64, start, &mut expected);
        for simd in Simd::all() {
            let mut out = vec![0xaa; len];
            assert_eq!(unshuffle_by::<SIZE>(simd, shuffled, start, &mut out), result, "{simd:?} {SIZE}");
            assert!(out == expected, "{simd:?} {SIZE} {start} {len}");
            let mut planes = shuffled.chunks_exact((shuffled.len() / SIZE).max(1));
            let planes = [(); SIZE].map(|()| planes.next().unwrap_or_default());
            let Ok(start) = usize::try_from(start) else { continue };
            let mut out = vec![0xaa; len];
            let by_planes = unshuffle_planes_by::<SIZE>(simd, planes, start, &mut out);
            if shuffled.len().is_multiple_of(SIZE) && len > 0 {
                assert_eq!(by_planes.is_ok(), result.is_ok(), "{simd:?} {SIZE} {start} {len}");
                assert!(result.is_err() || out == expected, "{simd:?} {SIZE} {start} {len}");
            }
        }
    }

    /// Checks that core's unshuffle gives back what each level has shuffled.
    #[allow(unsafe_code, reason = "memory that was cleared")]
    fn check_shuffle<const SIZE: usize>(bytes: &[u8]) {
        let (elements, _) = bytes.as_chunks::<SIZE>();
        for simd in Simd::all() {
            let mut shuffled = vec![MaybeUninit::new(0); elements.len() * SIZE];
            let mut planes = shuffled.chunks_mut(elements.len().max(1));
            let done = shuffle_by(simd, elements, [(); SIZE].map(|()| planes.next().unwrap_or_default()));
            assert!(simd.level() == Level::Base || done == elements.len() / BLOCK * BLOCK);
            // SAFETY: all of it was zero before.
            let shuffled = unsafe { shuffled.assume_init_ref() };
            let mut back = vec![0; done * SIZE];
            shuffle::unshuffle_range_into(shuffled, SIZE as u64, 0, &mut back).unwrap();
            assert!(back == elements[..done].as_flattened(), "{simd:?} {SIZE}");
        }
    }

    proptest! {
        #[test]
        fn every_level_agrees_with_core(
            bytes in prop::collection::vec(any::<u8>(), 0..6000),
            start in prop_oneof![4 => 0_u64..100, 1 => any::<u64>()],
            short in 0_usize..300,
            whole in any::<bool>(),
        ) {
            let bytes = if whole { &bytes[..bytes.len() / 16 * 16] } else { &bytes[..] };
            let len = bytes.len().saturating_sub(usize::try_from(start).unwrap_or(0)).saturating_sub(short);
            for len in [len, len + 400] {
                check::<2>(bytes, start, len);
                check::<4>(bytes, start, len);
                check::<8>(bytes, start, len);
                check::<16>(bytes, start, len);
            }
            check_shuffle::<2>(bytes);
            check_shuffle::<4>(bytes);
            check_shuffle::<8>(bytes);
            check_shuffle::<16>(bytes);
        }
    }
}
