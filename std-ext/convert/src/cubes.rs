//! Fields of many messages as variables over time, step, level and the like, for formats of arrays with names.
//!
//! ```text
//! datasets ─► Plan: dimensions, coordinates and variables, each with a name of its own ─► the format defines them
//! each variable ─► boxes: decoded by all threads, beside the writing ─► the format writes them
//! ```
//! Datasets whose dimensions or coordinates are equal share them. Otherwise the later ones have numbers after their names.

mod apart;
mod boxes;
mod labels;

use std::collections::{BTreeMap, BTreeSet};

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_dataset::{Attribute, Coordinate, Dataset, Indices, Values, Variable, short_level};
use tgm_std::{GlobalMetadata, Result, decode_descriptors};

use apart::{Along, Apart};
pub(super) use boxes::{Boxed, chunk_of, each_batch};
pub(super) use labels::{Content, Labels};

use crate::error::encoding;
use crate::given::widened;
use crate::note::Note;

/// Attributes, by their names.
pub(super) type Entries = Vec<(Value, Value)>;

/// Whether a message holds fields: its objects have keys of MARS or GRIB, and were not made of variables of a file.
///
/// # Errors
/// The errors of reading metadata.
pub fn is_of_fields(message: &[u8]) -> Result<bool> {
    Ok(has_fields(&decode_descriptors(message)?.0))
}

fn has_fields(global: &GlobalMetadata) -> bool {
    let is_any = |keys: &[&str]| {
        let of_objects = global.base.iter().any(|entry| keys.iter().any(|key| entry.contains_key(*key)));
        of_objects || keys.iter().any(|key| global.extra.contains_key(*key))
    };
    is_any(&["mars", "grib"]) && !is_any(&["netcdf", "zarr"])
}

/// Names and dimensions of all that is written.
#[derive(Default)]
pub(super) struct Plan<'d> {
    pub(super) dims: Vec<(String, u64)>,
    pub(super) coordinates: Vec<Labels>,
    pub(super) variables: Vec<Planned<'d>>,
    /// What the dimensions were called, and what lies along them.
    known_dims: Vec<(String, u64, Along<'d>)>,
    known_coordinates: Vec<(&'d Coordinate, Vec<String>, String)>,
    /// The variables whose values are rounded to `float32`.
    rounded: Vec<&'d str>,
    /// Names that variables on several types of level have.
    on_levels: BTreeSet<&'d str>,
}

/// A variable to write.
pub(super) struct Planned<'d> {
    pub(super) dataset: &'d Dataset,
    pub(super) variable: &'d Variable,
    pub(super) name: String,
    /// The dimensions in the file: of length one, where the dataset is set apart from others, and then the dimensions of the variable.
    pub(super) dims: Vec<String>,
    /// The type of what is written.
    pub(super) dtype: Dtype,
    pub(super) attributes: Entries,
}

/// What a format has for the names and types of variables.
pub(super) struct Target<'t> {
    /// A name that nothing has yet, near the wanted one.
    pub(super) free: &'t mut dyn FnMut(&str) -> String,
    /// The type that stands for one of elements. `None` for elements that cannot be written.
    pub(super) dtype: fn(Dtype) -> Option<Dtype>,
    /// Whether packed values are written as `float64`, also where `float32` tells them apart.
    pub(super) float64: bool,
}

impl<'d> Plan<'d> {
    /// Plans these datasets. What cannot be written is given to `report`: values that are left out are failures.
    pub(super) fn of(datasets: &'d [Dataset], target: &mut Target<'_>, report: &mut dyn FnMut(Note)) -> Self {
        let mut plan = Self { on_levels: on_several_levels(datasets), ..Self::default() };
        let unused: BTreeSet<&str> = datasets.iter().flat_map(|it| &it.unused_keys).map(String::as_str).collect();
        if !unused.is_empty() {
            let keys: Vec<&str> = unused.into_iter().collect();
            report(Note::not_kept("metadata", format!("keys of fields: {}", keys.join(", "))));
        }
        for dataset in datasets {
            plan.add(dataset, &Apart::of(dataset, datasets), target, report);
        }
        // What one dataset leaves out is in another one, unless it is too large for any.
        let is_there = |name: &str| datasets.iter().any(|dataset| dataset.variable(name).is_some());
        for left_out in datasets.iter().flat_map(|dataset| &dataset.left_out).filter(|it| !is_there(&it.name)) {
            report(Note::failed("fields", encoding(left_out.to_string())));
        }
        if !plan.rounded.is_empty() {
            let what = "packed values are rounded to float32, which tells all of them apart";
            report(Note::remark(plan.rounded.join(", "), what));
        }
        plan
    }

