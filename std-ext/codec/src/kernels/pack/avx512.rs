//! Packing by AVX-512: eight values in eight lanes.
//!
//! The limit is the number of instructions: 13 to 14 for eight values, of which 10 round and bound them. The extent takes 27 for 32
//! values, with four loads of 64 bytes: it waits for memory.

use std::arch::x86_64::{
    __m256i, __m512d, __m512i, _CMP_GE_OQ, _mm256_mask_add_epi32, _mm256_set1_epi32, _mm512_castsi256_si512,
    _mm512_castsi512_pd, _mm512_cmp_pd_mask, _mm512_cvtepu32_pd, _mm512_cvttpd_epu32, _mm512_fpclass_pd_mask,
    _mm512_inserti64x4, _mm512_max_pd, _mm512_min_pd, _mm512_mul_pd, _mm512_permutexvar_epi8, _mm512_reduce_max_pd,
    _mm512_reduce_min_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_shuffle_epi8, _mm512_sub_pd,
};

use tgm_core::descriptor::ByteOrder;

use super::{BLOCK, Extent, Quantisation, SIDE, ValueBytes, each_block, join, lower_bytes};
use crate::kernels::registers::{load_512, reversed_512, store_512, store_front};

/// The widest fields: numbers are converted to unsigned integers of 32 bits.
pub(super) const MAX_BITS: u32 = 32;
/// Values in a register.
const LANES: usize = 8;
/// The classes of numbers that `vfpclasspd` looks for: quiet NaN, positive and negative infinity, signalling NaN.
const NOT_FINITE: i32 = 1 | 1 << 3 | 1 << 4 | 1 << 7;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn extent(values: ValueBytes<'_>) -> (Extent, usize) {
    let bytes = Reversal::new(values.order);
    let mut least = [_mm512_set1_pd(f64::INFINITY); SIDE];
    let mut greatest = [_mm512_set1_pd(f64::NEG_INFINITY); SIDE];
    let mut not_finite = 0;
    let (rows, _) = values.bytes.as_chunks::<{ LANES * SIDE }>();
    for row in rows {
        let (registers, _) = row.as_chunks::<LANES>();
        for ((values, least), greatest) in registers.iter().zip(&mut least).zip(&mut greatest) {
            let values = bytes.load(values);
            *least = _mm512_min_pd(values, *least);
            *greatest = _mm512_max_pd(values, *greatest);
            not_finite |= _mm512_fpclass_pd_mask::<NOT_FINITE>(values);
        }
    }
    let extent = Extent {
        least: least.into_iter().map(|lanes| _mm512_reduce_min_pd(lanes)).fold(f64::INFINITY, f64::min),
        greatest: greatest.into_iter().map(|lanes| _mm512_reduce_max_pd(lanes)).fold(f64::NEG_INFINITY, f64::max),
        finite: not_finite == 0,
    };
    (extent, rows.len() * LANES * SIDE)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2")]
pub(super) fn pack(values: ValueBytes<'_>, quantisation: Quantisation, out: &mut [u8]) -> usize {
    let quantiser = Quantiser::new(values.order, quantisation);
    let bits = quantisation.bits;
    if bits.is_multiple_of(8) {
        let bytes = load_512(&lower_bytes::<64>(bits as usize / 8, 0));
        return each_block(values, bits, out, |block, out| {
            let (sixteens, _) = block.as_chunks::<{ 2 * LANES }>();
            for (values, out) in sixteens.iter().zip(out.chunks_exact_mut(2 * bits as usize)) {
                store_front(_mm512_permutexvar_epi8(bytes, quantiser.sixteen(values)), out);
            }
        });
    }
    each_block(values, bits, out, |block, out| {
        let mut fields = [0_u32; BLOCK];
        let ((values, _), (slots, _)) = (block.as_chunks::<{ 2 * LANES }>(), fields.as_chunks_mut::<{ 2 * LANES }>());
        for (values, slots) in values.iter().zip(slots) {
            store_512(quantiser.sixteen(values), slots);
        }
        join(&fields, bits, out);
    })
}

/// How bytes become values.
#[derive(Clone, Copy)]
struct Reversal {
    permutation: __m512i,
    is_reversed: bool,
}

impl Reversal {
    #[target_feature(enable = "avx512f")]
    fn new(order: ByteOrder) -> Self {
        Self { permutation: reversed_512(), is_reversed: order == ByteOrder::Big }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn load(self, values: &[[u8; 8]; LANES]) -> __m512d {
        let values = load_512(values);
        _mm512_castsi512_pd(if self.is_reversed { _mm512_shuffle_epi8(values, self.permutation) } else { values })
    }
}

/// How values become integers of 32 bits.
struct Quantiser {
    bytes: Reversal,
    reference: __m512d,
    factor: __m512d,
    most: __m512d,
}

impl Quantiser {
    #[target_feature(enable = "avx512f")]
    fn new(order: ByteOrder, quantisation: Quantisation) -> Self {
        Self {
            bytes: Reversal::new(order),
            reference: _mm512_set1_pd(quantisation.reference),
            factor: _mm512_set1_pd(quantisation.factor),
            most: _mm512_set1_pd(f64::from(u32::MAX >> (32 - quantisation.bits))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn sixteen(&self, values: &[[u8; 8]; 2 * LANES]) -> __m512i {
        let ([low, high], _) = values.as_chunks::<LANES>() else { return self.bytes.permutation };
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(self.eight(low)), self.eight(high))
    }

    /// Rounds halves up: the conversion drops the fraction, and 1 is added where the fraction is a half or more.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn eight(&self, values: &[[u8; 8]; LANES]) -> __m256i {
        let scaled = _mm512_mul_pd(_mm512_sub_pd(self.bytes.load(values), self.reference), self.factor);
        // A factor that is not finite makes NaN of finite values. `max` returns its second operand then: NaN becomes 0.
        let scaled = _mm512_min_pd(_mm512_max_pd(scaled, _mm512_setzero_pd()), self.most);
        let whole = _mm512_cvttpd_epu32(scaled);
        let fraction = _mm512_sub_pd(scaled, _mm512_cvtepu32_pd(whole));
        let up = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(fraction, _mm512_set1_pd(0.5));
        _mm256_mask_add_epi32(whole, up, whole, _mm256_set1_epi32(1))
    }
}
