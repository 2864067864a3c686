//! szip by AVX-512: sixteen samples in sixteen lanes of 32 bits.
//!
//! `vpcompressb` makes the positions of all ones of a window at once, so unary codes cost no more than fields. What
//! limits a block is the way from its first bit to the next block's, and from one sample to the next register's.

#![allow(unsafe_code, reason = "functions of a trait that needs instructions which not every processor has")]

use std::arch::x86_64::{
    __m512i, _mm_add_epi8, _mm_alignr_epi8, _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_set1_epi8, _mm_setr_epi8,
    _mm_sub_epi8, _mm512_add_epi8, _mm512_add_epi32, _mm512_alignr_epi32, _mm512_and_si512, _mm512_broadcast_i32x4,
    _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_cmpgt_epu32_mask, _mm512_cmple_epu32_mask,
    _mm512_cvtepi64_epi32, _mm512_cvtepu8_epi32, _mm512_inserti64x4, _mm512_maskz_compress_epi8,
    _mm512_maskz_mov_epi32, _mm512_min_epu32, _mm512_mullo_epi32, _mm512_mullo_epi64, _mm512_or_si512,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32,
    _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_sll_epi32, _mm512_sllv_epi32,
    _mm512_sllv_epi64, _mm512_srl_epi32, _mm512_srl_epi64, _mm512_srli_epi32, _mm512_srli_epi64, _mm512_sub_epi32,
    _mm512_xor_si512, _pdep_u64,
};

use tgm_core::szip::{Params, Place};

use super::driver::{self, MAX_NARROW, Vector, unmap_slowly, window};
use super::sink::Sink;
use crate::kernels::registers::{load_512, store_512};

/// Samples in a register.
const LEN: usize = 16;
/// The lane of the last of them.
const LAST: i32 = 15;
/// Registers for the largest block, of 64 samples.
const MAX_GROUPS: usize = 4;

/// [`driver::decode`] for AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<S: Sink>(stream: &[u8], params: &Params, place: Place, out: &mut [S::Slot], sink: &S) -> Place {
    // SAFETY: this function has the instructions.
    unsafe { driver::decode::<Avx512, S>(stream, params, place, out, sink) }
}

struct Avx512;

impl Vector for Avx512 {
    type Lanes = __m512i;
    type Block = [__m512i; MAX_GROUPS];
    type Fields = Fields;

