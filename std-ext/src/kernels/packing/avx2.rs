//! Eight fields by AVX2: in eight lanes of 32 bits or, if they are wide, in two times four lanes of 64 bits.
//!
//! ```text
//! for each group of eight fields:
//!     load     each half of a register with the 16 bytes that begin with its first field
//!     permute  to each lane the bytes that hold its field, the most significant one on top
//!     shift    the field's last bit down to bit 0, then mask off the fields before it
//!     convert, multiply, add, store
//! ```
//!
//! `vpshufb` moves bytes within each half of a register only, so each half is loaded by itself. A half has 16 bytes of
//! which the last group needs fewer: groups at the end of the input are left to core, which reads no byte behind it.

use std::arch::x86_64::{
    __m256d, __m256i, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cvtepi32_pd, _mm256_extracti128_si256,
    _mm256_set_m128i, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_srlv_epi32, _mm256_srlv_epi64,
};

use tgm_core::szip::Formula;

use super::lanes::{FRACTION_BITS, four_to_doubles, four_values};
use super::store::Store;
use super::{GROUP, each_group};
use crate::kernels::registers::{load_128, load_256};

/// The widest fields: their integers are converted by way of the fraction of an `f64`.
pub(super) const MAX_BITS: u32 = FRACTION_BITS;
/// The widest field that lies within four bytes, wherever its first bit is: up to seven bits of a byte come before it.
const MAX_NARROW: u32 = 25;

/// Which bytes go to which lane of `LANE` bytes, how far each lane is shifted, and where each half is loaded from.
struct Plan<const LANE: usize> {
    bytes: [u8; 32],
    shifts: [u8; 32],
    halves: [usize; 2],
}

impl<const LANE: usize> Plan<LANE> {
    /// The plan for the fields of `bits` bits from number `field` on.
    fn new(bits: u32, field: usize) -> Self {
        let bits = bits as usize;
        let per_half = 16 / LANE;
        let halves = [field, field + per_half].map(|field| field * bits / 8);
        let mut plan = Self { bytes: [0; 32], shifts: [0; 32], halves };
        let lanes = plan.bytes.chunks_exact_mut(LANE).zip(plan.shifts.chunks_exact_mut(LANE)).enumerate();
        for (i, (lane, shift)) in lanes {
            let first = (field + i) * bits;
            let byte = first / 8 - plan.halves[i / per_half];
            // A lane may be longer than its field. Bytes behind the half wrap around: the shift drops them.
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

/// Unpacks as many groups as there are bytes and slots for, except a few at the end; returns the number of values.
#[target_feature(enable = "avx2")]
pub(super) fn unpack<S: Store>(bytes: &[u8], bits: u32, formula: Formula, out: &mut [[S::Slot; GROUP]]) -> usize {
    if bits <= MAX_NARROW {
        let fields = Narrow::new(bits);
        each_group(from_groups(bytes, bits), out, |bytes, slots| {
            let (low, high) = fields.load(bytes)?;
            store::<S>(formula, low, high, slots);
            Some(())
        })
    } else {
        let (low, high) = (Wide::new(bits, 0), Wide::new(bits, 4));
        each_group(from_groups(bytes, bits), out, |bytes, slots| {
            store::<S>(formula, low.load(bytes)?, high.load(bytes)?, slots);
            Some(())
        })
    }
}

/// The bytes from each group on.
#[inline]
fn from_groups(bytes: &[u8], bits: u32) -> impl Iterator<Item = &[u8]> {
    (0..).step_by(bits as usize).map_while(|at| bytes.get(at..))
}

/// Stores the values of eight integers.
#[inline]
#[target_feature(enable = "avx2")]
fn store<S: Store>(formula: Formula, low: __m256d, high: __m256d, slots: &mut [S::Slot; GROUP]) {
    if let ([first, second], []) = slots.as_chunks_mut() {
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        // SAFETY: this function has AVX2 itself.
        unsafe {
            S::four(four_values(formula, low), first);
            S::four(four_values(formula, high), second);
        }
    }
}

/// Eight fields of up to [`MAX_NARROW`] bits, in lanes of 32 bits.
struct Narrow {
    halves: [usize; 2],
    permutation: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

impl Narrow {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(bits: u32) -> Self {
        let plan = Plan::<4>::new(bits, 0);
        let mask = _mm256_set1_epi32((u32::MAX >> (32 - bits)).cast_signed());
        Self { halves: plan.halves, permutation: load_256(&plan.bytes), shifts: load_256(&plan.shifts), mask }
    }

    /// The fields as numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(&self, bytes: &[u8]) -> Option<(__m256d, __m256d)> {
        let fields = _mm256_shuffle_epi8(load_halves(bytes, self.halves)?, self.permutation);
        let fields = _mm256_and_si256(_mm256_srlv_epi32(fields, self.shifts), self.mask);
        // Below 2^25, so the conversion of signed integers, the only one that AVX2 has, is right.
        let low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(fields));
        Some((low, _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(fields))))
    }
}

/// Four of eight wide fields, in lanes of 64 bits.
struct Wide {
    halves: [usize; 2],
    permutation: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

impl Wide {
    /// For fields `field` to `field + 3` of each group.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(bits: u32, field: usize) -> Self {
        let plan = Plan::<8>::new(bits, field);
        let mask = _mm256_set1_epi64x((u64::MAX >> (64 - bits)).cast_signed());
        Self { halves: plan.halves, permutation: load_256(&plan.bytes), shifts: load_256(&plan.shifts), mask }
    }

    /// The fields as numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(&self, bytes: &[u8]) -> Option<__m256d> {
        let fields = _mm256_shuffle_epi8(load_halves(bytes, self.halves)?, self.permutation);
        Some(four_to_doubles(_mm256_and_si256(_mm256_srlv_epi64(fields, self.shifts), self.mask)))
    }
}

/// The 16 bytes at each of two places, `None` if there are fewer.
#[inline]
#[target_feature(enable = "avx2")]
fn load_halves(bytes: &[u8], [low, high]: [usize; 2]) -> Option<__m256i> {
    let low: &[u8; 16] = bytes.get(low..)?.first_chunk()?;
    let high: &[u8; 16] = bytes.get(high..)?.first_chunk()?;
    Some(_mm256_set_m128i(load_128(high), load_128(low)))
}
