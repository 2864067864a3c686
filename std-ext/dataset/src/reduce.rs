//! Statistics over dimensions while reading: mean, sum, extremes, deviation and counts, without holding what they are of.
//!
//! ```text
//! a box ─► windows of some MiB, the outer dimensions first ─► each is read by all threads
//!       ─► added to the sums of its places by all threads, each of which has its own places
//! ```
//! A deviation is computed from squares of distances to the first value of each place. That value is one of those that are
//! counted, so rounding loses at most as much as there are values. Everything is computed in `float64`, as numpy does, but for the extremes
//! of whole numbers of 64 bits, which are exact: [`Reduced::integers`].

mod exact;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tgm_core::descriptor::Dtype;
use tgm_std::codec::threads::Threads;
use tgm_std::{DecodeOptions, Result, interrupt};

use self::exact::{Keys, Wide};
use crate::archive::bad;
use crate::dataset::Dataset;
use crate::elements::floats;
use crate::indices::Indices;
use crate::model::Variable;
use crate::read::{check_over, width};
use crate::reading::Reading;

/// Elements of a window, unless one object has more.
const WINDOW: u64 = 4 << 20;
/// Neighbouring places whose sums stay in the nearest cache.
const BLOCK: usize = 2048;

/// What is computed of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistic {
    /// How many values there are that are not NaN.
    Count,
    /// Their sum.
    Sum,
    /// Their mean. NaN without a value.
    Mean,
    /// The least. NaN without a value.
    Min,
    /// The greatest. NaN without a value.
    Max,
    /// The deviation of the whole population: √(Σ(x − mean)² / count).
    Std,
}

impl Statistic {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Count, Self::Sum, Self::Mean, Self::Min, Self::Max, Self::Std];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Std => "std",
        }
    }
}

/// Statistics of a variable over some of its dimensions.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The dimensions that are left.
    pub dims: Vec<String>,
    /// Their lengths. Row-major.
    pub shape: Vec<u64>,
    sums: Sums,
}

impl Reduced {
    /// The least or the greatest values of whole numbers of 64 bits, which [`Self::values`] rounds beyond 2^53. Row-major, and `None`
    /// for a place without a value. `None` for other types and statistics, and for one that was not asked for.
    pub fn integers(&self, statistic: Statistic) -> Option<Vec<Option<i128>>> {
        let wide = self.sums.wide?;
        let keys = match statistic {
            Statistic::Min => &self.sums.least,
            Statistic::Max => &self.sums.greatest,
            _ => return None,
        };
        let is_known = |missing: &u64| *missing < self.sums.total;
        let places = keys.iter().zip(&self.sums.missing);
        let list: Vec<_> = places.map(|(key, missing)| is_known(missing).then(|| wide.number(*key))).collect();
        (list.len() == self.sums.missing.len()).then_some(list)
    }

    /// The values of a statistic, row-major, each as the nearest `float64`. Empty for one that was not asked for.
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    pub fn values(&self, statistic: Statistic) -> Vec<f64> {
        let Sums { total, missing, sum, shift, squares, min, max, .. } = &self.sums;
        let count: Vec<u64> = missing.iter().map(|missing| total.saturating_sub(*missing)).collect();
        let count = &count;
        let shift_of = |at: usize| shift.get(at).copied().filter(|shift| !shift.is_nan()).unwrap_or(0.0);
        let known = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(count).map(|(value, count)| if *count > 0 { *value } else { f64::NAN }).collect()
        };
        let places = count.iter().zip(sum).enumerate();
        match statistic {
            Statistic::Count => count.iter().map(|count| *count as f64).collect(),
            Statistic::Sum => places.map(|(at, (count, sum))| sum + *count as f64 * shift_of(at)).collect(),
            Statistic::Mean => places.map(|(at, (count, sum))| sum / *count as f64 + shift_of(at)).collect(),
            Statistic::Min => known(min),
            Statistic::Max => known(max),
            Statistic::Std if squares.is_empty() => Vec::new(),
            Statistic::Std => places
                .zip(squares)
                .map(|((_, (count, sum)), squares)| {
                    let count = *count as f64;
                    let variance = (squares - sum * (sum / count)) / count;
                    // Rounding may leave a little less than nothing.
                    if variance < 0.0 { 0.0 } else { variance.sqrt() }
                })
                .collect(),
        }
    }
}

