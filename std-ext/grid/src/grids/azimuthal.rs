//! Lambert azimuthal equal area: a plane that touches the Earth in one point.
//!
//! ```text
//! sin β = q / q(90°)      R = a sqrt(q(90°) / 2)      D = a m(φ0) / (R cos β0), 1 at a pole
//! B = R sqrt(2 / (1 + sin β0 sin β + cos β0 cos β cos(λ - λ0)))
//! x = B D cos β sin(λ - λ0)      y = B / D (cos β0 sin β - sin β0 cos β cos(λ - λ0))
//! ```
//!
//! The module `earth` defines q and m.
//!
//! J. P. Snyder, Map Projections: A Working Manual (1987), chapter 24.
//!
//! | octets of 3.140 | |
//! |---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows |
//! | 39 to 42, 43 to 46 | latitude and longitude of the first point, in millionths of a degree |
//! | 47 to 50, 51 to 54 | latitude and longitude of the point that touches |
//! | 56 to 59, 60 to 63 | distances of columns and rows, in millimetres |
//! | 64 | scanning mode |

use super::earth::Earth;
use super::plane::{Layout, Projection, Said, WORDS, around};
use super::{Edition, Template, Word};
use crate::cf::CfMapping;
use crate::error::GridError;

/// Template 3.140.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[140],
    scanning_mode: Some(64),
    words: &[
        &WORDS,
        &[
            Word::signed("standardParallel", 47, 4),
            Word::signed("centralLongitude", 51, 4),
            Word::unsigned("scanningMode", 64, 1),
        ],
    ],
    parse: |section| Layout { mode: 64, ..Layout::SECOND }.parse(section, projection),
};

/// Such a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Azimuthal {
    earth: Earth,
    latitude: f64,
    longitude: f64,
    /// Sine and cosine of the centre's latitude on the sphere of the same area, β0.
    centre: (f64, f64),
    /// The radius of that sphere, R.
    radius: f64,
    /// D.
    stretch: f64,
    /// q of the pole.
    pole: f64,
}

fn projection(said: Said<'_>) -> Result<Option<Azimuthal>, GridError> {
    let centre = (said.section.millionths(47)?, said.section.millionths(51)?);
    Ok(Some(Azimuthal::new(said.earth, centre)))
}

impl Azimuthal {
    /// The plane that touches the Earth at a latitude and a longitude.
    pub(crate) fn new(earth: Earth, (latitude, longitude): (f64, f64)) -> Self {
        let pole = earth.zone(90.0);
        let (radius, sin) = (earth.major * (pole / 2.0).sqrt(), (earth.zone(latitude) / pole).clamp(-1.0, 1.0));
        let cos = (1.0 - sin * sin).sqrt();
        let is_pole = 90.0 - latitude.abs() < 1e-9;
        let stretch = if is_pole { 1.0 } else { earth.major * earth.parallel(latitude) / (radius * cos) };
        let centre = if is_pole { (latitude.signum(), 0.0) } else { (sin, cos) };
        Self { earth, latitude, longitude, centre, radius, stretch, pole }
    }
}

impl Projection for Azimuthal {
    fn cf(&self) -> (CfMapping, (f64, f64)) {
        let numbers = [
            ("latitude_of_projection_origin", self.latitude),
            ("longitude_of_projection_origin", around(self.longitude)),
        ];
        let mapping = CfMapping::new("lambert_azimuthal_equal_area", numbers);
        (self.earth.cf(mapping), (self.latitude, self.longitude))
    }

    fn project(&self, (latitude, longitude): (f64, f64)) -> (f64, f64) {
        let sin = (self.earth.zone(latitude) / self.pole).clamp(-1.0, 1.0);
        let cos = (1.0 - sin * sin).sqrt();
        let (centre_sin, centre_cos) = self.centre;
        let (east, along) = (longitude - self.longitude).to_radians().sin_cos();
        let scale = self.radius * (2.0 / (1.0 + centre_sin * sin + centre_cos * cos * along)).sqrt();
        (scale * self.stretch * cos * east, scale / self.stretch * (centre_cos * sin - centre_sin * cos * along))
    }

    fn unproject(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (x, y) = (x / self.stretch, y * self.stretch);
        let far = x.hypot(y);
        let (centre_sin, centre_cos) = self.centre;
        if far == 0.0 {
            return (self.earth.of_zone(self.pole * centre_sin), self.longitude);
        }
        // Not a number beyond the point opposite to the centre.
        let (sin, cos) = (2.0 * (far / (2.0 * self.radius)).asin()).sin_cos();
        let zone = self.pole * (cos * centre_sin + y * sin * centre_cos / far);
        let east = (x * sin).atan2(far * centre_cos * cos - y * centre_sin * sin);
        (self.earth.of_zone(zone), self.longitude + east.to_degrees())
    }
}
