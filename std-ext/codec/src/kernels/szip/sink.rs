//! What becomes of samples: containers of some bytes, or values of `simple_packing`.

use std::marker::PhantomData;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use std::arch::aarch64::{
    float64x2_t, uint32x4_t, vaddq_f64, vandq_u32, vcvtq_f64_u64, vdupq_n_f64, vdupq_n_u32, vget_low_u32,
    vmovl_high_u32, vmovl_u32, vmulq_f64, vqtbl1q_u8, vreinterpretq_u8_u32, vsubq_u32,
};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_cvtepu32_epi64,
    _mm256_extracti128_si256, _mm256_set1_epi32, _mm256_shuffle_epi8, _mm256_sub_epi32, _mm512_and_si512,
    _mm512_castsi512_si256, _mm512_cvtepu32_pd, _mm512_extracti64x4_epi64, _mm512_permutexvar_epi8, _mm512_set1_epi32,
    _mm512_sub_epi32,
};

use tgm_core::descriptor::ByteOrder;
use tgm_core::szip::{Formula, Params};

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use crate::kernels::neon;
#[cfg(target_arch = "x86_64")]
use crate::kernels::packing::lanes::{eight_values, four_to_doubles, four_values};
use crate::kernels::packing::store::Store;
#[cfg(target_arch = "x86_64")]
use crate::kernels::registers::{load_128, load_512, store_128, store_front};

/// Takes samples and stores them.
///
/// In registers samples are moved up by [`Params::bias`], as the predictor has them, so that the smallest is 0.
pub(super) trait Sink {
    /// What holds one sample.
    type Slot: Copy;

    /// What is stored for one sample, which is not moved up.
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

    /// Stores eight samples.
    ///
    /// # Safety
    /// The processor has NEON.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    unsafe fn two_fours(&self, samples: [uint32x4_t; 2], slots: &mut [Self::Slot; 8]);
}

/// The lower bytes of each sample.
pub(super) struct Containers<const SIZE: usize> {
    bias: u32,
    order: ByteOrder,
    /// The place of each byte of 16 containers among the bytes of 16 samples. Its first 16 places belong to four
    /// containers in four samples.
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

#[allow(unsafe_code, reason = "instructions that not every processor has")]
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
        store_front(_mm512_permutexvar_epi8(load_512(&self.bytes), samples), slots.as_flattened_mut());
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn eight(&self, samples: __m256i, slots: &mut [[u8; SIZE]; 8]) {
        let samples = _mm256_sub_epi32(samples, _mm256_set1_epi32(self.bias.cast_signed()));
        let four: &[u8; 16] = self.bytes.first_chunk().unwrap_or(&[0; 16]);
        let packed = _mm256_shuffle_epi8(samples, _mm256_broadcastsi128_si256(load_128(four)));
        let mut halves = [[0_u8; 16]; 2];
        let [low, high] = &mut halves;
        store_128(_mm256_castsi256_si128(packed), low);
        store_128(_mm256_extracti128_si256::<1>(packed), high);
        let (fours, _) = slots.as_chunks_mut::<4>();
        for (four, half) in fours.iter_mut().zip(halves) {
            let four = four.as_flattened_mut();
            four.copy_from_slice(half.get(..four.len()).unwrap_or(&half));
        }
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn two_fours(&self, samples: [uint32x4_t; 2], slots: &mut [[u8; SIZE]; 8]) {
        let bytes: &[u8; 16] = self.bytes.first_chunk().unwrap_or(&[0; 16]);
        let bytes = neon::load(bytes);
        let (fours, _) = slots.as_chunks_mut::<4>();
        for (four, samples) in fours.iter_mut().zip(samples) {
            let samples = vsubq_u32(samples, vdupq_n_u32(self.bias));
            let mut packed = [0_u8; 16];
            neon::store(vqtbl1q_u8(vreinterpretq_u8_u32(samples), bytes), &mut packed);
            let four = four.as_flattened_mut();
            four.copy_from_slice(packed.get(..four.len()).unwrap_or(&packed));
        }
    }
}

/// The values of `simple_packing`.
pub(super) struct Packed<S: Store> {
    bias: u32,
    max: u32,
    formula: Formula,
    store: PhantomData<S>,
}

impl<S: Store> Packed<S> {
    pub(super) fn new(params: &Params, formula: Formula) -> Self {
        Self { bias: params.bias(), max: params.max(), formula, store: PhantomData }
    }
}

#[allow(unsafe_code, reason = "instructions that not every processor has")]
impl<S: Store<Slot: Copy>> Sink for Packed<S> {
    type Slot = S::Slot;

    #[inline]
    fn one(&self, sample: u32) -> S::Slot {
        S::one(self.formula.value(sample & self.max))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    unsafe fn sixteen(&self, samples: __m512i, slots: &mut [S::Slot]) {
        let samples = _mm512_sub_epi32(samples, _mm512_set1_epi32(self.bias.cast_signed()));
        let samples = _mm512_and_si512(samples, _mm512_set1_epi32(self.max.cast_signed()));
        let low = _mm512_cvtepu32_pd(_mm512_castsi512_si256(samples));
        let high = _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64::<1>(samples));
        let (eights, _) = slots.as_chunks_mut();
        for (slots, q) in eights.iter_mut().zip([low, high]) {
            // SAFETY: AVX-512 is the caller's promise.
            unsafe { S::eight(eight_values(self.formula, q), slots) };
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn eight(&self, samples: __m256i, slots: &mut [S::Slot; 8]) {
        let samples = _mm256_sub_epi32(samples, _mm256_set1_epi32(self.bias.cast_signed()));
        let samples = _mm256_and_si256(samples, _mm256_set1_epi32(self.max.cast_signed()));
        let halves = [_mm256_castsi256_si128(samples), _mm256_extracti128_si256::<1>(samples)];
        let (fours, _) = slots.as_chunks_mut();
        for (slots, half) in fours.iter_mut().zip(halves) {
            let q = four_to_doubles(_mm256_cvtepu32_epi64(half));
            // SAFETY: AVX2 is the caller's promise.
            unsafe { S::four(four_values(self.formula, q), slots) };
        }
    }

    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn two_fours(&self, samples: [uint32x4_t; 2], slots: &mut [S::Slot; 8]) {
        let (reference, scale) = (vdupq_n_f64(self.formula.reference), vdupq_n_f64(self.formula.scale));
        let [low, high] = samples.map(|samples| {
            let samples = vsubq_u32(samples, vdupq_n_u32(self.bias));
            vandq_u32(samples, vdupq_n_u32(self.max))
        });
        let integers =
            [vmovl_u32(vget_low_u32(low)), vmovl_high_u32(low), vmovl_u32(vget_low_u32(high)), vmovl_high_u32(high)];
        // The product is rounded, then the sum, as in [`Formula::value`].
        let values: [float64x2_t; 4] = integers.map(|q| vaddq_f64(reference, vmulq_f64(scale, vcvtq_f64_u64(q))));
        // SAFETY: NEON is the caller's promise.
        unsafe { S::pairs(values, slots) };
    }
}
