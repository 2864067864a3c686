//! Objects of one kind as cubes: axes, places and holes.
//!
//! ```text
//! axes := number, time, step, level, as far as they vary
//! if two objects have one place, and differ in an interval, class, stream, type, version or domain: divide the objects by it
//! each other key that tells objects of one place apart becomes an axis, and then each key of GRIB
//! objects that still have one place are the same object twice, with the same metadata, or an error
//! ```
//! A key that follows from an axis becomes a coordinate along it. A key that does not vary becomes an attribute. So the
//! result does not depend on the order of messages.

use std::collections::{BTreeMap, HashMap, HashSet};

use tgm_std::Result;

use crate::archive::{Archive, bad};
use crate::columns::{ABSENT, Column, Columns, Kind, LastColumns};
use crate::label::{Label, Real};
use crate::options::Duplicates;

/// What an axis is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    Number,
    Time,
    Step,
    Level,
    Other,
}

/// Labels that vary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Axis {
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) labels: Vec<Label>,
}

impl Axis {
    /// Whether it is one level.
    pub(crate) fn is_single_level(&self) -> bool {
        self.role == Role::Level && self.labels.len() == 1
    }
}

/// Labels along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Along {
    pub(crate) name: String,
    /// The number of the axis.
    pub(crate) axis: usize,
    pub(crate) labels: Vec<Option<Label>>,
}

/// Objects of one kind, each at its place.
#[derive(Clone, Debug)]
pub(crate) struct Cube {
    pub(crate) kind: Kind,
    pub(crate) axes: Vec<Axis>,
    /// Row-major places, in order, each with the number of its object.
    pub(crate) places: Vec<(u64, u32)>,
    /// The name of its times: `time`, or `valid_time` where that is one with the steps.
    pub(crate) time_name: String,
    /// Labels of number, time, step and level that do not vary.
    pub(crate) scalars: Vec<(Role, Label)>,
    pub(crate) along: Vec<Along>,
    /// Other labels that do not vary.
    pub(crate) constants: Vec<(String, Label)>,
    /// The length of the interval in seconds, if all objects have one and it is not 0.
    pub(crate) interval: Option<i64>,
    /// The experiments of its objects, if these are of several.
    pub(crate) experiments: Vec<Label>,
    /// Keys whose values follow from no axis.
    pub(crate) unused: Vec<String>,
    /// Objects that are there twice.
    pub(crate) repeated: usize,
    /// One of its objects.
    pub(crate) example: u32,
}

impl Cube {
    /// Pressures are in Pa, if one of them is less than 1 hPa.
    fn scale_pressures(&mut self) {
        let axes = self.axes.iter_mut().filter(|axis| axis.role == Role::Level);
        let scalars = self.scalars.iter_mut().filter(|(role, _)| *role == Role::Level).map(|(_, label)| label);
        let levels: Vec<&mut Label> = axes.flat_map(|axis| &mut axis.labels).chain(scalars).collect();
        let is_low = |label: &&mut Label| matches!(label, Label::Float(Real(level)) if *level < 1.0);
        if self.kind.level != "isobaricInhPa" || !levels.iter().any(is_low) {
            return;
        }
        for label in levels {
            if let Label::Float(Real(level)) = label {
                // Rounded to the number that people write.
                *level = (*level * 1e8).round() / 1e6;
            }
        }
        self.kind.level = "isobaricInPa".into();
        for axis in self.axes.iter_mut().filter(|axis| axis.role == Role::Level) {
            axis.name.clone_from(&self.kind.level);
        }
    }
}

