//! Values less those that were kept.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;

use ciborium::Value;
use tgm_dataset::{Coordinate, Indices, Values};
use tgm_plot::described::{Picked, number_at};

use crate::failure::{Failure, map};
use crate::places;

/// How far labels may be apart that count as equal: some formats store degrees with few digits.
const NEAR: f64 = 1e-4;

/// Values, and where they are.
#[derive(Debug)]
pub(crate) struct Placed {
    values: Vec<f64>,
    units: String,
    dims: Vec<String>,
    shape: Vec<u64>,
    /// Latitudes and longitudes, or the numbers that label the dimensions.
    labels: Vec<Coordinate>,
}

impl Placed {
    /// What is picked of a variable.
    ///
    /// # Errors
    /// The errors of reading coordinates.
    pub(crate) fn new(picked: &Picked<'_>, units: String, values: Vec<f64>) -> Result<Self, Failure> {
        let Picked { dataset, variable, picks } = picked;
        let sides = variable.dims.iter().zip(*picks).filter(|(_, pick)| !matches!(pick, Indices::Index(_)));
        let (dims, shape): (Vec<String>, Vec<u64>) = sides.map(|(dim, pick)| (dim.clone(), pick.count())).unzip();
        let is_here = |it: &Coordinate| it.dims.iter().all(|dim| dims.contains(dim));
        let on_globe = dataset.positions(&variable.name)?.filter(|(north, east)| is_here(north) && is_here(east));
        let mut labels = Vec::new();
        if let Some((north, east)) = on_globe {
            labels = vec![north.into_owned(), east.into_owned()];
        } else {
            for dim in &dims {
                let found =
                    dataset.labels(dim)?.filter(|it| matches!(it.values, Values::Floats(_) | Values::Integers(_)));
                labels.extend(found.map(Cow::into_owned));
            }
        }
        Ok(Self { values, units, dims, shape, labels })
    }

    /// Why these values are not compared with others. `None` if they can be.
    fn unlike(&self, other: &Self) -> Option<String> {
        let text = |shape: &[u64]| shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
        if self.shape != other.shape {
            return Some(format!("The shapes differ: {} and {} values.", text(&self.shape), text(&other.shape)));
        }
        if self.units != other.units && !self.units.is_empty() && !other.units.is_empty() {
            return Some(format!("The units differ: {} and {}.", self.units, other.units));
        }
        let is_same = self.labels.len() == other.labels.len()
            && self.labels.iter().zip(&other.labels).all(|(one, other)| is_near(one, other));
        (!is_same).then(|| "The grids differ: as many values, but at other places.".into())
    }
}

/// Whether the labels of two coordinates are equal. Longitudes may differ by a circle.
fn is_near(one: &Coordinate, other: &Coordinate) -> bool {
    let pairs = (0..).map(|at| (number_at(one, at), number_at(other, at)));
    let mut pairs = pairs.take_while(|(one, other)| one.is_some() || other.is_some());
    pairs.all(|pair| {
        let (Some(one), Some(other)) = pair else { return false };
        let apart = (one - other).abs();
        apart <= NEAR || (apart - 360.0).abs() <= NEAR || (one.is_nan() && other.is_nan())
    })
}

/// Differences of values.
#[derive(Debug)]
pub(crate) struct Compared {
    own: Placed,
    kept: Rc<Placed>,
    differing: u64,
    own_only: u64,
    kept_only: u64,
    squares: f64,
    finite: u64,
    /// The greatest difference, without its sign.
    pub(crate) greatest: f64,
    /// Where it is among the values.
    at: usize,
}

impl Compared {
    /// Values less those that were kept, and how they differ. Where a side has no value, there is none. `Err` says in a sentence why
    /// they cannot be compared.
    pub(crate) fn of(own: Placed, kept: Rc<Placed>) -> Result<(Vec<f64>, Self), String> {
        if let Some(why) = own.unlike(&kept) {
            return Err(why);
        }
        let less: Vec<f64> = own.values.iter().zip(&kept.values).map(|(one, other)| one - other).collect();
        let (mut differing, mut own_only, mut kept_only) = (0, 0, 0);
        for (one, other) in own.values.iter().zip(&kept.values) {
            match (one.is_nan(), other.is_nan()) {
                (false, true) => own_only += 1,
                (true, false) => kept_only += 1,
                _ => differing += u64::from(one.partial_cmp(other).is_some_and(Ordering::is_ne)),
            }
        }
        let (mut squares, mut finite, mut most) = (0.0, 0, None);
        for (at, value) in less.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            squares += value * value;
            finite += 1;
            if most.is_none_or(|(greatest, _)| value.abs() > greatest) {
                most = Some((value.abs(), at));
            }
        }
        let Some((greatest, at)) = most else { return Err("No place has a value on both sides.".into()) };
        Ok((less, Self { own, kept, differing, own_only, kept_only, squares, finite, greatest, at }))
    }

    /// How the values differ, and where they do most: the labels there.
    pub(crate) fn about(&self) -> Value {
        #[expect(clippy::cast_precision_loss, reason = "a count of values")]
        let root = (self.squares / self.finite as f64).sqrt();
        let Placed { dims, shape, labels, .. } = &self.own;
        let indices = places::indices(shape, self.at as u64);
        let place = labels.iter().filter_map(|it| places::label(it, dims, shape, &indices)).map(Into::into);
        map([
            ("differing", self.differing.into()),
            ("ownOnly", self.own_only.into()),
            ("keptOnly", self.kept_only.into()),
            ("greatest", self.greatest.into()),
            ("place", Value::Array(place.collect())),
            ("root", root.into()),
        ])
    }

    /// The two values at a place among them.
    pub(crate) fn pair(&self, at: usize) -> Value {
        let of = |side: &Placed| side.values.get(at).copied().unwrap_or(f64::NAN).into();
        Value::Array(vec![of(&self.own), of(&self.kept)])
    }
}
