//! Moments of a calendar, and texts of them.

use std::fmt;

use crate::calendar::Calendar;

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;
/// Seconds of a day.
const DAY: i64 = 86_400;
/// No time among whole numbers: `NaT` of numpy.
pub(crate) const NO_TIME: i64 = i64::MIN;

/// Nanoseconds since 1970 of a calendar. `None` where a moment is missing.
pub(crate) type Moment = Option<i128>;

/// A moment of a calendar. Its text is `2024-01-31T12:30:00`, with as many digits of a second after it as it has, up to nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    nanoseconds: i128,
    calendar: Calendar,
}

impl Time {
    /// A second since 1970-01-01, UTC.
    pub(crate) fn of_second(second: i64) -> Self {
        Self { nanoseconds: i128::from(second) * i128::from(SECOND), calendar: Calendar::Gregorian }
    }

    /// The time some seconds later.
    pub(crate) fn after(self, seconds: i64) -> Option<Self> {
        let later = i128::from(seconds) * i128::from(SECOND);
        self.nanoseconds.checked_add(later).map(|nanoseconds| Self { nanoseconds, ..self })
    }

    /// The seconds since 1970-01-01 of its calendar.
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
    pub fn seconds(self) -> f64 {
        self.nanoseconds as f64 / SECOND as f64
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, part) = parted(self.nanoseconds);
        let (year, month, day) = self.calendar.date(seconds.div_euclid(DAY));
        let second = seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if part == 0 { Ok(()) } else { f.write_str(format!(".{part:09}").trim_end_matches('0')) }
    }
}

/// Whole seconds, and the nanoseconds after them.
#[expect(clippy::cast_possible_truncation, reason = "moments are below 2^63 seconds")]
const fn parted(nanoseconds: i128) -> (i64, i64) {
    let second = SECOND as i128;
    (nanoseconds.div_euclid(second) as i64, nanoseconds.rem_euclid(second) as i64)
}

/// Times of one calendar, any of which may be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    calendar: Calendar,
    moments: Vec<Moment>,
}

impl Times {
    pub(crate) const fn new(calendar: Calendar, moments: Vec<Moment>) -> Self {
        Self { calendar, moments }
    }

    /// The times that are labels. `None` if any is another label.
    pub(crate) fn of(first: Time, all: impl Iterator<Item = Option<Time>>) -> Option<Self> {
        let moments = all.map(|time| time.map(|it| Some(it.nanoseconds))).collect::<Option<_>>()?;
        Some(Self { calendar: first.calendar, moments })
    }

    /// Times by their seconds since 1970-01-01, UTC. [`i64::MIN`] is a time that is missing.
    pub fn of_seconds(seconds: impl IntoIterator<Item = i64>) -> Self {
        let moment = |second| (second != NO_TIME).then(|| Time::of_second(second).nanoseconds);
        Self { calendar: Calendar::Gregorian, moments: seconds.into_iter().map(moment).collect() }
    }

    /// The whole seconds since 1970-01-01 of their calendar. [`i64::MIN`] where a time is missing.
    pub fn seconds(&self) -> Vec<i64> {
        self.moments.iter().map(|moment| moment.map_or(NO_TIME, |it| parted(it).0)).collect()
    }

    /// How many they are.
    pub const fn len(&self) -> usize {
        self.moments.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// A time. `None` where it is missing, and beyond the last one.
    pub fn at(&self, index: usize) -> Option<Time> {
        let nanoseconds = self.moments.get(index).copied().flatten()?;
        Some(Time { nanoseconds, calendar: self.calendar })
    }

    pub(crate) const fn calendar(&self) -> Calendar {
        self.calendar
    }

    pub(crate) fn moments(&self) -> &[Moment] {
        &self.moments
    }
}

/// The nanoseconds since 1970 at which a moment begins and ends: 2024-01-31, 20240131, 2024-01-31T12, 2024-01-31 12:30, 12:30:15;
/// also of a month, 2024-01. Seconds with a fraction, 12:30:15.5, are a single nanosecond.
///
/// With a zone at the end or not: `Z`, `UTC`, `+02:00`.
pub(crate) fn moment(text: &str, calendar: Calendar) -> Option<(i128, i128)> {
    let days = |year, month, day| calendar.days(year, month, day);
    let text = ["UTC", "GMT", "Z"].iter().find_map(|zone| text.trim().strip_suffix(zone)).unwrap_or(text).trim();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, time.trim()),
        None => (text, ""),
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
    let first = days(year, month, day.unwrap_or(1))?;
    let nanoseconds = |second: i64| i128::from(second) * i128::from(SECOND);
    if day.is_none() {
        let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
        let end = days(next_year, next, 1)?;
        return time.is_empty().then(|| (nanoseconds(first * DAY), nanoseconds(end * DAY)));
    }
    let (time, zone) = match time.find(['+', '-']).and_then(|at| time.split_at_checked(at)) {
        Some((time, zone)) => (time.trim_end(), ahead(zone)?),
        None => (time, 0),
    };
    let (time, part) = match time.split_once('.') {
        Some((time, part)) => (time, Some(number(part).and_then(|_| number(format!("{part:0<9}").get(..9)?))?)),
        None => (time, None),
    };
    let clock: Vec<i64> = match time {
        "" => Vec::new(),
        time => time.split(':').map(number).collect::<Option<_>>()?,
    };
    let (second, len) = match (clock.as_slice(), part) {
        ([], None) => (0, nanoseconds(DAY)),
        ([hour], None) if *hour < 24 => (hour * 3600, nanoseconds(3600)),
        ([hour, minute], None) if *hour < 24 && *minute < 60 => (hour * 3600 + minute * 60, nanoseconds(60)),
        ([hour, minute, second], part) if *hour < 24 && *minute < 60 && *second < 60 => {
            (hour * 3600 + minute * 60 + second, if part.is_some() { 1 } else { nanoseconds(1) })
        }
        _ => return None,
    };
    let start = nanoseconds(first * DAY + second - zone) + i128::from(part.unwrap_or(0));
    Some((start, start + len))
}

