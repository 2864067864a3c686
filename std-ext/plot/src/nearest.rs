//! The points of a grid that are nearest to places, and how far a grid goes.

use std::collections::BTreeSet;

use crate::bounds::Bounds;
use crate::tree::{Place, Tree};

/// Points of a grid, in degrees.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// Degrees north.
    pub latitudes: Vec<f64>,
    /// Degrees east, as many.
    pub longitudes: Vec<f64>,
    /// The length of a row, if they are in rows of one length.
    pub columns: Option<usize>,
}

impl Points {
    /// Latitude and longitude of each.
    pub fn places(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.latitudes.iter().copied().zip(self.longitudes.iter().copied())
    }
}

/// Degrees between points at most, so that places between them belong to the grid.
const FARTHEST: f64 = 30.0;

/// Points of a grid, to be searched by places.
#[derive(Debug)]
pub struct Nearest {
    /// The points on a sphere of radius 1.
    on_sphere: Vec<Place>,
    /// The points that have a place.
    tree: Tree,
    /// How far the grid goes beyond each point, as a chord of the sphere.
    reaches: Vec<f32>,
    farthest: f64,
    /// The length of a row, if points are in rows of one length.
    row: Option<usize>,
}

#[expect(clippy::cast_possible_truncation, reason = "a sphere with seven digits")]
fn on_sphere((latitude, longitude): (f64, f64)) -> Place {
    let ((sin_lat, cos_lat), (sin_lon, cos_lon)) = (latitude.to_radians().sin_cos(), longitude.to_radians().sin_cos());
    [(cos_lat * cos_lon) as f32, (cos_lat * sin_lon) as f32, sin_lat as f32]
}

fn chord(a: &Place, b: &Place) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}

fn minus(one: &Place, other: &Place) -> Place {
    let ([x, y, z], [other_x, other_y, other_z]) = (one, other);
    [x - other_x, y - other_y, z - other_z]
}

fn dot(a: &Place, b: &Place) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A chord as an angle in degrees, and back.
fn degrees_of(chord: f32) -> f64 {
    (f64::from(chord) / 2.0).min(1.0).asin().to_degrees() * 2.0
}

#[expect(clippy::cast_possible_truncation, reason = "a sphere with seven digits")]
fn chord_of(degrees: f64) -> f32 {
    (2.0 * (degrees / 2.0).to_radians().sin()) as f32
}

impl Nearest {
    /// `None` without points that have a place.
    pub fn new(points: &Points) -> Option<Self> {
        let has_place =
            |(_, (latitude, longitude)): &(usize, (f64, f64))| latitude.abs() <= 90.0 && longitude.is_finite();
        let placed = points.places().enumerate().filter(has_place);
        placed.clone().next()?;
        let mut found = Self {
            on_sphere: points.places().map(on_sphere).collect(),
            tree: Tree::new(placed.map(|(point, place)| (point, on_sphere(place)))),
            reaches: Vec::new(),
            farthest: 0.0,
            row: points.columns,
        };
        found.reaches = found.reaches_of(points);
        found.farthest = degrees_of(found.reaches.iter().copied().fold(0.0, f32::max));
        Some(found)
    }

    /// The point that is nearest to a place, and its distance as a chord: at most `most` degrees far, and another than `but`.
    fn find(&self, place: (f64, f64), most: f64, but: Option<usize>) -> Option<(usize, f32)> {
        self.tree.nearest(&on_sphere(place), chord_of(most.min(180.0)), but)
    }

    /// The point that is nearest to a place, if the grid goes that far.
    pub fn within_reach(&self, latitude: f64, longitude: f64) -> Option<usize> {
        let (point, far) = self.find((latitude, longitude), self.farthest, None)?;
        let is_near = self.reaches.get(point).is_some_and(|reach| far <= *reach);
        let place = on_sphere((latitude, longitude));
        (is_near && self.row.is_none_or(|columns| self.is_within_edges(point, columns, &place))).then_some(point)
    }

