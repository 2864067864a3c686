//! Which cubes stand together in a dataset. It is decided once, from the sets of labels of their dimensions.
//!
//! ```text
//! cubes come in an order: those that span the most of number, time, step and other keys first
//! each joins the first dataset that it fits, or founds one
//!
//! a cube fits a dataset on its grid that lacks its name, if of the dimensions that both have
//!     each set of labels of the cube is a part of the dataset's: the cube is widened, or
//!     each set of labels of the dataset is a part of the cube's: the dataset takes them, and is widened
//! ```
//! So a dataset has, for each dimension, the labels of one cube that stands in it, and nothing that stands in it is taken out again.
//! A cube with fewer times and more steps than a dataset does not fit: both would be mostly holes.
//!
//! **Levels.** A cube on a single level goes with any levels: its level is an attribute. Where a name is on several types of level, each
//! type has a dataset of its own, and all cubes of the type go with it. The same holds for classes, streams, types, experiments and
//! domains.
//!
//! **Why it ends, and what it costs.** There is one round over the cubes. A cube is compared with at most [`MOST_ASKED`] datasets of its
//! grid, with as many for each of its types of level and classes, and with one that was founded by a cube with its labels. A comparison
//! searches each label of the cube at most twice, and a cube has no more labels of a dimension than objects. So n objects take n log n
//! steps, and 8 bytes for each label of each dimension.

mod apart;
mod sets;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use tgm_std::Result;

use self::apart::{Value, values_apart};
use self::sets::Sets;
use super::candidate::Candidate;
use crate::cube::{Axis, Role};
use crate::model::{UNCOUNTED, product};
use crate::options::Join;

/// Datasets that are compared with a cube: the first ones of its grid, which span the most. There are more only where many variables
/// have labels that no other variable has.
const MOST_ASKED: usize = 64;

/// The cubes of a dataset.
#[derive(Debug, Default)]
pub(super) struct Together<'c> {
    /// Their numbers, in order.
    pub(super) members: Vec<usize>,
    /// The number of the grid.
    pub(super) grid: usize,
    names: HashSet<&'c str>,
    /// Its dimensions, without single levels.
    dims: HashMap<&'c str, Dim<'c>>,
    /// What tells its cubes from cubes of their names, by the keys.
    apart: HashMap<&'static str, Value<'c>>,
    /// The most points that a cube of it has.
    points: u64,
    /// The lengths of all its dimensions multiplied. `None` if that has more than 64 bits.
    volume: Option<u64>,
}

/// An axis, and the number of its set of labels.
#[derive(Clone, Copy, Debug)]
struct Dim<'c> {
    axis: &'c Axis,
    set: usize,
}

impl Dim<'_> {
    const fn len(&self) -> u64 {
        self.axis.labels.len() as u64
    }
}

/// A cube as it is compared with datasets.
struct Compared<'c> {
    number: usize,
    candidate: &'c Candidate,
    /// Its dimensions, without a single level.
    dims: Vec<Dim<'c>>,
    apart: Vec<Value<'c>>,
}

/// How the labels of a cube lie to the labels of a dataset that it fits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Within,
    Around,
}

/// The labels of a cube without levels, its grid, and what tells it from others of its name.
type Labels<'c> = (usize, Vec<(&'c str, usize)>, Vec<Value<'c>>);

/// Datasets in the making, and ways to find the ones that a cube may fit.
#[derive(Default)]
struct Search<'c> {
    found: Vec<Together<'c>>,
    /// The first datasets of a grid, and of those the first ones with a value that tells cubes apart.
    first: HashMap<(usize, Option<Value<'c>>), Vec<usize>>,
    /// The dataset that was founded by a cube with some labels, after so many others with the same labels and the same name.
    founded: HashMap<(Labels<'c>, usize), usize>,
    before: HashMap<(Labels<'c>, &'c str), usize>,
}

/// What was decided.
pub(super) struct Shared<'c> {
    /// The datasets, the one with the most objects first. Where two have as many, the one whose first object comes first.
    pub(super) datasets: Vec<Together<'c>>,
    /// The cubes that are not in the first dataset, by their numbers, and why.
    pub(super) left_out: Vec<(usize, String)>,
}

