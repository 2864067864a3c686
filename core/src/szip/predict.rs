//! The inverse of the preprocessor: each value is the mapped difference to the sample before it.
//!
//! ```text
//! θ = min(before, max - before)                     samples are 0 ... max
//! d ≤ 2θ, even    sample = before + d / 2
//! d ≤ 2θ, odd     sample = before - (d + 1) / 2
//! d > 2θ          sample = d or max - d, whichever side of before is the wider one
//! ```
//!
//! The last case is rare, and cannot occur as long as samples stay farther from 0 and `max` than the largest difference
//! reaches. So differences are added up as if it did not exist, in loops that vectorise; if then a sample lies too near an
//! end, the sums are taken back and the block is done one by one. Format: PIPELINE §7.2.

use core::hint::select_unpredictable;

use super::bits::GROUP;

/// Turns mapped differences into samples of 0 to `max`, and returns the last one.
///
/// `all` is no less than any value. It and `before` must not exceed `max`.
#[inline]
pub(super) fn unmap(values: &mut [u32], all: u32, before: u32, max: u32) -> u32 {
    let reach = distance(all);
    let Some(inner) = max.checked_sub(reach.saturating_mul(2)) else { return unmap_each(values, before, max) };
    let is_near_end = |sample: u32| sample.wrapping_sub(reach) > inner;
    if is_near_end(before) {
        return unmap_each(values, before, max);
    }
    for value in values.iter_mut() {
        *value = difference(*value);
    }
    let last = add_up(values, before);
    if values.iter().fold(false, |any, &sample| any | is_near_end(sample)) {
        map_each(values, before);
        return unmap_each(values, before, max);
    }
    last
}

/// Turns differences into samples, and returns the last one.
#[inline]
fn add_up(differences: &mut [u32], before: u32) -> u32 {
    let mut sample = before;
    let mut add = |difference: &mut u32| {
        sample = sample.wrapping_add(*difference);
        *difference = sample;
    };
    let (groups, tail) = differences.as_chunks_mut::<GROUP>();
    for group in groups {
        group.iter_mut().for_each(&mut add);
    }
    tail.iter_mut().for_each(add);
    sample
}

/// [`unmap`] without assumptions. Which case it is cannot be foreseen here, so that nothing depends on a branch.
#[inline(never)]
fn unmap_each(values: &mut [u32], before: u32, max: u32) -> u32 {
    let mut before = before;
    for value in values {
        let mirror = select_unpredictable(before > max >> 1, max, 0);
        let near = before.wrapping_add(difference(*value));
        // x ^ max is max - x.
        *value = select_unpredictable(distance(*value) <= before ^ mirror, near, *value ^ mirror);
        before = *value;
    }
    before
}

/// Takes sums of differences back to what was mapped.
#[cold]
fn map_each(values: &mut [u32], before: u32) {
    let mut before = before;
    for value in values {
        let difference = value.wrapping_sub(before);
        before = *value;
        *value = difference.wrapping_shl(1) ^ if difference > i32::MAX as u32 { u32::MAX } else { 0 };
    }
}

/// The difference that `mapped` stands for if it is within θ.
#[inline]
const fn difference(mapped: u32) -> u32 {
    (mapped >> 1) ^ (mapped & 1).wrapping_neg()
}

/// The size of that difference; of all bits set in several values, the most it can be for any.
#[inline]
const fn distance(mapped: u32) -> u32 {
    (mapped >> 1).wrapping_add(mapped & 1)
}
