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
//! | octets | |
//! |---|---|
//! | 31 to 34, 35 to 38 | points of a row, and rows |
//! | 39 to 42, 43 to 46 | latitude and longitude of the first point, in millionths of a degree |
//! | 48 to 51 | latitude of true distances |
//! | 52 to 55, 56 to 59 | latitude and longitude of the last point |
//! | 60 | scanning mode |
//! | 61 to 64 | angle between the rows and the equator |
//! | 65 to 68, 69 to 72 | distances of columns and rows, in millimetres |

use super::GridSection;
use super::earth::Earth;
use super::scan::Scan;
use crate::coordinates::Coordinates;
use crate::error::GridError;

/// Such a grid.
pub(super) struct Mercator {
    scan: Scan,
    /// Latitude and longitude of the first point.
    first: (f64, f64),
    step: (f64, f64),
    earth: Earth,
    /// The radius of the cylinder.
    radius: f64,
}

impl Mercator {
    /// `None` if the shape of the Earth is not known, or rows do not run along the equator.
    pub(super) fn parse(section: GridSection<'_>) -> Result<Option<Self>, GridError> {
        #[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
        let angle = |octet| Ok::<_, GridError>(section.i32(octet)? as f64 * 1e-6);
        let Some(earth) = Earth::parse(section)? else { return Ok(None) };
        let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(60)? };
        let step = (f64::from(section.u32(65)?) * 1e-3, f64::from(section.u32(69)?) * 1e-3);
        let radius = earth.major * earth.parallel(angle(48)?);
        let is_level = section.u32(61)? == 0;
        let grid = Self { scan, first: (angle(39)?, angle(43)?), step, earth, radius };
        Ok(Some(grid).filter(|_| is_level && radius.is_finite() && radius > 0.0))
    }

    pub(super) fn coordinates(&self, points: u32) -> Option<Coordinates> {
        let height = -self.radius * self.earth.shrinking(self.first.0).ln();
        self.scan.on_plane(points, (0.0, height), self.step, |(x, y)| {
            let latitude = self.earth.growing((-y / self.radius).exp());
            (latitude, self.first.1 + (x / self.radius).to_degrees())
        })
    }
}
