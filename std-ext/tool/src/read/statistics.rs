//! Moments, quantiles and histograms of floats, in one pass and in memory that does not grow with their number.
//!
//! Means and squared deviations are sums over blocks, which are joined by the formulas of Chan, Golub and Leveque. So the
//! rounding error grows with the logarithm of the count, and values that are large beside their deviation lose nothing.

use std::collections::BTreeMap;

/// Values that are summed at a time.
const BLOCK: usize = 1024;

/// The relative error of a quantile of a [`Sketch`].
pub(crate) const SKETCH_ERROR: f64 = 0.005;

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
    pub(crate) fn of(values: &[f64]) -> Self {
        Self::weighted(values, |_| 1.0)
    }

    /// The moments of values, each with the weight of its number.
    pub(crate) fn weighted(values: &[f64], weight: impl Fn(usize) -> f64) -> Self {
        let mut all = Self::default();
        for (block, values) in values.chunks(BLOCK).enumerate() {
            all.join(&Self::of_block(values, |index| weight(block * BLOCK + index)));
        }
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

/// The value below which a share `q` of the `values` lies, between neighbours by a straight line. Reorders the values, which
/// are finite.
pub(crate) fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let (below, share) = split(last as u64, q);
    let (_, &mut low, rest) = values.select_nth_unstable_by(below.min(last), f64::total_cmp);
    let high = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    Some(if share > 0.0 { low + (high - low) * share } else { low })
}

/// The place of a share `q` among numbers from 0 to `last`: the number below it, and how far it is to the next.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to last")]
pub(crate) fn split(last: u64, q: f64) -> (usize, f64) {
    let place = q.clamp(0.0, 1.0) * last as f64;
    (place.floor() as usize, place.fract())
}

/// Counts of values by their magnitude: bins whose bounds are 1 % apart. Quantiles of any number of values come out of it
/// with a relative error of [`SKETCH_ERROR`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    negative: BTreeMap<i32, u64>,
    zero: u64,
    positive: BTreeMap<i32, u64>,
}

impl Sketch {
    /// Adds finite values.
    pub(crate) fn add(&mut self, values: &[f64]) {
        let scale = Self::bins_by_logarithm();
        for &value in values {
            #[expect(clippy::cast_possible_truncation, reason = "logarithms of floats are below 750")]
            let bin = (value.abs().ln() * scale).ceil() as i32;
            *match value {
                0.0 => &mut self.zero,
                value if value < 0.0 => self.negative.entry(bin).or_default(),
                _ => self.positive.entry(bin).or_default(),
            } += 1;
        }
    }

    fn bins_by_logarithm() -> f64 {
        1.0 / ((1.0 + SKETCH_ERROR) / (1.0 - SKETCH_ERROR)).ln()
    }

    /// The value below which a share `q` of the values lies.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        let value = |bin: i32| (f64::from(bin) / Self::bins_by_logarithm()).exp() * (1.0 - SKETCH_ERROR);
        let negative = self.negative.iter().rev().map(|(bin, count)| (-value(*bin), *count));
        let positive = self.positive.iter().map(|(bin, count)| (value(*bin), *count));
        let bins: Vec<_> = negative.chain([(0.0, self.zero)]).chain(positive).collect();
        let last = bins.iter().map(|(_, count)| count).sum::<u64>().checked_sub(1)?;
        let wanted = split(last, q).0 as u64;
        let mut before = 0;
        bins.into_iter().find_map(|(value, count)| {
            before += count;
            (wanted < before).then_some(value)
        })
    }
}

/// How many of the finite values lie in each of `bins` equal parts of `low..=high`.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few bins")]
pub(crate) fn histogram(values: &[f64], (low, high): (f64, f64), bins: usize) -> Vec<u64> {
    let mut counts = vec![0; bins];
    // Halves, so that a range over all floats does not overflow.
    let width = high / 2.0 - low / 2.0;
    for value in values.iter().filter(|value| value.is_finite()) {
        let share = if width > 0.0 { (value / 2.0 - low / 2.0) / width } else { 0.0 };
        let bin = ((share * bins as f64) as usize).min(bins.saturating_sub(1));
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    counts
}

/// Counts as a row of bars, one character each.
pub(crate) fn sparkline(counts: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let bar = |count: u64| match u128::from(count) * 8 {
        0 => ' ',
        eighths => {
            let height = eighths.div_ceil(u128::from(most)).saturating_sub(1);
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

        #[test]
        fn quantiles_are_those_of_sorted_values_and_sketches_are_near(
            mut values in proptest::collection::vec(prop_oneof![-1e5_f64..1e5, Just(0.0), 1e-5..1e-3_f64], 1..800),
            q in 0.0..=1.0_f64,
        ) {
            let mut sketch = Sketch::default();
            sketch.add(&values);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let place = q * (sorted.len() - 1) as f64;
            let (below, share) = (place.floor() as usize, place.fract());
            let above = sorted[(below + 1).min(sorted.len() - 1)];
            let expected = sorted[below] + (above - sorted[below]) * share;
            prop_assert!((quantile(&mut values, q).unwrap() - expected).abs() <= 1e-9);
            let near = sketch.quantile(q).unwrap();
            prop_assert!((near - sorted[below]).abs() <= 1.001 * SKETCH_ERROR * sorted[below].abs() + 1e-12);
        }
    }

    #[test]
    fn what_is_not_finite_is_counted_apart() {
        let moments = Moments::of(&[1.0, f64::NAN, f64::INFINITY, 3.0, f64::NEG_INFINITY]);
        assert_eq!((moments.count, moments.nan, moments.pos_inf, moments.neg_inf), (2, 1, 1, 1));
        assert_eq!((moments.range(), moments.mean(), moments.deviation()), (Some((1.0, 3.0)), Some(2.0), Some(1.0)));
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
            (sparkline(&[]), quantile(&mut [], 0.5), Sketch::default().quantile(0.5)),
            (String::new(), None, None)
        );
    }
}
