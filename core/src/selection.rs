//! Boxes of a tensor: some indices of each dimension, as rows of elements in row-major order.
//!
//! ```text
//! shape [4, 6], picks [1..4 step 2, 0..6 step 3]        rows: elements 6, 9 and elements 18, 21
//!
//!      0  1  2  3  4  5
//!  0   .  .  .  .  .  .
//!  1   6  .  .  9  .  .     row 0: start 6,  count 2, step 3
//!  2   .  .  .  .  .  .
//!  3  18  .  . 21  .  .     row 1: start 18, count 2, step 3
//! ```
//!
//! A [`Selection`] stores a few words, however many elements it has. Rows are computed when they are asked for. Dimensions at
//! the end that are picked whole are part of the row, so that rows are as long as they can be.

use core::iter::FusedIterator;
use core::num::NonZeroU64;
use core::ops::Range;

use crate::error::{ErrorKind, Result};
use crate::tensor::Shape;

/// What is picked of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pick {
    /// One index. The result does not have this dimension.
    Index(u64),
    /// Every index of the dimension.
    All,
    /// Indices from `start` on, each `step` after the one before, all of them below `end`.
    Range {
        /// The first index.
        start: u64,
        /// All indices are less than this. It is at most the dimension's length.
        end: u64,
        /// The distance from one index to the next.
        step: NonZeroU64,
    },
}

impl From<Range<u64>> for Pick {
    fn from(range: Range<u64>) -> Self {
        Self::Range { start: range.start, end: range.end, step: NonZeroU64::MIN }
    }
}

impl From<u64> for Pick {
    fn from(index: u64) -> Self {
        Self::Index(index)
    }
}

/// The indices of one dimension, checked against its length.
#[derive(Clone, Copy, Debug)]
struct Indices {
    start: u64,
    count: u64,
    step: u64,
}

impl Indices {
    /// The indices that `pick` takes of a dimension of `len`; `None` if one of them is `len` or more.
    fn new(pick: Pick, len: u64) -> Option<Self> {
        match pick {
            Pick::Index(index) => (index < len).then_some(Self { start: index, count: 1, step: 1 }),
            Pick::All => Some(Self { start: 0, count: len, step: 1 }),
            Pick::Range { start, end, step } => {
                let count = end.checked_sub(start)?.div_ceil(step.get());
                (end <= len).then_some(Self { start, count, step: step.get() })
            }
        }
    }

    /// Whether they follow each other without gaps.
    const fn is_dense(&self) -> bool {
        self.step == 1 || self.count <= 1
    }

    /// Index number `number`.
    const fn at(&self, number: u64) -> u64 {
        self.start.saturating_add(number.saturating_mul(self.step))
    }
}

/// Elements of a tensor in a row: `count` of them, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The first element, counted in row-major order.
    pub start: u64,
    /// How many elements there are; never 0.
    pub count: u64,
    /// The distance from one element to the next: 1 if they lie side by side.
    pub step: u64,
}

impl Row {
    /// The elements from the first to the last one, with those between them that the row does not have.
    #[inline]
    pub const fn hull(&self) -> Range<u64> {
        let last = self.start.saturating_add(self.count.saturating_sub(1).saturating_mul(self.step));
        self.start..last.saturating_add(1)
    }
}

/// A box of a tensor of a known shape.
///
/// ```
/// use tgm_core::selection::{Pick, Row, Selection};
/// use tgm_core::tensor::Shape;
///
/// let picks = [Pick::from(1..3), Pick::All, Pick::Index(2)];
/// let selection = Selection::new(Shape::from(&[4, 2, 5]), &picks)?;
/// assert!(selection.shape().eq([2, 2]));
/// assert_eq!(selection.element_count(), 4);
/// let rows = [Row { start: 12, count: 2, step: 5 }, Row { start: 22, count: 2, step: 5 }];
/// assert!(selection.rows().eq(rows));
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    shape: Shape<'a>,
    picks: &'a [Pick],
    /// Dimensions in front whose indices tell the rows apart.
    outer: usize,
    rows: u64,
    /// The first row. All others are as long.
    first: Row,
}

