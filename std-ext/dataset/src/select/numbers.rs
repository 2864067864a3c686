//! Which labels a number means, where labels are floats.
//!
//! A number means a label that equals it. Labels that were rounded are written with fewer digits than they have, and calculated ones
//! with fewer than the float that came out. So a number also means a label that differs from it by no more than that rounding:
//!
//! | labels | rounding |
//! |---|---|
//! | of `float32`, or of `float64` that hold rounded `float32` | half of the step from the label to the next `float32` |
//! | other `float64` | four steps of `float64` at the largest label |
//!
//! It is never more than a quarter of the distance between two labels: a number that equals a label means no other one.
//! Longitudes are equal if they differ by a whole circle.

/// Labels that are floats, and how far a number may be from the label that it means.
pub(super) struct Numbers<'a> {
    labels: &'a [f64],
    /// Labels that differ by it are one.
    circle: Option<f64>,
    is_single: bool,
    /// The most that a number differs from a label that it means.
    most: f64,
}

impl<'a> Numbers<'a> {
    /// `is_single` says that labels are stored as `float32`. Takes the time of sorting the labels.
    pub(super) fn new(labels: &'a [f64], circle: Option<f64>, is_single: bool) -> Self {
        let is_single = is_single || are_rounded(labels);
        let largest =
            labels.iter().filter(|label| label.is_finite()).fold(circle.unwrap_or(0.0), |a, b| a.max(b.abs()));
        let rounding = if is_single { f64::INFINITY } else { 4.0 * (largest.next_up() - largest) };
        Self { labels, circle, is_single, most: rounding.min(least_distance(labels, circle) / 4.0) }
    }

    fn numbered(&self) -> impl Iterator<Item = (u64, f64)> {
        (0_u64..).zip(self.labels.iter().copied())
    }

    /// How far a label is beyond a number.
    fn difference(&self, label: f64, wanted: f64) -> f64 {
        let beyond = label - wanted;
        self.circle.map_or(beyond, |circle| beyond - circle * (beyond / circle).round())
    }

    /// Whether a number means this label.
    #[expect(clippy::float_cmp, reason = "the very same number means the label")]
    fn is(&self, label: f64, wanted: f64) -> bool {
        let most = if self.is_single { self.most.min(half_step(label)) } else { self.most };
        label == wanted || self.difference(label, wanted).abs() <= most
    }

