//! szip by NEON: eight samples in eight lanes of 32 bits, which are two registers.
//!
//! NEON has no instruction that gathers the positions of ones. So unary codes are read one after the other: the leading
//! zeros are counted, then shifted out with the one after them. Each code waits for the one before, but that takes
//! four instructions.
//!
//! Fields begin at the same bit of a byte in each eight samples of a block, because eight fields of k bits are k bytes.
//! So permutation and shifts are made once for a block.
//!
//! It takes 36, 27 and 29 instructions a value of 8, 16 and 24 bits, for smooth fields, with unpacking, where core's code
//! takes 51, 42 and 46. No time was measured.

#![allow(unsafe_code, reason = "functions of a trait that needs instructions which not every processor has")]

use std::arch::aarch64::{
    int32x4_t, uint8x16_t, uint32x4_t, vaddq_u32, vandq_u32, vcgeq_u32, vcreate_u8, vdupq_laneq_u32, vdupq_n_s32,
    vdupq_n_u32, veorq_u32, vextq_u32, vget_high_u16, vget_low_u16, vgetq_lane_u32, vmaxv_u8, vminq_u32, vminvq_u32,
    vmovl_u8, vmovl_u16, vmulq_u32, vnegq_s32, vorrq_u32, vqtbl1q_u8, vreinterpretq_s32_u32, vreinterpretq_u8_u32,
    vreinterpretq_u32_s32, vreinterpretq_u32_u8, vrshrq_n_u32, vshlq_u32, vshrq_n_u32, vsubq_u32,
};

use tgm_core::szip::{Params, Place};

use super::driver::{self, MAX_NARROW, Vector, unmap_slowly, window};
use super::sink::Sink;
use crate::kernels::neon;

/// Samples in two registers.
const LEN: usize = 8;
/// Pairs of registers for the largest block, of 64 samples.
const MAX_GROUPS: usize = 8;
/// The bytes that hold eight narrow fields, and what their loads read after them.
const REACH: usize = 32;

/// Eight samples: the first four and the last.
pub(super) type Eight = [uint32x4_t; 2];

/// [`driver::decode`] for NEON.
#[target_feature(enable = "neon")]
pub(super) fn decode<S: Sink>(stream: &[u8], params: &Params, place: Place, out: &mut [S::Slot], sink: &S) -> Place {
    // SAFETY: this function has the instructions.
    unsafe { driver::decode::<Neon, S>(stream, params, place, out, sink) }
}

struct Neon;

impl Vector for Neon {
    type Lanes = Eight;
    type Block = [Eight; MAX_GROUPS];
    type Fields = Fields;

