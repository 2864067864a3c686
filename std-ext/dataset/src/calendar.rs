//! The calendars of CF: days and their dates.

/// A calendar of CF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Calendar {
    /// The calendar in use: Julian up to 1582-10-04, and Gregorian from the day after it, 1582-10-15.
    Standard,
    /// The Gregorian calendar, also for the years before it was.
    Gregorian,
    /// Each year has 365 days.
    NoLeap,
    /// Each year has 366 days.
    AllLeap,
    /// Each month has 30 days.
    Thirty,
    /// Each fourth year is a leap year.
    Julian,
}

/// Year, month and day.
pub(crate) type Date = (i64, i64, i64);

/// Days before each month of a year without leap day.
const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
/// The first date of the Gregorian calendar, and its day since 1970.
const FIRST_GREGORIAN: (Date, i64) = ((1582, 10, 15), -141_427);
/// The days from the Gregorian to the Julian first of January 1970.
const JULIAN_IS_BEHIND: i64 = 13;
/// Days from the first of March of the year 0 to the first of January 1970.
const BEFORE_1970: i64 = 719_468;
const JULIAN_BEFORE_1970: i64 = 719_483;

impl Calendar {
    /// The calendar of a name. `None` for one that CF does not have.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Self::Standard,
            "proleptic_gregorian" => Self::Gregorian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Thirty,
            "julian" => Self::Julian,
            _ => return None,
        })
    }

    /// The calendar whose days these are. A day since 1970 is the same one in both calendars, but may have another date.
    pub(crate) const fn counted_as(self) -> Self {
        if matches!(self, Self::Standard) { Self::Gregorian } else { self }
    }

    /// Nanoseconds that times of a day since 1970 are multiples of, where they were counted by floats. Readers hold times of the
    /// calendar in use in nanoseconds, and all others as cftime has them, in microseconds.
    pub(crate) const fn finest(self, days: i128) -> i128 {
        match self {
            Self::Gregorian => 1,
            Self::Standard if days >= FIRST_GREGORIAN.1 as i128 => 1,
            _ => 1000,
        }
    }

    /// Days since the first of January 1970 of this calendar. `None` for a date that it does not have.
    pub(crate) fn days(self, year: i64, month: i64, day: i64) -> Option<i64> {
        if !(-999_999..=999_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let date = (year, month, day);
        let found = match self {
            Self::Standard if date < FIRST_GREGORIAN.0 => julian_days(date).saturating_add(JULIAN_IS_BEHIND),
            Self::Standard | Self::Gregorian => gregorian_days(date),
            Self::Julian => julian_days(date),
            Self::Thirty => (year - 1970) * 360 + (month - 1) * 30 + day - 1,
            Self::NoLeap | Self::AllLeap => {
                let before = usize::try_from(month - 1).ok().and_then(|at| BEFORE.get(at))?;
                let leap_day = i64::from(self == Self::AllLeap);
                (year - 1970) * (365 + leap_day) + before + if month > 2 { leap_day } else { 0 } + day - 1
            }
        };
        // The 31st of February is a day of March, and the days after 1582-10-04 are of the Gregorian calendar.
        (self.date(found) == date).then_some(found)
    }

    /// The date of a day since the first of January 1970 of this calendar.
    pub(crate) fn date(self, days: i64) -> Date {
        match self {
            Self::Standard if days < FIRST_GREGORIAN.1 => julian_date(days - JULIAN_IS_BEHIND),
            Self::Standard | Self::Gregorian => gregorian_date(days),
            Self::Julian => julian_date(days),
            Self::Thirty => {
                let of_year = days.rem_euclid(360);
                (1970 + days.div_euclid(360), of_year / 30 + 1, of_year % 30 + 1)
            }
            Self::NoLeap | Self::AllLeap => {
                let leap_day = i64::from(self == Self::AllLeap);
                let (year, of_year) = (days.div_euclid(365 + leap_day), days.rem_euclid(365 + leap_day));
                let starts = (1..).zip(BEFORE).map(|(month, before)| {
                    // The leap day moves what is after February.
                    (month, before + if month > 2 { leap_day } else { 0 })
                });
                let (month, before) = starts.filter(|(_, before)| *before <= of_year).last().unwrap_or((1, 0));
                (1970 + year, month, of_year - before + 1)
            }
        }
    }
}

/// A date with years that begin in March, so that the leap day is the last one: the year, and the day of it.
const fn from_march((year, month, day): Date) -> (i64, i64) {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    (year, (153 * month + 2) / 5 + day - 1)
}

