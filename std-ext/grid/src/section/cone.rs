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
//! | octets | |
//! |---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows |
//! | 39 to 42, 43 to 46 | latitude and longitude of the first point, in millionths of a degree |
//! | 48 to 51, 52 to 55 | latitude of true distances, and the longitude that points up |
//! | 56 to 59, 60 to 63 | distances of columns and rows, in millimetres |
//! | 64, 65 | pole, scanning mode |
//! | 66 to 69, 70 to 73 | 3.30: the two parallels |

use super::GridSection;
use super::earth::Earth;
use super::scan::Scan;
use crate::coordinates::Coordinates;
use crate::error::GridError;

/// The bit of octet 64 for the southern pole (flag table 3.5).
const SOUTH: u8 = 0x80;
/// Degrees that make two parallels one, or a parallel the pole.
const SAME: f64 = 1e-9;

/// Such a grid.
pub(super) struct Cone {
    scan: Scan,
    /// Latitude and longitude of the first point.
    first: (f64, f64),
    step: (f64, f64),
    upward: f64,
    earth: Earth,
    n: f64,
    /// The radius where t is 1: a F.
    scale: f64,
}

impl Cone {
    /// `None` if the shape of the Earth is not known, or the parallels make no cone.
    pub(super) fn parse(section: GridSection<'_>) -> Result<Option<Self>, GridError> {
        #[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
        let angle = |octet| Ok::<_, GridError>(section.i32(octet)? as f64 * 1e-6);
        let Some(earth) = Earth::parse(section)? else { return Ok(None) };
        let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(65)? };
        let is_polar = section.u16(13)? == 20;
        let (one, two) = if is_polar { (angle(48)?, angle(48)?) } else { (angle(66)?, angle(70)?) };
        let Earth { major, eccentricity } = earth;
        let (t, m) = (|latitude| earth.shrinking(latitude), |latitude| earth.parallel(latitude));
        let n = if is_polar {
            if section.u8(64)? & SOUTH == 0 { 1.0 } else { -1.0 }
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
        let step = (f64::from(section.u32(56)?) * 1e-3, f64::from(section.u32(60)?) * 1e-3);
        let (first, upward) = ((angle(39)?, angle(43)?), angle(52)?);
        let cone = Self { scan, first, step, upward, earth, n, scale: major * unit };
        Ok(Some(cone).filter(|cone| cone.n.is_finite() && cone.n != 0.0 && cone.scale.is_finite()))
    }

    pub(super) fn coordinates(&self, points: u32) -> Option<Coordinates> {
        self.scan.on_plane(points, self.project(self.first), self.step, |place| self.unproject(place))
    }

    fn project(&self, (latitude, longitude): (f64, f64)) -> (f64, f64) {
        let radius = self.scale * self.earth.shrinking(latitude).powf(self.n);
        // Across the cut, the other way round is shorter.
        let around = (longitude - self.upward + 180.0).rem_euclid(360.0) - 180.0;
        let (sin, cos) = (self.n * around.to_radians()).sin_cos();
        (radius * sin, -radius * cos)
    }

    fn unproject(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let sign = self.n.signum();
        let t = (sign * x.hypot(y) / self.scale).powf(1.0 / self.n);
        let angle = (sign * x).atan2(-sign * y);
        (self.earth.growing(t), self.upward + (angle / self.n).to_degrees())
    }
}
