//! Statistics in which values count by the areas that they stand for.
//!
//! Rows of latitude are reduced by themselves first, each with equal weights. Then each row counts by the area of its band, so that this
//! takes no more memory than [`Dataset::reduce`] does.

use std::collections::BTreeMap;

use tgm_std::{DecodeOptions, Result};

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::{Indices, flat};
use crate::label::Real;
use crate::model::{Coordinate, Values};
use crate::reduce::{Reduced, Statistic};

/// Statistics of a variable over some of its dimensions, weighted by area.
#[derive(Clone, Debug)]
pub struct Weighted {
    /// The dimensions that are left.
    pub dims: Vec<String>,
    /// Their lengths. Row-major.
    pub shape: Vec<u64>,
    places: Vec<Place>,
    /// Whether the extremes of places are whole numbers of 64 bits.
    has_integers: bool,
}

/// What is known of a place of the result.
#[derive(Clone, Copy, Debug)]
struct Place {
    count: f64,
    /// The sum of the weights of all values.
    weight: f64,
    /// Weighted: the sum, and later the mean.
    mean: f64,
    /// Weighted: the sum of squares of distances from the mean.
    squares: f64,
    min: f64,
    max: f64,
    /// The same, of whole numbers of 64 bits.
    least: Option<i128>,
    greatest: Option<i128>,
}

impl Weighted {
    /// The values of a statistic, row-major. Mean and deviation are weighted, and NaN without a value; counts and extremes are
    /// of the values alone. `None` for sums, which weights have no meaning for.
    pub fn values(&self, statistic: Statistic) -> Option<Vec<f64>> {
        let known = |value: f64, place: &Place| if place.count > 0.0 { value } else { f64::NAN };
        let value: fn(&Place) -> f64 = match statistic {
            Statistic::Count => return Some(self.places.iter().map(|place| place.count).collect()),
            Statistic::Sum => return None,
            Statistic::Mean => |place| place.mean,
            Statistic::Min => |place| place.min,
            Statistic::Max => |place| place.max,
            Statistic::Std => |place| (place.squares / place.weight).sqrt(),
        };
        Some(self.places.iter().map(|place| known(value(place), place)).collect())
    }

    /// The extremes of whole numbers of 64 bits, as [`Reduced::integers`] has them.
    pub fn integers(&self, statistic: Statistic) -> Option<Vec<Option<i128>>> {
        let value: fn(&Place) -> Option<i128> = match statistic {
            Statistic::Min => |place| place.least,
            Statistic::Max => |place| place.greatest,
            _ => return None,
        };
        self.has_integers.then(|| self.places.iter().map(value).collect())
    }
}

/// Whole numbers of 64 bits, or nothing where there is no value.
type Integers = Vec<Option<i128>>;

/// The rows of a variable: statistics of each, and what it weighs.
struct Rows {
    dims: Vec<String>,
    shape: Vec<u64>,
    count: Vec<f64>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
    /// The extremes of each as whole numbers of 64 bits, if they are such.
    integers: Option<(Integers, Integers)>,
    /// The dimensions of latitudes, and their lengths, as weights lie along them.
    of_weights: Vec<(String, u64)>,
    weights: Vec<f64>,
}

impl Dataset {
    /// Statistics as [`Self::reduce`] has them, where each value counts by the area that it stands for: the band between two rows
    /// of latitude, which the values of a row share, or the cosine of its latitude where there are no rows.
    ///
    /// # Errors
    /// The errors of [`Self::reduce`]; [`tgm_std::TensogramError::Metadata`] for a variable without latitudes, and if `over` does not
    /// have their dimensions.
    pub fn reduce_weighted(
        &self,
        variable: &str,
        indices: &[Indices],
        over: &[&str],
        options: &DecodeOptions,
    ) -> Result<Weighted> {
        let known = self.known(variable)?;
        let name = &known.name;
        let without = || bad(format!("{name}: no coordinates say where its values are"));
        let (latitudes, longitudes) = self.positions(name)?.ok_or_else(without)?;
        if let Some(dim) = latitudes.dims.iter().find(|dim| !over.contains(&dim.as_str())) {
            return Err(bad(format!("{name}: areas weigh along {dim}, which is not among the dimensions")));
        }
        let lens = latitudes.dims.iter().map(|dim| {
            let at = known.dims.iter().position(|of| of == dim);
            at.and_then(|at| Some((*known.shape.get(at)?, indices.get(at)?.clone()))).ok_or_else(without)
        });
        let (lens, picks): (Vec<u64>, Vec<Indices>) = lens.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let all = weights(&latitudes, latitudes.dims != longitudes.dims).ok_or_else(without)?;
        let weights = flat(&lens, &picks)?.into_iter().map(|at| all.get(at).copied().ok_or_else(without));
        let weights = weights.collect::<Result<Vec<f64>>>()?;
        let of_weights: Vec<(String, u64)> =
            latitudes.dims.iter().cloned().zip(picks.iter().map(Indices::count)).collect();
        let rest: Vec<&str> = over.iter().copied().filter(|dim| !latitudes.dims.iter().any(|of| of == dim)).collect();
        let kept = known.dims.iter().zip(indices).map(|(dim, pick)| match pick {
            // A single row has a weight too.
            Indices::Index(index) if latitudes.dims.contains(dim) => Indices::List(vec![*index]),
            pick => pick.clone(),
        });
        let kept: Vec<Indices> = kept.collect();
        let statistics = [Statistic::Count, Statistic::Mean, Statistic::Min, Statistic::Max, Statistic::Std];
        let reduced = self.reduce(name, &kept, &rest, &statistics, options)?;
        Rows::new(reduced, of_weights, weights).fold()
    }
}

