//! Grids on a cone: polar stereographic and Lambert conformal.
//!
//! ```text
//! t = tan(45° - φ/2) / ((1 - e sin φ) / (1 + e sin φ))^(e/2)      m = cos φ / sqrt(1 - e² sin² φ)
//! ρ = a F t^n      x = ρ sin(n (λ - λ0))      y = -ρ cos(n (λ - λ0))      from the pole
//! ```
//!
//! The cone of two parallels has n = ln(m1/m2) / ln(t1/t2) and F = m1 / (n t1^n). With n = 1 or -1 it is a plane at the
//! northern or the southern pole, which is the polar stereographic projection.
//!
//! J. P. Snyder, Map Projections: A Working Manual (1987), chapters 15 and 21.
//!
//! | octets | | first edition |
//! |---|---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows | 7, 8 and 9, 10 |
//! | 39 to 42, 43 to 46 | latitude and longitude of the first point, in millionths of a degree | 11 to 13, 14 to 16, in thousandths |
//! | 48 to 51 | latitude of true distances, of 3.20 | 60° |
//! | 52 to 55 | the longitude that points up | 18 to 20 |
//! | 56 to 59, 60 to 63 | distances of columns and rows, in millimetres | 21 to 23, 24 to 26, in metres |
//! | 64, 65 | pole, scanning mode | 27, 28 |
//! | 66 to 69, 70 to 73 | the two parallels, of 3.30 | 29 to 31, 32 to 34 |

use super::earth::Earth;
use super::plane::{CONE, FIRST_CONE, FIRST_PARALLELS, Layout, PARALLELS, Projection, Said, WORDS, around, cf_of_cone};
use super::{Edition, Template};
use crate::cf::CfMapping;
use crate::error::GridError;

/// Template 3.20.
pub(crate) const POLAR: Template = Template {
    edition: Edition::Second,
    numbers: &[20],
    scanning_mode: Some(65),
    words: &[&WORDS, &CONE],
    parse: |section| Layout::SECOND.parse(section, polar),
};

/// Template 3.30.
pub(crate) const LAMBERT: Template = Template {
    edition: Edition::Second,
    numbers: &[30],
    scanning_mode: Some(65),
    words: &[&WORDS, &CONE, &PARALLELS],
    parse: |section| Layout::SECOND.parse(section, lambert),
};

/// Type 5 of the first edition.
pub(crate) const FIRST_POLAR: Template = Template {
    edition: Edition::First,
    numbers: &[5],
    scanning_mode: Some(28),
    words: &[&FIRST_CONE],
    parse: |section| Layout::FIRST.parse(section, polar),
};

/// Types 3 and 13 of the first edition.
pub(crate) const FIRST_LAMBERT: Template = Template {
    edition: Edition::First,
    numbers: &[3, OBLIQUE],
    scanning_mode: Some(28),
    words: &[&FIRST_CONE, &FIRST_PARALLELS],
    parse: |section| {
        if u16::from(section.u8(6)?) == OBLIQUE { Ok(None) } else { Layout::FIRST.parse(section, lambert) }
    },
};

/// The type of a cone that is not upright, whose points are not known.
const OBLIQUE: u16 = 13;
/// The bit for the southern pole (flag table 3.5, and 28 in the first edition).
const SOUTH: u8 = 0x80;
/// Degrees that make two parallels one, or a parallel the pole.
const SAME: f64 = 1e-9;

/// Such a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cone {
    parallels: Parallels,
    upward: f64,
    earth: Earth,
    n: f64,
    /// The radius where t is 1: a F.
    scale: f64,
}

/// What the sections of both editions say of the parallels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Parallels {
    /// Distances are true at this latitude, which is on the side of the pole.
    Polar(f64),
    /// Distances are true at these two.
    Two(f64, f64),
}

fn polar(said: Said<'_>) -> Result<Option<Cone>, GridError> {
    // Distances of the first edition are true at 60 degrees.
    let (flags, latitude) = match said.edition {
        Edition::First => (said.section.u8(27)?, 60.0),
        Edition::Second => (said.section.u8(64)?, said.section.millionths(48)?.abs()),
    };
    let latitude = if flags & SOUTH == 0 { latitude } else { -latitude };
    Ok(Cone::new(said.earth, Parallels::Polar(latitude), said.upward()?))
}

fn lambert(said: Said<'_>) -> Result<Option<Cone>, GridError> {
    let (first, second) = said.parallels()?;
    Ok(Cone::new(said.earth, Parallels::Two(first, second), said.upward()?))
}

impl Cone {
    /// `None` if the parallels make no cone.
    pub(crate) fn new(earth: Earth, parallels: Parallels, upward: f64) -> Option<Self> {
        let (one, two) = match parallels {
            Parallels::Polar(latitude) => (latitude, latitude),
            Parallels::Two(one, two) => (one, two),
        };
        let Earth { major, eccentricity } = earth;
        let (t, m) = (|latitude| earth.shrinking(latitude), |latitude| earth.parallel(latitude));
        let n = if matches!(parallels, Parallels::Polar(_)) {
            if one >= 0.0 { 1.0 } else { -1.0 }
        } else if (one - two).abs() < SAME {
            one.to_radians().sin()
        } else {
            (m(one) / m(two)).ln() / (t(one) / t(two)).ln()
        };
        let unit = if 90.0 - one.abs() < SAME {
            let (more, less) = (1.0 + eccentricity, 1.0 - eccentricity);
            2.0 / (n * (more.powf(more) * less.powf(less)).sqrt())
        } else {
            m(one) / (n * t(one).powf(n))
        };
        let cone = Self { parallels, upward, earth, n, scale: major * unit };
        Some(cone).filter(|cone| cone.n.is_finite() && cone.n != 0.0 && cone.scale.is_finite())
    }
}

impl Projection for Cone {
    fn cf(&self) -> (CfMapping, (f64, f64)) {
        match self.parallels {
            Parallels::Two(one, two) => cf_of_cone("lambert_conformal_conic", self.earth, (one, two), self.upward),
            Parallels::Polar(latitude) => {
                let pole = 90.0_f64.copysign(latitude);
                let numbers = [
                    ("latitude_of_projection_origin", pole),
                    ("straight_vertical_longitude_from_pole", around(self.upward)),
                    ("standard_parallel", latitude),
                ];
                (self.earth.cf(CfMapping::new("polar_stereographic", numbers)), (pole, self.upward))
            }
        }
    }

    fn project(&self, (latitude, longitude): (f64, f64)) -> (f64, f64) {
        let radius = self.scale * self.earth.shrinking(latitude).powf(self.n);
        // Across the cut, the other way round is shorter.
        let (sin, cos) = (self.n * around(longitude - self.upward).to_radians()).sin_cos();
        (radius * sin, -radius * cos)
    }

    fn unproject(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let sign = self.n.signum();
        let t = (sign * x.hypot(y) / self.scale).powf(1.0 / self.n);
        let angle = (sign * x).atan2(-sign * y);
        (self.earth.growing(t), self.upward + (angle / self.n).to_degrees())
    }
}
