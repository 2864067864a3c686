//! The places of a cube on the axes of its dataset.

use std::collections::HashMap;

use crate::cube::{Axis, Cube};
use crate::label::Label;

/// A dimension of a dataset, and where its labels are.
#[derive(Debug)]
pub(super) struct Dim<'c> {
    pub(super) axis: &'c Axis,
    index: HashMap<&'c Label, u64>,
}

impl<'c> Dim<'c> {
    pub(super) fn new(axis: &'c Axis) -> Self {
        Self { axis, index: axis.labels.iter().zip(0..).collect() }
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
pub(super) fn moved(cube: &Cube, all: &[Axis], along: &[&Dim<'_>]) -> Vec<(u64, u32)> {
    let of = |axis: &Axis| along.iter().find(|dim| dim.axis.name == axis.name);
    // For each axis of the cube, where its labels are among the dataset's.
    let orders: Vec<(u64, Vec<u64>)> = cube
        .axes
        .iter()
        .map(|axis| {
            let index = |label: &Label| of(axis).and_then(|dim| dim.index.get(label)).copied().unwrap_or(0);
            (axis.labels.len() as u64, axis.labels.iter().map(index).collect())
        })
        .collect();
    let fixed = |dim: &Dim<'_>| {
        let found = all.iter().find(|axis| axis.name == dim.axis.name)?;
        dim.index.get(found.labels.first()?).copied()
    };
    let plan: Vec<(u64, From)> = along
        .iter()
        .map(|dim| {
            let of_cube = cube.axes.iter().position(|axis| axis.name == dim.axis.name);
            (dim.len(), of_cube.map_or_else(|| From::Fixed(fixed(dim).unwrap_or(0)), From::Axis))
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
                    From::Axis(number) => indices.get(*number).copied().unwrap_or(0),
                    From::Fixed(index) => *index,
                };
                // The places of the widened cube have a number: it fits its dataset.
                place * len + index
            });
            (place, *object)
        })
        .collect();
    places.sort_unstable();
    places
}
