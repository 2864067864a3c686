//! Times as files write them: numbers with units such as `hours since 2024-01-01`, in the calendars of CF.

use crate::calendar::Calendar;
use crate::model::{Attribute, Attributes, text_attribute};
use crate::moment::{SECOND, moment};
use crate::reading::NUMPY_UNITS;

/// The attribute that tells faces of a type of numpy, which elements alone do not tell.
pub(crate) const NUMPY_DTYPE: &str = "numpy_dtype";

/// Units of times, the longest first, with their nanoseconds.
pub(crate) const UNITS: [(&str, i64); 7] = [
    ("days", 86_400 * SECOND),
    ("hours", 3600 * SECOND),
    ("minutes", 60 * SECOND),
    ("seconds", SECOND),
    ("milliseconds", 1_000_000),
    ("microseconds", 1000),
    ("nanoseconds", 1),
];
/// Seconds since 1970 that no file means.
const BEYOND: i128 = 1_000_000_000_000_000;

/// Numbers that are times: the nanoseconds of one, and those from 1970 to the moment that is 0, in a calendar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeScale {
    pub(crate) calendar: Calendar,
    pub(crate) unit: i64,
    pub(crate) start: i128,
}

/// Scales are equal that make the same moment of each number.
impl PartialEq for TimeScale {
    fn eq(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.calendar.counted_as(), it.unit, it.start);
        of(self) == of(other)
    }
}

impl Eq for TimeScale {}

/// The unit, and what stands after `since`, of units such as `hours since 2024-01-01`.
pub(crate) fn since(units: &str) -> Option<(&str, &str)> {
    let (unit, rest) = units.trim().split_once(char::is_whitespace)?;
    let (word, date) = rest.trim_start().split_once(char::is_whitespace)?;
    word.eq_ignore_ascii_case("since").then(|| (unit, date.trim()))
}

/// The attributes of CF that a type of numpy is: none if it is not of times, or of a unit that CF lacks.
pub(crate) fn time_of(dtype: &str) -> Option<Vec<(&'static str, String)>> {
    let (kind, unit) = dtype.strip_suffix(']')?.split_once('[')?;
    let (_, unit) = NUMPY_UNITS.iter().find(|(own, _)| *own == unit)?;
    match kind {
        "datetime64" => {
            Some(vec![("units", format!("{unit} since 1970-01-01")), ("calendar", "proleptic_gregorian".into())])
        }
        "timedelta64" => Some(vec![("units", (*unit).into()), ("dtype", "timedelta64[ns]".into())]),
        _ => None,
    }
}

impl TimeScale {
    /// What `units` such as `hours since 2024-01-01 12:00` say. `None` for other units, and for calendars that CF does not have.
    pub(crate) fn of(attributes: &Attributes) -> Option<Self> {
        if let Some(found) = text_attribute(attributes, NUMPY_DTYPE).and_then(time_of) {
            return Self::of(&found.into_iter().map(|(name, text)| (name.into(), Attribute::Text(text))).collect());
        }
        let calendar = Calendar::of(text_attribute(attributes, "calendar").unwrap_or("standard"))?;
        let (unit, date) = since(text_attribute(attributes, "units")?)?;
        let unit = match unit.to_ascii_lowercase().as_str() {
            "days" | "day" | "d" => 86_400 * SECOND,
            "hours" | "hour" | "hrs" | "hr" | "h" => 3600 * SECOND,
            "minutes" | "minute" | "mins" | "min" => 60 * SECOND,
            "seconds" | "second" | "secs" | "sec" | "s" => SECOND,
            "milliseconds" | "millisecond" | "millisecs" | "millisec" | "msecs" | "msec" | "ms" => 1_000_000,
            "microseconds" | "microsecond" | "microsecs" | "microsec" => 1000,
            "nanoseconds" | "nanosecond" => 1,
            _ => return None,
        };
        let is_year = date.len() <= 4 && date.bytes().all(|byte| byte.is_ascii_digit());
        let (start, _) = if is_year { moment(&format!("{date}-01"), calendar) } else { moment(date, calendar) }?;
        Some(Self { calendar, unit, start })
    }

