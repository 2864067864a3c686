//! What a satellite sees: equal angles between lines of sight.
//!
//! ```text
//! α = 2 asin(1 / Nr)      x = ± (column + Xo - Xp) α / dx      y = ± (row + Yo - Yp) α b / (a dy)
//! the first point where a ray from the height Nr a at the angles x and y meets the ellipsoid
//! ```
//!
//! | octets of 3.90 | | type 90 of the first edition |
//! |---|---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows | 7, 8 and 9, 10 |
//! | 39 to 42, 43 to 46 | latitude and longitude below the satellite, in millionths of a degree | 11 to 13, 14 to 16, in thousandths |
//! | 48 to 51, 52 to 55 | diameters of the Earth, in points | 18 to 20, 21 to 23 |
//! | 56 to 59, 60 to 63 | where that place is, in thousandths of points | 24, 25 and 26, 27, in points |
//! | 64 | scanning mode | 28 |
//! | 65 to 68 | orientation, in millionths of a degree | 29 to 31, in thousandths |
//! | 69 to 72 | distance from the centre of the Earth, in millionths of its radius | 32 to 34 |
//! | 73 to 76, 77 to 80 | where the first column and row are, in points | 35, 36 and 37, 38 |

use super::earth::Earth;
use super::plane::around;
use super::scan::{Scan, turn};
use super::{Edition, Grid, Parsed, Template, Word};
use crate::cf::{CfMapping, Projected};
use crate::coordinates::Coordinates;
use crate::error::GridError;
use crate::octets::{Needed, Octets};

/// Template 3.90.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[90],
    scanning_mode: Some(64),
    words: &[&[
        Word::unsigned("Nx", 31, 4),
        Word::unsigned("Ny", 35, 4),
        Word::unsigned("dx", 48, 4),
        Word::unsigned("dy", 52, 4),
        Word::signed("latitudeOfSubSatellitePoint", 39, 4),
        Word::signed("longitudeOfSubSatellitePoint", 43, 4),
        Word::unsigned("Xp", 56, 4),
        Word::unsigned("Yp", 60, 4),
        Word::unsigned("orientationOfTheGrid", 65, 4),
        Word::unsigned("Nr", 69, 4),
        Word::unsigned("Xo", 73, 4),
        Word::unsigned("Yo", 77, 4),
        Word::unsigned("scanningMode", 64, 1),
    ]],
    parse,
};

/// Type 90 of the first edition.
pub(crate) const FIRST: Template = Template {
    edition: Edition::First,
    numbers: &[90],
    scanning_mode: Some(28),
    words: &[&[
        Word::unsigned("Nx", 7, 2),
        Word::unsigned("Ny", 9, 2),
        Word::signed("latitudeOfSubSatellitePoint", 11, 3),
        Word::signed("longitudeOfSubSatellitePoint", 14, 3),
        Word::unsigned("dx", 18, 3),
        Word::unsigned("dy", 21, 3),
        Word::unsigned("XpInGridLengths", 24, 2),
        Word::unsigned("YpInGridLengths", 26, 2),
        Word::unsigned("orientationOfTheGrid", 29, 3),
        Word::unsigned("NrInRadiusOfEarth", 32, 3),
        Word::unsigned("Xo", 35, 2),
        Word::unsigned("Yo", 37, 2),
        Word::unsigned("scanningMode", 28, 1),
    ]],
    parse: parse_first,
};

/// Such a grid.
pub(crate) struct SpaceView {
    pub(crate) scan: Scan,
    pub(crate) view: View,
    /// Diameters of the Earth in columns and in rows.
    pub(crate) diameters: (f64, f64),
    /// Column and row of that place, counted from the first point along the directions of scanning.
    pub(crate) centre: (f64, f64),
    /// 1, or -1 where the picture is upside down.
    pub(crate) upward: f64,
}

/// From where a satellite above the equator looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) earth: Earth,
    /// The longitude below it.
    pub(crate) longitude: f64,
    /// The distance from the centre of the Earth, in its radii.
    pub(crate) distance: f64,
    /// Whether it turns about its own axis of x first. Otherwise about its axis of y, as Meteosat does.
    pub(crate) sweeps_x: bool,
}

fn parse(section: Needed<'_>) -> Parsed {
    let Some(earth) = Earth::parse(section)? else { return Ok(None) };
    let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(64)? };
    let number = |octet| section.u32(octet).map(f64::from);
    let centre = (section.thousandths(56)? - number(73)?, section.thousandths(60)? - number(77)?);
    let diameters = (number(48)?, number(52)?);
    let orientation = section.millionths(65)?;
    let distance = section.u32(69)?;
    if distance == Octets::MISSING {
        // A parallel projection, from infinitely far.
        return Ok(None);
    }
    let (latitude, longitude) = (section.millionths(39)?, section.millionths(43)?);
    let view = View { earth, longitude, distance: f64::from(distance) / 1e6, sweeps_x: false };
    SpaceView { scan, view, diameters, centre, upward: 1.0 }.boxed(latitude, orientation)
}