impl Rows {
    fn new(reduced: Reduced, of_weights: Vec<(String, u64)>, weights: Vec<f64>) -> Self {
        Self {
            count: reduced.values(Statistic::Count),
            mean: reduced.values(Statistic::Mean),
            deviation: reduced.values(Statistic::Std),
            min: reduced.values(Statistic::Min),
            max: reduced.values(Statistic::Max),
            integers: reduced.integers(Statistic::Min).zip(reduced.integers(Statistic::Max)),
            dims: reduced.dims,
            shape: reduced.shape,
            of_weights,
            weights,
        }
    }

    /// How far the places of a list are apart that has these dimensions, one for each dimension of the rows. 0 for others.
    fn strides(&self, dims: &[(String, u64)]) -> Result<Vec<u64>> {
        let behind = |at: usize| dims.iter().skip(at + 1).try_fold(1_u64, |all, (_, len)| all.checked_mul(*len));
        let stride = |dim: &String| dims.iter().position(|(of, _)| of == dim).map_or(Some(0), behind);
        self.dims.iter().map(stride).collect::<Option<_>>().ok_or_else(|| bad("too many places"))
    }

    /// The statistics without the dimensions of the weights.
    fn fold(self) -> Result<Weighted> {
        let is_left = |dim: &String| !self.of_weights.iter().any(|(of, _)| of == dim);
        let left: Vec<(String, u64)> =
            self.dims.iter().cloned().zip(self.shape.iter().copied()).filter(|(dim, _)| is_left(dim)).collect();
        let (to_place, to_weight) = (self.strides(&left)?, self.strides(&self.of_weights)?);
        let count = left.iter().try_fold(1_u64, |all, (_, len)| all.checked_mul(*len));
        let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(|| bad("too many places"))?;
        let none = Place {
            count: 0.0,
            weight: 0.0,
            mean: 0.0,
            squares: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            least: None,
            greatest: None,
        };
        let mut places = vec![none; count];
        // Once for the means, and once for the distances from them.
        for is_first in [true, false] {
            for row in 0..self.count.len() {
                let weight = self.at(row, &to_weight).and_then(|at| self.weights.get(at)).copied();
                let weight = weight.ok_or_else(|| bad("a row has no weight"))?;
                let place = self.at(row, &to_place).and_then(|at| places.get_mut(at));
                let place = place.ok_or_else(|| bad("a row has no place in the result"))?;
                self.add(row, weight, place, is_first).ok_or_else(|| bad("a row lacks a statistic"))?;
            }
            if is_first {
                for place in &mut places {
                    place.mean /= place.weight;
                }
            }
        }
        let (dims, shape) = left.into_iter().unzip();
        Ok(Weighted { dims, shape, places, has_integers: self.integers.is_some() })
    }

    /// Where the values of a row lie in a list with these strides. `None` beyond what this machine counts.
    fn at(&self, row: usize, strides: &[u64]) -> Option<usize> {
        let (mut left, mut found) = (row as u64, 0_u64);
        for (len, stride) in self.shape.iter().zip(strides).rev() {
            found = found.checked_add((left % (*len).max(1)).checked_mul(*stride)?)?;
            left /= (*len).max(1);
        }
        usize::try_from(found).ok()
    }

    /// Adds a row to its place. `None` if a statistic of the row is not there.
    fn add(&self, row: usize, weight: f64, place: &mut Place, is_first: bool) -> Option<()> {
        let of = |list: &[f64]| list.get(row).copied();
        let (count, mean) = (of(&self.count)?, of(&self.mean)?);
        if count == 0.0 {
            return Some(());
        }
        if is_first {
            place.count += count;
            place.weight += weight * count;
            place.mean += weight * count * mean;
            place.min = place.min.min(of(&self.min)?);
            place.max = place.max.max(of(&self.max)?);
            if let Some((least, greatest)) = &self.integers {
                let of = |list: &Integers| list.get(row).copied();
                place.least = place.least.into_iter().chain(of(least)?).min();
                place.greatest = place.greatest.max(of(greatest)?);
            }
        } else {
            place.squares += weight * count * (of(&self.deviation)?.powi(2) + (mean - place.mean).powi(2));
        }
        Some(())
    }
}

