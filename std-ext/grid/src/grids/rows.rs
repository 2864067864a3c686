//! Grids whose rows are parallels: latitude and longitude, Gaussian; each also reduced, rotated and stretched.
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

use super::scan::{Scan, turn};
use super::turned::{Rotation, Stretching, Turned};
use super::{Edition, Grid, Parsed, Template, Word, gaussian};
use crate::coordinates::{Axes, Coordinates};
use crate::error::GridError;
use crate::octets::{Needed, Octets};

/// Templates 3.0 and 3.2.
pub(crate) const LATITUDES: Template = Template {
    edition: Edition::Second,
    numbers: &[0, 2],
    scanning_mode: Some(72),
    words: &[NI, NJ, I_STEP, J_STEP, FIRST_LATITUDE, FIRST_LONGITUDE, LAST_LATITUDE, LAST_LONGITUDE, SCANNING_MODE],
    parse,
};

/// Templates 3.1 and 3.3.
pub(crate) const ROTATED: Template = Template {
    edition: Edition::Second,
    numbers: &[1, 3],
    scanning_mode: Some(72),
    words: &[
        NI,
        NJ,
        I_STEP,
        J_STEP,
        FIRST_LATITUDE,
        FIRST_LONGITUDE,
        LAST_LATITUDE,
        LAST_LONGITUDE,
        POLE_LATITUDE,
        POLE_LONGITUDE,
        SCANNING_MODE,
    ],
    parse,
};

/// Templates 3.40 and 3.42.
pub(crate) const GAUSSIAN: Template = Template {
    edition: Edition::Second,
    numbers: &[40, 42],
    scanning_mode: Some(72),
    words: &[NI, NJ, I_STEP, PARALLELS, FIRST_LATITUDE, FIRST_LONGITUDE, LAST_LATITUDE, LAST_LONGITUDE, SCANNING_MODE],
    parse,
};

/// Templates 3.41 and 3.43.
pub(crate) const ROTATED_GAUSSIAN: Template = Template {
    edition: Edition::Second,
    numbers: &[41, 43],
    scanning_mode: Some(72),
    words: &[
        NI,
        NJ,
        I_STEP,
        PARALLELS,
        FIRST_LATITUDE,
        FIRST_LONGITUDE,
        LAST_LATITUDE,
        LAST_LONGITUDE,
        POLE_LATITUDE,
        POLE_LONGITUDE,
        SCANNING_MODE,
    ],
    parse,
};

/// Types 0, 10, 20 and 30 of the first edition.
pub(crate) const FIRST_LATITUDES: Template = Template {
    edition: Edition::First,
    numbers: &[0, 10, 20, 30],
    scanning_mode: Some(28),
    words: &[
        FIRST_NI,
        FIRST_NJ,
        FIRST_I_STEP,
        Word::unsigned("jDirectionIncrement", 26, 2),
        FIRST_LATITUDE_OF_FIRST,
        FIRST_LONGITUDE_OF_FIRST,
        FIRST_LATITUDE_OF_LAST,
        FIRST_LONGITUDE_OF_LAST,
        FIRST_SCANNING_MODE,
    ],
    parse: |section| parse_first(section, false),
};

/// Types 4, 14, 24 and 34 of the first edition.
pub(crate) const FIRST_GAUSSIAN: Template = Template {
    edition: Edition::First,
    numbers: &[4, 14, 24, 34],
    scanning_mode: Some(28),
    words: &[
        FIRST_NI,
        FIRST_NJ,
        FIRST_I_STEP,
        Word::unsigned("N", 26, 2),
        FIRST_LATITUDE_OF_FIRST,
        FIRST_LONGITUDE_OF_FIRST,
        FIRST_LATITUDE_OF_LAST,
        FIRST_LONGITUDE_OF_LAST,
        FIRST_SCANNING_MODE,
    ],
    parse: |section| parse_first(section, true),
};

const FIRST_NI: Word = Word::unsigned("Ni", 7, 2);
const FIRST_NJ: Word = Word::unsigned("Nj", 9, 2);
const FIRST_I_STEP: Word = Word::unsigned("iDirectionIncrement", 24, 2);
const FIRST_LATITUDE_OF_FIRST: Word = Word::signed("latitudeOfFirstGridPoint", 11, 3);
const FIRST_LONGITUDE_OF_FIRST: Word = Word::signed("longitudeOfFirstGridPoint", 14, 3);
const FIRST_LATITUDE_OF_LAST: Word = Word::signed("latitudeOfLastGridPoint", 18, 3);
const FIRST_LONGITUDE_OF_LAST: Word = Word::signed("longitudeOfLastGridPoint", 21, 3);
const FIRST_SCANNING_MODE: Word = Word::unsigned("scanningMode", 28, 1);

