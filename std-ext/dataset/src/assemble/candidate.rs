//! Cubes with what decides where they stand: their grid, and the labels of all their dimensions.

use std::cmp::Reverse;
use std::collections::HashMap;

use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use crate::archive::bad;
use crate::columns::STEP;
use crate::cube::{Axis, Cube, Role};
use crate::gather::Gathered;
use crate::grid::Grid;
use crate::label::Label;
use crate::model::product;
use crate::options::{OpenOptions, Profile};

/// A cube with its grid.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) cube: Cube,
    pub(super) grid: usize,
    /// Whether its grid has dimensions. A field of one number stands on any grid.
    pub(super) has_grid: bool,
    /// The lengths of the dimensions of the grid.
    pub(super) shape: Vec<u64>,
    pub(super) dtype: Dtype,
    /// Its axes, with one of a single label for each number, time, step and level that does not vary. In the order of dimensions.
    pub(super) axes: Vec<Axis>,
    /// What tells it from others of its name.
    pub(super) what: String,
}

impl Candidate {
    /// Labels of its dimensions multiplied, without levels: how much of a dataset it spans. Cubes have fewer than 2^64 places.
    fn extent(&self) -> u64 {
        let spanning = self.axes.iter().filter(|axis| axis.role != Role::Level);
        spanning.fold(1, |extent, axis| extent * axis.labels.len() as u64)
    }

    /// The number of elements of its box. `None` if it has more than 64 bits.
    pub(super) fn elements(&self) -> Option<u64> {
        let lens = self.axes.iter().map(|axis| axis.labels.len() as u64).chain(self.shape.iter().copied());
        product(&lens.collect::<Vec<_>>())
    }
}

/// Cubes with their grids, in an order that does not depend on the order of messages: the ones that span most come first.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a cube whose elements are of an unknown type.
pub(super) fn candidates(
    gathered: &Gathered,
    cubes: Vec<Cube>,
    options: &OpenOptions,
) -> Result<(Vec<Candidate>, Vec<Grid>)> {
    let mut grids = Grids::default();
    let mut found = Vec::with_capacity(cubes.len());
    for cube in cubes {
        let (shape, _) = gathered.values.get(cube.kind.shape).as_chunks::<8>();
        let shape: Vec<u64> = shape.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let grid = grids.number(gathered, &cube, &shape, options)?;
        let name = std::str::from_utf8(gathered.values.get(cube.kind.dtype)).unwrap_or("");
        let dtype = Dtype::from_name(name)
            .ok_or_else(|| bad(format!("{}: elements of type {name:?} are unknown", cube.kind.name)))?;
        let has_grid = grids.all.get(grid).is_some_and(|grid| !grid.dims.is_empty());
        let (axes, what) = (all_axes(&cube), describe(&cube));
        found.push(Candidate { cube, grid, has_grid, shape, dtype, axes, what });
    }
    // Labels, and what only codes of the archive tell apart, decide between cubes that are alike in all else.
    let bytes = |code: u32| gathered.values.get(code);
    found.sort_by(|a, b| {
        let size = |it: &Candidate| (Reverse(it.has_grid), Reverse(it.extent()), Reverse(it.cube.places.len()));
        let kind = |it: &Candidate| (it.dtype.name(), it.cube.kind.statistic, it.cube.kind.family);
        let family = |it: &Candidate| (bytes(kind(it).2.0), bytes(kind(it).2.1));
        size(a)
            .cmp(&size(b))
            .then_with(|| (&a.cube.kind.name, &a.what, &a.axes).cmp(&(&b.cube.kind.name, &b.what, &b.axes)))
            .then_with(|| (kind(a).0, kind(a).1, family(a)).cmp(&(kind(b).0, kind(b).1, family(b))))
    });
    Ok((found, grids.all))
}

/// Distinct grids.
#[derive(Default)]
struct Grids {
    all: Vec<Grid>,
    /// By the codes of what is stated of a grid, and of a shape.
    by_code: HashMap<([u32; 3], u32), usize>,
    /// By dimensions and coordinates. Grids of which nothing is known are not the same.
    by_points: HashMap<u64, Vec<usize>>,
}

impl Grids {
    fn number(&mut self, gathered: &Gathered, cube: &Cube, shape: &[u64], options: &OpenOptions) -> Result<usize> {
        if let Some(known) = self.by_code.get(&(cube.kind.grid, cube.kind.shape)) {
            return Ok(*known);
        }
        let row = usize::try_from(cube.example).ok().and_then(|row| gathered.rows.get(row));
        let row = row.ok_or_else(|| bad(format!("{}: its first object is not there", cube.kind.name)))?;
        let grid = if options.profile == Profile::Plain {
            Grid::numbered(shape.len())
        } else {
            let known = options.grid.as_deref();
            let of_object = Grid::of((gathered, known), &row.cells, gathered.about(&row.entry), shape);
            of_object.map_err(|error| error.within(&cube.kind.name))?
        };
        let alike = self.by_points.entry(grid.digest()).or_default();
        let same = alike.iter().copied().find(|known| self.all.get(*known).is_some_and(|known| *known == grid));
        let number = same.filter(|_| !grid.coordinates.is_empty()).unwrap_or_else(|| {
            alike.push(self.all.len());
            self.all.push(grid);
            self.all.len() - 1
        });
        self.by_code.insert((cube.kind.grid, cube.kind.shape), number);
        Ok(number)
    }
}

/// What tells a cube from others of its name.
fn describe(cube: &Cube) -> String {
    let mut words = Vec::new();
    if !cube.kind.level.is_empty() {
        let level = cube.scalars.iter().find(|(role, _)| *role == Role::Level);
        words.push(level.map_or_else(|| cube.kind.level.clone(), |(_, label)| format!("{}={label}", cube.kind.level)));
    }
    words.extend(cube.axes.iter().map(|axis| format!("{} {}", axis.labels.len(), axis.name)));
    if let Some(seconds) = cube.interval {
        words.push(format!("interval={}", Label::Duration(seconds)));
    }
    words.extend(cube.constants.iter().map(|(name, label)| format!("{name}={label}")));
    words.join(", ")
}

/// The axes of a cube, with one for each label that does not vary.
fn all_axes(cube: &Cube) -> Vec<Axis> {
    let mut axes = cube.axes.clone();
    for (role, label) in &cube.scalars {
        let name = match role {
            Role::Number => "number",
            Role::Time => &cube.time_name,
            Role::Step => STEP,
            Role::Level if cube.kind.level.is_empty() => "level",
            Role::Level => &cube.kind.level,
            // Scalars are of the four roles above.
            Role::Other => continue,
        };
        axes.push(Axis { role: *role, name: name.into(), labels: vec![label.clone()] });
    }
    axes.sort_by(|a, b| (a.role, &a.name).cmp(&(b.role, &b.name)));
    axes
}
