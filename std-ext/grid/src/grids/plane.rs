//! Rows and columns on a plane, which a projection puts on the Earth.

use super::Grid;
use super::scan::{Scan, turn};
use crate::coordinates::Coordinates;

/// A way to put places of the Earth on a plane: degrees on one side, metres on the other.
pub(crate) trait Projection {
    /// Where a place is on the plane: x to the right and y upwards.
    fn project(&self, place: (f64, f64)) -> (f64, f64);

    /// Latitude and longitude of a point of the plane. Not a number where the plane has no place.
    fn unproject(&self, point: (f64, f64)) -> (f64, f64);
}

/// A grid on a plane.
pub(crate) struct Plane<P> {
    pub(crate) scan: Scan,
    /// Where the first point is on the plane.
    pub(crate) first: (f64, f64),
    /// How far columns and rows are apart.
    pub(crate) step: (f64, f64),
    pub(crate) projection: P,
}

impl<P: Projection + 'static> Plane<P> {
    /// The grid whose first point has a latitude and a longitude. `None` if the projection does not show this place.
    pub(crate) fn at(scan: Scan, first: (f64, f64), step: (f64, f64), projection: P) -> Option<Box<dyn Grid>> {
        let first = projection.project(first);
        let is_shown = first.0.is_finite() && first.1.is_finite();
        is_shown.then(|| Box::new(Self { scan, first, step, projection }) as Box<dyn Grid>)
    }
}

impl<P: Projection> Grid for Plane<P> {
    fn coordinates(&self, points: u32) -> Option<Coordinates> {
        let (x, y) = self.first;
        let right = if self.scan.mode & Scan::WEST == 0 { self.step.0 } else { -self.step.0 };
        let up = if self.scan.mode & Scan::NORTH == 0 { -self.step.1 } else { self.step.1 };
        let places = self.scan.places(points)?;
        let mut found = Coordinates::with_capacity(points)?;
        for (column, row) in places {
            let point = (x + right * f64::from(column), y + up * f64::from(row));
            let (latitude, longitude) = self.projection.unproject(point);
            found.push(latitude, turn(longitude));
        }
        Some(found)
    }
}

/// An angle from -180 to 180 degrees.
pub(crate) fn around(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}
