//! Values of metadata that can be labels of an axis.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use tgm_core::cbor::{Kind, Value};

use crate::moment::Time;

/// Seconds of an hour.
pub(crate) const HOUR: i64 = 3600;

/// A number that is ordered and compared by its bits.
#[derive(Clone, Copy, Debug)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A label of an axis, or a value of metadata that does not vary.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(Real),
    /// A time.
    Time(Time),
    /// Seconds.
    Duration(i64),
    /// A text.
    Text(Box<str>),
}

impl Label {
    /// The label that a value of metadata is. `None` for lists, maps and bytes.
    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        match value.kind() {
            Kind::Integer => value.as_i64().ok().map(Self::Integer),
            Kind::Float => value.as_f64().ok().map(|number| Self::Float(Real(number))),
            Kind::Text => value.as_str().ok().map(|text| Self::Text(text.into())),
            Kind::Bool => value.as_bool().ok().map(|truth| Self::Text(if truth { "true" } else { "false" }.into())),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The whole number, also of a text that has nothing but digits.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Float(Real(number)) => whole(*number),
            Self::Time(_) | Self::Duration(_) => None,
        }
    }

    /// The number, also of a text that is one.
    #[expect(clippy::cast_precision_loss, reason = "levels and members are small")]
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Float(Real(number)) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Time(_) | Self::Duration(_) => None,
        }
    }
}

/// A number without fraction that an integer can hold.
#[expect(clippy::cast_possible_truncation, reason = "the number is small")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Float(Real(number)) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Time(time) => time.fmt(f),
            // Whole hours as people write steps.
            Self::Duration(seconds) if seconds % 3600 == 0 => write!(f, "{}", seconds / 3600),
            Self::Duration(seconds) if seconds % 60 == 0 => write!(f, "{}m", seconds / 60),
            Self::Duration(seconds) => write!(f, "{seconds}s"),
        }
    }
}

/// The seconds of a time span: "6" hours, "6h", "90m", "15s", "2d".
pub(crate) fn duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..)? {
        "" | "h" => HOUR,
        "m" => 60,
        "s" => 1,
        "d" | "D" => 24 * HOUR,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers_in_texts_too() {
        assert_eq!((Label::Text("12".into()).as_integer(), Label::Float(Real(1.5)).as_integer()), (Some(12), None));
        assert_eq!(Label::Text("0.5".into()).as_number(), Some(0.5));
        assert_eq!(
            (Label::Duration(5400).to_string(), Label::Duration(21_600).to_string()),
            ("90m".into(), "6".into())
        );
    }
}
