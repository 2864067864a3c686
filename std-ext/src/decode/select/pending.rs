//! The selected elements in ascending order, taken in windows.
//!
//! ```text
//! elements   . a b . c d . . . . . . e . f .        selected: a to f
//! windows      │───────│             │───│          gaps of one element are decoded, a gap of six is not
//! ```
//!
//! Nothing is stored for a row that is not at hand. So a selection of any number of rows takes a few words.

use std::iter::{self, FusedIterator};
use std::ops::Range;

use tgm_core::selection::{Row, Rows, Selection};

use crate::base::span::{span, span_len};

/// The selected elements that have not been taken yet.
#[derive(Clone, Debug)]
pub(super) struct Pending<'p> {
    rows: Rows<'p>,
    /// What is left of the current row.
    row: Option<Row>,
}

/// How much one window may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Elements between two selected ones that are decoded for nothing.
    pub(super) gap: u64,
    /// The elements that a window with gaps spans.
    pub(super) span: u64,
    /// Side by side, from this number of elements on, elements are a window of their own.
    pub(super) alone: u64,
    /// The selected elements of a window.
    pub(super) most: u64,
}

/// Elements that are decoded at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// From the first selected element to the last one.
    pub(super) elements: Range<u64>,
    /// How many of them are selected; never 0.
    pub(super) selected: u64,
}

impl Window {
    /// How many elements are decoded.
    pub(super) const fn len(&self) -> u64 {
        span_len(&self.elements)
    }

    /// Whether all of its elements are selected.
    pub(super) const fn is_dense(&self) -> bool {
        self.selected == self.len()
    }
}

impl<'p> Pending<'p> {
    /// All elements of a selection.
    pub(super) fn new(selection: &Selection<'p>) -> Self {
        Self { rows: selection.rows(), row: None }
    }

    /// The next elements of one row.
    fn peek(&mut self) -> Option<Row> {
        if self.row.is_none() {
            self.row = self.rows.next();
        }
        self.row
    }

    /// The next selected element.
    pub(super) fn next_element(&mut self) -> Option<u64> {
        self.peek().map(|row| row.start)
    }

    /// Takes the next elements of one row, `most` or fewer.
    pub(super) fn take_row(&mut self, most: u64) -> Option<Row> {
        let row = self.peek()?;
        let count = row.count.min(most);
        // Only a row of which something is left goes on, and its next element is one of the object's.
        self.row =
            (count < row.count).then(|| Row { start: row.start + count * row.step, count: row.count - count, ..row });
        Some(Row { count, ..row })
    }

    /// Takes the elements of the next window.
    pub(super) fn take_window(&mut self, reach: &Reach) -> Option<Window> {
        let first = self.peek()?;
        if first.step == 1 && first.count >= reach.alone {
            let row = self.take_row(reach.most)?;
            return Some(Window { elements: row.hull(), selected: row.count });
        }
        let mut window = Window { elements: first.start..first.start, selected: 0 };
        let limit = span(first.start, reach.span).end;
        while let Some(row) = self.peek() {
            let is_near = span_len(&(window.elements.end..row.start)) <= reach.gap;
            let is_alone = row.step == 1 && row.count >= reach.alone;
            if window.selected > 0 && (!is_near || is_alone) {
                break;
            }
            let fit = if row.step - 1 <= reach.gap { span_len(&(row.start..limit)).div_ceil(row.step) } else { 1 };
            let count = fit.min(reach.most - window.selected);
            if count == 0 || row.start >= limit {
                break;
            }
            let Some(taken) = self.take_row(count) else { break };
            window.elements.end = taken.hull().end;
            window.selected += taken.count;
        }
        Some(window)
    }

    /// The windows that are left.
    pub(super) fn windows(mut self, reach: Reach) -> impl FusedIterator<Item = Window> + use<'p> {
        iter::from_fn(move || self.take_window(&reach)).fuse()
    }
}

