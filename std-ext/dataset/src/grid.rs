//! Dimensions and coordinates of grids.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tgm_grid::{Area, GridSection, NamedGrid, Places, RegularGrid, Stated};

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
        let stated = stated(gathered, cells);
        // Names that metadata give come before bounds: a part of an array may keep the bounds of the whole.
        let stated = if named.is_some() { Stated { area: None, ..stated } } else { stated };
        if let (Some(points), 1 | 2) = (points.and_then(|points| u32::try_from(points).ok()), shape.len())
            && let Ok(Some(places)) = stated.places(shape, points)
        {
            let found = Self::of_places(&places, shape);
            return if stated.section.is_none() { found.called(named) } else { found };
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

    /// The same with the names that metadata give the dimensions.
    fn called(mut self, names: Option<Vec<String>>) -> Self {
        let Some(names) = names else { return self };
        let own = std::mem::replace(&mut self.dims, names);
        for dim in self.coordinates.iter_mut().flat_map(|it| &mut it.dims) {
            let at = own.iter().position(|name| name == dim);
            if let Some(name) = at.and_then(|at| self.dims.get(at)) {
                dim.clone_from(name);
            }
        }
        self
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

    fn regular(grid: &RegularGrid) -> Self {
        let (latitudes, longitudes) = grid.axes();
        let coordinates =
            vec![latitude(vec![LATITUDE.into()], latitudes), longitude(vec![LONGITUDE.into()], longitudes)];
        let mut dims = vec![LATITUDE.into(), LONGITUDE.into()];
        if grid.is_by_column() {
            dims.reverse();
        }
        Self { dims, coordinates }
    }

    fn of_places(places: &Places, shape: &[u64]) -> Self {
        if let Places::Regular(grid) = places {
            return Self::regular(grid);
        }
        let Some(points) = places.points() else { return Self { dims: unnamed(shape.len()), coordinates: Vec::new() } };
        let dims = unnamed(shape.len());
        let coordinates = vec![latitude(dims.clone(), points.latitudes), longitude(dims.clone(), points.longitudes)];
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

/// What the keys of an object say of its grid.
fn stated<'g>(gathered: &'g Gathered, cells: &Cells) -> Stated<'g> {
    let order = NamedGrid::ORDER_KEYS.iter().find_map(|key| gathered.value(cells, key));
    let order = order.as_ref().and_then(|order| order.as_str().ok());
    Stated {
        section: gathered.bytes(cells, GRID).and_then(|bytes| GridSection::parse(bytes).ok()),
        named: NamedGrid::KEYS.iter().find_map(|key| NamedGrid::of_value(&gathered.value(cells, key)?, order)),
        area: Area::KEYS.iter().find_map(|key| Area::of_value(&gathered.value(cells, key)?).ok()),
    }
}

/// The numbers at which the coefficients of an object are cut. Empty for points, and for a section that cannot be read.
pub(crate) fn truncation(gathered: &Gathered, cells: &Cells) -> Vec<(&'static str, i64)> {
    let section = gathered.bytes(cells, GRID).and_then(|bytes| GridSection::parse(bytes).ok());
    section.and_then(|section| section.truncation().ok()).unwrap_or_default()
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
