//! Regular grids: rows of latitude and columns of longitude.

use crate::area::Area;
use crate::coordinates::Axes;

/// A regular grid: where its rows and columns are.
#[derive(Clone, Debug, PartialEq)]
pub struct RegularGrid {
    latitudes: Axis,
    longitudes: Axis,
    by_column: bool,
}

/// Degrees along a dimension.
#[derive(Clone, Debug, PartialEq)]
enum Axis {
    /// So many, evenly from the first one on.
    Even { first: f64, step: f64, count: u64 },
    /// Each by itself.
    Listed(Vec<f64>),
}

impl RegularGrid {
    /// The grid of the last two dimensions of `shape`, which are rows and columns. `None` if there are fewer.
    ///
    /// Its outer rows and columns lie on the bounds. In bounds that are a whole circle apart, the last column lies one step before it would meet
    /// the first one again.
    #[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
    pub fn new(shape: &[u64], area: Area) -> Option<Self> {
        let [.., rows, columns] = *shape else { return None };
        let width = area.east() - area.west();
        let is_circle = (width.abs() - 360.0).abs() < 1e-9;
        let across = width / if is_circle { columns.max(1) as f64 } else { columns.saturating_sub(1).max(1) as f64 };
        let found = Self::between(rows, columns, area);
        Some(Self { longitudes: Axis::Even { first: area.west(), step: across, count: columns }, ..found })
    }

    /// The grid whose outer rows and columns lie on the bounds, also where these are a whole circle apart.
    #[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
    pub(crate) fn between(rows: u64, columns: u64, area: Area) -> Self {
        let even = |first: f64, last: f64, count: u64| Axis::Even {
            first,
            step: (last - first) / count.saturating_sub(1).max(1) as f64,
            count,
        };
        Self {
            latitudes: even(area.north(), area.south(), rows),
            longitudes: even(area.west(), area.east(), columns),
            by_column: false,
        }
    }

    /// The grid with these latitudes of rows and longitudes of columns. Where values go on by column, the first dimension is the longitude.
    pub fn of_axes((latitudes, longitudes): Axes, by_column: bool) -> Self {
        Self { latitudes: Axis::Listed(latitudes), longitudes: Axis::Listed(longitudes), by_column }
    }

    /// Whether the first of its two dimensions is the longitude.
    pub const fn is_by_column(&self) -> bool {
        self.by_column
    }

    /// The number of rows of latitude.
    pub const fn rows(&self) -> u64 {
        self.latitudes.len()
    }

    /// The number of columns of longitude.
    pub const fn columns(&self) -> u64 {
        self.longitudes.len()
    }

    /// The latitude of a row, in degrees. Not a number for one that is not there.
    pub fn latitude(&self, row: u64) -> f64 {
        self.latitudes.at(row)
    }

    /// The longitude of a column, in degrees. Not a number for one that is not there.
    pub fn longitude(&self, column: u64) -> f64 {
        self.longitudes.at(column)
    }

    /// The latitudes of rows and the longitudes of columns. Takes 8 bytes for each.
    pub fn axes(&self) -> Axes {
        let all = |axis: &Axis| (0..axis.len()).map(|index| axis.at(index)).collect();
        (all(&self.latitudes), all(&self.longitudes))
    }

    /// The row and column that are nearest to a place. `None` for a place that is more than half a step outside.
    pub fn nearest(&self, latitude: f64, longitude: f64) -> Option<(u64, u64)> {
        Some((self.latitudes.nearest(latitude)?, self.longitudes.nearest_around(longitude)?))
    }

