//! The order in which the ranges of a call are decoded: ascending, so that what they share is done once.

use std::ops::Range;

use crate::base::span::span;

/// A range's place in the caller's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// Which range.
    pub(super) index: usize,
    /// Bytes of the values of all ranges before it in the list.
    pub(super) offset: usize,
}

/// Ranges of elements, each a first element and a count, in ascending order of their first elements.
#[derive(Clone, Copy)]
pub(super) struct Visits<'v> {
    ranges: &'v [(u64, u64)],
    /// Empty if the caller's list is in ascending order already.
    order: &'v [Visit],
}

impl<'v> Visits<'v> {
    /// Sorts the ranges if they are not in order. `len` tells the length of a range's values in bytes. The order is
    /// kept in `memory`.
    ///
    /// # Errors
    /// The errors of `len`. The caller has checked that all values together have a length.
    pub(super) fn new<E>(
        ranges: &'v [(u64, u64)],
        memory: &'v mut Vec<Visit>,
        mut len: impl FnMut((u64, u64)) -> Result<usize, E>,
    ) -> Result<Self, E> {
        memory.clear();
        if !ranges.is_sorted_by_key(|(start, _)| start) {
            let mut offset = 0_usize;
            memory.reserve(ranges.len());
            for (index, range) in ranges.iter().enumerate() {
                memory.push(Visit { index, offset });
                offset += len(*range)?;
            }
            // The index breaks ties. So an unstable sort, which allocates nothing, gives a stable order.
            memory.sort_unstable_by_key(|visit| (ranges.get(visit.index).map(|(start, _)| *start), visit.index));
        }
        Ok(Self { ranges, order: memory })
    }

    /// The range of visit `number`.
    pub(super) fn range(&self, number: usize) -> Option<(u64, u64)> {
        let index = if self.order.is_empty() { number } else { self.order.get(number)?.index };
        self.ranges.get(index).copied()
    }

    /// The ranges of visit `number` and of all later visits, as elements.
    pub(super) fn from(self, number: usize) -> impl Iterator<Item = Range<u64>> + use<'v> {
        (number..).map_while(move |number| self.range(number)).map(|(start, count)| span(start, count))
    }

    /// The place of visit `number`. `behind` is the number of bytes of all earlier visits, which is the offset if the
    /// list is in order.
    pub(super) fn place(&self, number: usize, behind: usize) -> Visit {
        self.order.get(number).copied().unwrap_or(Visit { index: number, offset: behind })
    }
}
