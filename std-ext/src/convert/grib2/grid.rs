//! Section 3: the grid, as far as it shapes the tensor.
//!
//! | template | grid | octets of the numbers of points | scanning mode |
//! |---|---|---|---|
//! | 3.0, 3.1 | latitude and longitude, also rotated | 31 to 34, 35 to 38 | 72 |
//! | 3.10 | Mercator | likewise | 60 |
//! | 3.20 | polar stereographic | likewise | 65 |
//! | 3.30 | Lambert conformal | likewise | 65 |
//! | 3.40 | Gaussian | likewise | 72 |
//!
//! All other grids have one dimension, and so do reduced ones, whose rows have different lengths.

use super::error::GribError;
use super::fields::Field;

/// The number that stands for a missing one: all bits are 1 (regulation 92.1.4).
pub(super) const MISSING: u32 = u32::MAX;

/// Bits of the scanning mode (flag table 3.4).
mod mode {
    /// Points of a column follow each other, not those of a row.
    pub(super) const COLUMNS: u8 = 0x20;
    /// Every other row runs the other way.
    pub(super) const ALTERNATING: u8 = 0x10;
    /// Rows are offset or of different lengths.
    pub(super) const OFFSET: u8 = 0x0f;
}

/// The octet of a template's scanning mode, for templates with rows and columns.
pub(super) const fn scanning_mode(template: u16) -> Option<usize> {
    match template {
        0 | 1 | 40 => Some(72),
        10 => Some(60),
        20 | 30 => Some(65),
        _ => None,
    }
}

/// The shape of a field's tensor, slowest dimension first. The order of the points is the one in which they are scanned.
///
/// # Errors
/// [`super::GribErrorKind::ShortSection`].
pub(super) fn shape(field: &Field<'_>) -> Result<Vec<u64>, GribError> {
    let (grid, points) = (field.grid, field.point_count()?);
    let Some(octet) = scanning_mode(grid.u16(13)?) else { return Ok(vec![points]) };
    let (columns, rows, mode) = (grid.u32(31)?, grid.u32(35)?, grid.u8(octet)?);
    let is_rectangle = columns != MISSING && rows != MISSING && u64::from(columns) * u64::from(rows) == points;
    // Rows that run to and fro make no columns.
    if !is_rectangle || mode & (mode::ALTERNATING | mode::OFFSET) != 0 {
        return Ok(vec![points]);
    }
    let (columns, rows) = (columns.into(), rows.into());
    Ok(if mode & mode::COLUMNS == 0 { vec![rows, columns] } else { vec![columns, rows] })
}
