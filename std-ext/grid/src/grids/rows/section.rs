//! The sections that say grids of rows.
//!
//! | octets | | first edition |
//! |---|---|---|
//! | 11, 12 | octets of each length of a row, and what the lengths mean (code table 3.11) | 2, whole circles |
//! | 31 to 34, 35 to 38 | points of a row, and rows | 7, 8 and 9, 10 |
//! | 39 to 42, 43 to 46 | unit of angles: a divided circle, else a millionth of a degree | a thousandth |
//! | 47 to 50, 51 to 54 | latitude and longitude of the first point | 11 to 13, 14 to 16 |
//! | 56 to 59, 60 to 63 | latitude and longitude of the last point | 18 to 20, 21 to 23 |
//! | 64 to 67, 68 to 71 | 3.0: steps | 24, 25 and 26, 27 |
//! | 68 to 71 | 3.40: parallels between a pole and the equator | 26, 27 |
//! | 72 | scanning mode | 28 |
//! | 73 to 96 | poles, as the module `turned` says | 33 to 52 |
//! | after that | lengths of rows, if they differ | after the numbers of levels |
//!
//! Rows of the first edition have no number of points, so that a part of a reduced grid has the points between west and east of each row.

use super::super::scan::Scan;
use super::super::turned::{Rotation, Stretching, Turned};
use super::super::{Edition, Grid, Parsed, Template, Word};
use super::Rows;
use crate::error::GridError;
use crate::octets::{Needed, Octets};

/// The numbers of all of them.
const WORDS: [Word; 8] = [
    Word::unsigned("Ni", 31, 4),
    Word::unsigned("Nj", 35, 4),
    Word::unsigned("iDirectionIncrement", 64, 4),
    Word::signed("latitudeOfFirstGridPoint", 47, 4),
    Word::signed("longitudeOfFirstGridPoint", 51, 4),
    Word::signed("latitudeOfLastGridPoint", 56, 4),
    Word::signed("longitudeOfLastGridPoint", 60, 4),
    Word::unsigned("scanningMode", 72, 1),
];
/// The same octets are a step, or a number of parallels on Gaussian grids.
const STEP: [Word; 1] = [Word::unsigned("jDirectionIncrement", 68, 4)];
const PARALLELS: [Word; 1] = [Word::unsigned("N", 68, 4)];
const POLE: [Word; 2] = [Word::signed("latitudeOfSouthernPole", 73, 4), Word::signed("longitudeOfSouthernPole", 77, 4)];

/// The numbers of all of them in the first edition.
const FIRST_WORDS: [Word; 8] = [
    Word::unsigned("Ni", 7, 2),
    Word::unsigned("Nj", 9, 2),
    Word::unsigned("iDirectionIncrement", 24, 2),
    Word::signed("latitudeOfFirstGridPoint", 11, 3),
    Word::signed("longitudeOfFirstGridPoint", 14, 3),
    Word::signed("latitudeOfLastGridPoint", 18, 3),
    Word::signed("longitudeOfLastGridPoint", 21, 3),
    Word::unsigned("scanningMode", 28, 1),
];

/// Templates 3.0 and 3.2.
pub(crate) const LATITUDES: Template = second(&[0, 2], &[&WORDS, &STEP]);
/// Templates 3.1 and 3.3.
pub(crate) const ROTATED: Template = second(&[1, 3], &[&WORDS, &STEP, &POLE]);
/// Templates 3.40 and 3.42.
pub(crate) const GAUSSIAN: Template = second(&[40, 42], &[&WORDS, &PARALLELS]);
/// Templates 3.41 and 3.43.
pub(crate) const ROTATED_GAUSSIAN: Template = second(&[41, 43], &[&WORDS, &PARALLELS, &POLE]);

