//! Section 2: how many points a field has, and in which shape.
//!
//! | octets | |
//! |---|---|
//! | 4, 5 | number NV of vertical coordinates, and the octet where they, or the lengths of rows after them, begin |
//! | 6 | type of the grid |
//! | 7 to 8, 9 to 10 | points of a row, and rows; 65535 if rows have different lengths |
//! | 28 | scanning mode |
//! | 7 to 8, 9 to 10, 11 to 12 | spectral ones: pentagonal resolution J, K, M |

use tgm_grid::GridSection;

use super::super::bitmap::Bitmap;
use super::super::error::{GribError, GribErrorKind};
use super::super::fields::Field;
use super::super::sections::Section;
use super::sections::{HEAD_LEN, stated_data_len};

/// A number of 2 octets that is missing.
const MISSING: u16 = u16::MAX;
/// The place of lists that are not there.
const NO_LIST: u8 = 255;
/// A flag of the scanning mode: columns follow each other.
const COLUMNS: u8 = 32;
/// The most octets of a vertical coordinate, and of the length of a row.
const COORDINATE_LEN: usize = 4;
const ROW_LEN: usize = 2;

/// The shape of a field's tensor, slowest dimension first.
///
/// Where section 2 is missing, or its rows have more points than the field has values, the values are counted: fields may
/// have a part of each row.
///
/// # Errors
/// [`GribErrorKind::ShortSection`]; [`GribErrorKind::Grid`] if nothing says the number of points.
pub(in super::super) fn shape(field: &Field<'_>) -> Result<Vec<u64>, GribError> {
    let Some(section) = field.grid else {
        let counted = counted(field)?.ok_or(GribErrorKind::Grid.at(field.grid_offset()))?;
        return Ok(vec![counted]);
    };
    if is_spectral(section.u8(6)?) {
        return spectral(section).map(|count| vec![count]);
    }
    let (columns, rows) = (section.u16(7)?, section.u16(9)?);
    if columns != MISSING && rows != MISSING {
        let (columns, rows) = (columns.into(), rows.into());
        let is_by_column = section.u8(28)? & COLUMNS != 0;
        return Ok(if is_by_column { vec![columns, rows] } else { vec![rows, columns] });
    }
    let lengths = row_lengths(section, if columns == MISSING { rows } else { columns })?;
    let sum = lengths.iter().map(|length| u64::from(*length)).sum();
    if let Some(counted) = counted(field)? {
        return Ok(vec![counted.min(sum)]);
    }
    // Values that are all the same say nothing of their number: the grid says which part of each row there is.
    let part = GridSection::parse(section.as_bytes()).and_then(|grid| grid.point_count()).map(u64::from);
    Ok(vec![part.map_or(sum, |part| part.min(sum))])
}

/// The lengths of rows, after the vertical coordinates.
fn row_lengths(section: Section<'_>, rows: u16) -> Result<Vec<u16>, GribError> {
    let no_grid = GribErrorKind::Grid.at(section.offset());
    let (coordinates, place) = (section.u8(4)?, section.u8(5)?);
    if place == NO_LIST || rows == MISSING {
        return Err(no_grid);
    }
    let start = usize::from(place).saturating_add(usize::from(coordinates) * COORDINATE_LEN);
    let lengths = section.from_octet(start).get(..usize::from(rows) * ROW_LEN).ok_or(no_grid)?;
    Ok(lengths.as_chunks().0.iter().map(|length| u16::from_be_bytes(*length)).collect())
}

/// How many values there are: bits of the bitmap, or of the data. `None` if values have no bits, and for packings in which these
/// differ.
fn counted(field: &Field<'_>) -> Result<Option<u64>, GribError> {
    if let (Bitmap::Bits(bits), Some(section)) = (field.bitmap, field.bitmap_section) {
        return Ok((bits.len() as u64 * 8).checked_sub(section.u8(4)?.into()));
    }
    let data = field.representation;
    let (flags, bits) = (data.u8(4)?, data.u8(HEAD_LEN)?);
    let is_simple = flags >> 4 & !2 == 0;
    let all = (stated_data_len(field)? as u64).saturating_sub(HEAD_LEN as u64) * 8;
    let all = all.checked_sub((flags & 15).into());
    Ok(all.filter(|_| is_simple && bits != 0).and_then(|all| all.checked_div(bits.into())))
}

/// Whether the data have a value for each of `points` points.
///
/// # Errors
/// [`GribErrorKind::ShortSection`].
pub(in super::super) fn has_data(field: &Field<'_>, points: u64) -> Result<bool, GribError> {
    Ok(counted(field)?.is_none_or(|counted| counted >= points))
}

/// The points of each row. `None` for rows of a part of the circle, and for grids without rows.
///
/// # Errors
/// [`GribErrorKind::ShortSection`]; [`GribErrorKind::Grid`] for rows that are not there.
pub(super) fn rows(section: Section<'_>) -> Result<Option<Vec<u64>>, GribError> {
    let (columns, rows) = (section.u16(7)?, section.u16(9)?);
    if is_spectral(section.u8(6)?) {
        return Ok(None);
    }
    if columns != MISSING && rows != MISSING {
        return Ok(Some(vec![columns.into(); rows.into()]));
    }
    let lengths = row_lengths(section, if columns == MISSING { rows } else { columns })?;
    Ok(Some(lengths.into_iter().map(u64::from).collect()))
}

/// The truncation of spherical harmonics, if it is triangular.
///
/// # Errors
/// [`GribErrorKind::ShortSection`].
pub(super) fn triangle(section: Section<'_>) -> Result<Option<u32>, GribError> {
    let [j, k, m] = [section.u16(7)?, section.u16(9)?, section.u16(11)?];
    Ok((is_spectral(section.u8(6)?) && (j, j) == (k, m)).then_some(j.into()))
}

/// Whether a grid is of spherical harmonics.
const fn is_spectral(kind: u8) -> bool {
    matches!(kind, 50 | 60 | 70 | 80)
}

/// Numbers of spherical harmonics: two for each pair of wave numbers.
fn spectral(section: Section<'_>) -> Result<u64, GribError> {
    let [j, k, m] = [7, 9, 11].map(|octet| section.u16(octet).map(u64::from));
    let (j, k, m) = (j?, k?, m?);
    // Order m has degrees m to j + m, and k at most.
    let count = |order: u64| (j + order).min(k).checked_sub(order).map_or(0, |degrees| degrees + 1);
    Ok((0..=m).map(count).sum::<u64>() * 2)
}
