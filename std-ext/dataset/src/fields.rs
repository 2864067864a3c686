//! Coordinates of datasets of fields.

use std::collections::HashMap;

use crate::columns::{STEP, VALID_TIME};
use crate::cube::{Axis, Cube, Role};
use crate::grid::attributes;
use crate::label::Label;
use crate::model::{Attribute, Attributes, Coordinate, Values};
use crate::moment::{NO_TIME, Times};

/// The name of the bounds of steps, and of the dimension of a start and an end.
const BOUNDS: (&str, &str) = ("step_bounds", "bounds");

/// Valid times that a dataset has at most, or for each of its objects, if that is more.
const VALID_TIMES: usize = 1 << 16;
const VALID_TIMES_OF_OBJECT: usize = 16;

/// The coordinates of a dataset in the making, and the number of each by its name.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldCoordinates {
    all: Vec<Coordinate>,
    numbers: HashMap<String, usize>,
}

impl FieldCoordinates {
    /// Adds an axis. One that is not a dimension has a single label.
    pub(crate) fn add_axis(&mut self, axis: &Axis, is_dim: bool) {
        let dims = if is_dim { vec![axis.name.clone()] } else { Vec::new() };
        self.push(Coordinate {
            name: axis.name.clone(),
            dims,
            values: Values::of_labels(&axis.labels),
            attributes: attributes_of(axis),
        });
    }

