//! Values of the globe in rows and columns of equal steps of latitude and longitude: north is up, and west is left.

use crate::bounds::Bounds;
use crate::field::Field;
use crate::nearest::{Nearest, Points};

/// Values in rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Rows of values, from north to south.
    pub field: Field,
    /// Its edges.
    pub bounds: Bounds,
    /// 1 where the grid is, NaN outside of it. `None` if the grid is everywhere.
    pub inside: Option<Field>,
}

/// Rows or columns of the longer side of a raster of points: no picture has more.
const SIDE: usize = 720;

impl Raster {
    /// The values of a grid of rows, each with its latitude, and columns, each with its longitude. `None` if these are not degrees.
    pub fn of_axes(latitudes: &[f64], longitudes: &[f64], values: Vec<f64>) -> Option<Self> {
        if latitudes.iter().chain(longitudes).any(|degree| !degree.is_finite()) || latitudes.is_empty() {
            return None;
        }
        let (rows, columns) = (latitudes.len(), longitudes.len());
        let field = Field::new(rows, columns, values)?;
        let row_order = |row: usize| if latitudes.first() < latitudes.last() { rows - 1 - row } else { row };
        let north_to_south: Vec<f64> = (0..rows).filter_map(|row| latitudes.get(row_order(row))).copied().collect();
        let even = Even::of(&north_to_south.iter().map(|latitude| -latitude).collect::<Vec<_>>());
        let columns_of = west_to_east(longitudes);
        let (Some(vertical), Some((column_order, horizontal))) = (even, columns_of) else {
            let place = |at: usize| Some((*latitudes.get(at / columns)?, *longitudes.get(at % columns)?));
            let (latitudes, longitudes) = (0..rows * columns).filter_map(place).unzip();
            let values: Vec<f64> = field.cells().map(|value| value.unwrap_or(f64::NAN)).collect();
            return Self::of_points(&Points { latitudes, longitudes, columns: Some(columns) }, &values);
        };
        let cell = |row: usize, column: usize| field.get(row_order(row), column).unwrap_or(f64::NAN);
        let ordered = (0..rows).flat_map(|row| column_order.iter().map(move |column| cell(row, *column))).collect();
        let (north, south) = vertical.edges();
        let (west, east) = horizontal.edges();
        // Around the globe there is nothing beyond.
        let bounds = Bounds { west, east: east.min(west + 360.0), north: -north, south: -south };
        Some(Self { field: Field::new(rows, column_order.len(), ordered)?, bounds, inside: None })
    }

    /// The values of points: in each cell the mean of the points in it, or the value of the nearest point, as far as the grid goes.
    /// `None` without points that have a place.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few cells"
    )]
    pub fn of_points(points: &Points, values: &[f64]) -> Option<Self> {
        let nearest = Nearest::new(points)?;
        let bounds = nearest.bounds(points)?;
        let (width, height) = bounds.size();
        let scale = SIDE as f64 / width.max(height);
        let cells = |degrees: f64| ((degrees * scale).round() as usize).clamp(1, SIDE);
        let (columns, rows) = (cells(width), cells(height));
        let (mut sums, mut counts, mut seen) =
            (vec![0.0; rows * columns], vec![0_u32; rows * columns], vec![false; rows * columns]);
        for ((latitude, longitude), value) in points.places().zip(values) {
            let longitude = bounds.west + (longitude - bounds.west).rem_euclid(360.0);
            let (x, y) = bounds.share((longitude, latitude));
            if !((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)) {
                continue;
            }
            let at = |share: f64, count: usize| ((share * count as f64) as usize).min(count - 1);
            let cell = at(y, rows) * columns + at(x, columns);
            if let (Some(sum), Some(count), Some(seen)) = (sums.get_mut(cell), counts.get_mut(cell), seen.get_mut(cell))
            {
                *seen = true;
                if value.is_finite() {
                    *sum += value;
                    *count += 1;
                }
            }
        }
        let mut inside = vec![1.0; rows * columns];
        let (mut drawn, mut is_whole) = (Vec::with_capacity(rows * columns), true);
        for (cell, inside) in inside.iter_mut().enumerate() {
            let (row, column) = (cell / columns, cell % columns);
            if seen.get(cell) == Some(&true) {
                let (sum, count) = sums.get(cell).zip(counts.get(cell))?;
                drawn.push(if *count > 0 { sum / f64::from(*count) } else { f64::NAN });
                continue;
            }
            let latitude = bounds.north - (row as f64 + 0.5) / rows as f64 * height;
            let longitude = bounds.west + (column as f64 + 0.5) / columns as f64 * width;
            let point = nearest.within_reach(latitude, longitude);
            if point.is_none() {
                (*inside, is_whole) = (f64::NAN, false);
            }
            drawn.push(point.and_then(|point| values.get(point)).copied().unwrap_or(f64::NAN));
        }
        let inside = if is_whole { None } else { Field::new(rows, columns, inside) };
        Some(Self { field: Field::new(rows, columns, drawn)?, bounds, inside })
    }
}

/// Numbers that rise by equal steps.
struct Even {
    first: f64,
    step: f64,
    count: usize,
}

impl Even {
    /// `None` if they fall, or if one of them lies a quarter of a step beside its place.
    #[expect(clippy::cast_precision_loss, reason = "few rows")]
    fn of(numbers: &[f64]) -> Option<Self> {
        let (first, last) = (*numbers.first()?, *numbers.last()?);
        // A row or a column alone has no step.
        let step = if numbers.len() > 1 { (last - first) / (numbers.len() - 1) as f64 } else { 1.0 };
        let place = |at: usize| first + at as f64 * step;
        let is_even = numbers.iter().enumerate().all(|(at, number)| (number - place(at)).abs() <= step / 4.0);
        (step > 0.0 && is_even).then_some(Self { first, step, count: numbers.len() })
    }