    const LEN: usize = LEN;
    const AT_ONCE: usize = 1;
    const TAKES_PLAIN: bool = false;

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn zeros() -> Self::Block {
        [[vdupq_n_u32(0); 2]; MAX_GROUPS]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn splat(sample: u32) -> Eight {
        [vdupq_n_u32(sample); 2]
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn first(lanes: Eight) -> u32 {
        let [low, _] = lanes;
        vgetq_lane_u32::<0>(low)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn splat_last(lanes: Eight) -> Eight {
        let [_, high] = lanes;
        [vdupq_laneq_u32::<3>(high); 2]
    }

    /// A code of n is n zeros and a one.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn unary(stream: &[u8], bit: u64, _count: usize, most: u32, codes: &mut [Eight]) -> Option<u32> {
        let mut window = window(stream, bit)?;
        // A code in each byte.
        let (mut found, mut zeros) = (0_u64, 0);
        for shift in (0..64).step_by(8) {
            zeros = window.leading_zeros();
            found |= u64::from(zeros) << shift;
            // Without a one there are 64 zeros, now and for all codes after.
            window = window.wrapping_shl(zeros) << 1;
        }
        let bytes = vcreate_u8(found);
        if zeros == u64::BITS || u32::from(vmaxv_u8(bytes)) > most {
            return None;
        }
        let pairs = vmovl_u8(bytes);
        if let Some(codes) = codes.first_mut() {
            *codes = [vmovl_u16(vget_low_u16(pairs)), vmovl_u16(vget_high_u16(pairs))];
        }
        // The sum of the bytes, which is below 64, comes to the last one.
        let sum = found.wrapping_mul(0x0101_0101_0101_0101) >> 56;
        #[expect(clippy::cast_possible_truncation, reason = "a byte")]
        let len = sum as u32 + LEN as u32;
        Some(len)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn fields(width: u32, bit: u64) -> Fields {
        Fields::new(width, bit)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn append(fields: &Fields, upper: Eight, stream: &[u8], bit: u64, _lanes: usize) -> Option<Eight> {
        let [low, high] = fields.take(stream, bit)?;
        let [upper_low, upper_high] = upper;
        let up = fields.up;
        Some([vorrq_u32(vshlq_u32(upper_low, up), low), vorrq_u32(vshlq_u32(upper_high, up), high)])
    }

    /// Adds up all differences as if none were out of range, then tests whether that was so.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn unmap(mapped: Eight, before: Eight, max: u32) -> Eight {
        let [low, high] = mapped;
        let [before, _] = before;
        let max_lanes = vdupq_n_u32(max);
        let (low, low_fits) = unmap_four(low, before, max_lanes);
        let (high, high_fits) = unmap_four(high, vdupq_laneq_u32::<3>(low), max_lanes);
        if vminvq_u32(vandq_u32(low_fits, high_fits)) == u32::MAX {
            [low, high]
        } else {
            unmap_each(mapped, vgetq_lane_u32::<0>(before), max)
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn store<S: Sink>(samples: Eight, sink: &S, slots: &mut [S::Slot]) {
        if let Some(slots) = slots.first_chunk_mut() {
            // SAFETY: this function has what is asked for.
            unsafe { sink.two_fours(samples, slots) }
        }
    }
}

/// Four samples, and ones in the lanes whose difference is in range; all lanes of `before` are the sample before them.
#[inline]
#[target_feature(enable = "neon")]
fn unmap_four(mapped: uint32x4_t, before: uint32x4_t, max: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
    let zero = vdupq_n_u32(0);
    // Even numbers are rises of half, odd ones falls of half + 1, which is the complement of half.
    let odd = vandq_u32(mapped, vdupq_n_u32(1));
    let falls = vreinterpretq_u32_s32(vnegq_s32(vreinterpretq_s32_u32(odd)));
    let sums = veorq_u32(vshrq_n_u32::<1>(mapped), falls);
    // A prefix sum: each step adds what is one, then two lanes before.
    let sums = vaddq_u32(sums, vextq_u32::<3>(zero, sums));
    let sums = vaddq_u32(sums, vextq_u32::<2>(zero, sums));
    let samples = vaddq_u32(sums, before);
    // A difference is in range if it is no greater than the room on the nearer side of the sample before it.
    let befores = vextq_u32::<3>(before, samples);
    let room = vminq_u32(befores, vsubq_u32(max, befores));
    // Half of the number, rounded up.
    let distances = vrshrq_n_u32::<1>(mapped);
    (samples, vcgeq_u32(room, distances))
}

/// [`Vector::unmap`] where a difference is out of range.
#[inline]
#[target_feature(enable = "neon")]
fn unmap_each(mapped: Eight, before: u32, max: u32) -> Eight {
    let mut lanes = [0_u32; LEN];
    let (halves, _) = lanes.as_chunks_mut::<4>();
    halves.iter_mut().zip(mapped).for_each(|(half, mapped)| neon::store(vreinterpretq_u8_u32(mapped), half));
    unmap_slowly(&mut lanes, before, max);
    load_eight(&lanes)
}

#[inline]
#[target_feature(enable = "neon")]
fn load_eight(lanes: &[u32; LEN]) -> Eight {
    let mut eight = [vdupq_n_u32(0); 2];
    let (halves, _) = lanes.as_chunks::<4>();
    eight.iter_mut().zip(halves).for_each(|(slot, half)| *slot = vreinterpretq_u32_u8(neon::load(half)));
    eight
}

/// Eight fields of one width, of which the first begins at some bit of a byte.
struct Fields {
    width: u32,
    /// How far samples move up to make room for a field.
    up: int32x4_t,
    /// Bytes between the first one of the first four fields and the first one of the last four.
    middle: usize,
    /// The four bytes from the first one of each field on, in the opposite order: the stream has the most significant
    /// one first.
    bytes: [uint8x16_t; 2],
    /// Bits of these before the field.
    above: [int32x4_t; 2],
    /// How far fields move down after that, as a negative number.
    down: int32x4_t,
}

impl Fields {
    /// Fields of `width` bits, 1 to 32.
    #[inline]
    #[target_feature(enable = "neon")]
    fn new(width: u32, bit: u64) -> Self {
        let first = (bit % 8) as u32;
        let middle = first + 4 * width;
        let four = vmulq_u32(lane_numbers(), vdupq_n_u32(width));
        // A field that begins with bit b needs the bytes from b / 8 on, and has b % 8 bits above it.
        let bits = [first, middle % 8].map(|first| vaddq_u32(four, vdupq_n_u32(first)));
        let bytes = bits.map(|bits| {
            let from = vmulq_u32(vshrq_n_u32::<3>(bits), vdupq_n_u32(0x0101_0101));
            vreinterpretq_u8_u32(vaddq_u32(from, vdupq_n_u32(0x0001_0203)))
        });
        let above = bits.map(|bits| vreinterpretq_s32_u32(vandq_u32(bits, vdupq_n_u32(7))));
        Self {
            width,
            up: vdupq_n_s32(width.cast_signed()),
            middle: middle as usize / 8,
            bytes,
            above,
            down: vdupq_n_s32(width.cast_signed() - 32),
        }
    }

    /// The fields from `bit` on, which is as far from a whole byte as the one that was said first.
    #[inline]
    #[target_feature(enable = "neon")]
    fn take(&self, stream: &[u8], bit: u64) -> Option<Eight> {
        if self.width > MAX_NARROW {
            return self.take_wide(stream, bit);
        }
        let reach: &[u8; REACH] = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
        // Seven bits and four fields of 25 are less than 14 bytes.
        let middle: &[u8; 16] = reach.get(self.middle.min(REACH - 16)..)?.first_chunk()?;
        let loaded = [neon::load(reach.first_chunk::<16>()?), neon::load(middle)];
        let [low, high] = [0, 1].map(|half: usize| {
            let fields = vreinterpretq_u32_u8(vqtbl1q_u8(loaded[half], self.bytes[half]));
            vshlq_u32(vshlq_u32(fields, self.above[half]), self.down)
        });
        Some([low, high])
    }

    /// [`Self::take`] for fields that four bytes may not hold, one by one.
    #[target_feature(enable = "neon")]
    fn take_wide(&self, stream: &[u8], bit: u64) -> Option<Eight> {
        let mut lanes = [0_u32; LEN];
        let mut bit = bit;
        for lane in &mut lanes {
            #[expect(clippy::cast_possible_truncation, reason = "up to 32 bits")]
            let field = (window(stream, bit)? >> (64 - self.width)) as u32;
            *lane = field;
            bit += u64::from(self.width);
        }
        Some(load_eight(&lanes))
    }
}

/// The number of each lane.
#[inline]
#[target_feature(enable = "neon")]
fn lane_numbers() -> uint32x4_t {
    vreinterpretq_u32_u8(neon::load(&[0_u32, 1, 2, 3]))
}
