//! The places of a cube on the axes of its dataset.

use std::collections::HashMap;

use tgm_std::{Result, TensogramError};

use crate::archive::bad;
use crate::cube::{Axis, Cube};
use crate::label::Label;

/// A dimension of a dataset, and where its labels are.
#[derive(Debug)]
pub(super) struct Dim<'c> {
    pub(super) axis: &'c Axis,
    /// Whether variables have it as a dimension. Otherwise its one label is a coordinate of all of them.
    pub(super) is_dim: bool,
    index: HashMap<&'c Label, u64>,
}

impl<'c> Dim<'c> {
    pub(super) fn new(axis: &'c Axis, is_dim: bool) -> Self {
        Self { axis, is_dim, index: axis.labels.iter().zip(0..).collect() }
    }

    pub(super) const fn len(&self) -> u64 {
        self.axis.labels.len() as u64
    }

    /// Whether it has all labels of an axis of its name.
    pub(super) fn has_all(&self, axis: &Axis) -> bool {
        std::ptr::eq(axis, self.axis) || axis.labels.iter().all(|label| self.index.contains_key(label))
    }
}

/// Where the index of a dimension comes from.
enum From {
    /// An axis of the cube: the length of that, the places of its own labels in the dimension, and the axis.
    Axis(usize),
    /// The only label of the cube.
    Fixed(u64),
}

/// The places of a cube in the box of some dimensions, in order. `all` are its axes with the ones of a single label.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for a cube with a label that a dimension lacks: then it does not belong to the dataset.
pub(super) fn moved(cube: &Cube, all: &[Axis], along: &[&Dim<'_>]) -> Result<Vec<(u64, u32)>> {
    let orders = orders(cube, along)?;
    let fixed = |dim: &Dim<'_>| {
        let found = all.iter().find(|axis| axis.name == dim.axis.name)?;
        dim.index.get(found.labels.first()?).copied()
    };
    let from = |dim: &&Dim<'_>| {
        let of_cube = cube.axes.iter().position(|axis| axis.name == dim.axis.name);
        let from = of_cube.map(From::Axis).or_else(|| fixed(dim).map(From::Fixed));
        Ok((dim.len(), from.ok_or_else(|| elsewhere(&dim.axis.name))?))
    };
    let plan: Vec<(u64, From)> = along.iter().map(from).collect::<Result<_>>()?;
    let mut places = Vec::with_capacity(cube.places.len());
    let mut indices = vec![0_u64; cube.axes.len()];
    for (place, object) in &cube.places {
        place_on_axes(*place, &orders, &mut indices).ok_or_else(|| elsewhere("an axis"))?;
        let mut moved = 0_u64;
        for (len, from) in &plan {
            let index = match from {
                From::Axis(number) => indices.get(*number).copied().ok_or_else(|| elsewhere("an axis"))?,
                From::Fixed(index) => *index,
            };
            // The places of the widened cube have a number: it fits its dataset.
            moved = moved * len + index;
        }
        places.push((moved, *object));
    }
    places.sort_unstable();
    Ok(places)
}

fn elsewhere(axis: &str) -> TensogramError {
    bad(format!("a field has a label of {axis} that its dataset lacks"))
}

/// For each axis of a cube its length, and where its labels are in the dimension of its name. An axis without a dimension has a single
/// label, and its place is not used.
fn orders(cube: &Cube, along: &[&Dim<'_>]) -> Result<Vec<(u64, Vec<u64>)>> {
    let of_axis = |axis: &Axis| {
        let dim = along.iter().find(|dim| dim.axis.name == axis.name);
        let index = |label: &Label| match dim {
            Some(dim) => dim.index.get(label).copied().ok_or_else(|| elsewhere(&axis.name)),
            None => Ok(0),
        };
        Ok((axis.labels.len() as u64, axis.labels.iter().map(index).collect::<Result<_>>()?))
    };
    cube.axes.iter().map(of_axis).collect()
}

/// Writes where a place of a cube lies along each dimension. `None` for a place that the axes do not have.
fn place_on_axes(place: u64, orders: &[(u64, Vec<u64>)], indices: &mut [u64]) -> Option<()> {
    let mut left = place;
    for ((len, order), index) in orders.iter().zip(indices).rev() {
        *index = *order.get(usize::try_from(left % (*len).max(1)).ok()?)?;
        left /= (*len).max(1);
    }
    Some(())
}