/// Sums of each place. Lists of what was not asked for are empty.
#[derive(Clone, Debug, Default)]
struct Sums {
    /// Values of each place, NaN included.
    total: u64,
    /// How many of them are NaN. They are few, so most values need not be counted.
    missing: Vec<u64>,
    /// Distances to `shift`, if there are squares.
    sum: Vec<f64>,
    /// The first finite value; NaN before it.
    shift: Vec<f64>,
    squares: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
    /// The extremes of whole numbers of 64 bits, as keys.
    wide: Option<Wide>,
    least: Vec<u64>,
    greatest: Vec<u64>,
}

impl Sums {
    fn new(places: usize, total: u64, wanted: &[Statistic], wide: Option<Wide>) -> Result<Self> {
        fn list<T: Clone>(is_wanted: bool, places: usize, value: T) -> Result<Vec<T>> {
            let mut list = Vec::new();
            if is_wanted {
                list.try_reserve_exact(places).map_err(|_| bad(format!("there is no memory for {places} places")))?;
                list.resize(places, value);
            }
            Ok(list)
        }
        let has = |statistic| wanted.contains(&statistic);
        let has_exact = |statistic| wide.is_some() && has(statistic);
        let (missing, least) = (list(true, places, 0)?, list(has_exact(Statistic::Min), places, exact::NONE.0)?);
        let greatest = list(has_exact(Statistic::Max), places, exact::NONE.1)?;
        let list = |is_wanted: bool, value: f64| list(is_wanted, places, value);
        Ok(Self {
            total,
            missing,
            wide,
            least,
            greatest,
            sum: list(true, 0.0)?,
            shift: list(has(Statistic::Std), f64::NAN)?,
            squares: list(has(Statistic::Std), 0.0)?,
            min: list(has(Statistic::Min), f64::INFINITY)?,
            max: list(has(Statistic::Max), f64::NEG_INFINITY)?,
        })
    }

    /// Cuts neighbouring places into at most `count` parts, which can be changed side by side.
    fn parts(&mut self, places: Range<usize>, count: usize) -> Vec<Part<'_>> {
        fn list<'l, T>(list: &'l mut [T], places: &Range<usize>) -> &'l mut [T] {
            list.get_mut(places.clone()).unwrap_or_default()
        }
        let of_part = places.len().div_ceil(count.max(1)).next_multiple_of(BLOCK);
        let mut rest = Part {
            first: places.start,
            missing: list(&mut self.missing, &places),
            sum: list(&mut self.sum, &places),
            shift: list(&mut self.shift, &places),
            squares: list(&mut self.squares, &places),
            min: list(&mut self.min, &places),
            max: list(&mut self.max, &places),
            least: list(&mut self.least, &places),
            greatest: list(&mut self.greatest, &places),
        };
        let mut parts = Vec::with_capacity(count);
        while rest.missing.len() > of_part {
            let (part, behind) = rest.cut(of_part);
            parts.push(part);
            rest = behind;
        }
        parts.push(rest);
        parts
    }
}

/// Sums of neighbouring places.
#[derive(Debug)]
struct Part<'s> {
    /// The number of the first place.
    first: usize,
    missing: &'s mut [u64],
    sum: &'s mut [f64],
    shift: &'s mut [f64],
    squares: &'s mut [f64],
    min: &'s mut [f64],
    max: &'s mut [f64],
    least: &'s mut [u64],
    greatest: &'s mut [u64],
}

