//! Eight fields by AVX-512, in eight lanes of 64 bits, at any width up to 57 bits.
//!
//! ```text
//! for each group of eight fields of B bits, which are B bytes:
//!     load     B bytes, by a mask: nothing behind the last group is touched
//!     permute  to each lane the eight bytes that begin with its field's first bit, the first one on top
//!     shift    the field's last bit down to bit 0, then mask off the fields before it
//!     convert, multiply, add, store
//! ```
//!
//! VBMI's `vpermb` moves bytes across the whole register, so one permutation serves every width.

use std::arch::x86_64::{
    _mm512_and_si512, _mm512_cvtepu64_pd, _mm512_permutexvar_epi8, _mm512_set1_epi64, _mm512_srlv_epi64,
};

use tgm_core::szip::Formula;

use super::lanes::eight_values;
use super::store::Store;
use super::{GROUP, each_group};
use crate::kernels::registers::{load_512, load_front};

/// The widest field that lies within eight bytes, wherever its first bit is: up to seven bits of a byte come before it.
pub(super) const MAX_BITS: u32 = 57;

/// Which bytes go to which lane, and how far each lane is shifted.
struct Plan {
    bytes: [u8; 64],
    shifts: [u64; GROUP],
}

impl Plan {
    /// The plan for fields of `bits` bits, 1 to [`MAX_BITS`].
    fn new(bits: u32) -> Self {
        let mut plan = Self { bytes: [0; 64], shifts: [0; GROUP] };
        let (lanes, _) = plan.bytes.as_chunks_mut::<8>();
        for ((first, lane), shift) in (0_u64..).step_by(bits as usize).zip(lanes).zip(&mut plan.shifts) {
            // A lane may be longer than its field. Bytes behind the register wrap around: the shift drops them.
            (first / 8..).zip(lane.iter_mut().rev()).for_each(|(byte, slot)| *slot = (byte & 63) as u8);
            *shift = 64 - first % 8 - u64::from(bits);
        }
        plan
    }
}

/// Unpacks as many groups as there are bytes and slots for; returns the number of values.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn unpack<S: Store>(bytes: &[u8], bits: u32, formula: Formula, out: &mut [[S::Slot; GROUP]]) -> usize {
    let plan = Plan::new(bits);
    let (permutation, shifts) = (load_512(&plan.bytes), load_512(&plan.shifts));
    let mask = _mm512_set1_epi64((u64::MAX >> (64 - bits)).cast_signed());
    each_group(bytes.chunks_exact(bits as usize), out, |group, slots| {
        let fields = _mm512_permutexvar_epi8(permutation, load_front(group));
        let fields = _mm512_and_si512(_mm512_srlv_epi64(fields, shifts), mask);
        let values = eight_values(formula, _mm512_cvtepu64_pd(fields));
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        // SAFETY: this function has more than what is asked for.
        unsafe {
            S::eight(values, slots);
        }
        Some(())
    })
}
