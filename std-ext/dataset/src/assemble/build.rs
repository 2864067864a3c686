//! Datasets out of the cubes that stand together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use tgm_core::cbor::Value;
use tgm_std::Result;

use super::candidate::Candidate;
use super::moved::{Dim, moved};
use super::sharing::Together;
use crate::archive::Archive;
use crate::attributes::attributes_of;
use crate::cube::{Axis, Cube, Role};
use crate::dataset::Dataset;
use crate::fields::{FieldCoordinates, of_variable};
use crate::gather::{Gathered, Row};
use crate::grid::{Grid, unplaced};
use crate::label::{Label, Real};
use crate::model::{Attribute, Attributes, Content, Pieces, Variable, hole_of};
use crate::options::OpenOptions;

/// What datasets are made of.
pub(super) struct Maker<'c> {
    pub(super) gathered: &'c Gathered,
    pub(super) archive: &'c Arc<Archive>,
    pub(super) grids: &'c [Grid],
    pub(super) candidates: &'c [Candidate],
    pub(super) options: &'c OpenOptions,
}

/// A dataset in the making.
struct Draft<'c> {
    grid: Grid,
    dims: Vec<Dim<'c>>,
    /// The number of each dimension.
    numbers: HashMap<&'c str, usize>,
    coordinates: FieldCoordinates,
    /// Names of variables and coordinates.
    taken: HashSet<String>,
    notes: Vec<String>,
    unused_keys: Vec<String>,
}

impl<'c> Maker<'c> {
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a cube with a label that the dataset lacks.
    pub(super) fn dataset(&self, together: &Together<'c>) -> Result<Dataset> {
        let members: Vec<&Candidate> = together.members.iter().filter_map(|it| self.candidates.get(*it)).collect();
        let mut draft = self.draft(together, &members);
        let variables = members.iter().map(|it| self.variable(it, &mut draft));
        let mut variables: Vec<Variable> = variables.collect::<Result<_>>()?;
        variables.sort_by(|a, b| a.name.cmp(&b.name));
        let mut coordinates = draft.coordinates.finish();
        coordinates.extend(draft.grid.coordinates);
        draft.notes.extend(joined_experiments(&members));
        Ok(Dataset {
            coordinates,
            projection: draft.grid.projection,
            variables,
            notes: draft.notes,
            unused_keys: draft.unused_keys,
            ..Dataset::empty(self.archive)
        })
    }

