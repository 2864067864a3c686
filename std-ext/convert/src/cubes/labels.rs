//! Coordinates as arrays of numbers, by the conventions of CF.

use tgm_core::descriptor::Dtype;
use tgm_dataset::{Coordinate, Values};

use super::{Entries, value_of};

/// No time among times: `NaT` of numpy.
const NO_TIME: i64 = i64::MIN;

/// A coordinate to write.
pub(crate) struct Labels {
    pub(crate) name: String,
    pub(crate) dims: Vec<String>,
    pub(crate) content: Content,
    pub(crate) attributes: Entries,
}

/// The values of a coordinate.
pub(crate) enum Content {
    /// Elements of this type, in the byte order of the machine.
    Numbers(Dtype, Vec<u8>),
    Texts(Vec<String>),
}

impl Labels {
    /// A coordinate under the names that are written.
    ///
    /// | values | written as |
    /// |---|---|
    /// | whole numbers, numbers | `int64`, `float64` |
    /// | times | `int64`, seconds since 1970 |
    /// | durations | `float64`, in hours, or where these are not whole in minutes or seconds; none is NaN |
    pub(super) fn of(coordinate: &Coordinate, name: String, dims: Vec<String>) -> Self {
        let mut attributes: Entries =
            coordinate.attributes.iter().map(|(key, value)| (key.as_str().into(), value_of(value))).collect();
        let mut add = |key: &str, text: &str| attributes.push((key.into(), text.into()));
        let content = match &coordinate.values {
            Values::Integers(numbers) => integers(numbers),
            Values::Floats(numbers) => floats(numbers.iter().copied()),
            Values::Times(times) => {
                add("units", "seconds since 1970-01-01T00:00:00");
                add("calendar", "proleptic_gregorian");
                integers(times)
            }
            Values::Durations(steps) => {
                let (unit, seconds) = unit_of(steps);
                add("units", unit);
                // So xarray knows them for durations, as it writes them itself.
                add("dtype", "timedelta64[ns]");
                #[expect(clippy::cast_precision_loss, reason = "steps are small")]
                floats(steps.iter().map(|step| if *step == NO_TIME { f64::NAN } else { *step as f64 / seconds as f64 }))
            }
            Values::Texts(texts) => Content::Texts(texts.clone()),
        };
        Self { name, dims, content, attributes }
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

fn integers(numbers: &[i64]) -> Content {
    Content::Numbers(Dtype::Int64, numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
}

fn floats(numbers: impl Iterator<Item = f64>) -> Content {
    Content::Numbers(Dtype::Float64, numbers.flat_map(f64::to_ne_bytes).collect())
}