    /// How far the grid goes beyond each point. Within a grid every place is nearer to a point than that.
    fn reaches_of(&self, points: &Points) -> Vec<f32> {
        let cap = |reach: f32| reach.min(chord_of(FARTHEST));
        if let Some(columns) = points.columns {
            return (0..self.on_sphere.len()).map(|point| cap(self.reach_in_rows(point, columns))).collect();
        }
        if let Some(parallels) = parallels(&points.latitudes) {
            // Rows of different lengths, in which points are nearer than rows.
            let reach = |latitude: f64| chord_of((1.1 * gap(&parallels, latitude)).min(FARTHEST));
            let mut before = (f64::NAN, 0.0);
            let along_rows = points.latitudes.iter().map(|latitude| {
                if before.0.to_bits() != latitude.to_bits() {
                    before = (*latitude, reach(*latitude));
                }
                before.1
            });
            return along_rows.collect();
        }
        let to_next = |(point, place)| self.find(place, FARTHEST, Some(point)).map_or(0.0, |(_, far)| cap(2.0 * far));
        points.places().enumerate().map(to_next).collect()
    }

    /// Whether a place near a point at the edge of a grid of rows lies no more than half a cell beyond it.
    fn is_within_edges(&self, point: usize, columns: usize, place: &Place) -> bool {
        let column = point % columns;
        let neighbours = [
            (point.checked_sub(1).filter(|_| column > 0), Some(point + 1).filter(|_| column + 1 < columns)),
            (point.checked_sub(columns), Some(point + columns).filter(|next| *next < self.on_sphere.len())),
        ];
        let at = |point: usize| self.on_sphere.get(point);
        let Some(own) = at(point) else { return false };
        // From the point before to the one after, as one step.
        let step = |(before, behind): (Option<usize>, Option<usize>)| -> Place {
            match (before.and_then(at), behind.and_then(at)) {
                (Some(before), Some(behind)) => minus(behind, before).map(|part| part / 2.0),
                (Some(before), None) => minus(own, before),
                (None, Some(behind)) => minus(behind, own),
                (None, None) => [0.0; 3],
            }
        };
        let [along, across] = neighbours.map(step);
        let beyond = minus(place, own);
        // How many steps the place lies along the row and across it.
        let determinant = dot(&along, &along) * dot(&across, &across) - dot(&along, &across).powi(2);
        if determinant <= 0.0 {
            return true;
        }
        let (of_along, of_across) = (dot(&beyond, &along), dot(&beyond, &across));
        let steps = [
            (of_along * dot(&across, &across) - of_across * dot(&along, &across)) / determinant,
            (of_across * dot(&along, &along) - of_along * dot(&along, &across)) / determinant,
        ];
        steps.iter().zip(neighbours).all(|(steps, (before, behind))| {
            (before.is_some() || *steps >= -0.5) && (behind.is_some() || *steps <= 0.5)
        })
    }

    /// Half of the diagonal between the neighbours of a point, and a little.
    fn reach_in_rows(&self, point: usize, columns: usize) -> f32 {
        let at = |other: Option<usize>| other.and_then(|other| self.on_sphere.get(other));
        let Some(own) = self.on_sphere.get(point) else { return 0.0 };
        let to = |other: Option<usize>| at(other).map_or(0.0, |other| chord(own, other));
        let column = point % columns;
        let beside =
            to(point.checked_sub(1).filter(|_| column > 0)).max(to(Some(point + 1).filter(|_| column + 1 < columns)));
        let above = to(point.checked_sub(columns)).max(to(point.checked_add(columns)));
        0.55 * beside.hypot(above)
    }

    /// The part of the globe that the grid covers.
    pub fn bounds(&self, points: &Points) -> Option<Bounds> {
        let (west, east) = longitudes(points)?;
        let (south, north) = latitudes(points)?;
        let (mut reaches, middle) = (self.reaches.clone(), self.reaches.len() / 2);
        if reaches.is_empty() {
            return None;
        }
        let (_, reach, _) = reaches.select_nth_unstable_by(middle, f32::total_cmp);
        let margin = (degrees_of(*reach) * 0.75).max(0.01);
        let (north, south) = ((north + margin).min(90.0), (south - margin).max(-90.0));
        if east - west >= 360.0 {
            return Some(Bounds { west: -180.0, east: 180.0, north, south });
        }
        let wide = margin / f64::midpoint(north, south).to_radians().cos().max(0.2);
        let (west, east) = (west - wide, (east + wide).min(west - wide + 360.0));
        let turns = 360.0 * ((f64::midpoint(west, east) + 180.0) / 360.0).floor();
        Some(Bounds { west: west - turns, east: east - turns, north, south })
    }
}

