//! szip by AVX2: eight samples in eight lanes of 32 bits.
//!
//! AVX2 has no instruction that gathers the positions of ones. So the ends of unary codes are found one after the
//! other, by counting trailing zeros. That limits it: each end waits for the one before.
//!
//! It takes 32 instructions a value, a mean over smooth fields of 8, 16, 24 and 32 bits, with unpacking.

#![allow(unsafe_code, reason = "functions of a trait that needs instructions which not every processor has")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi8, _mm_alignr_epi8, _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si32,
    _mm_set_epi64x, _mm_set1_epi8, _mm_setr_epi8, _mm_srli_si128, _mm_sub_epi8, _mm256_add_epi8, _mm256_add_epi32,
    _mm256_alignr_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi128_si256, _mm256_castsi256_si128,
    _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepu8_epi32, _mm256_inserti128_si256, _mm256_min_epu32,
    _mm256_movemask_epi8, _mm256_mullo_epi32, _mm256_or_si256, _mm256_permute2x128_si256, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sll_epi32,
    _mm256_slli_si256, _mm256_sllv_epi32, _mm256_srl_epi32, _mm256_srli_epi32, _mm256_sub_epi32, _mm256_xor_si256,
    _pdep_u64,
};

use tgm_core::szip::{Params, Place};

use super::driver::{self, MAX_NARROW, Vector, unmap_slowly, window};
use super::sink::Sink;
use crate::kernels::registers::{load_128, load_256, store_256};

/// Samples in a register.
const LEN: usize = 8;
/// The lane of the last of them.
const LAST: i32 = 7;
/// Registers for the largest block, of 64 samples.
const MAX_GROUPS: usize = 8;

/// [`driver::decode`] for AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<S: Sink>(stream: &[u8], params: &Params, place: Place, out: &mut [S::Slot], sink: &S) -> Place {
    // SAFETY: this function has the instructions.
    unsafe { driver::decode::<Avx2, S>(stream, params, place, out, sink) }
}

struct Avx2;

impl Vector for Avx2 {
    type Lanes = __m256i;
    type Block = [__m256i; MAX_GROUPS];
    type Fields = Fields;

