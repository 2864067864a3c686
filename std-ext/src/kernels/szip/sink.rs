//! What becomes of samples.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_pd, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_castsi256_si128,
    _mm256_cvtepu32_epi64, _mm256_extracti128_si256, _mm256_mul_pd, _mm256_or_si256, _mm256_set1_epi32, _mm256_set1_pd,
    _mm256_shuffle_epi8, _mm256_sub_epi32, _mm256_sub_pd, _mm512_add_pd, _mm512_and_si512, _mm512_castsi512_si256,
    _mm512_cvtepu32_pd, _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_mul_pd,
    _mm512_permutexvar_epi8, _mm512_set1_epi32, _mm512_set1_pd, _mm512_sub_epi32,
};

use tgm_core::descriptor::ByteOrder;
use tgm_core::szip::{Formula, Params};

use crate::kernels::packing::store::Store;

/// Takes samples, moved up by [`Params::bias`], and stores them.
pub(super) trait Sink {
    /// What holds one sample.
    type Slot: Copy;

    /// What is to be stored for a sample, which is not moved up.
    fn one(&self, sample: u32) -> Self::Slot;

    /// Stores the first eight or all of sixteen samples, as many as there are slots.
    ///
    /// # Safety
    /// The processor has AVX-512 F, BW, DQ and VBMI.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    unsafe fn sixteen(&self, samples: __m512i, slots: &mut [Self::Slot]);

    /// Stores eight samples.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    unsafe fn eight(&self, samples: __m256i, slots: &mut [Self::Slot; 8]);
}

/// The lower bytes of each sample.
pub(super) struct Containers<const SIZE: usize> {
    bias: u32,
    order: ByteOrder,
    /// Where the bytes of 16 containers come from, in 16 samples.
    bytes: [u8; 64],
}

impl<const SIZE: usize> Containers<SIZE> {
    pub(super) fn new(params: &Params, order: ByteOrder) -> Self {
        let mut bytes = [0; 64];
        let sources = (0_u8..64).step_by(4).flat_map(|sample| {
            (0..SIZE).map(move |byte| match order {
                ByteOrder::Big => sample + u8::try_from(SIZE - 1 - byte).unwrap_or(0),
                ByteOrder::Little => sample + u8::try_from(byte).unwrap_or(0),
            })
        });
        bytes.iter_mut().zip(sources).for_each(|(slot, source)| *slot = source);
        Self { bias: params.bias(), order, bytes }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has, and stores to where slices are")]
impl<const SIZE: usize> Sink for Containers<SIZE> {
    type Slot = [u8; SIZE];

    #[inline]
    fn one(&self, sample: u32) -> [u8; SIZE] {
        let bytes = match self.order {
            ByteOrder::Big => sample.to_be_bytes().last_chunk().copied(),
            ByteOrder::Little => sample.to_le_bytes().first_chunk().copied(),
        };
        bytes.unwrap_or([0; SIZE])
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    unsafe fn sixteen(&self, samples: __m512i, slots: &mut [[u8; SIZE]]) {
        let samples = _mm512_sub_epi32(samples, _mm512_set1_epi32(self.bias.cast_signed()));
        let out = slots.as_flattened_mut();
        let excess = 64_usize.saturating_sub(out.len());
        let mask = if excess == 64 { 0 } else { u64::MAX >> excess };
        // SAFETY: the array has 64 bytes; bytes outside the mask are not touched, and `out` has those in it.
        unsafe {
            let bytes = _mm512_loadu_si512(self.bytes.as_ptr().cast());
            _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), mask, _mm512_permutexvar_epi8(bytes, samples));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn eight(&self, samples: __m256i, slots: &mut [[u8; SIZE]; 8]) {
        let samples = _mm256_sub_epi32(samples, _mm256_set1_epi32(self.bias.cast_signed()));
        // SAFETY: the array has more than 16 bytes. Of its first 16 those that four containers need are of their four
        // samples.
        let bytes = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(self.bytes.as_ptr().cast())) };
        let packed = _mm256_shuffle_epi8(samples, bytes);
        let mut halves = [[0_u8; 16]; 2];
        let [low, high] = &mut halves;
        store_half(_mm256_castsi256_si128(packed), low);
        store_half(_mm256_extracti128_si256::<1>(packed), high);
        let (fours, _) = slots.as_chunks_mut::<4>();
        for (four, half) in fours.iter_mut().zip(halves) {
            let four = four.as_flattened_mut();
            four.copy_from_slice(half.get(..four.len()).unwrap_or(&half));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn store_half(half: __m128i, slots: &mut [u8; 16]) {
    #[allow(unsafe_code, reason = "stores to where a reference points")]
    // SAFETY: there are 16 bytes.
    unsafe {
        _mm_storeu_si128(slots.as_mut_ptr().cast(), half);
    }
}

/// The values of `simple_packing`.
pub(super) struct Packed<S: Store> {
    bias: u32,
    max: u32,
    formula: Formula,
    store: fn(f64) -> S::Slot,
}

impl<S: Store> Packed<S> {
    pub(super) fn new(params: &Params, formula: Formula, store: fn(f64) -> S::Slot) -> Self {
        Self { bias: params.bias(), max: params.max(), formula, store }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl<S: Store<Slot: Copy>> Sink for Packed<S> {
    type Slot = S::Slot;

    #[inline]
    fn one(&self, sample: u32) -> S::Slot {
        (self.store)(self.formula.value(sample & self.max))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    unsafe fn sixteen(&self, samples: __m512i, slots: &mut [S::Slot]) {
        let samples = _mm512_sub_epi32(samples, _mm512_set1_epi32(self.bias.cast_signed()));
        let samples = _mm512_and_si512(samples, _mm512_set1_epi32(self.max.cast_signed()));
        let (reference, scale) = (_mm512_set1_pd(self.formula.reference), _mm512_set1_pd(self.formula.scale));
        let low = _mm512_cvtepu32_pd(_mm512_castsi512_si256(samples));
        let high = _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64::<1>(samples));
        let (eights, _) = slots.as_chunks_mut();
        for (slots, q) in eights.iter_mut().zip([low, high]) {
            // SAFETY: AVX-512 is the caller's promise.
            unsafe { S::eight(_mm512_add_pd(reference, _mm512_mul_pd(scale, q)), slots) };
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn eight(&self, samples: __m256i, slots: &mut [S::Slot; 8]) {
        let samples = _mm256_sub_epi32(samples, _mm256_set1_epi32(self.bias.cast_signed()));
        let samples = _mm256_and_si256(samples, _mm256_set1_epi32(self.max.cast_signed()));
        let (reference, scale) = (_mm256_set1_pd(self.formula.reference), _mm256_set1_pd(self.formula.scale));
        // Put where the fraction of 2^52 is, from which 2^52 is then subtracted.
        let two_to_52 = _mm256_set1_pd(4_503_599_627_370_496.0);
        let halves = [_mm256_castsi256_si128(samples), _mm256_extracti128_si256::<1>(samples)];
        let (fours, _) = slots.as_chunks_mut();
        for (slots, half) in fours.iter_mut().zip(halves) {
            let above = _mm256_or_si256(_mm256_cvtepu32_epi64(half), _mm256_castpd_si256(two_to_52));
            let q = _mm256_sub_pd(_mm256_castsi256_pd(above), two_to_52);
            // SAFETY: AVX2 is the caller's promise.
            unsafe { S::four(_mm256_add_pd(reference, _mm256_mul_pd(scale, q)), slots) };
        }
    }
}
