//! What is found of objects, and what all of them have in common.

use std::cmp::Ordering;
use std::mem;

use serde_json::Value as Json;
use tgm_std::metadata::query::compare::Number;

use crate::read::quantiles::{Bins, Sketch};
use crate::read::statistics::Moments;

/// The statistics of one object, or of one part of its complex numbers.
pub(super) struct Line {
    /// Object, and which part of its numbers.
    pub(super) object: usize,
    pub(super) part: &'static str,
    pub(super) name: Option<Json>,
    /// The values of the keys that the user asks for.
    pub(super) keys: Vec<Option<Json>>,
    pub(super) dtype: &'static str,
    pub(super) shape: Vec<u64>,
    pub(super) content: Content,
}

/// What is found of one object, or of one part of its complex numbers.
pub(super) struct Found<T> {
    pub(super) line: Line,
    /// The line as it is printed. The thread that looked at the object makes it, because writing numbers takes longer than adding
    /// them up.
    pub(super) shown: T,
    pub(super) sketch: Sketch,
    /// The quantiles as floats.
    pub(super) quantiles: Vec<f64>,
    /// Whether it is the first part of its object.
    pub(super) is_first: bool,
    pub(super) units: Option<Json>,
}

/// What is known of values.
pub(super) struct Content {
    pub(super) moments: Moments,
    /// Least and greatest value. Exact for integers of 64 bits.
    pub(super) range: Option<(Number, Number)>,
    pub(super) quantiles: Vec<Number>,
    pub(super) bars: Vec<u64>,
    pub(super) histogram: Vec<u64>,
}

/// The units of the objects so far.
#[derive(Default)]
pub(super) enum Units {
    #[default]
    OfNone,
    /// The same for all, or missing from all.
    Same(Option<Json>),
    Different,
}

impl Units {
    fn and(self, next: Option<Json>) -> Self {
        match self {
            Self::OfNone => Self::Same(next),
            Self::Same(units) if units == next => Self::Same(next),
            _ => Self::Different,
        }
    }
}

/// What all objects so far have in common.
#[derive(Default)]
pub(super) struct Total {
    pub(super) objects: usize,
    pub(super) moments: Moments,
    /// Least and greatest value.
    pub(super) range: Option<(Number, Number)>,
    bins: Bins,
    /// For each share that is asked for, the least and the greatest quantile of an object.
    bounds: Vec<(f64, f64)>,
    /// The units of the objects so far.
    pub(super) units: Units,
}

impl Total {
    fn add_range(&mut self, range: Option<(Number, Number)>) {
        self.range = match (self.range, range) {
            (Some((least, most)), Some((low, high))) => Some((lesser(least, low), greater(most, high))),
            (found, range) => found.or(range),
        };
    }

    /// A quantile of all objects. The sketch is not exact; between the quantiles of the objects it lies for sure.
    pub(super) fn quantile(&self, number: usize, share: f64) -> Option<f64> {
        let found = self.bins.sketch().quantile(share)?;
        Some(self.bounds.get(number).map_or(found, |(least, greatest)| found.clamp(*least, greatest.max(*least))))
    }

    /// Adds an object, or a part of its complex numbers.
    pub(super) fn add<T>(&mut self, found: Found<T>) -> (Line, T) {
        let Found { line, shown, sketch, quantiles, is_first, units } = found;
        if is_first {
            self.objects += 1;
            self.units = mem::take(&mut self.units).and(units);
        }
        self.moments.join(&line.content.moments);
        self.bins.join(&sketch);
        self.add_range(line.content.range);
        self.add_quantiles(&quantiles);
        (line, shown)
    }

    fn add_quantiles(&mut self, quantiles: &[f64]) {
        for (number, found) in quantiles.iter().enumerate() {
            match self.bounds.get_mut(number) {
                Some((least, greatest)) => (*least, *greatest) = (least.min(*found), greatest.max(*found)),
                None => self.bounds.push((*found, *found)),
            }
        }
    }
}

fn lesser(one: Number, other: Number) -> Number {
    if other.order(one).is_some_and(Ordering::is_lt) { other } else { one }
}

fn greater(one: Number, other: Number) -> Number {
    if other.order(one).is_some_and(Ordering::is_gt) { other } else { one }
}