    /// The indices of its two dimensions that are nearest to a place. `None` for a place that is more than half a step outside.
    pub fn nearest_indices(&self, latitude: f64, longitude: f64) -> Option<[u64; 2]> {
        let (row, column) = self.nearest(latitude, longitude)?;
        Some(if self.by_column { [column, row] } else { [row, column] })
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
impl Axis {
    const fn len(&self) -> u64 {
        match self {
            Self::Even { count, .. } => *count,
            Self::Listed(all) => all.len() as u64,
        }
    }

    fn at(&self, index: u64) -> f64 {
        match self {
            Self::Even { first, step, .. } => first + step * index as f64,
            Self::Listed(all) => {
                usize::try_from(index).ok().and_then(|index| all.get(index)).copied().unwrap_or(f64::NAN)
            }
        }
    }

    fn nearest(&self, wanted: f64) -> Option<u64> {
        match self {
            Self::Even { first, step, count } => nearest((wanted - first) / step, *count),
            Self::Listed(all) => nearest_of(all, |label| (label - wanted).abs(), |one, other| (one - other).abs()),
        }
    }

    /// The same for longitudes, which a circle further are the same ones.
    fn nearest_around(&self, wanted: f64) -> Option<u64> {
        let (first, step, count) = match self {
            Self::Even { first, step, count } => (first, step, *count),
            Self::Listed(all) => return nearest_of(all, |label| around(label, wanted), around),
        };
        // The place may be given west of the first column, or more than a circle away.
        let places = [-720.0, -360.0, 0.0, 360.0, 720.0].map(|circle| (wanted + circle - first) / step);
        // In a circle, the first column is also one step after the last one.
        let is_behind = |place: &f64| step.abs() * count as f64 >= 360.0 - 1e-9 && (place - count as f64).abs() <= 0.5;
        let column = places.iter().find_map(|&place| nearest(place, count));
        column.or_else(|| places.iter().any(is_behind).then_some(0))
    }
}

/// Degrees between two longitudes, the shorter way.
fn around(one: f64, other: f64) -> f64 {
    let far = (one - other).abs() % 360.0;
    far.min(360.0 - far)
}

/// The whole number below `count` that is nearest to `place`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "in range")]
fn nearest(place: f64, count: u64) -> Option<u64> {
    let place = if place.is_nan() { 0.0 } else { place };
    let rounded = place.round();
    ((-0.5..=count as f64 - 0.5).contains(&place) && count > 0).then(|| (rounded.max(0.0) as u64).min(count - 1))
}

/// The index of the label that is least far. `None` for a place that is more than half a step beyond the ends.
fn nearest_of(labels: &[f64], far: impl Fn(f64) -> f64, between: impl Fn(f64, f64) -> f64) -> Option<u64> {
    let known = labels.iter().copied().enumerate().filter(|(_, label)| !label.is_nan());
    let (at, label) = known.min_by(|(_, a), (_, b)| far(*a).total_cmp(&far(*b)))?;
    let beside = [at.checked_sub(1), at.checked_add(1)];
    let steps = beside.into_iter().flatten().filter_map(|at| labels.get(at)).map(|other| between(*other, label));
    let step = steps.fold(None, |most: Option<f64>, step| Some(most.map_or(step, |most| most.max(step))));
    // A single label stands for the whole axis.
    step.is_none_or(|step| far(label) <= step * (0.5 + 1e-9)).then_some(at as u64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_listed_degrees_lies_within_half_a_step() {
        let of = |latitudes: &[f64], longitudes: &[f64], place: (f64, f64)| {
            RegularGrid::of_axes((latitudes.to_vec(), longitudes.to_vec()), false).nearest(place.0, place.1)
        };
        let globe = [0.0, 90.0, 180.0, 270.0];
        assert_eq!(of(&[60.0, 50.0, 40.0], &globe, (64.0, -40.0)), Some((0, 0)));
        assert_eq!(of(&[60.0, 50.0, 40.0], &globe, (66.0, 0.0)), None);
        assert_eq!((of(&[7.0], &[0.0, 10.0], (1.0, 350.0)), of(&[7.0], &[5.0], (1.0, 350.0))), (None, Some((0, 0))));
        assert_eq!((of(&[], &globe, (0.0, 0.0)), of(&[7.0], &[], (0.0, 0.0))), (None, None));
        // A last column that is the first one again.
        let closed: Vec<f64> = (0..=36).map(|column| f64::from(column) * 10.0).collect();
        assert_eq!(
            (of(&[0.0], &closed, (0.0, 342.0)), of(&[0.0], &closed, (0.0, -714.0))),
            (Some((0, 34)), Some((0, 1)))
        );
    }

    #[test]
    fn where_values_go_on_by_column_the_first_index_is_the_longitude() {
        let grid = RegularGrid::of_axes((vec![10.0, 0.0], vec![5.0, 6.0, 7.0]), true);
        assert_eq!((grid.nearest_indices(1.0, 7.2), grid.rows(), grid.columns()), (Some([2, 1]), 2, 3));
    }

    #[test]
    fn points_find_their_cells() {
        let area: Area = "90/0/-90/359".parse().unwrap();
        let grid = RegularGrid::new(&[2, 181, 360], area).unwrap();
        assert_eq!(grid.nearest(90.0, 0.0), Some((0, 0)));
        assert_eq!(grid.nearest(-0.4, 10.4), Some((90, 10)));
        assert_eq!(grid.nearest(50.6, -1.0), Some((39, 359)));
        assert_eq!(grid.nearest(50.6, 359.7), Some((39, 0)));
        assert_eq!((grid.latitude(90), grid.longitude(359)), (0.0, 359.0));
        assert_eq!(grid.nearest(91.0, 0.0), None);
        let globe = RegularGrid::new(&[3, 4], Area::GLOBE).unwrap();
        assert_eq!((globe.latitude(1), globe.longitude(3)), (0.0, 270.0));
        let part = RegularGrid::new(&[3, 5], "60,-10,40,10".parse().unwrap()).unwrap();
        assert_eq!((part.nearest(50.0, 355.0), part.nearest(50.0, 180.0)), (Some((1, 1)), None));
        assert!("1/2/3".parse::<Area>().is_err() && "a/0/0/0".parse::<Area>().is_err());
        assert!(RegularGrid::new(&[5], Area::GLOBE).is_none());
    }
}