impl<'a> Selection<'a> {
    /// The box that `picks` take, one for each dimension of `shape`. O(rank).
    ///
    /// # Errors
    /// [`ErrorKind::SelectionRank`] if there are more or fewer picks than dimensions, [`ErrorKind::SelectionBounds`] for a
    /// pick beyond its dimension, [`ErrorKind::ShapeOverflow`] for a shape of more elements than a `u64` counts.
    pub fn new(shape: Shape<'a>, picks: &'a [Pick]) -> Result<Self> {
        if shape.rank() != picks.len() {
            return Err(ErrorKind::SelectionRank(count_of(picks.len()), count_of(shape.rank())).at(0));
        }
        let elements = shape.element_count().ok_or(ErrorKind::ShapeOverflow.at(0))?;
        let mut is_empty = elements == 0;
        // The last dimension of which not all is picked. All after it lie side by side.
        let mut last = None;
        for (number, (len, pick)) in shape.dims().zip(picks).enumerate() {
            let indices = Indices::new(*pick, len).ok_or(ErrorKind::SelectionBounds(count_of(number)).at(0))?;
            is_empty |= indices.count == 0;
            if indices.count != len {
                last = Some(number);
            }
        }
        let whole = Row { start: 0, count: elements, step: 1 };
        let mut this = Self { shape, picks, outer: 0, rows: u64::from(!is_empty), first: whole };
        if let Some(last) = last.filter(|_| !is_empty) {
            this.lay_rows(last, elements);
        }
        Ok(this)
    }

    /// Says what a row is, where dimension `last` is the last one of which not all is picked.
    fn lay_rows(&mut self, last: usize, elements: u64) {
        let (mut start, mut rows) = (0_u64, 1_u64);
        // The last dimension before `last` of which several indices are picked, and how far apart their elements are.
        let mut several = None;
        for (number, (indices, below)) in
            dimensions(self.shape, self.picks, elements).take(last.saturating_add(1)).enumerate()
        {
            start = start.saturating_add(indices.start.saturating_mul(below));
            let distance = indices.step.saturating_mul(below);
            if number < last {
                rows = rows.saturating_mul(indices.count);
                if indices.count > 1 {
                    several = Some((number, indices.count, distance));
                }
                continue;
            }
            let side_by_side = indices.count.saturating_mul(below);
            self.first = match several {
                // One element of each index of an earlier dimension: these are the row.
                Some((number, count, step)) if side_by_side == 1 => {
                    rows = rows.checked_div(count).unwrap_or(0);
                    self.outer = number;
                    Row { start: 0, count, step }
                }
                _ if indices.is_dense() => {
                    self.outer = last;
                    Row { start: 0, count: side_by_side, step: 1 }
                }
                _ if below == 1 => {
                    self.outer = last;
                    Row { start: 0, count: indices.count, step: indices.step }
                }
                _ => {
                    rows = rows.saturating_mul(indices.count);
                    self.outer = last.saturating_add(1);
                    Row { start: 0, count: below, step: 1 }
                }
            };
        }
        self.rows = rows;
        self.first.start = start;
    }

    /// How many elements are selected.
    pub const fn element_count(&self) -> u64 {
        self.rows.saturating_mul(self.first.count)
    }

    /// How many rows there are. All are equally long.
    pub const fn row_count(&self) -> u64 {
        self.rows
    }

    /// The elements from the first selected one to the last, gaps included. Empty if none is selected. O(rank).
    pub fn hull(&self) -> Range<u64> {
        let Some(last) = self.rows.checked_sub(1) else { return 0..0 };
        let row = Row { start: self.start_of(last).start, ..self.first };
        self.first.start..row.hull().end
    }

    /// The dimensions of the result: the dimensions of the tensor, without each one of which a single index is picked.
    pub fn shape(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.shape.dims().zip(self.picks).filter(|(_, pick)| !matches!(pick, Pick::Index(_))).map(|(len, pick)| {
            // The picks were found to be within their dimensions.
            Indices::new(*pick, len).map_or(0, |indices| indices.count)
        })
    }