const fn second(numbers: &'static [u16], words: &'static [&'static [Word]]) -> Template {
    Template { edition: Edition::Second, numbers, scanning_mode: Some(72), words, parse }
}

/// Types 0, 10, 20 and 30 of the first edition.
pub(crate) const FIRST_LATITUDES: Template = Template {
    edition: Edition::First,
    numbers: &[0, 10, 20, 30],
    scanning_mode: Some(28),
    words: &[&FIRST_WORDS, &[Word::unsigned("jDirectionIncrement", 26, 2)]],
    parse: |section| parse_first(section, false),
};

/// Types 4, 14, 24 and 34 of the first edition.
pub(crate) const FIRST_GAUSSIAN: Template = Template {
    numbers: &[4, 14, 24, 34],
    words: &[&FIRST_WORDS, &[Word::unsigned("N", 26, 2)]],
    parse: |section| parse_first(section, true),
    ..FIRST_LATITUDES
};

/// What code table 3.11 says of the lengths of rows: they are the lengths of whole circles, of which a row may be a part.
const WHOLE_CIRCLES: u8 = 1;
/// An angle of the first edition that is missing, and its unit in degrees.
const NO_ANGLE: u32 = 0x00ff_ffff;
const SHORT_ANGLE: f64 = 1e-3;

/// The unit of angles in degrees.
fn unit(section: Needed<'_>) -> Result<(f64, f64), GridError> {
    let (circle, parts) = (section.u32(39)?, section.u32(43)?);
    let is_plain = matches!(circle, 0 | Octets::MISSING) || matches!(parts, 0 | Octets::MISSING);
    Ok(if is_plain { (1.0, 1e6) } else { (f64::from(circle), f64::from(parts)) })
}

fn parse(section: Needed<'_>) -> Parsed {
    let template = section.u16(13)?;
    let (circle, parts) = unit(section)?;
    #[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
    let angle = |octet| Ok::<_, GridError>(section.i32(octet)? as f64 * circle / parts);
    let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(72)? };
    let (first, last) = ((angle(47)?, angle(51)?), (angle(56)?, angle(60)?));
    let mut list_at = 73;
    let mut turned = Turned { rotation: None, stretching: None };
    if template % 2 == 1 {
        let turn = f64::from(f32::from_be_bytes(section.array(81)?));
        turned.rotation = Some(Rotation { latitude: angle(73)?, longitude: angle(77)?, angle: turn });
        list_at += 12;
    }
    if template % 10 >= 2 {
        let factor = section.millionths(list_at + 8)?;
        turned.stretching = Some(Stretching { latitude: angle(list_at)?, longitude: angle(list_at + 4)?, factor });
        list_at += 12;
    }
    let octets = usize::from(section.u8(11)?);
    let is_reduced = octets > 0 && scan.columns == Octets::MISSING;
    let behind = if is_reduced { section.0.from(list_at) } else { &[] };
    let lengths = lengths(behind, octets.clamp(1, 4), scan.rows);
    if octets > 4 || is_reduced && lengths.len() != scan.rows as usize {
        return Err(GridError::Contradiction);
    }
    let gaussian = if template >= 40 { Some(section.u32(68)?) } else { None };
    let has_circles = section.u8(12)? == WHOLE_CIRCLES;
    let rows = Rows { scan, first, last, gaussian, lengths, has_circles, turned: None };
    rows.turned(turned).map(|rows| Some(Box::new(rows) as Box<dyn Grid>))
}

fn parse_first(section: Needed<'_>, is_gaussian: bool) -> Parsed {
    Ok(rows_of_first(section, is_gaussian)?.map(|rows| Box::new(rows) as Box<dyn Grid>))
}

