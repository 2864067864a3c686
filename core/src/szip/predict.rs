//! The inverse of the preprocessor: each value is the mapped difference to the sample before it.
//!
//! ```text
//! θ = min(before, max - before)                     samples are 0 ... max
//! d ≤ 2θ, even    sample = before + d / 2
//! d ≤ 2θ, odd     sample = before - (d + 1) / 2
//! d > 2θ          sample = d or max - d, whichever side is the farther one from before
//! ```
//!
//! The last case is rare. A group is done as if it did not occur, by sums of sums, which vectorise; if then any value turns
//! out to be beyond its θ, the group is done again one by one. The sums up to the first such value are right, so no such
//! value is overlooked. Format: PIPELINE §7.2.

use super::bits::GROUP;

/// Turns mapped differences into samples of 0 to `max`, and returns the last one.
///
/// `before` and the values must not exceed `max`.
#[inline]
pub(super) fn unmap(values: &mut [u32], before: u32, max: u32) -> u32 {
    let mut before = before;
    let (groups, tail) = values.as_chunks_mut::<GROUP>();
    for group in groups {
        before = unmap_group(group, before, max);
    }
    unmap_each(tail, before, max)
}

#[inline]
fn unmap_group(values: &mut [u32; GROUP], before: u32, max: u32) -> u32 {
    let sums = running_sums(values.map(difference)).map(|sum| sum.wrapping_add(before));
    let [a, b, c, d, e, f, g, last] = sums;
    let befores = [before, a, b, c, d, e, f, g];
    let mut clamped = false;
    for (&value, before) in values.iter().zip(befores) {
        clamped |= distance(value) > room(before, max);
    }
    if clamped {
        return unmap_each(values, before, max);
    }
    *values = sums;
    last
}

/// [`unmap`] without assumptions.
#[inline(never)]
fn unmap_each(values: &mut [u32], before: u32, max: u32) -> u32 {
    let mut before = before;
    for value in values {
        let room = room(before, max);
        let near = before.wrapping_add(difference(*value));
        let far = if room == before { *value } else { max.wrapping_sub(*value) };
        *value = if distance(*value) <= room { near } else { far };
        before = *value;
    }
    before
}

/// θ: how far the samples on both sides of `before` reach equally.
#[inline]
fn room(before: u32, max: u32) -> u32 {
    before.min(max.wrapping_sub(before))
}

/// The difference that `mapped` stands for if it is within θ.
#[inline]
const fn difference(mapped: u32) -> u32 {
    (mapped >> 1) ^ (mapped & 1).wrapping_neg()
}

/// The size of that difference.
#[inline]
const fn distance(mapped: u32) -> u32 {
    (mapped >> 1).wrapping_add(mapped & 1)
}

/// Each value plus all before it.
#[inline]
fn running_sums([a, b, c, d, e, f, g, h]: [u32; GROUP]) -> [u32; GROUP] {
    let by_2 = plus([a, b, c, d, e, f, g, h], [0, a, b, c, d, e, f, g]);
    let [a, b, c, d, e, f, _, _] = by_2;
    let by_4 = plus(by_2, [0, 0, a, b, c, d, e, f]);
    let [a, b, c, d, ..] = by_4;
    plus(by_4, [0, 0, 0, 0, a, b, c, d])
}

#[inline]
fn plus(mut left: [u32; GROUP], right: [u32; GROUP]) -> [u32; GROUP] {
    for (left, right) in left.iter_mut().zip(right) {
        *left = left.wrapping_add(right);
    }
    left
}