impl Part<'_> {
    /// The first places, and the others.
    fn cut<'p>(self, at: usize) -> (Part<'p>, Part<'p>)
    where
        Self: 'p,
    {
        fn list<T>(list: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
            list.split_at_mut_checked(at).unwrap_or_default()
        }
        let (missing, sum, shift) = (list(self.missing, at), list(self.sum, at), list(self.shift, at));
        let (squares, min, max) = (list(self.squares, at), list(self.min, at), list(self.max, at));
        let (least, greatest) = (list(self.least, at), list(self.greatest, at));
        let first = self.first + at;
        (
            Part {
                first: self.first,
                missing: missing.0,
                sum: sum.0,
                shift: shift.0,
                squares: squares.0,
                min: min.0,
                max: max.0,
                least: least.0,
                greatest: greatest.0,
            },
            Part {
                first,
                missing: missing.1,
                sum: sum.1,
                shift: shift.1,
                squares: squares.1,
                min: min.1,
                max: max.1,
                least: least.1,
                greatest: greatest.1,
            },
        )
    }

    /// Adds a value to each of neighbouring places. The first of them is number `at` of the part.
    fn add_across(&mut self, at: usize, values: &[f64], keys: &[u64]) {
        fn part<T>(list: &mut [T], at: usize, len: usize) -> &mut [T] {
            list.get_mut(at..).and_then(|list| list.get_mut(..len)).unwrap_or_default()
        }
        let len = values.len();
        let has_missing = values.iter().fold(false, |has, value| has | value.is_nan());
        if has_missing {
            let missing = part(self.missing, at, len);
            missing.iter_mut().zip(values).for_each(|(missing, value)| *missing += u64::from(value.is_nan()));
        }
        let sum = part(self.sum, at, len);
        if self.squares.is_empty() && !has_missing {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        } else if self.squares.is_empty() {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += if value.is_nan() { 0.0 } else { *value });
        } else {
            let shift = part(self.shift, at, len);
            let squares = part(self.squares, at, len);
            for (((sum, squares), shift), value) in sum.iter_mut().zip(squares).zip(shift).zip(values) {
                *shift = if shift.is_nan() && value.is_finite() { *value } else { *shift };
                let far = value - if shift.is_nan() { 0.0 } else { *shift };
                let far = if value.is_nan() { 0.0 } else { far };
                *sum += far;
                *squares += far * far;
            }
        }
        let min = part(self.min, at, len);
        min.iter_mut().zip(values).for_each(|(min, value)| *min = if value < min { *value } else { *min });
        let max = part(self.max, at, len);
        max.iter_mut().zip(values).for_each(|(max, value)| *max = if value > max { *value } else { *max });
        exact::add_across((part(self.least, at, len), part(self.greatest, at, len)), keys, values);
    }

    /// Adds values to one place, by its number in the part.
    fn add_to(&mut self, at: usize, values: &[f64], keys: &[u64]) {
        if let Some(missing) = self.missing.get_mut(at) {
            *missing = missing.saturating_add(values.iter().filter(|value| value.is_nan()).count() as u64);
        }
        let mut base = 0.0;
        if let Some(shift) = self.shift.get_mut(at) {
            if shift.is_nan() {
                *shift = values.iter().copied().find(|value| value.is_finite()).unwrap_or(f64::NAN);
            }
            base = if shift.is_nan() { 0.0 } else { *shift };
        }
        if let Some(sum) = self.sum.get_mut(at) {
            *sum += sum_of(values, |value| value - base);
        }
        if let Some(squares) = self.squares.get_mut(at) {
            *squares += sum_of(values, |value| (value - base) * (value - base));
        }
        if let Some(min) = self.min.get_mut(at) {
            *min = values.iter().fold(*min, |min, value| if *value < min { *value } else { min });
        }
        if let Some(max) = self.max.get_mut(at) {
            *max = values.iter().fold(*max, |max, value| if *value > max { *value } else { max });
        }
        exact::add_to((self.least.get_mut(at), self.greatest.get_mut(at)), keys, values);
    }
}

/// The values of a window, in the byte order of the machine.
#[derive(Clone, Copy)]
struct Window<'w> {
    dtype: Dtype,
    bytes: &'w [u8],
    /// The same as floats, if they are floats of 64 bits.
    native: Option<&'w [f64]>,
    /// The same as whole numbers of 64 bits, if their extremes are asked for.
    keys: Option<Keys<'w>>,
}

impl<'w> Window<'w> {
    fn new(dtype: Dtype, bytes: &'w [u8], keys: Option<Keys<'w>>) -> Self {
        Self { dtype, bytes, native: if dtype == Dtype::Float64 { native(bytes) } else { None }, keys }
    }

    /// The number of values.
    fn len(&self) -> usize {
        self.bytes.len() / width(self.dtype).max(1)
    }

