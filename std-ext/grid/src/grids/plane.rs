//! Rows and columns on a plane, which a projection puts on the Earth.

use super::earth::Earth;
use super::scan::{Scan, turn};
use super::{Edition, Grid, Parsed, Word};
use crate::cf::{CfMapping, Projected};
use crate::coordinates::Coordinates;
use crate::error::GridError;
use crate::octets::Needed;

/// The numbers of the second edition that planes and cones share.
pub(crate) const WORDS: [Word; 6] = [
    Word::unsigned("Nx", 31, 4),
    Word::unsigned("Ny", 35, 4),
    Word::unsigned("Dx", 56, 4),
    Word::unsigned("Dy", 60, 4),
    Word::signed("latitudeOfFirstGridPoint", 39, 4),
    Word::signed("longitudeOfFirstGridPoint", 43, 4),
];
/// The other numbers of cones, and the two parallels.
pub(crate) const CONE: [Word; 3] =
    [Word::signed("LaD", 48, 4), Word::signed("LoV", 52, 4), Word::unsigned("scanningMode", 65, 1)];
pub(crate) const PARALLELS: [Word; 2] = [Word::signed("Latin1", 66, 4), Word::signed("Latin2", 70, 4)];

/// The numbers of cones in the first edition, and the two parallels.
pub(crate) const FIRST_CONE: [Word; 8] = [
    Word::unsigned("Nx", 7, 2),
    Word::unsigned("Ny", 9, 2),
    Word::signed("latitudeOfFirstGridPoint", 11, 3),
    Word::signed("longitudeOfFirstGridPoint", 14, 3),
    Word::signed("LoV", 18, 3),
    Word::unsigned("Dx", 21, 3),
    Word::unsigned("Dy", 24, 3),
    Word::unsigned("scanningMode", 28, 1),
];
pub(crate) const FIRST_PARALLELS: [Word; 2] = [Word::signed("Latin1", 29, 3), Word::signed("Latin2", 32, 3)];

/// A way to put places of the Earth on a plane: degrees on one side, metres on the other.
pub(crate) trait Projection {
    /// Where a place is on the plane: x to the right and y upwards.
    fn project(&self, place: (f64, f64)) -> (f64, f64);

    /// Latitude and longitude of a point of the plane. Not a number where the plane has no place.
    fn unproject(&self, point: (f64, f64)) -> (f64, f64);

    /// The projection in the words of CF, and the place at which its x and y are 0.
    fn cf(&self) -> (CfMapping, (f64, f64));
}

/// How a section says a grid on a plane.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) edition: Edition,
    /// The octet of the scanning mode.
    pub(crate) mode: usize,
    /// The octet of the distance of columns. The one of rows follows.
    pub(crate) step: usize,
}

impl Layout {
    /// Cones of each edition.
    pub(crate) const FIRST: Self = Self { edition: Edition::First, mode: 28, step: 21 };
    pub(crate) const SECOND: Self = Self { edition: Edition::Second, mode: 65, step: 56 };

    /// The grid, with the projection that `project` reads. `None` if the shape of the Earth is not known, or `project` knows no projection.
    pub(crate) fn parse<P: Projection + 'static>(
        self,
        section: Needed<'_>,
        project: fn(Said<'_>) -> Result<Option<P>, GridError>,
    ) -> Parsed {
        let Self { edition, mode, step } = self;
        let Some(earth) = edition.earth(section)? else { return Ok(None) };
        // The first points of both editions are at these octets.
        let (latitude, longitude) = if edition == Edition::First { (11, 14) } else { (39, 43) };
        let first = (edition.angle(section, latitude)?, edition.angle(section, longitude)?);
        let scan = edition.scan(section, mode)?;
        let step = match edition {
            Edition::First => (f64::from(section.u24(step)?), f64::from(section.u24(step + 3)?)),
            Edition::Second => (section.thousandths(step)?, section.thousandths(step + 4)?),
        };
        let projection = project(Said { edition, section, earth, first })?;
        Ok(projection.and_then(|projection| Plane::at(scan, first, step, projection)))
    }
}

/// What a section says to a projection.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a> {
    pub(crate) edition: Edition,
    pub(crate) section: Needed<'a>,
    pub(crate) earth: Earth,
    /// Latitude and longitude of the first point.
    pub(crate) first: (f64, f64),
}

impl Said<'_> {
    /// The angle at one octet in the first edition, and at another in the second, in degrees.
    pub(crate) fn angle(self, first: usize, second: usize) -> Result<f64, GridError> {
        let octet = if self.edition == Edition::First { first } else { second };
        self.edition.angle(self.section, octet)
    }

    /// The longitude that points up on a cone.
    pub(crate) fn upward(self) -> Result<f64, GridError> {
        self.angle(18, 52)
    }

    /// The latitudes of the two parallels of a cone.
    pub(crate) fn parallels(self) -> Result<(f64, f64), GridError> {
        Ok((self.angle(29, 66)?, self.angle(32, 70)?))
    }
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
    fn at(scan: Scan, first: (f64, f64), step: (f64, f64), projection: P) -> Option<Box<dyn Grid>> {
        let first = projection.project(first);
        let is_shown = first.0.is_finite() && first.1.is_finite();
        is_shown.then(|| Box::new(Self { scan, first, step, projection }) as Box<dyn Grid>)
    }
}

impl<P> Plane<P> {
    fn x(&self, column: u32) -> f64 {
        let right = if self.scan.mode & Scan::WEST == 0 { self.step.0 } else { -self.step.0 };
        self.first.0 + right * f64::from(column)
    }

    fn y(&self, row: u32) -> f64 {
        let up = if self.scan.mode & Scan::NORTH == 0 { -self.step.1 } else { self.step.1 };
        self.first.1 + up * f64::from(row)
    }
}

impl<P: Projection> Grid for Plane<P> {
    fn coordinates(&self, points: u32) -> Option<Coordinates> {
        let places = self.scan.places(points)?;
        let mut found = Coordinates::with_capacity(points)?;
        for (column, row) in places {
            let (latitude, longitude) = self.projection.unproject((self.x(column), self.y(row)));
            found.push(latitude, turn(longitude));
        }
        Some(found)
    }

    fn projected(&self, points: u32) -> Option<Projected> {
        self.scan.is_rectangle(points).then_some(())?;
        let (mapping, origin) = self.projection.cf();
        let (x, y) = self.projection.project(origin);
        let up = (0..self.scan.rows).map(|row| self.y(row) - y);
        let across = (0..self.scan.columns).map(|column| self.x(column) - x);
        Some(Projected { mapping, axes: (up.collect(), across.collect()), is_by_column: self.scan.is_by_column() })
    }
}

/// A cone in the words of CF. x and y are 0 at its first parallel.
pub(crate) fn cf_of_cone(
    name: &'static str,
    earth: Earth,
    (one, two): (f64, f64),
    upward: f64,
) -> (CfMapping, (f64, f64)) {
    let numbers = [("latitude_of_projection_origin", one), ("longitude_of_central_meridian", around(upward))];
    let mapping = earth.cf(CfMapping::new(name, numbers));
    let parallels = if one.to_bits() == two.to_bits() { &[one][..] } else { &[one, two] };
    (mapping.with("standard_parallel", parallels), (one, upward))
}

/// An angle from -180 to 180 degrees.
pub(crate) fn around(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}
