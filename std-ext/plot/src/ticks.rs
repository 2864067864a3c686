//! Numbers as text, and round ones of a range.

/// A number with at most `digits` digits after the first one. Very large and very small ones have an exponent.
pub fn number(value: f64, digits: usize) -> String {
    // Zero is added so that it has no sign.
    let short = format!("{value:.digits$e}").parse::<f64>().unwrap_or(value) + 0.0;
    if short == 0.0 || (1e-4..1e9).contains(&short.abs()) { short.to_string() } else { format!("{short:e}") }
}

/// Round numbers from `low` to `high`: multiples of 1, 2, 2.5 or 5 times a power of ten, at most `most` of them.
///
/// `whole` leaves fractions out, for numbers of rows and counts. Without a range between the bounds, it is the bound.
#[expect(clippy::cast_possible_truncation, reason = "few ticks")]
pub fn ticks((low, high): (f64, f64), most: usize, whole: bool) -> Vec<f64> {
    let span = high / 2.0 - low / 2.0;
    let most = most.clamp(1, 100);
    let usable = span > 0.0 && span.is_finite() && span > low.abs().max(high.abs()) * 1e-12;
    if !usable {
        return vec![low];
    }
    let least = (2.0 * (span / f64::from(u8::try_from(most).unwrap_or(u8::MAX)))).max(if whole { 1.0 } else { 0.0 });
    let power = 10_f64.powi(least.log10().floor() as i32);
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0].map(|factor| factor * power);
    let within = |step: f64| -> Vec<f64> {
        let (first, end) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let indices = std::iter::successors(Some(first), |index| Some(index + 1.0)).take(128);
        indices.take_while(|&index| index <= end).map(|index| index * step).collect()
    };
    let is_round = |step: f64| !whole || step.fract() == 0.0;
    let fits = |step: &f64| *step >= least * (1.0 - 1e-9) && is_round(*step) && within(*step).len() <= most;
    steps.into_iter().find(fits).map_or_else(|| vec![low], within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks((0.0, 10.0), 6, false), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks((-1.0, 1.0), 5, false), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(ticks((0.0, 2.0), 8, true), [0.0, 1.0, 2.0]);
        assert_eq!(ticks((0.0, 1.0), 5, false), [0.0, 0.25, 0.5, 0.75, 1.0]);
        // Rows and counts have no halves.
        assert_eq!(ticks((0.0, 10.0), 5, true), [0.0, 5.0, 10.0]);
        assert_eq!(ticks((273.0, 273.0), 5, false), [273.0]);
        for (low, high) in [(0.1, 0.7), (-3e300, 3e300), (f64::MIN, f64::MAX), (1e-300, 3e-300), (250.3, 318.2)] {
            let found = ticks((low, high), 6, false);
            assert!((1..=6).contains(&found.len()) && found.is_sorted(), "{low} {high}: {found:?}");
            assert!(low < 0.0 || found.len() > 1, "{low} {high}: {found:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        let texts = [-0.0, 1.0, 0.1 + 0.2, 1_234_567.0, 1e300, -2.5e-9].map(|value| number(value, 5));
        assert_eq!(texts, ["0", "1", "0.3", "1234570", "1e300", "-2.5e-9"]);
    }
}
