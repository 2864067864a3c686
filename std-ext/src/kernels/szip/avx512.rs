//! Sixteen samples in sixteen lanes of 32 bits.

use std::arch::x86_64::{
    __m512i, _mm_add_epi8, _mm_alignr_epi8, _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_set1_epi8, _mm_setr_epi8,
    _mm_sub_epi8, _mm512_add_epi8, _mm512_add_epi32, _mm512_alignr_epi32, _mm512_and_si512, _mm512_broadcast_i32x4,
    _mm512_castsi256_si512, _mm512_castsi512_si128, _mm512_cmpgt_epu32_mask, _mm512_cmple_epu32_mask,
    _mm512_cvtepi64_epi32, _mm512_cvtepu8_epi32, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_maskz_compress_epi8,
    _mm512_maskz_mov_epi32, _mm512_min_epu32, _mm512_mullo_epi32, _mm512_mullo_epi64, _mm512_or_si512,
    _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32,
    _mm512_setr_epi64, _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_sll_epi32, _mm512_sllv_epi32,
    _mm512_sllv_epi64, _mm512_srl_epi32, _mm512_srl_epi64, _mm512_srli_epi32, _mm512_srli_epi64, _mm512_storeu_si512,
    _mm512_sub_epi32, _mm512_xor_si512, _pdep_u64,
};

use tgm_core::szip::{Params, Place};

use super::predict::unmap_each;
use super::sink::Sink;

/// Samples worked on at a time.
const GROUP: usize = 16;
/// The last of them.
const LAST: i32 = 15;
/// Groups in the largest block.
const MAX_GROUPS: usize = 4;
/// Blocks of sizes that are seldom.
const ANY: usize = 0;
/// With up to seven bits before it, a field of so many lies within four bytes.
const MAX_NARROW: u32 = 25;

/// Decodes blocks to the front of `out`, from `place` on, as long as they are usual; returns where it stopped.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<S: Sink>(stream: &[u8], params: &Params, place: Place, out: &mut [S::Slot], sink: &S) -> Place {
    match params.block_size() {
        16 => decode_blocks::<S, 16>(stream, params, place, out, sink),
        _ => decode_blocks::<S, ANY>(stream, params, place, out, sink),
    }
}

/// [`decode`] for blocks of `SIZE` samples, which is known when this is compiled, or [`ANY`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn decode_blocks<S: Sink, const SIZE: usize>(
    stream: &[u8],
    params: &Params,
    place: Place,
    out: &mut [S::Slot],
    sink: &S,
) -> Place {
    let block_size = if SIZE == ANY { params.block_size() as usize } else { SIZE };
    let (bits, id_bits, max) = (params.bits_per_sample(), params.id_bits(), params.max());
    let last_id = u32::MAX >> (32 - id_bits);
    // Lanes that a group fills: blocks of eight samples leave half of them.
    let lanes = block_size.min(GROUP);
    let used = u16::MAX >> (GROUP - lanes);
    let groups = block_size / lanes;

    let Place { bit: mut block_start, before: first_before, blocks: mut left } = place;
    let mut before = _mm512_set1_epi32(first_before.cast_signed());
    for slots in out.chunks_exact_mut(block_size) {
        if left == 0 {
            break;
        }
        let Some(head) = window(stream, block_start) else { break };
        #[expect(clippy::cast_possible_truncation, reason = "up to five bits")]
        let id = (head >> (64 - id_bits)) as u32;
        let mut at = block_start + u64::from(id_bits);
        let mut mapped = [_mm512_setzero_si512(); MAX_GROUPS];
        let width = if id == last_id {
            bits
        } else {
            // 0 becomes too much.
            let k = id.wrapping_sub(1);
            if k > bits {
                break;
            }
            let most = _mm512_set1_epi32((max >> k.min(31)).cast_signed());
            let mut is_usual = true;
            for upper in mapped.iter_mut().take(groups) {
                let Some(ones) = window(stream, at) else { return stopped(block_start, before, left) };
                let ones = ones.reverse_bits();
                let last = _pdep_u64(1 << (lanes - 1), ones);
                is_usual &= last != 0;
                *upper = _mm512_maskz_mov_epi32(used, unary(ones));
                is_usual &= _mm512_cmpgt_epu32_mask(*upper, most) == 0;
                at += u64::from(last.trailing_zeros()) + 1;
            }
            if !is_usual {
                break;
            }
            k
        };
        if width > 0 {
            let fields = Fields::new(width);
            for upper in mapped.iter_mut().take(groups) {
                let Some(lower) = fields.take(stream, at) else { return stopped(block_start, before, left) };
                let shifted = _mm512_sll_epi32(*upper, _mm_cvtsi32_si128(width.cast_signed()));
                *upper = _mm512_maskz_mov_epi32(used, _mm512_or_si512(shifted, lower));
                at += lanes as u64 * u64::from(width);
            }
        }
        for (mapped, slots) in mapped.into_iter().zip(slots.chunks_exact_mut(lanes)) {
            let samples = unmap(mapped, before, max);
            before = _mm512_permutexvar_epi32(_mm512_set1_epi32(LAST), samples);
            #[allow(unsafe_code, reason = "instructions that not every processor has")]
            // SAFETY: this function has more than what is asked for.
            unsafe {
                sink.sixteen(samples, slots);
            }
        }
        block_start = at;
        left -= 1;
    }
    stopped(block_start, before, left)
}

