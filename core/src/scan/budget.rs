//! What the walks of a scan may cost, so that its time is linear whatever the bytes are.

use crate::wire::{FRAME_COMMON_FOOTER_SIZE, FRAME_HEADER_SIZE};

/// How many bytes of cost each byte of the source earns.
const PER_BYTE: u64 = 4;

/// The cost that walks may have in a source of any length. In a short source, every candidate can be walked.
const FREE: u64 = 64 << 10;

/// What a step to a frame costs: the bytes of the smallest frame.
pub(super) const HOP_COST: u64 = (FRAME_HEADER_SIZE + FRAME_COMMON_FOOTER_SIZE) as u64;

/// What failed walks have cost, and how far the scan has come. Both are in bytes.
///
/// Each byte that the scan comes to earns [`PER_BYTE`]. The length of the source is not part of it, so a stream whose
/// end is not known has the same budget at each place as a file.
///
/// The last walk may cost more than is left. The debt is kept: the scan has to come further before it walks again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    start: u64,
    furthest: u64,
    spent: u64,
}

impl Budget {
    /// The budget of a scan that begins at `start`.
    pub(super) const fn new(start: u64) -> Self {
        Self { start, furthest: start, spent: 0 }
    }

    /// The scan has come to `position`.
    #[inline]
    pub(super) fn come_to(&mut self, position: u64) {
        self.furthest = self.furthest.max(position);
    }

    /// A walk has cost this.
    pub(super) const fn spend(&mut self, cost: u64) {
        self.spent = self.spent.saturating_add(cost);
    }

    /// Whether a walk may begin.
    pub(super) const fn allows_a_walk(&self) -> bool {
        let earned = self.furthest.saturating_sub(self.start).saturating_mul(PER_BYTE).saturating_add(FREE);
        self.spent < earned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_the_scan_comes_to_pays_for_walks() {
        let mut budget = Budget::new(10);
        budget.spend(FREE - 1);
        assert!(budget.allows_a_walk());
        budget.spend(1);
        assert!(!budget.allows_a_walk());
        budget.come_to(11);
        assert!(budget.allows_a_walk());
        budget.come_to(5);
        budget.spend(PER_BYTE);
        assert!(!budget.allows_a_walk());
    }
}
