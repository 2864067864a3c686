//! The preprocessor: each sample becomes the difference to the one before it, mapped so that small ones are small
//! numbers.
//!
//! ```text
//! D = sample - before, θ = min(before, max - before)         samples are 0 ... max
//! 0 ≤ D ≤ θ    2 D
//! -θ ≤ D < 0   2 |D| - 1
//! else         θ + |D|: the distance of sample from 0 or max, whichever is nearer to before
//! ```
//!
//! The trick: beyond θ a difference can have one sign only. So |D| need not be compared with θ, but only with the room
//! on the side away from the sample: `before` for a rise, `max - before` for a fall. Both cases are one expression, by
//! masks, and the loop vectorises. Format: PIPELINE §7.2.

/// Replaces `mapped` by the mapped differences of `samples`, which follow the sample `before`. No sample exceeds `max`.
pub(super) fn map(samples: &[u32], before: u32, max: u32, mapped: &mut Vec<u32>) {
    mapped.clear();
    let Some((&first, rest)) = samples.split_first() else { return };
    mapped.push(map_one(first, before, max));
    // Each difference is taken of two neighbours in memory. A sample carried from turn to turn would keep the loop from
    // vectorising.
    mapped.extend(rest.iter().zip(samples).map(|(&sample, &before)| map_one(sample, before, max)));
}

/// The mapped difference of one sample.
#[inline]
const fn map_one(sample: u32, before: u32, max: u32) -> u32 {
    // x ^ max is max - x.
    let (falls, mirror) = if sample < before { (u32::MAX, max) } else { (0, 0) };
    let difference = sample.wrapping_sub(before);
    let distance = (difference ^ falls).wrapping_sub(falls);
    if distance <= before ^ mirror { difference.wrapping_shl(1) ^ falls } else { sample ^ mirror }
}
