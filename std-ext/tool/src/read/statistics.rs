//! Moments, quantiles and histograms of floats, in memory that does not grow with their number.
//!
//! Means and squared deviations are sums over blocks, which are joined by the formulas of Chan, Golub and Leveque. So the
//! rounding error grows with the logarithm of the count, and values that are large beside their deviation lose nothing. A
//! quantile takes a second pass over the values, which looks for the few that lie near it.

/// Values that are looked at a time.
pub(crate) const BLOCK: usize = 1024;
/// Sums that grow side by side.
const LANES: usize = 8;
/// Bits of a float below the ones that say in which bin of a [`Sketch`] it is: 7 bits behind the exponent count.
const BELOW: u32 = 45;

/// The relative error of a quantile of a [`Sketch`].
pub(crate) const SKETCH_ERROR: f64 = 0.005;

/// Values that are gone through in blocks.
pub(crate) trait Blocks {
    /// Calls `with` for all values in order, [`BLOCK`] at a time. The last block may be shorter.
    fn for_each_block(&self, with: &mut dyn FnMut(&[f64]));
}

impl<T: AsRef<[f64]> + ?Sized> Blocks for T {
    fn for_each_block(&self, with: &mut dyn FnMut(&[f64])) {
        self.as_ref().chunks(BLOCK).for_each(with);
    }
}

/// Counts, extremes, mean and deviation of floats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// Finite values.
    pub(crate) count: u64,
    /// NaN.
    pub(crate) nan: u64,
    /// Infinities of positive sign.
    pub(crate) pos_inf: u64,
    /// Infinities of negative sign.
    pub(crate) neg_inf: u64,
    /// The least finite value; infinite without one.
    pub(crate) min: f64,
    /// The greatest finite value.
    pub(crate) max: f64,
    /// The sum of weights: their number, if all weigh alike.
    weight: f64,
    mean: f64,
    /// Sum of weighted squares of deviations from the mean.
    squares: f64,
}

impl Default for Moments {
    fn default() -> Self {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        Self {
            count: 0,
            nan: 0,
            pos_inf: 0,
            neg_inf: 0,
            min: none.0,
            max: none.1,
            weight: 0.0,
            mean: 0.0,
            squares: 0.0,
        }
    }
}

impl Moments {
    /// The moments of values that weigh alike.
    pub(crate) fn of(values: &(impl Blocks + ?Sized)) -> Self {
        let mut all = Self::default();
        values.for_each_block(&mut |block| {
            all.join(&Self::of_finite(block).unwrap_or_else(|| Self::of_block(block, |_| 1.0)));
        });
        all
    }

    /// The moments of a block, if all of it is finite. Without a branch for each value, so that registers hold several.
    #[expect(clippy::cast_precision_loss, reason = "a block has few values")]
    fn of_finite(values: &[f64]) -> Option<Self> {
        let (lanes, rest) = values.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        let (mut mins, mut maxs) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        // 0 times what is not finite is NaN.
        let mut zeros = [0.0; LANES];
        for lane in lanes {
            for (at, &value) in lane.iter().enumerate() {
                sums[at] += value;
                zeros[at] += value * 0.0;
                mins[at] = if value < mins[at] { value } else { mins[at] };
                maxs[at] = if value > maxs[at] { value } else { maxs[at] };
            }
        }
        let sum = sums.into_iter().chain(rest.iter().copied()).sum::<f64>();
        let zero: f64 = zeros.into_iter().sum::<f64>() + rest.iter().map(|value| value * 0.0).sum::<f64>();
        if zero.is_nan() || values.is_empty() {
            return None;
        }
        let weight = values.len() as f64;
        let mean = sum / weight;
        let mut squares = [0.0; LANES];
        for lane in lanes {
            for (at, &value) in lane.iter().enumerate() {
                squares[at] += (value - mean) * (value - mean);
            }
        }
        let squares = squares.into_iter().sum::<f64>() + rest.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let least = mins.into_iter().chain(rest.iter().copied()).fold(f64::INFINITY, f64::min);
        let greatest = maxs.into_iter().chain(rest.iter().copied()).fold(f64::NEG_INFINITY, f64::max);
        let count = values.len() as u64;
        Some(Self { count, min: least, max: greatest, weight, mean, squares, ..Self::default() })
    }

    /// The moments of values, each with the weight of its number.
    pub(crate) fn weighted(values: &(impl Blocks + ?Sized), weight: impl Fn(usize) -> f64) -> Self {
        let (mut all, mut before) = (Self::default(), 0);
        values.for_each_block(&mut |block| {
            all.join(&Self::of_block(block, |index| weight(before + index)));
            before += block.len();
        });
        all
    }