/// The place behind the blocks that were decoded.
#[inline]
#[target_feature(enable = "avx512f")]
fn stopped(bit: u64, before: __m512i, blocks: u32) -> Place {
    Place { bit, before: _mm_cvtsi128_si32(_mm512_castsi512_si128(before)).cast_unsigned(), blocks }
}

/// The 64 bits from `bit` on.
#[inline]
fn window(stream: &[u8], bit: u64) -> Option<u64> {
    let bytes = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    Some((u128::from_be_bytes(*bytes) << (bit % 8) >> 64) as u64)
}

/// The 64 bytes from that with `bit` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(stream: &[u8], bit: u64) -> Option<__m512i> {
    let bytes: &[u8; 64] = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 64 bytes.
    Some(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
}

/// The zeros before each of the sixteen lowest ones.
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
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 64 bytes.
    let positions = unsafe { _mm512_loadu_si512(POSITIONS.as_ptr().cast()) };
    let ends = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(ones, positions));
    let minus_one = _mm_set1_epi8(-1);
    let starts = _mm_alignr_epi8::<15>(ends, minus_one);
    _mm512_cvtepu8_epi32(_mm_add_epi8(_mm_sub_epi8(ends, starts), minus_one))
}

/// Sixteen fields of one width.
struct Fields {
    width: u32,
    /// The first bit of each.
    narrow: __m512i,
}

impl Fields {
    /// Fields of 1 to 32 bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(width: u32) -> Self {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        Self { width, narrow: _mm512_mullo_epi32(lanes, _mm512_set1_epi32(width.cast_signed())) }
    }

    /// The fields from `bit` on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn take(&self, stream: &[u8], bit: u64) -> Option<__m512i> {
        if self.width > MAX_NARROW {
            let low = self.take_wide(stream, bit)?;
            let high = self.take_wide(stream, bit + 8 * u64::from(self.width))?;
            return Some(lower_halves(low, high));
        }
        let bytes = load(stream, bit)?;
        let bits = _mm512_add_epi32(self.narrow, _mm512_set1_epi32((bit % 8) as i32));
        let first_bytes = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        let from = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(bits), _mm512_broadcast_i32x4(first_bytes));
        let from = _mm512_add_epi8(from, _mm512_set1_epi32(0x0001_0203));
        let fields =
            _mm512_sllv_epi32(_mm512_permutexvar_epi8(from, bytes), _mm512_and_si512(bits, _mm512_set1_epi32(7)));
        Some(_mm512_srl_epi32(fields, _mm_cvtsi32_si128(32 - self.width.cast_signed())))
    }

    /// Eight fields in lanes of 64 bits.
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

/// Samples of mapped differences; all lanes of `before` are the sample before them.
#[inline]
#[target_feature(enable = "avx512f")]
fn unmap(mapped: __m512i, before: __m512i, max: u32) -> __m512i {
    let zero = _mm512_setzero_si512();
    let odd = _mm512_and_si512(mapped, _mm512_set1_epi32(1));
    let half = _mm512_srli_epi32::<1>(mapped);
    let sums = _mm512_xor_si512(half, _mm512_sub_epi32(zero, odd));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<15>(sums, zero));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
    let sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
    let samples = _mm512_add_epi32(sums, before);
    let befores = _mm512_alignr_epi32::<15>(samples, before);
    let above = _mm512_sub_epi32(_mm512_set1_epi32(max.cast_signed()), befores);
    let distances = _mm512_add_epi32(half, odd);
    if _mm512_cmple_epu32_mask(distances, _mm512_min_epu32(befores, above)) == u16::MAX {
        samples
    } else {
        unmap_slowly(mapped, before, max)
    }
}

/// [`unmap`] where a difference reaches beyond the range.
#[inline]
#[target_feature(enable = "avx512f")]
#[allow(unsafe_code, reason = "loads and stores where a reference points")]
fn unmap_slowly(mapped: __m512i, before: __m512i, max: u32) -> __m512i {
    let mut lanes = [0_u32; GROUP];
    // SAFETY: there are 64 bytes.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), mapped) };
    let before = _mm_cvtsi128_si32(_mm512_castsi512_si128(before)).cast_unsigned();
    let lanes = unmap_each(lanes, before, max);
    // SAFETY: there are 64 bytes.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}