    fn add(&mut self, dataset: &'d Dataset, apart: &Apart<'d>, target: &mut Target<'_>, report: &mut dyn FnMut(Note)) {
        for note in &dataset.notes {
            report(Note::remark("fields", note));
        }
        let mut dims: Vec<(&str, String)> = Vec::new();
        for variable in &dataset.variables {
            for (dim, len) in variable.dims.iter().zip(&variable.shape) {
                if !dims.iter().any(|(known, _)| known == dim) {
                    dims.push((dim, self.dim(dim, *len, Along::of(dataset, dim), target)));
                }
            }
        }
        let coordinates = || dataset.coordinates.iter().chain(&dataset.projection);
        // Such as the two ends of an interval.
        for coordinate in coordinates() {
            for dim in &coordinate.dims {
                if !dims.iter().any(|(known, _)| known == dim) {
                    let len = len_of(coordinate, &dims, dim, self);
                    dims.push((dim, self.dim(dim, len, Along::of(dataset, dim), target)));
                }
            }
        }
        let made: Vec<String> = apart.made.iter().map(|it| self.dim(&it.name, 1, Along::Index(it), target)).collect();
        dims.extend(apart.made.iter().zip(&made).map(|(it, name)| (it.name.as_str(), name.clone())));
        let in_file = |wanted: &[String]| -> Vec<String> {
            let name = |dim: &String| dims.iter().find(|(known, _)| known == dim).map(|(_, name)| name.clone());
            wanted.iter().filter_map(name).collect()
        };
        let mut names: Vec<(&str, String, Vec<String>)> = Vec::new();
        let (mut mapping, mut levels) = (None, Entries::new());
        for coordinate in coordinates() {
            if let Some(level) = apart.one_level(coordinate) {
                levels.push((coordinate.name.as_str().into(), level.into()));
                continue;
            }
            let besides = apart.besides(coordinate).map(str::to_string);
            let own = in_file(&besides.into_iter().chain(coordinate.dims.iter().cloned()).collect::<Vec<_>>());
            let is_index = dataset.index(coordinate.dims.first()).is_some_and(|index| std::ptr::eq(index, coordinate));
            let name = if is_index || apart.made.iter().any(|made| std::ptr::eq(*made, coordinate)) {
                own.first().cloned().unwrap_or_default()
            } else {
                self.coordinate(coordinate, &own, target)
            };
            if dataset.projection.first().is_some_and(|it| std::ptr::eq(it, coordinate)) {
                mapping = Some(name);
                continue;
            }
            names.push((&coordinate.name, name, own));
        }
        let of_grid: Vec<String> =
            in_file(&dataset.projection.iter().flat_map(|it| it.dims.clone()).collect::<Vec<_>>());
        for variable in &dataset.variables {
            let Some(of_values) = variable.dtype() else { continue };
            let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::all(*len)).collect();
            if let Err(error) = dataset.check_places(&variable.name, &all) {
                report(Note::failed(&variable.name, error));
                continue;
            }
            let Some(mut dtype) = (target.dtype)(of_values) else {
                report(Note::failed(&variable.name, encoding(format!("the format has no {}", of_values.name()))));
                continue;
            };
            if dtype == Dtype::Float64 && !target.float64 && dataset.fits_float32(&variable.name) {
                dtype = Dtype::Float32;
                self.rounded.push(&variable.name);
            }
            let own: Vec<String> = made.iter().cloned().chain(in_file(&variable.dims)).collect();
            let is_along = |(_, name, dims): &&(&str, String, Vec<String>)| {
                !own.contains(name) && dims.iter().all(|dim| own.contains(dim))
            };
            // Latitudes and longitudes of points come first: cdo reads four names.
            let mut along: Vec<_> = names.iter().filter(is_along).collect();
            along.sort_by_key(|(.., dims)| std::cmp::Reverse(dims.len()));
            let along: Vec<&str> = along.into_iter().map(|(_, name, _)| name.as_str()).collect();
            let renamed = |wanted: &str| {
                let found = names.iter().find(|(known, ..)| *known == wanted).map(|(_, name, _)| name.clone());
                found.unwrap_or_else(|| wanted.to_string())
            };
            let mut attributes: Entries = variable
                .attributes
                .iter()
                .map(|(key, value)| (key.as_str().into(), told(key, value, &renamed)))
                .collect();
            attributes.extend(levels.iter().cloned());
            if !along.is_empty() && !variable.attributes.iter().any(|(key, _)| key == "coordinates") {
                attributes.push(("coordinates".into(), along.join(" ").into()));
            }
            if let Some(mapping) = mapping.as_ref().filter(|_| of_grid.iter().all(|dim| own.contains(dim))) {
                attributes.push(("grid_mapping".into(), mapping.as_str().into()));
            }
            let name = (target.free)(&self.wanted(variable));
            if name != variable.name {
                let what = format!("the name: it becomes {name}, as another variable has it");
                report(Note::remark(&variable.name, what));
            }
            self.variables.push(Planned { dataset, variable, name, dims: own, dtype, attributes });
        }
    }

    /// The name that a variable should have. One of several on different types of level says its own: `t_pl` and `t_ml`.
    fn wanted(&self, variable: &Variable) -> String {
        let level = level_of(variable).filter(|_| self.on_levels.contains(variable.name.as_str()));
        level.map_or_else(|| variable.name.clone(), |level| format!("{}_{}", variable.name, short_level(level)))
    }

    /// The dimension with these labels: an equal one, or a new one.
    fn dim(&mut self, wanted: &str, len: u64, along: Along<'d>, target: &mut Target<'_>) -> String {
        let is_same = |(known, known_len, known_along): &(String, u64, Along<'_>)| {
            (known.as_str(), *known_len, known_along) == (wanted, len, &along)
        };
        if let Some(found) = self.known_dims.iter().position(is_same).and_then(|at| self.dims.get(at)) {
            return found.0.clone();
        }
        let index = if let Along::Index(index) = &along { Some(*index) } else { None };
        let name = (target.free)(index.map_or(wanted, |index| &index.name));
        self.known_dims.push((wanted.to_string(), len, along));
        self.dims.push((name.clone(), len));
        if let Some(index) = index {
            self.coordinates.push(Labels::of(index, name.clone(), vec![name.clone()]));
        }
        name
    }

    /// A coordinate that does not label a dimension by itself: an equal one, or a new one. The first of these dimensions can be one more
    /// than the coordinate has.
    fn coordinate(&mut self, coordinate: &'d Coordinate, dims: &[String], target: &mut Target<'_>) -> String {
        let is_same = |(known, own, _): &&(&Coordinate, Vec<String>, String)| *known == coordinate && own == dims;
        if let Some((.., name)) = self.known_coordinates.iter().find(is_same) {
            return name.clone();
        }
        let name = (target.free)(&coordinate.name);
        self.known_coordinates.push((coordinate, dims.to_vec(), name.clone()));
        let mut labels = Labels::of(coordinate, name.clone(), dims.to_vec());
        if dims.len() > coordinate.dims.len() {
            labels.repeat(self.dims.iter().find(|(dim, _)| Some(dim) == dims.first()).map_or(1, |(_, len)| *len));
        }
        self.coordinates.push(labels);
        name
    }
}

