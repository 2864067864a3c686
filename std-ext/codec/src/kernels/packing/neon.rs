//! Eight fields by NEON, two to a register, at any width up to 57 bits.
//!
//! ```text
//! for each group of eight fields of B bits, which are B bytes:
//!     load     16 bytes: all fields if B ≤ 16, four if B ≤ 32, two otherwise
//!     permute  to each lane of 64 bits the bytes that hold its field, the last one lowest, above them zeros
//!     mask     off the bits of the fields before and after; whole bytes have none
//!     convert, multiply, add, store
//! ```
//!
//! The trick: a field stays where its last byte has it, up to seven bits above bit 0. The scale of each lane is divided
//! by that power of two instead, which is exact, so nothing is shifted.
//!
//! Conversions and stores are the limit: eight values take four permutations, four conversions, four multiplications,
//! four additions and two stores of two registers each. With loads, masks and the loop that is 2.9 instructions a value
//! of 8 bits, 3.4 of 12, 3.1 of 24 and 3.6 of widths such as 17. The compiler's code for core's loops has 4.1, 6.4, 8.8
//! and 23.
//!
//! Left out: 16 and 32 bits. The compiler makes the same permutations of core's loops, 2.8 and 3.0 instructions a value.
//! Left out: for fields of up to 25 bits, four lanes of 32 bits would share one permutation and one mask, but widening
//! them to 64 bits gives all but a few per cent back.

use std::arch::aarch64::{
    float64x2_t, uint8x16_t, vaddq_f64, vandq_u8, vcvtq_f64_u64, vdupq_n_f64, vdupq_n_u8, vmulq_f64, vqtbl1q_u8,
    vreinterpretq_f64_u8, vreinterpretq_u64_u8,
};

use tgm_core::szip::Formula;

use super::GROUP;
use super::store::Store;
use crate::kernels::neon::load;

/// The widest field that lies within eight bytes, wherever its first bit is: up to seven bits of a byte come before it.
pub(super) const MAX_BITS: u32 = 57;
/// Registers for a group.
const PAIRS: usize = GROUP / 2;

/// For each pair of fields: which bytes go to which lane, the bits that belong to the fields, the scale of each lane.
struct Plan {
    bytes: [[u8; 16]; PAIRS],
    masks: [[u64; 2]; PAIRS],
    scales: [[f64; 2]; PAIRS],
    /// Where each pair is loaded from, counted from the group's first byte.
    from: [usize; PAIRS],
}

impl Plan {
    /// The plan for fields of `bits` bits, 1 to [`MAX_BITS`], in `loads` loads a group. `None` if a scale is not exact.
    fn new(bits: u32, scale: f64, loads: usize) -> Option<Self> {
        let bits = bits as usize;
        let mut plan =
            Self { bytes: [[u8::MAX; 16]; PAIRS], masks: [[0; 2]; PAIRS], scales: [[0.0; 2]; PAIRS], from: [0; PAIRS] };
        let pairs = plan.bytes.iter_mut().zip(&mut plan.masks).zip(&mut plan.scales).zip(&mut plan.from);
        for (pair, (((bytes, masks), scales), from)) in pairs.enumerate() {
            // The first field of those that are loaded together.
            let first_loaded = pair * loads / PAIRS * (GROUP / loads);
            *from = first_loaded * bits / 8;
            let (lanes, _) = bytes.as_chunks_mut::<8>();
            for (((field, lane), mask), lane_scale) in (2 * pair..).zip(lanes).zip(masks).zip(scales) {
                let (first_bit, end_bit) = (field * bits, (field + 1) * bits);
                // Lanes keep places without a byte at 255, which permutes a zero there.
                let sources = (first_bit / 8..end_bit.div_ceil(8)).rev();
                lane.iter_mut().zip(sources).for_each(|(slot, byte)| {
                    *slot = u8::try_from(byte - *from).unwrap_or(u8::MAX);
                });
                let above = end_bit.next_multiple_of(8) - end_bit;
                *mask = (u64::MAX >> (64 - bits)) << above;
                let power = f64::from(1_u32 << above);
                *lane_scale = scale / power;
                // Below the normal numbers the division may round.
                if lane_scale.abs() < f64::MIN_POSITIVE && scale != 0.0 {
                    return None;
                }
            }
        }
        Some(plan)
    }
}

