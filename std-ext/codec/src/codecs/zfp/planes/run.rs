//! Runs of planes in which no coefficient becomes significant.
//!
//! ```text
//! in the stream   digits of n bits of the significant coefficients and a 0, one digit a plane
//! in memory       nibbles, one a plane
//! ```
//!
//! The end of a run is the first digit that does not end with 0: a mask of the digits' last bits, and a count of
//! trailing zeros, find it at once. Digits become nibbles in four steps: the upper half of the digits in each lane of
//! 64 bits moves up, then in each lane of 32, 16 and 8 bits.

/// What it takes to find and move the runs of one width of digits.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// Bits of a digit.
    pub(super) width: u32,
    /// 512 / `width`, rounded up.
    per_512: u32,
    /// The last bit of each digit.
    ends: u64,
    /// The upper half of the digits in each 64, 32, 16 and 8 bits, and how far it moves when digits become nibbles.
    halves: [(u64, u32); 4],
}

impl Run {
    const fn new(width: u32) -> Self {
        let mut ends = 0;
        let mut end = width - 1;
        while end < 64 {
            ends |= 1 << end;
            end += width;
        }
        // Lanes of 64, 32, 16 and 8 bits have 16, 8, 4 and 2 digits.
        let halves = [half(64, 8 * width), half(32, 4 * width), half(16, 2 * width), half(8, width)];
        Self { width, per_512: 512_u32.div_ceil(width), ends, halves }
    }

    /// Digits before the first one that does not end with 0.
    #[inline]
    pub(super) const fn digits_in(&self, bits: u64) -> u32 {
        // Division by the width, as a multiplication: exact for up to 64 bits and widths up to 4.
        (bits & self.ends).trailing_zeros() * self.per_512 / 512
    }

    /// Makes nibbles of digits.
    #[inline]
    pub(super) fn widen(&self, digits: u64) -> u64 {
        self.halves.iter().fold(digits, |bits, (upper, shift)| {
            let moved = bits & upper;
            bits ^ moved | moved << shift
        })
    }

    /// Makes digits of nibbles.
    #[inline]
    pub(super) fn narrow(&self, nibbles: u64) -> u64 {
        self.halves.iter().rev().fold(nibbles, |bits, (upper, shift)| {
            let moved = bits & upper << shift;
            bits ^ moved | moved >> shift
        })
    }
}

/// The mask of the second `half` bits in every lane of `lane` bits, and how far these are from the lane's middle.
const fn half(lane: u32, half: u32) -> (u64, u32) {
    let mut mask = 0;
    let mut at = half;
    while at < 64 {
        mask |= low_bits(half) << at;
        at += lane;
    }
    (mask, lane / 2 - half)
}

/// [`Run`] by the number of significant coefficients.
pub(super) static RUNS: [Run; 4] = [Run::new(1), Run::new(2), Run::new(3), Run::new(4)];

/// The low `count` bits set, for `count` below 64.
pub(super) const fn low_bits(count: u32) -> u64 {
    (1 << count) - 1
}