/// The least and the greatest latitude.
fn latitudes(points: &Points) -> Option<(f64, f64)> {
    let all = points.latitudes.iter().copied().filter(|latitude| latitude.abs() <= 90.0);
    all.fold(None, |found, latitude| {
        Some(found.map_or((latitude, latitude), |(low, high): (f64, f64)| (low.min(latitude), high.max(latitude))))
    })
}

/// Parts of the circle of longitudes that have points or have none: a quarter of a degree each.
const PARTS: usize = 1440;

/// The longitudes after and before the widest gap. They differ by 360 if points are all around.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few parts")]
fn longitudes(points: &Points) -> Option<(f64, f64)> {
    let part_of = |longitude: f64| ((longitude / 360.0 * PARTS as f64) as usize).min(PARTS - 1);
    let all = || points.longitudes.iter().filter(|it| it.is_finite()).map(|it| it.rem_euclid(360.0));
    let mut has_points = [false; PARTS];
    for longitude in all() {
        if let Some(part) = has_points.get_mut(part_of(longitude)) {
            *part = true;
        }
    }
    // The first part after each gap, with the length of the gap, the widest one first.
    let first = has_points.iter().position(|has| *has)?;
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    let mut empty = 0;
    for part in (first + 1..=first + PARTS).map(|part| part % PARTS) {
        if has_points.get(part) == Some(&true) {
            gaps.push((empty, part));
            empty = 0;
        } else {
            empty += 1;
        }
    }
    gaps.sort_by_key(|(empty, _)| std::cmp::Reverse(*empty));
    let (widest, part) = *gaps.first()?;
    let next = gaps.get(1).map_or(0, |gap| gap.0);
    // Exactly, from the part after the gap on.
    let start = part as f64 / PARTS as f64 * 360.0;
    let along = all().map(|longitude| {
        let along = longitude - start;
        if part_of(longitude) < part { along + 360.0 } else { along }
    });
    let (west, east) = along.fold((f64::MAX, f64::MIN), |(west, east), it| (west.min(it), east.max(it)));
    // A gap of a few degrees, or one that is not much wider than others, is none.
    let is_around = gaps.len() > 1 && (2 * widest <= 3 * (next + 1) || 360 * widest < 3 * PARTS);
    Some((start + west, start + if is_around { west + 360.0 } else { east }))
}

