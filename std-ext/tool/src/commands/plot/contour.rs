//! Lines of equal value through a field, by marching squares.
//!
//! The values stand in the middles of their cells. Between four of them, a line runs straight from one side of the square to another one. Where
//! two lines cross a square, the mean of the four values says which of its corners belong together. Squares with a missing value have no lines.

use std::collections::HashMap;

use crate::commands::plot::lines::Lines;
use crate::commands::plot::ticks::ticks;
use crate::read::picture::Field;

/// The greatest number of rows and columns that lines run through. Finer fields are made smaller first.
const SIDE: usize = 360;
/// The greatest number of values that have lines.
pub(crate) const MOST: usize = 100;
/// Values that have lines where no step is asked for, at most.
const USUAL: usize = 12;

/// Which values have lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spacing {
    /// Some round ones.
    Round,
    /// The multiples of a step.
    Each(f64),
}

/// The values in a range that have lines: multiples of a step, or round ones. `None` if these are more than [`MOST`].
#[expect(clippy::cast_precision_loss, reason = "few steps")]
pub(crate) fn levels((low, high): (f64, f64), spacing: Spacing) -> Option<Vec<f64>> {
    let Spacing::Each(step) = spacing else { return Some(ticks((low, high), USUAL, false)) };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    let is_few = last - first < MOST as f64;
    let multiples = std::iter::successors(Some(first), |at| Some(at + 1.0)).take(MOST);
    is_few.then(|| multiples.take_while(|at| *at <= last).map(|at| at * step).collect())
}

/// The side of a square: the row and column of the value at its beginning, and whether it goes down to the next row, or else to the next
/// column.
type Side = (usize, usize, bool);

/// Squares between the values of a field.
struct Squares<'f> {
    field: &'f Field,
    /// Whether the last column is followed by the first one.
    is_circle: bool,
    level: f64,
}

/// Lines of the points that have a value, as shares of the field from its top left. Where the field is a circle, lines run on over its seam, with
/// shares of less than 0 or more than 1.
pub(crate) fn lines(field: &Field, is_circle: bool, levels: &[f64]) -> Lines {
    let small = field.resized(field.rows().min(SIDE), field.columns().min(SIDE));
    let of = |level: &f64| Squares { field: &small, is_circle, level: *level }.lines();
    levels.iter().flat_map(of).collect()
}

impl Squares<'_> {
    fn lines(&self) -> Lines {
        let mut links: HashMap<Side, Vec<Side>> = HashMap::new();
        let columns = self.field.columns() - usize::from(!self.is_circle);
        for row in 0..self.field.rows() - 1 {
            for column in 0..columns {
                for (from, to) in self.pairs(row, column).into_iter().flatten() {
                    links.entry(from).or_default().push(to);
                    links.entry(to).or_default().push(from);
                }
            }
        }
        // Lines that end somewhere begin at one of their ends. The others are closed.
        let mut starts: Vec<Side> = links.keys().copied().collect();
        starts.sort_unstable_by_key(|side| (links.get(side).map_or(0, Vec::len), *side));
        let mut found = Lines::new();
        for start in starts {
            while let Some(line) = self.line_from(start, &mut links) {
                found.push(line);
            }
        }
        found
    }

    /// The line from a side on, whose links are taken away. `None` if there are none.
    fn line_from(&self, start: Side, links: &mut HashMap<Side, Vec<Side>>) -> Option<Vec<(f64, f64)>> {
        let mut at = start;
        let mut line = vec![self.point(start)];
        while let Some(next) = links.get_mut(&at).and_then(Vec::pop) {
            if let Some(back) = links.get_mut(&next)
                && let Some(place) = back.iter().position(|side| *side == at)
            {
                back.swap_remove(place);
            }
            let (x, y) = self.point(next);
            // Across the seam of a circle, shares go on.
            let turn = line.last().map_or(0.0, |(before, _)| (before - x).round());
            line.push((if self.is_circle { x + turn } else { x }, y));
            at = next;
        }
        (line.len() > 1).then_some(line)
    }

    fn value(&self, row: usize, column: usize) -> Option<f64> {
        self.field.get(row, column % self.field.columns())
    }

    /// The sides that lines of a square run between.
    fn pairs(&self, row: usize, column: usize) -> [Option<(Side, Side)>; 2] {
        let corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
        let [Some(a), Some(b), Some(c), Some(d)] = corners.map(|(row, column)| self.value(row, column)) else {
            return [None; 2];
        };
        let is_above = |value: f64| value >= self.level;
        let next = (column + 1) % self.field.columns().max(1);
        let (top, bottom) = ((row, column, false), (row + 1, column, false));
        let (left, right) = ((row, column, true), (row, next, true));
        let borders = [(a, b, top), (b, c, right), (d, c, bottom), (a, d, left)];
        let mut found = borders.into_iter().filter(|(one, other, _)| is_above(*one) != is_above(*other));
        let sides: [Option<Side>; 4] = std::array::from_fn(|_| found.next().map(|(_, _, side)| side));
        match sides {
            [Some(_), Some(_), Some(_), Some(_)] => {
                let middle = a / 4.0 + b / 4.0 + c / 4.0 + d / 4.0;
                // The lines cut off the corners that differ from the middle.
                if is_above(middle) == is_above(a) {
                    [Some((top, right)), Some((bottom, left))]
                } else {
                    [Some((top, left)), Some((right, bottom))]
                }
            }
            [Some(from), Some(to), ..] => [Some((from, to)), None],
            _ => [None; 2],
        }
    }

    /// The point of a side that has the value, as shares of the field.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    fn point(&self, (row, column, is_down): Side) -> (f64, f64) {
        let (next_row, next_column) = if is_down { (row + 1, column) } else { (row, column + 1) };
        let ends = self.value(row, column).zip(self.value(next_row, next_column));
        // Halves, so that values far from each other do not overflow.
        let part = ends.map_or(0.5, |(one, other)| {
            let share = (self.level / 2.0 - one / 2.0) / (other / 2.0 - one / 2.0);
            share.clamp(0.0, 1.0)
        });
        let (across, down) = if is_down { (0.0, part) } else { (part, 0.0) };
        let share = |at: usize, part: f64, count: usize| (at as f64 + 0.5 + part) / count as f64;
        (share(column, across, self.field.columns()), share(row, down, self.field.rows()))
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "few cells")]
mod tests {
    use super::*;

