//! Quantiles of floats: a sketch says in which bins they lie, and a second pass over the values finds them there.
//!
//! A bin is a range of floats whose bounds are less than 1 % apart. Values on both sides of zero may lie in any of 500,000 bins,
//! which is 4 MB of counts. So these stand side by side while the values of one object are counted, and a sketch of the object
//! keeps only the bins that have values. Where there are few values, the bins are sorted.

use super::statistics::Blocks;

/// Bits of a float below the ones that say in which bin it is: 7 bits after the exponent count.
const BELOW: u32 = 45;
/// Bins beside which one value is few. Sorting the value's bin takes as long as going through these.
const BINS_OF_A_VALUE: usize = 16;

/// The relative error of a quantile of a [`Sketch`].
pub(crate) const SKETCH_ERROR: f64 = 0.005;

/// The values below which each share of the finite `values` lies, between neighbours by a straight line. `sketch` counts these
/// values and no others. It names the bins that are looked into. Without a value there is none.
pub(crate) fn quantiles(values: &(impl Blocks + ?Sized), sketch: &Sketch, shares: &[f64]) -> Vec<f64> {
    let Some(last) = sketch.count.checked_sub(1) else { return Vec::new() };
    let mut near: Vec<_> = shares.iter().filter_map(|share| Near::new(sketch, last, *share)).collect();
    values.for_each_block(&mut |block| near.iter_mut().for_each(|near| near.add(block)));
    near.into_iter().map_while(Near::quantile).collect()
}

/// The values near a quantile.
struct Near {
    /// The order of the least value of the bins, and how far the greatest is after it.
    first: u64,
    span: u64,
    /// Which of the values in order is below the quantile, and how far the quantile is to the next.
    place: u64,
    share: f64,
    values: Vec<f64>,
}

impl Near {
    fn new(sketch: &Sketch, last: u64, share: f64) -> Option<Self> {
        let (below, share) = split(last, share);
        let (first_bin, before) = sketch.bin_of(below)?;
        let (last_bin, _) = sketch.bin_of(if below < last { below + 1 } else { last })?;
        let first = (first_bin as u64) << BELOW;
        let end = ((last_bin as u64) << BELOW) | ((1 << BELOW) - 1);
        Some(Self {
            first,
            span: end.checked_sub(first)?,
            place: below.checked_sub(before)?,
            share,
            values: Vec::new(),
        })
    }

    fn add(&mut self, block: &[f64]) {
        let is_near = |value: &f64| order_of(*value).wrapping_sub(self.first) <= self.span;
        // Most blocks of most fields have few of them or none, which is seen several values at a time.
        if block.iter().fold(false, |any, value| any | is_near(value)) {
            let near = block.iter().copied().filter(is_near);
            self.values.extend(near);
        }
    }

    fn quantile(mut self) -> Option<f64> {
        let place = usize::try_from(self.place).ok().filter(|place| *place < self.values.len())?;
        let (_, &mut low, rest) = self.values.select_nth_unstable_by(place, f64::total_cmp);
        let high = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
        Some(if self.share > 0.0 { low + (high - low) * self.share } else { low })
    }
}

/// The place of a share `q` among numbers from 0 to `last`: the number below it, and how far it is to the next.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to last")]
pub(crate) fn split(last: u64, q: f64) -> (u64, f64) {
    let place = q.clamp(0.0, 1.0) * last as f64;
    ((place.floor() as u64).min(last), place.fract())
}

/// An integer for each float, in the order of the floats.
const fn order_of(value: f64) -> u64 {
    let bits = value.to_bits();
    // The greater bits of negative floats are the lesser value.
    bits ^ ((bits.cast_signed() >> 63).cast_unsigned() | 1 << 63)
}

/// The bin of a value. Bins are in the order of values.
const fn bin_of(value: f64) -> usize {
    (order_of(value) >> BELOW) as usize
}

