//! Dates, times of day and steps, as archives spell them.

use crate::calendar::Calendar;
use crate::label::{HOUR, Label, Real, duration};

/// Days since 1970 of a date: 20240131, "20240131" or "2024-01-31".
pub(super) fn date_of(label: &Label) -> Option<i64> {
    let number = match label {
        Label::Text(text) if text.matches('-').count() == 2 => text.replace('-', "").parse().ok()?,
        other => other.as_integer()?,
    };
    Calendar::Gregorian.days(number / 10_000, number / 100 % 100, number % 100)
}

/// Seconds of a time of day: 1230, "1230", "12:30", "12:30:15", "12".
pub(super) fn time_of(label: &Label) -> Option<i64> {
    if let Some(text) = label.as_text() {
        let digits: Vec<i64> = text.split(':').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
        match *digits.as_slice() {
            [hour, minute] => return clock(hour, minute, 0),
            [hour, minute, second] => return clock(hour, minute, second),
            [hour] if text.trim().len() <= 2 => return clock(hour, 0, 0),
            [number] if text.trim().len() > 4 => return clock(number / 10_000, number / 100 % 100, number % 100),
            _ => {}
        }
    }
    let number = label.as_integer()?;
    clock(number / 100, number % 100, 0)
}

pub(super) fn clock(hour: i64, minute: i64, second: i64) -> Option<i64> {
    let is_time = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    is_time.then(|| hour * HOUR + minute * 60 + second)
}

/// Start and end of a step in seconds: 6, "6", "6h", "90m", "0-6", "30m-60m".
#[expect(clippy::cast_possible_truncation, reason = "a step of 10^14 hours is refused before")]
pub(super) fn step_of(label: &Label) -> Option<(i64, i64)> {
    match label {
        Label::Integer(hours) => hours.checked_mul(HOUR).map(|end| (end, end)),
        Label::Float(Real(hours)) => {
            let seconds = (hours * 3600.0).round();
            (seconds.abs() < 1e15).then_some((seconds as i64, seconds as i64))
        }
        Label::Text(text) => {
            // A minus sign at the front belongs to the start.
            let dash = text.char_indices().skip(1).find(|(_, letter)| *letter == '-').map(|(at, _)| at);
            match dash.and_then(|at| text.split_at_checked(at)) {
                Some((start, end)) => Some((duration(start)?, duration(end.trim_start_matches('-'))?)),
                None => duration(text).map(|end| (end, end)),
            }
        }
        Label::Time(_) | Label::Duration(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_units_and_ends() {
        let text = |text: &str| step_of(&Label::Text(text.into()));
        assert_eq!((text("0-24"), text("30m-60m")), (Some((0, 86_400)), Some((1800, 3600))));
        assert_eq!(
            (text("90m"), text("-6"), text("6h")),
            (Some((5400, 5400)), Some((-21_600, -21_600)), Some((21_600, 21_600)))
        );
        assert_eq!((text("6x"), text(""), text("-")), (None, None, None));
        assert_eq!(step_of(&Label::Integer(6)), Some((21_600, 21_600)));
        assert_eq!((step_of(&Label::Integer(i64::MAX)), step_of(&Label::Float(Real(1e300)))), (None, None));
    }

    #[test]
    fn dates_and_times_are_numbers_or_texts() {
        let text = |text: &str| Label::Text(text.into());
        assert_eq!((date_of(&Label::Integer(19_700_102)), date_of(&text("1970-01-02"))), (Some(1), Some(1)));
        assert_eq!((date_of(&text("tomorrow")), date_of(&Label::Integer(20_230_231))), (None, None));
        assert_eq!(
            ["12:30", "1230", "12", "123015"].map(|time| time_of(&text(time)).map(|time| time / 60)),
            [Some(750), Some(750), Some(720), Some(750)]
        );
        assert_eq!((time_of(&Label::Integer(30)), time_of(&Label::Integer(2460))), (Some(1800), None));
    }
}