    /// Some of the values. Others than floats of 64 bits become such, a few at a time, while they are near.
    fn values(&self, range: Range<usize>) -> Result<Cow<'w, [f64]>> {
        let cut = || bad("a window is cut");
        if let Some(native) = self.native {
            return native.get(range).map(Cow::Borrowed).ok_or_else(cut);
        }
        let width = width(self.dtype);
        let bytes = range.start.checked_mul(width).zip(range.end.checked_mul(width));
        let bytes = bytes.and_then(|(start, end)| self.bytes.get(start..end)).ok_or_else(cut)?;
        floats(self.dtype, bytes).map(Cow::Owned)
    }

    /// Some of the values as whole numbers of 64 bits. None if nothing is asked of them as such.
    fn keys(&self, range: Range<usize>) -> Result<Vec<u64>> {
        self.keys.map_or_else(|| Ok(Vec::new()), |keys| keys.list(range))
    }
}

/// The sum of a function over values that are not NaN, in several lanes, so that it is fast and rounds little.
fn sum_of(values: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let known = |value: f64| if value.is_nan() { 0.0 } else { f(value) };
    let (lanes, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for lane in lanes {
        sums.iter_mut().zip(lane).for_each(|(sum, value)| *sum += known(*value));
    }
    sums.into_iter().sum::<f64>() + rest.iter().map(|value| known(*value)).sum::<f64>()
}

/// How a box is gone through.
struct Plan<'v> {
    variable: &'v Variable,
    /// The type of the elements that are read, and how they become amounts.
    dtype: Dtype,
    amounts: Option<Reading>,
    /// The type as which whole numbers of 64 bits are read whose extremes are asked for.
    wide: Option<Wide>,
    /// The lengths of the box.
    lens: Vec<u64>,
    /// Places of the result from one index of a dimension to the next: 0 for one that is reduced.
    strides: Vec<u64>,
}

impl Plan<'_> {
    /// Elements after an index of dimension `dim`. More than there are numbers are more than a window takes.
    fn behind(&self, dim: usize) -> u64 {
        self.lens.iter().skip(dim.saturating_add(1)).fold(1, |all, len| all.saturating_mul(*len))
    }

    /// The dimension that is cut into windows, and how many of its indices each has.
    fn window(&self) -> (usize, u64) {
        let piece = self.variable.piece_shape().iter().fold(1_u64, |all, len| all.saturating_mul(*len));
        // A window that is smaller than an object would decode it several times.
        let most = WINDOW.max(piece);
        let dim = (0..self.lens.len()).find(|dim| self.behind(*dim) <= most).unwrap_or(0);
        let indices = (most / self.behind(dim).max(1)).max(1);
        let chunk = self.variable.piece_shape().get(dim).copied().unwrap_or(1).max(1);
        (dim, if indices > chunk { indices - indices % chunk } else { indices })
    }

    /// Adds the values of a window, whose first place of the result is `at`. Threads have places of their own, so that the result
    /// does not depend on their number.
    ///
    /// # Errors
    /// A value that has no place in the result: the place of a window, or the strides, are wrong.
    fn add(&self, sums: &mut Sums, window: Window<'_>, lens: &[u64], at: u64, options: &DecodeOptions) -> Result<()> {
        let wrong = || bad("a value has no place in the result");
        // All places of the window lie between the first and the last one.
        let last = lens
            .iter()
            .zip(&self.strides)
            .fold(at, |last, (len, stride)| last.saturating_add(len.saturating_sub(1).saturating_mul(*stride)));
        let first = usize::try_from(at).map_err(|_| wrong())?;
        let end = usize::try_from(last).ok().and_then(|last| last.checked_add(1));
        let end = end.filter(|end| *end <= sums.missing.len()).ok_or_else(wrong)?;
        let runs = Runs::of(lens, &self.strides);
        let threads = Threads::resolve(options.threads, window.bytes.len() as u64, options.parallel_threshold_bytes)?;
        // A short run costs more to find than to add, and each thread finds all of them.
        let count = if threads.is_one() || runs.len < BLOCK / 8 { 1 } else { threads.count() as usize };
        let parts: Vec<_> = sums.parts(first..end, count).into_iter().map(Mutex::new).collect();
        threads.map(&parts, |part| {
            // A thread that panicked has left nothing that is used.
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            self.add_part(&mut part, window, lens, at, &runs)
        })?;
        Ok(())
    }

    /// Adds the values of a window that belong to a part of the places.
    fn add_part(&self, part: &mut Part<'_>, window: Window<'_>, lens: &[u64], at: u64, runs: &Runs) -> Result<()> {
        let first_of = |number: usize| {
            let (mut left, mut place) = (number as u64, at);
            for (len, stride) in lens.iter().zip(&self.strides).take(runs.outer).rev() {
                place = place.saturating_add(left % (*len).max(1) * stride);
                left /= (*len).max(1);
            }
            usize::try_from(place).map_err(|_| bad("a value has no place in the result"))
        };
        let (numbers, places) = (window.len() / runs.len, part.first..part.first.saturating_add(part.missing.len()));
        if !runs.is_across {
            for number in 0..numbers {
                let place = first_of(number)?;
                if places.contains(&place) {
                    let start = number * runs.len;
                    let run = start..start + runs.len;
                    part.add_to(place - places.start, &window.values(run.clone())?, &window.keys(run)?);
                }
            }
            return Ok(());
        }
        // Block by block, so that the sums of a block are touched by all runs while they are near.
        let mut firsts = Vec::with_capacity(numbers);
        for number in 0..numbers {
            firsts.push(first_of(number)?);
        }
        for start in places.clone().step_by(BLOCK) {
            let block = start..start.saturating_add(BLOCK).min(places.end);
            for (number, first) in firsts.iter().enumerate() {
                // What the run has of the block.
                let (from, to) = ((*first).max(block.start), first.saturating_add(runs.len).min(block.end));
                if from < to {
                    let of_run = number * runs.len;
                    let run = of_run + from - first..of_run + to - first;
                    part.add_across(from - places.start, &window.values(run.clone())?, &window.keys(run)?);
                }
            }
        }
        Ok(())
    }
}

