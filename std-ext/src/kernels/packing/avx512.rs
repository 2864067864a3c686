//! Eight fields in eight lanes of 64 bits, at any width up to 57 bits.
//!
//! ```text
//! bytes   B of them, loaded alone: nothing behind the last group is touched
//! permute to each lane the eight bytes from that of its field's first bit on, the first one on top
//! shift   the field's last bit to the bottom; mask; convert; multiply; add
//! ```

use std::arch::x86_64::{
    __m512i, _mm512_add_pd, _mm512_and_si512, _mm512_cvtepu64_pd, _mm512_loadu_epi8, _mm512_loadu_si512,
    _mm512_maskz_loadu_epi8, _mm512_mul_pd, _mm512_permutexvar_epi8, _mm512_set1_epi64, _mm512_set1_pd,
    _mm512_srlv_epi64,
};

use tgm_core::packing::Packing;

use super::GROUP;
use super::store::Store;

/// With up to seven bits before it, a field of so many lies within eight bytes.
pub(super) const MAX_BITS: u32 = 57;

/// Which bytes go to which lane, and how far down.
struct Plan {
    bytes: [u8; 64],
    shifts: [u64; GROUP],
}

impl Plan {
    /// For fields of `bits`, 1 to [`MAX_BITS`].
    fn new(bits: u32) -> Self {
        let mut plan = Self { bytes: [0; 64], shifts: [0; GROUP] };
        let (lanes, _) = plan.bytes.as_chunks_mut::<8>();
        for ((first, lane), shift) in (0_u64..).step_by(bits as usize).zip(lanes).zip(&mut plan.shifts) {
            // Bytes behind the eight fields are shifted out.
            (first / 8..).zip(lane.iter_mut().rev()).for_each(|(byte, slot)| *slot = (byte & 63) as u8);
            *shift = 64 - first % 8 - u64::from(bits);
        }
        plan
    }
}

/// Unpacks as many groups as there are bytes and slots for; returns the number of values.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) fn unpack<S: Store>(bytes: &[u8], packing: &Packing, out: &mut [[S::Slot; GROUP]]) -> usize {
    let bits = packing.bits_per_value;
    let plan = Plan::new(bits);
    #[allow(unsafe_code, reason = "loads from where references point")]
    // SAFETY: both arrays are 64 bytes long.
    let (permutation, shifts) =
        unsafe { (_mm512_loadu_epi8(plan.bytes.as_ptr().cast()), _mm512_loadu_si512(plan.shifts.as_ptr().cast())) };
    let mask = _mm512_set1_epi64((u64::MAX >> (64 - bits)).cast_signed());
    let (reference, scale) = (_mm512_set1_pd(packing.reference_value), _mm512_set1_pd(packing.scale()));
    let mut done = 0;
    for (slots, group) in out.iter_mut().zip(bytes.chunks_exact(bits as usize)) {
        let fields = _mm512_permutexvar_epi8(permutation, load(group));
        let fields = _mm512_and_si512(_mm512_srlv_epi64(fields, shifts), mask);
        let values = _mm512_add_pd(reference, _mm512_mul_pd(scale, _mm512_cvtepu64_pd(fields)));
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        // SAFETY: this function has more than what is asked for.
        unsafe {
            S::eight(values, slots);
        }
        done += GROUP;
    }
    done
}

/// Up to 64 bytes, and zeros behind them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8]) -> __m512i {
    let excess = 64_usize.saturating_sub(bytes.len());
    let mask = if excess == 64 { 0 } else { u64::MAX >> excess };
    #[allow(unsafe_code, reason = "a load from where a reference points")]
    // SAFETY: bytes that are not in the mask are not touched, and those in it are there.
    unsafe {
        _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast())
    }
}
