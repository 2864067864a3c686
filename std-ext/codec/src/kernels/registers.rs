//! Loads and stores of whole registers, and the permutations that several kernels share.
//!
//! Each function takes a reference to a value that is exactly as long as the register, or a slice whose length becomes
//! a mask. So the kernels need no pointers, and the unsafe blocks of all loads and stores are in this file.

#![allow(unsafe_code, reason = "vector loads and stores take pointers; each one is made of a reference here")]

use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_setr_epi8, _mm_storeu_si128, _mm256_broadcastsi128_si256,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
    _mm512_maskz_loadu_epi8, _mm512_storeu_si512,
};

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Loads a value of 16 bytes.
#[inline]
pub(super) fn load_128<T: IntoBytes + Immutable>(value: &T) -> __m128i {
    const { assert!(size_of::<T>() == 16) };
    // SAFETY: the reference is to 16 initialised bytes. SSE2 is part of the architecture.
    unsafe { _mm_loadu_si128((&raw const *value).cast()) }
}

/// Loads a value of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_256<T: IntoBytes + Immutable>(value: &T) -> __m256i {
    const { assert!(size_of::<T>() == 32) };
    // SAFETY: the reference is to 32 initialised bytes.
    unsafe { _mm256_loadu_si256((&raw const *value).cast()) }
}

/// Loads a value of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_512<T: IntoBytes + Immutable>(value: &T) -> __m512i {
    const { assert!(size_of::<T>() == 64) };
    // SAFETY: the reference is to 64 initialised bytes.
    unsafe { _mm512_loadu_si512((&raw const *value).cast()) }
}

/// Loads up to 64 bytes from the front of a slice. The rest of the register is zero, and nothing after the slice is
/// read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn load_front(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask has no more bits than the slice has bytes; bytes outside the mask are not read.
    unsafe { _mm512_maskz_loadu_epi8(front_mask(bytes.len()), bytes.as_ptr().cast()) }
}

/// Stores a register to a value of 16 bytes.
#[inline]
pub(super) fn store_128<T: FromBytes>(register: __m128i, value: &mut T) {
    const { assert!(size_of::<T>() == 16) };
    // SAFETY: the reference is to 16 bytes, and any bytes are a value of this type. SSE2 is part of the architecture.
    unsafe { _mm_storeu_si128((&raw mut *value).cast(), register) }
}

/// Stores a register to a value of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_256<T: FromBytes>(register: __m256i, value: &mut T) {
    const { assert!(size_of::<T>() == 32) };
    // SAFETY: the reference is to 32 bytes, and any bytes are a value of this type.
    unsafe { _mm256_storeu_si256((&raw mut *value).cast(), register) }
}

/// Stores a register to a value of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store_512<T: FromBytes>(register: __m512i, value: &mut T) {
    const { assert!(size_of::<T>() == 64) };
    // SAFETY: the reference is to 64 bytes, and any bytes are a value of this type.
    unsafe { _mm512_storeu_si512((&raw mut *value).cast(), register) }
}

/// Stores the first bytes of a register: as many as the slice has, 64 at most.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn store_front(register: __m512i, bytes: &mut [u8]) {
    // SAFETY: the mask has no more bits than the slice has bytes; bytes outside the mask are not written.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), front_mask(bytes.len()), register) }
}

/// The mask of the first `len` bytes of a register, or of all 64.
#[inline]
const fn front_mask(len: usize) -> u64 {
    // A shift by 64 would overflow, so no bytes are a case of their own.
    let excess = 64_usize.saturating_sub(len);
    if excess == 64 { 0 } else { u64::MAX >> excess }
}

/// The permutation that reverses the bytes of each number of eight bytes, for 16 of them.
#[inline]
#[target_feature(enable = "sse2")]
fn reversed_128() -> __m128i {
    _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)
}

/// The permutation for `_mm256_shuffle_epi8` that reverses the bytes of each number of eight bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn reversed_256() -> __m256i {
    _mm256_broadcastsi128_si256(reversed_128())
}

/// The permutation for `_mm512_shuffle_epi8` that reverses the bytes of each number of eight bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn reversed_512() -> __m512i {
    _mm512_broadcast_i32x4(reversed_128())
}
