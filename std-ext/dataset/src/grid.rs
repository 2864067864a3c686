//! Dimensions and coordinates of grids.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tgm_core::cbor::Value;
use tgm_grid::{Area, Coordinates, GridSection, RegularGrid};

use crate::gather::{Cells, EXTRA, GRID, Gathered};
use crate::model::{Attribute, Attributes, Coordinate, Values, product};

/// Points of which the coordinates are computed, at most.
const MOST_POINTS: u64 = 1 << 28;

/// The dimensions of a field, and where its points are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub(crate) dims: Vec<String>,
    pub(crate) coordinates: Vec<Coordinate>,
}

impl Grid {
    /// The grid of an object with this shape.
    pub(crate) fn of(gathered: &Gathered, cells: &Cells, about: Option<&Cells>, shape: &[u64]) -> Self {
        let named = dim_names(gathered, cells, about, shape);
        let points = product(shape).filter(|points| *points <= MOST_POINTS);
        if let Some(bytes) = gathered.bytes(cells, GRID)
            && let Some(points) = points.and_then(|points| u32::try_from(points).ok())
            && let Ok(section) = GridSection::parse(bytes)
            && section.point_count() == Ok(points)
        {
            if let Ok(Some((latitudes, longitudes))) = section.axes(shape) {
                return Self::regular(latitudes, longitudes);
            }
            if let Ok(Some(found)) = section.coordinates(points) {
                return Self::of_points(found, shape);
            }
        }
        let area = Area::KEYS.iter().find_map(|key| area(&gathered.value(cells, key)?));
        if let (Some(area), [_, _], None) = (area, shape, &named)
            && points.is_some()
            && let Some(grid) = RegularGrid::new(shape, area)
        {
            let latitudes = (0..grid.rows()).map(|row| grid.latitude(row)).collect();
            let longitudes = (0..grid.columns()).map(|column| grid.longitude(column)).collect();
            return Self::regular(latitudes, longitudes);
        }
        Self { dims: named.unwrap_or_else(|| unnamed(shape.len())), coordinates: Vec::new() }
    }

    /// A grid of which nothing is known, with numbers for names.
    pub(crate) fn numbered(count: usize) -> Self {
        Self { dims: (0..count).map(|number| format!("dim_{number}")).collect(), coordinates: Vec::new() }
    }

    /// A number that equal grids have in common.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.dims.hash(&mut hasher);
        for it in &self.coordinates {
            it.dims.hash(&mut hasher);
            if let Values::Floats(degrees) = &it.values {
                // Equal numbers may differ in their bits: 0 and -0.
                for degree in degrees {
                    (degree + 0.0).to_bits().hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Gives other names to dimensions whose names are taken.
    pub(crate) fn avoid(&mut self, is_taken: impl Fn(&str) -> bool) {
        for dim in &mut self.dims {
            let before = dim.clone();
            while is_taken(dim) {
                dim.push('_');
            }
            for of_coordinate in self.coordinates.iter_mut().flat_map(|it| &mut it.dims) {
                if *of_coordinate == before {
                    of_coordinate.clone_from(dim);
                }
            }
        }
    }

    fn regular(latitudes: Vec<f64>, longitudes: Vec<f64>) -> Self {
        let coordinates =
            vec![latitude(vec![LATITUDE.into()], latitudes), longitude(vec![LONGITUDE.into()], longitudes)];
        Self { dims: vec![LATITUDE.into(), LONGITUDE.into()], coordinates }
    }

    fn of_points(points: Coordinates, shape: &[u64]) -> Self {
        if let Some((latitudes, longitudes)) = points.axes(shape) {
            return Self::regular(latitudes, longitudes);
        }
        // Columns that follow each other: the first dimension is the longitude.
        let turned = Coordinates { latitudes: points.longitudes, longitudes: points.latitudes };
        if let Some((longitudes, latitudes)) = turned.axes(shape) {
            let mut grid = Self::regular(latitudes, longitudes);
            grid.dims.reverse();
            return grid;
        }
        let dims: Vec<String> = match shape {
            [_] => vec!["values".into()],
            _ => unnamed(shape.len()),
        };
        let coordinates = vec![latitude(dims.clone(), turned.longitudes), longitude(dims.clone(), turned.latitudes)];
        Self { dims, coordinates }
    }
}

const LATITUDE: &str = "latitude";
const LONGITUDE: &str = "longitude";

/// Names of dimensions of which nothing is known.
fn unnamed(count: usize) -> Vec<String> {
    match count {
        1 => vec!["values".into()],
        2 => vec!["y".into(), "x".into()],
        count => Grid::numbered(count).dims,
    }
}

fn latitude(dims: Vec<String>, values: Vec<f64>) -> Coordinate {
    let mut attributes = attributes([("units", "degrees_north"), ("standard_name", LATITUDE), ("long_name", LATITUDE)]);
    // Along the points of other grids they need not fall.
    if dims == [LATITUDE] && values.first() > values.last() {
        attributes.push(("stored_direction".into(), "decreasing".into()));
    }
    Coordinate { name: LATITUDE.into(), dims, values: Values::Floats(values), attributes }
}

fn longitude(dims: Vec<String>, values: Vec<f64>) -> Coordinate {
    let attributes = attributes([("units", "degrees_east"), ("standard_name", LONGITUDE), ("long_name", LONGITUDE)]);
    Coordinate { name: LONGITUDE.into(), dims, values: Values::Floats(values), attributes }
}

/// Attributes of texts.
pub(crate) fn attributes<const N: usize>(pairs: [(&str, &str); N]) -> Attributes {
    pairs.iter().map(|(name, text)| ((*name).to_string(), Attribute::from(*text))).collect()
}

/// Four numbers, or text with slashes between them.
fn area(value: &Value<'_>) -> Option<Area> {
    if let Ok(text) = value.as_str() {
        return text.parse().ok();
    }
    let numbers = value.as_array().ok()?.iter().map(|number| number.ok()?.as_f64().ok());
    Area::new(&numbers.collect::<Option<Vec<f64>>>()?).ok()
}

/// The names that an object or its message gives the dimensions: a list of names, or a map from sizes to names.
fn dim_names(gathered: &Gathered, cells: &Cells, about: Option<&Cells>, shape: &[u64]) -> Option<Vec<String>> {
    let keys = ["dimensions", "dim_names"];
    let of_object = keys.iter().find_map(|key| gathered.value(cells, key));
    let value = of_object.or_else(|| gathered.value(about?, &format!("{EXTRA}dim_names")))?;
    let names: Vec<String> = if let Ok(map) = value.as_map() {
        let name = |len: &u64| map.get(&len.to_string()).ok().flatten()?.as_str().ok().map(str::to_string);
        shape.iter().map(name).collect::<Option<_>>()?
    } else {
        value.as_array().ok()?.iter().map(|name| name.ok()?.as_str().ok().map(str::to_string)).collect::<Option<_>>()?
    };
    let is_distinct = names.iter().enumerate().all(|(at, name)| !names.iter().take(at).any(|before| before == name));
    (names.len() == shape.len() && is_distinct).then_some(names)
}