/// Neighbouring values of a window whose places are neighbours too, or one.
struct Runs {
    /// Values of a run.
    len: usize,
    /// Whether each value has its own place.
    is_across: bool,
    /// Dimensions in front of a run.
    outer: usize,
}

impl Runs {
    fn of(lens: &[u64], strides: &[u64]) -> Self {
        // Dimensions at the end that are all kept, or all reduced, are one run.
        let is_kept = |dim: &usize| strides.get(*dim).is_some_and(|stride| *stride > 0);
        let longer = |dim: &usize| lens.get(*dim).is_some_and(|len| *len > 1);
        let innermost = (0..lens.len()).rev().find(longer);
        let is_across = innermost.as_ref().is_some_and(is_kept);
        let mut run = 1_u64;
        let mut outer = lens.len();
        while let Some(dim) = outer.checked_sub(1).filter(|dim| !longer(dim) || is_kept(dim) == is_across) {
            run = run.saturating_mul(lens.get(dim).copied().unwrap_or(1));
            outer = dim;
        }
        Self { len: usize::try_from(run).unwrap_or(usize::MAX).max(1), is_across, outer }
    }
}

impl Dataset {
    /// Statistics of what `indices` pick of a variable, one for each dimension, over the dimensions of the names `over`. NaN is
    /// left out, so places without an object are, and numbers that stand for missing cells.
    ///
    /// Besides the result this takes 64 MiB, and half as much again for extremes of whole numbers of 64 bits; more if one object has more. A dimension with one index is not among those that are
    /// left.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable or dimension, for texts and complex numbers, for what
    /// [`Self::check_places`] refuses, and for what [`Self::read_into`] refuses; the errors of reading and decoding.
    pub fn reduce(
        &self,
        variable: &str,
        indices: &[Indices],
        over: &[&str],
        statistics: &[Statistic],
        options: &DecodeOptions,
    ) -> Result<Reduced> {
        let variable = self.known(variable)?;
        let name = &variable.name;
        let dtype = variable.dtype().ok_or_else(|| bad(format!("{name}: its values are texts")))?;
        check_over(variable, indices, over)?;
        let lens: Vec<u64> = indices.iter().map(Indices::count).collect();
        let is_left = |at: usize| {
            let is_over = variable.dims.get(at).is_none_or(|dim| over.contains(&dim.as_str()));
            !is_over && !matches!(indices.get(at), Some(Indices::Index(_)))
        };
        let left: Vec<usize> = (0..lens.len()).filter(|at| is_left(*at)).collect();
        let shape: Vec<u64> = left.iter().filter_map(|at| lens.get(*at)).copied().collect();
        let mut strides = vec![0_u64; lens.len()];
        let mut places = 1_u64;
        for at in left.iter().rev() {
            if let Some(stride) = strides.get_mut(*at) {
                *stride = places;
            }
            places = places.checked_mul(lens.get(*at).copied().unwrap_or(1)).ok_or_else(|| bad("too many places"))?;
        }
        let amounts = self.amounts(variable).map(Reading::rounded);
        let has_extremes = statistics.iter().any(|it| matches!(it, Statistic::Min | Statistic::Max));
        let wide = Wide::of(amounts.as_ref().map_or(dtype, Reading::view)).filter(|_| has_extremes);
        let plan = Plan { variable, dtype, amounts, wide, lens, strides };
        let count = usize::try_from(places).map_err(|_| bad(format!("{name}: {places} places cannot be addressed")))?;
        let of_place = plan.lens.iter().zip(&plan.strides).filter(|(_, stride)| **stride == 0);
        let total = of_place.fold(1_u64, |all, (len, _)| all.saturating_mul(*len));
        let mut sums = Sums::new(count, total, statistics, wide)?;
        self.reduce_windows(&plan, indices, &mut sums, options)?;
        let dims = left.iter().filter_map(|at| variable.dims.get(*at)).cloned().collect();
        Ok(Reduced { dims, shape, sums })
    }

