//! The predictor undone sample by sample, for groups in which a difference reaches beyond the range of samples.

use std::hint::select_unpredictable;

/// Turns mapped differences into samples of 0 to `max`, of which `before` comes before the first.
#[cold]
#[inline(never)]
pub(super) fn unmap_each<const N: usize>(mapped: [u32; N], before: u32, max: u32) -> [u32; N] {
    let mut before = before;
    mapped.map(|mapped| {
        let mirror = select_unpredictable(before > max >> 1, max, 0);
        let distance = (mapped >> 1) + (mapped & 1);
        let near = before.wrapping_add((mapped >> 1) ^ (mapped & 1).wrapping_neg());
        // x ^ max is max - x.
        before = select_unpredictable(distance <= before ^ mirror, near, mapped ^ mirror);
        before
    })
}
