//! Four values in four lanes.

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _CMP_GE_OQ, _mm_add_epi32, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128,
    _mm256_and_pd, _mm256_and_si256, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_cmpeq_epi64,
    _mm256_cvtepi32_pd, _mm256_cvttpd_epi32, _mm256_loadu_si256, _mm256_max_pd, _mm256_min_pd, _mm256_mul_pd,
    _mm256_or_si256, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setr_epi8, _mm256_setzero_pd, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_storeu_pd, _mm256_sub_pd, _mm256_testz_si256,
};

use tgm_core::descriptor::ByteOrder;

use super::{BLOCK, Extent, Fields, Source, join};

/// Registers worked on side by side.
const SIDE: usize = 4;

#[target_feature(enable = "avx2")]
pub(super) fn extent(source: Source<'_>) -> (Extent, usize) {
    let reversal = Reversal::new(source.order);
    let mut least = [_mm256_set1_pd(f64::INFINITY); SIDE];
    let mut greatest = [_mm256_set1_pd(f64::NEG_INFINITY); SIDE];
    let exponent = _mm256_set1_epi64x(f64::INFINITY.to_bits().cast_signed());
    let mut not_finite = _mm256_setzero_si256();
    let (rows, _) = source.bytes.as_chunks::<{ 4 * SIDE }>();
    for row in rows {
        let (registers, _) = row.as_chunks::<4>();
        for ((values, least), greatest) in registers.iter().zip(&mut least).zip(&mut greatest) {
            let values = reversal.load(values);
            *least = _mm256_min_pd(values, *least);
            *greatest = _mm256_max_pd(values, *greatest);
            let found = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_castpd_si256(values), exponent), exponent);
            not_finite = _mm256_or_si256(not_finite, found);
        }
    }
    let extent = Extent {
        least: least.into_iter().flat_map(|lanes| to_array(lanes)).fold(f64::INFINITY, f64::min),
        greatest: greatest.into_iter().flat_map(|lanes| to_array(lanes)).fold(f64::NEG_INFINITY, f64::max),
        finite: _mm256_testz_si256(not_finite, not_finite) == 1,
    };
    (extent, rows.len() * 4 * SIDE)
}

#[target_feature(enable = "avx2")]
fn to_array(lanes: __m256d) -> [f64; 4] {
    let mut array = [0.0; 4];
    #[allow(unsafe_code, reason = "a store to where a reference points")]
    // SAFETY: there are 32 bytes.
    unsafe {
        _mm256_storeu_pd(array.as_mut_ptr(), lanes);
    }
    array
}

#[target_feature(enable = "avx2,bmi2")]
pub(super) fn pack(source: Source<'_>, fields: Fields, out: &mut [u8]) -> usize {
    let quantiser = Quantiser::new(source.order, fields);
    let block_len = BLOCK / 8 * fields.bits as usize;
    let (blocks, _) = source.bytes.as_chunks::<BLOCK>();
    let mut done = 0;
    for (block, out) in blocks.iter().zip(out.chunks_exact_mut(block_len)) {
        let (fours, _) = block.as_chunks::<4>();
        match fields.bits {
            8 => whole_bytes::<1>(fours, &quantiser, out),
            16 => whole_bytes::<2>(fours, &quantiser, out),
            24 => whole_bytes::<3>(fours, &quantiser, out),
            bits => {
                let mut gathered = [0_u32; BLOCK];
                let (slots, _) = gathered.as_chunks_mut::<4>();
                for (values, slots) in fours.iter().zip(slots) {
                    #[allow(unsafe_code, reason = "a store to where a reference points")]
                    // SAFETY: there are 16 bytes.
                    unsafe {
                        _mm_storeu_si128(slots.as_mut_ptr().cast(), quantiser.four(values));
                    }
                }
                join(&gathered, bits, out);
            }
        }
        done += BLOCK;
    }
    done
}

/// Fields of `SIZE` bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn whole_bytes<const SIZE: usize>(fours: &[[[u8; 8]; 4]], quantiser: &Quantiser, out: &mut [u8]) {
    let mut bytes = [0x80_u8; 16];
    let sources = (0_usize..16).step_by(4).flat_map(|field| (0..SIZE).map(move |byte| field + SIZE - 1 - byte));
    bytes.iter_mut().zip(sources).for_each(|(slot, source)| *slot = u8::try_from(source).unwrap_or(0));
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 16 bytes.
    let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    let (slots, _) = out.as_chunks_mut::<SIZE>();
    let (slots, _) = slots.as_chunks_mut::<4>();
    for (values, slots) in fours.iter().zip(slots) {
        let mut packed = [0_u8; 16];
        #[allow(unsafe_code, reason = "a store to where a reference points")]
        // SAFETY: there are 16 bytes.
        unsafe {
            _mm_storeu_si128(packed.as_mut_ptr().cast(), _mm_shuffle_epi8(quantiser.four(values), bytes));
        }
        let slots = slots.as_flattened_mut();
        slots.copy_from_slice(packed.get(..slots.len()).unwrap_or(&packed));
    }
}

/// How bytes become values.
#[derive(Clone, Copy)]
struct Reversal {
    bytes: __m256i,
    needed: bool,
}

impl Reversal {
    #[target_feature(enable = "avx2")]
    fn new(order: ByteOrder) -> Self {
        #[rustfmt::skip]
        let bytes = _mm256_setr_epi8(
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
            7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8,
        );
        Self { bytes, needed: order == ByteOrder::Big }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(self, values: &[[u8; 8]; 4]) -> __m256d {
        #[allow(unsafe_code, reason = "a load from where a reference points")]
        // SAFETY: there are 32 bytes.
        let values = unsafe { _mm256_loadu_si256(values.as_ptr().cast()) };
        _mm256_castsi256_pd(if self.needed { _mm256_shuffle_epi8(values, self.bytes) } else { values })
    }
}

/// How values become fields.
struct Quantiser {
    reversal: Reversal,
    reference: __m256d,
    factor: __m256d,
    most: __m256d,
}

impl Quantiser {
    #[target_feature(enable = "avx2")]
    fn new(order: ByteOrder, fields: Fields) -> Self {
        Self {
            reversal: Reversal::new(order),
            reference: _mm256_set1_pd(fields.reference),
            factor: _mm256_set1_pd(fields.factor),
            most: _mm256_set1_pd(f64::from(u32::MAX >> (32 - fields.bits))),
        }
    }

    /// NaN, which finite values make of a factor that is none, becomes 0: of two operands it is the second that counts
    /// then.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn four(&self, values: &[[u8; 8]; 4]) -> __m128i {
        let scaled = _mm256_mul_pd(_mm256_sub_pd(self.reversal.load(values), self.reference), self.factor);
        let scaled = _mm256_min_pd(_mm256_max_pd(scaled, _mm256_setzero_pd()), self.most);
        let whole = _mm256_cvttpd_epi32(scaled);
        let fraction = _mm256_sub_pd(scaled, _mm256_cvtepi32_pd(whole));
        let half = _mm256_set1_pd(0.5);
        let up = _mm256_and_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(fraction, half), _mm256_set1_pd(1.0));
        _mm_add_epi32(whole, _mm256_cvttpd_epi32(up))
    }
}
