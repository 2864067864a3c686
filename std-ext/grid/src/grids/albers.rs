//! Albers equal area: a cone with two parallels, on which areas are true.
//!
//! ```text
//! n = (m1² - m2²) / (q2 - q1)      C = m1² + n q1      ρ = a sqrt(C - n q) / n
//! x = ρ sin(n (λ - λ0))      y = -ρ cos(n (λ - λ0))      from the pole
//! ```
//!
//! The module `earth` defines q and m. With one parallel, n is the sine of its latitude.
//!
//! J. P. Snyder, Map Projections: A Working Manual (1987), chapter 14.
//!
//! | octets of 3.31 | | type 8 of the first edition |
//! |---|---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows | 7, 8 and 9, 10 |
//! | 39 to 42, 43 to 46 | latitude and longitude of the first point, in millionths of a degree | 11 to 13, 14 to 16, in thousandths |
//! | 52 to 55 | the longitude that points up | 18 to 20 |
//! | 56 to 59, 60 to 63 | distances of columns and rows, in millimetres | 21 to 23, 24 to 26, in metres |
//! | 65 | scanning mode | 28 |
//! | 66 to 69, 70 to 73 | the two parallels | 29 to 31, 32 to 34 |

use super::earth::Earth;
use super::plane::{CONE, FIRST_CONE, FIRST_PARALLELS, Layout, PARALLELS, Projection, Said, WORDS, around, cf_of_cone};
use super::{Edition, Template};
use crate::cf::CfMapping;
use crate::error::GridError;

/// Template 3.31.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[31],
    scanning_mode: Some(65),
    words: &[&WORDS, &CONE, &PARALLELS],
    parse: |section| Layout::SECOND.parse(section, projection),
};

/// Type 8 of the first edition.
pub(crate) const FIRST: Template = Template {
    edition: Edition::First,
    numbers: &[8],
    scanning_mode: Some(28),
    words: &[&FIRST_CONE, &FIRST_PARALLELS],
    parse: |section| Layout::FIRST.parse(section, projection),
};

/// Such a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Albers {
    earth: Earth,
    parallels: (f64, f64),
    upward: f64,
    n: f64,
    /// C.
    most: f64,
}

/// `None` if the parallels make no cone.
fn projection(said: Said<'_>) -> Result<Option<Albers>, GridError> {
    Ok(Albers::new(said.earth, said.parallels()?, said.upward()?))
}

impl Albers {
    /// `None` if the parallels make no cone.
    pub(crate) fn new(earth: Earth, (one, two): (f64, f64), upward: f64) -> Option<Self> {
        let (m, q) = (|latitude| earth.parallel(latitude).powi(2), |latitude| earth.zone(latitude));
        let is_one = (one - two).abs() < 1e-9;
        let n = if is_one { one.to_radians().sin() } else { (m(one) - m(two)) / (q(two) - q(one)) };
        let most = m(one) + n * q(one);
        (n.is_finite() && n.abs() > 1e-9 && most.is_finite()).then_some(Self {
            earth,
            parallels: (one, two),
            upward,
            n,
            most,
        })
    }
}

impl Projection for Albers {
    fn cf(&self) -> (CfMapping, (f64, f64)) {
        cf_of_cone("albers_conical_equal_area", self.earth, self.parallels, self.upward)
    }

    fn project(&self, (latitude, longitude): (f64, f64)) -> (f64, f64) {
        let radius = self.earth.major * (self.most - self.n * self.earth.zone(latitude)).max(0.0).sqrt() / self.n;
        let (sin, cos) = (self.n * around(longitude - self.upward).to_radians()).sin_cos();
        (radius * sin, -radius * cos)
    }

    fn unproject(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let sign = self.n.signum();
        let zone = (self.most - (x.hypot(y) * self.n / self.earth.major).powi(2)) / self.n;
        let angle = (sign * x).atan2(-sign * y);
        // Beyond the other pole there is no place.
        let is_there = zone.abs() <= self.earth.zone(90.0) * (1.0 + 1e-12);
        let latitude = if is_there { self.earth.of_zone(zone) } else { f64::NAN };
        (latitude, self.upward + (angle / self.n).to_degrees())
    }
}