/// The value in the middle of a bin.
fn middle_of(bin: usize) -> f64 {
    let float = |ordered: u64| f64::from_bits(if ordered >> 63 == 0 { !ordered } else { ordered & !(1 << 63) });
    let first = (bin as u64) << BELOW;
    let (low, high) = (float(first), float(first | ((1 << BELOW) - 1)));
    // The bins on both sides of zero.
    if low == 0.0 || high == 0.0 { 0.0 } else { low / 2.0 + high / 2.0 }
}

/// The bins that have values, in order, and how many values each has. A sketch has at most as many bins as there are values. It
/// gives quantiles of any number of values with a relative error of [`SKETCH_ERROR`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    counts: Vec<(usize, u64)>,
    /// The sum of all counts.
    count: u64,
}

impl Sketch {
    /// The bin of the value that is number `rank` in order, and how many values lie in bins before.
    fn bin_of(&self, rank: u64) -> Option<(usize, u64)> {
        let mut before = 0;
        for (bin, count) in &self.counts {
            if rank < before + count {
                return Some((*bin, before));
            }
            before += count;
        }
        None
    }

    /// The value below which a share `q` of the values lies.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        let rank = split(self.count.checked_sub(1)?, q).0;
        self.bin_of(rank).map(|(bin, _)| middle_of(bin))
    }
}

impl FromIterator<(usize, u64)> for Sketch {
    /// A sketch of bins in their order. One bin may come several times in a row.
    fn from_iter<I: IntoIterator<Item = (usize, u64)>>(bins: I) -> Self {
        let mut sketch = Self::default();
        for (bin, count) in bins.into_iter().filter(|(_, count)| *count > 0) {
            sketch.count += count;
            match sketch.counts.last_mut() {
                Some((last, counted)) if *last == bin => *counted += count,
                _ => sketch.counts.push((bin, count)),
            }
        }
        sketch
    }
}

/// Counts of all bins between two, side by side.
#[derive(Debug, Default)]
pub(crate) struct Bins {
    /// The first bin of `counts`.
    first: usize,
    counts: Vec<u64>,
}

impl Bins {
    /// Adds the finite ones of these values, which lie in these bins.
    fn add(&mut self, block: &[f64]) {
        for value in block {
            // What is not finite lies in bins beyond the range, or is left out with it.
            if let Some(bin) = bin_of(*value).checked_sub(self.first).and_then(|bin| self.counts.get_mut(bin)) {
                *bin += u64::from(value.is_finite());
            }
        }
    }

    /// Makes room for these bins and all between.
    fn cover(&mut self, first: usize, last: usize) {
        if self.counts.is_empty() {
            self.first = first;
        }
        if let Some(more) = self.first.checked_sub(first).filter(|more| *more > 0) {
            self.counts.splice(..0, std::iter::repeat_n(0, more));
            self.first = first;
        }
        let len = last + 1 - self.first;
        self.counts.resize(len.max(self.counts.len()), 0);
    }

    /// Adds the values of a sketch.
    pub(crate) fn join(&mut self, sketch: &Sketch) {
        let (Some((first, _)), Some((last, _))) = (sketch.counts.first(), sketch.counts.last()) else { return };
        self.cover(*first, *last);
        for (bin, count) in &sketch.counts {
            if let Some(own) = bin.checked_sub(self.first).and_then(|bin| self.counts.get_mut(bin)) {
                *own += count;
            }
        }
    }

    /// A sketch of all values that were added.
    pub(crate) fn sketch(&self) -> Sketch {
        self.counts.iter().enumerate().map(|(bin, count)| (self.first + bin, *count)).collect()
    }
}

/// The values of one object on their way into a [`Sketch`].
pub(crate) enum Counting {
    /// The bin of each value.
    Few(Vec<usize>),
    Many(Bins),
}

impl Counting {
    /// Before the first of `count` values is added, whose finite ones lie in `range`. Without a range no value is counted.
    pub(crate) fn over(range: Option<(f64, f64)>, count: u64) -> Self {
        let mut bins = Bins::default();
        let Some((least, greatest)) = range else { return Self::Many(bins) };
        // Zero has two signs, and is the least value with either.
        let least = bin_of(if least == 0.0 { -0.0 } else { least });
        let greatest = bin_of(if greatest == 0.0 { 0.0 } else { greatest });
        let few = greatest.saturating_sub(least) / BINS_OF_A_VALUE;
        match usize::try_from(count) {
            Ok(count) if count < few => Self::Few(Vec::with_capacity(count)),
            _ => {
                bins.cover(least, greatest);
                Self::Many(bins)
            }
        }
    }

