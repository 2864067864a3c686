//! How values leave the registers.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256d, __m512d, _mm_setr_epi8, _mm_storeu_ps, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cvtpd_ps,
    _mm256_setr_epi8, _mm256_shuffle_epi8, _mm256_storeu_pd, _mm256_storeu_ps, _mm512_broadcast_i32x4,
    _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_cvtpd_ps, _mm512_shuffle_epi8, _mm512_storeu_pd,
};

use crate::kernels::stream::Slot;

/// A form of values in memory.
pub trait Store {
    /// What holds one value.
    type Slot: Slot;

    /// Stores four values.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    unsafe fn four(values: __m256d, slots: &mut [Self::Slot; 4]);

    /// Stores eight values.
    ///
    /// # Safety
    /// The processor has AVX-512 F and BW.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    unsafe fn eight(values: __m512d, slots: &mut [Self::Slot; 8]);
}

/// A type of numbers that has a form in memory.
pub trait HasStore: Copy {
    /// The form.
    type Store: Store<Slot = Self>;

    /// The nearest number of this type.
    fn round(value: f64) -> Self;
}

impl HasStore for f64 {
    type Store = Doubles;

    fn round(value: f64) -> Self {
        value
    }
}

impl HasStore for f32 {
    type Store = Singles;

    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn round(value: f64) -> Self {
        value as Self
    }
}

/// `f64`.
#[derive(Debug)]
pub struct Doubles;

/// `f32`: each value rounded.
#[derive(Debug)]
pub struct Singles;

/// The bytes of `f64`, the most significant one first.
#[derive(Debug)]
pub(in crate::kernels) struct BigEndian;

/// The bytes of `f64`, the least significant one first.
#[derive(Debug)]
pub(in crate::kernels) struct LittleEndian;

#[allow(unsafe_code, reason = "stores to where a pointer made of a slice says")]
impl Store for Doubles {
    type Slot = f64;

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [f64; 4]) {
        // SAFETY: there are 32 bytes.
        unsafe { _mm256_storeu_pd(slots.as_mut_ptr(), values) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [f64; 8]) {
        // SAFETY: there are 64 bytes.
        unsafe { _mm512_storeu_pd(slots.as_mut_ptr(), values) }
    }
}

#[allow(unsafe_code, reason = "stores to where a pointer made of a slice says")]
impl Store for Singles {
    type Slot = f32;

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [f32; 4]) {
        // SAFETY: there are 16 bytes.
        unsafe { _mm_storeu_ps(slots.as_mut_ptr(), _mm256_cvtpd_ps(values)) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [f32; 8]) {
        // SAFETY: there are 32 bytes.
        unsafe { _mm256_storeu_ps(slots.as_mut_ptr(), _mm512_cvtpd_ps(values)) }
    }
}

#[allow(unsafe_code, reason = "stores to where a pointer made of a slice says")]
impl Store for LittleEndian {
    type Slot = [u8; 8];

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [[u8; 8]; 4]) {
        // SAFETY: there are 32 bytes.
        unsafe { _mm256_storeu_pd(slots.as_mut_ptr().cast(), values) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [[u8; 8]; 8]) {
        // SAFETY: there are 64 bytes.
        unsafe { _mm512_storeu_pd(slots.as_mut_ptr().cast(), values) }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl Store for BigEndian {
    type Slot = [u8; 8];

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [[u8; 8]; 4]) {
        #[rustfmt::skip]
        let reversed = _mm256_setr_epi8(
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
        );
        let values = _mm256_shuffle_epi8(_mm256_castpd_si256(values), reversed);
        // SAFETY: AVX2 is the caller's promise.
        unsafe { LittleEndian::four(_mm256_castsi256_pd(values), slots) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [[u8; 8]; 8]) {
        let reversed = _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
        let values = _mm512_shuffle_epi8(_mm512_castpd_si512(values), _mm512_broadcast_i32x4(reversed));
        // SAFETY: AVX-512 is the caller's promise.
        unsafe { LittleEndian::eight(_mm512_castsi512_pd(values), slots) }
    }
}
