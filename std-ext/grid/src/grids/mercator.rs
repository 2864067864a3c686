//! Grids on a cylinder around the equator: Mercator.
//!
//! ```text
//! x = a m(LaD) (λ - λ0)      y = -a m(LaD) ln t(φ)
//! ```
//!
//! The module `earth` defines m and t. Distances are true at the latitude `LaD`.
//!
//! J. P. Snyder, Map Projections: A Working Manual (1987), chapter 7.
//!
//! | octets | | first edition |
//! |---|---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows | 7, 8 and 9, 10 |
//! | 39 to 42, 43 to 46 | latitude and longitude of the first point, in millionths of a degree | 11 to 13, 14 to 16, in thousandths |
//! | 48 to 51 | latitude of true distances | 24 to 26 |
//! | 52 to 55, 56 to 59 | latitude and longitude of the last point | 18 to 20, 21 to 23 |
//! | 60 | scanning mode | 28 |
//! | 61 to 64 | angle between the rows and the equator | none |
//! | 65 to 68, 69 to 72 | distances of columns and rows, in millimetres | 29 to 31, 32 to 34, in metres |

use super::earth::Earth;
use super::plane::{Layout, Projection, Said, around};
use super::{Edition, Parsed, Template, Word};
use crate::cf::CfMapping;
use crate::error::GridError;
use crate::octets::Needed;

/// Template 3.10.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[10],
    scanning_mode: Some(60),
    words: &[&[
        Word::unsigned("Ni", 31, 4),
        Word::unsigned("Nj", 35, 4),
        Word::unsigned("orientationOfTheGrid", 61, 4),
        Word::unsigned("Di", 65, 4),
        Word::unsigned("Dj", 69, 4),
        Word::signed("latitudeOfFirstGridPoint", 39, 4),
        Word::signed("longitudeOfFirstGridPoint", 43, 4),
        Word::signed("LaD", 48, 4),
        Word::signed("latitudeOfLastGridPoint", 52, 4),
        Word::signed("longitudeOfLastGridPoint", 56, 4),
        Word::unsigned("scanningMode", 60, 1),
    ]],
    parse,
};

/// Type 1 of the first edition.
pub(crate) const FIRST: Template = Template {
    edition: Edition::First,
    numbers: &[1],
    scanning_mode: Some(28),
    words: &[&[
        Word::unsigned("Ni", 7, 2),
        Word::unsigned("Nj", 9, 2),
        Word::signed("latitudeOfFirstGridPoint", 11, 3),
        Word::signed("longitudeOfFirstGridPoint", 14, 3),
        Word::signed("latitudeOfLastGridPoint", 18, 3),
        Word::signed("longitudeOfLastGridPoint", 21, 3),
        Word::signed("Latin", 24, 3),
        Word::unsigned("Di", 29, 3),
        Word::unsigned("Dj", 32, 3),
        Word::unsigned("scanningMode", 28, 1),
    ]],
    parse: |section| Layout { step: 29, ..Layout::FIRST }.parse(section, projection),
};

/// Such a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mercator {
    earth: Earth,
    /// Where distances are true.
    latitude: f64,
    /// The radius of the cylinder.
    radius: f64,
    /// The longitude where x is 0.
    west: f64,
}

/// `None` if rows do not run along the equator.
fn parse(section: Needed<'_>) -> Parsed {
    let is_level = section.u32(61)? == 0;
    if is_level { Layout { edition: Edition::Second, mode: 60, step: 65 }.parse(section, projection) } else { Ok(None) }
}

fn projection(said: Said<'_>) -> Result<Option<Mercator>, GridError> {
    Ok(Mercator::new(said.earth, said.angle(24, 48)?, said.first.1))
}

impl Mercator {
    /// Distances are true at a latitude. `None` if that is a pole.
    pub(crate) fn new(earth: Earth, latitude: f64, west: f64) -> Option<Self> {
        let radius = earth.major * earth.parallel(latitude);
        (radius.is_finite() && radius > 0.0).then_some(Self { earth, latitude, radius, west })
    }
}

impl Projection for Mercator {
    fn cf(&self) -> (CfMapping, (f64, f64)) {
        let numbers = [("longitude_of_projection_origin", around(self.west)), ("standard_parallel", self.latitude)];
        (self.earth.cf(CfMapping::new(CfMapping::MERCATOR, numbers)), (0.0, self.west))
    }

    fn project(&self, (latitude, longitude): (f64, f64)) -> (f64, f64) {
        let x = self.radius * (longitude - self.west).to_radians();
        (x, -self.radius * self.earth.shrinking(latitude).ln())
    }

    fn unproject(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.earth.growing((-y / self.radius).exp()), self.west + (x / self.radius).to_degrees())
    }
}