/// The seconds by which a zone is ahead of UTC: +02:00, -0530, +2.
fn ahead(zone: &str) -> Option<i64> {
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = zone.get(1..)?;
    let (hours, minutes) = match zone.split_once(':') {
        Some(parts) => parts,
        None if zone.len() > 2 => zone.split_at_checked(zone.len().saturating_sub(2))?,
        None => (zone, "0"),
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn number(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_the_length_of_what_is_not_said() {
        const NS: i128 = SECOND as i128;
        let day = 86_400 * NS;
        for (text, start, len) in [
            ("1970-01-02", day, day),
            ("19700102", day, day),
            ("1970-01-02T03", day + 3 * 3600 * NS, 3600 * NS),
            ("1970-01-02 03:30", day + (3 * 3600 + 1800) * NS, 60 * NS),
            ("1970-01-02T03:30:05Z", day + (3 * 3600 + 1805) * NS, NS),
            ("1970-1-2 0:0:0.0", day, 1),
            ("1970-01-02 00:00:00.25 UTC", day + NS / 4, 1),
            ("1970-01-02T00:00:00.1234567899", day + 123_456_789, 1),
            ("1970-01-02 06:00 +02:00", day + 4 * 3600 * NS, 60 * NS),
            ("1970-01-02T06-0530", day + (11 * 3600 + 1800) * NS, 3600 * NS),
            ("1970-01-02 +2", day - 2 * 3600 * NS, day),
            ("1970-02", 31 * day, 28 * day),
            ("1969-12", -31 * day, 31 * day),
        ] {
            assert_eq!(moment(text, Calendar::Gregorian), Some((start, start + len)), "{text}");
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
            "1970-01-01T1:30.5",
            "1970-01-01T00:00:00.",
            "1970-01-01T00 +",
            "1970-01-01T00 +24",
            "-1-1-1",
        ] {
            assert_eq!(moment(text, Calendar::Gregorian), None, "{text}");
        }
        assert_eq!(moment("2001-02-30", Calendar::Thirty).map(|it| it.1 - it.0), Some(day));
    }

    #[test]
    fn texts_have_the_digits_that_there_are() {
        let text = |nanoseconds, calendar| Time { nanoseconds, calendar }.to_string();
        let (second, day) = (i128::from(SECOND), 86_400 * i128::from(SECOND));
        assert_eq!(Time::of_second(19_782 * 86_400 + 3661).to_string(), "2024-02-29T01:01:01");
        assert_eq!(text(second / 10, Calendar::Standard), "1970-01-01T00:00:00.1");
        assert_eq!(text(-1, Calendar::Standard), "1969-12-31T23:59:59.999999999");
        assert_eq!(text(59 * day, Calendar::Thirty), "1970-02-30T00:00:00");
        assert_eq!(text(-141_428 * day, Calendar::Standard), "1582-10-04T00:00:00");
        // A text is the moment that it was made of.
        for nanoseconds in [second / 10, 123_456_789, -1, -141_428 * day + 20 * second / 1000] {
            let found = moment(&text(nanoseconds, Calendar::Standard), Calendar::Standard);
            assert_eq!(found, Some((nanoseconds, nanoseconds + 1)));
        }
    }

    #[test]
    fn a_missing_time_has_no_text() {
        let times = Times::of_seconds([0, NO_TIME]);
        assert_eq!((times.at(1), times.seconds()), (None, vec![0, NO_TIME]));
    }
}
