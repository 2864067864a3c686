//! Grids whose rows are parallels: latitude and longitude, Gaussian; each also reduced, rotated and stretched.

mod section;

pub(crate) use self::section::{
    FIRST_GAUSSIAN, FIRST_LATITUDES, GAUSSIAN, LATITUDES, ROTATED, ROTATED_GAUSSIAN, bounds, count,
};

use super::scan::{Scan, turn};
use super::turned::Turned;
use super::{Grid, gaussian};
use crate::cf::Projected;
use crate::coordinates::{Axes, Coordinates};
use crate::error::GridError;
use crate::octets::Octets;

/// Parts of a step that rounded bounds may be off.
const ROUNDING: f64 = 1e-3;
/// Degrees that a longitude may lie beyond the whole circle, and still be the first one again.
const ROUNDED: f64 = 1e-6;

/// The most degrees of a latitude, which may be rounded up to thousandths.
const MOST_NORTH: f64 = 90.001;

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
        self.turned.is_none().then(|| self.own_axes(points)).flatten()
    }

    fn projected(&self, points: u32) -> Option<Projected> {
        let Turned { rotation: Some(rotation), stretching: None } = self.turned? else { return None };
        Some(Projected { mapping: rotation.cf(), axes: self.own_axes(points)?, is_by_column: self.scan.is_by_column() })
    }
}

impl Rows {
    /// The latitudes of rows and the longitudes of columns, before the globe is turned.
    fn own_axes(&self, points: u32) -> Option<Axes> {
        self.scan.is_rectangle(points).then_some(())?;
        let mut longitudes: Vec<f64> = (0..self.scan.columns).map(|column| self.longitude(column)).collect();
        if longitudes.last().is_some_and(|last| *last - 360.0 > ROUNDED) {
            // Rounded to the number that people write: 359.9 - 360 is not -0.1.
            for degree in &mut longitudes {
                *degree = ((*degree - 360.0) * 1e12).round() / 1e12;
            }
        }
        Some((self.latitudes(points)?, longitudes))
    }

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