    const LEN: usize = LEN;
    const AT_ONCE: usize = 1;
    const TAKES_PLAIN: bool = true;

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn zeros() -> Self::Block {
        [_mm512_setzero_si512(); MAX_GROUPS]
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn splat(sample: u32) -> __m512i {
        _mm512_set1_epi32(sample.cast_signed())
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn first(lanes: __m512i) -> u32 {
        first(lanes)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn splat_last(lanes: __m512i) -> __m512i {
        _mm512_permutexvar_epi32(_mm512_set1_epi32(LAST), lanes)
    }

    /// A group whose codes are longer than one window is not usual.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi1,bmi2")]
    unsafe fn unary(stream: &[u8], bit: u64, count: usize, most: u32, codes: &mut [__m512i]) -> Option<u32> {
        let ones = window(stream, bit)?.reverse_bits();
        // The end of the last code alone says where the next group begins, so the next group does not wait for others.
        let last = _pdep_u64(1 << (count - 1), ones);
        let found = _mm512_maskz_mov_epi32(used(count), unary(ones));
        *codes.first_mut()? = found;
        let is_usual = last != 0 && _mm512_cmpgt_epu32_mask(found, _mm512_set1_epi32(most.cast_signed())) == 0;
        is_usual.then_some(last.trailing_zeros() + 1)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn fields(width: u32, _bit: u64) -> Fields {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        Fields { width, first_bits: _mm512_mullo_epi32(lanes, _mm512_set1_epi32(width.cast_signed())) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    unsafe fn append(fields: &Fields, upper: __m512i, stream: &[u8], bit: u64, lanes: usize) -> Option<__m512i> {
        let lower = fields.take(stream, bit)?;
        let shifted = _mm512_sll_epi32(upper, _mm_cvtsi32_si128(fields.width.cast_signed()));
        Some(_mm512_maskz_mov_epi32(used(lanes), _mm512_or_si512(shifted, lower)))
    }

    /// Adds up all differences as if none were out of range, then tests whether that was so.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn unmap(mapped: __m512i, before: __m512i, max: u32) -> __m512i {
        let zero = _mm512_setzero_si512();
        let odd = _mm512_and_si512(mapped, _mm512_set1_epi32(1));
        let half = _mm512_srli_epi32::<1>(mapped);
        // Even numbers are rises of half, odd ones falls of half + 1, which is the complement of half.
        let sums = _mm512_xor_si512(half, _mm512_sub_epi32(zero, odd));
        // A prefix sum: each step adds what is one, two, four and eight lanes before.
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<15>(sums, zero));
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
        let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
        let samples = _mm512_add_epi32(sums, before);
        // A difference is in range if it is no greater than the room on the nearer side of the sample before it.
        let befores = _mm512_alignr_epi32::<15>(samples, before);
        let above = _mm512_sub_epi32(_mm512_set1_epi32(max.cast_signed()), befores);
        let distances = _mm512_add_epi32(half, odd);
        if _mm512_cmple_epu32_mask(distances, _mm512_min_epu32(befores, above)) == u16::MAX {
            samples
        } else {
            unmap_each(mapped, before, max)
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    unsafe fn store<S: Sink>(samples: __m512i, sink: &S, slots: &mut [S::Slot]) {
        // SAFETY: this function has what is asked for.
        unsafe { sink.sixteen(samples, slots) }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn first(lanes: __m512i) -> u32 {
    _mm_cvtsi128_si32(_mm512_castsi512_si128(lanes)).cast_unsigned()
}

/// The mask of the first `lanes` lanes, 1 to 16.
#[inline]
const fn used(lanes: usize) -> u16 {
    u16::MAX >> (LEN - lanes)
}

/// The 64 bytes that begin with the one that holds `bit`.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(stream: &[u8], bit: u64) -> Option<__m512i> {
    let bytes: &[u8; 64] = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    Some(load_512(bytes))
}

/// The zeros before each of the sixteen lowest ones.
///
/// ```text
/// a code of n is n zeros and a one
/// ends  = 0 1 2 ... 63, of which only those remain where the window has a one
/// code  = end − the end before it − 1
/// ```
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
fn unary(ones: u64) -> __m512i {
    const POSITIONS: [u8; 64] = {
        let mut positions = [0; 64];
        let mut i = 0_u8;
        while i < 64 {
            positions[i as usize] = i;
            i += 1;
        }
        positions
    };
    let ends = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(ones, load_512(&POSITIONS)));
    let minus_one = _mm_set1_epi8(-1);
    let starts = _mm_alignr_epi8::<15>(ends, minus_one);
    _mm512_cvtepu8_epi32(_mm_add_epi8(_mm_sub_epi8(ends, starts), minus_one))
}

/// Sixteen fields of one width.
struct Fields {
    width: u32,
    /// The first bit of each, counted from the first one's.
    first_bits: __m512i,
}

impl Fields {
    /// The fields from `bit` on.
    ///
    /// The stream gives no more than the bit to start from, so permutation and shifts are computed for every register:
    /// a field that begins with bit b needs the four bytes from b / 8 on, and is b % 8 bits too far down.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn take(&self, stream: &[u8], bit: u64) -> Option<__m512i> {
        if self.width > MAX_NARROW {
            let low = self.take_wide(stream, bit)?;
            let high = self.take_wide(stream, bit + 8 * u64::from(self.width))?;
            return Some(lower_halves(low, high));
        }
        let bytes = load(stream, bit)?;
        let bits = _mm512_add_epi32(self.first_bits, _mm512_set1_epi32((bit % 8) as i32));
        let first_bytes = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        let from = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(bits), _mm512_broadcast_i32x4(first_bytes));
        // Four bytes from there on, in the opposite order: the stream has the most significant one first.
        let from = _mm512_add_epi8(from, _mm512_set1_epi32(0x0001_0203));
        let fields =
            _mm512_sllv_epi32(_mm512_permutexvar_epi8(from, bytes), _mm512_and_si512(bits, _mm512_set1_epi32(7)));
        Some(_mm512_srl_epi32(fields, _mm_cvtsi32_si128(32 - self.width.cast_signed())))
    }

    /// Eight fields in lanes of 64 bits, for those that four bytes may not hold.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi")]
    fn take_wide(&self, stream: &[u8], bit: u64) -> Option<__m512i> {
        let bytes = load(stream, bit)?;
        let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let bits = _mm512_mullo_epi64(lanes, _mm512_set1_epi64(self.width.into()));
        let bits = _mm512_add_epi32(bits, _mm512_set1_epi64((bit % 8).cast_signed()));
        let first_bytes = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8);
        let from = _mm512_shuffle_epi8(_mm512_srli_epi64::<3>(bits), _mm512_broadcast_i32x4(first_bytes));
        let from = _mm512_add_epi8(from, _mm512_set1_epi64(0x0001_0203_0405_0607));
        let fields =
            _mm512_sllv_epi64(_mm512_permutexvar_epi8(from, bytes), _mm512_and_si512(bits, _mm512_set1_epi64(7)));
        Some(_mm512_srl_epi64(fields, _mm_cvtsi32_si128(64 - self.width.cast_signed())))
    }
}

/// The lower halves of two times eight lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn lower_halves(low: __m512i, high: __m512i) -> __m512i {
    let low = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(low));
    _mm512_inserti64x4::<1>(low, _mm512_cvtepi64_epi32(high))
}

/// [`Vector::unmap`] where a difference is out of range.
#[inline]
#[target_feature(enable = "avx512f")]
fn unmap_each(mapped: __m512i, before: __m512i, max: u32) -> __m512i {
    let mut lanes = [0_u32; LEN];
    store_512(mapped, &mut lanes);
    unmap_slowly(&mut lanes, first(before), max);
    load_512(&lanes)
}
