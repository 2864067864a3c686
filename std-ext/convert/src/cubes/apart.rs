//! Coordinates of one dataset that the others in a file do not have.
//!
//! In a file, xarray gives a coordinate to each variable that has its dimensions, and one without dimensions to all. A step of 0 of
//! analyses would also be the step of sums. Such a coordinate lies along one more dimension, which its dataset has alone: one that is there,
//! or one of length one, which the coordinate labels.

use tgm_dataset::{Coordinate, Dataset, Variable};

use super::one_level;

/// What sets a dataset apart from the others in the file.
pub(super) struct Apart<'d> {
    dataset: &'d Dataset,
    others: Vec<&'d Dataset>,
    /// The coordinates without dimensions that become dimensions of length one, which all variables of the dataset have.
    pub(super) made: Vec<&'d Coordinate>,
}

impl<'d> Apart<'d> {
    pub(super) fn of(dataset: &'d Dataset, all: &'d [Dataset]) -> Self {
        let others = all.iter().filter(|other| !std::ptr::eq(*other, dataset)).collect();
        let mut apart = Self { dataset, others, made: Vec::new() };
        for coordinate in dataset.coordinates.iter().filter(|it| it.dims.is_empty()) {
            if apart.one_level(coordinate).is_none() && !apart.is_fine(coordinate) && apart.dim(coordinate).is_none() {
                apart.made.push(coordinate);
            }
        }
        apart
    }

    /// The level of all variables of the dataset, if other datasets have another or none: it is an attribute, as it is in the dataset of
    /// all of them.
    pub(super) fn one_level(&self, coordinate: &Coordinate) -> Option<f64> {
        one_level(self.dataset, coordinate)
            .filter(|_| !self.others.iter().all(|it| it.coordinates.contains(coordinate)))
    }

    /// The dimension that a coordinate needs besides its own, so that no variable of another dataset has all of them.
    pub(super) fn besides(&self, coordinate: &Coordinate) -> Option<&'d str> {
        if let Some(made) = self.made.iter().find(|made| std::ptr::eq(**made, coordinate)) {
            return Some(&made.name);
        }
        // Points of another grid have dimensions of their own. Intervals are not coordinates to xarray.
        let has_points = coordinate.dims.iter().any(|dim| self.dataset.index(Some(dim)).is_none());
        if has_points || self.is_fine(coordinate) { None } else { self.dim(coordinate) }
    }

    /// Whether its own dimensions are enough.
    fn is_fine(&self, coordinate: &Coordinate) -> bool {
        self.others.iter().all(|other| other.coordinates.contains(coordinate) || !self.has_dims(other, coordinate))
    }

    /// A dimension that no dataset without this coordinate has besides the coordinate's own.
    fn dim(&self, coordinate: &Coordinate) -> Option<&'d str> {
        let without =
            || self.others.iter().filter(|it| !it.coordinates.contains(coordinate) && self.has_dims(it, coordinate));
        let made = self.made.iter().find(|made| without().all(|other| !other.coordinates.contains(made)));
        let all = &self.dataset.variables;
        let leading = all.first().map_or(&[][..], |first| first.dims.get(..first.leading()).unwrap_or_default());
        let own = leading.iter().find(|dim| {
            let is_in_all = all.iter().all(|it| it.dims.contains(dim));
            is_in_all && !coordinate.dims.contains(dim) && without().all(|other| !self.has_dim(other, dim))
        });
        own.or_else(|| made.map(|made| &made.name)).map(String::as_str)
    }

    fn has_dims(&self, other: &Dataset, coordinate: &Coordinate) -> bool {
        coordinate.dims.iter().all(|dim| self.has_dim(other, dim))
    }

    /// Whether another dataset has this dimension of the dataset: of one length, with equal labels.
    fn has_dim(&self, other: &Dataset, dim: &String) -> bool {
        let len = |it: &Dataset| it.variables.iter().find_map(|variable| len_along(variable, dim));
        len(self.dataset) == len(other) && Along::of(self.dataset, dim) == Along::of(other, dim)
    }
}

/// The length of a variable along a dimension. `None` if it does not have it.
fn len_along(variable: &Variable, dim: &String) -> Option<u64> {
    let at = variable.dims.iter().position(|own| own == dim)?;
    variable.shape.get(at).copied()
}

/// What lies along a dimension. Datasets share dimensions along which all is equal.
#[derive(PartialEq)]
pub(super) enum Along<'d> {
    /// The coordinate that labels it.
    Index(&'d Coordinate),
    /// Without one, all coordinates of the points of the grid.
    Points(Vec<&'d Coordinate>),
}

impl<'d> Along<'d> {
    pub(super) fn of(dataset: &'d Dataset, dim: &String) -> Self {
        if let Some(index) = dataset.index(Some(dim)) {
            return Self::Index(index);
        }
        let is_of_points = |dim: &String| {
            dataset.index(Some(dim)).is_none() && dataset.variables.iter().any(|it| it.dims.contains(dim))
        };
        let points = dataset.coordinates.iter().filter(|it| it.dims.contains(dim) && it.dims.iter().all(is_of_points));
        Self::Points(points.collect())
    }
}
