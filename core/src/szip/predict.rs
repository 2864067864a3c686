//! The inverse of the preprocessor: each value is the mapped difference to the sample before it.
//!
//! # Plain way
//!
//! ```text
//! samples are 0 ... max
//! for each value d:
//!     θ = min(before, max - before)
//!     if d ≤ 2θ and d is even:   sample = before + d / 2
//!     if d ≤ 2θ and d is odd:    sample = before - (d + 1) / 2
//!     if d > 2θ:                 sample = d         if before is in the lower half
//!                                         max - d   otherwise
//! ```
//!
//! # Trick: assume that the last case does not occur
//!
//! ```text
//! reach = the size of the largest difference that the values can stand for
//! turn every value into a difference, and add the differences up
//! if every sample is at least reach away from 0 and from max: done
//! otherwise: turn the sums back into values, and do them the plain way
//! ```
//!
//! This is right because d > 2θ needs a sample before it that is closer to 0 or to `max` than d / 2, rounded up. It pays
//! because such samples are rare, and because both loops compile to vector code. Format: PIPELINE §7.2.

use core::hint::select_unpredictable;

use super::bits::GROUP;

/// Turns mapped differences into samples of 0 to `max`, and returns the last sample.
///
/// `before` is the sample before the values. `all` has at least the bits that are set in any value, so no value exceeds it.
/// Neither `all` nor `before` may exceed `max`.
#[inline]
pub(super) fn unmap(values: &mut [u32], all: u32, before: u32, max: u32) -> u32 {
    let reach = distance(all);
    let Some(inner) = max.checked_sub(reach.saturating_mul(2)) else { return unmap_near_end(values, before, max) };
    // One comparison for two: `sample - reach` wraps to a large number if the sample is below reach.
    let is_near_end = |sample: u32| sample.wrapping_sub(reach) > inner;
    if is_near_end(before) {
        return unmap_near_end(values, before, max);
    }
    for value in values.iter_mut() {
        *value = difference(*value);
    }
    let last = add_up(values, before);
    if values.iter().fold(false, |any, &sample| any | is_near_end(sample)) {
        map_each(values, before);
        return unmap_near_end(values, before, max);
    }
    last
}

/// Turns differences into samples, and returns the last sample.
#[inline]
fn add_up(differences: &mut [u32], before: u32) -> u32 {
    let mut sample = before;
    let mut add = |difference: &mut u32| {
        sample = sample.wrapping_add(*difference);
        *difference = sample;
    };
    // Groups of a fixed length let the compiler unroll the loop.
    let (groups, tail) = differences.as_chunks_mut::<GROUP>();
    for group in groups {
        group.iter_mut().for_each(&mut add);
    }
    tail.iter_mut().for_each(add);
    sample
}

/// [`unmap_each`] as a function of its own, so that the vector loops of [`unmap`] stay free of it.
#[inline(never)]
fn unmap_near_end(values: &mut [u32], before: u32, max: u32) -> u32 {
    unmap_each(values, before, max)
}

/// Turns mapped differences into samples of 0 to `max` one by one, the plain way, and returns the last one.
///
/// The samples are right if neither the values nor `before`, the sample before them, exceed `max`. A processor cannot predict
/// which case comes next, so the code selects values without a branch.
#[inline]
pub fn unmap_each(values: &mut [u32], before: u32, max: u32) -> u32 {
    let mut before = before;
    for value in values {
        let mirror = select_unpredictable(before > max >> 1, max, 0);
        let near = before.wrapping_add(difference(*value));
        // max has all bits of a sample set, so x ^ max is max - x. So `before ^ mirror` is θ, and `*value ^ mirror` is the
        // last case. `distance(d) <= θ` says the same as d ≤ 2θ.
        *value = select_unpredictable(distance(*value) <= before ^ mirror, near, *value ^ mirror);
        before = *value;
    }
    before
}

/// The inverse of [`difference`] and [`add_up`]: turns sums back into mapped differences.
#[cold]
fn map_each(values: &mut [u32], before: u32) {
    let mut before = before;
    for value in values {
        let difference = value.wrapping_sub(before);
        before = *value;
        *value = difference.wrapping_shl(1) ^ if difference > i32::MAX as u32 { u32::MAX } else { 0 };
    }
}

/// The difference that `mapped` stands for in the first two cases: d / 2 for even d, -(d + 1) / 2 for odd d.
#[inline]
const fn difference(mapped: u32) -> u32 {
    (mapped >> 1) ^ (mapped & 1).wrapping_neg()
}

/// The size of that difference: d / 2, rounded up. It grows with `mapped`, so a bound of several values gives a bound of
/// their differences.
#[inline]
const fn distance(mapped: u32) -> u32 {
    (mapped >> 1).wrapping_add(mapped & 1)
}
