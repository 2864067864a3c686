//! A word of 64 elements.

use core::ops::Range;

/// 64 elements, of which the first is the most significant bit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    /// The set elements that were not returned.
    pub(super) bits: u64,
    /// The first element.
    pub(super) position: u64,
}

impl Word {
    /// The first run of set bits, which are then cleared.
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