fn parse_first(section: Needed<'_>) -> Parsed {
    let Some(earth) = Earth::of_flags(section.u8(17)?) else { return Ok(None) };
    let number = |octet| section.u16(octet).map(f64::from);
    let (latitude, longitude) = (section.short_angle(11)?, section.short_angle(14)?);
    let found = SpaceView {
        scan: Scan::of_first(section)?,
        view: View { earth, longitude, distance: f64::from(section.u24(32)?) / 1e6, sweeps_x: false },
        diameters: (section.u24(18)?.into(), section.u24(21)?.into()),
        centre: (number(24)? - number(35)?, number(26)? - number(37)?),
        upward: 1.0,
    };
    found.boxed(latitude, section.short_angle(29)?)
}

impl SpaceView {
    /// `None` for a picture that is turned by other angles than half a circle, or that is not seen from above the equator.
    fn boxed(self, latitude: f64, orientation: f64) -> Parsed {
        let (wide, high) = self.diameters;
        if wide <= 0.0 || high <= 0.0 || self.view.distance <= 1.0 {
            return Err(GridError::Contradiction);
        }
        let upward = if orientation == 0.0 { 1.0 } else { -1.0 };
        let is_upright = orientation == 0.0 || (orientation.abs() - 180.0).abs() < 1e-9;
        let found = Self { upward, ..self };
        Ok((is_upright && latitude == 0.0).then(|| Box::new(found) as Box<dyn Grid>))
    }

    /// Radians from column to column, and from row to row. Rows run to the south and columns to the east, unless they are scanned the other
    /// way.
    fn steps(&self) -> (f64, f64) {
        let angle = 2.0 * (1.0 / self.view.distance).asin();
        let right = if self.scan.mode & Scan::WEST == 0 { self.upward } else { -self.upward };
        let up = if self.scan.mode & Scan::NORTH == 0 { -self.upward } else { self.upward };
        (right * angle / self.diameters.0, up * angle * self.view.earth.ratio() / self.diameters.1)
    }

    fn x(&self, column: u32) -> f64 {
        (f64::from(column) - self.centre.0) * self.steps().0
    }

    fn y(&self, row: u32) -> f64 {
        (f64::from(row) - self.centre.1) * self.steps().1
    }
}

impl View {
    /// The height above the Earth, in metres: what an angle of one radian is on a plane of CF and PROJ.
    pub(crate) fn height(&self) -> f64 {
        (self.distance - 1.0) * self.earth.major
    }

    /// Where the ray at two angles, in radians, meets the Earth. Not a number beside it.
    pub(crate) fn meet(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let ((sin_x, cos_x), (sin_y, cos_y)) = (x.sin_cos(), y.sin_cos());
        let ahead = cos_x * cos_y;
        let (right, up) = if self.sweeps_x { (sin_x, cos_x * sin_y) } else { (sin_x * cos_y, sin_y) };
        // In radii. The ellipsoid is b/a lower, which is undone by stretching it along its axis.
        let flatter = 1.0 / self.earth.ratio().powi(2);
        let length = ahead.powi(2) + right.powi(2) + flatter * up.powi(2);
        let towards = self.distance * ahead;
        let under = towards.powi(2) - (self.distance.powi(2) - 1.0) * length;
        // Not a number where the ray misses.
        let far = (towards - under.sqrt()) / length;
        let (north, east, out) = (far * up, far * right, self.distance - far * ahead);
        let latitude = (flatter * north).atan2(east.hypot(out)).to_degrees();
        (latitude, self.longitude + east.atan2(out).to_degrees())
    }

    /// The view in the words of CF.
    fn cf(&self) -> CfMapping {
        let numbers = [
            ("perspective_point_height", self.height()),
            ("latitude_of_projection_origin", 0.0),
            ("longitude_of_projection_origin", around(self.longitude)),
        ];
        let mapping = CfMapping::new("geostationary", numbers);
        self.earth.cf(CfMapping { texts: vec![("sweep_angle_axis", if self.sweeps_x { "x" } else { "y" })], ..mapping })
    }
}

impl Grid for SpaceView {
    fn coordinates(&self, points: u32) -> Option<Coordinates> {
        let places = self.scan.places(points)?;
        let mut found = Coordinates::with_capacity(points)?;
        for (column, row) in places {
            let (latitude, longitude) = self.view.meet((self.x(column), self.y(row)));
            found.push(latitude, turn(longitude));
        }
        Some(found)
    }

    fn projected(&self, points: u32) -> Option<Projected> {
        self.scan.is_rectangle(points).then_some(())?;
        let height = self.view.height();
        let up = (0..self.scan.rows).map(|row| self.y(row) * height);
        let across = (0..self.scan.columns).map(|column| self.x(column) * height);
        Some(Projected {
            mapping: self.view.cf(),
            axes: (up.collect(), across.collect()),
            is_by_column: self.scan.is_by_column(),
        })
    }
}