    fn of_block(values: &[f64], weight: impl Fn(usize) -> f64) -> Self {
        let mut block = Self::default();
        let mut sum = 0.0;
        for (index, &value) in values.iter().enumerate() {
            match value {
                value if value.is_nan() => block.nan += 1,
                f64::INFINITY => block.pos_inf += 1,
                f64::NEG_INFINITY => block.neg_inf += 1,
                value => {
                    block.count += 1;
                    block.weight += weight(index);
                    sum += value * weight(index);
                    block.min = block.min.min(value);
                    block.max = block.max.max(value);
                }
            }
        }
        if block.weight > 0.0 {
            block.mean = sum / block.weight;
            let finite = values.iter().enumerate().filter(|(_, value)| value.is_finite());
            block.squares = finite.map(|(index, value)| weight(index) * (value - block.mean).powi(2)).sum();
        }
        block
    }

    /// Adds the values of `other`.
    pub(crate) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.nan += other.nan;
        self.pos_inf += other.pos_inf;
        self.neg_inf += other.neg_inf;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        let weight = self.weight + other.weight;
        if other.weight > 0.0 {
            let apart = other.mean - self.mean;
            self.mean += apart * (other.weight / weight);
            self.squares += other.squares + apart.powi(2) * (self.weight * other.weight / weight);
            self.weight = weight;
        }
    }

    /// The mean of the finite values.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then_some(self.mean)
    }

    /// The standard deviation of the finite values, as of a whole population.
    pub(crate) fn deviation(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| (self.squares / self.weight).sqrt())
    }

    /// The least and the greatest finite value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.min, self.max))
    }
}

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
    /// The order of the least value of the bins, and how far the greatest is behind it.
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
    // Of negative floats, the greater bits are the lesser value.
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

/// Counts of values by sign, exponent and the first bits behind it. So the bounds of bins are less than 1 % apart, and
/// quantiles of any number of values come out of it with a relative error of [`SKETCH_ERROR`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    /// The first bin of `counts`.
    first: usize,
    counts: Vec<u64>,
    /// The sum of all counts.
    count: u64,
}

impl Sketch {
    /// A sketch of values whose finite ones lie in `range`, before the first of them is added.
    pub(crate) fn over(range: Option<(f64, f64)>) -> Self {
        let mut sketch = Self::default();
        if let Some((least, greatest)) = range {
            // Zero has two signs, and is the least value with either.
            let least = if least == 0.0 { -0.0 } else { least };
            sketch.cover(bin_of(least), bin_of(if greatest == 0.0 { 0.0 } else { greatest }));
        }
        sketch
    }

