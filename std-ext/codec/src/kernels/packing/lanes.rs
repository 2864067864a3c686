//! From integers in lanes to values: value = R + scale · q.
//!
//! The product is rounded, then the sum, as in [`Formula::value`]: a fused multiply-add would differ from it in the
//! last bit.

use std::arch::x86_64::{
    __m256d, __m256i, __m512d, _mm256_add_pd, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_mul_pd, _mm256_or_si256,
    _mm256_set1_pd, _mm256_sub_pd, _mm512_add_pd, _mm512_mul_pd, _mm512_set1_pd,
};

use tgm_core::szip::Formula;

/// Integers of up to this many bits fit the fraction of an `f64`.
pub(in crate::kernels) const FRACTION_BITS: u32 = 52;
/// 2^52: the last bit of its fraction counts 1.
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;

/// Converts integers below 2^52 in lanes of 64 bits.
///
/// AVX2 has no such conversion. But the bits of 2^52 with q as the fraction are the number 2^52 + q, so an OR puts q
/// there, and a subtraction takes 2^52 away. Both are exact.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::kernels) fn four_to_doubles(integers: __m256i) -> __m256d {
    let two_to_52 = _mm256_set1_pd(TWO_TO_52);
    let sum = _mm256_castsi256_pd(_mm256_or_si256(integers, _mm256_castpd_si256(two_to_52)));
    _mm256_sub_pd(sum, two_to_52)
}

/// The values of four integers.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::kernels) fn four_values(formula: Formula, q: __m256d) -> __m256d {
    let (reference, scale) = (_mm256_set1_pd(formula.reference), _mm256_set1_pd(formula.scale));
    _mm256_add_pd(reference, _mm256_mul_pd(scale, q))
}

/// The values of eight integers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(in crate::kernels) fn eight_values(formula: Formula, q: __m512d) -> __m512d {
    let (reference, scale) = (_mm512_set1_pd(formula.reference), _mm512_set1_pd(formula.scale));
    _mm512_add_pd(reference, _mm512_mul_pd(scale, q))
}
