//! Packing by AVX2: four values in the four lanes of a register.
//!
//! ```text
//! plainly:  for each value:  q = round((value − R) · factor), kept within 0 and 2^B − 1;  write the lowest B bits of q
//! trick:    four values at a time become four integers of 32 bits; then
//!           fields of 8, 16 or 24 bits: one shuffle moves their bytes together
//!           fields of any other width: `join` shifts them together
//! ```
//!
//! Packing is limited by the number of instructions: 18 for four values of 16 bits, 10 of which round and bound the
//! values. The extent is limited by memory: it takes 27 instructions for sixteen values, with four loads of 32 bytes.

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _CMP_GE_OQ, _mm_add_epi32, _mm_shuffle_epi8, _mm256_and_pd, _mm256_and_si256,
    _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_cmp_pd, _mm256_cmpeq_epi64, _mm256_cvtepi32_pd,
    _mm256_cvttpd_epi32, _mm256_max_pd, _mm256_min_pd, _mm256_mul_pd, _mm256_or_si256, _mm256_set1_epi64x,
    _mm256_set1_pd, _mm256_setzero_pd, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sub_pd, _mm256_testz_si256,
};

use tgm_core::descriptor::ByteOrder;

use super::{BLOCK, Extent, Quantisation, SIDE, ValueBytes, each_block, join, lower_bytes};
use crate::kernels::registers::{load_128, load_256, reversed_256, store_128, store_256};

/// The most bits of a field. Values are converted to signed integers of 32 bits, which have 31 bits besides the sign.
pub(super) const MAX_BITS: u32 = 31;
/// Values in a register.
const LANES: usize = 4;
/// An index for which `pshufb` writes a zero byte.
const ZERO: u8 = 0x80;

/// The extent of the first values, and their number: all whole rows of `LANES * SIDE` values.
#[target_feature(enable = "avx2")]
pub(super) fn extent(values: ValueBytes<'_>) -> (Extent, usize) {
    let bytes = Reversal::new(values.order);
    let mut least = [_mm256_set1_pd(f64::INFINITY); SIDE];
    let mut greatest = [_mm256_set1_pd(f64::NEG_INFINITY); SIDE];
    // NaN and the infinities have all bits of the exponent set.
    let exponent = _mm256_set1_epi64x(f64::INFINITY.to_bits().cast_signed());
    let mut not_finite = _mm256_setzero_si256();
    let (rows, _) = values.bytes.as_chunks::<{ LANES * SIDE }>();
    for row in rows {
        let (registers, _) = row.as_chunks::<LANES>();
        for ((values, least), greatest) in registers.iter().zip(&mut least).zip(&mut greatest) {
            let values = bytes.load(values);
            // If an operand is NaN, `min` and `max` return the second one. So NaN leaves the extent as it is.
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
    (extent, rows.len() * LANES * SIDE)
}

#[target_feature(enable = "avx2")]
fn to_array(lanes: __m256d) -> [f64; LANES] {
    let mut array = [0.0; LANES];
    store_256(_mm256_castpd_si256(lanes), &mut array);
    array
}

/// Packs all whole blocks of values to the front of `out`, and returns the number of values.
#[target_feature(enable = "avx2,bmi2")]
pub(super) fn pack(values: ValueBytes<'_>, quantisation: Quantisation, out: &mut [u8]) -> usize {
    let quantiser = Quantiser::new(values.order, quantisation);
    let bits = quantisation.bits;
    match bits {
        8 => each_block(values, bits, out, |block, out| whole_bytes::<1>(block, &quantiser, out)),
        16 => each_block(values, bits, out, |block, out| whole_bytes::<2>(block, &quantiser, out)),
        24 => each_block(values, bits, out, |block, out| whole_bytes::<3>(block, &quantiser, out)),
        _ => each_block(values, bits, out, |block, out| {
            let mut fields = [0_u32; BLOCK];
            let ((values, _), (slots, _)) = (block.as_chunks::<LANES>(), fields.as_chunks_mut::<LANES>());
            for (values, slots) in values.iter().zip(slots) {
                store_128(quantiser.four(values), slots);
            }
            join(&fields, bits, out);
        }),
    }
}

/// Packs a block to fields of `SIZE` bytes, four fields at a time.
#[inline]
#[target_feature(enable = "avx2")]
fn whole_bytes<const SIZE: usize>(block: &[[u8; 8]; BLOCK], quantiser: &Quantiser, out: &mut [u8]) {
    // The shuffle keeps the lowest `SIZE` bytes of each integer, most significant first, and moves them together.
    let bytes = load_128(&lower_bytes::<16>(SIZE, ZERO));
    let (slots, _) = out.as_chunks_mut::<SIZE>();
    let ((fours, _), (slots, _)) = (block.as_chunks::<LANES>(), slots.as_chunks_mut::<LANES>());
    for (values, slots) in fours.iter().zip(slots) {
        let mut packed = [0_u8; 16];
        store_128(_mm_shuffle_epi8(quantiser.four(values), bytes), &mut packed);
        let slots = slots.as_flattened_mut();
        slots.copy_from_slice(packed.get(..slots.len()).unwrap_or(&packed));
    }
}

/// Loads values of either byte order. The bytes of big-endian values are reversed after the load.
#[derive(Clone, Copy)]
struct Reversal {
    permutation: __m256i,
    is_reversed: bool,
}

impl Reversal {
    #[target_feature(enable = "avx2")]
    fn new(order: ByteOrder) -> Self {
        Self { permutation: reversed_256(), is_reversed: order == ByteOrder::Big }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(self, values: &[[u8; 8]; LANES]) -> __m256d {
        let values = load_256(values);
        _mm256_castsi256_pd(if self.is_reversed { _mm256_shuffle_epi8(values, self.permutation) } else { values })
    }
}

/// Turns values into integers of 32 bits, the numbers of their fields. Each lane of a register has the same constant.
struct Quantiser {
    bytes: Reversal,
    reference: __m256d,
    factor: __m256d,
    /// The greatest number of a field, 2^B − 1.
    most: __m256d,
}

impl Quantiser {
    #[target_feature(enable = "avx2")]
    fn new(order: ByteOrder, quantisation: Quantisation) -> Self {
        Self {
            bytes: Reversal::new(order),
            reference: _mm256_set1_pd(quantisation.reference),
            factor: _mm256_set1_pd(quantisation.factor),
            most: _mm256_set1_pd(f64::from(u32::MAX >> (32 - quantisation.bits))),
        }
    }

    /// The field numbers of four values. Halves are rounded up.
    ///
    /// ```text
    /// scaled = (value − R) · factor, kept within 0 and 2^B − 1
    /// whole = scaled without its fraction
    /// if scaled − whole >= 0.5: whole += 1
    /// ```
    ///
    /// The sum stays within 2^B − 1: a `scaled` that reaches this bound has no fraction.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn four(&self, values: &[[u8; 8]; LANES]) -> __m128i {
        let scaled = _mm256_mul_pd(_mm256_sub_pd(self.bytes.load(values), self.reference), self.factor);
        // Finite values may become NaN if the factor is not finite. `max` returns its second operand for NaN, here 0.
        let scaled = _mm256_min_pd(_mm256_max_pd(scaled, _mm256_setzero_pd()), self.most);
        let whole = _mm256_cvttpd_epi32(scaled);
        let fraction = _mm256_sub_pd(scaled, _mm256_cvtepi32_pd(whole));
        let half = _mm256_set1_pd(0.5);
        let up = _mm256_and_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(fraction, half), _mm256_set1_pd(1.0));
        _mm_add_epi32(whole, _mm256_cvttpd_epi32(up))
    }
}