    /// Adds the finite ones of these values, which lie in the range.
    pub(crate) fn add(&mut self, block: &[f64]) {
        if self.counts.is_empty() {
            return;
        }
        let mut count = 0;
        for value in block {
            // What is not finite lies in bins beyond the range, or is left out with it.
            if let Some(bin) = bin_of(*value).checked_sub(self.first).and_then(|bin| self.counts.get_mut(bin)) {
                let one = u64::from(value.is_finite());
                *bin += one;
                count += one;
            }
        }
        self.count += count;
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

    /// Adds the values of `other`.
    pub(crate) fn join(&mut self, other: &Self) {
        let Some(last) = other.counts.len().checked_sub(1) else { return };
        self.cover(other.first, other.first + last);
        let own = self.counts.iter_mut().skip(other.first - self.first);
        own.zip(&other.counts).for_each(|(own, other)| *own += other);
        self.count += other.count;
    }

    /// The bin of the value that is number `rank` in order, and how many values lie in bins before.
    fn bin_of(&self, rank: u64) -> Option<(usize, u64)> {
        let mut before = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            if rank < before + count {
                return Some((self.first + bin, before));
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

/// How many of the finite values lie in each of `bins` equal parts of `low..=high`.
#[cfg(any(feature = "plot", test))]
pub(crate) fn histogram(values: &(impl Blocks + ?Sized), range: (f64, f64), bins: usize) -> Vec<u64> {
    let mut histogram = Histogram::over(range, bins);
    values.for_each_block(&mut |block| histogram.add(block));
    histogram.counts()
}

/// Counts of values in equal parts of a range.
pub(crate) struct Histogram {
    /// Half of the least value, and what takes half of a value above it to its bin.
    half_low: f64,
    by: f64,
    /// Several counts of each bin, which are joined at the end: neighbours often lie in one bin, and would wait for each other.
    counts: Vec<[u64; COUNTS]>,
}

/// Counts of a bin that grow side by side.
const COUNTS: usize = 4;

impl Histogram {
    /// Counts over this range, before the first value is added.
    #[expect(clippy::cast_precision_loss, reason = "few bins")]
    pub(crate) fn over((low, high): (f64, f64), bins: usize) -> Self {
        // Halves, so that a range over all floats does not overflow.
        let width = high / 2.0 - low / 2.0;
        let by = if width > 0.0 { bins as f64 / width } else { 0.0 };
        Self { half_low: low / 2.0, by, counts: vec![[0; COUNTS]; bins] }
    }

    /// Adds the finite ones of these values.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few bins")]
    pub(crate) fn add(&mut self, block: &[f64]) {
        let Some(last) = self.counts.len().checked_sub(1) else { return };
        for (at, value) in block.iter().enumerate() {
            let bin = (((value / 2.0 - self.half_low) * self.by) as u32 as usize).min(last);
            if let Some(counts) = self.counts.get_mut(bin) {
                counts[at % COUNTS] += u64::from(value.is_finite());
            }
        }
    }

    /// The counts of all bins.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.counts.iter().map(|counts| counts.iter().sum()).collect()
    }
}

/// Counts as a row of bars, one character each.
pub(crate) fn sparkline(counts: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: u64| match u128::from(count) * 8 {
        0 => ' ',
        eighths => {
            let height = eighths.div_ceil(u128::from(most)) - 1;
            usize::try_from(height).ok().and_then(|height| BARS.get(height)).copied().unwrap_or('█')
        }
    };
    counts.iter().map(|count| bar(*count)).collect()
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sketch_of(values: &[f64]) -> Sketch {
        let mut sketch = Sketch::over(Moments::of(values).range());
        sketch.add(values);
        sketch
    }

    proptest! {
        #[test]
        fn moments_are_those_of_two_exact_passes_however_values_are_divided(
            values in proptest::collection::vec(-1e6_f64..1e6, 1..5000),
            at in 0_usize..5000,
            far in prop_oneof![Just(0.0), Just(1e9)],
        ) {
            let values: Vec<f64> = values.into_iter().map(|value| value + far).collect();
            let (left, right) = values.split_at(at.min(values.len()));
            let mut joined = Moments::of(left);
            joined.join(&Moments::of(right));
            let count = values.len() as f64;
            // About the first value, so that the sums stay small.
            let origin = values[0];
            let mean = values.iter().map(|value| value - origin).sum::<f64>() / count;
            let squares = values.iter().map(|value| (value - origin - mean).powi(2)).sum::<f64>();
            prop_assert!((joined.mean().unwrap() - (origin + mean)).abs() <= 1e-9 * (1.0 + mean.abs() + far * 1e-6));
            let expected = (squares / count).sqrt();
            prop_assert!((joined.deviation().unwrap() - expected).abs() <= 1e-9 * (1.0 + expected));
        }

        #[test]
        fn quantiles_are_those_of_sorted_values_and_sketches_are_near(
            values in proptest::collection::vec(prop_oneof![-1e5_f64..1e5, Just(0.0), Just(-0.0), 1e-5..1e-3_f64], 1..800),
            q in 0.0..=1.0_f64,
            at in 0_usize..800,
        ) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut sketch = sketch_of(left);
            sketch.join(&sketch_of(right));
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
    fn what_is_not_finite_is_counted_apart() {
        let moments = Moments::of(&[1.0, f64::NAN, f64::INFINITY, 3.0, f64::NEG_INFINITY]);
        assert_eq!((moments.count, moments.nan, moments.pos_inf, moments.neg_inf), (2, 1, 1, 1));
        assert_eq!((moments.range(), moments.mean(), moments.deviation()), (Some((1.0, 3.0)), Some(2.0), Some(1.0)));
        for at in 0..19 {
            let mut values = [1.0; 19];
            values[at] = f64::NEG_INFINITY;
            assert_eq!((Moments::of(&values).count, Moments::of(&values).neg_inf), (18, 1), "{at}");
        }
        let none = Moments::of(&[f64::NAN]);
        assert_eq!((none.range(), none.mean(), none.deviation()), (None, None, None));
        assert_eq!(Moments::weighted(&[1.0, 5.0], |index| [3.0, 1.0][index]).mean(), Some(2.0));
    }

    #[test]
    fn histograms_count_every_finite_value() {
        assert_eq!(histogram(&[0.0, 1.0, 2.0, 4.0, f64::NAN], (0.0, 4.0), 4), [1, 1, 1, 1]);
        assert_eq!(histogram(&[7.0, 7.0], (7.0, 7.0), 2), [2, 0]);
        assert_eq!(histogram(&[f64::MIN, f64::MAX], (f64::MIN, f64::MAX), 2), [1, 1]);
        assert_eq!(sparkline(&[0, 1, 8]), " ▁█");
        assert_eq!(
            (sparkline(&[]), quantiles(&[], &Sketch::default(), &[0.5]), Sketch::default().quantile(0.5)),
            (String::new(), vec![], None)
        );
    }
}
