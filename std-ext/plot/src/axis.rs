//! What stands along the sides of a picture.

use crate::ticks::{number, ticks};
use tgm_std::harmless::{escape, escaped};

/// A tick: its share of the axis, from the left or from the top, and its label.
pub type Tick = (f64, String);

/// What the rows or the columns of a picture are.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// Cells, counted from 0.
    Cells(usize),
    /// Degrees north at the top and at the bottom edge.
    Latitudes(f64, f64),
    /// Degrees east at the left and at the right edge.
    Longitudes(f64, f64),
    /// Labels and their shares, in order, and what they are of.
    Labels(String, Vec<Tick>),
    /// Labels of levels of the air or the sea, which stand upright. Their shares are from the top.
    Levels(String, Vec<Tick>),
}

impl Axis {
    /// The labels of cells that are all of one size. Names and labels come from files: what could mislead a terminal or a reader, and is
    /// not a part of XML, is escaped.
    pub fn of_labels(name: &str, labels: Vec<String>) -> Self {
        let labels = labels.into_iter().map(|label| (0.0, escaped(label))).collect();
        Self::Labels(escape(name), labels).evenly()
    }

    /// The same labels at cells of one size.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    #[must_use]
    pub fn evenly(mut self) -> Self {
        if let Self::Labels(_, labels) = &mut self {
            let count = labels.len() as f64;
            labels.iter_mut().enumerate().for_each(|(cell, tick)| tick.0 = (cell as f64 + 0.5) / count);
        }
        self
    }

    /// At most `most` ticks.
    #[expect(clippy::cast_precision_loss, reason = "few cells")]
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let degrees = |from: f64, to: f64, label: fn(f64) -> String| {
            let share = |degree: f64| (degree - from) / (to - from);
            let round = degree_ticks((from.min(to), from.max(to)), most);
            round.into_iter().map(|degree| (share(degree), label(degree))).collect()
        };
        match self {
            Self::Cells(count) => {
                let at = |cell: f64| ((cell + 0.5) / *count as f64, number(cell, 9));
                ticks((0.0, count.saturating_sub(1) as f64), most, true).into_iter().map(at).collect()
            }
            // There is nothing beyond the poles.
            Self::Latitudes(north, south) => {
                let mut found: Vec<Tick> = degrees(*north, *south, latitude);
                found.retain(|(_, label)| !label.is_empty());
                found
            }
            Self::Longitudes(west, east) => degrees(*west, *east, longitude),
            Self::Levels(_, all) => {
                let mut found = all.clone();
                apart(&mut found, 1.0 / most.max(1) as f64);
                found
            }
            Self::Labels(_, all) => {
                let step = all.len().div_ceil(most.max(1)).max(1);
                let mut found: Vec<Tick> = all.iter().step_by(step).cloned().collect();
                apart(&mut found, 0.8 / most.max(1) as f64);
                found
            }
        }
    }

    /// Characters of its longest label.
    pub fn longest(&self) -> usize {
        self.ticks(12).iter().map(|(_, label)| label.chars().count()).max().unwrap_or_default()
    }

    /// What it is of, where its labels do not say so.
    pub fn name(&self) -> &str {
        if let Self::Labels(name, _) | Self::Levels(name, _) = self { name } else { "" }
    }
}

/// Leaves ticks out that lie nearer to the one before than a share of the axis.
fn apart(ticks: &mut Vec<Tick>, least: f64) {
    let mut before = f64::NEG_INFINITY;
    ticks.retain(|(share, _)| {
        let is_far = (share - before).abs() >= least;
        if is_far {
            before = *share;
        }
        is_far
    });
}

/// Round degrees between two: what people write on maps, or any round number in a small area.
pub fn degree_ticks((low, high): (f64, f64), most: usize) -> Vec<f64> {
    let within = |step: f64| -> Vec<f64> {
        let (first, end) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let indices = std::iter::successors(Some(first), |index| Some(index + 1.0)).take(128);
        indices.take_while(|index| *index <= end).map(|index| index * step).collect()
    };
    let steps = [5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 180.0];
    let coarse = steps.into_iter().map(within).find(|found| found.len() <= most).unwrap_or_default();
    if coarse.len() >= 3.min(most) { coarse } else { ticks((low, high), most, false) }
}

/// A latitude as maps have it. Empty beyond the poles.
pub fn latitude(degrees: f64) -> String {
    let letter = match degrees {
        degrees if degrees.abs() > 90.0 => return String::new(),
        0.0 => "",
        degrees if degrees > 0.0 => "N",
        _ => "S",
    };
    format!("{}{letter}", number(degrees.abs(), 6))
}

/// A longitude as maps have it: from 180 W to 180 E.
pub fn longitude(degrees: f64) -> String {
    let degrees = match degrees.rem_euclid(360.0) {
        degrees if degrees > 180.0 => degrees - 360.0,
        degrees => degrees,
    };
    let letter = match degrees {
        0.0 | 180.0 => "",
        degrees if degrees > 0.0 => "E",
        _ => "W",
    };
    format!("{}{letter}", number(degrees.abs(), 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn degrees_are_those_of_maps() {
        assert_eq!(texts(&Axis::Longitudes(-180.0, 180.0), 7), ["180", "120W", "60W", "0", "60E", "120E", "180"]);
        assert_eq!(texts(&Axis::Latitudes(90.25, -90.25), 7), ["90S", "60S", "30S", "0", "30N", "60N", "90N"]);
        assert_eq!(texts(&Axis::Longitudes(350.0, 390.0), 5), ["10W", "0", "10E", "20E", "30E"]);
        assert_eq!(texts(&Axis::Latitudes(48.3, 47.1), 4), ["47.5N", "48N"]);
        assert_eq!(Axis::Latitudes(10.0, -10.0).ticks(3)[0], (1.0, "10S".to_string()));
    }

    #[test]
    fn labels_are_thinned() {
        let axis = Axis::of_labels("step", (0..10).map(|step| step.to_string()).collect());
        assert_eq!((texts(&axis, 4), axis.name()), (["0", "3", "6", "9"].map(String::from).to_vec(), "step"));
        assert_eq!(axis.ticks(20).len(), 10);
        // Labels that have their distances do not cover each other.
        let uneven = [(0.0, "1000"), (0.85, "100"), (0.9, "50"), (1.0, "1")].map(|(share, it)| (share, it.to_string()));
        assert_eq!(texts(&Axis::Labels(String::new(), uneven.to_vec()), 8), ["1000", "100", "1"]);
        assert_eq!(Axis::Cells(4).ticks(4)[1], (0.375, "1".to_string()));
    }

    #[test]
    fn names_and_labels_are_escaped_once() {
        let axis = Axis::of_labels("a\u{1b}]0;x\u{7}\u{202e}", ["b\0".to_string(), "c\u{1b}[2J".to_string()].to_vec());
        assert_eq!(axis.name(), "a\\u{1b}]0;x\\u{7}\\u{202e}");
        assert_eq!(texts(&axis, 9), ["b\\u{0}", "c\\u{1b}[2J"]);
        assert_eq!(axis.clone().evenly(), axis);
    }
}
