//! Shuffling by NEON: 16 elements in registers of 16 bytes, twice for a block.
//!
//! NEON takes two registers apart (`uzp`) as it puts them together (`zip`). So the filter is its inverse backwards:
//! log2 S steps in both directions.
//!
//! Permutations are the limit: S · log2 S for 16 elements of S bytes, beside S loads and S stores of 16 bytes. With the
//! loop, elements of 2, 4, 8 and 16 bytes take 0.66, 1.6, 3.3 and 7.4 instructions each where they are unshuffled, and
//! 0.44, 0.75, 1.7 and 5.4 where they are shuffled. The compiler's code for the scalar loops takes 5.1 to 58 and 4.3 to
//! 35. Only core's loop that unshuffles elements of 2 bytes is shorter (0.31). It is taken unless planes lie apart.
//!
//! Left out: loads and stores that interleave (`ld4`, `st4`) are one instruction, but processors split them into such
//! permutations themselves.

use std::arch::aarch64::{uint8x16_t, vdupq_n_u8, vuzp1q_u8, vuzp2q_u8, vzip1q_u8, vzip2q_u8};
use std::mem::MaybeUninit;

use super::BLOCK;
use crate::kernels::neon::{load, store};

/// Elements that are moved together.
const LEN: usize = 16;

/// Unshuffles blocks as far as all planes and `out` reach; returns the number of blocks.
#[target_feature(enable = "neon")]
pub(super) fn unshuffle<const SIZE: usize>(planes: [&[u8]; SIZE], out: &mut [[[u8; SIZE]; BLOCK]]) -> usize {
    let planes = planes.map(|plane| plane.as_chunks::<BLOCK>().0);
    let count = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(out.len());
    // All of one length, which the compiler sees: it tests none of them in the loop.
    let mut cut: [&[[u8; BLOCK]]; SIZE] = [&[]; SIZE];
    for (cut, plane) in cut.iter_mut().zip(planes) {
        let Some(blocks) = plane.get(..count) else { return 0 };
        *cut = blocks;
    }
    for (i, out) in out.iter_mut().enumerate().take(count) {
        let (halves, _) = out.as_chunks_mut::<LEN>();
        for (half, out) in halves.iter_mut().enumerate() {
            let mut rows = [vdupq_n_u8(0); SIZE];
            for (row, plane) in rows.iter_mut().zip(&cut) {
                if let Some(bytes) = plane.get(i).and_then(|bytes| bytes.as_chunks::<LEN>().0.get(half)) {
                    *row = load(bytes);
                }
            }
            for _ in 0..SIZE.ilog2() {
                rows = together(rows);
            }
            let (slots, _) = out.as_flattened_mut().as_chunks_mut::<LEN>();
            for (slots, row) in slots.iter_mut().zip(rows) {
                store(row, slots);
            }
        }
    }
    count
}

/// Shuffles blocks as far as `data` and all planes reach; returns the number of blocks.
#[target_feature(enable = "neon")]
pub(super) fn shuffle<const SIZE: usize>(
    data: &[[[u8; SIZE]; BLOCK]],
    planes: [&mut [MaybeUninit<u8>]; SIZE],
) -> usize {
    let planes = planes.map(|plane| plane.as_chunks_mut::<BLOCK>().0);
    let count = planes.iter().map(|plane| plane.len()).min().unwrap_or(0).min(data.len());
    let mut cut: [&mut [[MaybeUninit<u8>; BLOCK]]; SIZE] = [(); SIZE].map(|()| Default::default());
    for (cut, plane) in cut.iter_mut().zip(planes) {
        let Some(blocks) = plane.get_mut(..count) else { return 0 };
        *cut = blocks;
    }
    for (i, block) in data.iter().enumerate().take(count) {
        let (halves, _) = block.as_chunks::<LEN>();
        for (half, elements) in halves.iter().enumerate() {
            let (parts, _) = elements.as_flattened().as_chunks::<LEN>();
            let mut rows = [vdupq_n_u8(0); SIZE];
            for (row, part) in rows.iter_mut().zip(parts) {
                *row = load(part);
            }
            for _ in 0..SIZE.ilog2() {
                rows = apart(rows);
            }
            for (row, plane) in rows.into_iter().zip(&mut cut) {
                if let Some(slots) = plane.get_mut(i).and_then(|bytes| bytes.as_chunks_mut::<LEN>().0.get_mut(half)) {
                    store(row, slots);
                }
            }
        }
    }
    count
}

/// The step of the module's head: rows 2i and 2i + 1 become the bytes of row i and of row i + `SIZE` / 2, in turn.
#[inline]
#[target_feature(enable = "neon")]
fn together<const SIZE: usize>(rows: [uint8x16_t; SIZE]) -> [uint8x16_t; SIZE] {
    let mut turned = rows;
    let (first, second) = rows.split_at(SIZE / 2);
    let (pairs, _) = turned.as_chunks_mut::<2>();
    for ((pair, first), second) in pairs.iter_mut().zip(first).zip(second) {
        *pair = [vzip1q_u8(*first, *second), vzip2q_u8(*first, *second)];
    }
    turned
}

/// The inverse of [`together`].
#[inline]
#[target_feature(enable = "neon")]
fn apart<const SIZE: usize>(rows: [uint8x16_t; SIZE]) -> [uint8x16_t; SIZE] {
    let mut turned = rows;
    let (first, second) = turned.split_at_mut(SIZE / 2);
    let (pairs, _) = rows.as_chunks::<2>();
    for (([even, odd], first), second) in pairs.iter().zip(first).zip(second) {
        (*first, *second) = (vuzp1q_u8(*even, *odd), vuzp2q_u8(*even, *odd));
    }
    turned
}
