//! The shape of the Earth (section 3, octets 15 to 30, code table 3.2; one bit in the first edition), and what projections on it share.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use crate::cf::CfMapping;
use crate::error::GridError;
use crate::octets::Needed;

/// Steps of finding a latitude, each of which has about two more digits.
const STEPS: usize = 12;
/// An eccentricity below which a body is a sphere: formulas that divide by it lose their digits.
const SPHERE: f64 = 1e-7;

/// An ellipsoid of revolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Earth {
    /// Half of the major axis, in metres.
    pub(crate) major: f64,
    /// The first eccentricity: 0 for a sphere.
    pub(crate) eccentricity: f64,
}

impl Earth {
    /// `None` for a shape that the table does not have.
    pub(crate) fn parse(section: Needed<'_>) -> Result<Option<Self>, GridError> {
        let scaled = |octet: usize| {
            let (scale, value) = (section.i8(octet)?, section.u32(octet + 1)?);
            Ok::<_, GridError>(f64::from(value) * 10_f64.powi(-i32::try_from(scale).unwrap_or(0)))
        };
        let (major, minor) = match section.u8(15)? {
            0 => (6_367_470.0, 6_367_470.0),
            1 => (scaled(16)?, scaled(16)?),
            2 => (6_378_160.0, 6_356_775.0),
            3 => (scaled(21)? * 1e3, scaled(26)? * 1e3),
            4 => (6_378_137.0, 6_356_752.314),
            5 => (6_378_137.0, 6_356_752.314_2),
            6 => (6_371_229.0, 6_371_229.0),
            7 => (scaled(21)?, scaled(26)?),
            8 => (6_371_200.0, 6_371_200.0),
            9 => (6_377_563.396, 6_356_256.909),
            _ => return Ok(None),
        };
        Self::new(major, minor).map(Some).ok_or(GridError::Contradiction)
    }

    /// The Earth of a section of the first edition, by octet 17.
    pub(crate) fn of_flags(flags: u8) -> Option<Self> {
        const OBLATE: u8 = 0x40;
        if flags & OBLATE == 0 { Self::new(6_367_470.0, 6_367_470.0) } else { Self::new(6_378_160.0, 6_356_775.0) }
    }

    /// The ellipsoid of half axes in metres. `None` for one that is not like the Earth.
    pub(crate) fn new(major: f64, minor: f64) -> Option<Self> {
        let ratio = minor / major;
        let is_earth = major.is_finite() && major > 0.0 && (0.5..=1.0).contains(&ratio);
        is_earth.then(|| Self { major, eccentricity: (1.0 - ratio * ratio).sqrt() })
    }

    /// A mapping with the shape of the Earth.
    pub(crate) fn cf(self, mapping: CfMapping) -> CfMapping {
        if self.eccentricity == 0.0 {
            return mapping.with("earth_radius", &[self.major]);
        }
        mapping.with("semi_major_axis", &[self.major]).with("semi_minor_axis", &[self.major * self.ratio()])
    }

    /// The minor axis, for a major axis of 1.
    pub(crate) fn ratio(self) -> f64 {
        (1.0 - self.eccentricity.powi(2)).sqrt()
    }

    /// q, by which areas of zones grow: (1 - e²) (sin φ / (1 - e² sin² φ) + artanh(e sin φ) / e).
    pub(crate) fn zone(self, latitude: f64) -> f64 {
        let (sin, e) = (latitude.to_radians().sin(), self.eccentricity);
        if e < SPHERE {
            return 2.0 * sin;
        }
        (1.0 - e * e) * (sin / (1.0 - (e * sin).powi(2)) + (e * sin).atanh() / e)
    }

    /// The latitude that has a q.
    pub(crate) fn of_zone(self, q: f64) -> f64 {
        let (e, pole) = (self.eccentricity, self.zone(90.0));
        // The latitude of a sphere, which the formulas of an ellipsoid bring further.
        let mut latitude = (q / pole).clamp(-1.0, 1.0).asin();
        if e < SPHERE {
            return latitude.to_degrees();
        }
        for _ in 0..STEPS {
            let (sin, cos) = latitude.sin_cos();
            let below = 1.0 - (e * sin).powi(2);
            let wrong = q - self.zone(latitude.to_degrees());
            let step = wrong * below.powi(2) / (2.0 * (1.0 - e * e) * cos);
            // At a pole the cosine is 0, and nothing is wrong.
            if !step.is_finite() || step.abs() < f64::EPSILON {
                break;
            }
            latitude = (latitude + step).clamp(-FRAC_PI_2, FRAC_PI_2);
        }
        latitude.to_degrees()
    }

    /// The radius of a parallel, for a major axis of 1: m = cos φ / sqrt(1 - e² sin² φ).
    pub(crate) fn parallel(self, latitude: f64) -> f64 {
        let (sin, cos) = latitude.to_radians().sin_cos();
        cos / (1.0 - (self.eccentricity * sin).powi(2)).sqrt()
    }

    /// t = tan(45° - φ/2) / ((1 - e sin φ) / (1 + e sin φ))^(e/2), which shrinks towards the northern pole.
    pub(crate) fn shrinking(self, latitude: f64) -> f64 {
        let latitude = latitude.to_radians();
        (FRAC_PI_4 - latitude / 2.0).tan() / self.flattening(latitude)
    }

    /// The latitude that has a t.
    pub(crate) fn growing(self, t: f64) -> f64 {
        let mut latitude = FRAC_PI_2 - 2.0 * t.atan();
        for _ in 0..STEPS {
            let next = FRAC_PI_2 - 2.0 * (t * self.flattening(latitude)).atan();
            if (next - latitude).abs() < f64::EPSILON {
                break;
            }
            latitude = next;
        }
        latitude.to_degrees()
    }

    fn flattening(self, latitude: f64) -> f64 {
        let sin = self.eccentricity * latitude.sin();
        ((1.0 - sin) / (1.0 + sin)).powf(self.eccentricity / 2.0)
    }
}