    /// The index and the label that are nearest to a number. Among equals, the label that is written so comes first.
    pub(super) fn nearest(&self, wanted: f64) -> Option<(u64, f64)> {
        let distance = |label: f64| (self.difference(label, wanted).abs(), (label - wanted).abs());
        let known = self.numbered().filter(|(_, label)| !label.is_nan());
        known.min_by(|(_, a), (_, b)| {
            let (a, b) = (distance(*a), distance(*b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    /// The indices of the label that a number means.
    pub(super) fn one(&self, wanted: f64) -> Vec<u64> {
        let found = self.nearest(wanted).filter(|(_, label)| self.is(*label, wanted)).map(|(_, label)| label);
        self.numbered().filter(|(_, label)| Some(*label) == found).map(|(at, _)| at).collect()
    }

    /// The indices of the labels between two numbers, and of those that they mean. An end that is missing is open.
    pub(super) fn between(&self, first: Option<f64>, last: Option<f64>) -> Vec<u64> {
        if let (Some(circle), Some(first), Some(last)) = (self.circle, first, last) {
            return self.eastward(circle, first, last);
        }
        let (first, last) = (first.unwrap_or(f64::NEG_INFINITY), last.unwrap_or(f64::INFINITY));
        let (low, high) = if first <= last { (first, last) } else { (last, first) };
        let is_in = |label: f64| (low..=high).contains(&label) || self.is(label, low) || self.is(label, high);
        self.numbered().filter(|(_, label)| is_in(*label)).map(|(at, _)| at).collect()
    }

    /// The indices of the labels from one longitude to the east, up to another.
    fn eastward(&self, circle: f64, first: f64, last: f64) -> Vec<u64> {
        let width = last - first;
        let width = if (0.0..=circle).contains(&width) { width } else { width.rem_euclid(circle) };
        let along = |label: f64| match label {
            _ if (first..=last).contains(&label) => label - first,
            _ if self.is(label, first) => 0.0,
            _ => (label - first).rem_euclid(circle),
        };
        let is_in = |(label, along): (f64, f64)| along <= width || self.is(label, last);
        let all = self.numbered().map(|(at, label)| (at, (label, along(label))));
        let mut found: Vec<(u64, f64)> =
            all.filter(|(_, found)| is_in(*found)).map(|(at, (_, along))| (at, along)).collect();
        if self.labels.first() < self.labels.last() {
            // A range that crosses the first label goes on after it.
            found.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        }
        found.into_iter().map(|(at, _)| at).collect()
    }
}

/// The `float32` that is nearest, as a float.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
fn single(label: f64) -> f64 {
    f64::from(label as f32)
}

/// Half of the distance from a `float32` to the next one of a greater size.
#[expect(clippy::cast_possible_truncation, reason = "the label is a float32")]
fn half_step(label: f64) -> f64 {
    let label = label.abs() as f32;
    (f64::from(label.next_up()) - f64::from(label)) / 2.0
}

/// Whether `float64` hold what was rounded to `float32`: all are such numbers, and one of them has more digits as `float64`. A third
/// rounded to `float32` is one; wholes and halves are exact in both, and tell nothing.
#[expect(clippy::float_cmp, clippy::cast_possible_truncation, reason = "whether the float32 is the very same number")]
fn are_rounded(labels: &[f64]) -> bool {
    let mut known = labels.iter().copied().filter(|label| !label.is_nan());
    let has_more_digits = |label: &f64| (*label as f32).to_string() != label.to_string();
    known.clone().all(|label| single(label) == label) && known.any(|label| has_more_digits(&label))
}

/// The least distance between two labels that differ. Infinite if all are equal.
fn least_distance(labels: &[f64], circle: Option<f64>) -> f64 {
    let place = |label: &f64| circle.map_or(*label, |circle| label.rem_euclid(circle));
    let mut places: Vec<f64> = labels.iter().filter(|label| label.is_finite()).map(place).collect();
    places.sort_unstable_by(f64::total_cmp);
    let around = circle.zip(places.first().copied()).map(|(circle, first)| first + circle);
    let next = places.iter().skip(1).copied().chain(around);
    let distances = places.iter().zip(next).map(|(a, b)| b - a);
    distances.filter(|distance| *distance > 0.0).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "numbers are small, and labels are the very same")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CIRCLE: Option<f64> = Some(360.0);

    #[test]
    fn a_number_means_no_label_beside_it() {
        let days: Vec<f64> = (0..6).map(|day| 2_459_998.0 + f64::from(day)).collect();
        let absent: Vec<f64> = days.iter().copied().filter(|day| *day != 2_459_999.0).collect();
        let northings: Vec<f64> = (0..9).map(|at| 5_000_000.0 + f64::from(at)).collect();
        for is_single in [false, true] {
            let of = |labels| Numbers::new(labels, None, is_single);
            assert!(of(&absent).one(2_459_999.0).is_empty());
            assert_eq!(of(&days).one(2_459_999.0), [1]);
            assert_eq!(of(&days).between(Some(2_460_002.0), Some(2_460_003.0)), [4, 5]);
            assert_eq!(of(&northings).one(5_000_003.0), [3]);
            assert!(of(&northings).one(5_000_003.5).is_empty());
            assert_eq!(of(&northings).between(Some(5_000_002.5), Some(5_000_004.5)), [3, 4]);
        }
        // Wholes tell nothing of float32.
        assert!(Numbers::new(&northings, None, false).one(5_000_003.2).is_empty());
        assert_eq!(Numbers::new(&northings, None, true).one(5_000_003.2), [3]);
        // Neighbours among float32, and among float64.
        let of_single = [16_777_214.0, 16_777_215.0, 16_777_216.0];
        assert!(Numbers::new(&of_single, None, true).one(16_777_215.4).is_empty());
        let close = [1.0, 1.0_f64.next_up(), 1.0_f64.next_up().next_up()];
        assert_eq!(Numbers::new(&close, None, false).one(1.0_f64.next_up()), [1]);
    }

    #[test]
    fn rounded_labels_are_meant_by_their_digits() {
        let tenths: Vec<f64> = (0..30).map(|at| single(f64::from(at) / 10.0)).collect();
        let calculated: Vec<f64> = (0..30).map(|at| 60.0 - 0.1 * f64::from(at)).collect();
        for at in 0..30_u64 {
            let text = |number: f64| format!("{number:.1}").parse::<f64>().unwrap();
            let numbers = Numbers::new(&tenths, None, false);
            assert_eq!(numbers.one(text(0.1 * at as f64)), [at]);
            assert_eq!(Numbers::new(&calculated, None, false).one(text(60.0 - 0.1 * at as f64)), [at]);
        }
        assert_eq!(Numbers::new(&tenths, None, false).between(Some(0.3), Some(0.7)), [3, 4, 5, 6, 7]);
        assert!(Numbers::new(&tenths, None, false).one(0.100_001).is_empty());
    }

    #[test]
    fn longitudes_are_rounded_around_the_circle() {
        for is_single in [false, true] {
            let rounded = |label: f64| if is_single { single(label) } else { label };
            let east: Vec<f64> = (0..3600).map(|at| rounded(f64::from(at) / 10.0)).collect();
            let west: Vec<f64> = (-1800..1800).map(|at| rounded(f64::from(at) / 10.0)).collect();
            let [east, west] = [&east, &west].map(|labels| Numbers::new(labels, CIRCLE, is_single));
            for tenth in (-1800_i32..1800).step_by(7) {
                let wanted = f64::from(tenth) / 10.0;
                let at = u64::try_from(tenth.rem_euclid(3600)).unwrap();
                assert_eq!(east.one(wanted), [at], "{wanted}");
                let at = u64::try_from(tenth + 1800).unwrap();
                assert_eq!(west.one(wanted.rem_euclid(360.0)), [at], "{wanted}");
            }
            assert_eq!(east.between(Some(-0.2), Some(0.1)), [3598, 3599, 0, 1]);
        }
        // Both ends of a whole circle are there.
        let both = [-180.0, 0.0, 180.0];
        let numbers = Numbers::new(&both, CIRCLE, false);
        assert_eq!((numbers.one(180.0), numbers.one(-180.0)), (vec![2], vec![0]));
        assert_eq!(numbers.between(Some(-180.0), Some(180.0)), [0, 1, 2]);
    }

    /// What a reader of the rule expects: the labels that equal a number, or else those that become it as `float32`.
    fn plain(labels: &[f64], wanted: f64) -> Vec<u64> {
        let at = |is: &dyn Fn(f64) -> bool| -> Vec<u64> {
            (0_u64..).zip(labels).filter(|(_, label)| is(**label)).map(|(at, _)| at).collect()
        };
        let exact = at(&|label| label == wanted);
        if exact.is_empty() { at(&|label| label == single(wanted)) } else { exact }
    }

    proptest! {
        /// Labels lie more than four steps of float32 apart: closer ones are meant by themselves alone.
        #[test]
        fn float32_are_picked_as_xarray_picks_them(
            start in -3e6_f64..3e6, step in 0.01_f64..5.0, count in 2_u32..40, at in 0_u32..40, off in -1.0_f64..1.0,
        ) {
            let labels: Vec<f64> = (0..count).map(|at| single(start + step.max(start.abs() * 1e-6) * f64::from(at))).collect();
            let numbers = Numbers::new(&labels, None, true);
            let near = labels[(at % count) as usize];
            // A tie of two float32 is not decided.
            for wanted in [near, near + off * half_step(near) * 0.99, near + off, near + off * half_step(near) * 8.0] {
                let sizes = [near + half_step(near), near - half_step(near), near - half_step(near) / 2.0];
                prop_assume!(!sizes.contains(&wanted) && wanted.abs() > 1e-3);
                let power = near.abs().log2().fract() == 0.0;
                prop_assume!(!power);
                prop_assert_eq!(numbers.one(wanted), plain(&labels, wanted));
            }
            let (low, high) = (near, near + off.abs() * 7.0);
            let expected: Vec<u64> = (0..).zip(&labels).filter(|(_, it)| low <= **it && **it <= single(high)).map(|it| it.0).collect();
            prop_assert_eq!(numbers.between(Some(low), Some(high)), expected.clone());
            prop_assert_eq!(numbers.between(Some(high), Some(low)), expected);
        }

        #[test]
        fn float64_are_picked_by_their_value(
            labels in prop::collection::vec(prop_oneof![(-4_i64..4).prop_map(|it| it as f64), -3e6_f64..3e6, 2.4e6_f64..2.5e6], 1..30),
            wanted in prop_oneof![(-4_i64..4).prop_map(|it| it as f64), -3e6_f64..3e6], at in 0_usize..30, far in 1e-7_f64..1.0,
        ) {
            let numbers = Numbers::new(&labels, None, false);
            let known = labels[at % labels.len()];
            for wanted in [wanted, known, known * (1.0 + far), known + far] {
                let expected: Vec<u64> = (0..).zip(&labels).filter(|(_, it)| **it == wanted).map(|it| it.0).collect();
                prop_assert_eq!(numbers.one(wanted), expected);
                let (low, high) = (known.min(wanted), known.max(wanted));
                let expected: Vec<u64> = (0..).zip(&labels).filter(|(_, it)| low <= **it && **it <= high).map(|it| it.0).collect();
                prop_assert_eq!(numbers.between(Some(wanted), Some(known)), expected);
            }
        }
    }
}
