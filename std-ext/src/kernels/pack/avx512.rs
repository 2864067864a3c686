//! Eight values in eight lanes.

use std::arch::x86_64::{
    __m256i, __m512d, __m512i, _CMP_GE_OQ, _mm_setr_epi8, _mm256_mask_add_epi32, _mm256_set1_epi32,
    _mm512_broadcast_i32x4, _mm512_castsi256_si512, _mm512_castsi512_pd, _mm512_cmp_pd_mask, _mm512_cvtepu32_pd,
    _mm512_cvttpd_epu32, _mm512_fpclass_pd_mask, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
    _mm512_max_pd, _mm512_min_pd, _mm512_mul_pd, _mm512_permutexvar_epi8, _mm512_reduce_max_pd, _mm512_reduce_min_pd,
    _mm512_set1_pd, _mm512_setzero_pd, _mm512_shuffle_epi8, _mm512_storeu_si512, _mm512_sub_pd,
};

use tgm_core::descriptor::ByteOrder;

use super::{BLOCK, Extent, Fields, Source, join};

/// Registers worked on side by side.
const SIDE: usize = 4;
/// Quiet and signalling NaN, and the infinities.
const NOT_FINITE: i32 = 0x99;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn extent(source: Source<'_>) -> (Extent, usize) {
    let reversal = Reversal::new(source.order);
    let mut least = [_mm512_set1_pd(f64::INFINITY); SIDE];
    let mut greatest = [_mm512_set1_pd(f64::NEG_INFINITY); SIDE];
    let mut not_finite = 0;
    let (rows, _) = source.bytes.as_chunks::<{ 8 * SIDE }>();
    for row in rows {
        let (registers, _) = row.as_chunks::<8>();
        for ((values, least), greatest) in registers.iter().zip(&mut least).zip(&mut greatest) {
            let values = reversal.load(values);
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
    (extent, rows.len() * 8 * SIDE)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2")]
pub(super) fn pack(source: Source<'_>, fields: Fields, out: &mut [u8]) -> usize {
    let quantiser = Quantiser::new(source.order, fields);
    let block_len = BLOCK / 8 * fields.bits as usize;
    let (blocks, _) = source.bytes.as_chunks::<BLOCK>();
    let mut done = 0;
    // The lower bytes of each field, the most significant one first.
    let whole_bytes = fields.bits.is_multiple_of(8).then(|| lower_bytes(fields.bits as usize / 8));
    for (block, out) in blocks.iter().zip(out.chunks_exact_mut(block_len)) {
        let (sixteens, _) = block.as_chunks::<16>();
        if let Some(bytes) = whole_bytes {
            for (values, out) in sixteens.iter().zip(out.chunks_exact_mut(2 * fields.bits as usize)) {
                let packed = _mm512_permutexvar_epi8(bytes, quantiser.sixteen(values));
                let mask = u64::MAX >> (64 - out.len());
                #[allow(unsafe_code, reason = "a store to where a slice is")]
                // SAFETY: `out` has the bytes in the mask, and the others are not touched.
                unsafe {
                    _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), mask, packed);
                }
            }
        } else {
            let mut gathered = [0_u32; BLOCK];
            let (slots, _) = gathered.as_chunks_mut::<16>();
            for (values, slots) in sixteens.iter().zip(slots) {
                #[allow(unsafe_code, reason = "a store to where a reference points")]
                // SAFETY: there are 64 bytes.
                unsafe {
                    _mm512_storeu_si512(slots.as_mut_ptr().cast(), quantiser.sixteen(values));
                }
            }
            join(&gathered, fields.bits, out);
        }
        done += BLOCK;
    }
    done
}

#[target_feature(enable = "avx512f")]
fn lower_bytes(size: usize) -> __m512i {
    let mut bytes = [0_u8; 64];
    let sources = (0_usize..64).step_by(4).flat_map(|field| (0..size).map(move |byte| field + size - 1 - byte));
    bytes.iter_mut().zip(sources).for_each(|(slot, source)| *slot = u8::try_from(source).unwrap_or(0));
    load(&bytes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; 64]) -> __m512i {
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 64 bytes.
    unsafe {
        _mm512_loadu_si512(bytes.as_ptr().cast())
    }
}

/// How bytes become values.
#[derive(Clone, Copy)]
struct Reversal {
    bytes: __m512i,
    needed: bool,
}

impl Reversal {
    #[target_feature(enable = "avx512f")]
    fn new(order: ByteOrder) -> Self {
        let bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
        Self { bytes, needed: order == ByteOrder::Big }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn load(self, values: &[[u8; 8]; 8]) -> __m512d {
        let values = match values.as_flattened().first_chunk() {
            Some(bytes) => load(bytes),
            None => self.bytes,
        };
        _mm512_castsi512_pd(if self.needed { _mm512_shuffle_epi8(values, self.bytes) } else { values })
    }
}

/// How values become fields.
struct Quantiser {
    reversal: Reversal,
    reference: __m512d,
    factor: __m512d,
    most: __m512d,
}

impl Quantiser {
    #[target_feature(enable = "avx512f")]
    fn new(order: ByteOrder, fields: Fields) -> Self {
        Self {
            reversal: Reversal::new(order),
            reference: _mm512_set1_pd(fields.reference),
            factor: _mm512_set1_pd(fields.factor),
            most: _mm512_set1_pd(f64::from(u32::MAX >> (32 - fields.bits))),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn sixteen(&self, values: &[[u8; 8]; 16]) -> __m512i {
        let ([low, high], _) = values.as_chunks::<8>() else { return self.reversal.bytes };
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(self.eight(low)), self.eight(high))
    }

    /// NaN, which finite values make of a factor that is none, becomes 0: of two operands it is the second that counts
    /// then.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn eight(&self, values: &[[u8; 8]; 8]) -> __m256i {
        let scaled = _mm512_mul_pd(_mm512_sub_pd(self.reversal.load(values), self.reference), self.factor);
        let scaled = _mm512_min_pd(_mm512_max_pd(scaled, _mm512_setzero_pd()), self.most);
        let whole = _mm512_cvttpd_epu32(scaled);
        let fraction = _mm512_sub_pd(scaled, _mm512_cvtepu32_pd(whole));
        let up = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(fraction, _mm512_set1_pd(0.5));
        _mm256_mask_add_epi32(whole, up, whole, _mm256_set1_epi32(1))
    }
}