/// Decides which cubes stand together. A cube with more elements than numbers of 64 bits count is in no dataset.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for more than 2^32 labels.
pub(super) fn decide(all: &[Candidate], join: Join) -> Result<Shared<'_>> {
    let (mut sets, mut search) = (Sets::default(), Search::default());
    let mut uncounted = Vec::new();
    let mut compared = Vec::with_capacity(all.len());
    for ((number, candidate), apart) in all.iter().enumerate().zip(values_apart(all)) {
        if candidate.elements().is_none() {
            uncounted.push((number, UNCOUNTED.to_string()));
            continue;
        }
        let it = Compared::new(number, candidate, apart, &mut sets)?;
        search.place(&it, &sets, join);
        compared.push(it);
    }
    let mut datasets = search.found;
    datasets.sort_by_cached_key(|it| it.rank(all));
    let mut left_out = Vec::new();
    if let Some(first) = datasets.first() {
        let members: HashSet<usize> = first.members.iter().copied().collect();
        let others = compared.iter().filter(|it| !members.contains(&it.number));
        left_out = others.map(|it| (it.number, first.why_not(it, &sets, join))).collect();
    }
    left_out.extend(uncounted);
    Ok(Shared { datasets, left_out })
}

impl<'c> Compared<'c> {
    fn new(number: usize, candidate: &'c Candidate, apart: Vec<Value<'c>>, sets: &mut Sets<'c>) -> Result<Self> {
        let axes = candidate.axes.iter().filter(|axis| !axis.is_single_level());
        let dims = axes.map(|axis| Ok(Dim { axis, set: sets.number(&axis.labels)? })).collect::<Result<_>>()?;
        Ok(Self { number, candidate, dims, apart })
    }

    fn name(&self) -> &'c str {
        &self.candidate.cube.kind.name
    }

    fn labels(&self) -> Labels<'c> {
        let dims = self.dims.iter().filter(|dim| dim.axis.role != Role::Level);
        let dims = dims.map(|dim| (dim.axis.name.as_str(), dim.set)).collect();
        (self.candidate.grid, dims, self.apart.clone())
    }
}

impl<'c> Search<'c> {
    /// Puts a cube into a dataset.
    fn place(&mut self, it: &Compared<'c>, sets: &Sets<'c>, join: Join) {
        let fit = |at: usize| Some((at, self.found.get(at)?.fit(it, sets, join).ok()?));
        let fitting = self.asked(it).into_iter().find_map(fit);
        if let Some((at, fit)) = fitting {
            return self.put(at, it, fit);
        }
        let labels = it.labels();
        let before = self.before.entry((labels.clone(), it.name())).or_default();
        let key = (labels, *before);
        *before += 1;
        let founded = self.founded.get(&key).copied();
        if let Some((at, fit)) = founded.and_then(|at| Some((at, self.found.get(at)?.fit(it, sets, join).ok()?))) {
            return self.put(at, it, fit);
        }
        let at = self.found.len();
        let grid = it.candidate.grid;
        self.found.push(Together { grid, volume: Some(1), ..Together::default() });
        self.founded.insert(key, at);
        self.put(at, it, Fit::Within);
    }

    /// The datasets that are compared with a cube.
    fn asked(&self, it: &Compared<'c>) -> Vec<usize> {
        let grid = it.candidate.grid;
        let keys = it.apart.iter().map(|value| (grid, Some(*value))).chain([(grid, None)]);
        let mut asked: Vec<usize> = keys.filter_map(|key| self.first.get(&key)).flatten().copied().collect();
        if !it.candidate.has_grid {
            // It goes with any grid.
            asked.extend(0..self.found.len().min(MOST_ASKED));
        }
        asked
    }

    fn put(&mut self, at: usize, it: &Compared<'c>, fit: Fit) {
        let Some(dataset) = self.found.get_mut(at) else { return };
        dataset.take(it, fit);
        let grid = dataset.grid;
        for value in it.apart.iter().map(|value| Some(*value)).chain([None]) {
            let first = self.first.entry((grid, value)).or_default();
            // Datasets come in the order in which they are founded, or get a value.
            if first.len() < MOST_ASKED && !first.contains(&at) {
                first.push(at);
            }
        }
    }
}