/// All cubes, in an order that does not depend on the order of messages.
///
/// # Errors
/// Two different objects for one place, if they are an error.
pub(crate) fn cubes(
    archive: &Archive,
    (columns, last): (&Columns, &LastColumns<'_>),
    duplicates: Duplicates,
) -> Result<Vec<Cube>> {
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); columns.kinds.len()];
    for (row, kind) in columns.kind_of.iter().enumerate() {
        let group = usize::try_from(*kind).ok().and_then(|kind| groups.get_mut(kind));
        if let (Some(group), Ok(row)) = (group, u32::try_from(row)) {
            group.push(row);
        }
    }
    let mut found = Vec::new();
    for (kind, rows) in columns.kinds.iter().zip(groups) {
        let mut work = vec![rows];
        while let Some(rows) = work.pop() {
            match Group::new((columns, last), kind, rows).divided() {
                Ok(group) => found.push(group.cube(archive, duplicates)?),
                Err(parts) => work.extend(parts),
            }
        }
    }
    Ok(found)
}

/// Objects of one kind.
struct Group<'c> {
    columns: &'c Columns,
    last: &'c LastColumns<'c>,
    kind: &'c Kind,
    rows: Vec<u32>,
    axes: Vec<(Role, &'c Column)>,
    /// For each object a number of its place.
    places: Vec<u32>,
    /// The number of places.
    count: usize,
}

fn at(column: &Column, row: u32) -> u32 {
    usize::try_from(row).map_or(ABSENT, |row| column.code(row))
}

