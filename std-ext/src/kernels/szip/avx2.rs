//! Eight samples in eight lanes of 32 bits; unary codes one after the other, which count-trailing-zeros makes quick.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi8, _mm_alignr_epi8, _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si32,
    _mm_loadu_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_setr_epi8, _mm_srli_si128, _mm_sub_epi8, _mm256_add_epi8,
    _mm256_add_epi32, _mm256_alignr_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_castsi128_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_cvtepu8_epi32, _mm256_inserti128_si256,
    _mm256_loadu_si256, _mm256_min_epu32, _mm256_movemask_epi8, _mm256_mullo_epi32, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_sll_epi32, _mm256_slli_si256, _mm256_sllv_epi32, _mm256_srl_epi32, _mm256_srli_epi32,
    _mm256_storeu_si256, _mm256_sub_epi32, _mm256_xor_si256, _pdep_u64,
};

use tgm_core::szip::{Params, Place};

use super::predict::unmap_each;
use super::sink::Sink;

/// Samples worked on at a time.
const GROUP: usize = 8;
/// The last of them.
const LAST: i32 = 7;
/// Groups in the largest block.
const MAX_GROUPS: usize = 8;
/// Blocks of sizes that are seldom.
const ANY: usize = 0;
/// With up to seven bits before it, a field of so many lies within four bytes.
const MAX_NARROW: u32 = 25;

/// Decodes blocks to the front of `out`, from `place` on, as long as they are usual; returns where it stopped.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn decode<S: Sink>(stream: &[u8], params: &Params, place: Place, out: &mut [S::Slot], sink: &S) -> Place {
    match params.block_size() {
        16 => decode_blocks::<S, 16>(stream, params, place, out, sink),
        _ => decode_blocks::<S, ANY>(stream, params, place, out, sink),
    }
}

/// [`decode`] for blocks of `SIZE` samples, which is known when this is compiled, or [`ANY`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
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
    let groups = block_size / GROUP;

    let Place { bit: mut block_start, before: first_before, blocks: mut left } = place;
    let mut before = _mm256_set1_epi32(first_before.cast_signed());
    for slots in out.chunks_exact_mut(block_size) {
        if left == 0 {
            break;
        }
        let Some(head) = window(stream, block_start) else { break };
        #[expect(clippy::cast_possible_truncation, reason = "up to five bits")]
        let id = (head >> (64 - id_bits)) as u32;
        let mut at = block_start + u64::from(id_bits);
        // Plain fields, and 0, become too much. Where fields are plain core is faster: differences go out of range all
        // the time.
        let k = id.wrapping_sub(1);
        if k > bits || id == last_id {
            break;
        }
        let most = _mm256_set1_epi32((max >> k.min(31)).min(u64::BITS).cast_signed());
        let mut vectors = [_mm256_setzero_si256(); MAX_GROUPS];
        let mut too_large = _mm256_setzero_si256();
        for pair in vectors.chunks_mut(2).take(groups.div_ceil(2)) {
            let lanes = if groups == 1 { GROUP } else { 2 * GROUP };
            let Some((codes, len)) = unary(stream, at, lanes) else { return stopped(block_start, before, left) };
            at += u64::from(len);
            for (vector, codes) in pair.iter_mut().zip(codes) {
                *vector = codes;
                too_large = _mm256_or_si256(too_large, _mm256_cmpgt_epi32(codes, most));
            }
        }
        if _mm256_movemask_epi8(too_large) != 0 {
            break;
        }
        let width = k;
        if width > 0 {
            let fields = Fields::new(width);
            for upper in vectors.iter_mut().take(groups) {
                let Some(lower) = fields.take(stream, at) else { return stopped(block_start, before, left) };
                *upper = _mm256_or_si256(_mm256_sll_epi32(*upper, _mm_cvtsi32_si128(width.cast_signed())), lower);
                at += GROUP as u64 * u64::from(width);
            }
        }
        let (slots, _) = slots.as_chunks_mut::<GROUP>();
        for (mapped, slots) in vectors.into_iter().zip(slots) {
            let samples = unmap(mapped, before, max);
            before = _mm256_permutevar8x32_epi32(samples, _mm256_set1_epi32(LAST));
            #[allow(unsafe_code, reason = "instructions that not every processor has")]
            // SAFETY: this function has more than what is asked for.
            unsafe {
                sink.eight(samples, slots);
            }
        }
        block_start = at;
        left -= 1;
    }
    stopped(block_start, before, left)
}

/// The place behind the blocks that were decoded.
#[inline]
#[target_feature(enable = "avx2")]
fn stopped(bit: u64, before: __m256i, blocks: u32) -> Place {
    Place { bit, before: first(before), blocks }
}

#[inline]
#[target_feature(enable = "avx2")]
fn first(lanes: __m256i) -> u32 {
    _mm_cvtsi128_si32(_mm256_castsi256_si128(lanes)).cast_unsigned()
}

/// The 64 bits from `bit` on.
#[inline]
fn window(stream: &[u8], bit: u64) -> Option<u64> {
    let bytes = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    Some((u128::from_be_bytes(*bytes) << (bit % 8) >> 64) as u64)
}

