//! Where the values of an object are: on a regular grid that metadata describe, or at the points of a GRIB grid.

use tgm_core::metadata::MessageMetadata;
use tgm_std::{DecodeLimits, TensogramError};

use crate::read::grid::{Area, Grid};

/// Where the values of the last dimensions are.
#[derive(Debug)]
pub(crate) enum Places {
    /// On a regular grid of the last two dimensions.
    Grid(Grid),
    /// At points of their own.
    Points(Points),
}

/// A point for each value of an object.
#[derive(Debug)]
pub(crate) struct Points {
    latitudes: Vec<f64>,
    longitudes: Vec<f64>,
    shape: Vec<u64>,
}

impl Places {
    /// The places of object `index` with this shape. `area` counts before the points of a GRIB grid. `None` if neither is
    /// there.
    ///
    /// # Errors
    /// The errors of the GRIB sections in metadata.
    pub(crate) fn of(
        metadata: &MessageMetadata<'_>,
        index: usize,
        shape: &[u64],
        area: Option<Area>,
        limits: &DecodeLimits,
    ) -> Result<Option<Self>, TensogramError> {
        if let Some(area) = area {
            return Ok(Grid::new(shape, area).map(Self::Grid));
        }
        Ok(Points::of(metadata, index, shape, limits)?.map(Self::Points))
    }

    /// Latitude and longitude of the value at `indices`, in degrees.
    pub(crate) fn place(&self, indices: &[u64]) -> Option<(f64, f64)> {
        match self {
            Self::Grid(grid) => match indices {
                [.., row, column] => Some((grid.latitude(*row), grid.longitude(*column))),
                _ => None,
            },
            Self::Points(points) => points.place(indices),
        }
    }

    /// The indices of the last dimensions whose value is nearest to a point. `None` for a point outside.
    pub(crate) fn nearest(&self, latitude: f64, longitude: f64) -> Option<Vec<u64>> {
        match self {
            Self::Grid(grid) => grid.nearest(latitude, longitude).map(|(row, column)| vec![row, column]),
            Self::Points(points) => points.nearest(latitude, longitude),
        }
    }

    /// Latitudes in the order of the values, and how many values in a row have the same latitude.
    pub(crate) fn latitudes(&self) -> (Vec<f64>, u64) {
        match self {
            Self::Grid(grid) => ((0..grid.rows).map(|row| grid.latitude(row)).collect(), grid.columns),
            Self::Points(points) => (points.latitudes.clone(), 1),
        }
    }
}

impl Points {
    #[cfg(feature = "grib")]
    fn of(
        metadata: &MessageMetadata<'_>,
        index: usize,
        shape: &[u64],
        limits: &DecodeLimits,
    ) -> Result<Option<Self>, TensogramError> {
        let found = tgm_std::convert::grib2::coordinates(metadata, index, limits)?;
        let count = shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len));
        // A part of a field is another grid.
        let found = found.filter(|found| Some(found.latitudes.len() as u64) == count);
        Ok(found.map(|found| Self { latitudes: found.latitudes, longitudes: found.longitudes, shape: shape.to_vec() }))
    }

    #[cfg(not(feature = "grib"))]
    #[expect(clippy::unnecessary_wraps, reason = "with GRIB it can fail")]
    const fn of(
        _: &MessageMetadata<'_>,
        _: usize,
        _: &[u64],
        _: &DecodeLimits,
    ) -> Result<Option<Self>, TensogramError> {
        Ok(None)
    }

    fn place(&self, indices: &[u64]) -> Option<(f64, f64)> {
        let flat = self.shape.iter().zip(indices).fold(0, |flat, (len, index)| flat * len + index);
        self.at(usize::try_from(flat).ok()?)
    }

    fn at(&self, flat: usize) -> Option<(f64, f64)> {
        self.latitudes.get(flat).copied().zip(self.longitudes.get(flat).copied())
    }

    /// O(points).
    fn nearest(&self, latitude: f64, longitude: f64) -> Option<Vec<u64>> {
        let wanted = (latitude, longitude);
        let all = self.latitudes.iter().copied().zip(self.longitudes.iter().copied());
        let (found, point) =
            all.enumerate().min_by(|(_, a), (_, b)| angle(*a, wanted).total_cmp(&angle(*b, wanted)))?;
        if angle(point, wanted) > self.spacing(found, point) {
            return None;
        }
        let mut flat = found as u64;
        let mut indices: Vec<_> = self.shape.iter().rev().map(|len| (flat % len, flat /= len).0).collect();
        indices.reverse();
        Some(indices)
    }

    /// How far the neighbours of a point are: those in its row, and those in the rows beside.
    fn spacing(&self, flat: usize, point: (f64, f64)) -> f64 {
        let to = |other: Option<usize>| {
            other.and_then(|other| self.at(other)).map_or(f64::INFINITY, |other| angle(other, point))
        };
        let both = |step: usize| to(flat.checked_sub(step)).min(to(flat.checked_add(step)));
        let beside = if let [.., _, columns] = *self.shape {
            both(usize::try_from(columns).unwrap_or(usize::MAX))
        } else {
            // Rows of different lengths: the nearest other parallel.
            let distances = self.latitudes.iter().map(|latitude| (latitude - point.0).abs());
            distances.filter(|distance| *distance > 1e-6).fold(f64::INFINITY, f64::min)
        };
        let finite = |angle: f64| if angle.is_finite() { angle } else { 0.0 };
        finite(both(1)).max(finite(beside)) + 1e-9
    }
}

/// The angle between two points as seen from the centre of the sphere, in degrees.
fn angle(a: (f64, f64), b: (f64, f64)) -> f64 {
    let half = |difference: f64| (difference.to_radians() / 2.0).sin().powi(2);
    let cosines = a.0.to_radians().cos() * b.0.to_radians().cos();
    2.0 * (half(a.0 - b.0) + cosines * half(a.1 - b.1)).sqrt().min(1.0).asin().to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_find_their_neighbours() {
        // Two rows of different lengths.
        let points = Points {
            latitudes: vec![45.0, 45.0, 45.0, -45.0, -45.0],
            longitudes: vec![0.0, 120.0, 240.0, 0.0, 180.0],
            shape: vec![5],
        };
        assert_eq!(points.nearest(40.0, 359.0), Some(vec![0]));
        assert_eq!(points.nearest(-30.0, -170.0), Some(vec![4]));
        assert_eq!(points.place(&[3]), Some((-45.0, 0.0)));
        let small =
            Points { latitudes: vec![1.0, 1.0, 2.0, 2.0], longitudes: vec![10.0, 11.0, 10.0, 11.0], shape: vec![2, 2] };
        assert_eq!((small.nearest(2.2, 10.2), small.nearest(5.0, 10.0)), (Some(vec![1, 0]), None));
        assert_eq!(small.place(&[1, 1]), Some((2.0, 11.0)));
    }
}