impl<'c> Group<'c> {
    fn new((columns, last): (&'c Columns, &'c LastColumns<'c>), kind: &'c Kind, rows: Vec<u32>) -> Self {
        let places = vec![0; rows.len()];
        let count = usize::from(!rows.is_empty());
        Self { columns, last, kind, rows, axes: Vec::new(), places, count }
    }

    fn roles(&self) -> [(Role, &'c Column); 4] {
        let columns = self.columns;
        [
            (Role::Number, &columns.number),
            (Role::Time, &columns.time),
            (Role::Step, &columns.step),
            (Role::Level, &columns.level),
        ]
    }

    /// The code of an object. A control forecast without a number is member 0 of an ensemble.
    fn code(&self, role: Role, column: &Column, row: u32) -> u32 {
        let code = at(column, row);
        if role != Role::Number || code != ABSENT {
            return code;
        }
        let is_control = self.columns.splits.iter().any(|split| {
            let label = split.label(at(split, row)).and_then(Label::as_text);
            split.name == "type" && label == Some("cf")
        });
        if is_control { self.columns.member_0 } else { ABSENT }
    }

    /// The places if a column is an axis too: for each object, and their number.
    fn refined(&self, role: Role, column: &Column) -> (Vec<u32>, usize) {
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        let places = self.rows.iter().zip(&self.places).map(|(row, place)| {
            let next = u32::try_from(known.len()).unwrap_or(ABSENT);
            *known.entry((*place, self.code(role, column, *row))).or_insert(next)
        });
        let places = places.collect();
        (places, known.len())
    }

    /// Makes a column an axis, if it tells objects apart.
    fn try_axis(&mut self, role: Role, column: &'c Column) {
        let (places, count) = self.refined(role, column);
        if count > self.count {
            (self.places, self.count) = (places, count);
            self.axes.push((role, column));
        }
    }

    fn parts(&self, code: impl Fn(u32) -> u32) -> Vec<Vec<u32>> {
        let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for row in &self.rows {
            parts.entry(code(*row)).or_default().push(*row);
        }
        parts.into_values().collect()
    }

    /// The group with its axes, or the parts that are groups of their own.
    fn divided(mut self) -> std::result::Result<Self, Vec<Vec<u32>>> {
        for (role, column) in self.roles() {
            let mut codes = self.rows.iter().map(|row| self.code(role, column, *row));
            let first = codes.next();
            if !codes.any(|code| Some(code) != first) {
                continue;
            }
            // Some objects have it, and some do not: they are not of one kind.
            if self.rows.iter().any(|row| self.code(role, column, *row) == ABSENT) {
                return Err(self.parts(|row| u32::from(self.code(role, column, row) == ABSENT)));
            }
            let (places, count) = self.refined(role, column);
            (self.places, self.count) = (places, count);
            self.axes.push((role, column));
        }
        for column in &self.columns.splits {
            if self.count == self.rows.len() {
                return Ok(self);
            }
            if self.refined(Role::Other, column).1 > self.count {
                return Err(self.parts(|row| at(column, row)));
            }
        }
        for column in &self.columns.others {
            if self.count == self.rows.len() {
                return Ok(self);
            }
            self.try_axis(Role::Other, column);
        }
        while self.count < self.rows.len() {
            let counted = self.last.get().iter().map(|column| (self.refined(Role::Other, column).1, column));
            // The one that tells the most apart, and of equals the first.
            let best = counted.reduce(|best, next| if next.0 > best.0 { next } else { best });
            let Some((_, column)) = best.filter(|(count, _)| *count > self.count) else { break };
            self.try_axis(Role::Other, column);
        }
        Ok(self)
    }

    /// The label of a code, also of the one that [`Self::code`] makes up.
    fn label(role: Role, column: &Column, code: u32) -> Option<Label> {
        let is_made_up = role == Role::Number && usize::try_from(code) == Ok(column.labels.len());
        if is_made_up { Some(Label::Integer(0)) } else { column.label(code).cloned() }
    }

    fn cube(self, archive: &Archive, duplicates: Duplicates) -> Result<Cube> {
        let (axes, orders): (Vec<Axis>, Vec<_>) =
            self.axes.iter().map(|(role, column)| self.axis(*role, column)).unzip();
        let objects = self.placed(&axes, &orders)?;
        let places = self.without_duplicates(archive, duplicates, &axes, objects)?;
        let repeated = self.rows.len() - places.len();
        let mut cube = Cube {
            kind: self.kind.clone(),
            axes,
            places,
            time_name: self.columns.time.name.clone(),
            scalars: Vec::new(),
            along: Vec::new(),
            constants: Vec::new(),
            interval: None,
            experiments: Vec::new(),
            unused: Vec::new(),
            repeated,
            example: self.rows.first().copied().unwrap_or(0),
        };
        let is_axis = |role: Role| self.axes.iter().any(|(axis, _)| *axis == role);
        for (role, column) in self.roles().into_iter().filter(|(role, _)| !is_axis(*role)) {
            let label = Self::label(role, column, self.code(role, column, cube.example));
            cube.scalars.extend(label.map(|label| (role, label)));
        }
        self.add_others(&mut cube, &orders);
        cube.scale_pressures();
        Ok(cube)
    }

    /// The objects by their places in the axes, in order.
    fn placed(&self, axes: &[Axis], orders: &[HashMap<u32, u64>]) -> Result<Vec<(u64, u32)>> {
        let mut objects: Vec<(u64, u32)> = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let mut place = 0_u64;
            for ((role, column), (axis, order)) in self.axes.iter().zip(axes.iter().zip(orders)) {
                let index = order.get(&self.code(*role, column, *row)).copied().unwrap_or(0);
                let next = place.checked_mul(axis.labels.len() as u64).and_then(|place| place.checked_add(index));
                place = next.ok_or_else(|| bad(format!("{}: its axes have more than 2^64 places", self.kind.name)))?;
            }
            objects.push((place, *row));
        }
        objects.sort_unstable();
        Ok(objects)
    }

    /// Adds what the columns say that are not axes: labels along an axis, labels that do not vary, and keys that follow from none.
    fn add_others(&self, cube: &mut Cube, orders: &[HashMap<u32, u64>]) {
        for (number, column) in self.columns.splits.iter().chain(&self.columns.others).enumerate() {
            if self.axes.iter().any(|(_, axis)| std::ptr::eq(*axis, column)) {
                continue;
            }
            let codes: HashSet<u32> = self.rows.iter().map(|row| at(column, *row)).collect();
            if codes.len() > 1 {
                if column.name == "expver" {
                    cube.experiments = codes.iter().filter_map(|code| column.label(*code).cloned()).collect();
                    cube.experiments.sort_unstable();
                }
                match self.along(column, orders) {
                    Some(along) => cube.along.push(along),
                    None if number > 0 => cube.unused.push(column.name.clone()),
                    None => {}
                }
            } else if let Some(label) = column.label(at(column, cube.example)) {
                match label {
                    Label::Duration(seconds) if number == 0 => cube.interval = Some(*seconds).filter(|it| *it != 0),
                    label => cube.constants.push((column.name.clone(), label.clone())),
                }
            }
        }
    }

    /// An axis, and the place of each code on it.
    fn axis(&self, role: Role, column: &Column) -> (Axis, HashMap<u32, u64>) {
        let codes: HashSet<u32> = self.rows.iter().map(|row| self.code(role, column, *row)).collect();
        // Labels that are missing come first.
        let labels = codes.into_iter().map(|code| (Self::label(role, column, code), code));
        let mut labels: Vec<(Option<Label>, u32)> = labels.collect();
        labels.sort_unstable();
        // Pressure falls with height.
        if role == Role::Level && self.kind.level.starts_with("isobaric") {
            labels.reverse();
        }
        let order = labels.iter().zip(0_u64..).map(|((_, code), index)| (*code, index)).collect();
        let labels = labels.into_iter().map(|(label, _)| label.unwrap_or_else(|| Label::Text("".into()))).collect();
        let name = if role == Role::Level { self.kind.level.clone() } else { column.name.clone() };
        let name = if name.is_empty() { "level".into() } else { name };
        (Axis { role, name, labels }, order)
    }

    /// One object for each place.
    fn without_duplicates(
        &self,
        archive: &Archive,
        duplicates: Duplicates,
        axes: &[Axis],
        objects: Vec<(u64, u32)>,
    ) -> Result<Vec<(u64, u32)>> {
        let mut places: Vec<(u64, u32)> = Vec::with_capacity(objects.len());
        for (place, row) in objects {
            let Some((_, before)) = places.last_mut().filter(|(before, _)| *before == place) else {
                places.push((place, row));
                continue;
            };
            let (one, other) = (archive.entry(*before)?.1, archive.entry(row)?.1);
            let differing = self.last.gathered.differing(*before, row);
            let is_same = differing.is_empty()
                && one.length == other.length
                && archive.digest(*before)?.is_some()
                && archive.digest(*before)? == archive.digest(row)?;
            match duplicates {
                _ if is_same => {}
                Duplicates::First => {}
                Duplicates::Last => *before = row,
                Duplicates::Error => {
                    let labels = labels_at(axes, place);
                    let place = if labels.is_empty() { String::new() } else { format!(" at {labels}") };
                    let (one, other) = (archive.place(*before), archive.place(row));
                    let by = differing.join(", ");
                    let by = if by.is_empty() { by } else { format!(", which differ by {by}") };
                    return Err(bad(format!(
                        "{}{place}: two objects for one place, {one} and {other}{by}; take the first or the last one \
                         (duplicates)",
                        self.kind.name
                    )));
                }
            }
        }
        Ok(places)
    }

    /// A column that follows from one axis.
    fn along(&self, column: &Column, orders: &[HashMap<u32, u64>]) -> Option<Along> {
        for (number, ((role, axis), order)) in self.axes.iter().zip(orders).enumerate() {
            let mut found: BTreeMap<u64, u32> = BTreeMap::new();
            let follows = self.rows.iter().all(|row| {
                let place = order.get(&self.code(*role, axis, *row)).copied().unwrap_or(0);
                let code = at(column, *row);
                *found.entry(place).or_insert(code) == code
            });
            if follows {
                let labels = found.values().map(|code| column.label(*code).cloned()).collect();
                return Some(Along { name: column.name.clone(), axis: number, labels });
            }
        }
        None
    }
}

/// The labels of a place: `step=24 isobaricInhPa=500`.
pub(crate) fn labels_at(axes: &[Axis], mut place: u64) -> String {
    let mut words = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        let len = (axis.labels.len() as u64).max(1);
        let label = usize::try_from(place % len).ok().and_then(|at| axis.labels.get(at));
        words.push(format!("{}={}", axis.name, label.map_or_else(String::new, Label::to_string)));
        place /= len;
    }
    words.reverse();
    words.join(" ")
}