    /// The rows in row-major order of the result, which is the ascending order of their elements.
    pub fn rows(&self) -> Rows<'a> {
        Rows { selection: *self, next: 0, start: self.first.start, left: 0, stride: 0 }
    }

    /// Where row `number` starts.
    fn start_of(&self, number: u64) -> LastOuter {
        let elements = self.shape.element_count().unwrap_or(0);
        let (mut start, mut rest, mut rows) = (0_u64, number, self.rows);
        let mut last = LastOuter { start: 0, left: 1, stride: 0 };
        for (place, (indices, below)) in dimensions(self.shape, self.picks, elements).enumerate() {
            let index = if place < self.outer {
                rows = rows.checked_div(indices.count).unwrap_or(0);
                let digit = rest.checked_div(rows).unwrap_or(0);
                rest = rest.checked_rem(rows).unwrap_or(0);
                last.left = indices.count.saturating_sub(digit);
                last.stride = indices.step.saturating_mul(below);
                indices.at(digit)
            } else {
                indices.start
            };
            start = start.saturating_add(index.saturating_mul(below));
        }
        LastOuter { start, ..last }
    }
}

/// Where a row starts, and those after it as far as the last outer dimension goes.
struct LastOuter {
    start: u64,
    /// Rows from this one on that are `stride` elements apart.
    left: u64,
    stride: u64,
}

/// The indices picked of each dimension, and how many elements of the tensor lie under one index.
fn dimensions<'a>(
    shape: Shape<'a>,
    picks: &'a [Pick],
    elements: u64,
) -> impl Iterator<Item = (Indices, u64)> + use<'a> {
    shape.dims().zip(picks).scan(elements, |below, (len, pick)| {
        *below = below.checked_div(len).unwrap_or(0);
        Some((Indices::new(*pick, len)?, *below))
    })
}

fn count_of(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

/// The rows of a [`Selection`].
///
/// O(1) a row, and O(rank) where the last of the dimensions that tell rows apart begins anew.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    selection: Selection<'a>,
    /// The number of the next row.
    next: u64,
    /// Where it starts, if `left` is not 0.
    start: u64,
    /// Rows that are known to follow, `stride` elements apart.
    left: u64,
    stride: u64,
}

