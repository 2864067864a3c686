//! Cubes as datasets: which axes they share, and what does not fit.
//!
//! A dataset has one grid. For each dimension it has the longest axis among its cubes. A cube whose axes are parts of these
//! is widened by holes. A cube with other labels, another grid, or a name that is taken is left out, and begins a dataset of
//! its own.

use std::collections::HashMap;
use std::sync::Arc;

use tgm_core::cbor::Value;
use tgm_core::descriptor::Dtype;

use crate::archive::Archive;
use crate::attributes::attributes_of;
use crate::cube::{Axis, Cube, Role};
use crate::dataset::Dataset;
use crate::fields::{FieldCoordinates, of_variable};
use crate::gather::Gathered;
use crate::grid::Grid;
use crate::label::{Label, Real};
use crate::model::{Content, LeftOut, Pieces, UNCOUNTED, Variable, hole_of, product};
use crate::options::{Join, OpenOptions, Profile};

/// A cube with its grid.
struct Candidate {
    cube: Cube,
    grid: usize,
    shape: Vec<u64>,
    dtype: Dtype,
}

/// All datasets, the one with the most objects first. Each lists what it leaves out.
pub(crate) fn datasets(
    gathered: &Gathered,
    archive: &Arc<Archive>,
    cubes: Vec<Cube>,
    options: &OpenOptions,
) -> Vec<Dataset> {
    let mut grids: Vec<Grid> = Vec::new();
    let mut known: HashMap<(u32, u32), usize> = HashMap::new();
    let mut rest = Vec::new();
    for cube in cubes {
        let Some(row) = usize::try_from(cube.example).ok().and_then(|row| gathered.rows.get(row)) else { continue };
        let (shape, _) = gathered.values.get(cube.kind.shape).as_chunks::<8>();
        let shape: Vec<u64> = shape.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let grid = *known.entry((cube.kind.grid, cube.kind.shape)).or_insert_with(|| {
            let grid = match options.profile {
                Profile::Plain => Grid::numbered(shape.len()),
                _ => Grid::of(gathered, &row.cells, gathered.about(&row.entry), &shape),
            };
            let same = grids.iter().position(|known| *known == grid && !grid.coordinates.is_empty());
            same.unwrap_or_else(|| {
                grids.push(grid);
                grids.len() - 1
            })
        });
        let name = std::str::from_utf8(gathered.values.get(cube.kind.dtype)).unwrap_or("");
        let Some(dtype) = Dtype::from_name(name) else { continue };
        rest.push(Candidate { cube, grid, shape, dtype });
    }
    // An order that does not depend on the order of messages.
    rest.sort_by(|a, b| {
        let key = |it: &Candidate| (std::cmp::Reverse(it.cube.places.len()), it.cube.kind.name.clone());
        key(a).cmp(&key(b)).then_with(|| describe(&a.cube).cmp(&describe(&b.cube)))
    });
    let mut found: Vec<Dataset> = Vec::new();
    while !rest.is_empty() {
        let (chosen, out) = choose(rest, &grids, options);
        let left_out = out.iter().map(|(candidate, why)| LeftOut {
            name: candidate.cube.kind.name.clone(),
            what: describe(&candidate.cube),
            why: why.clone(),
            objects: candidate.cube.places.len(),
        });
        let left_out: Vec<LeftOut> = left_out.collect();
        // What an earlier dataset has is left out of the later ones too, but they do not say so.
        found.push(build(gathered, archive, chosen, &grids, options, left_out));
        rest = out.into_iter().map(|(candidate, _)| candidate).collect();
    }
    found
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
            Role::Time => "time",
            Role::Step => "step",
            Role::Level if cube.kind.level.is_empty() => "level",
            Role::Level => &cube.kind.level,
            Role::Other => continue,
        };
        axes.push(Axis { role: *role, name: name.into(), labels: vec![label.clone()] });
    }
    axes.sort_by(|a, b| (a.role, &a.name).cmp(&(b.role, &b.name)));
    axes
}

/// The dimensions of a dataset, also the ones of one label.
pub(crate) type Dims = Vec<Axis>;

/// A cube of a dataset: its axes, and whether each is one of the dataset.
struct Chosen {
    candidate: Candidate,
    axes: Vec<Axis>,
}

type Out = Vec<(Candidate, String)>;

