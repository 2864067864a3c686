//! Steps of forecasts, as archives write them: whole hours as a number, and minutes or seconds with their letter.

use ciborium::Value;

use super::product::{Key, Product};

/// Seconds of the units in which steps are written, with their letters. Hours have none.
const UNITS: [(i64, &str); 3] = [(3600, ""), (60, "m"), (1, "s")];

/// When a forecast is valid, in seconds from its reference time: its start and its end, which are equal for a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    start: i64,
    end: i64,
}

impl Step {
    /// A step by its ends in seconds.
    pub(super) const fn new(start: i64, end: i64) -> Self {
        Self { start, end }
    }

    /// The step of a field. `None` if its unit is not known, or its time is missing.
    ///
    /// Where intervals lie within intervals, the first one that has a length gives it. By the definitions before ECMWF's
    /// migration, it is the first one over which the forecast time grows.
    pub(super) fn of(product: &Product, is_earlier: bool) -> Option<Self> {
        let unit = seconds(product.raw(Key::IndicatorOfUnitForForecastTime)?)?;
        let start = product.number(Key::ForecastTime)?.checked_mul(unit)?;
        let span = product.spans.iter().find(|span| if is_earlier { span.is_of_forecast } else { span.length != 0 });
        let length = span.map_or(Some(0), |span| span.length.checked_mul(seconds(span.unit)?))?;
        Some(Self { start, end: start.checked_add(length)? })
    }

    /// The largest unit in which both ends are whole.
    fn unit(self) -> (i64, &'static str) {
        let is_whole = |(seconds, _): &(i64, &str)| self.start % seconds == 0 && self.end % seconds == 0;
        UNITS.into_iter().find(is_whole).unwrap_or((1, "s"))
    }

    /// The end, as archives have it.
    pub(super) fn to_value(self) -> Value {
        match self.unit() {
            // Archives ask for the start of a forecast by 0, whatever its unit.
            (seconds, letter) if letter.is_empty() || self.end == 0 => (self.end / seconds).into(),
            (seconds, letter) => format!("{}{letter}", self.end / seconds).into(),
        }
    }

    /// The start, in the unit of both.
    pub(super) fn start_value(self) -> Value {
        let (seconds, letter) = self.unit();
        let start = self.start / seconds;
        if letter.is_empty() || start == 0 { start.into() } else { format!("{start}{letter}").into() }
    }

    /// Start and end as archives have them for some streams: text for an interval, and as [`Step::to_value`] for a moment.
    pub(super) fn range_value(self) -> Value {
        if self.is_moment() { self.to_value() } else { self.range().into() }
    }

    /// From the start of the forecast to the start of the interval.
    pub(super) const fn before(self) -> Self {
        Self { start: 0, end: self.start }
    }

    /// The moment of the start.
    pub(super) const fn start_alone(self) -> Self {
        Self { start: self.start, end: self.start }
    }

    /// The same interval without its first hours.
    pub(super) const fn later(self, hours: i64) -> Self {
        Self { start: self.start.saturating_add(hours.saturating_mul(3600)), end: self.end }
    }

    /// Whether start and end are the same.
    pub(super) const fn is_moment(self) -> bool {
        self.start == self.end
    }

    /// Whole hours of the start.
    pub(super) const fn start_hours(self) -> i64 {
        self.start.div_euclid(3600)
    }

    /// Whole hours of the end.
    pub(super) const fn end_hours(self) -> i64 {
        self.end.div_euclid(3600)
    }

    /// Whole minutes of the start.
    pub(super) const fn start_minutes(self) -> i64 {
        self.start.div_euclid(60)
    }

    /// Start and end, or one number for a moment.
    pub(super) fn range(self) -> String {
        let (seconds, letter) = self.unit();
        let (start, end) = (self.start / seconds, self.end / seconds);
        if start == end { format!("{end}{letter}") } else { format!("{start}{letter}-{end}{letter}") }
    }
}

/// Seconds of a unit of time in edition 1 (code table 4). Units that both editions have are the same but for parts of an hour.
pub(super) fn seconds_of_edition_1(unit: u8) -> Option<i64> {
    match unit {
        13 => Some(15 * 60),
        14 => Some(30 * 60),
        254 => Some(1),
        0..=12 => seconds(unit.into()),
        _ => None,
    }
}

/// Seconds of a unit of time (code table 4.4). A month has 30 days, and a year 365, as in archives.
const fn seconds(unit: i64) -> Option<i64> {
    const HOUR: i64 = 3600;
    const YEAR: i64 = 365 * 24 * HOUR;
    Some(match unit {
        0 => 60,
        1 => HOUR,
        2 => 24 * HOUR,
        3 => 30 * 24 * HOUR,
        4 => YEAR,
        5 => 10 * YEAR,
        6 => 30 * YEAR,
        7 => 100 * YEAR,
        10 => 3 * HOUR,
        11 => 6 * HOUR,
        12 => 12 * HOUR,
        13 => 1,
        14 => HOUR / 4,
        15 => HOUR / 2,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_one_unit() {
        let texts = |start, end| (Step { start, end }.to_value(), Step { start, end }.range());
        assert_eq!(texts(0, 86_400), (24.into(), "0-24".into()));
        assert_eq!(texts(1800, 3600), ("60m".into(), "30m-60m".into()));
        assert_eq!(texts(90, 90), ("90s".into(), "90s".into()));
        assert_eq!(texts(-21_600, -21_600), ((-6).into(), "-6".into()));
    }

    #[test]
    fn all_units_of_the_manual_are_known() {
        for unit in (0..=7).chain(10..=15) {
            assert!(seconds(unit).is_some(), "{unit}");
        }
        assert_eq!((seconds(13), seconds(14), seconds(15)), (Some(1), Some(900), Some(1800)));
        assert!([8, 9, 16, 192, 255].into_iter().all(|unit| seconds(unit).is_none()));
    }
}