    const LEN: usize = LEN;
    const AT_ONCE: usize = 2;
    const TAKES_PLAIN: bool = false;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn zeros() -> Self::Block {
        [_mm256_setzero_si256(); MAX_GROUPS]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn splat(sample: u32) -> __m256i {
        _mm256_set1_epi32(sample.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn first(lanes: __m256i) -> u32 {
        first(lanes)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn splat_last(lanes: __m256i) -> __m256i {
        _mm256_permutevar8x32_epi32(lanes, _mm256_set1_epi32(LAST))
    }

    /// Two registers at once: a window of 64 bits mostly holds sixteen codes.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn unary(stream: &[u8], bit: u64, count: usize, most: u32, codes: &mut [__m256i]) -> Option<u32> {
        let ([first, second], len) = unary(stream, bit, count)?;
        let most = _mm256_set1_epi32(most.cast_signed());
        let too_large = _mm256_or_si256(_mm256_cmpgt_epi32(first, most), _mm256_cmpgt_epi32(second, most));
        codes.iter_mut().zip([first, second]).for_each(|(codes, found)| *codes = found);
        (_mm256_movemask_epi8(too_large) == 0).then_some(len)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn fields(width: u32, _bit: u64) -> Fields {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
        Fields { width, first_bits: _mm256_mullo_epi32(lanes, _mm256_set1_epi32(width.cast_signed())) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn append(fields: &Fields, upper: __m256i, stream: &[u8], bit: u64, _lanes: usize) -> Option<__m256i> {
        let lower = fields.take(stream, bit)?;
        Some(_mm256_or_si256(_mm256_sll_epi32(upper, _mm_cvtsi32_si128(fields.width.cast_signed())), lower))
    }

    /// Adds up all differences as if none were out of range, then tests whether that was so.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn unmap(mapped: __m256i, before: __m256i, max: u32) -> __m256i {
        let odd = _mm256_and_si256(mapped, _mm256_set1_epi32(1));
        let half = _mm256_srli_epi32::<1>(mapped);
        // Even numbers are rises of half, odd ones falls of half + 1, which is the complement of half.
        let sums = _mm256_xor_si256(half, _mm256_sub_epi32(_mm256_setzero_si256(), odd));
        // A prefix sum: each step adds what is one, then two lanes before, within a half of the register.
        let sums = _mm256_add_epi32(sums, _mm256_slli_si256::<4>(sums));
        let sums = _mm256_add_epi32(sums, _mm256_slli_si256::<8>(sums));
        // Then the sum of the lower half comes to all lanes of the upper one.
        let lower = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(3));
        let sums = _mm256_add_epi32(sums, _mm256_permute2x128_si256::<0x08>(lower, lower));
        let samples = _mm256_add_epi32(sums, before);
        // A difference is in range if it is no greater than the room on the nearer side of the sample before it.
        let shifted = _mm256_permute2x128_si256::<0x21>(before, samples);
        let befores = _mm256_alignr_epi8::<12>(samples, shifted);
        let above = _mm256_sub_epi32(_mm256_set1_epi32(max.cast_signed()), befores);
        let distances = _mm256_add_epi32(half, odd);
        let bounds = _mm256_min_epu32(befores, above);
        let fits = _mm256_cmpeq_epi32(_mm256_min_epu32(distances, bounds), distances);
        if _mm256_movemask_epi8(fits) == -1 { samples } else { unmap_each(mapped, before, max) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store<S: Sink>(samples: __m256i, sink: &S, slots: &mut [S::Slot]) {
        if let Some(slots) = slots.first_chunk_mut() {
            // SAFETY: this function has what is asked for.
            unsafe { sink.eight(samples, slots) }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn first(lanes: __m256i) -> u32 {
    _mm_cvtsi128_si32(_mm256_castsi256_si128(lanes)).cast_unsigned()
}

/// Eight or sixteen unary codes from `bit` on, and their length; of eight the other lanes are zero.
///
/// ```text
/// a code of n is n zeros and a one
/// ends  = the positions of the ones in the window
/// code  = end − the end before it − 1
/// ```
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn unary(stream: &[u8], bit: u64, count: usize) -> Option<([__m256i; 2], u32)> {
    let ones = window(stream, bit)?.reverse_bits();
    // The end of the last code alone says where the next group begins, so the next group does not wait for the other
    // ends.
    let last = _pdep_u64(1 << (count - 1), ones);
    let len = last.trailing_zeros() + 1;
    let (low_ends, ones) = ends(ones);
    if count == LEN {
        let codes = codes(_mm_cvtsi64_si128(low_ends.cast_signed()));
        return (last != 0).then_some(([widen(codes), _mm256_setzero_si256()], len));
    }
    if last != 0 {
        let (high_ends, _) = ends(ones);
        let codes = codes(_mm_set_epi64x(high_ends.cast_signed(), low_ends.cast_signed()));
        return Some(([widen(codes), widen(_mm_srli_si128::<8>(codes))], len));
    }
    let ([first, _], first_len) = unary_eight(stream, bit)?;
    let ([second, _], second_len) = unary_eight(stream, bit + u64::from(first_len))?;
    Some(([first, second], first_len + second_len))
}

/// Eight codes, where sixteen are too long for a window.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn unary_eight(stream: &[u8], bit: u64) -> Option<([__m256i; 2], u32)> {
    unary(stream, bit, LEN)
}

/// The positions of the eight lowest ones, a byte each, and the ones above them.
#[inline]
#[target_feature(enable = "bmi1")]
fn ends(ones: u64) -> (u64, u64) {
    let (mut ones, mut ends) = (ones, 0);
    for shift in (0..64).step_by(8) {
        ends |= u64::from(ones.trailing_zeros()) << shift;
        ones &= ones.wrapping_sub(1);
    }
    (ends, ones)
}

/// The zeros before each of the ones at `ends`.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(ends: __m128i) -> __m128i {
    let minus_one = _mm_set1_epi8(-1);
    _mm_add_epi8(_mm_sub_epi8(ends, _mm_alignr_epi8::<15>(ends, minus_one)), minus_one)
}

#[inline]
#[target_feature(enable = "avx2")]
fn widen(codes: __m128i) -> __m256i {
    _mm256_cvtepu8_epi32(codes)
}

/// The 16 bytes that begin with the one that holds `bit`.
#[inline]
fn load_half(stream: &[u8], bit: u64) -> Option<__m128i> {
    let bytes: &[u8; 16] = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    Some(load_128(bytes))
}

/// Eight fields of one width.
struct Fields {
    width: u32,
    /// The first bit of each, counted from the first of its half of a register.
    first_bits: __m256i,
}

impl Fields {
    /// The fields from `bit` on.
    ///
    /// The stream gives no more than the bit to start from, so permutation and shifts are computed for every register:
    /// a field that begins with bit b needs the four bytes from b / 8 on, and is b % 8 bits too far down.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn take(&self, stream: &[u8], bit: u64) -> Option<__m256i> {
        if self.width > MAX_NARROW {
            return self.take_wide(stream, bit);
        }
        let middle = bit + 4 * u64::from(self.width);
        let bytes = _mm256_castsi128_si256(load_half(stream, bit)?);
        let bytes = _mm256_inserti128_si256::<1>(bytes, load_half(stream, middle)?);
        let [low, high] = [(bit % 8) as i32, (middle % 8) as i32];
        let bits = _mm256_add_epi32(self.first_bits, _mm256_setr_epi32(low, low, low, low, high, high, high, high));
        let first_bytes =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
        let from = _mm256_shuffle_epi8(_mm256_srli_epi32::<3>(bits), first_bytes);
        // Four bytes from there on, in the opposite order: the stream has the most significant one first.
        let from = _mm256_add_epi8(from, _mm256_set1_epi32(0x0001_0203));
        let fields = _mm256_sllv_epi32(_mm256_shuffle_epi8(bytes, from), _mm256_and_si256(bits, _mm256_set1_epi32(7)));
        Some(_mm256_srl_epi32(fields, _mm_cvtsi32_si128(32 - self.width.cast_signed())))
    }

    /// [`Self::take`] for fields that four bytes may not hold, one by one.
    #[target_feature(enable = "avx2")]
    fn take_wide(&self, stream: &[u8], bit: u64) -> Option<__m256i> {
        let mut lanes = [0_u32; LEN];
        let mut bit = bit;
        for lane in &mut lanes {
            #[expect(clippy::cast_possible_truncation, reason = "up to 32 bits")]
            let field = (window(stream, bit)? >> (64 - self.width)) as u32;
            *lane = field;
            bit += u64::from(self.width);
        }
        Some(load_256(&lanes))
    }
}

/// [`Vector::unmap`] where a difference is out of range.
#[inline]
#[target_feature(enable = "avx2")]
fn unmap_each(mapped: __m256i, before: __m256i, max: u32) -> __m256i {
    let mut lanes = [0_u32; LEN];
    store_256(mapped, &mut lanes);
    unmap_slowly(&mut lanes, first(before), max);
    load_256(&lanes)
}
