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
use super::plane::{Plane, Projection, around};
use super::scan::Scan;
use super::{Edition, Parsed, Template, Word};
use crate::octets::Needed;

/// Template 3.31.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[31],
    scanning_mode: Some(65),
    words: &[
        Word::unsigned("Nx", 31, 4),
        Word::unsigned("Ny", 35, 4),
        Word::unsigned("Dx", 56, 4),
        Word::unsigned("Dy", 60, 4),
        Word::signed("latitudeOfFirstGridPoint", 39, 4),
        Word::signed("longitudeOfFirstGridPoint", 43, 4),
        Word::signed("LaD", 48, 4),
        Word::signed("LoV", 52, 4),
        Word::signed("Latin1", 66, 4),
        Word::signed("Latin2", 70, 4),
        Word::unsigned("scanningMode", 65, 1),
    ],
    parse,
};

/// Type 8 of the first edition.
pub(crate) const FIRST: Template = Template {
    edition: Edition::First,
    numbers: &[8],
    scanning_mode: Some(28),
    words: &[
        Word::unsigned("Nx", 7, 2),
        Word::unsigned("Ny", 9, 2),
        Word::signed("latitudeOfFirstGridPoint", 11, 3),
        Word::signed("longitudeOfFirstGridPoint", 14, 3),
        Word::signed("LoV", 18, 3),
        Word::unsigned("Dx", 21, 3),
        Word::unsigned("Dy", 24, 3),
        Word::signed("Latin1", 29, 3),
        Word::signed("Latin2", 32, 3),
        Word::unsigned("scanningMode", 28, 1),
    ],
    parse: parse_first,
};

/// Such a projection.
pub(crate) struct Albers {
    earth: Earth,
    upward: f64,
    n: f64,
    /// C.
    most: f64,
}

/// `None` if the shape of the Earth is not known, or the parallels make no cone.
fn parse(section: Needed<'_>) -> Parsed {
    let Some(earth) = Earth::parse(section)? else { return Ok(None) };
    let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(65)? };
    let first = (section.millionths(39)?, section.millionths(43)?);
    let step = (section.thousandths(56)?, section.thousandths(60)?);
    let parallels = (section.millionths(66)?, section.millionths(70)?);
    let albers = Albers::new(earth, parallels, section.millionths(52)?);
    Ok(albers.and_then(|albers| Plane::at(scan, first, step, albers)))
}

fn parse_first(section: Needed<'_>) -> Parsed {
    let Some(earth) = Earth::of_flags(section.u8(17)?) else { return Ok(None) };
    let first = (section.short_angle(11)?, section.short_angle(14)?);
    let step = (f64::from(section.u24(21)?), f64::from(section.u24(24)?));
    let parallels = (section.short_angle(29)?, section.short_angle(32)?);
    let albers = Albers::new(earth, parallels, section.short_angle(18)?);
    let scan = Scan::of_first(section)?;
    Ok(albers.and_then(|albers| Plane::at(scan, first, step, albers)))
}

impl Albers {
    /// `None` if the parallels make no cone.
    pub(crate) fn new(earth: Earth, (one, two): (f64, f64), upward: f64) -> Option<Self> {
        let (m, q) = (|latitude| earth.parallel(latitude).powi(2), |latitude| earth.zone(latitude));
        let is_one = (one - two).abs() < 1e-9;
        let n = if is_one { one.to_radians().sin() } else { (m(one) - m(two)) / (q(two) - q(one)) };
        let most = m(one) + n * q(one);
        (n.is_finite() && n.abs() > 1e-9 && most.is_finite()).then_some(Self { earth, upward, n, most })
    }
}

impl Projection for Albers {
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