/// The cubes of the next dataset, and the others with the reason why they do not fit.
fn choose(rest: Vec<Candidate>, grids: &[Grid], options: &OpenOptions) -> ((usize, Dims, Vec<Chosen>), Out) {
    let mut objects: HashMap<usize, usize> = HashMap::new();
    let has_dims = |grid: usize| grids.get(grid).is_some_and(|grid| !grid.dims.is_empty());
    for candidate in rest.iter().filter(|candidate| has_dims(candidate.grid)) {
        let count = objects.entry(candidate.grid).or_default();
        *count += candidate.cube.places.len();
    }
    // Of two grids with as many objects, the one that comes first in the order of cubes.
    let first = rest.first().map_or(0, |first| first.grid);
    let grid = objects.iter().max_by_key(|(grid, count)| (**count, **grid == first, std::cmp::Reverse(**grid)));
    let grid = grid.map_or(first, |(grid, _)| *grid);
    let (mut out, mut chosen): (Out, Vec<Chosen>) = (Vec::new(), Vec::new());
    for candidate in rest {
        let name = &candidate.cube.kind.name;
        if candidate.grid != grid && has_dims(candidate.grid) {
            out.push((candidate, "it has another grid".into()));
        } else if chosen.iter().any(|it| it.candidate.cube.kind.name == *name) {
            out.push((candidate, "another cube has the name".into()));
        } else {
            let axes = all_axes(&candidate.cube);
            chosen.push(Chosen { candidate, axes });
        }
    }
    let mut dims: Dims = Vec::new();
    for axis in chosen.iter().flat_map(|it| &it.axes) {
        match dims.iter_mut().find(|dim| dim.name == axis.name) {
            Some(dim) if dim.labels.len() < axis.labels.len() => *dim = axis.clone(),
            Some(_) => {}
            None => dims.push(axis.clone()),
        }
    }
    dims.sort_by(|a, b| (a.role, &a.name).cmp(&(b.role, &b.name)));
    let (mut fits, all) = (Vec::new(), chosen);
    for it in all {
        match misfit(&it, &dims, options) {
            None => fits.push(it),
            Some(why) => out.push((it.candidate, why)),
        }
    }
    let chosen: Vec<Chosen> = fits;
    // A dimension that no cube has any more.
    dims.retain(|dim| chosen.iter().any(|it| it.axes.iter().any(|axis| axis.name == dim.name)));
    ((grid, dims, chosen), out)
}

/// Why a cube does not fit the dimensions of a dataset.
fn misfit(it: &Chosen, dims: &Dims, options: &OpenOptions) -> Option<String> {
    for axis in &it.axes {
        let dim = dims.iter().find(|dim| dim.name == axis.name)?;
        // A level of its own is an attribute.
        if axis.role == Role::Level && axis.labels.len() == 1 {
            continue;
        }
        let is_part = dim.has_all(&axis.labels);
        let is_equal = dim.labels.len() == axis.labels.len();
        if !is_part || (options.join == Join::Exact && !is_equal) {
            return Some(format!("other labels of {}", axis.name));
        }
    }
    // Its places in the dataset, and their elements.
    let of = |axis: &Axis| dims.iter().find(|dim| dim.name == axis.name).map_or(1, |dim| dim.labels.len() as u64);
    let places = product(&it.axes.iter().map(of).collect::<Vec<_>>());
    let elements = places.and_then(|places| places.checked_mul(product(&it.candidate.shape)?));
    elements.is_none().then(|| UNCOUNTED.to_string())
}

fn build(
    gathered: &Gathered,
    archive: &Arc<Archive>,
    (grid, dims, chosen): (usize, Dims, Vec<Chosen>),
    grids: &[Grid],
    options: &OpenOptions,
    left_out: Vec<LeftOut>,
) -> Dataset {
    let mut grid = grids.get(grid).cloned().unwrap_or_default();
    grid.avoid(|name| dims.iter().any(|axis| axis.name == name));
    let is_of_all = |dim: &Axis| chosen.iter().all(|it| it.axes.contains(dim));
    let is_dim =
        |axis: &Axis| axis.labels.len() > 1 || (!options.squeeze && (axis.role != Role::Level || is_of_all(axis)));
    let (mut coordinates, mut variables) = (FieldCoordinates::default(), Vec::new());
    let (mut notes, mut unused_keys) = (Vec::new(), Vec::from_iter(gathered.unread.clone()));
    for dim in &dims {
        // A level that some cubes lack is an attribute of the others.
        if is_dim(dim) || dim.role != Role::Level || is_of_all(dim) {
            coordinates.add_axis(dim, is_dim(dim));
        }
    }
    if let Some(surface) = surface(gathered, &chosen) {
        coordinates.add_axis(&surface, false);
    }
    coordinates.add_valid_time();
    for Chosen { candidate, axes } in &chosen {
        let Candidate { cube, shape, dtype, .. } = candidate;
        let name = &cube.kind.name;
        let mut along: Vec<&Axis> = Vec::new();
        let in_metadata = ["grib.parameterUnits", "grib.parameterName"].map(|key| of_example(gathered, cube, key));
        let mut attributes = attributes_of(cube, of_example(gathered, cube, "attributes"), &in_metadata);
        for axis in axes {
            let Some(dim) = dims.iter().find(|dim| dim.name == axis.name) else { continue };
            let is_part = dim.has_all(&axis.labels);
            let is_told = is_part && coordinates.has(&axis.name);
            if is_dim(dim) && is_part {
                along.push(dim);
            } else if let (Role::Level, [label], false) = (axis.role, axis.labels.as_slice(), is_told) {
                attributes.push((axis.name.clone(), label.into()));
            }
        }
        let own_dims = if shape.is_empty() { &[][..] } else { &grid.dims };
        let names = along.iter().map(|axis| axis.name.clone()).chain(own_dims.iter().cloned());
        let lens = along.iter().map(|axis| axis.labels.len() as u64).chain(shape.iter().copied());
        let pieces = Pieces {
            packed: None,
            dtype: *dtype,
            chunk: along.iter().map(|_| 1).chain(shape.iter().copied()).collect(),
            places: moved(cube, axes, &along),
            leading: along.len(),
            hole: options.hole_of(name, *dtype).unwrap_or_else(|| hole_of(*dtype)),
        };
        let dims: Vec<String> = names.collect();
        let mut name = name.clone();
        while dims.contains(&name) || coordinates.has(&name) || grid.coordinates.iter().any(|it| it.name == name) {
            name.push('_');
        }
        let unused = of_variable(&mut coordinates, &mut attributes, cube, &along, &name);
        unused_keys.extend(unused.iter().map(|key| format!("{name}: {key}, which differs between its objects")));
        if cube.repeated > 0 {
            notes.push(format!("{name}: {} objects are there twice", cube.repeated));
        }
        variables.push(Variable { name, dims, shape: lens.collect(), attributes, content: Content::Pieces(pieces) });
    }
    variables.sort_by(|a, b| a.name.cmp(&b.name));
    let mut coordinates = coordinates.finish();
    coordinates.extend(grid.coordinates);
    let archive = Arc::clone(archive);
    Dataset {
        attributes: Vec::new(),
        coordinates,
        variables,
        left_out,
        notes,
        unused_keys,
        unlimited: Vec::new(),
        appended: 0,
        is_of_files: false,
        archive,
    }
}

