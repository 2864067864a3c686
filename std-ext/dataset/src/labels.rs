//! Coordinates of datasets of either kind: those that the keys of fields give, and variables of files that are coordinates.

use std::borrow::Cow;

use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::elements::{floats, whole};
use crate::indices::Indices;
use crate::label::days;
use crate::model::{Attribute, Attributes, Coordinate, Values, Variable, text_attribute};
use crate::options::on_all_cores;
use crate::read::width;

/// Values that a coordinate has at most, when it is read.
const MOST: u64 = 1 << 28;

impl Dataset {
    /// A coordinate with its values. Of files, a variable of this name is read whole; numbers whose `units` are a time since a
    /// moment become times, of the Gregorian calendar.
    ///
    /// `None` if there is no such coordinate or variable.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a variable of complex numbers, or of more than 2²⁸ values; the errors of reading.
    pub fn labels(&self, name: &str) -> Result<Option<Cow<'_, Coordinate>>> {
        if let Some(found) = self.coordinate(name) {
            return Ok(Some(Cow::Borrowed(found)));
        }
        let Some(variable) = self.variable(name) else { return Ok(None) };
        let values = self.values_of(variable).map_err(|error| error.within(name))?;
        let Variable { name, dims, attributes, .. } = variable.clone();
        Ok(Some(Cow::Owned(Coordinate { name, dims, values, attributes })))
    }

    fn values_of(&self, variable: &Variable) -> Result<Values> {
        if let Some(texts) = variable.texts() {
            return Ok(Values::Texts(texts.to_vec()));
        }
        let dtype = variable.dtype().unwrap_or(Dtype::Float64);
        let count = variable.shape.iter().fold(1_u64, |all, len| all.saturating_mul(*len));
        if count > MOST {
            return Err(bad(format!("{count} values are too many for a coordinate")));
        }
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(width(dtype)));
        let mut bytes = tgm_std::internal::reserve(len.ok_or_else(|| bad("the values cannot be addressed"))?)?;
        let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::all(*len)).collect();
        self.read_into(&variable.name, &all, &on_all_cores(), &mut bytes)?;
        let is_float = matches!(dtype, Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64);
        let scale = time_scale(&variable.attributes);
        match scale {
            Some(scale) => {
                let moments = floats(dtype, &bytes)?.into_iter().map(|number| scale.seconds(number));
                // A number that is not a time makes all of them numbers.
                Ok(match moments.collect::<Option<Vec<i64>>>() {
                    Some(times) => Values::Times(times),
                    None => Values::Floats(floats(dtype, &bytes)?),
                })
            }
            None if is_float => floats(dtype, &bytes).map(Values::Floats),
            None => whole(dtype, &bytes).map(Values::Integers),
        }
    }
}

/// Numbers that are times: the seconds of one, and the moment that is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimeScale {
    unit: f64,
    start: f64,
}

impl TimeScale {
    #[expect(clippy::cast_possible_truncation, reason = "times beyond 10^15 seconds are refused")]
    fn seconds(self, number: f64) -> Option<i64> {
        let seconds = (number * self.unit + self.start).round();
        (seconds.abs() < 1e15).then_some(seconds as i64)
    }
}

/// What `units` such as `hours since 2024-01-01 12:00` say. `None` for other units, and for calendars that are not Gregorian.
fn time_scale(attributes: &Attributes) -> Option<TimeScale> {
    let calendar = text_attribute(attributes, "calendar").unwrap_or("standard");
    if !["standard", "gregorian", "proleptic_gregorian"].contains(&calendar) {
        return None;
    }
    let (unit, since) = text_attribute(attributes, "units")?.split_once(" since ")?;
    let unit = match unit.trim().trim_end_matches('s') {
        "day" | "d" => 86_400.0,
        "hour" | "hr" | "h" => 3600.0,
        "minute" | "min" => 60.0,
        "second" | "sec" | "" => 1.0,
        "millisecond" | "m" | "msec" => 1e-3,
        "microsecond" => 1e-6,
        "nanosecond" => 1e-9,
        _ => return None,
    };
    #[expect(clippy::cast_precision_loss, reason = "seconds of all known years are exact")]
    moment(since).map(|(start, _)| TimeScale { unit, start: start as f64 })
}

/// The first second of a moment, and the second behind it: 2024-01-31, 20240131, 2024-01-31T12, 2024-01-31 12:30, 12:30:15; also
/// of a month, 2024-01. With a `Z` or `UTC` at the end or not.
pub(crate) fn moment(text: &str) -> Option<(i64, i64)> {
    let text = text.trim().trim_end_matches("UTC").trim_end_matches('Z').trim_end_matches("+00:00").trim_end();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, time.trim()),
        None => (text, ""),
    };
    let number = |text: &str| -> Option<i64> {
        (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
    };
    let parts: Vec<&str> = date.split('-').collect();
    let (year, month, day) = match parts.as_slice() {
        [date] if date.len() == 8 => {
            let date = number(date)?;
            (date / 10_000, date / 100 % 100, Some(date % 100))
        }
        [year, month] => (number(year)?, number(month)?, None),
        [year, month, day] => (number(year)?, number(month)?, Some(number(day)?)),
        _ => return None,
    };
    let first = days(year, month, day.unwrap_or(1))?.checked_mul(86_400)?;
    if day.is_none() {
        let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        return time.is_empty().then(|| Some((first, days(next_year, next, 1)?.checked_mul(86_400)?))).flatten();
    }
    // Parts of seconds are not told apart.
    let (time, part) = time.split_once('.').unwrap_or((time, "0"));
    number(part)?;
    let clock: Vec<i64> = match time {
        "" => Vec::new(),
        time => time.split(':').map(number).collect::<Option<_>>()?,
    };
    let (second, len) = match *clock.as_slice() {
        [] => (0, 86_400),
        [hour] if hour < 24 => (hour * 3600, 3600),
        [hour, minute] if hour < 24 && minute < 60 => (hour * 3600 + minute * 60, 60),
        [hour, minute, second] if hour < 24 && minute < 60 && second < 60 => (hour * 3600 + minute * 60 + second, 1),
        _ => return None,
    };
    let start = first.checked_add(second)?;
    Some((start, start.checked_add(len)?))
}