fn rows_of_first(section: Needed<'_>, is_gaussian: bool) -> Result<Option<Rows>, GridError> {
    let mut scan = Scan::of_first(section)?;
    if section.u16(7)? == u16::MAX {
        scan.columns = Octets::MISSING;
    }
    let (first, mut last) =
        ((section.short_angle(11)?, section.short_angle(14)?), (section.short_angle(18)?, section.short_angle(21)?));
    let tens = section.u8(6)? / 10;
    let (mut turned, mut at) = (Turned { rotation: None, stretching: None }, 33);
    if tens % 2 == 1 {
        let (latitude, longitude) = (section.short_angle(at)?, section.short_angle(at + 3)?);
        turned.rotation = Some(Rotation { latitude, longitude, angle: section.ibm(at + 6)? });
        at += 10;
    }
    if tens >= 2 {
        let (latitude, longitude) = (section.short_angle(at)?, section.short_angle(at + 3)?);
        turned.stretching = Some(Stretching { latitude, longitude, factor: section.ibm(at + 6)? });
    }
    let is_reduced = scan.columns == Octets::MISSING;
    let (levels, place) = (usize::from(section.u8(4)?), usize::from(section.u8(5)?));
    let behind = if is_reduced { section.0.from(place + 4 * levels) } else { &[] };
    let lengths = lengths(behind, 2, scan.rows);
    if is_reduced && lengths.len() != scan.rows as usize {
        return Err(GridError::Contradiction);
    }
    // Bounds may be missing where increments are there.
    let steps = f64::from(section.u16(24)?) / 1e3 * f64::from(scan.columns.saturating_sub(1));
    if section.u24(21)? == NO_ANGLE && section.u16(24)? != u16::MAX && !is_reduced {
        last.1 = first.1 + if scan.mode & Scan::WEST == 0 { steps } else { -steps };
    }
    let gaussian = if is_gaussian { Some(section.u16(26)?.into()) } else { None };
    let rows = Rows { scan, first, last, gaussian, lengths, has_circles: true, turned: None };
    rows.turned(turned).map(Some)
}

/// The points of a reduced grid of the first edition.
///
/// # Errors
/// [`GridError::ShortSection`]; [`GridError::Contradiction`] for a list that is not whole.
pub(crate) fn count(section: Needed<'_>) -> Result<u32, GridError> {
    let Some(rows) = rows_of_first(section, false)? else { return Err(GridError::Contradiction) };
    let longest = rows.lengths.iter().copied().max().unwrap_or(0);
    // At most 2^16 rows of 2^16 points.
    let whole = rows.lengths.iter().try_fold(0_u32, |sum, length| sum.checked_add(*length));
    let width = rows.last.1 - rows.first.1;
    if longest == 0 || width >= 360.0 - 360.0 / f64::from(longest) - SHORT_ANGLE {
        return whole.ok_or(GridError::Contradiction);
    }
    let count = |sum: u32, length: &u32| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the length of a row")]
        let part = rows.part(*length).1.clamp(0.0, f64::from(*length)) as u32;
        sum.checked_add(part)
    };
    rows.lengths.iter().try_fold(0, count).ok_or(GridError::Contradiction)
}

/// North, west, south and east of a section of type or template 0 whose rows run from north to south and from west to east, in degrees, as
/// they are stated. `None` for others, and for rare units.
pub(crate) fn bounds(edition: Edition, section: Needed<'_>) -> Result<Option<[f64; 4]>, GridError> {
    if edition == Edition::First {
        let all =
            [section.short_angle(11)?, section.short_angle(14)?, section.short_angle(18)?, section.short_angle(21)?];
        return Ok((section.u8(28)? == 0).then_some(all));
    }
    let is_plain = matches!(section.u32(39)?, 0 | Octets::MISSING) && section.u8(72)? == 0;
    let all = [section.millionths(47)?, section.millionths(51)?, section.millionths(56)?, section.millionths(60)?];
    Ok(is_plain.then_some(all))
}

/// The lengths of rows, as many as the bytes hold.
fn lengths(bytes: &[u8], octets: usize, rows: u32) -> Vec<u32> {
    let number = |bytes: &[u8]| bytes.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    bytes.chunks_exact(octets).take(rows as usize).map(number).collect()
}
