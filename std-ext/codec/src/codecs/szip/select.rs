//! Selects the code that makes a block shortest, as libaec does: among equals, the one that libaec finds first.
//!
//! ```text
//! plain   values · bits
//! pairs   Σ over pairs of their code + 1, and one bit more for the ID
//! split   Σ ⌊value / 2^k⌋ + values · (k + 1)        falls with k, then rises
//! ```
//!
//! The search for k starts from the k of the block before, which is mostly the best or next to it. Sums are taken in
//! eight lanes, so that they vectorise. Format: PIPELINE §7.3.

use tgm_core::szip::Params;

/// The code of a block that is not all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Quotients by 2^k in unary, then remainders of k bits.
    Split(u32),
    /// Pairs of values in unary, the second extension.
    Pairs,
    /// Values as they are.
    Plain,
}

/// The greatest sum of a pair that has a code.
///
/// libaec's encoder codes pairs of greater sums too, but no decoder accepts them. A block of up to 64 values with such
/// a pair is always shorter when split, and the standard has no longer blocks.
const MAX_PAIR_SUM: u64 = 12;

/// Chooses the code of each block, and remembers the best k for the next one.
#[derive(Debug)]
pub(super) struct Selector {
    bits_per_sample: u64,
    /// The greatest k that has an ID. `None` if no k has one.
    k_max: Option<u32>,
    /// The best k of the block before, whether that block was split or not. It is kept from interval to interval.
    k: u32,
    /// Whether a code was chosen.
    is_used: bool,
}

/// The length of a block when split, and the part of it that quotients take.
#[derive(Clone, Copy)]
struct Split {
    k: u32,
    quotients: u64,
    len: u64,
}

impl Selector {
    /// A selector for blocks after one whose best k was `k`. A stream begins with 0.
    pub(super) const fn new(params: &Params, k: u32) -> Self {
        let k_max = (1_u32 << params.id_bits()).checked_sub(3);
        Self { bits_per_sample: params.bits_per_sample() as u64, k_max, k, is_used: false }
    }

    /// The best k of the last block, and whether there was one.
    pub(super) const fn k(&self) -> (u32, bool) {
        (self.k, self.is_used)
    }

    /// The code for a block of `coded` values. `block` may have a 0 before them, in the place of the reference.
    ///
    /// `all` is the OR of all values. The ID is of the same length for all codes, except that [`Code::Pairs`] takes one
    /// bit more.
    pub(super) fn select(&mut self, block: &[u32], all: u32, coded: usize) -> Code {
        self.is_used = true;
        let coded = coded as u64;
        let plain_len = self.bits_per_sample * coded;
        let split = self.k_max.map(|k_max| best_split(block, all, coded, self.k, k_max));
        self.k = split.map_or(0, |split| split.k);
        let split = split.filter(|split| split.len < plain_len);
        let limit = split.map_or(plain_len, |split| split.len);
        let pairs = if split.is_some_and(|split| is_too_much_for_pairs(split, block.len(), limit)) {
            None
        } else {
            pairs_len(block, limit)
        };
        match (split, pairs) {
            (Some(_), Some(_)) => Code::Pairs,
            (Some(split), None) => Code::Split(split.k),
            (None, Some(len)) if len < plain_len => Code::Pairs,
            (None, _) => Code::Plain,
        }
    }
}

/// The shortest split: k goes up from `start` as long as that gains, and if it never gains, down.
#[inline]
fn best_split(block: &[u32], all: u32, coded: u64, start: u32, k_max: u32) -> Split {
    let split = |k: u32| {
        let quotients = quotient_sum(block, all, k);
        Split { k, quotients, len: quotients + coded * u64::from(k + 1) }
    };
    let mut best = split(start);
    // One more bit a value costs `coded` bits and saves at most the quotients: with fewer quotients it cannot gain.
    while best.quotients >= coded && best.k < k_max {
        let next = split(best.k + 1);
        if next.len >= best.len {
            break;
        }
        best = next;
    }
    if best.k != start {
        return best;
    }
    while best.k > 0 && (best.k == start || best.quotients < coded) {
        let next = split(best.k - 1);
        if next.len >= best.len {
            break;
        }
        best = next;
    }
    best
}

/// Σ ⌊value / 2^k⌋.
#[inline]
fn quotient_sum(block: &[u32], all: u32, k: u32) -> u64 {
    // A sum of at most 256 values below 2^24 fits 32 bits.
    if all >> k < 1 << 24 { sum_lanes(block, |value| value >> k).into() } else { sum_wide(block, k) }
}

/// The sum of `part` of each value. It must fit 32 bits.
#[inline]
fn sum_lanes(block: &[u32], part: impl Fn(u32) -> u32) -> u32 {
    let (groups, rest) = block.as_chunks::<8>();
    let mut sums = [0_u32; 8];
    for group in groups {
        for (sum, &value) in sums.iter_mut().zip(group) {
            *sum = sum.wrapping_add(part(value));
        }
    }
    sums.into_iter().chain(rest.iter().map(|&value| part(value))).fold(0, u32::wrapping_add)
}

/// [`quotient_sum`] in 64 bits.
#[cold]
fn sum_wide(block: &[u32], k: u32) -> u64 {
    block.iter().map(|&value| u64::from(value >> k)).sum()
}

/// The OR of all values.
#[inline]
pub(super) fn union(block: &[u32]) -> u32 {
    let (groups, rest) = block.as_chunks::<8>();
    let mut bits = [0_u32; 8];
    for group in groups {
        for (bits, &value) in bits.iter_mut().zip(group) {
            *bits |= value;
        }
    }
    bits.into_iter().chain(rest.iter().copied()).fold(0, |all, bits| all | bits)
}

/// Whether pairs take more than `limit` bits even if all had the same sum: then they take least.
#[inline]
fn is_too_much_for_pairs(split: Split, block_size: usize, limit: u64) -> bool {
    let pairs = block_size as u64 / 2;
    // At most the sum of all values. Beyond 2^24 the answer is the same.
    let sum = (split.quotients << split.k).min(1 << 24);
    sum * sum + pairs * sum > 2 * pairs * limit
}

/// The length as pairs. `None` if it is more than `limit`, or if a pair has no code.
fn pairs_len(block: &[u32], limit: u64) -> Option<u64> {
    let (pairs, _) = block.as_chunks::<2>();
    let mut len = 1;
    for &pair in pairs {
        if sum(pair) > MAX_PAIR_SUM {
            return None;
        }
        len += pair_code(pair) + 1;
        if len > limit {
            return None;
        }
    }
    Some(len)
}

/// The code of a pair: the number of zeros in unary.
#[inline]
pub(super) fn pair_code(pair: [u32; 2]) -> u64 {
    let sum = sum(pair);
    sum * (sum + 1) / 2 + u64::from(pair[1])
}

fn sum([first, second]: [u32; 2]) -> u64 {
    u64::from(first) + u64::from(second)
}