/// Whether a coordinate has longitudes, by its attributes or its name.
pub(crate) fn is_longitude(coordinate: &Coordinate) -> bool {
    is_of(&coordinate.name, &coordinate.attributes, "longitude", "degrees_east", &["lon", "longitude"])
}

/// The latitudes and the longitudes of a variable: those coordinates whose dimensions it has.
///
/// # Errors
/// As [`Dataset::labels`].
pub(crate) fn positions<'d>(
    dataset: &'d Dataset,
    variable: &Variable,
) -> Result<Option<(Cow<'d, Coordinate>, Cow<'d, Coordinate>)>> {
    let of = |standard: &str, units: &str, names: &[&str]| -> Result<Option<Cow<'d, Coordinate>>> {
        let of_fields = dataset.coordinates.iter().map(|it| (&it.name, &it.dims, &it.attributes));
        let of_files = dataset.variables.iter().map(|it| (&it.name, &it.dims, &it.attributes));
        let fits = |(name, dims, attributes): &(&String, &Vec<String>, &Attributes)| {
            let is_along = !dims.is_empty() && dims.iter().all(|dim| variable.dims.contains(dim));
            is_along && **name != variable.name && is_of(name, attributes, standard, units, names)
        };
        let found = of_fields.chain(of_files).find(fits);
        found.map_or(Ok(None), |(name, ..)| dataset.labels(name))
    };
    let latitudes = of("latitude", "degrees_north", &["lat", "latitude"])?;
    let longitudes = of("longitude", "degrees_east", &["lon", "longitude"])?;
    Ok(latitudes.zip(longitudes))
}

fn is_of(name: &str, attributes: &Attributes, standard: &str, units: &str, names: &[&str]) -> bool {
    match text_attribute(attributes, "standard_name") {
        Some(found) => found == standard,
        None => text_attribute(attributes, "units") == Some(units) || names.contains(&name),
    }
}

/// Attributes that say of numbers what they are: times, for which there is no other form in files.
pub(crate) fn attributes_of_times(is_duration: bool, unit: &str) -> Attributes {
    let text = |text: &str| Attribute::Text(text.into());
    if is_duration {
        // Readers that turn numbers with such units into durations ask for this.
        vec![("units".into(), text(unit)), ("dtype".into(), text("timedelta64[ns]"))]
    } else {
        vec![("units".into(), text(unit)), ("calendar".into(), text("proleptic_gregorian"))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_the_length_of_what_is_not_said() {
        let day = 86_400;
        for (text, start, len) in [
            ("1970-01-02", day, day),
            ("19700102", day, day),
            ("1970-01-02T03", day + 3 * 3600, 3600),
            ("1970-01-02 03:30", day + 3 * 3600 + 1800, 60),
            ("1970-01-02T03:30:05Z", day + 3 * 3600 + 1805, 1),
            ("1970-1-2 0:0:0.0", day, 1),
            ("1970-02", 31 * day, 28 * day),
            ("1969-12", -31 * day, 31 * day),
        ] {
            assert_eq!(moment(text), Some((start, start + len)), "{text}");
        }
        for text in [
            "",
            "1970",
            "1970-13-01",
            "1970-02-30",
            "1970-01-01T24",
            "1970-01T00",
            "a-b-c",
            "1970-01-01T1:60",
            "-1-1-1",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_times_by_their_units() {
        let scale = |units: &str, calendar: &str| {
            time_scale(&vec![("units".into(), units.into()), ("calendar".into(), calendar.into())])
        };
        assert_eq!(scale("hours since 1970-01-02", "standard").and_then(|it| it.seconds(1.5)), Some(86_400 + 5400));
        assert_eq!(scale("days since 1970-01-01T12:00:00", "gregorian").and_then(|it| it.seconds(1.0)), Some(129_600));
        assert_eq!(scale("milliseconds since 1970-01-01", "standard").and_then(|it| it.seconds(2000.0)), Some(2));
        for (units, calendar) in
            [("hours", "standard"), ("days since 1970-01-01", "360_day"), ("months since 1970-01-01", "standard")]
        {
            assert_eq!(scale(units, calendar), None, "{units}");
        }
        assert_eq!(scale("days since 1970-01-01", "standard").and_then(|it| it.seconds(f64::NAN)), None);
    }
}
