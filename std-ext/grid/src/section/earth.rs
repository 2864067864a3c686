//! The shape of the Earth (section 3, octets 15 to 30, code table 3.2), and what projections on it share.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use super::GridSection;
use crate::error::GridError;

/// Steps of finding a latitude, each of which has about two more digits.
const STEPS: usize = 12;

/// An ellipsoid of revolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Earth {
    /// Half of the major axis, in metres.
    pub(super) major: f64,
    /// The first eccentricity: 0 for a sphere.
    pub(super) eccentricity: f64,
}

impl Earth {
    /// `None` for a shape that the table does not have.
    pub(super) fn parse(section: GridSection<'_>) -> Result<Option<Self>, GridError> {
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
        let ratio: f64 = minor / major;
        let is_earth = major.is_finite() && major > 0.0 && (0.5..=1.0).contains(&ratio);
        is_earth
            .then(|| Some(Self { major, eccentricity: (1.0 - ratio * ratio).sqrt() }))
            .ok_or(GridError::Contradiction)
    }

    /// The radius of a parallel, for a major axis of 1: m = cos φ / sqrt(1 - e² sin² φ).
    pub(super) fn parallel(self, latitude: f64) -> f64 {
        let (sin, cos) = latitude.to_radians().sin_cos();
        cos / (1.0 - (self.eccentricity * sin).powi(2)).sqrt()
    }

    /// t = tan(45° - φ/2) / ((1 - e sin φ) / (1 + e sin φ))^(e/2), which shrinks towards the northern pole.
    pub(super) fn shrinking(self, latitude: f64) -> f64 {
        let latitude = latitude.to_radians();
        (FRAC_PI_4 - latitude / 2.0).tan() / self.flattening(latitude)
    }

    /// The latitude that has a t.
    pub(super) fn growing(self, t: f64) -> f64 {
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