    fn draft(&self, together: &Together<'c>, members: &[&'c Candidate]) -> Draft<'c> {
        // One label is a coordinate without a dimension if all variables have it: a field that is of no member gets none.
        let is_dim = |axis: &Axis| {
            let is_of = |it: &&Candidate| it.axes.iter().any(|own| own.name == axis.name);
            axis.labels.len() > 1 || !self.options.squeeze || !members.iter().all(is_of)
        };
        let dims = together.dims(self.candidates).into_iter().map(|axis| Dim::new(axis, is_dim(axis)));
        let dims: Vec<Dim<'_>> = dims.collect();
        let numbers: HashMap<&str, usize> = dims.iter().map(|dim| dim.axis.name.as_str()).zip(0..).collect();
        let mut grid = self.grids.get(together.grid).cloned().unwrap_or_default();
        grid.avoid(|name| numbers.contains_key(name));
        let mut coordinates = FieldCoordinates::default();
        for dim in &dims {
            coordinates.add_axis(dim.axis, dim.is_dim);
        }
        if let Some(surface) = self.surface(members) {
            coordinates.add_axis(&surface, false);
        }
        let objects = members.iter().map(|it| it.cube.places.len()).sum();
        let notes = coordinates.add_valid_time(objects).into_iter().collect();
        let of_grid = grid.coordinates.iter().map(|it| it.name.clone());
        let taken = of_grid.chain(members.iter().map(|it| it.cube.kind.name.clone())).collect();
        let unused_keys = Vec::from_iter(self.gathered.unread.clone());
        Draft { grid, dims, numbers, coordinates, taken, notes, unused_keys }
    }

    fn variable(&self, candidate: &Candidate, draft: &mut Draft<'c>) -> Result<Variable> {
        let Candidate { cube, shape, dtype, axes, .. } = candidate;
        let in_metadata = ["grib.parameterUnits", "grib.parameterName"].map(|key| self.of_example(cube, key));
        let mut attributes = attributes_of(cube, self.of_example(cube, "attributes"), &in_metadata);
        self.add_unplaced(cube, &mut attributes);
        let along = Self::along(axes, draft, &mut attributes);
        let name = name_of(candidate, &along, draft);
        let own_dims = if shape.is_empty() { &[][..] } else { &draft.grid.dims };
        let dims = along.iter().map(|dim| dim.axis.name.clone()).chain(own_dims.iter().cloned());
        let lens = along.iter().map(|dim| dim.len()).chain(shape.iter().copied());
        let pieces = Pieces {
            packed: None,
            dtype: *dtype,
            chunk: along.iter().map(|_| 1).chain(shape.iter().copied()).collect(),
            places: moved(cube, axes, &along)?,
            leading: along.len(),
            hole: self.options.hole_of(&cube.kind.name, *dtype).unwrap_or_else(|| hole_of(*dtype)),
        };
        let (dims, shape) = (dims.collect(), lens.collect());
        let along: Vec<&Axis> = along.iter().map(|dim| dim.axis).collect();
        let unused = of_variable(&mut draft.coordinates, &mut attributes, cube, &along, &name);
        let differs = |key: &String| format!("{name}: {key}, which differs between its objects");
        draft.unused_keys.extend(unused.iter().map(differs));
        if cube.repeated > 0 {
            draft.notes.push(format!("{name}: {} objects are there twice", cube.repeated));
        }
        Ok(Variable { name, dims, shape, attributes, content: Content::Pieces(pieces) })
    }

    /// The dimensions of the dataset that a cube has. A level that is not a label of the dataset becomes an attribute.
    fn along<'d>(axes: &[Axis], draft: &'d Draft<'c>, attributes: &mut Attributes) -> Vec<&'d Dim<'c>> {
        let mut along = Vec::new();
        for axis in axes {
            let dim = draft.numbers.get(axis.name.as_str()).and_then(|at| draft.dims.get(*at));
            match (dim.filter(|dim| dim.has_all(axis)), axis.role, axis.labels.as_slice()) {
                (Some(dim), ..) if dim.is_dim => along.push(dim),
                (None, Role::Level, [label]) => attributes.push((axis.name.clone(), label.into())),
                // A coordinate has its only label.
                _ => {}
            }
        }
        along
    }

    /// The level of fields of GRIB on one surface without a number, such as the ground or the mean sea: a label of 0, as cfgrib has it.
    fn surface(&self, members: &[&Candidate]) -> Option<Axis> {
        let name = Some(&members.first()?.cube.kind.level).filter(|name| !name.is_empty())?;
        let is_on_it = |it: &&Candidate| {
            it.cube.kind.level == *name
                && !it.axes.iter().any(|axis| axis.role == Role::Level)
                && self.of_example(&it.cube, "grib.typeOfLevel").is_some()
        };
        let labels = vec![Label::Float(Real(0.0))];
        members.iter().all(is_on_it).then(|| Axis { role: Role::Level, name: name.clone(), labels })
    }

    /// Adds the numbers that describe a grid without places. Objects with other ones are another cube.
    fn add_unplaced(&self, cube: &Cube, attributes: &mut Attributes) {
        let found = self.example(cube).map_or_else(Vec::new, |row| unplaced(self.gathered, &row.cells));
        for (name, number) in found {
            if !attributes.iter().any(|(known, _)| known == name) {
                attributes.push((name.into(), Attribute::Integer(number)));
            }
        }
    }

    fn example(&self, cube: &Cube) -> Option<&'c Row> {
        usize::try_from(cube.example).ok().and_then(|row| self.gathered.rows.get(row))
    }

    /// What an object of the cube has for a key.
    fn of_example(&self, cube: &Cube, key: &str) -> Option<Value<'c>> {
        self.gathered.value(&self.example(cube)?.cells, key)
    }
}

/// The name of a variable: the name of its cube, unless a dimension or a coordinate has that.
fn name_of(candidate: &Candidate, along: &[&Dim<'_>], draft: &Draft<'_>) -> String {
    let mut name = candidate.cube.kind.name.clone();
    let is_dim = |name: &String| along.iter().any(|dim| dim.axis.name == *name) || draft.grid.dims.contains(name);
    let is_coordinate =
        |name: &str| draft.coordinates.has(name) || draft.grid.coordinates.iter().any(|it| it.name == name);
    while is_dim(&name) || is_coordinate(&name) || (name != candidate.cube.kind.name && draft.taken.contains(&name)) {
        name.push('_');
    }
    name
}

/// A note of variables whose objects are of several experiments. The last months of ERA5 are of another one than those before.
fn joined_experiments(members: &[&Candidate]) -> Vec<String> {
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for cube in members.iter().map(|it| &it.cube).filter(|cube| !cube.experiments.is_empty()) {
        let experiments: Vec<String> = cube.experiments.iter().map(Label::to_string).collect();
        names.entry(experiments.join(", ")).or_default().push(&cube.kind.name);
    }
    let note = |(experiments, names): (String, Vec<&str>)| {
        format!("{}: objects of the experiments {experiments} (expver) are joined", names.join(", "))
    };
    names.into_iter().map(note).collect()
}