const NI: Word = Word::unsigned("Ni", 31, 4);
const NJ: Word = Word::unsigned("Nj", 35, 4);
const SCANNING_MODE: Word = Word::unsigned("scanningMode", 72, 1);
const I_STEP: Word = Word::unsigned("iDirectionIncrement", 64, 4);
const J_STEP: Word = Word::unsigned("jDirectionIncrement", 68, 4);
/// The same octets are a number of parallels on Gaussian grids.
const PARALLELS: Word = Word::unsigned("N", 68, 4);
const FIRST_LATITUDE: Word = Word::signed("latitudeOfFirstGridPoint", 47, 4);
const FIRST_LONGITUDE: Word = Word::signed("longitudeOfFirstGridPoint", 51, 4);
const LAST_LATITUDE: Word = Word::signed("latitudeOfLastGridPoint", 56, 4);
const LAST_LONGITUDE: Word = Word::signed("longitudeOfLastGridPoint", 60, 4);
const POLE_LATITUDE: Word = Word::signed("latitudeOfSouthernPole", 73, 4);
const POLE_LONGITUDE: Word = Word::signed("longitudeOfSouthernPole", 77, 4);

/// What code table 3.11 says of the lengths of rows: they are the lengths of whole circles, of which a row may be a part.
const WHOLE_CIRCLES: u8 = 1;
/// Parts of a step that rounded bounds may be off.
const ROUNDING: f64 = 1e-3;
/// Degrees that a longitude may lie beyond the whole circle, and still be the first one again.
const ROUNDED: f64 = 1e-6;

/// The most degrees of a latitude, which may be rounded up to thousandths.
const MOST_NORTH: f64 = 90.001;
/// An angle of the first edition that is missing, and its unit in degrees.
const NO_ANGLE: u32 = 0x00ff_ffff;
const SHORT_ANGLE: f64 = 1e-3;

/// Such a grid.
pub(crate) struct Rows {
    scan: Scan,
    /// Latitude and longitude of the first and of the last point. The last longitude lies in the direction of scanning.
    first: (f64, f64),
    last: (f64, f64),
    /// Parallels between a pole and the equator, of Gaussian grids.
    gaussian: Option<u32>,
    /// Lengths of rows, if they differ.
    lengths: Vec<u32>,
    has_circles: bool,
    turned: Option<Turned>,
}

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

impl Grid for Rows {
    fn coordinates(&self, points: u32) -> Option<Coordinates> {
        let mut found = Coordinates::with_capacity(points)?;
        let latitudes = self.latitudes(points)?;
        if self.scan.columns == Octets::MISSING {
            self.reduced(&latitudes, points, &mut found)?;
        } else {
            for (column, row) in self.scan.places(points)? {
                found.push(*latitudes.get(row as usize)?, self.longitude(column));
            }
        }
        let turned = found.latitudes.iter_mut().zip(&mut found.longitudes);
        turned.for_each(|(latitude, longitude)| {
            if let Some(turned) = self.turned {
                (*latitude, *longitude) = turned.place((*latitude, *longitude));
            }
            *longitude = turn(*longitude);
        });
        Some(found)
    }

    fn axes(&self, points: u32) -> Option<Axes> {
        let Scan { columns, rows, mode } = self.scan;
        let is_rectangle = u64::from(columns) * u64::from(rows) == u64::from(points);
        if self.turned.is_some() || !is_rectangle || mode & (Scan::ALTERNATING | Scan::OFFSET) != 0 {
            return None;
        }
        let mut longitudes: Vec<f64> = (0..columns).map(|column| self.longitude(column)).collect();
        if longitudes.last().is_some_and(|last| *last - 360.0 > ROUNDED) {
            // Rounded to the number that people write: 359.9 - 360 is not -0.1.
            for degree in &mut longitudes {
                *degree = ((*degree - 360.0) * 1e12).round() / 1e12;
            }
        }
        Some((self.latitudes(points)?, longitudes))
    }
}

