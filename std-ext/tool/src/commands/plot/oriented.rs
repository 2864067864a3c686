//! Fields as maps show them: north is up and west is left, in whatever order the values were scanned.

use std::collections::{HashMap, HashSet};

use tgm_core::metadata::MessageMetadata;
use tgm_core::selection::Pick;
use tgm_grid::{GridSection, Places};

use crate::commands::plot::picture::{Axis, AxisKind};

/// Values of a field in rows, with its axes.
pub(crate) struct Oriented {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f64>,
    pub(crate) axes: [Axis; 2],
}

/// The values of an object with this `shape`, of which `picks` were selected, as rows of latitude and columns of longitude.
/// `None` if their places are not known, or do not form rows and columns.
pub(crate) fn on_axes(places: &Places, shape: &[u64], picks: &[Pick], values: &[f64]) -> Option<Oriented> {
    let found = each_place(places, shape, picks, values.len())?;
    let latitudes = descending(found.iter().map(|place| place.0));
    let longitudes = eastward(&found.iter().map(|place| place.1).collect::<Vec<_>>())?;
    let (rows, columns) = (latitudes.len(), longitudes.len());
    if rows < 2 || columns < 2 || rows.checked_mul(columns)? != values.len() {
        return None;
    }
    let places_of = |axis: &[f64]| -> HashMap<u64, usize> {
        axis.iter().enumerate().map(|(place, value)| (value.rem_euclid(360.0).to_bits(), place)).collect()
    };
    let (row_of, column_of) = (places_of(&latitudes), places_of(&longitudes));
    let (mut oriented, mut seen) = (vec![f64::NAN; values.len()], HashSet::new());
    for ((latitude, longitude), value) in found.iter().zip(values) {
        let row = row_of.get(&latitude.rem_euclid(360.0).to_bits())?;
        let place = row * columns + column_of.get(&longitude.rem_euclid(360.0).to_bits())?;
        if !seen.insert(place) {
            return None;
        }
        *oriented.get_mut(place)? = *value;
    }
    let axes =
        [Axis { kind: AxisKind::Latitude, values: latitudes }, Axis { kind: AxisKind::Longitude, values: longitudes }];
    Some(Oriented { rows, columns, values: oriented, axes })
}

