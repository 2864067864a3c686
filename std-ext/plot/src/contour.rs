//! Lines of equal value through a field, by marching squares.
//!
//! The values stand in the middles of their cells. Between four of them, a line runs straight from one side of the square to another one. Where
//! two lines cross a square, the mean of the four values says which of its corners belong together. Squares with a missing value have no lines.

use crate::field::Field;
use crate::lines::Lines;
use crate::ticks::ticks;

/// The greatest number of rows and columns that lines run through. Finer fields are made smaller first.
const SIDE: usize = 360;
/// The greatest number of values that have lines.
pub const MOST: usize = 100;
/// Values that have lines where no step is asked for, at most.
const USUAL: usize = 12;

/// Which values have lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// Some round ones.
    Round,
    /// The multiples of a step.
    Each(f64),
}

/// The values in a range that have lines: multiples of a step, or round ones. `None` if these are more than [`MOST`].
#[expect(clippy::cast_precision_loss, reason = "few steps")]
pub fn levels((low, high): (f64, f64), spacing: Spacing) -> Option<Vec<f64>> {
    let Spacing::Each(step) = spacing else { return Some(ticks((low, high), USUAL, false)) };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    let is_few = last - first < MOST as f64;
    let multiples = std::iter::successors(Some(first), |at| Some(at + 1.0)).take(MOST);
    is_few.then(|| multiples.take_while(|at| *at <= last).map(|at| at * step).collect())
}

/// The side of a square: the row and column of the value at its beginning, and whether it goes down to the next row, or else to the next
/// column.
#[derive(Clone, Copy, PartialEq)]
struct Side {
    row: usize,
    column: usize,
    is_down: bool,
}

/// The sides that each side is linked with by lines: at most two, one for each square that it belongs to. One list for a field, so that squares
/// allocate nothing.
struct Links {
    columns: usize,
    of_sides: Vec<[Option<Side>; 2]>,
}

impl Links {
    fn new(field: &Field) -> Self {
        Self { columns: field.columns(), of_sides: vec![[None; 2]; 2 * field.rows() * field.columns()] }
    }

    fn place(&self, side: Side) -> usize {
        2 * (side.row * self.columns + side.column) + usize::from(side.is_down)
    }

    fn link(&mut self, one: Side, other: Side) {
        for (from, to) in [(one, other), (other, one)] {
            let place = self.place(from);
            let free = self.of_sides.get_mut(place).and_then(|links| links.iter_mut().find(|link| link.is_none()));
            if let Some(free) = free {
                *free = Some(to);
            }
        }
    }

    /// A side that this one is linked with. Takes the link away at both its ends.
    fn take(&mut self, from: Side) -> Option<Side> {
        let place = self.place(from);
        let to = self.of_sides.get_mut(place)?.iter_mut().rev().find_map(Option::take)?;
        let place = self.place(to);
        if let Some(back) = self.of_sides.get_mut(place)?.iter_mut().find(|link| **link == Some(from)) {
            *back = None;
        }
        Some(to)
    }

    /// The side at this place of the list, if it has so many links.
    fn side_with(&self, count: usize, place: usize) -> Option<Side> {
        let is_so = self.of_sides.get(place)?.iter().flatten().count() == count;
        let cell = place / 2;
        is_so.then_some(Side { row: cell / self.columns, column: cell % self.columns, is_down: place % 2 == 1 })
    }
}

/// Squares between the values of a field.
struct Squares<'f> {
    field: &'f Field,
    /// Whether the last column is followed by the first one.
    is_circle: bool,
    level: f64,
}

/// Lines of the points that have a value, as shares of the field from its top left. Where the field is a circle, lines run on over its seam, with
/// shares of less than 0 or more than 1.
pub fn lines(field: &Field, is_circle: bool, levels: &[f64]) -> Lines {
    let small = field.resized(field.rows().min(SIDE), field.columns().min(SIDE));
    let mut links = Links::new(&small);
    let mut found = Lines::new();
    for level in levels {
        Squares { field: &small, is_circle, level: *level }.lines(&mut links, &mut found);
    }
    found
}

impl Squares<'_> {
    /// Adds the lines of the level. `links` has none before and after it.
    fn lines(&self, links: &mut Links, found: &mut Lines) {
        let columns = self.field.columns() - usize::from(!self.is_circle);
        for row in 0..self.field.rows() - 1 {
            for column in 0..columns {
                for (from, to) in self.pairs(row, column).into_iter().flatten() {
                    links.link(from, to);
                }
            }
        }
        // Lines that end somewhere begin at one of their ends. The others are closed.
        for count in [1, 2] {
            for place in 0..links.of_sides.len() {
                if let Some(start) = links.side_with(count, place) {
                    found.push(self.line_from(start, links));
                }
            }
        }
    }

    /// The line from a side on, whose links are taken away.
    fn line_from(&self, start: Side, links: &mut Links) -> Vec<(f64, f64)> {
        let mut at = start;
        let mut line = vec![self.point(start)];
        while let Some(next) = links.take(at) {
            let (x, y) = self.point(next);
            // Across the seam of a circle, shares go on.
            let turn = line.last().map_or(0.0, |(before, _)| (before - x).round());
            line.push((if self.is_circle { x + turn } else { x }, y));
            at = next;
        }
        line
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
        let [top, bottom] = [row, row + 1].map(|row| Side { row, column, is_down: false });
        let [left, right] = [column, next].map(|column| Side { row, column, is_down: true });
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
    fn point(&self, Side { row, column, is_down }: Side) -> (f64, f64) {
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

    /// Each link of two sides is in a line once, and lines of points that lie alone are closed.
    #[test]
    fn noise_has_a_line_through_each_square() {
        let noise = |x: f64, y: f64| (x * 12.9898 + y * 78.233).sin().abs() * 43_758.545_3 % 1.0;
        for (rows, columns, is_circle) in [(40, 50, false), (40, 50, true), (9, 1, true), (9, 2, true)] {
            let rough = field(rows, columns, noise);
            let squares = Squares { field: &rough, is_circle, level: 0.5 };
            let across = columns - usize::from(!is_circle);
            let links = (0..rows - 1).flat_map(|row| (0..across).map(move |column| (row, column)));
            let links = links.flat_map(|(row, column)| squares.pairs(row, column)).flatten().count();
            let found = lines(&rough, is_circle, &[0.5, 0.5]);
            let steps: usize = found.iter().map(|line| line.len() - 1).sum();
            assert_eq!(steps, 2 * links, "{rows} x {columns}");
            assert!(found.iter().all(|line| line.len() > 1));
        }
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
