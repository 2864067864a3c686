//! Regular grids of latitudes and longitudes, as metadata describes them.
//!
//! The last two dimensions of a field are rows of latitude and columns of longitude. `area` has the bounds: north, west,
//! south, east, in degrees, as a list or as text with slashes between the numbers.

use std::str::FromStr;

use serde_json::Value as Json;
use tgm_std::TensogramError;

use crate::read::select::{Scope, text};

/// Keys under which the bounds stand.
const AREAS: [&str; 2] = ["mars.area", "area"];

/// Bounds of a grid in degrees. Rows and columns lie on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    north: f64,
    west: f64,
    south: f64,
    east: f64,
}

impl Area {
    /// From pole to pole.
    pub(crate) const GLOBE: Self = Self { north: 90.0, west: 0.0, south: -90.0, east: 360.0 };

    /// The bounds that metadata has.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for bounds that are not four numbers.
    pub(crate) fn of(scope: Scope<'_, '_>) -> Result<Option<Self>, TensogramError> {
        let Some(area) = scope.first(&AREAS)? else { return Ok(None) };
        let wrong = |reason| TensogramError::Metadata(format!("area is {area}: {reason}").into());
        let numbers = match &area {
            Json::Array(numbers) => numbers.iter().map(Json::as_f64).collect::<Option<Vec<_>>>(),
            other => return text(other).parse().map(Some).map_err(wrong),
        };
        numbers.ok_or(EXPECTED.to_string()).and_then(|numbers| Self::new(&numbers)).map(Some).map_err(wrong)
    }

    fn new(numbers: &[f64]) -> Result<Self, String> {
        match *numbers {
            [north, west, south, east] if numbers.iter().all(|number| number.is_finite()) => {
                Ok(Self { north, west, south, east })
            }
            _ => Err(EXPECTED.to_string()),
        }
    }
}

const EXPECTED: &str = "four numbers are expected: north, west, south, east";

impl FromStr for Area {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split(['/', ',']).map(|number| number.trim().parse().ok());
        numbers.collect::<Option<Vec<f64>>>().ok_or(EXPECTED.to_string()).and_then(|numbers| Self::new(&numbers))
    }
}

/// A grid: where its rows and columns are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    area: Area,
    /// Rows of latitude.
    pub(crate) rows: u64,
    /// Columns of longitude.
    pub(crate) columns: u64,
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
impl Grid {
    /// The grid of the last two dimensions of `shape`. `None` if there are fewer.
    pub(crate) const fn new(shape: &[u64], area: Area) -> Option<Self> {
        match *shape {
            [.., rows, columns] => Some(Self { area, rows, columns }),
            _ => None,
        }
    }

    /// The latitude of a row, in degrees.
    pub(crate) fn latitude(&self, row: u64) -> f64 {
        self.area.north + self.row_step() * row as f64
    }

    /// The longitude of a column, in degrees.
    pub(crate) fn longitude(&self, column: u64) -> f64 {
        self.area.west + self.column_step() * column as f64
    }

    fn row_step(&self) -> f64 {
        (self.area.south - self.area.north) / self.rows.saturating_sub(1).max(1) as f64
    }

    fn column_step(&self) -> f64 {
        let width = self.area.east - self.area.west;
        // A whole circle ends one step before it would meet its first column again.
        let is_circle = (width.abs() - 360.0).abs() < 1e-9;
        width / if is_circle { self.columns.max(1) } else { self.columns.saturating_sub(1).max(1) } as f64
    }

    /// The row and column that are nearest to a point. `None` for a point that is more than half a step outside.
    pub(crate) fn nearest(&self, latitude: f64, longitude: f64) -> Option<(u64, u64)> {
        let row = nearest((latitude - self.area.north) / self.row_step(), self.rows)?;
        let step = self.column_step();
        // The point may be given west of the first column, or more than a circle away.
        let around = [-720.0, -360.0, 0.0, 360.0, 720.0].map(|circle| (longitude + circle - self.area.west) / step);
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
mod tests {
    use super::*;

    #[test]
    fn points_find_their_cells() {
        let area: Area = "90/0/-90/359".parse().unwrap();
        let grid = Grid::new(&[2, 181, 360], area).unwrap();
        assert_eq!(grid.nearest(90.0, 0.0), Some((0, 0)));
        assert_eq!(grid.nearest(-0.4, 10.4), Some((90, 10)));
        assert_eq!(grid.nearest(50.6, -1.0), Some((39, 359)));
        assert_eq!(grid.nearest(50.6, 359.7), Some((39, 0)));
        assert_eq!((grid.latitude(90), grid.longitude(359)), (0.0, 359.0));
        assert_eq!(grid.nearest(91.0, 0.0), None);
        let globe = Grid::new(&[3, 4], Area::GLOBE).unwrap();
        assert_eq!((globe.latitude(1), globe.longitude(3)), (0.0, 270.0));
        let part = Grid::new(&[3, 5], "60,-10,40,10".parse().unwrap()).unwrap();
        assert_eq!((part.nearest(50.0, 355.0), part.nearest(50.0, 180.0)), (Some((1, 1)), None));
        assert!("1/2/3".parse::<Area>().is_err() && "a/0/0/0".parse::<Area>().is_err());
        assert!(Grid::new(&[5], Area::GLOBE).is_none());
    }
}