    /// Where the first cell begins, and the last one ends.
    #[expect(clippy::cast_precision_loss, reason = "few rows")]
    fn edges(&self) -> (f64, f64) {
        let begin = self.first - self.step / 2.0;
        (begin, begin + self.step * self.count as f64)
    }
}

/// The numbers of columns from west to east, and their longitudes. A circle begins at 180 degrees west, and a region is turned so that its
/// middle lies between 180 degrees west and east. `None` for longitudes that do not rise or fall by equal steps.
fn west_to_east(longitudes: &[f64]) -> Option<(Vec<usize>, Even)> {
    let mut order: Vec<usize> = (0..longitudes.len()).collect();
    if longitudes.first() > longitudes.last() {
        order.reverse();
    }
    let mut degrees: Vec<f64> = order.iter().filter_map(|at| longitudes.get(*at)).copied().collect();
    let even = Even::of(&degrees)?;
    // The last column of a closed circle is the first one again.
    if degrees.len() > 1 && (degrees.last()? - degrees.first()? - 360.0).abs() < even.step / 4.0 {
        degrees.pop();
        order.pop();
    }
    let (begin, end) = Even::of(&degrees)?.edges();
    if (end - begin - 360.0).abs() < even.step / 2.0 {
        let turned = |degree: f64| (degree + 180.0).rem_euclid(360.0) - 180.0;
        let first = (0..degrees.len()).min_by(|a, b| {
            let of = |at: &usize| degrees.get(*at).map_or(f64::MAX, |degree| turned(*degree));
            of(a).total_cmp(&of(b))
        })?;
        order.rotate_left(first);
        let west = turned(*degrees.get(first)?);
        return Some((order, Even { first: west, step: even.step, count: degrees.len() }));
    }
    let turns = ((f64::midpoint(begin, end) + 180.0) / 360.0).floor();
    let even = Even::of(&degrees)?;
    Some((order, Even { first: even.first - 360.0 * turns, ..even }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few cells")]
mod tests {
    use super::*;

    fn row(raster: &Raster, row: usize) -> Vec<f64> {
        (0..raster.field.columns()).map(|column| raster.field.get(row, column).unwrap_or(f64::NAN)).collect()
    }

    #[test]
    fn circles_begin_at_180_degrees_and_regions_where_they_are() {
        type Case<'c> = (&'c [f64], &'c [f64], (f64, f64));
        let cases: [Case<'_>; 8] = [
            (&[0.0, 90.0, 180.0, 270.0], &[2.0, 3.0, 0.0, 1.0], (-225.0, 135.0)),
            (&[-180.0, -90.0, 0.0, 90.0], &[0.0, 1.0, 2.0, 3.0], (-225.0, 135.0)),
            (&[270.0, 180.0, 90.0, 0.0], &[1.0, 0.0, 3.0, 2.0], (-225.0, 135.0)),
            // The first meridian twice.
            (&[0.0, 90.0, 180.0, 270.0, 360.0], &[2.0, 3.0, 0.0, 1.0], (-225.0, 135.0)),
            (&[45.0, 135.0, 225.0, 315.0], &[2.0, 3.0, 0.0, 1.0], (-180.0, 180.0)),
            (&[350.0, 360.0, 370.0], &[0.0, 1.0, 2.0], (-15.0, 15.0)),
            (&[200.0, 210.0], &[0.0, 1.0], (-165.0, -145.0)),
            (&[10.0, 0.0, -10.0], &[2.0, 1.0, 0.0], (-15.0, 15.0)),
        ];
        for (longitudes, order, (west, east)) in cases {
            let values = (0..longitudes.len()).map(|at| at as f64).collect();
            let raster = Raster::of_axes(&[10.0], longitudes, values).unwrap();
            assert_eq!(
                (row(&raster, 0).as_slice(), raster.bounds.west, raster.bounds.east),
                (order, west, east),
                "{longitudes:?}"
            );
        }
    }

    #[test]
    fn north_is_up() {
        for (latitudes, expected) in [([50.0, 40.0], [1.0, 2.0]), ([40.0, 50.0], [3.0, 4.0])] {
            let raster = Raster::of_axes(&latitudes, &[5.0, 6.0], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
            assert_eq!(row(&raster, 0), expected);
            assert_eq!(raster.bounds, Bounds { west: 4.5, east: 6.5, north: 55.0, south: 35.0 });
        }
        assert!(Raster::of_axes(&[f64::NAN], &[1.0], vec![1.0]).is_none());
        assert!(Raster::of_axes(&[], &[1.0], vec![]).is_none());
    }

    #[test]
    fn uneven_rows_have_their_places() {
        // Rows at 60, 50 and 10 degrees: the last one takes most of the height.
        let raster = Raster::of_axes(&[60.0, 50.0, 10.0], &[0.0, 10.0, 20.0], (0..9).map(f64::from).collect()).unwrap();
        let at = |latitude: f64, longitude: f64| {
            let (x, y) = raster.bounds.share((longitude, latitude));
            raster.field.get((y * raster.field.rows() as f64) as usize, (x * raster.field.columns() as f64) as usize)
        };
        assert_eq!([at(60.0, 0.0), at(50.0, 20.0), at(10.0, 10.0)], [Some(0.0), Some(5.0), Some(7.0)]);
        assert_eq!([at(34.0, 10.0), at(27.0, 10.0)], [Some(4.0), Some(7.0)]);
    }
}