impl<'c> Together<'c> {
    /// Its dimensions and its coordinates of a single label, in order. A level is one of the latter if all cubes have it.
    pub(super) fn dims(&self, all: &'c [Candidate]) -> Vec<&'c Axis> {
        let mut dims: Vec<&Axis> = self.dims.values().map(|dim| dim.axis).collect();
        let mut members = self.members.iter().filter_map(|number| all.get(*number));
        let of_first = members.next().into_iter().flat_map(|first| &first.axes);
        let common: Vec<&Axis> = of_first.filter(|axis| axis.is_single_level()).collect();
        dims.extend(common.into_iter().filter(|axis| members.clone().all(|it| it.axes.contains(axis))));
        dims.sort_by(|a, b| (a.role, &a.name).cmp(&(b.role, &b.name)));
        dims
    }

    /// How the labels of a cube lie to its own.
    ///
    /// # Errors
    /// Why the cube does not fit.
    fn fit(&self, it: &Compared<'c>, sets: &Sets<'c>, join: Join) -> std::result::Result<Fit, String> {
        if it.candidate.has_grid && it.candidate.grid != self.grid {
            return Err("it has another grid".into());
        }
        if self.names.contains(it.name()) {
            return Err("another cube has the name".into());
        }
        let differs = |value: &&Value<'_>| self.apart.get(value.key()).is_some_and(|own| own != *value);
        if let Some(value) = it.apart.iter().find(differs) {
            return Err(format!("other variables of its {} have names that are there", value.key()));
        }
        let (mut is_within, mut is_around) = (true, true);
        for Dim { axis, set } in &it.dims {
            let Some(own) = self.dims.get(axis.name.as_str()).filter(|own| own.set != *set) else { continue };
            is_within = is_within && join == Join::Widen && sets.is_within(*set, own.set);
            is_around = is_around && join == Join::Widen && sets.is_within(own.set, *set);
            if !is_within && !is_around {
                return Err(format!("other labels of {}", axis.name));
            }
        }
        let fit = if is_within { Fit::Within } else { Fit::Around };
        let volume = if is_within { self.widened(it) } else { self.volume_around(it) };
        let points = self.points.max(product(&it.candidate.shape).unwrap_or(u64::MAX));
        volume.and_then(|volume| volume.checked_mul(points)).map(|_| fit).ok_or_else(|| UNCOUNTED.to_string())
    }

    /// The places of a cube that has the labels of the dataset. `None` if they have more than 64 bits.
    fn widened(&self, it: &Compared<'c>) -> Option<u64> {
        let len = |dim: &Dim<'_>| self.dims.get(dim.axis.name.as_str()).unwrap_or(dim).len();
        product(&it.dims.iter().map(len).collect::<Vec<_>>())
    }

    /// Its volume with the labels of a cube. No cube of it has more places.
    fn volume_around(&self, it: &Compared<'c>) -> Option<u64> {
        let mut volume = self.volume?;
        for dim in &it.dims {
            let own = self.dims.get(dim.axis.name.as_str()).map_or(1, Dim::len);
            volume = (volume / own.max(1)).checked_mul(dim.len())?;
        }
        Some(volume)
    }

    fn take(&mut self, it: &Compared<'c>, fit: Fit) {
        self.members.push(it.number);
        self.names.insert(it.name());
        self.apart.extend(it.apart.iter().map(|value| (value.key(), *value)));
        self.points = self.points.max(product(&it.candidate.shape).unwrap_or(u64::MAX));
        for dim in &it.dims {
            let own = self.dims.get(dim.axis.name.as_str()).copied();
            if own.is_some() && fit == Fit::Within {
                continue;
            }
            let without = self.volume.map(|volume| volume / own.as_ref().map_or(1, Dim::len).max(1));
            self.volume = without.and_then(|volume| volume.checked_mul(dim.len()));
            self.dims.insert(&dim.axis.name, *dim);
        }
    }

    /// The order of datasets.
    fn rank(&self, all: &[Candidate]) -> (Reverse<usize>, u32) {
        let members = || self.members.iter().filter_map(|number| all.get(*number));
        let objects = members().map(|it| it.cube.places.len()).sum();
        (Reverse(objects), members().map(|it| it.cube.example).min().unwrap_or(u32::MAX))
    }

    fn why_not(&self, it: &Compared<'c>, sets: &Sets<'c>, join: Join) -> String {
        // A cube that was placed before this dataset took the labels that it would fit now.
        self.fit(it, sets, join).err().unwrap_or_else(|| "its labels are in another dataset".into())
    }
}
