//! Moments and histograms of floats, in memory that does not grow with their number.
//!
//! Means and squared deviations are sums over blocks, which are joined by the formulas of Chan, Golub and Leveque. So the
//! rounding error grows with the logarithm of the count, and values that are large beside their deviation lose nothing.

/// Values that are looked at a time.
pub(crate) const BLOCK: usize = 1024;
/// Sums that grow side by side.
const LANES: usize = 8;

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
        let histogram = |values: &[f64], range, bins| {
            let mut histogram = Histogram::over(range, bins);
            histogram.add(values);
            histogram.counts()
        };
        assert_eq!(histogram(&[0.0, 1.0, 2.0, 4.0, f64::NAN], (0.0, 4.0), 4), [1, 1, 1, 1]);
        assert_eq!(histogram(&[7.0, 7.0], (7.0, 7.0), 2), [2, 0]);
        assert_eq!(histogram(&[f64::MIN, f64::MAX], (f64::MIN, f64::MAX), 2), [1, 1]);
        assert_eq!(sparkline(&[0, 1, 8]), " ▁█");
        assert_eq!(sparkline(&[]), "");
    }
}