/// Eight or sixteen unary codes from `bit` on, and their length; zeros in the lanes of those that were not asked for.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn unary(stream: &[u8], bit: u64, count: usize) -> Option<([__m256i; 2], u32)> {
    let ones = window(stream, bit)?.reverse_bits();
    // The last code's end alone says where to go on: nothing has to wait for the others.
    let last = _pdep_u64(1 << (count - 1), ones);
    let len = last.trailing_zeros() + 1;
    let (low_ends, ones) = ends(ones);
    if count == GROUP {
        let codes = codes(_mm_cvtsi64_si128(low_ends.cast_signed()));
        return (last != 0).then_some(([low(codes), _mm256_setzero_si256()], len));
    }
    if last != 0 {
        let (high_ends, _) = ends(ones);
        let codes = codes(_mm_set_epi64x(high_ends.cast_signed(), low_ends.cast_signed()));
        return Some(([low(codes), low(_mm_srli_si128::<8>(codes))], len));
    }
    let ([first, _], first_len) = unary_eight(stream, bit)?;
    let ([second, _], second_len) = unary_eight(stream, bit + u64::from(first_len))?;
    Some(([first, second], first_len + second_len))
}

/// Eight codes, where sixteen are too long for a window.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn unary_eight(stream: &[u8], bit: u64) -> Option<([__m256i; 2], u32)> {
    unary(stream, bit, GROUP)
}

/// The positions of the eight lowest ones, a byte each, and the other ones.
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
fn low(codes: __m128i) -> __m256i {
    _mm256_cvtepu8_epi32(codes)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[u32; GROUP]) -> __m256i {
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 32 bytes.
    unsafe {
        _mm256_loadu_si256(lanes.as_ptr().cast())
    }
}

/// The 16 bytes from that with `bit` on.
#[inline]
#[target_feature(enable = "avx2")]
fn load_half(stream: &[u8], bit: u64) -> Option<__m128i> {
    let bytes: &[u8; 16] = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: there are 16 bytes.
    Some(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// Eight fields of one width.
struct Fields {
    width: u32,
    /// The first bit of each, from the first of its half of a register.
    narrow: __m256i,
}

impl Fields {
    /// Fields of 1 to 32 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(width: u32) -> Self {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
        Self { width, narrow: _mm256_mullo_epi32(lanes, _mm256_set1_epi32(width.cast_signed())) }
    }

    /// The fields from `bit` on.
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
        let bits = _mm256_add_epi32(self.narrow, _mm256_setr_epi32(low, low, low, low, high, high, high, high));
        let first_bytes =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
        let from = _mm256_shuffle_epi8(_mm256_srli_epi32::<3>(bits), first_bytes);
        let from = _mm256_add_epi8(from, _mm256_set1_epi32(0x0001_0203));
        let fields = _mm256_sllv_epi32(_mm256_shuffle_epi8(bytes, from), _mm256_and_si256(bits, _mm256_set1_epi32(7)));
        Some(_mm256_srl_epi32(fields, _mm_cvtsi32_si128(32 - self.width.cast_signed())))
    }

    #[target_feature(enable = "avx2")]
    fn take_wide(&self, stream: &[u8], bit: u64) -> Option<__m256i> {
        let mut lanes = [0; GROUP];
        let mut bit = bit;
        for lane in &mut lanes {
            #[expect(clippy::cast_possible_truncation, reason = "up to 32 bits")]
            let field = (window(stream, bit)? >> (64 - self.width)) as u32;
            *lane = field;
            bit += u64::from(self.width);
        }
        Some(load(&lanes))
    }
}

/// Samples of mapped differences; all lanes of `before` are the sample before them.
#[inline]
#[target_feature(enable = "avx2")]
fn unmap(mapped: __m256i, before: __m256i, max: u32) -> __m256i {
    let odd = _mm256_and_si256(mapped, _mm256_set1_epi32(1));
    let half = _mm256_srli_epi32::<1>(mapped);
    let sums = _mm256_xor_si256(half, _mm256_sub_epi32(_mm256_setzero_si256(), odd));
    let sums = _mm256_add_epi32(sums, _mm256_slli_si256::<4>(sums));
    let sums = _mm256_add_epi32(sums, _mm256_slli_si256::<8>(sums));
    // The sum of the lower half, in all lanes of the upper one.
    let lower = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(3));
    let sums = _mm256_add_epi32(sums, _mm256_permute2x128_si256::<0x08>(lower, lower));
    let samples = _mm256_add_epi32(sums, before);
    let shifted = _mm256_permute2x128_si256::<0x21>(before, samples);
    let befores = _mm256_alignr_epi8::<12>(samples, shifted);
    let above = _mm256_sub_epi32(_mm256_set1_epi32(max.cast_signed()), befores);
    let distances = _mm256_add_epi32(half, odd);
    let bounds = _mm256_min_epu32(befores, above);
    let fits = _mm256_cmpeq_epi32(_mm256_min_epu32(distances, bounds), distances);
    if _mm256_movemask_epi8(fits) == -1 { samples } else { unmap_slowly(mapped, before, max) }
}

/// [`unmap`] where a difference reaches beyond the range.
#[inline]
#[target_feature(enable = "avx2")]
fn unmap_slowly(mapped: __m256i, before: __m256i, max: u32) -> __m256i {
    let mut lanes = [0_u32; GROUP];
    #[allow(unsafe_code, reason = "a store to where a reference points")]
    // SAFETY: there are 32 bytes.
    unsafe {
        _mm256_storeu_si256(lanes.as_mut_ptr().cast(), mapped);
    }
    load(&unmap_each(lanes, first(before), max))
}
