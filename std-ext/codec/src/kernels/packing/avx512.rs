//! Eight fields by AVX-512, in eight lanes of 64 bits, at any width up to 57 bits.
//!
//! ```text
//! for each group of eight fields of B bits, which are B bytes:
//!     load     B bytes, by a mask: nothing after the last group is touched
//!     permute  to each lane the eight bytes that begin with its field's first bit, the first one on top
//!     shift    the field's last bit down to bit 0, then mask off the fields before it
//!     convert, multiply, add, store
//! ```
//!
//! VBMI's `vpermb` moves bytes across the whole register, so one permutation serves every width.
//!
//! The limit is stores. Eight values take 10.5 instructions (13 to `f32`), of which one stores 64 bytes. In cache that is as fast
//! as a fill or faster (1.25 to 1.3 ×). Larger outputs wait for memory.

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
#[derive(Clone, Copy)]
struct Plan {
    bytes: [[u8; 8]; GROUP],
    shifts: [u64; GROUP],
}

/// The plans for fields of 0 to [`MAX_BITS`] bits. The compiler makes them: that takes as long as to unpack a hundred values.
static PLANS: [Plan; MAX_BITS as usize + 1] = {
    let mut plans = [Plan { bytes: [[0; 8]; GROUP], shifts: [0; GROUP] }; MAX_BITS as usize + 1];
    let mut bits = 0;
    while bits < plans.len() {
        plans[bits] = Plan::new(bits);
        bits += 1;
    }
    plans
};

impl Plan {
    /// The plan for fields of `bits` bits, up to [`MAX_BITS`].
    #[expect(clippy::cast_possible_truncation, reason = "a byte in 64")]
    const fn new(bits: usize) -> Self {
        let mut plan = Self { bytes: [[0; 8]; GROUP], shifts: [0; GROUP] };
        let mut field = 0;
        while field < GROUP {
            let first = field * bits;
            // A lane may be longer than its field. Bytes after the register wrap around: the shift drops them.
            let mut byte = 0;
            while byte < 8 {
                plan.bytes[field][7 - byte] = ((first / 8 + byte) & 63) as u8;
                byte += 1;
            }
            plan.shifts[field] = (64 - first % 8 - bits) as u64;
            field += 1;
        }
        plan
    }
}

/// Unpacks as many groups as there are bytes and slots for; returns the number of values.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn unpack<S: Store>(bytes: &[u8], bits: u32, formula: Formula, out: &mut [[S::Slot; GROUP]]) -> usize {
    let Some(plan) = PLANS.get(bits as usize) else { return 0 };
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
