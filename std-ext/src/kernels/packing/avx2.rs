//! Eight fields in lanes of 32 bits, or in two times four lanes of 64 bits if they are wide.
//!
//! A register's halves are permuted each by itself. So each half is loaded with the 16 bytes from that of its first
//! field's first bit on. The last groups are left alone: there are no 16 bytes to load.

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _mm_loadu_si128, _mm256_add_pd, _mm256_and_si256, _mm256_castpd_si256,
    _mm256_castsi256_pd, _mm256_castsi256_si128, _mm256_cvtepi32_pd, _mm256_extracti128_si256, _mm256_loadu_si256,
    _mm256_mul_pd, _mm256_or_si256, _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd,
    _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_srlv_epi64, _mm256_sub_pd,
};

use tgm_core::packing::Packing;

use super::GROUP;
use super::store::Store;

/// Of 64 bits with 2^52 as exponent, so many hold an integer.
pub(super) const MAX_BITS: u32 = 52;
/// With up to seven bits before it, a field of so many lies within four bytes.
const MAX_NARROW: u32 = 25;

/// Which bytes go to which lane of `LANE` bytes in the halves of a register, and how far down; where each half is
/// loaded from.
struct Plan<const LANE: usize> {
    bytes: [u8; 32],
    shifts: [u8; 32],
    halves: [usize; 2],
}

impl<const LANE: usize> Plan<LANE> {
    /// For the fields of `bits` from number `field` on.
    fn new(bits: u32, field: usize) -> Self {
        let bits = bits as usize;
        let per_half = 16 / LANE;
        let halves = [field, field + per_half].map(|field| field * bits / 8);
        let mut plan = Self { bytes: [0; 32], shifts: [0; 32], halves };
        let lanes = plan.bytes.chunks_exact_mut(LANE).zip(plan.shifts.chunks_exact_mut(LANE)).enumerate();
        for (i, (lane, shift)) in lanes {
            let first = (field + i) * bits;
            let byte = first / 8 - plan.halves[i / per_half];
            // Never more than 16: bytes behind the last field are shifted out.
            #[expect(clippy::cast_possible_truncation, reason = "a byte in 16, a bit in 64")]
            (byte..).zip(lane.iter_mut().rev()).for_each(|(byte, slot)| *slot = (byte & 15) as u8);
            #[expect(clippy::cast_possible_truncation, reason = "a byte in 16, a bit in 64")]
            if let Some(low) = shift.first_mut() {
                *low = (8 * LANE - first % 8 - bits) as u8;
            }
        }
        plan
    }
}

/// Unpacks as many groups as there are bytes and slots for, but for some at the end; returns the number of values.
#[target_feature(enable = "avx2")]
pub(super) fn unpack<S: Store>(bytes: &[u8], packing: &Packing, out: &mut [[S::Slot; GROUP]]) -> usize {
    if packing.bits_per_value <= MAX_NARROW { narrow::<S>(bytes, packing, out) } else { wide::<S>(bytes, packing, out) }
}

#[target_feature(enable = "avx2")]
fn narrow<S: Store>(bytes: &[u8], packing: &Packing, out: &mut [[S::Slot; GROUP]]) -> usize {
    let bits = packing.bits_per_value;
    let plan = Plan::<4>::new(bits, 0);
    let (permutation, shifts) = (load(&plan.bytes), load(&plan.shifts));
    let mask = _mm256_set1_epi32((u32::MAX >> (32 - bits)).cast_signed());
    let formula = Formula::new(packing);
    let mut rest = bytes;
    let mut done = 0;
    for slots in out {
        let Some(fields) = halves(rest, plan.halves) else { break };
        let fields = _mm256_srlv_epi32(_mm256_shuffle_epi8(fields, permutation), shifts);
        let fields = _mm256_and_si256(fields, mask);
        let low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(fields));
        let high = _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(fields));
        formula.store::<S>(low, high, slots);
        rest = rest.get(bits as usize..).unwrap_or_default();
        done += GROUP;
    }
    done
}

#[target_feature(enable = "avx2")]
fn wide<S: Store>(bytes: &[u8], packing: &Packing, out: &mut [[S::Slot; GROUP]]) -> usize {
    let bits = packing.bits_per_value;
    let (low, high) = (Wide::new(bits, 0), Wide::new(bits, 4));
    let formula = Formula::new(packing);
    let mut rest = bytes;
    let mut done = 0;
    for slots in out {
        let (Some(low), Some(high)) = (low.values(rest), high.values(rest)) else { break };
        formula.store::<S>(low, high, slots);
        rest = rest.get(bits as usize..).unwrap_or_default();
        done += GROUP;
    }
    done
}

/// Four of the eight wide fields.
struct Wide {
    halves: [usize; 2],
    permutation: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

impl Wide {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(bits: u32, field: usize) -> Self {
        let plan = Plan::<8>::new(bits, field);
        let mask = _mm256_set1_epi64x((u64::MAX >> (64 - bits)).cast_signed());
        Self { halves: plan.halves, permutation: load(&plan.bytes), shifts: load(&plan.shifts), mask }
    }

    /// The fields as numbers: put where the fraction of 2^52 is, from which 2^52 is then subtracted.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn values(&self, bytes: &[u8]) -> Option<__m256d> {
        let fields = _mm256_shuffle_epi8(halves(bytes, self.halves)?, self.permutation);
        let fields = _mm256_and_si256(_mm256_srlv_epi64(fields, self.shifts), self.mask);
        let two_to_52 = _mm256_set1_pd(4_503_599_627_370_496.0);
        let above = _mm256_or_si256(fields, _mm256_castpd_si256(two_to_52));
        Some(_mm256_sub_pd(_mm256_castsi256_pd(above), two_to_52))
    }
}

/// R + scale · q in all lanes.
struct Formula {
    reference: __m256d,
    scale: __m256d,
}

impl Formula {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(packing: &Packing) -> Self {
        Self { reference: _mm256_set1_pd(packing.reference_value), scale: _mm256_set1_pd(packing.scale()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store<S: Store>(&self, low: __m256d, high: __m256d, slots: &mut [S::Slot; GROUP]) {
        let low = _mm256_add_pd(self.reference, _mm256_mul_pd(self.scale, low));
        let high = _mm256_add_pd(self.reference, _mm256_mul_pd(self.scale, high));
        if let ([first, second], []) = slots.as_chunks_mut() {
            #[allow(unsafe_code, reason = "instructions that not every processor has")]
            // SAFETY: this function has AVX2 itself.
            unsafe {
                S::four(low, first);
                S::four(high, second);
            }
        }
    }
}

/// The 16 bytes at each of two places.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(bytes: &[u8], [low, high]: [usize; 2]) -> Option<__m256i> {
    let low = bytes.get(low..)?.first_chunk()?;
    let high = bytes.get(high..)?.first_chunk()?;
    Some(_mm256_set_m128i(load_half(high), load_half(low)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_half(bytes: &[u8; 16]) -> __m128i {
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 16 bytes.
    unsafe {
        _mm_loadu_si128(bytes.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; 32]) -> __m256i {
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 32 bytes.
    unsafe {
        _mm256_loadu_si256(bytes.as_ptr().cast())
    }
}
