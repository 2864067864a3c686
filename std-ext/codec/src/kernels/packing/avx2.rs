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
//! which the last group needs fewer: groups at the end of the input are left to core, which reads no byte after it.
//!
//! The limit is the number of instructions: 26 for eight narrow fields, 31 for wide ones, of which two store 32 bytes each. At four
//! to five in a cycle, these are some 10 of the 32 bytes that can be stored in it.

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
#[derive(Clone, Copy)]
struct Plan<const LANE: usize> {
    bytes: [u8; 32],
    shifts: [u8; 32],
    halves: [usize; 2],
}

/// The plans for fields of 0 to [`MAX_NARROW`] bits. The compiler makes them: that takes as long as to unpack a hundred values.
static NARROW: [Plan<4>; MAX_NARROW as usize + 1] = plans(0);
/// The plans for the first four fields of 0 to [`MAX_BITS`] bits, and for the others.
static WIDE: [[Plan<8>; MAX_BITS as usize + 1]; 2] = [plans(0), plans(4)];

/// The plans for fields of 0 to `WIDTHS - 1` bits, from number `field` of each group on.
const fn plans<const LANE: usize, const WIDTHS: usize>(field: usize) -> [Plan<LANE>; WIDTHS] {
    let mut plans = [Plan { bytes: [0; 32], shifts: [0; 32], halves: [0; 2] }; WIDTHS];
    let mut bits = 0;
    while bits < WIDTHS {
        plans[bits] = Plan::new(bits, field);
        bits += 1;
    }
    plans
}

impl<const LANE: usize> Plan<LANE> {
    /// The plan for the fields of `bits` bits from number `field` on.
    #[expect(clippy::cast_possible_truncation, reason = "a byte in 16, a bit in 64")]
    const fn new(bits: usize, field: usize) -> Self {
        let per_half = 16 / LANE;
        let halves = [field * bits / 8, (field + per_half) * bits / 8];
        let mut plan = Self { bytes: [0; 32], shifts: [0; 32], halves };
        let mut lane = 0;
        while lane < 2 * per_half {
            let first = (field + lane) * bits;
            let start = first / 8 - halves[lane / per_half];
            // A lane may be longer than its field. Bytes after the half wrap around: the shift drops them.
            let mut byte = 0;
            while byte < LANE {
                plan.bytes[lane * LANE + LANE - 1 - byte] = ((start + byte) & 15) as u8;
                byte += 1;
            }
            plan.shifts[lane * LANE] = (8 * LANE - first % 8 - bits) as u8;
            lane += 1;
        }
        plan
    }
}

/// Unpacks as many groups as there are bytes and slots for, except a few at the end; returns the number of values.
#[target_feature(enable = "avx2")]
pub(super) fn unpack<S: Store>(bytes: &[u8], bits: u32, formula: Formula, out: &mut [[S::Slot; GROUP]]) -> usize {
    if let Some(plan) = NARROW.get(bits as usize) {
        let fields = Narrow::new(plan, bits);
        each_group(from_groups(bytes, bits), out, |bytes, slots| {
            let (low, high) = fields.load(bytes)?;
            store::<S>(formula, low, high, slots);
            Some(())
        })
    } else {
        let [Some(low), Some(high)] = WIDE.each_ref().map(|plans| plans.get(bits as usize)) else { return 0 };
        let (low, high) = (Wide::new(low, bits), Wide::new(high, bits));
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
    fn new(plan: &Plan<4>, bits: u32) -> Self {
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
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(plan: &Plan<8>, bits: u32) -> Self {
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