impl Rows {
    /// The grid with poles of its own. The last longitude is brought to where scanning reaches it: a whole circle on, where it is the first
    /// one again.
    fn turned(mut self, turned: Turned) -> Result<Self, GridError> {
        let is_beyond = |latitude: f64| latitude.abs() > MOST_NORTH;
        let is_flat = turned.stretching.is_some_and(|stretching| stretching.factor <= 0.0);
        if is_flat || is_beyond(self.first.0) || is_beyond(self.last.0) {
            return Err(GridError::Contradiction);
        }
        let is_turned = turned.rotation.is_some() || turned.stretching.is_some();
        self.turned = is_turned.then_some(turned);
        let is_row = self.scan.columns > 1;
        let (west, east) = (self.first.1, &mut self.last.1);
        if self.scan.mode & Scan::WEST == 0 {
            *east += if *east < west || (*east <= west && is_row) { 360.0 } else { 0.0 };
        } else {
            *east -= if *east > west || (*east >= west && is_row) { 360.0 } else { 0.0 };
        }
        Ok(self)
    }

    /// Where a row of a whole circle that is cut begins, and how many points it has: the multiples of its step between the bounds.
    fn part(&self, length: u32) -> (f64, f64) {
        let step = 360.0 / f64::from(length);
        let start = (self.first.1 / step - ROUNDING).ceil();
        (start * step, (self.last.1 / step + ROUNDING).floor() - start + 1.0)
    }

    /// The most parallels between a pole and the equator that latitudes are computed for.
    pub(crate) const MOST_PARALLELS: u32 = gaussian::MOST;

    /// A reduced Gaussian grid of whole rows with these lengths.
    pub(crate) fn whole(parallels: u32, lengths: Vec<u32>) -> Option<Self> {
        let scan = Scan { columns: Octets::MISSING, rows: 2 * parallels, mode: 0 };
        Self::global(parallels, scan, 360.0, lengths)
    }

    /// A regular Gaussian grid of the globe.
    pub(crate) fn regular(parallels: u32) -> Option<Self> {
        let scan = Scan { columns: 4 * parallels, rows: 2 * parallels, mode: 0 };
        Self::global(parallels, scan, 360.0 - 90.0 / f64::from(parallels), Vec::new())
    }

    fn global(parallels: u32, scan: Scan, east: f64, lengths: Vec<u32>) -> Option<Self> {
        let north = *gaussian::latitudes(parallels)?.first()?;
        let (first, last, gaussian) = ((north, 0.0), (-north, east), Some(parallels));
        Some(Self { scan, first, last, gaussian, lengths, has_circles: true, turned: None })
    }

    fn longitude(&self, column: u32) -> f64 {
        between(self.first.1, self.last.1, column, self.scan.columns)
    }

    /// The latitude of each row. `None` for more rows than points, and for Gaussian grids that do not begin at a parallel.
    fn latitudes(&self, points: u32) -> Option<Vec<f64>> {
        let rows = self.scan.rows;
        if rows > points {
            return None;
        }
        let Some(parallels) = self.gaussian else {
            return Some((0..rows).map(|row| between(self.first.0, self.last.0, row, rows)).collect());
        };
        let mut all = gaussian::latitudes(parallels)?;
        if self.scan.mode & Scan::NORTH != 0 {
            all.reverse();
        }
        let distance = |at: &usize| all.get(*at).map_or(f64::INFINITY, |latitude| (latitude - self.first.0).abs());
        let start = (0..all.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let step = 90.0 / f64::from(parallels);
        if distance(&start) > step / 4.0 {
            return None;
        }
        Some(all.get(start..start.checked_add(rows as usize)?)?.to_vec())
    }

    /// Rows of different lengths, one after the other.
    fn reduced(&self, latitudes: &[f64], points: u32, found: &mut Coordinates) -> Option<()> {
        let sum: u64 = self.lengths.iter().copied().map(u64::from).sum();
        let (west, east) = (self.first.1, self.last.1);
        let is_whole = sum == u64::from(points);
        if self.scan.mode & !Scan::NORTH != 0 {
            return None;
        }
        for (latitude, length) in latitudes.iter().zip(&self.lengths) {
            let step = 360.0 / f64::from(*length);
            let (start, count) = match (is_whole, self.has_circles) {
                (true, _) => (west, f64::from(*length)),
                (false, true) => self.part(*length),
                (false, false) => return None,
            };
            for at in (0..*length).take_while(|at| f64::from(*at) < count) {
                let longitude = if is_whole && !self.has_circles {
                    between(west, east, at, *length)
                } else {
                    start + step * f64::from(at)
                };
                if found.latitudes.len() >= points as usize {
                    return None;
                }
                found.push(*latitude, longitude);
            }
        }
        Some(())
    }
}

/// The number at place `at` of `count` evenly from `first` to `last`.
fn between(first: f64, last: f64, at: u32, count: u32) -> f64 {
    first + (last - first) * f64::from(at) / f64::from(count.saturating_sub(1).max(1))
}
