//! Coordinates as files hold them, by the conventions of CF.

use crate::model::{Attribute, Attributes, Coordinate, Values};
use crate::moment::NO_TIME;

/// The values of a coordinate as files hold them.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers.
    Floats(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
}

impl Coordinate {
    /// Its values as files hold them, and its attributes with those that say what the numbers are.
    ///
    /// | values | written as |
    /// |---|---|
    /// | whole numbers, numbers, texts | themselves |
    /// | times | whole numbers: seconds since 1970 |
    /// | durations | numbers: hours, or where these are not whole minutes or seconds; none is NaN |
    pub fn written(&self) -> (Written, Attributes) {
        let mut attributes = self.attributes.clone();
        let mut add = |key: &str, text: &str| attributes.push((key.into(), Attribute::Text(text.into())));
        let written = match &self.values {
            Values::Integers(numbers) => Written::Integers(numbers.clone()),
            Values::Floats(numbers) => Written::Floats(numbers.clone()),
            Values::Texts(texts) => Written::Texts(texts.clone()),
            Values::Times(times) => {
                add("units", "seconds since 1970-01-01T00:00:00");
                add("calendar", "proleptic_gregorian");
                Written::Integers(times.seconds())
            }
            Values::Durations(steps) => {
                let (unit, seconds) = unit_of(steps);
                add("units", unit);
                // So xarray knows them for durations, as it writes them itself.
                add("dtype", "timedelta64[ns]");
                #[expect(clippy::cast_precision_loss, reason = "steps are small")]
                let number = |step: &i64| if *step == NO_TIME { f64::NAN } else { *step as f64 / seconds as f64 };
                Written::Floats(steps.iter().map(number).collect())
            }
        };
        (written, attributes)
    }
}

/// The longest unit in which all durations are whole, and its seconds.
fn unit_of(steps: &[i64]) -> (&'static str, i64) {
    let all = |seconds: i64| steps.iter().filter(|step| **step != NO_TIME).all(|step| step % seconds == 0);
    if all(3600) {
        ("hours", 3600)
    } else if all(60) {
        ("minutes", 60)
    } else {
        ("seconds", 1)
    }
}
