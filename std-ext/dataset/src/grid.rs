//! Dimensions and coordinates of grids.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tgm_grid::{
    Area, CfMapping, Coordinates, GridError, GridSection, KnownPoints, NamedGrid, Places, Projected, RegularGrid,
    Stated,
};
use tgm_std::Result;

use crate::archive::bad;
use crate::gather::{Cells, EXTRA, GRID, Gathered};
use crate::model::{Attribute, Attributes, Coordinate, Values, product};

/// Points of which the coordinates are computed, at most.
const MOST_POINTS: u64 = 1 << 28;

/// The dimensions of a field, and where its points are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub(crate) dims: Vec<String>,
    pub(crate) coordinates: Vec<Coordinate>,
    /// The grid mapping of CF as a variable of one number, and its y and x along the dimensions. Empty for grids that lie on no plane.
    pub(crate) projection: Vec<Coordinate>,
}

impl Grid {
    /// The grid of an object with this shape.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for points that were named and are not the object's.
    pub(crate) fn of(
        (gathered, known): (&Gathered, Option<&KnownPoints>),
        cells: &Cells,
        about: Option<&Cells>,
        shape: &[u64],
    ) -> Result<Self> {
        let named = dim_names(gathered, cells, about, shape);
        let points = product(shape).filter(|points| *points <= MOST_POINTS);
        let stated = Stated { known, ..stated(gathered, cells) };
        // Names that metadata give come before bounds: a part of an array may keep the bounds of the whole.
        let is_of_whole = named.is_some() && !stated.named.is_some_and(NamedGrid::is_plane);
        let stated = if is_of_whole { Stated { area: None, ..stated } } else { stated };
        if let Some(points) = points.and_then(|points| u32::try_from(points).ok())
            && let Some(places) = places(&stated, shape, points)?
        {
            let found = Self::of_places(&places, shape);
            let Some(section) = stated.section else { return Ok(found.called(named)) };
            // Rows of latitude need no plane.
            let projected = section.projected(shape, points).ok().flatten().filter(|it| !it.mapping.has_parallels());
            let Some(projected) = projected else { return Ok(found) };
            // A plane stays one, also where it has one row, or points that lie like rows.
            let found = match section.coordinates(points) {
                Ok(Some(all)) => Self::of_points(all, shape),
                _ => found,
            };
            return Ok(found.on(projected));
        }
        Ok(Self { dims: named.unwrap_or_else(|| unnamed(shape.len())), ..Self::default() })
    }

    /// A grid of which nothing is known, with numbers for names.
    pub(crate) fn numbered(count: usize) -> Self {
        Self { dims: (0..count).map(|number| format!("dim_{number}")).collect(), ..Self::default() }
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
            let coordinates = self.coordinates.iter_mut().chain(&mut self.projection);
            for of_coordinate in coordinates.flat_map(|it| &mut it.dims) {
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
        Self { dims, coordinates, ..Self::default() }
    }

    fn of_places(places: &Places, shape: &[u64]) -> Self {
        if let Places::Regular(grid) = places {
            return Self::regular(grid);
        }
        match places {
            Places::Points(points) => {
                let outer = shape.len().saturating_sub(points.shape().len());
                let mut found = Self::of_points(points.coordinates().clone(), points.shape());
                found.dims.splice(..0, Self::numbered(outer).dims);
                found
            }
            _ => match places.points() {
                Some(points) => Self::of_points(points, shape),
                None => Self { dims: unnamed(shape.len()), ..Self::default() },
            },
        }
    }

    fn of_points(points: Coordinates, shape: &[u64]) -> Self {
        let dims = unnamed(shape.len());
        let coordinates = vec![latitude(dims.clone(), points.latitudes), longitude(dims.clone(), points.longitudes)];
        Self { dims, coordinates, ..Self::default() }
    }

    /// The same grid on a plane or on a rotated globe.
    fn on(mut self, projected: Projected) -> Self {
        let Projected { mapping, axes: (up, across), is_by_column } = projected;
        if is_by_column {
            self.dims.reverse();
            self.coordinates.iter_mut().for_each(|it| it.dims.reverse());
        }
        let (names, units) = if mapping.is_in_degrees() { (IN_DEGREES, "degrees") } else { (IN_METRES, "m") };
        let axis = |(name, standard): (&str, &str), dim: &str, values| Coordinate {
            name: name.into(),
            dims: vec![dim.into()],
            values: Values::Floats(values),
            attributes: attributes([("standard_name", standard), ("units", units)]),
        };
        let [x, y] = names;
        self.projection = vec![of_mapping(&mapping), axis(y, "y", up), axis(x, "x", across)];
        self
    }
}

/// Names of x and y in files, and their standard names: in metres, and in degrees of a rotated globe.
const IN_METRES: [(&str, &str); 2] = [("x", "projection_x_coordinate"), ("y", "projection_y_coordinate")];
const IN_DEGREES: [(&str, &str); 2] = [("rlon", "grid_longitude"), ("rlat", "grid_latitude")];

/// A grid mapping as a variable: its attributes say all, and its one number has no meaning.
fn of_mapping(mapping: &CfMapping) -> Coordinate {
    let mut found: Attributes = vec![("grid_mapping_name".into(), mapping.name.into())];
    found.extend(mapping.texts.iter().map(|(name, text)| ((*name).into(), Attribute::from(*text))));
    let number = |numbers: &[f64]| match numbers {
        [one] => Attribute::Float(*one),
        more => Attribute::Floats(more.to_vec()),
    };
    found.extend(mapping.numbers.iter().map(|(name, numbers)| ((*name).into(), number(numbers))));
    Coordinate { name: mapping.name.into(), dims: vec![], values: Values::Integers(vec![0]), attributes: found }
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

/// The places that are stated, of an object of one or two dimensions, or of points that are known along the last dimensions. What cannot be
/// read says none.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for points that were named and are not the object's.
fn places(stated: &Stated<'_>, shape: &[u64], points: u32) -> Result<Option<Places>> {
    let found = match (shape, stated.known) {
        ([_] | [_, _], _) => stated.places(shape, points),
        ([_, ..], Some(known)) => known.places(stated.section, shape),
        _ => return Ok(None),
    };
    match found {
        Err(error @ (GridError::OtherGrid | GridError::NoSuchPoints { .. })) => Err(bad(error.to_string())),
        found => Ok(found.unwrap_or_default()),
    }
}

/// What the keys of an object say of its grid.
fn stated<'g>(gathered: &'g Gathered, cells: &Cells) -> Stated<'g> {
    let order = NamedGrid::ORDER_KEYS.iter().find_map(|key| gathered.value(cells, key));
    let order = order.as_ref().and_then(|order| order.as_str().ok());
    Stated {
        section: gathered.bytes(cells, GRID).and_then(|bytes| GridSection::parse(bytes).ok()),
        named: NamedGrid::KEYS.iter().find_map(|key| NamedGrid::of_value(&gathered.value(cells, key)?, order)),
        known: None,
        area: Area::KEYS.iter().find_map(|key| Area::of_value(&gathered.value(cells, key)?).ok()),
    }
}

/// The numbers that describe a grid without places. Empty for other grids, and for a section that cannot be read.
pub(crate) fn unplaced(gathered: &Gathered, cells: &Cells) -> Vec<(&'static str, i64)> {
    let section = gathered.bytes(cells, GRID).and_then(|bytes| GridSection::parse(bytes).ok());
    section.and_then(|section| section.unplaced().ok()).unwrap_or_default()
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
