//! What a picture shows: a field, a line or a histogram, with its title and units.

use crate::arrow::Arrows;
use crate::axis::{Axis, Tick};
use crate::field::Field;
use crate::lines::Lines;
use crate::map::Map;
use crate::palette::{MISSING, Palette, Rgb};
use crate::ticks::{number, ticks};

/// Values to draw, and what stands beside them.
#[derive(Debug)]
pub struct Picture {
    /// What is drawn.
    pub drawn: Drawn,
    /// The values of the first and the last colour, of the bottom and the top of a line, or of both ends of a histogram.
    pub range: (f64, f64),
    /// The colours of the range.
    pub palette: Palette,
    /// What the values are.
    pub title: String,
    /// Which of them are drawn: level, time, step, and where they are stored.
    pub caption: String,
    /// The units of the values.
    pub units: String,
    /// What is drawn over a field.
    pub over: Over,
}

/// What is drawn over a field, but for coasts. Pictures of characters do not show it.
#[derive(Debug, Default)]
pub struct Over {
    /// Lines of equal value, through shares of the picture.
    pub contours: Lines,
    /// Arrows of wind.
    pub arrows: Option<Arrows>,
}

/// What is drawn.
#[derive(Debug)]
pub enum Drawn {
    /// Rows of values.
    Field(Sheet),
    /// One row of values, and what it runs along.
    Line(Field, Axis),
    /// How many values lie in each of equal parts of the range.
    Histogram(Counts),
}

/// A field with its sides.
#[derive(Debug)]
pub struct Sheet {
    /// Rows of values, the first one at the top.
    pub field: Field,
    /// The axis of the rows, and that of the columns.
    pub axes: [Axis; 2],
    /// The map, if it is a part of the globe.
    pub map: Option<Map>,
    /// 1 where the grid is, NaN outside of it. `None` if the grid is everywhere.
    pub inside: Option<Field>,
}

impl Sheet {
    /// Its width for a height of 1: degrees are of one length in both directions, and cells without a place are squares. Cells with labels,
    /// as of a few levels by many times, fill a picture that is not too long.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    pub fn ratio(&self) -> f64 {
        let (width, height) =
            self.map.map_or((self.field.columns() as f64, self.field.rows() as f64), |map| map.size());
        let has_labels = self.map.is_none() && self.axes.iter().any(|axis| !matches!(axis, Axis::Cells(_)));
        if has_labels { (width / height).clamp(0.5, 2.5) } else { width / height }
    }

    /// The sheet with other numbers of rows and columns, as [`Field::resized`] makes them.
    #[must_use]
    pub fn resized(&self, rows: usize, columns: usize) -> Self {
        let inside = self.inside.as_ref().map(|inside| inside.resized(rows, columns));
        Self { field: self.field.resized(rows, columns), axes: self.axes.clone(), map: self.map, inside }
    }

    /// What a cell shows.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        match (self.field.get(row, column), &self.inside) {
            (Some(value), _) => Cell::Value(value),
            (None, Some(inside)) if inside.get(row, column).is_none() => Cell::Outside,
            (None, _) => Cell::Missing,
        }
    }

    /// Whether values are missing within the grid.
    pub fn has_missing(&self) -> bool {
        let mut cells =
            (0..self.field.rows()).flat_map(|row| (0..self.field.columns()).map(move |column| (row, column)));
        cells.any(|(row, column)| self.cell(row, column) == Cell::Missing)
    }
}

/// What a place of a field shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// A value.
    Value(f64),
    /// A value that is missing.
    Missing,
    /// Nothing: the grid is elsewhere.
    Outside,
}

/// The counts of a histogram.
#[derive(Debug)]
pub struct Counts {
    /// The counts of the parts.
    pub counts: Vec<u64>,
    /// Values that are not finite.
    pub missing: u64,
    /// Finite values outside of the range.
    pub outside: u64,
}

impl Counts {
    /// The greatest count, at least 1.
    pub fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or_default().max(1)
    }

    /// A sentence on the values that are in no part. `None` if all values are.
    pub fn rest(&self) -> Option<String> {
        let part = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let parts = [part(self.missing, "missing"), part(self.outside, "outside of the range")];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("not drawn: {}", parts.join(", ")))
    }
}

impl Picture {
    /// Where a value lies in the range: 0 is the least one.
    pub fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        // Halves, so that a range over all floats does not overflow.
        let width = high / 2.0 - low / 2.0;
        if width > 0.0 { ((value / 2.0 - low / 2.0) / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The value at a share of the range.
    pub fn at(&self, share: f64) -> f64 {
        let (low, high) = self.range;
        low * (1.0 - share) + high * share
    }

    /// Whether there is something to write below the numbers of its colours.
    pub const fn has_foot(&self) -> bool {
        !self.units.is_empty() || self.over.arrows.is_some()
    }

    /// The colour of a cell. `None` outside of the grid.
    pub fn colour(&self, cell: Cell) -> Option<Rgb> {
        match cell {
            Cell::Value(value) => Some(self.palette.colour(self.share(value))),
            Cell::Missing => Some(MISSING),
            Cell::Outside => None,
        }
    }

    /// Round values of the range, at most `most` of them, each at its share of it.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        ticks(self.range, most, false).into_iter().map(|value| (self.share(value), number(value, 9))).collect()
    }

    /// A value of the range as text, with its unit.
    pub fn label(&self, value: f64) -> String {
        format!("{} {}", number(value, 5), self.units).trim_end().to_string()
    }
}