    fn field(rows: usize, columns: usize, value: impl Fn(f64, f64) -> f64) -> Field {
        let at = |cell: usize| value((cell % columns) as f64 + 0.5, (cell / columns) as f64 + 0.5);
        Field::new(rows, columns, (0..rows * columns).map(at).collect()).unwrap()
    }

    #[test]
    fn a_linear_field_has_a_straight_line() {
        let found = lines(&field(20, 30, |x, y| 2.0 * x + 3.0 * y), false, &[40.0]);
        let [line] = found.as_slice() else { panic!("{found:?}") };
        assert!(line.len() > 10);
        for (x, y) in line {
            assert!((2.0 * 30.0 * x + 3.0 * 20.0 * y - 40.0).abs() < 1e-9, "{x} {y}");
        }
    }

    #[test]
    fn a_hill_has_a_closed_line_and_a_hole_opens_it() {
        let hill = |x: f64, y: f64| -(x - 10.0).hypot(y - 10.0);
        let found = lines(&field(20, 20, hill), false, &[-5.0]);
        let [line] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(line.first(), line.last());
        assert!(line.iter().all(|(x, y)| ((20.0 * x - 10.0).hypot(20.0 * y - 10.0) - 5.0).abs() < 0.1));
        let hole = |x: f64, y: f64| if x > 14.0 && x < 16.0 && y > 9.0 && y < 11.0 { f64::NAN } else { hill(x, y) };
        let found = lines(&field(20, 20, hole), false, &[-5.0]);
        let [line] = found.as_slice() else { panic!("{found:?}") };
        assert_ne!(line.first(), line.last());
    }

    /// Both ways through a saddle: the lines do not cross each other.
    #[test]
    fn a_saddle_has_two_lines() {
        for value in [0.4, 0.6] {
            let found = lines(&Field::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap(), false, &[value]);
            assert_eq!(found.len(), 2, "{value}: {found:?}");
            let is_falling = |line: &Vec<(f64, f64)>| {
                let ((x, y), (other_x, other_y)) = (line[0], line[line.len() - 1]);
                (x - other_x) * (y - other_y) > 0.0
            };
            assert!(found.iter().all(|line| is_falling(line) == (value < 0.5)), "{value}: {found:?}");
        }
    }

    #[test]
    fn circles_have_lines_across_their_seam() {
        let of = |is_circle| lines(&field(2, 8, |_, y| y), is_circle, &[1.0]);
        let width = |found: &Lines| found.iter().flatten().fold(0.0, |most: f64, (x, _)| most.max(*x));
        assert_eq!((of(false).len(), of(true).len()), (1, 1));
        assert!((width(&of(false)) - 15.0 / 16.0).abs() < 1e-9 && of(true)[0].len() == 9);
        let steps = of(true)[0].windows(2).map(|pair| (pair[0].0 - pair[1].0).abs()).fold(0.0, f64::max);
        assert!((steps - 1.0 / 8.0).abs() < 1e-9, "{steps}");
    }

    #[test]
    fn values_with_lines_are_round_and_few() {
        assert_eq!(levels((0.5, 3.5), Spacing::Each(1.0)), Some(vec![1.0, 2.0, 3.0]));
        assert_eq!(levels((-1.0, 1.0), Spacing::Each(0.75)), Some(vec![-0.75, 0.0, 0.75]));
        assert_eq!(levels((0.0, 1.0), Spacing::Each(1e-9)), None);
        assert_eq!(levels((f64::MIN, f64::MAX), Spacing::Each(1e-300)), None);
        assert_eq!(levels((5.0, 5.0), Spacing::Each(10.0)), Some(vec![]));
        assert!(levels((0.0, 1.0), Spacing::Round).is_some_and(|found| (5..=12).contains(&found.len())));
        // Nothing but missing values, equal values, and one row.
        for (rows, columns, value) in [(4, 4, f64::NAN), (4, 4, 1.0), (1, 9, 2.0), (9, 1, 2.0)] {
            assert!(lines(&field(rows, columns, |_, _| value), true, &[1.0]).is_empty());
        }
    }
}
