//! Times as files write them: numbers with units such as `hours since 2024-01-01`, in the calendars of CF.

use crate::calendar::Calendar;
use crate::model::{Attributes, text_attribute};

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
const SECOND: i64 = 1_000_000_000;
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

impl TimeScale {
    /// What `units` such as `hours since 2024-01-01 12:00` say. `None` for other units, and for calendars that CF does not have.
    pub(crate) fn of(attributes: &Attributes) -> Option<Self> {
        let calendar = Calendar::of(text_attribute(attributes, "calendar").unwrap_or("standard"))?;
        let (unit, since) = text_attribute(attributes, "units")?.split_once(" since ")?;
        let unit = match unit.trim().trim_end_matches('s') {
            "day" | "d" => 86_400 * SECOND,
            "hour" | "hr" | "h" => 3600 * SECOND,
            "minute" | "min" => 60 * SECOND,
            "second" | "sec" | "" => SECOND,
            "millisecond" | "m" | "msec" => 1_000_000,
            "microsecond" => 1000,
            "nanosecond" => 1,
            _ => return None,
        };
        let (start, _, part) = moment_in(since, calendar)?;
        Some(Self { calendar, unit, start: i128::from(start) * i128::from(SECOND) + i128::from(part) })
    }

    /// The second that a number is, rounded. `None` for NaN and for years that no file means.
    pub(crate) fn seconds(self, number: f64) -> Option<i64> {
        let second = i128::from(SECOND);
        i64::try_from((self.of_float(number)? + second / 2).div_euclid(second)).ok()
    }

    /// The nanoseconds since 1970 that a whole number is. `None` for years that no file means.
    pub(crate) fn of_whole(self, number: i64) -> Option<i128> {
        let moment = i128::from(number) * i128::from(self.unit) + self.start;
        (moment.abs() < BEYOND * i128::from(SECOND)).then_some(moment)
    }

    /// The nanoseconds since 1970 that a number is: of those that this float stands for, the ones with the fewest parts of a second.
    /// `None` for NaN and for years that no file means.
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
        let within = ((number.abs().next_up() - number.abs()) / 2.0 * unit).ceil() as i128;
        let rounded = |(_, step): &(&str, i64)| {
            let step = i128::from(*step);
            let near = (exact + step / 2).div_euclid(step) * step;
            ((near - exact).abs() <= within).then_some(near)
        };
        let is_part = number.fract() != 0.0;
        let mut shorter = UNITS.iter().filter(|(_, unit)| is_part && *unit <= SECOND);
        let moment = shorter.find_map(rounded).unwrap_or(exact);
        (moment.abs() < BEYOND * i128::from(SECOND)).then_some(moment)
    }
}

/// The first second of a moment, and the second behind it: 2024-01-31, 20240131, 2024-01-31T12, 2024-01-31 12:30, 12:30:15; also
/// of a month, 2024-01. With a `Z` or `UTC` at the end or not.
pub(crate) fn moment(text: &str) -> Option<(i64, i64)> {
    moment_in(text, Calendar::Gregorian).map(|(start, end, _)| (start, end))
}

/// The first second of a moment, the one behind it, and the nanoseconds behind the first one.
fn moment_in(text: &str, calendar: Calendar) -> Option<(i64, i64, i64)> {
    let days = |year, month, day| calendar.days(year, month, day);
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
        return time.is_empty().then(|| Some((first, days(next_year, next, 1)?.checked_mul(86_400)?, 0))).flatten();
    }
    let (time, part) = time.split_once('.').unwrap_or((time, "0"));
    // Nine digits are nanoseconds; what is behind them is nothing.
    number(part)?;
    let part = number(format!("{part:0<9}").get(..9)?)?;
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
    Some((start, start.checked_add(len)?, part))
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
            TimeScale::of(&vec![("units".into(), units.into()), ("calendar".into(), calendar.into())])
        };
        assert_eq!(scale("hours since 1970-01-02", "standard").and_then(|it| it.seconds(1.5)), Some(86_400 + 5400));
        assert_eq!(scale("days since 1970-01-01T12:00:00", "gregorian").and_then(|it| it.seconds(1.0)), Some(129_600));
        assert_eq!(scale("milliseconds since 1970-01-01", "standard").and_then(|it| it.seconds(2000.0)), Some(2));
        for (units, calendar) in
            [("hours", "standard"), ("days since 1970-01-01", "none"), ("months since 1970-01-01", "standard")]
        {
            assert_eq!(scale(units, calendar), None, "{units}");
        }
        assert_eq!(scale("days since 1970-01-01", "standard").and_then(|it| it.seconds(f64::NAN)), None);
        let moment = |units: &str, number: f64| scale(units, "standard").unwrap().of_float(number);
        assert_eq!(moment("seconds since 1970-01-01 00:00:00.25", 1.0), Some(1_250_000_000));
        assert_eq!(moment("nanoseconds since 1970-01-01", -3.0), Some(-3));
        // The nearest floats of tenths of a day and of thousandths of an hour are not tenths, but stand for them.
        assert_eq!(moment("days since 1970-01-01", 7000.1), Some((7000 * 86_400 + 8640) * 1_000_000_000));
        assert_eq!(moment("hours since 1970-01-01", -0.001), Some(-3_600_000_000));
        assert_eq!(moment("seconds since 1970-01-01", 1e16), None);
        let whole = |number: i64| scale("days since 1970-01-01", "standard").unwrap().of_whole(number);
        assert_eq!((whole(-1), whole(i64::MAX)), (Some(-86_400_000_000_000), None));
    }

    /// Moments as cftime 1.6.6 counts them.
    #[test]
    fn the_standard_calendar_is_julian_before_1582() {
        let scale = |units: &str, calendar: &str| {
            TimeScale::of(&vec![("units".into(), units.into()), ("calendar".into(), calendar.into())])
        };
        let second = |units: &str, calendar: &str, number| scale(units, calendar).and_then(|it| it.seconds(number));
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