/// Unpacks as many pairs of groups as there are bytes and slots for, except a few at the end; returns the number of
/// values.
#[target_feature(enable = "neon")]
pub(super) fn unpack<S: Store>(bytes: &[u8], bits: u32, formula: Formula, out: &mut [[S::Slot; GROUP]]) -> usize {
    match (bits, bits.is_multiple_of(8)) {
        // The compiler's code for core's loops is as short.
        (16 | 32, _) => 0,
        (..=16, true) => unpack_by::<S, 1, 32, true>(bytes, bits, formula, out),
        (..=16, false) => unpack_by::<S, 1, 32, false>(bytes, bits, formula, out),
        (..=32, true) => unpack_by::<S, 2, 64, true>(bytes, bits, formula, out),
        (..=32, false) => unpack_by::<S, 2, 64, false>(bytes, bits, formula, out),
        (_, true) => unpack_by::<S, 4, 128, true>(bytes, bits, formula, out),
        (_, false) => unpack_by::<S, 4, 128, false>(bytes, bits, formula, out),
    }
}

/// [`unpack`] with `LOADS` loads for a group. `REACH` bytes hold two groups and what their loads read after them.
#[inline]
#[target_feature(enable = "neon")]
fn unpack_by<S: Store, const LOADS: usize, const REACH: usize, const WHOLE_BYTES: bool>(
    bytes: &[u8],
    bits: u32,
    formula: Formula,
    out: &mut [[S::Slot; GROUP]],
) -> usize {
    let Some(plan) = Plan::new(bits, formula.scale, LOADS) else { return 0 };
    let permutations = plan.bytes.each_ref().map(|bytes| load(bytes));
    let masks = plan.masks.each_ref().map(|mask| load(mask));
    let scales = plan.scales.each_ref().map(|scales| vreinterpretq_f64_u8(load(scales)));
    let reference = vdupq_n_f64(formula.reference);
    // Never less than the real places; said so that the compiler knows that they are within reach.
    let step = (bits as usize).min(REACH / 2);
    let from = plan.from.map(|from| from.min(REACH / 2 - 16));

    let mut rest = bytes;
    let mut done = 0;
    // Two groups at a time halve what the loop costs: a tenth of all.
    let (twos, _) = out.as_chunks_mut::<2>();
    for two in twos {
        let Some(reach) = rest.first_chunk::<REACH>() else { break };
        for (slots, group) in two.iter_mut().zip([0, step]) {
            let loaded: [uint8x16_t; LOADS] =
                std::array::from_fn(|i| sixteen(reach, group + from[i * (PAIRS / LOADS)]));
            let values: [float64x2_t; PAIRS] = std::array::from_fn(|pair| {
                let fields = vqtbl1q_u8(loaded[pair * LOADS / PAIRS], permutations[pair]);
                let fields = if WHOLE_BYTES { fields } else { vandq_u8(fields, masks[pair]) };
                let q = vcvtq_f64_u64(vreinterpretq_u64_u8(fields));
                vaddq_f64(reference, vmulq_f64(scales[pair], q))
            });
            #[allow(unsafe_code, reason = "instructions that not every processor has")]
            // SAFETY: this function has NEON itself.
            unsafe {
                S::pairs(values, slots);
            }
        }
        rest = rest.get(2 * step..).unwrap_or_default();
        done += 2 * GROUP;
    }
    done
}

/// The 16 bytes from one place on.
#[inline]
#[target_feature(enable = "neon")]
fn sixteen<const REACH: usize>(bytes: &[u8; REACH], from: usize) -> uint8x16_t {
    match bytes.get(from..).and_then(|bytes| bytes.first_chunk::<16>()) {
        Some(bytes) => load(bytes),
        None => vdupq_n_u8(0),
    }
}