/// The different latitudes, in order, if points lie on few of them.
fn parallels(latitudes: &[f64]) -> Option<Vec<f64>> {
    // Millionths of a degree.
    #[expect(clippy::cast_possible_truncation, reason = "at most 90 million")]
    let rounded = |latitude: f64| (latitude * 1e6).round() as i64;
    let mut different = BTreeSet::new();
    let mut before = None;
    for latitude in latitudes.iter().copied().filter(|latitude| latitude.is_finite()) {
        // Points of a row follow each other.
        if before != Some(latitude.to_bits())
            && different.insert(rounded(latitude))
            && different.len() * 3 > latitudes.len()
        {
            return None;
        }
        before = Some(latitude.to_bits());
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 90 million")]
    let degrees = different.iter().map(|rounded| *rounded as f64 / 1e6).collect();
    (different.len() > 1).then_some(degrees)
}

/// Degrees to the parallel beside, the farther one.
fn gap(parallels: &[f64], latitude: f64) -> f64 {
    let at = parallels.partition_point(|parallel| *parallel < latitude - 1e-6);
    let to =
        |other: Option<usize>| other.and_then(|at| parallels.get(at)).map_or(0.0, |other| (other - latitude).abs());
    to(at.checked_sub(1)).max(to(at.checked_add(1)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few points")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nearest_point_is_the_nearest_of_all(
            places in proptest::collection::vec((-90.0..=90.0, -180.0..540.0), 1..60),
            latitude in -90.0..=90.0,
            longitude in -180.0..540.0,
        ) {
            let (latitudes, longitudes) = places.iter().copied().unzip();
            let points = Points { latitudes, longitudes, columns: None };
            let nearest = Nearest::new(&points).unwrap();
            let wanted = on_sphere((latitude, longitude));
            let least = places.iter().map(|place| chord(&on_sphere(*place), &wanted)).fold(f32::MAX, f32::min);
            let (_, found) = nearest.find((latitude, longitude), 180.0, None).unwrap();
            prop_assert!((found - least).abs() < 1e-6, "{} {}", found, least);
            // Places that are far from all points are not in the grid.
            let far = degrees_of(least) > FARTHEST + 1.0;
            prop_assert!(!far || nearest.within_reach(latitude, longitude).is_none());
        }
    }

    #[test]
    fn a_grid_of_rows_ends_half_a_cell_behind_its_points() {
        let at = |row: usize, column: usize| (50.0 + row as f64, 10.0 + column as f64 + 0.2 * row as f64);
        let (latitudes, longitudes) = (0..12).map(|point| at(point / 4, point % 4)).unzip();
        let points = Points { latitudes, longitudes, columns: Some(4) };
        let nearest = Nearest::new(&points).unwrap();
        let is_in = |latitude: f64, longitude: f64| nearest.within_reach(latitude, longitude).is_some();
        assert!(
            [(50.0, 9.6), (49.6, 10.0), (52.4, 11.0), (51.3, 11.9), (52.0, 13.8)].iter().all(|it| is_in(it.0, it.1))
        );
        assert!(
            ![(50.0, 9.4), (49.4, 10.0), (52.6, 11.0), (52.0, 14.0), (0.0, 0.0)].iter().any(|it| is_in(it.0, it.1))
        );
    }

    #[test]
    fn rows_of_different_lengths_leave_no_hole() {
        // Rows as far apart as 10 degrees, with points as far apart as that.
        let row = |latitude: f64| {
            let count = (36.0 * latitude.to_radians().cos()).round().max(4.0) as usize;
            (0..count).map(move |point| (latitude, 360.0 * point as f64 / count as f64))
        };
        let (latitudes, longitudes) = (0..18).flat_map(|number| row(85.0 - 10.0 * f64::from(number))).unzip();
        let points = Points { latitudes, longitudes, columns: None };
        let nearest = Nearest::new(&points).unwrap();
        let bounds = nearest.bounds(&points).unwrap();
        assert_eq!(bounds, Bounds { west: -180.0, east: 180.0, north: 90.0, south: -90.0 });
        for latitude in -90..=90 {
            assert!(
                (0..360).all(|longitude| nearest.within_reach(f64::from(latitude), f64::from(longitude)).is_some()),
                "{latitude}"
            );
        }
    }

    #[test]
    fn bounds_are_where_the_points_are() {
        let bounds = |places: &[(f64, f64)]| {
            let (latitudes, longitudes) = places.iter().copied().unzip();
            let points = Points { latitudes, longitudes, columns: None };
            Nearest::new(&points).and_then(|nearest| nearest.bounds(&points)).unwrap()
        };
        // Across 0, across 180, and around the pole.
        let greenwich = bounds(&[(50.0, 358.0), (51.0, 359.0), (50.0, 0.0), (51.0, 1.0)]);
        assert!(
            greenwich.west < -2.0 && greenwich.west > -5.0 && greenwich.east > 1.0 && greenwich.east < 4.0,
            "{greenwich:?}"
        );
        let dateline = bounds(&[(0.0, 178.0), (1.0, 179.0), (0.0, -178.0), (1.0, -177.0)]);
        assert!(dateline.west > -186.0 && dateline.west < -182.0 && dateline.east < -173.0, "{dateline:?}");
        let pole = bounds(&[(80.0, 0.0), (80.0, 90.0), (80.0, 180.0), (80.0, 270.0)]);
        assert_eq!((pole.west, pole.east), (-180.0, 180.0));
        let none = Points { latitudes: vec![f64::NAN], longitudes: vec![0.0], columns: None };
        assert!(Nearest::new(&none).is_none());
    }
}