/// The names that variables on several types of level have.
fn on_several_levels(datasets: &[Dataset]) -> BTreeSet<&str> {
    let mut levels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for variable in datasets.iter().flat_map(|it| &it.variables) {
        levels.entry(&variable.name).or_default().extend(level_of(variable));
    }
    levels.into_iter().filter(|(_, levels)| levels.len() > 1).map(|(name, _)| name).collect()
}

/// The type of level of a variable.
fn level_of(variable: &Variable) -> Option<&str> {
    match variable.attributes.iter().find(|(name, _)| name == "typeOfLevel") {
        Some((_, Attribute::Text(level))) => Some(level),
        _ => None,
    }
}

/// The number of a coordinate that is the one level of all variables of a dataset.
fn one_level(dataset: &Dataset, coordinate: &Coordinate) -> Option<f64> {
    let is_level = dataset.variables.iter().all(|it| level_of(it) == Some(&coordinate.name));
    match &coordinate.values {
        Values::Floats(numbers) if is_level && coordinate.dims.is_empty() => numbers.first().copied(),
        _ => None,
    }
}

/// The length of the one dimension of a coordinate that no variable has.
fn len_of(coordinate: &Coordinate, dims: &[(&str, String)], dim: &str, plan: &Plan<'_>) -> u64 {
    let others = coordinate.dims.iter().filter(|other| *other != dim);
    let lens = others.filter_map(|other| {
        let (_, name) = dims.iter().find(|(known, _)| known == other)?;
        plan.dims.iter().find(|(known, _)| known == name).map(|(_, len)| *len)
    });
    coordinate.values.len() as u64 / lens.product::<u64>().max(1)
}

/// An attribute as metadata has it. Names of coordinates in it are those that are written.
fn told(key: &str, value: &Attribute, renamed: &dyn Fn(&str) -> String) -> Value {
    match (key, value) {
        ("step_bounds", Attribute::Text(name)) => renamed(name).into(),
        ("cell_methods", Attribute::Text(text)) => match text.split_once(": ") {
            Some((name, method)) => format!("{}: {method}", renamed(name)).into(),
            None => text.as_str().into(),
        },
        (_, value) => value.into(),
    }
}

/// Elements of one type as another, which holds them, or rounds `float64` to `float32`.
fn converted(bytes: Vec<u8>, from: Dtype, to: Dtype) -> Result<Vec<u8>> {
    match (from, to) {
        #[expect(clippy::cast_possible_truncation, reason = "the nearest number is wanted")]
        (Dtype::Float64, Dtype::Float32) => {
            Ok(bytes.as_chunks().0.iter().flat_map(|value| (f64::from_ne_bytes(*value) as f32).to_ne_bytes()).collect())
        }
        (_, Dtype::Float32) => widened(from, bytes),
        _ => Ok(bytes),
    }
}