    fn push(&mut self, coordinate: Coordinate) {
        self.numbers.insert(coordinate.name.clone(), self.all.len());
        self.all.push(coordinate);
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    fn find(&self, name: &str) -> Option<&Coordinate> {
        self.numbers.get(name).and_then(|at| self.all.get(*at))
    }

    /// Adds the time for which a forecast is made, if there are times and steps. Returns why not, if these are too many for a dataset of
    /// so many objects.
    pub(crate) fn add_valid_time(&mut self, objects: usize) -> Option<String> {
        let (time, step) = (self.find("time")?, self.find(STEP)?);
        let (Values::Times(times), Values::Durations(steps)) = (&time.values, &step.values) else { return None };
        let count = times.len().checked_mul(steps.len());
        if count.is_none_or(|count| count > VALID_TIMES.max(objects.saturating_mul(VALID_TIMES_OF_OBJECT))) {
            let (times, steps) = (times.len(), steps.len());
            return Some(format!(
                "valid_time is left out: {times} times × {steps} steps are many for {objects} objects. It is time + step"
            ));
        }
        let times = times.seconds();
        let valid = times.iter().flat_map(|time| steps.iter().map(|step| time.checked_add(*step).unwrap_or(NO_TIME)));
        let values = Values::Times(Times::of_seconds(valid));
        let dims = time.dims.iter().chain(&step.dims).cloned().collect();
        let attributes = attributes([("standard_name", "time"), ("long_name", "time")]);
        self.push(Coordinate { name: VALID_TIME.into(), dims, values, attributes });
        None
    }

    pub(crate) fn finish(self) -> Vec<Coordinate> {
        self.all
    }
}

/// Adds what a cube brings along: labels that follow from an axis, and the bounds of its steps. Returns the keys whose labels
/// cannot be coordinates.
pub(crate) fn of_variable(
    coordinates: &mut FieldCoordinates,
    attributes: &mut Attributes,
    cube: &Cube,
    along: &[&Axis],
    name: &str,
) -> Vec<String> {
    let mut unused = cube.unused.clone();
    add_bounds(coordinates, attributes, cube, along, name);
    for found in cube.along.iter().filter(|found| found.name != "interval") {
        let axis = cube.axes.get(found.axis).filter(|axis| along.contains(axis));
        let labels = found.labels.iter().cloned().collect::<Option<Vec<Label>>>();
        // Where the cube was widened, labels are missing.
        let (Some(axis), Some(labels)) = (axis, labels) else {
            unused.push(found.name.clone());
            continue;
        };
        let coordinate = Coordinate {
            name: found.name.clone(),
            dims: vec![axis.name.clone()],
            values: Values::of_labels(&labels),
            attributes: Vec::new(),
        };
        match coordinates.find(&found.name) {
            None => coordinates.push(coordinate),
            Some(known) if *known == coordinate => {}
            Some(_) => unused.push(found.name.clone()),
        }
    }
    unused
}

/// Adds the bounds of the steps of a statistic. Variables with equal bounds share them.
fn add_bounds(
    coordinates: &mut FieldCoordinates,
    attributes: &mut Attributes,
    cube: &Cube,
    along: &[&Axis],
    variable: &str,
) {
    let own = cube.axes.iter().position(|axis| axis.role == Role::Step);
    let scalar: Vec<Label> =
        cube.scalars.iter().filter(|(role, _)| *role == Role::Step).map(|(_, label)| label.clone()).collect();
    let own_steps = own.and_then(|number| cube.axes.get(number)).map_or(scalar.as_slice(), |axis| &axis.labels);
    let along_steps = cube.along.iter().find(|it| it.name == "interval" && Some(it.axis) == own);
    // The length of the interval of each step that the cube has.
    let intervals =
        own_steps.iter().enumerate().map(|(at, step)| match along_steps.and_then(|found| found.labels.get(at)) {
            Some(Some(Label::Duration(seconds))) => (step, Some(*seconds)),
            _ => (step, cube.interval),
        });
    let intervals: HashMap<&Label, Option<i64>> = intervals.collect();
    let dim = along.iter().find(|axis| axis.role == Role::Step);
    let steps = dim.map_or(scalar.as_slice(), |axis| &axis.labels);
    let mut bounds = Vec::new();
    for step in steps {
        match (step, intervals.get(step).copied().flatten()) {
            (Label::Duration(end), Some(length)) => bounds.extend([end.checked_sub(length).unwrap_or(NO_TIME), *end]),
            _ => bounds.extend([NO_TIME, NO_TIME]),
        }
    }
    if cube.kind.statistic.is_none() || bounds.iter().all(|bound| *bound == NO_TIME) {
        return;
    }
    let values = Values::Durations(bounds);
    let mut name = BOUNDS.0.to_string();
    if coordinates.find(&name).is_some_and(|known| known.values != values) {
        name = format!("{variable}_{name}");
    }
    let dims = dim.map(|axis| axis.name.clone()).into_iter().chain([BOUNDS.1.to_string()]).collect();
    if !coordinates.has(&name) {
        coordinates.push(Coordinate { name: name.clone(), dims, values, attributes: Vec::new() });
    }
    attributes.push(("step_bounds".into(), Attribute::Text(name)));
}

fn attributes_of(axis: &Axis) -> Attributes {
    match axis.role {
        Role::Number => attributes([
            ("long_name", "ensemble member numerical id"),
            ("units", "1"),
            ("standard_name", "realization"),
        ]),
        Role::Time if axis.name == VALID_TIME => attributes([("long_name", "time"), ("standard_name", "time")]),
        Role::Time => {
            attributes([("long_name", "initial time of forecast"), ("standard_name", "forecast_reference_time")])
        }
        Role::Step => {
            attributes([("long_name", "time since forecast_reference_time"), ("standard_name", "forecast_period")])
        }
        Role::Level => level_attributes(&axis.name),
        Role::Other => Vec::new(),
    }
}

fn level_attributes(name: &str) -> Attributes {
    let of = |long: &str, units: &str, positive: &str, standard: &str| {
        attributes([("long_name", long), ("units", units), ("positive", positive), ("standard_name", standard)])
    };
    match name {
        "isobaricInhPa" | "isobaricInPa" => {
            let units = if name == "isobaricInPa" { "Pa" } else { "hPa" };
            let mut found = of("pressure", units, "down", "air_pressure");
            found.push(("stored_direction".into(), "decreasing".into()));
            found
        }
        "heightAboveGround" => of("height above the surface", "m", "up", "height"),
        "heightAboveSea" => of("height above mean sea level", "m", "up", "height_above_mean_sea_level"),
        "depthBelowLand" | "depthBelowLandLayer" => of("soil depth", "m", "down", "depth"),
        "depthBelowSea" => of("sea depth", "m", "down", "depth"),
        "hybrid" => of("hybrid level", "1", "down", "atmosphere_hybrid_sigma_pressure_coordinate"),
        other => {
            let long = format!("original GRIB coordinate for key: level({other})");
            vec![("long_name".into(), Attribute::Text(long)), ("units".into(), "1".into())]
        }
    }
}