    /// Adds the finite ones of these values, which lie in the range.
    pub(crate) fn add(&mut self, block: &[f64]) {
        match self {
            Self::Few(bins) => bins.extend(block.iter().filter(|value| value.is_finite()).map(|value| bin_of(*value))),
            Self::Many(bins) => bins.add(block),
        }
    }

    /// The sketch of all values that were added.
    pub(crate) fn sketch(self) -> Sketch {
        match self {
            Self::Few(mut bins) => {
                bins.sort_unstable();
                bins.into_iter().map(|bin| (bin, 1)).collect()
            }
            Self::Many(bins) => bins.sketch(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
mod tests {
    use proptest::prelude::*;

    use super::super::statistics::Moments;
    use super::*;

    fn sketch_of(values: &[f64]) -> Sketch {
        let range = Moments::of(values).range();
        let sketch = |count| {
            let mut counting = Counting::over(range, count);
            counting.add(values);
            (matches!(counting, Counting::Few(_)), counting.sketch())
        };
        let (_, few) = sketch(values.len() as u64);
        // As if more were to come.
        let (is_few, many) = sketch(u64::MAX);
        assert!(!is_few);
        assert_eq!((&few.counts, few.count), (&many.counts, many.count));
        assert!(few.counts.len() <= values.len());
        few
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_sorted_values_and_sketches_are_near(
            values in proptest::collection::vec(prop_oneof![-1e5_f64..1e5, Just(0.0), Just(-0.0), 1e-5..1e-3_f64], 1..800),
            q in 0.0..=1.0_f64,
            at in 0_usize..800,
        ) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut both = Bins::default();
            both.join(&sketch_of(left));
            both.join(&sketch_of(right));
            let sketch = both.sketch();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let place = q * (sorted.len() - 1) as f64;
            let (below, share) = (place.floor() as usize, place.fract());
            let above = sorted[(below + 1).min(sorted.len() - 1)];
            let expected = sorted[below] + (above - sorted[below]) * share;
            let with_gaps: Vec<f64> = values.iter().copied().chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]).collect();
            prop_assert!((quantiles(&with_gaps, &sketch, &[q])[0] - expected).abs() <= 1e-9);
            let near = sketch.quantile(q).unwrap();
            prop_assert!((near - sorted[below]).abs() <= SKETCH_ERROR * sorted[below].abs() + 1e-300);
        }
    }

    #[test]
    fn sketches_hold_every_finite_value() {
        let values = [f64::MIN, -1.0, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 2.0, f64::MAX];
        let all = [&values[..], &[f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY]].concat();
        let sketch = sketch_of(&all);
        assert_eq!(sketch.count, 8);
        for (rank, value) in values.iter().enumerate() {
            let q = rank as f64 / 7.0;
            assert_eq!(quantiles(&all, &sketch, &[q]), [*value], "{value}");
            assert!((sketch.quantile(q).unwrap() - value).abs() <= value.abs() * SKETCH_ERROR + 1e-300, "{value}");
        }
        let zeros = sketch_of(&[0.0, -0.0]);
        assert_eq!((zeros.count, zeros.quantile(0.5)), (2, Some(0.0)));
    }

    #[test]
    fn bins_of_few_values_are_sorted() {
        let few = |range, count| matches!(Counting::over(Some(range), count), Counting::Few(_));
        assert!(few((-1.0, 1.0), 1000));
        assert!(!few((200.0, 310.0), 1000));
        assert!(!few((-1.0, 1.0), 1 << 20));
        assert!(!few((7.0, 7.0), 1));
        assert_eq!((quantiles(&[], &Sketch::default(), &[0.5]), Sketch::default().quantile(0.5)), (vec![], None));
    }
}
