//! Points one by one, each with a value of an object.

use crate::coordinates::{Coordinates, angle};

/// A point for each value of an object, or for each of the last dimensions of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    coordinates: Coordinates,
    shape: Vec<u64>,
}

impl Points {
    /// The points of an object of this shape. `None` if it has another number of values: a part of a field is another grid.
    pub fn new(coordinates: Coordinates, shape: &[u64]) -> Option<Self> {
        let count = shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len))?;
        let fits = [&coordinates.latitudes, &coordinates.longitudes].iter().all(|all| all.len() as u64 == count);
        fits.then(|| Self { coordinates, shape: shape.to_vec() })
    }

    /// The lengths of the dimensions that they lie along.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Where they are.
    pub const fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// Latitude and longitude of the value at `indices`, in degrees: the last of them count. `None` outside of the object.
    pub fn place(&self, indices: &[u64]) -> Option<(f64, f64)> {
        let indices = indices.get(indices.len().checked_sub(self.shape.len())?..)?;
        let flat = self.shape.iter().zip(indices).try_fold(0_u64, |flat, (len, index)| {
            flat.checked_mul(*len)?.checked_add(*index).filter(|_| index < len)
        })?;
        self.at(usize::try_from(flat).ok()?)
    }

    fn at(&self, flat: usize) -> Option<(f64, f64)> {
        self.coordinates.latitudes.get(flat).copied().zip(self.coordinates.longitudes.get(flat).copied())
    }

    /// The indices of the value that is nearest to a place. `None` for a place outside, and for no points. O(points).
    pub fn nearest(&self, latitude: f64, longitude: f64) -> Option<Vec<u64>> {
        let wanted = (latitude, longitude);
        let all = self.coordinates.latitudes.iter().copied().zip(self.coordinates.longitudes.iter().copied());
        let (found, point) =
            all.enumerate().min_by(|(_, a), (_, b)| angle(*a, wanted).total_cmp(&angle(*b, wanted)))?;
        if angle(point, wanted) > self.spacing(found, point) {
            return None;
        }
        // There is a point, so no dimension is 0.
        let mut flat = found as u64;
        let mut indices: Vec<_> = self.shape.iter().rev().map(|len| (flat % len, flat /= len).0).collect();
        indices.reverse();
        Some(indices)
    }

    /// How far the neighbours of a point are, in its row and in the rows beside.
    fn spacing(&self, flat: usize, point: (f64, f64)) -> f64 {
        let to = |other: Option<usize>| {
            other.and_then(|other| self.at(other)).map_or(f64::INFINITY, |other| angle(other, point))
        };
        let both = |step: usize| to(flat.checked_sub(step)).min(to(flat.checked_add(step)));
        let beside = if let [.., _, columns] = *self.shape {
            both(usize::try_from(columns).unwrap_or(usize::MAX))
        } else {
            // Rows of different lengths: the nearest other parallel.
            let distances = self.coordinates.latitudes.iter().map(|latitude| (latitude - point.0).abs());
            distances.filter(|distance| *distance > 1e-6).fold(f64::INFINITY, f64::min)
        };
        let finite = |angle: f64| if angle.is_finite() { angle } else { 0.0 };
        finite(both(1)).max(finite(beside)) + 1e-9
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn points_find_their_neighbours() {
        // Two rows of different lengths.
        let coordinates = Coordinates {
            latitudes: vec![45.0, 45.0, 45.0, -45.0, -45.0],
            longitudes: vec![0.0, 120.0, 240.0, 0.0, 180.0],
        };
        let points = Points::new(coordinates, &[5]).unwrap();
        assert_eq!(points.nearest(40.0, 359.0), Some(vec![0]));
        assert_eq!(points.nearest(-30.0, -170.0), Some(vec![4]));
        assert_eq!(points.place(&[3]), Some((-45.0, 0.0)));
        let coordinates = Coordinates { latitudes: vec![1.0, 1.0, 2.0, 2.0], longitudes: vec![10.0, 11.0, 10.0, 11.0] };
        let small = Points::new(coordinates, &[2, 2]).unwrap();
        assert_eq!((small.nearest(2.2, 10.2), small.nearest(5.0, 10.0)), (Some(vec![1, 0]), None));
        assert_eq!(small.place(&[1, 1]), Some((2.0, 11.0)));
        assert_eq!((small.place(&[0, 2]), small.place(&[u64::MAX, 0]), small.place(&[1])), (None, None, None));
        assert_eq!(small.place(&[7, 1, 0]), Some((2.0, 10.0)));
    }

    #[test]
    fn points_are_as_many_as_values() {
        let one = Coordinates { latitudes: vec![1.0], longitudes: vec![1.0] };
        assert!(Points::new(one.clone(), &[2]).is_none() && Points::new(one.clone(), &[1 << 40, 1 << 40]).is_none());
        assert!(Points::new(one, &[]).is_some());
        let none = Points::new(Coordinates::default(), &[0, 3]).unwrap();
        assert_eq!((none.nearest(0.0, 0.0), none.place(&[0, 0])), (None, None));
    }
}