impl Iterator for Rows<'_> {
    type Item = Row;

    #[inline]
    fn next(&mut self) -> Option<Row> {
        if self.next >= self.selection.rows {
            return None;
        }
        if self.left == 0 {
            let LastOuter { start, left, stride } = self.selection.start_of(self.next);
            (self.start, self.left, self.stride) = (start, left, stride);
        }
        let row = Row { start: self.start, ..self.selection.first };
        self.next = self.next.saturating_add(1);
        self.left = self.left.saturating_sub(1);
        self.start = self.start.saturating_add(self.stride);
        Some(row)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.selection.rows.saturating_sub(self.next));
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl FusedIterator for Rows<'_> {}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// A dimension and what is picked of it.
    fn dimension() -> impl Strategy<Value = (u64, Pick)> {
        (0_u64..6).prop_flat_map(|len| {
            let range = (0..=len).prop_flat_map(move |start| (Just(start), start..=len, 1_u64..4));
            let range =
                range.prop_map(|(start, end, step)| Pick::Range { start, end, step: NonZeroU64::new(step).unwrap() });
            let pick = if len == 0 {
                prop_oneof![range, Just(Pick::All)].boxed()
            } else {
                prop_oneof![range, Just(Pick::All), (0..len).prop_map(Pick::Index)].boxed()
            };
            (Just(len), pick)
        })
    }

    #[test]
    fn one_element_lies_side_by_side_with_itself() {
        let step = NonZeroU64::new(5).unwrap();
        let picks = [Pick::Range { start: 2, end: 3, step }];
        let selection = Selection::new(Shape::from(&[9]), &picks).unwrap();
        assert!(selection.rows().eq([Row { start: 2, count: 1, step: 1 }]));
    }

    /// The elements that are selected, by looking at every one.
    fn naive(dims: &[(u64, Pick)]) -> Vec<u64> {
        let count: u64 = dims.iter().map(|(len, _)| len).product();
        let is_selected = |element: &u64| {
            let mut rest = *element;
            dims.iter().rev().all(|(len, pick)| {
                let index = rest % len;
                rest /= len;
                match *pick {
                    Pick::Index(wanted) => index == wanted,
                    Pick::All => true,
                    Pick::Range { start, end, step } => {
                        (start..end).contains(&index) && (index - start).is_multiple_of(step.get())
                    }
                }
            })
        };
        (0..count).filter(is_selected).collect()
    }

    proptest! {
        #[test]
        fn rows_are_the_elements_that_every_pick_takes(dims in prop::collection::vec(dimension(), 0..5)) {
            let (shape, picks): (Vec<u64>, Vec<Pick>) = dims.iter().copied().unzip();
            let selection = Selection::new(Shape::from(&*shape), &picks).unwrap();
            let rows: Vec<Row> = selection.rows().collect();
            let mut left = selection.rows();
            for taken in 0..=rows.len() {
                assert_eq!(left.size_hint(), (rows.len() - taken, Some(rows.len() - taken)));
                left.next();
            }
            let found: Vec<u64> = rows.iter().flat_map(|row| (0..row.count).map(move |i| row.start + i * row.step)).collect();
            prop_assert_eq!(&found, &naive(&dims));
            prop_assert_eq!(selection.element_count(), found.len() as u64);
            prop_assert_eq!(selection.row_count(), rows.len() as u64);
            let hull = found.first().map_or(0..0, |first| *first..found.last().unwrap() + 1);
            prop_assert_eq!(selection.hull(), hull);
            if !found.is_empty() {
                prop_assert_eq!(selection.shape().product::<u64>(), found.len() as u64);
            }
            for row in rows {
                prop_assert_eq!(row.hull(), row.start..row.start + (row.count - 1) * row.step + 1);
            }
        }
    }

    #[test]
    fn rows_are_as_long_as_they_can_be() {
        let step = |n| NonZeroU64::new(n).unwrap();
        let cases: [(&[u64], &[Pick], Row, u64); 6] = [
            (&[3, 4, 5], &[Pick::All, Pick::All, Pick::All], Row { start: 0, count: 60, step: 1 }, 1),
            (&[3, 4, 5], &[Pick::from(1..3), Pick::All, Pick::All], Row { start: 20, count: 40, step: 1 }, 1),
            (&[3, 4, 5], &[Pick::Index(1), Pick::from(1..3), Pick::All], Row { start: 25, count: 10, step: 1 }, 1),
            (&[3, 4, 5], &[Pick::All, Pick::All, Pick::Index(2)], Row { start: 2, count: 4, step: 5 }, 3),
            (&[9], &[Pick::Range { start: 1, end: 9, step: step(3) }], Row { start: 1, count: 3, step: 3 }, 1),
            (
                &[9, 2],
                &[Pick::Range { start: 1, end: 9, step: step(3) }, Pick::All],
                Row { start: 2, count: 2, step: 1 },
                3,
            ),
        ];
        for (shape, picks, row, rows) in cases {
            let selection = Selection::new(Shape::from(shape), picks).unwrap();
            assert_eq!((selection.rows().next(), selection.row_count()), (Some(row), rows), "{picks:?}");
        }
    }

    #[test]
    fn what_the_tensor_does_not_have_is_an_error() {
        let kind = |shape: &[u64], picks: &[Pick]| Selection::new(Shape::from(shape), picks).unwrap_err().kind();
        assert_eq!(kind(&[2, 3], &[Pick::All]), ErrorKind::SelectionRank(1, 2));
        assert_eq!(kind(&[2, 3], &[Pick::All, Pick::Index(3)]), ErrorKind::SelectionBounds(1));
        assert_eq!(kind(&[2, 3], &[Pick::from(1..3), Pick::All]), ErrorKind::SelectionBounds(0));
        let backwards = Range { start: 2, end: 1 };
        assert_eq!(kind(&[2, 3], &[Pick::from(backwards), Pick::All]), ErrorKind::SelectionBounds(0));
        assert_eq!(kind(&[u64::MAX, 3], &[Pick::All, Pick::All]), ErrorKind::ShapeOverflow);
    }

    #[test]
    fn huge_tensors_take_no_time() {
        let shape = [1 << 20, 1 << 20, 1 << 20];
        let picks = [Pick::All, Pick::Index((1 << 20) - 1), Pick::from(5..6)];
        let selection = Selection::new(Shape::from(&shape), &picks).unwrap();
        assert_eq!(selection.element_count(), 1 << 20);
        let row = Row { start: (((1 << 20) - 1) << 20) + 5, count: 1 << 20, step: 1 << 40 };
        assert_eq!((selection.rows().next(), selection.row_count()), (Some(row), 1));
        let none = [Pick::All, Pick::from(7..7), Pick::All];
        assert_eq!(Selection::new(Shape::from(&shape), &none).unwrap().rows().next(), None);
    }
}
