//! The reference time and the step of edition 1.

use tgm_grid::Octets;

use super::super::super::dates::{Day, hhmm};
use super::super::super::steps::{Step, seconds_of_edition_1};

/// A year, and a day, that climatologies leave out.
const LEFT_OUT: i64 = 255;
/// Forms of steps: see `STATISTICS` of `tables1.py`.
const MOMENT: u32 = 254;
/// A time range of one moment, which one centre has for sums from the start of a forecast.
const POINT: u8 = 0;
const SUM: u32 = 1;
/// A time range whose two octets are one number.
const LONG: u8 = 10;
/// A unit that is missing: the step is 0.
const NO_UNIT: u8 = 255;

/// The day, and hours and minutes. Without a year, the number of the day is month and day, or the month alone.
pub(super) fn reference(octets: Octets<'_>) -> (Day, i64) {
    let octet = |at| octets.u8(at).map_or(0, i64::from);
    let day = date(octet(25), [octet(13), octet(14), octet(15)]);
    (day, hhmm(octet(16), octet(17)))
}

/// A day of a century: 1900 is the year 100 of the 19th.
pub(super) const fn date(century: i64, [year, month, day]: [i64; 3]) -> Day {
    match (year, month, day) {
        (LEFT_OUT, 1..=12, LEFT_OUT) => Day::new(0, 0, month),
        (LEFT_OUT, 1..=12, _) => Day::new(0, month, day),
        _ => Day::new((century - 1) * 100 + year, month, day),
    }
}

/// The octets of time as an interval, or as a moment where they are one number.
pub(super) fn period(octets: Octets<'_>) -> Option<Step> {
    let unit = seconds_of_edition_1(octets.u8(18)?)?;
    let (first, second) = (i64::from(octets.u8(19)?), i64::from(octets.u8(20)?));
    let both = first * 256 + second;
    Some(if octets.u8(21)? == LONG {
        Step::new(both * unit, both * unit)
    } else {
        Step::new(first * unit, second * unit)
    })
}

/// The step, by the form that the table has for its time range. `None` for time ranges and units without one.
pub(super) fn step(octets: Octets<'_>, form: Option<u32>) -> Option<Step> {
    let (unit, range, form) = (octets.u8(18)?, octets.u8(21)?, form);
    if unit == NO_UNIT {
        return Some(Step::new(0, 0));
    }
    let period = period(octets)?;
    if (range, form) == (POINT, Some(SUM)) {
        return Some(period.before());
    }
    Some(if range != LONG && form? >= MOMENT { period.start_alone() } else { period })
}