/// The date of a day of a year that begins in March.
const fn to_january(year: i64, of_year: i64) -> Date {
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + if month <= 2 { 1 } else { 0 }, month, day)
}

const fn gregorian_days(date: Date) -> i64 {
    let (year, of_year) = from_march(date);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - BEFORE_1970
}

const fn gregorian_date(days: i64) -> Date {
    let days = days + BEFORE_1970;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    to_january(year + era * 400, of_era - (365 * year + year / 4 - year / 100))
}

const fn julian_days(date: Date) -> i64 {
    let (year, of_year) = from_march(date);
    year * 365 + year.div_euclid(4) + of_year - JULIAN_BEFORE_1970
}

const fn julian_date(days: i64) -> Date {
    let days = days + JULIAN_BEFORE_1970;
    let (era, of_era) = (days.div_euclid(1461), days.rem_euclid(1461));
    let year = (of_era - of_era / 1460) / 365;
    to_january(year + era * 4, of_era - 365 * year)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Calendar; 6] = [
        Calendar::Standard,
        Calendar::Gregorian,
        Calendar::NoLeap,
        Calendar::AllLeap,
        Calendar::Thirty,
        Calendar::Julian,
    ];

    #[test]
    fn days_are_counted_from_1970() {
        let days = |year, month, day| Calendar::Gregorian.days(year, month, day);
        assert_eq!((days(1970, 1, 1), days(2000, 3, 1), days(1969, 12, 31)), (Some(0), Some(11_017), Some(-1)));
        assert_eq!((days(2023, 2, 29), days(2024, 2, 29), days(2024, 13, 1)), (None, Some(19_782), None));
    }

    /// Each day has a date of its own, one after the other.
    #[test]
    fn dates_follow_each_other() {
        for calendar in ALL {
            let mut last = calendar.date(-1_000_001);
            for day in (-1_000_000..=-140_000).chain(-139_999..=200_000) {
                let date = calendar.date(day);
                assert_eq!(calendar.days(date.0, date.1, date.2), Some(day), "{calendar:?} {date:?}");
                assert!(date > last, "{calendar:?}: {last:?} {date:?}");
                last = date;
            }
            assert_eq!(calendar.days(1970, 1, 1), Some(0), "{calendar:?}");
        }
    }

    #[test]
    fn the_standard_calendar_is_julian_up_to_1582() {
        let days = |year, month, day| Calendar::Standard.days(year, month, day);
        assert_eq!((days(1582, 10, 4), days(1582, 10, 15)), (Some(-141_428), Some(-141_427)));
        assert_eq!((days(1582, 10, 5), days(1582, 10, 14)), (None, None));
        // The first year of the calendar begins two days earlier than the one of the Gregorian calendar.
        assert_eq!((days(1, 1, 1), Calendar::Gregorian.days(1, 1, 1)), (Some(-719_164), Some(-719_162)));
        assert!(days(1500, 2, 29).is_some() && days(1700, 2, 29).is_none());
        assert_eq!(Calendar::Standard.date(-141_428), (1582, 10, 4));
    }

    /// Days between dates as cftime 1.6.6 counts them.
    #[test]
    fn calendars_have_years_of_their_own() {
        for (calendar, expected) in
            [("standard", 7730), ("noleap", 7724), ("all_leap", 7746), ("360_day", 7620), ("julian", 7730)]
        {
            let known = Calendar::of(calendar).unwrap();
            let between = known.days(2020, 3, 30).unwrap() - known.days(1999, 1, 30).unwrap();
            assert_eq!(between, expected, "{calendar}");
        }
        let julian = |year, month, day| Calendar::Julian.days(year, month, day);
        assert_eq!(julian(1900, 3, 1).unwrap() - julian(1899, 12, 31).unwrap(), 61);
        assert!(julian(1900, 2, 29).is_some() && Calendar::Standard.days(1900, 2, 29).is_none());
        for (calendar, date) in [
            (Calendar::NoLeap, (2020, 2, 29)),
            (Calendar::Thirty, (2020, 1, 31)),
            (Calendar::Julian, (2019, 2, 29)),
            (Calendar::AllLeap, (2019, 2, 30)),
        ] {
            assert_eq!(calendar.days(date.0, date.1, date.2), None, "{date:?}");
        }
        assert!(Calendar::Thirty.days(2019, 2, 30).is_some() && Calendar::AllLeap.days(2019, 2, 29).is_some());
    }
}