/// The weights of latitudes: of rows, or of points. `None` if they are not numbers.
fn weights(latitudes: &Coordinate, are_rows: bool) -> Option<Vec<f64>> {
    #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
    let degrees: Vec<f64> = match &latitudes.values {
        Values::Floats(numbers) => numbers.clone(),
        Values::Integers(numbers) => numbers.iter().map(|number| *number as f64).collect(),
        _ => return None,
    };
    Some(area_weights(&degrees, are_rows))
}

/// What a value weighs at each of these latitudes: of rows, whose values are alike, or of points.
///
/// A row weighs as the band around it: up to the middle between two rows, and to the poles. Points of one latitude share its band, where
/// latitudes have three points at least on average. Other points, and rows that do not go from one pole to the other, weigh as the cosine
/// of their latitude.
pub fn area_weights(degrees: &[f64], are_rows: bool) -> Vec<f64> {
    let cosine = |degree: &f64| degree.to_radians().cos().max(0.0);
    if are_rows {
        return bands(degrees).unwrap_or_else(|| degrees.iter().map(cosine).collect());
    }
    let mut rows: BTreeMap<Real, f64> = BTreeMap::new();
    for degree in degrees {
        *rows.entry(Real(*degree)).or_default() += 1.0;
    }
    let parallels: Vec<f64> = rows.keys().map(|row| row.0).collect();
    match bands(&parallels).filter(|_| parallels.len() * 3 <= degrees.len()) {
        Some(bands) => {
            for (count, band) in rows.values_mut().zip(bands) {
                *count = band / *count;
            }
            degrees.iter().filter_map(|degree| rows.get(&Real(*degree)).copied()).collect()
        }
        None => degrees.iter().map(cosine).collect(),
    }
}

/// The areas of the bands around rows of latitude. They meet in the middle between two rows, and end at the poles. `None` for latitudes
/// that neither rise nor fall, and for a single one.
fn bands(latitudes: &[f64]) -> Option<Vec<f64>> {
    let is_ordered = |sign: f64| latitudes.array_windows().all(|[a, b]| (b - a) * sign > 0.0);
    if latitudes.len() < 2 || !(is_ordered(1.0) || is_ordered(-1.0)) {
        return None;
    }
    let at = |at: usize| latitudes.get(at).copied();
    let between = |a: f64, b: f64| f64::midpoint(a, b).clamp(-90.0, 90.0).to_radians().sin();
    let band = |row: usize| {
        let own = at(row)?;
        let (before, behind) = (row.checked_sub(1).and_then(at), at(row + 1));
        // The first and the last band go as far to the other side.
        let before_or = before.or_else(|| Some(2.0 * own - behind?))?;
        let behind_or = behind.or_else(|| Some(2.0 * own - before?))?;
        Some((between(own, behind_or) - between(before_or, own)).abs())
    };
    (0..latitudes.len()).map(band).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_the_globe() {
        for latitudes in
            [vec![-90.0, -45.0, 0.0, 45.0, 90.0], vec![67.5, 22.5, -22.5, -67.5], vec![60.0, 0.0, -80.0, -85.0]]
        {
            let sum: f64 = bands(&latitudes).unwrap().iter().sum();
            assert!((sum - 2.0).abs() < 0.06, "{sum}");
        }
        assert_eq!((bands(&[1.0]), bands(&[1.0, 1.0]), bands(&[1.0, 3.0, 2.0])), (None, None, None));
        // Two rows have the same band if they are as far from the equator.
        let bands = bands(&[50.0, 40.0, -40.0, -50.0]).unwrap();
        assert!((bands[0] - bands[3]).abs() < 1e-15 && bands[1] > bands[0]);
    }

    #[test]
    fn the_points_of_a_row_share_its_band() {
        let coordinate =
            |values| Coordinate { name: "lat".into(), dims: vec!["x".into()], values, attributes: Vec::new() };
        let degrees = [60.0, 60.0, 0.0, 0.0, 0.0, 0.0, -60.0, -60.0, -60.0];
        let found = weights(&coordinate(Values::Floats(degrees.to_vec())), false).unwrap();
        let bands = bands(&[60.0, 0.0, -60.0]).unwrap();
        let expected = [(0, 2.0), (0, 2.0), (1, 4.0), (1, 4.0), (1, 4.0), (1, 4.0), (2, 3.0), (2, 3.0), (2, 3.0)];
        let expected: Vec<f64> = expected.iter().map(|(row, count)| bands[*row] / count).collect();
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?} {expected:?}");
        assert_eq!(weights(&coordinate(Values::Texts(Vec::new())), true), None);
    }
}
