//! Paths of arrays, and names of their dimensions.

use ciborium::Value;
use tgm_std::Result;

use super::{Target, Tree, Writer};
use crate::axes::Axes;
use crate::dimensions::{Dimension, Wanted, group_of, path_in, seen_from};
use crate::given::Given;
use crate::maps::get;
use crate::names::{leaf, unnamed};
use crate::note::Notes;
use crate::texts::Texts;

/// A dimension as a message has it.
#[derive(Default)]
pub(crate) struct Axis {
    pub(crate) name: String,
    /// The name of the dimension, if it is there.
    pub(crate) made: Option<String>,
    /// The group of what has the dimension, as the message has it.
    pub(crate) own_group: String,
    /// The group that has the dimension, if that is known.
    pub(crate) place: Option<String>,
    pub(crate) len: u64,
    pub(crate) is_unlimited: bool,
}

/// Dimensions that are there, and the variables that say where the points along them are.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnDimensions {
    pub(crate) names: Option<Vec<String>>,
    /// The variables with the latitude and the longitude of each point, where dimensions do not say them.
    pub(crate) variables: Option<String>,
}

impl Axis {
    /// A dimension that is there, and what the message calls it.
    pub(super) fn made(made: String, name: String) -> Self {
        Self { name, made: Some(made), ..Self::default() }
    }

    /// A dimension by its path.
    pub(crate) fn of_path(path: &str, len: u64, given: &Given<'_>) -> Self {
        let group = group_of(path).to_string();
        let (name, is_unlimited) = (leaf(path).to_string(), given.is_unlimited(path));
        Self { name, made: None, own_group: group.clone(), place: Some(group), len, is_unlimited }
    }
}

/// The dimensions of an object that is called `wanted`.
pub(super) fn axes(given: &Given<'_>, index: usize, wanted: &str, shape: &[u64]) -> Vec<Axis> {
    fn listed(value: Option<&Value>, len: usize) -> Vec<Option<&str>> {
        let list = value.and_then(Value::as_array).filter(|list| list.len() == len);
        list.map_or_else(|| vec![None; len], |list| list.iter().map(Value::as_text).collect())
    }
    let names = listed(given.entry(index).and_then(|entry| entry.get("dimensions")), shape.len());
    let paths = listed(given.netcdf(index).and_then(|own| get(own, "dimensions")), shape.len());
    // Groups of Zarr do not see the dimensions of groups above.
    let is_of_zarr = given.global.extra.contains_key("zarr");
    let own_group = group_of(wanted.trim_matches('/'));
    let mut axes = Vec::new();
    for ((name, path), (unnamed, len)) in names.into_iter().zip(paths).zip(unnamed(shape).into_iter().zip(shape)) {
        let name = name.map_or(unnamed, str::to_string);
        let is_unlimited = match path {
            Some(path) => given.is_unlimited(path),
            None => seen_from(own_group).any(|group| given.is_unlimited(&path_in(group, &name))),
        };
        let place = path.map(group_of).or_else(|| is_of_zarr.then_some(own_group)).map(str::to_string);
        axes.push(Axis { name, made: None, own_group: own_group.to_string(), place, len: *len, is_unlimited });
    }
    axes
}

/// The dimensions of texts.
pub(super) fn axes_of_texts(given: &Given<'_>, texts: &Texts<'_>) -> Vec<Axis> {
    let axis = |((path, name), len): ((Option<&str>, String), &u64)| match path {
        Some(path) => Axis::of_path(path, *len, given),
        None => Axis { name, len: *len, ..Axis::default() },
    };
    texts.dimensions.iter().copied().zip(unnamed(&texts.shape)).zip(&texts.shape).map(axis).collect()
}

impl<T: Target> Tree<T> {
    /// Finds the labels of a message, and prepares for its records, or for those that follow it.
    pub(super) fn come_to(&mut self, given: &Given<'_>, notes: &mut Notes<'_>) {
        self.messages += 1;
        self.axes = Axes::of(given);
        for (index, doubt) in &self.axes.doubts {
            notes.at(given.place(*index)).not_kept(doubt);
        }
        if given.record().is_none() {
            self.dimensions.end_records();
        }
        if given.record().is_none_or(|record| record == 0) {
            self.records.end();
        }
    }

    /// Ends a message. No records follow one with variables along the unlimited dimension: it is a whole file.
    pub(super) fn leave(&mut self, given: &Given<'_>) {
        let is_along = |index: usize| {
            let axes = axes(given, index, &given.name(given.first(index)), &given.shape(index));
            axes.first().is_some_and(|first| first.is_unlimited && first.len > 0)
        };
        let has_unlimited = given.global.extra.contains_key("unlimited");
        if has_unlimited && given.record().is_none() && (0..given.objects.len()).any(is_along) {
            self.dimensions.end_records();
        }
    }

    /// The name of a dimension of an array in `group`. One that is not there is made.
    pub(crate) fn dimension(
        &mut self,
        target: &mut T,
        (group, object): (&str, Option<usize>),
        axis: &Axis,
        notes: &mut Notes<'_>,
    ) -> Result<String> {
        if let Some(made) = &axis.made {
            return Ok(made.clone());
        }
        let name = &T::dimension_name(&axis.name);
        let labels = |group: &str| self.axes.labels(object, &path_in(group, &axis.name), axis.len);
        let (place, labels, has_variable) = if T::OWN_GROUPS {
            let found = seen_from(&axis.own_group).find_map(|group| Some((labels(group)?, group)));
            (Some(group), found.map(|(labels, _)| labels), found.is_some_and(|(_, place)| place == axis.own_group))
        } else {
            // An array sees the dimensions of its own group and of those above.
            let place = axis.place.as_deref().filter(|own| seen_from(group).any(|seen| seen == *own));
            (place, labels(axis.place.as_deref().unwrap_or_default()), true)
        };
        let dimension = Dimension { len: axis.len, is_unlimited: axis.is_unlimited && !T::OWN_GROUPS, labels };
        let taken = self.dimensions.take(&Wanted { group, place, name, dimension, has_variable }, &mut self.names);
        if let Some(path) = &taken.make {
            target.add_group(group_of(path))?;
            target.add_dimension(path, dimension)?;
        }
        if axis.is_unlimited && place.is_none_or(str::is_empty) {
            self.dimensions.expect_records(name, &taken.name);
        }
        taken.told.into_iter().for_each(|what| notes.not_kept(what));
        Ok(taken.name)
    }
}

impl<T: Target> Writer<T> {
    /// Takes the path of an array that is called `wanted`, and makes its group and its dimensions. Returns their names too.
    pub(super) fn place(
        &mut self,
        (wanted, object): (&str, Option<usize>),
        axes: Vec<Axis>,
        notes: &mut Notes<'_>,
    ) -> Result<(String, Vec<String>)> {
        let Self { tree, target } = self;
        let group = group_of(&tree.names.path_of(wanted)).to_string();
        target.add_group(&group)?;
        let named = axes.into_iter().map(|axis| {
            let name = tree.dimension(target, (&group, object), &axis, notes)?;
            Ok((axis.name, name))
        });
        let pairs = named.collect::<Result<Vec<_>>>()?;
        let path = tree.dimensions.take_path(wanted, &pairs, &mut tree.names);
        if T::is_renamed(wanted.trim_matches('/'), &path) {
            notes.not_kept(format!("the name {wanted:?}: it becomes {path:?}"));
        }
        Ok((path, pairs.into_iter().map(|(_, name)| name).collect()))
    }
}