/// Latitude and longitude of each of `count` values.
fn each_place(places: &Places, shape: &[u64], picks: &[Pick], count: usize) -> Option<Vec<(f64, f64)>> {
    let indices: Vec<Vec<u64>> = picks.iter().zip(shape).map(|(pick, len)| indices(*pick, *len)).collect();
    let product = indices.iter().try_fold(1_usize, |product, dimension| product.checked_mul(dimension.len()))?;
    if product != count || indices.len() != shape.len() {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    let mut at = vec![0; indices.len()];
    for number in 0..count {
        let mut rest = number;
        for (at, dimension) in at.iter_mut().zip(&indices).rev() {
            *at = *dimension.get(rest % dimension.len())?;
            rest /= dimension.len();
        }
        let (latitude, longitude) = places.place(&at)?;
        (latitude.is_finite() && longitude.is_finite()).then(|| found.push((latitude, longitude)))?;
    }
    Some(found)
}

/// The indices that a pick selects.
fn indices(pick: Pick, len: u64) -> Vec<u64> {
    match pick {
        Pick::Index(index) => vec![index],
        Pick::All => (0..len).collect(),
        Pick::Range { start, end, step } => {
            let step = usize::try_from(step.get()).unwrap_or(usize::MAX);
            (start..end.min(len)).step_by(step).collect()
        }
    }
}

/// The different numbers, from the greatest to the least.
fn descending(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let different: HashSet<u64> = numbers.map(|number| (number + 0.0).to_bits()).collect();
    let mut different: Vec<f64> = different.into_iter().map(f64::from_bits).collect();
    different.sort_by(|a, b| b.total_cmp(a));
    different
}

/// The different longitudes from west to east. A region begins behind its widest gap, and a circle where it was scanned from.
fn eastward(longitudes: &[f64]) -> Option<Vec<f64>> {
    let mut axis = descending(longitudes.iter().map(|longitude| longitude.rem_euclid(360.0)));
    axis.reverse();
    let (first, last) = (*axis.first()?, *axis.last()?);
    let gaps: Vec<f64> =
        axis.windows(2).map(|pair| pair.iter().rev().copied().reduce(|b, a| b - a).unwrap_or(0.0)).collect();
    let around = first + 360.0 - last;
    let widest = gaps.iter().copied().fold(around, f64::max);
    let narrowest = gaps.iter().copied().fold(around, f64::min);
    let start = if widest > 1.5 * narrowest {
        gaps.iter().position(|gap| *gap == widest && widest > around).map_or(0, |gap| gap + 1)
    } else {
        let (scanned_first, scanned_last) = (*longitudes.first()?, *longitudes.last()?);
        let second = longitudes.iter().find(|longitude| **longitude != scanned_first)?;
        let is_westward = (second - scanned_first).rem_euclid(360.0) > 180.0;
        let west = if is_westward { scanned_last } else { scanned_first }.rem_euclid(360.0);
        axis.iter().position(|longitude| *longitude == west).unwrap_or(0)
    };
    axis.rotate_left(start);
    let mut before = f64::NEG_INFINITY;
    for longitude in &mut axis {
        if *longitude < before {
            *longitude += 360.0;
        }
        before = *longitude;
    }
    // As far west as maps show it.
    let shift = if axis.last()? >= &360.0 { 360.0 } else { 0.0 };
    Some(axis.into_iter().map(|longitude| longitude - shift).collect())
}

/// The values of a whole field on a grid that is not one of latitudes by longitudes, in rows from the top. Its axes have the
/// numbers of rows and columns as they were scanned. `None` without rows and columns.
pub(crate) fn scanned(metadata: &MessageMetadata<'_>, index: usize, values: &[f64]) -> Option<Oriented> {
    /// The bits of the scanning mode.
    const WEST: u8 = 0x80;
    const NORTH: u8 = 0x40;
    const COLUMNS: u8 = 0x20;
    const ALTERNATING: u8 = 0x10;
    let section = GridSection::of_object(metadata, index).ok()??;
    let octets = section.octets();
    let mode = octets.u8(match section.template().ok()? {
        0 | 1 | 40 => 72,
        10 => 60,
        20 | 30 => 65,
        _ => return None,
    })?;
    let size = |octet| octets.u32(octet).and_then(|len| usize::try_from(len).ok()).filter(|len| *len > 0);
    let (columns, rows) = (size(31)?, size(35)?);
    if rows.checked_mul(columns)? != values.len() {
        return None;
    }
    let is_by_columns = mode & COLUMNS != 0;
    let line = if is_by_columns { rows } else { columns };
    let mut oriented = vec![f64::NAN; values.len()];
    for (number, value) in values.iter().enumerate() {
        let (outer, inner) = (number / line, number % line);
        let inner = if mode & ALTERNATING != 0 && outer % 2 == 1 { line - 1 - inner } else { inner };
        let (row, column) = if is_by_columns { (inner, outer) } else { (outer, inner) };
        let row = if mode & NORTH != 0 { rows - 1 - row } else { row };
        let column = if mode & WEST != 0 { columns - 1 - column } else { column };
        *oriented.get_mut(row * columns + column)? = *value;
    }
    let axes = [Axis::numbers(rows, mode & NORTH != 0), Axis::numbers(columns, mode & WEST != 0)];
    Some(Oriented { rows, columns, values: oriented, axes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longitudes_run_east_from_the_widest_gap() {
        assert_eq!(eastward(&[350.0, 0.0, 10.0]), Some(vec![-10.0, 0.0, 10.0]));
        assert_eq!(eastward(&[10.0, 0.0, 350.0]), Some(vec![-10.0, 0.0, 10.0]));
        assert_eq!(eastward(&[0.0, 90.0, 180.0, 270.0]), Some(vec![0.0, 90.0, 180.0, 270.0]));
        assert_eq!(eastward(&[180.0, 270.0, 0.0, 90.0]), Some(vec![-180.0, -90.0, 0.0, 90.0]));
        assert_eq!(eastward(&[270.0, 180.0, 90.0, 0.0]), Some(vec![0.0, 90.0, 180.0, 270.0]));
        assert_eq!(eastward(&[-20.0, -10.0, 0.0]), Some(vec![-20.0, -10.0, 0.0]));
    }
}
