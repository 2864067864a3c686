//! Shuffling by AVX2: 32 elements in registers of 32 bytes, 16 of them in each half of a register.
//!
//! The limit is the port that interleaves bytes, which is used once for each register of a step. For 32 elements of 8 bytes, eight
//! loads and eight stores stand beside 24 such instructions (some 70 in all) in `unshuffle`, and 32 (some 100) in `shuffle`. In
//! cache that is 0.9 of the rate of a copy.

use std::arch::x86_64::{
    __m256i, _mm_setr_epi8, _mm256_broadcastsi128_si256, _mm256_permute2x128_si256, _mm256_set_m128i,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_unpackhi_epi8, _mm256_unpackhi_epi64, _mm256_unpacklo_epi8,
    _mm256_unpacklo_epi64,
};
use std::mem::MaybeUninit;

use super::BLOCK;
use crate::kernels::registers::{load_128, load_256, store_256};

/// Unshuffles blocks as far as all planes and `out` reach; returns the number of blocks.
#[target_feature(enable = "avx2")]
pub(super) fn unshuffle<const SIZE: usize>(planes: [&[u8]; SIZE], out: &mut [[[u8; SIZE]; BLOCK]]) -> usize {
    let planes = planes.map(|plane| plane.as_chunks::<BLOCK>().0);
    let count = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(out.len());
    for (i, out) in out.iter_mut().enumerate().take(count) {
        let mut rows = [_mm256_setzero_si256(); SIZE];
        for (row, plane) in rows.iter_mut().zip(&planes) {
            if let Some(bytes) = plane.get(i) {
                *row = load_256(bytes);
            }
        }
        for _ in 0..SIZE.ilog2() {
            rows = step(rows);
        }
        let (parts, _) = out.as_flattened_mut().as_chunks_mut::<BLOCK>();
        let (first, second) = parts.split_at_mut(SIZE / 2);
        let (pairs, _) = rows.as_chunks::<2>();
        // Stores go in the order of addresses: the processor need not read a line of memory that is written whole.
        for (slots, [a, b]) in first.iter_mut().zip(pairs) {
            store_256(_mm256_permute2x128_si256::<0x20>(*a, *b), slots);
        }
        for (slots, [a, b]) in second.iter_mut().zip(pairs) {
            store_256(_mm256_permute2x128_si256::<0x31>(*a, *b), slots);
        }
    }
    count
}

/// Shuffles blocks as far as `data` and all planes reach; returns the number of blocks.
#[target_feature(enable = "avx2")]
pub(super) fn shuffle<const SIZE: usize>(
    data: &[[[u8; SIZE]; BLOCK]],
    planes: [&mut [MaybeUninit<u8>]; SIZE],
) -> usize {
    let mut planes = planes.map(|plane| plane.as_chunks_mut::<BLOCK>().0);
    let count = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(data.len());
    for (i, block) in data.iter().enumerate().take(count) {
        let (parts, _) = block.as_flattened().as_chunks::<16>();
        let (first, second) = parts.split_at(SIZE);
        let mut rows = [_mm256_setzero_si256(); SIZE];
        for ((row, first), second) in rows.iter_mut().zip(first).zip(second) {
            *row = _mm256_set_m128i(load_128(second), load_128(first));
        }
        if let [first, second] = rows.as_mut_slice() {
            // Elements of two bytes take half of the instructions this way: first each register separates its even and
            // odd bytes, then the even bytes of both registers come together, and the odd ones.
            let apart = [*first, *second].map(|row| _mm256_shuffle_epi8(row, even_and_odd_bytes()));
            [*first, *second] = [_mm256_unpacklo_epi64(apart[0], apart[1]), _mm256_unpackhi_epi64(apart[0], apart[1])];
        } else {
            for _ in 0..4 {
                rows = step(rows);
            }
        }
        for (row, plane) in rows.into_iter().zip(&mut planes) {
            if let Some(slots) = plane.get_mut(i) {
                store_256(row, slots);
            }
        }
    }
    count
}

/// The step of the module's head: rows 2i and 2i + 1 become the bytes of row i and of row i + `SIZE` / 2, in turn.
#[inline]
#[target_feature(enable = "avx2")]
fn step<const SIZE: usize>(rows: [__m256i; SIZE]) -> [__m256i; SIZE] {
    let mut turned = rows;
    let (first, second) = rows.split_at(SIZE / 2);
    let (pairs, _) = turned.as_chunks_mut::<2>();
    for ((pair, first), second) in pairs.iter_mut().zip(first).zip(second) {
        *pair = [_mm256_unpacklo_epi8(*first, *second), _mm256_unpackhi_epi8(*first, *second)];
    }
    turned
}

/// The permutation that puts the even bytes of each half before the odd ones.
#[inline]
#[target_feature(enable = "avx2")]
fn even_and_odd_bytes() -> __m256i {
    _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15))
}
