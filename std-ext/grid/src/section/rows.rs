//! Grids whose rows are parallels: latitude and longitude, Gaussian, reduced, rotated.
//!
//! | octets | |
//! |---|---|
//! | 11, 12 | octets of each length of a row, and what the lengths mean (code table 3.11) |
//! | 31 to 34, 35 to 38 | points of a row, and rows |
//! | 39 to 42, 43 to 46 | unit of angles: a divided circle, else a millionth of a degree |
//! | 47 to 50, 51 to 54 | latitude and longitude of the first point |
//! | 56 to 59, 60 to 63 | latitude and longitude of the last point |
//! | 68 to 71 | 3.40: parallels between a pole and the equator |
//! | 72 | scanning mode |
//! | 73 to 84 | 3.1: latitude and longitude of the southern pole, angle of rotation |
//! | behind | lengths of rows, if they differ |

use super::scan::{Scan, turn};
use super::{GridSection, gaussian};
use crate::coordinates::{Axes, Coordinates};
use crate::error::GridError;
use crate::octets::Octets;

/// What code table 3.11 says of the lengths of rows: they are the lengths of whole circles, of which a row may be a part.
const WHOLE_CIRCLES: u8 = 1;
/// Parts of a step that rounded bounds may be off.
const ROUNDING: f64 = 1e-3;

/// Such a grid.
pub(super) struct Rows {
    scan: Scan,
    /// Latitude and longitude of the first and of the last point. The last longitude lies in the direction of scanning.
    first: (f64, f64),
    last: (f64, f64),
    /// Parallels between a pole and the equator, of Gaussian grids.
    gaussian: Option<u32>,
    /// Lengths of rows, if they differ.
    lengths: Vec<u32>,
    has_circles: bool,
    /// The southern pole, of rotated grids.
    pole: Option<(f64, f64)>,
}

impl Rows {
    /// `None` for grids whose points are not known: turned about their own axis.
    pub(super) fn parse(section: GridSection<'_>) -> Result<Option<Self>, GridError> {
        let template = section.u16(13)?;
        let (circle, parts) = (section.u32(39)?, section.u32(43)?);
        let is_plain = matches!(circle, 0 | Octets::MISSING) || matches!(parts, 0 | Octets::MISSING);
        let unit = if is_plain { 1e-6 } else { f64::from(circle) / f64::from(parts) };
        #[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
        let angle = |octet| Ok::<_, GridError>(section.i32(octet)? as f64 * unit);
        let scan = Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(72)? };
        let (first, mut last) = ((angle(47)?, angle(51)?), (angle(56)?, angle(60)?));
        // The last longitude lies in the direction of scanning, across 0 if need be.
        if scan.mode & Scan::WEST == 0 && last.1 < first.1 {
            last.1 += 360.0;
        } else if scan.mode & Scan::WEST != 0 && last.1 > first.1 {
            last.1 -= 360.0;
        }
        let mut list_at = 73;
        let mut pole = None;
        if template == 1 {
            if f32::from_be_bytes(section.array(81)?) != 0.0 {
                return Ok(None);
            }
            pole = Some((angle(73)?, angle(77)?));
            list_at = 85;
        }
        let octets = usize::from(section.u8(11)?);
        let is_reduced = octets > 0 && scan.columns == Octets::MISSING;
        let behind = if is_reduced { section.octets().from(list_at) } else { &[] };
        let number = |bytes: &[u8]| bytes.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let lengths: Vec<_> = behind.chunks_exact(octets.clamp(1, 4)).take(scan.rows as usize).map(number).collect();
        if octets > 4 || is_reduced && lengths.len() != scan.rows as usize {
            return Err(GridError::Contradiction);
        }
        let gaussian = if template == 40 { Some(section.u32(68)?) } else { None };
        let has_circles = section.u8(12)? == WHOLE_CIRCLES;
        Ok(Some(Self { scan, first, last, gaussian, lengths, has_circles, pole }))
    }

    pub(super) fn coordinates(&self, points: u32) -> Option<Coordinates> {
        let mut found = Coordinates::with_capacity(points)?;
        let latitudes = self.latitudes(points)?;
        if self.scan.columns == Octets::MISSING {
            self.reduced(&latitudes, points, &mut found)?;
        } else {
            for (column, row) in self.scan.places(points)? {
                let longitude = between(self.first.1, self.last.1, column, self.scan.columns);
                found.push(*latitudes.get(row as usize)?, longitude);
            }
        }
        let turned = found.latitudes.iter_mut().zip(&mut found.longitudes);
        turned.for_each(|(latitude, longitude)| {
            if let Some(pole) = self.pole {
                (*latitude, *longitude) = turned_back((*latitude, *longitude), pole);
            }
            *longitude = turn(*longitude);
        });
        Some(found)
    }

    /// The latitudes of rows and the longitudes of columns, where rows of one length follow each other. `None` for other grids.
    pub(super) fn axes(&self, points: u32) -> Option<Axes> {
        let Scan { columns, rows, mode } = self.scan;
        let is_rectangle = u64::from(columns) * u64::from(rows) == u64::from(points);
        if self.pole.is_some() || !is_rectangle || mode & !(Scan::WEST | Scan::NORTH) != 0 {
            return None;
        }
        let longitudes = (0..columns).map(|column| turn(between(self.first.1, self.last.1, column, columns)));
        Some((self.latitudes(points)?, longitudes.collect()))
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
            // A row of a whole circle that is cut has the multiples of its step between the bounds.
            let (start, count) = match (is_whole, self.has_circles) {
                (true, _) => (west, f64::from(*length)),
                (false, true) => {
                    let start = (west / step - ROUNDING).ceil();
                    (start * step, (east / step + ROUNDING).floor() - start + 1.0)
                }
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

/// Latitude and longitude of a point that is given in a system whose southern pole is at `pole`.
fn turned_back((latitude, longitude): (f64, f64), pole: (f64, f64)) -> (f64, f64) {
    let (lat_sin, lat_cos) = latitude.to_radians().sin_cos();
    let (lon_sin, lon_cos) = longitude.to_radians().sin_cos();
    // The angle between the two poles.
    let (tilt_sin, tilt_cos) = (90.0 + pole.0).to_radians().sin_cos();
    let (x, y, z) = (lat_cos * lon_cos, lat_cos * lon_sin, lat_sin);
    let (ahead, up) = (tilt_cos * x - tilt_sin * z, tilt_sin * x + tilt_cos * z);
    (up.clamp(-1.0, 1.0).asin().to_degrees(), y.atan2(ahead).to_degrees() + pole.1)
}