    /// The nanoseconds since 1970 that a whole number is. `None` for years that no file means.
    pub(crate) fn of_whole(self, number: i64) -> Option<i128> {
        let moment = i128::from(number) * i128::from(self.unit) + self.start;
        (moment.abs() < BEYOND * i128::from(SECOND)).then_some(moment)
    }

    /// The nanoseconds since 1970 that a number is. `None` for NaN and for years that no file means.
    ///
    /// Few parts of a second are exact in floats of hours or days, and what is calculated is often the neighbour of the nearest float.
    /// So this is the moment with the fewest digits, of those that are not beyond the neighbours of the number. A number with few digits,
    /// such as 0.083333333333 days, is not such a neighbour: it stands for the nearest moment that its calendar has.
    pub(crate) fn of_float(self, number: f64) -> Option<i128> {
        // The longest unit has fewer than 2^47 nanoseconds.
        if number.is_nan() || number.abs() >= 1e20 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "units are below 2^53")]
        let unit = self.unit as f64;
        #[expect(clippy::cast_possible_truncation, reason = "it is below 10^20, and a fraction below its unit")]
        let (whole, part) = (number.trunc() as i128, (number.fract() * unit).round() as i128);
        let exact = whole * i128::from(self.unit) + part + self.start;
        #[expect(clippy::cast_possible_truncation, reason = "floats of up to 10^20 are closer than 2^17")]
        let within = ((number.abs().next_up() - number.abs()) * unit).ceil() as i128;
        let multiple = |of: i128| (exact + of / 2).div_euclid(of) * of;
        let rounded = |(_, step): &(&str, i64)| {
            let near = multiple(i128::from(*step));
            ((near - exact).abs() <= within).then_some(near)
        };
        let is_part = number.fract() != 0.0;
        let finest = self.calendar.finest(exact.div_euclid(i128::from(86_400 * SECOND)));
        let mut shorter = UNITS.iter().filter(|(_, unit)| is_part && *unit <= SECOND && i128::from(*unit) > finest);
        let moment = shorter.find_map(rounded).unwrap_or_else(|| multiple(finest));
        (moment.abs() < BEYOND * i128::from(SECOND)).then_some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(moment: i128) -> i128 {
        moment / i128::from(SECOND)
    }

    #[test]
    fn numbers_are_times_by_their_units() {
        let scale = |units: &str, calendar: &str| {
            TimeScale::of(&vec![("units".into(), units.into()), ("calendar".into(), calendar.into())])
        };
        let second =
            |units: &str, number: f64| scale(units, "standard").and_then(|it| it.of_float(number)).map(seconds);
        for (units, number, expected) in [
            ("hours since 1970-01-02", 1.5, 86_400 + 5400),
            ("days since 1970-01-01T12:00:00", 1.0, 129_600),
            ("milliseconds since 1970-01-01", 2000.0, 2),
            ("msec since 1970-01-01", 2000.0, 2),
            ("Days since 1970-01-02", 1.0, 2 * 86_400),
            ("days  SINCE\t1970-1-2 ", 1.0, 2 * 86_400),
            ("s since 1970", 7.0, 7),
            ("hrs since 1970-02", 1.0, 31 * 86_400 + 3600),
            ("days since 1970-01-01 06:00 +02:00", 0.0, 4 * 3600),
        ] {
            assert_eq!(second(units, number), Some(expected), "{units}");
        }
        for (units, calendar) in [
            ("hours", "standard"),
            ("days since 1970-01-01", "none"),
            ("months since 1970-01-01", "standard"),
            ("m since 1970-01-01", "standard"),
            ("days since 19700", "standard"),
            ("days after 1970-01-01", "standard"),
        ] {
            assert_eq!(scale(units, calendar), None, "{units}");
        }
        assert_eq!(scale("days since 1970-01-01", "standard").and_then(|it| it.of_float(f64::NAN)), None);
        let moment = |units: &str, number: f64| scale(units, "standard").unwrap().of_float(number);
        assert_eq!(moment("seconds since 1970-01-01 00:00:00.25", 1.0), Some(1_250_000_000));
        assert_eq!(moment("nanoseconds since 1970-01-01", -3.0), Some(-3));
        // The nearest floats of tenths of a day and of thousandths of an hour are not tenths, but stand for them.
        assert_eq!(moment("days since 1970-01-01", 7000.1), Some((7000 * 86_400 + 8640) * 1_000_000_000));
        assert_eq!(moment("hours since 1970-01-01", -0.001), Some(-3_600_000_000));
        // So do their neighbours, and no float beyond these.
        let seven = |ulps: u8| (0..ulps).fold(36_500.0 + 7.0 / 24.0, |number: f64, _| number.next_up());
        let found = [0, 1, 2].map(|ulps| moment("days since 1970-01-01", seven(ulps)).unwrap());
        let exact = (36_500 * 24 + 7) * 3600 * 1_000_000_000;
        assert!(found[0] == exact && found[1] == exact && found[2] > exact, "{found:?}");
        assert_eq!(moment("seconds since 1970-01-01", 1e16), None);
        let whole = |number: i64| scale("days since 1970-01-01", "standard").unwrap().of_whole(number);
        assert_eq!((whole(-1), whole(i64::MAX)), (Some(-86_400_000_000_000), None));
    }

    /// As cftime has them: microseconds, in all calendars but the one in use.
    #[test]
    fn hours_of_twelve_digits_are_hours_in_calendars_of_models() {
        let hour = 3600 * 1_000_000_000;
        for (calendar, expected) in [
            ("noleap", 2 * hour),
            ("all_leap", 2 * hour),
            ("360_day", 2 * hour),
            ("julian", 2 * hour),
            ("standard", 2 * hour - 29),
            ("proleptic_gregorian", 2 * hour - 29),
        ] {
            let scale = |start: &str| {
                TimeScale::of(&vec![("units".into(), start.into()), ("calendar".into(), calendar.into())]).unwrap()
            };
            let found = scale("days since 1979-01-01").of_float(0.083_333_333_333).unwrap();
            assert_eq!(found.rem_euclid(24 * hour), expected, "{calendar}");
            // Before 1582 the calendar in use is held like the others.
            let found = scale("days since 1500-01-01").of_float(0.083_333_333_333).unwrap();
            let expected = if calendar == "standard" { 2 * hour } else { expected };
            assert_eq!(found.rem_euclid(24 * hour), expected, "{calendar} of 1500");
        }
    }

    /// Moments as cftime 1.6.6 counts them.
    #[test]
    fn the_standard_calendar_is_julian_before_1582() {
        let scale = |units: &str, calendar: &str| {
            TimeScale::of(&vec![("units".into(), units.into()), ("calendar".into(), calendar.into())])
        };
        let second = |units: &str, calendar: &str, number| scale(units, calendar)?.of_float(number).map(seconds);
        // 2016-01-28 and, where the Gregorian calendar is older than it was, 2016-01-30.
        let (day, hours) = (16_828 * 86_400, "hours since 1-1-1 00:00:00");
        assert_eq!(second(hours, "standard", 17_663_808.0), Some(day));
        assert_eq!(second(hours, "gregorian", 17_663_808.0), Some(day));
        assert_eq!(second(hours, "proleptic_gregorian", 17_663_808.0), Some(day + 2 * 86_400));
        // 1582-10-31.
        assert_eq!(second("days since 1582-10-01", "standard", 20.0), Some(-141_411 * 86_400));
        assert_eq!(scale("days since 1582-10-10", "standard"), None);
        let of = |calendar: &str, units: &str| scale(units, calendar).unwrap();
        assert_eq!(of("standard", "days since 1900-01-01"), of("proleptic_gregorian", "days since 1900-01-01"));
        assert_ne!(of("standard", "days since 1500-01-01"), of("proleptic_gregorian", "days since 1500-01-01"));
        assert_ne!(of("standard", "days since 1970-01-01"), of("julian", "days since 1970-01-01"));
    }
}
