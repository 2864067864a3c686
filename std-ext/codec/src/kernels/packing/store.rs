//! How values leave the registers: rounded to `f32` or not, in either byte order.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use std::arch::aarch64::{
    float64x2_t, vcvt_f32_f64, vcvt_high_f32_f64, vreinterpretq_u8_f32, vreinterpretq_u8_f64, vrev64q_u8,
};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256d, __m512d, _mm_castps_si128, _mm256_castpd_si256, _mm256_castps_si256, _mm256_cvtpd_ps, _mm256_shuffle_epi8,
    _mm512_castpd_si512, _mm512_cvtpd_ps, _mm512_shuffle_epi8,
};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use crate::kernels::neon;
#[cfg(target_arch = "x86_64")]
use crate::kernels::registers::{reversed_256, reversed_512, store_128, store_256, store_512};
use crate::kernels::uncached::Slot;

/// A form of values in memory.
pub trait Store {
    /// What holds one value.
    type Slot: Slot;

    /// What is stored for one value.
    fn one(value: f64) -> Self::Slot;

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

    /// Stores four pairs of values.
    ///
    /// # Safety
    /// The processor has NEON.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    unsafe fn pairs(values: [float64x2_t; 4], slots: &mut [Self::Slot; 8]);
}

/// A type of numbers that has a form in memory.
pub trait HasStore: Copy {
    /// The form.
    type Store: Store<Slot = Self>;
}

impl HasStore for f64 {
    type Store = Doubles;
}

impl HasStore for f32 {
    type Store = Singles;
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

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl Store for Doubles {
    type Slot = f64;

    #[inline]
    fn one(value: f64) -> f64 {
        value
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [f64; 4]) {
        store_256(_mm256_castpd_si256(values), slots);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [f64; 8]) {
        store_512(_mm512_castpd_si512(values), slots);
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn pairs(values: [float64x2_t; 4], slots: &mut [f64; 8]) {
        for (slots, pair) in slots.as_chunks_mut::<2>().0.iter_mut().zip(values) {
            neon::store(vreinterpretq_u8_f64(pair), slots);
        }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl Store for Singles {
    type Slot = f32;

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn one(value: f64) -> f32 {
        value as f32
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [f32; 4]) {
        store_128(_mm_castps_si128(_mm256_cvtpd_ps(values)), slots);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [f32; 8]) {
        store_256(_mm256_castps_si256(_mm512_cvtpd_ps(values)), slots);
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn pairs(values: [float64x2_t; 4], slots: &mut [f32; 8]) {
        let (twos, _) = values.as_chunks::<2>();
        for (slots, [low, high]) in slots.as_chunks_mut::<4>().0.iter_mut().zip(twos) {
            neon::store(vreinterpretq_u8_f32(vcvt_high_f32_f64(vcvt_f32_f64(*low), *high)), slots);
        }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl Store for LittleEndian {
    type Slot = [u8; 8];

    #[inline]
    fn one(value: f64) -> [u8; 8] {
        value.to_le_bytes()
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [[u8; 8]; 4]) {
        store_256(_mm256_castpd_si256(values), slots);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [[u8; 8]; 8]) {
        store_512(_mm512_castpd_si512(values), slots);
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn pairs(values: [float64x2_t; 4], slots: &mut [[u8; 8]; 8]) {
        for (slots, pair) in slots.as_chunks_mut::<2>().0.iter_mut().zip(values) {
            neon::store(vreinterpretq_u8_f64(pair), slots);
        }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl Store for BigEndian {
    type Slot = [u8; 8];

    #[inline]
    fn one(value: f64) -> [u8; 8] {
        value.to_be_bytes()
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn four(values: __m256d, slots: &mut [[u8; 8]; 4]) {
        store_256(_mm256_shuffle_epi8(_mm256_castpd_si256(values), reversed_256()), slots);
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn eight(values: __m512d, slots: &mut [[u8; 8]; 8]) {
        store_512(_mm512_shuffle_epi8(_mm512_castpd_si512(values), reversed_512()), slots);
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn pairs(values: [float64x2_t; 4], slots: &mut [[u8; 8]; 8]) {
        for (slots, pair) in slots.as_chunks_mut::<2>().0.iter_mut().zip(values) {
            neon::store(vrev64q_u8(vreinterpretq_u8_f64(pair)), slots);
        }
    }
}
