//! Regular grids: rows of latitude and columns of longitude, evenly between bounds.

use crate::area::Area;

/// A regular grid: where its rows and columns are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegularGrid {
    area: Area,
    rows: u64,
    columns: u64,
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
impl RegularGrid {
    /// The grid of the last two dimensions of `shape`, which are rows and columns. `None` if there are fewer.
    pub const fn new(shape: &[u64], area: Area) -> Option<Self> {
        match *shape {
            [.., rows, columns] => Some(Self { area, rows, columns }),
            _ => None,
        }
    }

    /// The number of rows of latitude.
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of columns of longitude.
    pub const fn columns(&self) -> u64 {
        self.columns
    }

    /// The latitude of a row, in degrees.
    pub fn latitude(&self, row: u64) -> f64 {
        self.area.north() + self.row_step() * row as f64
    }

    /// The longitude of a column, in degrees.
    pub fn longitude(&self, column: u64) -> f64 {
        self.area.west() + self.column_step() * column as f64
    }

    fn row_step(&self) -> f64 {
        (self.area.south() - self.area.north()) / self.rows.saturating_sub(1).max(1) as f64
    }

    fn column_step(&self) -> f64 {
        let width = self.area.east() - self.area.west();
        // A whole circle ends one step before it would meet its first column again.
        let is_circle = (width.abs() - 360.0).abs() < 1e-9;
        width / if is_circle { self.columns.max(1) } else { self.columns.saturating_sub(1).max(1) } as f64
    }

    /// The row and column that are nearest to a place. `None` for a place that is more than half a step outside.
    pub fn nearest(&self, latitude: f64, longitude: f64) -> Option<(u64, u64)> {
        let row = nearest((latitude - self.area.north()) / self.row_step(), self.rows)?;
        let step = self.column_step();
        // The place may be given west of the first column, or more than a circle away.
        let around = [-720.0, -360.0, 0.0, 360.0, 720.0].map(|circle| (longitude + circle - self.area.west()) / step);
        // In a circle, the first column is also one step behind the last one.
        let is_behind = |place: &f64| {
            step.abs() * self.columns as f64 >= 360.0 - 1e-9 && (place - self.columns as f64).abs() <= 0.5
        };
        let column = around.iter().find_map(|&place| nearest(place, self.columns));
        let column = column.or_else(|| around.iter().any(is_behind).then_some(0));
        Some((row, column?))
    }
}

/// The whole number below `count` that is nearest to `place`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "in range")]
fn nearest(place: f64, count: u64) -> Option<u64> {
    let place = if place.is_nan() { 0.0 } else { place };
    let rounded = place.round();
    ((-0.5..=count as f64 - 0.5).contains(&place) && count > 0).then(|| (rounded.max(0.0) as u64).min(count - 1))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn points_find_their_cells() {
        let area: Area = "90/0/-90/359".parse().unwrap();
        let grid = RegularGrid::new(&[2, 181, 360], area).unwrap();
        assert_eq!(grid.nearest(90.0, 0.0), Some((0, 0)));
        assert_eq!(grid.nearest(-0.4, 10.4), Some((90, 10)));
        assert_eq!(grid.nearest(50.6, -1.0), Some((39, 359)));
        assert_eq!(grid.nearest(50.6, 359.7), Some((39, 0)));
        assert_eq!((grid.latitude(90), grid.longitude(359)), (0.0, 359.0));
        assert_eq!(grid.nearest(91.0, 0.0), None);
        let globe = RegularGrid::new(&[3, 4], Area::GLOBE).unwrap();
        assert_eq!((globe.latitude(1), globe.longitude(3)), (0.0, 270.0));
        let part = RegularGrid::new(&[3, 5], "60,-10,40,10".parse().unwrap()).unwrap();
        assert_eq!((part.nearest(50.0, 355.0), part.nearest(50.0, 180.0)), (Some((1, 1)), None));
        assert!("1/2/3".parse::<Area>().is_err() && "a/0/0/0".parse::<Area>().is_err());
        assert!(RegularGrid::new(&[5], Area::GLOBE).is_none());
    }
}
