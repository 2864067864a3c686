//! Where the values of the last dimensions of an object are.

use crate::points::Points;
use crate::regular::RegularGrid;

/// Where the values of the last dimensions of an object are.
///
/// ```
/// use tgm_grid::{Area, Places, RegularGrid};
///
/// let grid = RegularGrid::new(&[3, 4], Area::GLOBE).unwrap();
/// let places = Places::Regular(grid);
/// assert_eq!(places.nearest(10.0, 100.0), Some(vec![1, 1]));
/// assert_eq!(places.place(&[1, 1]), Some((0.0, 90.0)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Places {
    /// On a regular grid of the last two dimensions.
    Regular(RegularGrid),
    /// At points of their own.
    Points(Points),
}

impl Places {
    /// Latitude and longitude of the value at `indices`, in degrees.
    pub fn place(&self, indices: &[u64]) -> Option<(f64, f64)> {
        match self {
            Self::Regular(grid) => match indices {
                [.., row, column] => Some((grid.latitude(*row), grid.longitude(*column))),
                _ => None,
            },
            Self::Points(points) => points.place(indices),
        }
    }

    /// The indices of the last dimensions whose value is nearest to a place. `None` for a place outside.
    pub fn nearest(&self, latitude: f64, longitude: f64) -> Option<Vec<u64>> {
        match self {
            Self::Regular(grid) => grid.nearest(latitude, longitude).map(|(row, column)| vec![row, column]),
            Self::Points(points) => points.nearest(latitude, longitude),
        }
    }

    /// Latitudes in the order of the values, and how many values in a row have the same latitude. Takes 8 bytes for each row
    /// of a regular grid, and for each point.
    pub fn latitudes(&self) -> (Vec<f64>, u64) {
        match self {
            Self::Regular(grid) => ((0..grid.rows()).map(|row| grid.latitude(row)).collect(), grid.columns()),
            Self::Points(points) => (points.coordinates().latitudes.clone(), 1),
        }
    }
}
