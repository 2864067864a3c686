//! Days of the calendar that archives count in.

/// A day of the Gregorian calendar. Parts that a message states wrongly stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    year: i64,
    month: i64,
    day: i64,
}

impl Day {
    pub(super) const fn new(year: i64, month: i64, day: i64) -> Self {
        Self { year, month, day }
    }

    pub(super) const fn year(self) -> i64 {
        self.year
    }

    pub(super) const fn month(self) -> i64 {
        self.month
    }

    pub(super) const fn day(self) -> i64 {
        self.day
    }

    /// As archives write it: 20240131.
    pub(super) const fn number(self) -> i64 {
        self.year * 10_000 + self.month * 100 + self.day
    }

    pub(super) const fn first_of_month(self) -> Self {
        Self { day: 1, ..self }
    }

    /// Days from `other` to this one.
    pub(super) const fn since(self, other: Self) -> i64 {
        self.count() - other.count()
    }

    /// The day that comes `days` later. `None` outside of the years that messages can have.
    pub(super) fn after(self, days: i64) -> Option<Self> {
        const FURTHEST: i64 = 1 << 40;
        let sum = self.count().checked_add(days).filter(|sum| sum.abs() < FURTHEST)?;
        Some(if days == 0 { self } else { Self::of_count(sum) })
    }

    /// Days since 1 March of the year 0. Years begin in March, so that the day of a leap year is the last.
    const fn count(self) -> i64 {
        let (year, month) = if self.month > 2 { (self.year, self.month - 3) } else { (self.year - 1, self.month + 9) };
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5 + self.day
            - 1
    }

    const fn of_count(days: i64) -> Self {
        let era = days.div_euclid(146_097);
        let day = days.rem_euclid(146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (later, number) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
        Self { year: era * 400 + year + later, month: number, day: day - (153 * month + 2) / 5 + 1 }
    }
}

/// A time of the day as archives write it: 1230.
pub(super) const fn hhmm(hour: i64, minute: i64) -> i64 {
    hour * 100 + minute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_each_other() {
        let after = |year, month, day, days| Day::new(year, month, day).after(days).map(Day::number);
        assert_eq!(after(2024, 2, 28, 1), Some(20_240_229));
        assert_eq!(after(2023, 12, 31, 1), Some(20_240_101));
        assert_eq!(after(2100, 2, 28, 1), Some(21_000_301));
        assert_eq!(after(2000, 3, 1, -1), Some(20_000_229));
        assert_eq!(after(2000, 1, 1, i64::MAX), None);
        let first = Day::new(1900, 1, 1);
        for days in (0..100_000).step_by(7) {
            assert_eq!(first.after(days).map(|day| day.since(first)), Some(days));
        }
    }
}
