//! What a picture shows: a field, a line or a histogram, with its title and units.

use crate::read::picture::Field;
use crate::show::colour_map::{MISSING, Rgb, viridis};

/// Values to draw, and what stands beside them.
pub(crate) struct Picture {
    /// What is drawn.
    pub(crate) drawn: Drawn,
    /// The values of the first and the last colour, of the bottom and the top of a line, or of both ends of a histogram.
    pub(crate) range: (f64, f64),
    /// The title.
    pub(crate) title: String,
    /// The units of the values.
    pub(crate) units: String,
    /// The rows and the columns of a field.
    pub(crate) axes: Option<[Axis; 2]>,
}

/// What the rows or the columns of a field are.
pub(crate) struct Axis {
    /// What the numbers are.
    pub(crate) kind: AxisKind,
    /// The number of each row or column, all of them rising or all falling.
    pub(crate) values: Vec<f64>,
}

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisKind {
    /// Rows or columns, counted from 0.
    Number,
    /// Degrees north.
    Latitude,
    /// Degrees east.
    Longitude,
}

impl Axis {
    /// Numbers from 0, or to 0 if they are `falling`.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    pub(crate) fn numbers(count: usize, falling: bool) -> Self {
        let mut values: Vec<f64> = (0..count).map(|number| number as f64).collect();
        if falling {
            values.reverse();
        }
        Self { kind: AxisKind::Number, values }
    }

    /// At most `most` ticks: where each stands, as a share of the axis, and its label.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let (Some(first), Some(last)) = (self.values.first(), self.values.last()) else { return Vec::new() };
        let round = ticks((first.min(*last), first.max(*last)), most, self.kind == AxisKind::Number);
        let place = |tick: f64| {
            let pair = self.values.windows(2).enumerate().find_map(|(cell, pair)| match *pair {
                [a, b] if (a.min(b)..=a.max(b)).contains(&tick) && (a < b || b < a) => {
                    Some(cell as f64 + (tick - a) / (b - a))
                }
                _ => None,
            });
            (pair.unwrap_or(0.0) + 0.5) / self.values.len() as f64
        };
        round.into_iter().map(|tick| (place(tick), self.label(tick))).collect()
    }

    /// A number of the axis as text.
    fn label(&self, value: f64) -> String {
        // From -180 to 180, as maps have it.
        let degrees = if value > 180.0 { value - 360.0 } else { value };
        let letter = match (self.kind, degrees) {
            (AxisKind::Number, _) => return number(value, 9),
            (_, 0.0) | (AxisKind::Longitude, 180.0 | -180.0) => "",
            (AxisKind::Latitude, degrees) => {
                if degrees > 0.0 {
                    "N"
                } else {
                    "S"
                }
            }
            (AxisKind::Longitude, degrees) => {
                if degrees > 0.0 {
                    "E"
                } else {
                    "W"
                }
            }
        };
        format!("{}{letter}", number(degrees.abs(), 6))
    }
}

/// What is drawn.
pub(crate) enum Drawn {
    /// Rows of values.
    Field(Field),
    /// One row of values.
    Line(Field),
    /// How many values lie in each of equal parts of the range.
    Histogram(Counts),
}

/// The counts of a histogram.
pub(crate) struct Counts {
    /// The counts of the parts.
    pub(crate) counts: Vec<u64>,
    /// Values that are not finite.
    pub(crate) missing: u64,
    /// Finite values outside of the range.
    pub(crate) outside: u64,
}

impl Counts {
    /// The greatest count, at least 1.
    pub(crate) fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or_default().max(1)
    }

    /// A sentence on the values that are in no part. `None` if all values are.
    pub(crate) fn rest(&self) -> Option<String> {
        let part = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let parts = [part(self.missing, "missing"), part(self.outside, "outside of the range")];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("not drawn: {}", parts.join(", ")))
    }
}

impl Picture {
    /// Where a value lies in the range: 0 is the least one.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        // Halves, so that a range over all floats does not overflow.
        let width = high / 2.0 - low / 2.0;
        if width > 0.0 { ((value / 2.0 - low / 2.0) / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The value at a share of the range.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let (low, high) = self.range;
        low * (1.0 - share) + high * share
    }

    /// The values of a field or a line. `None` for a histogram.
    #[cfg(feature = "browse")]
    pub(crate) const fn field(&self) -> Option<&Field> {
        match &self.drawn {
            Drawn::Field(field) | Drawn::Line(field) => Some(field),
            Drawn::Histogram(_) => None,
        }
    }

    /// The colour of a value.
    pub(crate) fn colour(&self, value: Option<f64>) -> Rgb {
        value.map_or(MISSING, |value| viridis(self.share(value)))
    }

    /// A value of the range as text, with its unit.
    pub(crate) fn label(&self, value: f64) -> String {
        format!("{} {}", number(value, 5), self.units).trim_end().to_string()
    }
}

/// A number with at most `digits` digits behind the first one. Very large and very small ones have an exponent.
pub(crate) fn number(value: f64, digits: usize) -> String {
    // Zero is added so that it has no sign.
    let short = format!("{value:.digits$e}").parse::<f64>().unwrap_or(value) + 0.0;
    if short == 0.0 || (1e-4..1e9).contains(&short.abs()) { short.to_string() } else { format!("{short:e}") }
}

/// Round numbers from `low` to `high`: multiples of 1, 2 or 5 times a power of ten, at most `most` of them.
///
/// `whole` leaves fractions out, for numbers of rows and counts. Without a range between the bounds, it is the bound.
#[expect(clippy::cast_possible_truncation, reason = "few ticks")]
pub(crate) fn ticks((low, high): (f64, f64), most: usize, whole: bool) -> Vec<f64> {
    let span = high / 2.0 - low / 2.0;
    let most = most.clamp(1, 100);
    let usable = span > 0.0 && span.is_finite() && span > low.abs().max(high.abs()) * 1e-12;
    if !usable {
        return vec![low];
    }
    let least = (2.0 * (span / f64::from(u8::try_from(most).unwrap_or(u8::MAX)))).max(if whole { 1.0 } else { 0.0 });
    let power = 10_f64.powi(least.log10().floor() as i32);
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power);
    let within = |step: f64| -> Vec<f64> {
        let (first, end) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let indices = std::iter::successors(Some(first), |index| Some(index + 1.0)).take(128);
        indices.take_while(|&index| index <= end).map(|index| index * step).collect()
    };
    let fits = |step: &f64| *step >= least * (1.0 - 1e-9) && within(*step).len() <= most;
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
