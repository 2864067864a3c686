//! Times as ISO 8601 writes them: `2024-01-31`, `2024-01-31T12:00:00.5Z`, `2024-01-31 12:00+01:00`.

/// A time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// Seconds since 1970-01-01, of the zone if it has one.
    seconds: i64,
    nanoseconds: u32,
    pub(super) zone: Zone,
    /// The least unit that it needs.
    unit: Unit,
}

/// How a text names its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    None,
    Utc,
    Offset,
}

/// A unit of time, each a part of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    #[default]
    Days,
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl Unit {
    /// The unit as the convention CF names it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// How many there are in a second. A day has none.
    const fn in_a_second(self) -> i64 {
        match self {
            Self::Days | Self::Seconds => 1,
            Self::Milliseconds => 1000,
            Self::Microseconds => 1_000_000,
            Self::Nanoseconds => 1_000_000_000,
        }
    }
}

impl Time {
    /// The time of a text. `None` if it is not one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let [year, month, day] = [date.get(..4)?, date.get(5..7)?, date.get(8..10)?].map(number);
        let marks = [date.get(4..5)?, date.get(7..8)?];
        let (year, month, day) = (year?, month?, day?);
        if marks != ["-", "-"] || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let seconds = days_since_1970(year, month, day) * 86_400;
        let mut time = Self { seconds, nanoseconds: 0, zone: Zone::None, unit: Unit::Days };
        if rest.is_empty() {
            return Some(time);
        }
        let rest = rest.strip_prefix(['T', ' '])?;
        let clock_len =
            rest.find(|char: char| !(char.is_ascii_digit() || matches!(char, ':' | '.'))).unwrap_or(rest.len());
        let (clock, zone) = rest.split_at(clock_len);
        time.take_clock(clock)?;
        time.take_zone(zone)?;
        Some(time)
    }

    fn take_clock(&mut self, clock: &str) -> Option<()> {
        let (clock, fraction) =
            clock.split_once('.').map_or((clock, None), |(clock, fraction)| (clock, Some(fraction)));
        let parts =
            clock.split(':').map(|part| number(part).filter(|_| part.len() == 2)).collect::<Option<Vec<i64>>>()?;
        let (hour, minute, second) = match *parts.as_slice() {
            [hour, minute] if fraction.is_none() => (hour, minute, 0),
            [hour, minute, second] => (hour, minute, second),
            _ => return None,
        };
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        self.seconds += (hour * 60 + minute) * 60 + second;
        self.unit = Unit::Seconds;
        if let Some(fraction) = fraction {
            if fraction.is_empty() || fraction.len() > 9 {
                return None;
            }
            self.nanoseconds = format!("{fraction:0<9}").parse().ok()?;
            self.unit = match fraction.trim_end_matches('0').len() {
                0 => Unit::Seconds,
                1..=3 => Unit::Milliseconds,
                4..=6 => Unit::Microseconds,
                _ => Unit::Nanoseconds,
            };
        }
        Some(())
    }

    fn take_zone(&mut self, zone: &str) -> Option<()> {
        if zone.is_empty() {
            return Some(());
        }
        if zone == "Z" {
            self.zone = Zone::Utc;
            return Some(());
        }
        let (sign, offset) = zone.split_at_checked(1)?;
        let sign = match sign {
            "+" => 1,
            "-" => -1,
            _ => return None,
        };
        let (hours, minutes) = match offset.len() {
            2 => (offset, "00"),
            4 => offset.split_at_checked(2)?,
            5 => offset.split_once(':').filter(|(hours, _)| hours.len() == 2)?,
            _ => return None,
        };
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if hours > 23 || minutes > 59 {
            return None;
        }
        self.seconds -= sign * (hours * 60 + minutes) * 60;
        self.zone = Zone::Offset;
        Some(())
    }

    /// The least unit in which the time is an integer.
    pub(super) const fn unit(self) -> Unit {
        self.unit
    }

    /// How many of a unit passed since 1970-01-01. `None` beyond 64 bits.
    pub(super) fn count(self, unit: Unit) -> Option<i64> {
        if unit == Unit::Days {
            return Some(self.seconds / 86_400);
        }
        let per_second = unit.in_a_second();
        let part = i64::from(self.nanoseconds) / (1_000_000_000 / per_second);
        self.seconds.checked_mul(per_second)?.checked_add(part)
    }
}

/// A number of digits alone.
fn number(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

const fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the calendar of today, which goes on without end.
const fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the day of a leap year is their last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_1970() {
        for (text, unit, count) in [
            ("1970-01-01", Unit::Days, 0),
            ("2000-03-01", Unit::Days, 11_017),
            ("1969-12-31", Unit::Days, -1),
            ("2024-01-01 00:00", Unit::Seconds, 1_704_067_200),
            ("2024-01-01T01:00:00+01:00", Unit::Seconds, 1_704_067_200),
            ("2024-01-01T00:00:00.5Z", Unit::Milliseconds, 1_704_067_200_500),
            ("1969-12-31T23:59:59.999999", Unit::Microseconds, -1),
            ("2024-02-29T00:00:00.000000001", Unit::Nanoseconds, 1_709_164_800_000_000_001),
            ("0001-01-01", Unit::Days, -719_162),
        ] {
            let time = Time::parse(text).unwrap();
            assert_eq!((time.unit(), time.count(time.unit())), (unit, Some(count)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_time_is_none() {
        for text in [
            "",
            "2024",
            "2024-13-01",
            "2023-02-29",
            "2024-1-01",
            "2024-01-01x",
            "2024-01-01T",
            "2024-01-01T24:00",
            "2024-01-01T1:00",
            "2024-01-01T00:00.5",
            "2024-01-01T00:00:00.",
            "2024-01-01T00:00z",
            "2024/01/01",
            "2024-01-01T00:00+1",
            "+024-01-01",
            "2024-01-01é",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
