//! Latitudes and longitudes of the points of a grid, from section 3.
//!
//! | template | grid | where points are |
//! |---|---|---|
//! | 3.0 | latitude and longitude | evenly between the first and the last point, by row if rows have different lengths |
//! | 3.1 | the same, rotated | likewise, then turned back from the rotated poles |
//! | 3.10 | Mercator | evenly on a cylinder, around a sphere or an ellipsoid |
//! | 3.20, 3.30 | polar stereographic, Lambert conformal | evenly on a cone, on a sphere or an ellipsoid |
//! | 3.40 | Gaussian, also reduced | rows at the roots of a Legendre polynomial |
//!
//! Rows lie between the first and the last latitude that section 3 has, not at sums of its increments, which are rounded
//! to its unit.

mod cone;
mod earth;
mod gaussian;
mod mercator;
mod rows;

use tgm_core::metadata::MessageMetadata;

use self::cone::Cone;
use self::mercator::Mercator;
use self::rows::Rows;
use super::error::{GribError, GribErrorKind};
use super::fields::Field;
use super::recipe::{GRIB, SECTIONS};
use super::sections::Section;
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::limits::DecodeLimits;

/// Where the points of a field are, in degrees, in the order of its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coordinates {
    /// Latitudes, from -90 to 90.
    pub latitudes: Vec<f64>,
    /// Longitudes, at least 0 and below 360.
    pub longitudes: Vec<f64>,
}

/// Where the points of object `index` are, if it was made from GRIB. `None` if it was not, or its grid is another than
/// those of this table: latitude and longitude, also rotated; Gaussian; each also reduced; Mercator, polar stereographic and
/// Lambert conformal.
///
/// Takes 16 bytes for each point, and time in proportion. The number of points is that of section 3, which may be another
/// than the object has if metadata were edited.
///
/// ```
/// use tgm_std::DecodeLimits;
/// use tgm_std::convert::grib2::{GribOptions, coordinates, to_tensogram};
///
/// # let original = std::fs::read("../tests/data-grib/reduced_gg_pl_32.grib2").unwrap();
/// let converted = to_tensogram(&original, &GribOptions::default())?.message;
/// let metadata = tgm_std::core::Message::parse(&converted)?.metadata()?;
/// let found = coordinates(&metadata, 0, &DecodeLimits::default())?.unwrap();
/// assert_eq!(found.latitudes.len(), 6114);
/// assert!((found.latitudes[0] - 87.8638).abs() < 1e-4 && found.longitudes[0] == 0.0);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// # Errors
/// [`TensogramError::Framing`] for sections that contradict themselves; [`TensogramError::Encoding`] beyond the limits;
/// those of reading metadata.
pub fn coordinates(metadata: &MessageMetadata<'_>, index: usize, limits: &DecodeLimits) -> Result<Option<Coordinates>> {
    // A field that has no section 3 takes the one of a field before it.
    for index in (0..=index).rev() {
        let Some(object) = metadata.object(index)? else { return Ok(None) };
        let Some(sections) = object.get(&format!("{GRIB}.{SECTIONS}"))? else { return Ok(None) };
        for section in sections.as_array()? {
            let section = section?.as_bytes()?.as_slice();
            if let Some(section) = section.filter(|bytes| bytes.get(4) == Some(&3)) {
                return of_section(Section::parse(section, 0)?, limits);
            }
        }
    }
    Ok(None)
}

impl Field<'_> {
    /// Where its points are. See [`coordinates`].
    ///
    /// # Errors
    /// The errors of [`coordinates`].
    pub fn coordinates(&self, limits: &DecodeLimits) -> Result<Option<Coordinates>> {
        of_section(self.grid, limits)
    }
}

/// The coordinates of section 3.
fn of_section(section: Section<'_>, limits: &DecodeLimits) -> Result<Option<Coordinates>> {
    let points = section.u32(7)?;
    let len = u64::from(points) * 2 * size_of::<f64>() as u64;
    limits.check_bytes(section.as_bytes().len() as u64, len)?;
    let found = match section.u16(13)? {
        0 | 1 | 40 => Rows::parse(section)?.and_then(|rows| rows.coordinates(points)),
        10 => Mercator::parse(section)?.and_then(|grid| grid.coordinates(points)),
        20 | 30 => Cone::parse(section)?.and_then(|cone| cone.coordinates(points)),
        _ => None,
    };
    let count = points as usize;
    Ok(found.filter(|found| found.latitudes.len() == count && found.longitudes.len() == count))
}

/// The order in which the points of a rectangle are scanned (flag table 3.4).
#[derive(Clone, Copy, Debug)]
struct Scan {
    columns: u32,
    rows: u32,
    mode: u8,
}

impl Scan {
    /// Bits of the mode.
    const WEST: u8 = 0x80;
    const NORTH: u8 = 0x40;
    const COLUMNS: u8 = 0x20;
    const ALTERNATING: u8 = 0x10;
    const OFFSET: u8 = 0x0f;

    /// Column and row of each point. Both count from the first point. `None` if rows are offset, or the points are no
    /// rectangle of `points`.
    fn places(self, points: u32) -> Option<impl Iterator<Item = (u32, u32)>> {
        let Self { columns, rows, mode } = self;
        let is_rectangle = u64::from(columns) * u64::from(rows) == u64::from(points) && mode & Self::OFFSET == 0;
        let by_column = mode & Self::COLUMNS != 0;
        let (outer, inner) = if by_column { (columns, rows) } else { (rows, columns) };
        let place = move |(line, at): (u32, u32)| {
            let is_turned = mode & Self::ALTERNATING != 0 && line % 2 == 1;
            let at = if is_turned { inner - 1 - at } else { at };
            if by_column { (line, at) } else { (at, line) }
        };
        is_rectangle.then(|| (0..outer).flat_map(move |line| (0..inner).map(move |at| (line, at))).map(place))
    }

    /// The points of a rectangle on a plane: the first one lies at `(x, y)`, and columns and rows are `step` apart.
    fn on_plane(
        self,
        points: u32,
        (x, y): (f64, f64),
        step: (f64, f64),
        unproject: impl Fn((f64, f64)) -> (f64, f64),
    ) -> Option<Coordinates> {
        let mut found = Coordinates::default();
        found.latitudes.try_reserve_exact(points as usize).ok()?;
        found.longitudes.try_reserve_exact(points as usize).ok()?;
        let right = if self.mode & Self::WEST == 0 { step.0 } else { -step.0 };
        let up = if self.mode & Self::NORTH == 0 { -step.1 } else { step.1 };
        for (column, row) in self.places(points)? {
            let (latitude, longitude) = unproject((x + right * f64::from(column), y + up * f64::from(row)));
            found.latitudes.push(latitude);
            found.longitudes.push(turn(longitude));
        }
        Some(found)
    }
}

/// A longitude from 0 to 360.
fn turn(longitude: f64) -> f64 {
    let turned = longitude.rem_euclid(360.0);
    // The rest of a tiny negative number is rounded up.
    if turned < 360.0 { turned } else { 0.0 }
}

/// The error of a number that no grid has.
fn wrong(section: Section<'_>) -> GribError {
    GribErrorKind::Grid.at(section.offset())
}