/// The elements of a selection as ranges, in ascending order, without overlap.
///
/// Ranges with at most `gap` elements between them are given as one. Nothing is computed before it is asked for: O(1) a
/// row of the selection.
///
/// ```
/// use tgm_std::core::selection::{Pick, Selection};
/// use tgm_std::core::tensor::Shape;
/// use tgm_std::decode::select::element_ranges;
///
/// let picks = [Pick::from(1..3), Pick::from(2..4)];
/// let selection = Selection::new(Shape::from(&[4, 5]), &picks)?;
/// assert!(element_ranges(&selection, 0).eq([7..9, 12..14]));
/// assert!(element_ranges(&selection, 3).eq([7..14]));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn element_ranges<'p>(selection: &Selection<'p>, gap: u64) -> impl FusedIterator<Item = Range<u64>> + use<'p> {
    let reach = Reach { gap, span: u64::MAX, alone: u64::MAX, most: u64::MAX };
    Pending::new(selection).windows(reach).map(|window| window.elements)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;
    use tgm_core::selection::Pick;
    use tgm_core::tensor::Shape;

    use super::*;

    fn dimension() -> impl Strategy<Value = (u64, Pick)> {
        (1_u64..7, 0_u64..7, 0_u64..8, 1_u64..4).prop_map(|(len, start, count, step)| {
            let start = start.min(len - 1);
            let end = (start + count).min(len);
            (len, Pick::Range { start, end, step: NonZeroU64::new(step).unwrap() })
        })
    }

    /// The windows of rows of which each has `columns` elements, and `picked` of these are selected.
    fn windows(columns: u64, picked: Pick, reach: Reach) -> Vec<Range<u64>> {
        let (shape, picks) = ([3, columns], [Pick::All, picked]);
        let selection = Selection::new(Shape::from(&shape), &picks).unwrap();
        Pending::new(&selection).windows(reach).map(|window| window.elements).collect()
    }

    #[test]
    fn windows_join_what_is_near_and_leave_long_rows_alone() {
        let reach = Reach { gap: 2, span: 10, alone: 4, most: 100 };
        let range = |start, end, step| Pick::Range { start, end, step: NonZeroU64::new(step).unwrap() };
        assert_eq!(windows(6, range(0, 4, 1), reach), [0..4, 6..10, 12..16], "alone, although near");
        assert_eq!(windows(5, range(0, 3, 1), reach), [0..8, 10..13], "joined, up to the span");
        assert_eq!(windows(6, range(0, 3, 1), reach), [0..3, 6..9, 12..15], "too far from each other");
        assert_eq!(windows(6, range(0, 4, 1), Reach { span: 3, ..reach }), [0..4, 6..10, 12..16], "longer than a span");
        let few = Reach { alone: 5, most: 3, ..reach };
        assert_eq!(windows(6, range(0, 5, 1), few), [0..3, 3..5, 6..9, 9..11, 12..15, 15..17], "rests are not joined");
        let wide = Reach { span: 30, ..reach };
        assert_eq!(windows(10, range(0, 9, 2), wide), vec![0..29; 1], "with gaps none is alone");
        assert_eq!(windows(10, range(0, 9, 4), wide).len(), 7, "gaps of three, and of one between rows");
    }

    /// The last element of a row and the first one of the next lie side by side.
    #[test]
    fn a_window_is_no_longer_than_its_span_where_rows_meet() {
        let picked = Pick::Range { start: 0, end: 4, step: NonZeroU64::new(3).unwrap() };
        let reach = Reach { gap: 1, span: 2, alone: 100, most: 100 };
        assert_eq!(windows(4, picked, reach), [0..1, 3..5, 7..9, 11..12]);
        assert_eq!(windows(4, picked, Reach { span: 1, ..reach }), [0..1, 3..4, 4..5, 7..8, 8..9, 11..12]);
    }

    proptest! {
        #[test]
        fn windows_hold_each_selected_element_once(
            dims in prop::collection::vec(dimension(), 0..4),
            gap in 0_u64..9, span in 1_u64..40, alone in 1_u64..9, most in 1_u64..50,
        ) {
            let (shape, picks): (Vec<u64>, Vec<Pick>) = dims.into_iter().unzip();
            let selection = Selection::new(Shape::from(&*shape), &picks).unwrap();
            let reach = Reach { gap, span, alone, most };
            let elements: Vec<u64> =
                selection.rows().flat_map(|row| (0..row.count).map(move |i| row.start + i * row.step)).collect();
            let mut left = &elements[..];
            for window in Pending::new(&selection).windows(reach) {
                let (taken, behind) = left.split_at(usize::try_from(window.selected).unwrap());
                left = behind;
                prop_assert_eq!(&window.elements, &(taken[0]..taken.last().unwrap() + 1));
                prop_assert!(taken.windows(2).all(|pair| pair[1] - pair[0] <= gap + 1), "{:?}", taken);
                prop_assert!(window.selected <= most);
                prop_assert!(window.is_dense() || window.len() <= span, "{:?}", window);
            }
            prop_assert!(left.is_empty());
            let ranges: Vec<_> = element_ranges(&selection, gap).collect();
            let covered: Vec<u64> = ranges.iter().cloned().flatten().collect();
            prop_assert!(elements.iter().all(|element| covered.binary_search(element).is_ok()));
            prop_assert!(ranges.windows(2).all(|pair| pair[1].start - pair[0].end > gap));
        }
    }
}