/// The level of fields of GRIB on one surface without a number, such as the ground or the mean sea: a label of 0, as cfgrib has it.
fn surface(gathered: &Gathered, chosen: &[Chosen]) -> Option<Axis> {
    let name = Some(&chosen.first()?.candidate.cube.kind.level).filter(|name| !name.is_empty())?;
    let is_on_it = |it: &Chosen| {
        it.candidate.cube.kind.level == *name
            && !it.axes.iter().any(|axis| axis.role == Role::Level)
            && of_example(gathered, &it.candidate.cube, "grib.typeOfLevel").is_some()
    };
    let labels = vec![Label::Float(Real(0.0))];
    chosen.iter().all(is_on_it).then(|| Axis { role: Role::Level, name: name.clone(), labels })
}

/// What an object of the cube has for a key.
fn of_example<'g>(gathered: &'g Gathered, cube: &Cube, key: &str) -> Option<Value<'g>> {
    let row = usize::try_from(cube.example).ok().and_then(|row| gathered.rows.get(row))?;
    gathered.value(&row.cells, key)
}

/// The places of a cube on the axes of its dataset.
fn moved(cube: &Cube, all: &[Axis], along: &[&Axis]) -> Vec<(u64, u32)> {
    // For each axis of the cube, where its labels are among the dataset's.
    let orders: Vec<(u64, Vec<u64>)> = cube
        .axes
        .iter()
        .map(|axis| {
            let dim = along.iter().find(|dim| dim.name == axis.name);
            let index: HashMap<&Label, u64> = dim.map_or_else(HashMap::new, |dim| dim.labels.iter().zip(0..).collect());
            let order = axis.labels.iter().map(|label| index.get(label).copied().unwrap_or(0)).collect();
            (axis.labels.len() as u64, order)
        })
        .collect();
    let fixed = |dim: &Axis| {
        let found = all.iter().find(|axis| axis.name == dim.name)?;
        let label = found.labels.first()?;
        dim.labels.iter().position(|other| other == label).map(|at| at as u64)
    };
    // Each dimension of the dataset: its length, and the number of the cube's axis or a fixed index.
    let plan: Vec<(u64, Result<usize, u64>)> = along
        .iter()
        .map(|dim| {
            let of_cube = cube.axes.iter().position(|axis| axis.name == dim.name);
            (dim.labels.len() as u64, of_cube.ok_or_else(|| fixed(dim).unwrap_or(0)))
        })
        .collect();
    let mut indices = vec![0_u64; cube.axes.len()];
    let mut places: Vec<(u64, u32)> = cube
        .places
        .iter()
        .map(|(place, object)| {
            let mut left = *place;
            for ((len, order), index) in orders.iter().zip(&mut indices).rev() {
                // The rest is below the number of labels, which are in memory.
                let at = usize::try_from(left % (*len).max(1)).ok();
                *index = at.and_then(|at| order.get(at)).copied().unwrap_or(0);
                left /= (*len).max(1);
            }
            let place = plan.iter().fold(0_u64, |place, (len, from)| {
                let index = match from {
                    Ok(number) => indices.get(*number).copied().unwrap_or(0),
                    Err(index) => *index,
                };
                // `misfit` has proven that the dimensions have a product.
                place * len + index
            });
            (place, *object)
        })
        .collect();
    places.sort_unstable();
    places
}
