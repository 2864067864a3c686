//! Transverse Mercator: a cylinder around a meridian.
//!
//! ```text
//! n = (a - b) / (a + b)      A = a / (1 + n) (1 + n²/4 + n⁴/64)      χ = 90° - 2 atan t(φ)
//! ξ' = atan2(tan χ, cos(λ - λ0))      η' = artanh(cos χ sin(λ - λ0))
//! x = k A (η' + Σ αj cos(2 j ξ') sinh(2 j η'))      y = k A (ξ' + Σ αj sin(2 j ξ') cosh(2 j η'))      j = 1 to 4
//! ```
//!
//! The way back subtracts sums with the numbers βj. The module `earth` defines t.
//!
//! C. F. F. Karney, Transverse Mercator with an accuracy of a few nanometers (2011), equations 35 and 36.
//!
//! | octets of 3.12 | |
//! |---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows |
//! | 39 to 42, 43 to 46 | latitude and longitude of the reference point, in millionths of a degree |
//! | 48 to 51 | the scale k there, IEEE |
//! | 52 to 55, 56 to 59 | x and y there, in centimetres |
//! | 60 | scanning mode |
//! | 61 to 64, 65 to 68 | distances of columns and rows, in centimetres |
//! | 69 to 72, 73 to 76 | x and y of the first point, in centimetres |

use super::earth::Earth;
use super::plane::{Plane, Projection, around};
use super::scan::Scan;
use super::{Edition, Grid, Parsed, Template, Word};
use crate::cf::CfMapping;
use crate::octets::Needed;

/// Template 3.12.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[12],
    scanning_mode: Some(60),
    words: &[&[
        Word::unsigned("Ni", 31, 4),
        Word::unsigned("Nj", 35, 4),
        Word::unsigned("Di", 61, 4),
        Word::unsigned("Dj", 65, 4),
        Word::signed("latitudeOfReferencePoint", 39, 4),
        Word::signed("longitudeOfReferencePoint", 43, 4),
        Word::signed("XR", 52, 4),
        Word::signed("YR", 56, 4),
        Word::signed("X1", 69, 4),
        Word::signed("Y1", 73, 4),
        Word::unsigned("scanningMode", 60, 1),
    ]],
    parse,
};

/// Such a projection. Its x and y are 0 at the meridian and at the equator, but for `offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transverse {
    earth: Earth,
    /// The latitude where y is the one of the reference point.
    latitude: f64,
    meridian: f64,
    /// k.
    factor: f64,
    /// k A.
    scale: f64,
    /// Added to x and y.
    offset: (f64, f64),
    there: [f64; 4],
    back: [f64; 4],
}

/// `None` if the shape of the Earth is not known, or the scale is not a positive number.
fn parse(section: Needed<'_>) -> Parsed {
    let Some(earth) = Earth::parse(section)? else { return Ok(None) };
    let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(60)? };
    let reference = (section.millionths(39)?, section.millionths(43)?);
    let scale = f64::from(f32::from_be_bytes(section.array(48)?));
    let metres = |octet| section.millionths(octet).map(|number| number * 1e4);
    let there = (metres(52)?, metres(56)?);
    let step = (f64::from(section.u32(61)?) / 100.0, f64::from(section.u32(65)?) / 100.0);
    let first = (metres(69)?, metres(73)?);
    let projection = Transverse::new(earth, reference, scale, there);
    Ok(projection.map(|projection| Box::new(Plane { scan, first, step, projection }) as Box<dyn Grid>))
}

impl Transverse {
    /// `None` for a scale that is not a positive number. x and y are `there` at the reference point.
    pub(crate) fn new(earth: Earth, (latitude, meridian): (f64, f64), scale: f64, there: (f64, f64)) -> Option<Self> {
        let n = (1.0 - earth.ratio()) / (1.0 + earth.ratio());
        let [n2, n3, n4] = [2, 3, 4].map(|power| n.powi(power));
        let around = earth.major / (1.0 + n) * (1.0 + n2 / 4.0 + n4 / 64.0);
        let mut found = Self {
            earth,
            latitude,
            meridian,
            factor: scale,
            scale: scale * around,
            offset: there,
            there: [
                n / 2.0 - n2 * 2.0 / 3.0 + n3 * 5.0 / 16.0 + n4 * 41.0 / 180.0,
                n2 * 13.0 / 48.0 - n3 * 3.0 / 5.0 + n4 * 557.0 / 1440.0,
                n3 * 61.0 / 240.0 - n4 * 103.0 / 140.0,
                n4 * 49_561.0 / 161_280.0,
            ],
            back: [
                n / 2.0 - n2 * 2.0 / 3.0 + n3 * 37.0 / 96.0 - n4 / 360.0,
                n2 / 48.0 + n3 / 15.0 - n4 * 437.0 / 1440.0,
                n3 * 17.0 / 480.0 - n4 * 37.0 / 840.0,
                n4 * 4397.0 / 161_280.0,
            ],
        };
        let (_, height) = found.project((latitude, meridian));
        found.offset.1 -= height - there.1;
        (scale.is_finite() && scale > 0.0 && height.is_finite()).then_some(found)
    }
}

/// The sums of a series for ξ and η.
fn sums(series: [f64; 4], (along, across): (f64, f64)) -> (f64, f64) {
    let mut found = (0.0, 0.0);
    for (factor, twice) in series.into_iter().zip([2.0, 4.0, 6.0, 8.0]) {
        let (sin, cos) = (twice * along).sin_cos();
        found.0 += factor * sin * (twice * across).cosh();
        found.1 += factor * cos * (twice * across).sinh();
    }
    found
}

impl Projection for Transverse {
    fn cf(&self) -> (CfMapping, (f64, f64)) {
        let numbers = [
            ("scale_factor_at_central_meridian", self.factor),
            ("latitude_of_projection_origin", self.latitude),
            ("longitude_of_central_meridian", around(self.meridian)),
        ];
        (self.earth.cf(CfMapping::new("transverse_mercator", numbers)), (self.latitude, self.meridian))
    }

    fn project(&self, (latitude, longitude): (f64, f64)) -> (f64, f64) {
        // The latitude on a sphere with the same angles.
        let conformal = std::f64::consts::FRAC_PI_2 - 2.0 * self.earth.shrinking(latitude).atan();
        let (sin, cos) = (longitude - self.meridian).to_radians().sin_cos();
        let (along, across) = (conformal.sin().atan2(conformal.cos() * cos), (conformal.cos() * sin).atanh());
        let more = sums(self.there, (along, across));
        (self.offset.0 + self.scale * (across + more.1), self.offset.1 + self.scale * (along + more.0))
    }

    fn unproject(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (along, across) = ((y - self.offset.1) / self.scale, (x - self.offset.0) / self.scale);
        let less = sums(self.back, (along, across));
        let (along, across) = (along - less.0, across - less.1);
        let (sin, cos) = along.sin_cos();
        let conformal = sin.atan2(across.sinh().hypot(cos));
        let t = ((std::f64::consts::FRAC_PI_2 - conformal) / 2.0).tan();
        (self.earth.growing(t), self.meridian + across.sinh().atan2(cos).to_degrees())
    }
}
