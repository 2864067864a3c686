//! A word of 64 elements.

use core::ops::Range;

/// A word of 64 elements. The first one is the most significant bit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    /// The set elements that were not returned yet.
    pub(super) bits: u64,
    /// The first element.
    pub(super) position: u64,
}

impl Word {
    /// Takes the first run of set bits.
    ///
    /// ```text
    /// bits         0011 1010…      start = leading zeros = 2
    /// << start     1110 10…        leading ones = 3, so end = 5
    /// clear the first `end` bits
    /// ```
    #[inline]
    pub(super) fn next_run(&mut self) -> Option<Range<u64>> {
        if self.bits == 0 {
            return None;
        }
        let start = self.bits.leading_zeros();
        let end = start.wrapping_add(self.bits.wrapping_shl(start).leading_ones());
        self.bits &= u64::MAX.checked_shr(end).unwrap_or(0);
        Some(self.position.wrapping_add(start.into())..self.position.wrapping_add(end.into()))
    }
}