    fn reduce_windows(
        &self,
        plan: &Plan<'_>,
        indices: &[Indices],
        sums: &mut Sums,
        options: &DecodeOptions,
    ) -> Result<()> {
        if plan.lens.contains(&0) {
            return Ok(());
        }
        let (cut, step) = plan.window();
        let len = plan.lens.get(cut).copied().unwrap_or(1);
        let outer = plan.lens.iter().take(cut).fold(1_u64, |all, len| all.saturating_mul(*len));
        let mut bytes = Vec::new();
        for number in 0..outer {
            let (mut left, mut at) = (number, 0_u64);
            let mut picks = indices.to_vec();
            let mut lens = plan.lens.clone();
            for dim in (0..cut).rev() {
                let (of_dim, stride) = (plan.lens.get(dim).copied().unwrap_or(1), plan.strides.get(dim).copied());
                let index = left % of_dim.max(1);
                left /= of_dim.max(1);
                at = at.saturating_add(index.saturating_mul(stride.unwrap_or(0)));
                set(&mut picks, dim, indices.get(dim).map(|all| all.part(index, 1)));
                set(&mut lens, dim, Some(1));
            }
            let mut start = 0;
            while start < len {
                interrupt::check()?;
                let count = step.min(len - start);
                set(&mut picks, cut, indices.get(cut).map(|all| all.part(start, count)));
                set(&mut lens, cut, Some(count));
                let elements = lens.iter().fold(1_u64, |all, len| all.saturating_mul(*len));
                let needed = usize::try_from(elements).ok().and_then(|count| count.checked_mul(width(plan.dtype)));
                let needed = needed.ok_or_else(|| bad("a window cannot be addressed"))?;
                if bytes.len() < needed {
                    bytes = tgm_std::internal::reserve(needed)?;
                }
                bytes.truncate(needed);
                self.read_into(&plan.variable.name, &picks, options, &mut bytes)?;
                let stride = plan.strides.get(cut).copied().unwrap_or(0);
                // A place beyond all numbers is refused there.
                let at = at.saturating_add(start.saturating_mul(stride));
                // Amounts are computed where the numbers lie.
                let numbers = plan.wide.filter(|_| plan.amounts.is_some()).map(|_| bytes.clone());
                let window = match &plan.amounts {
                    Some(amounts) => (amounts.dtype(), amounts.cells(std::mem::take(&mut bytes))?.bytes),
                    None => (plan.dtype, std::mem::take(&mut bytes)),
                };
                let keys = plan.wide.map(|wide| Keys { wide, bytes: numbers.as_ref().unwrap_or(&window.1) });
                plan.add(sums, Window::new(window.0, &window.1, keys), &lens, at, options)?;
                // Memory that is used again.
                bytes = window.1;
                start += count;
            }
        }
        Ok(())
    }
}

/// The same bytes as floats, if they lie where floats may lie.
fn native(bytes: &[u8]) -> Option<&[f64]> {
    zerocopy::FromBytes::ref_from_bytes(bytes).ok()
}

fn set<T>(list: &mut [T], at: usize, value: Option<T>) {
    if let (Some(place), Some(value)) = (list.get_mut(at), value) {
        *place = value;
    }
}
