//! One line of progress.

use serde_json::json as value;

use crate::show::progress::meter::Counts;

/// The least and the greatest number of characters of a bar.
const BAR: (usize, usize) = (8, 40);

/// Progress for people: at most `columns - 1` characters, so that the cursor stays on the line. The narrower the line,
/// the fewer numbers it has.
pub(super) fn bar(what: &str, counts: &Counts, columns: usize) -> String {
    let room = columns.saturating_sub(1);
    let Some(total) = counts.total else {
        let text = format!("{what} {}, {}/s", size(counts.done), size_of(counts.rate()));
        return text.chars().take(room).collect();
    };
    let percent = format!("{:3} %", percent(counts.done, total));
    let left = counts.seconds_left().map_or(String::new(), |seconds| format!(", {} left", time(seconds)));
    let amount = format!("{} of {}", size(counts.done), size(total));
    let rate = format!(", {}/s", size_of(counts.rate()));
    let behind = [format!(" {amount}{rate}{left}"), format!(" {amount}{left}"), format!(" {amount}"), String::new()];
    for behind in behind {
        let taken = what.chars().count() + percent.len() + behind.chars().count() + 4;
        if let Some(rest) = room.checked_sub(taken).filter(|rest| *rest >= BAR.0) {
            let width = rest.min(BAR.1);
            let full = usize::try_from(counts.done.min(total).saturating_mul(width as u64) / total.max(1)).unwrap_or(0);
            return format!("{what} [{}{}] {percent}{behind}", "=".repeat(full), " ".repeat(width - full.min(width)));
        }
    }
    format!("{what} {percent}").chars().take(room).collect()
}

/// Progress for programs: one JSON object.
pub(super) fn json(what: &str, counts: &Counts, is_end: bool) -> String {
    let short = |number: f64| (number * 1000.0).round() / 1000.0;
    value!({
        "progress": what,
        "bytes": counts.done,
        "total": counts.total,
        "rate": short(counts.rate()),
        "seconds": short(counts.time.as_secs_f64()),
        "seconds_left": if is_end { Some(0.0) } else { counts.seconds_left().map(short) },
        "messages": counts.messages,
        "end": is_end,
    })
    .to_string()
}

fn percent(done: u64, total: u64) -> u64 {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    u64::try_from(percent).unwrap_or(100).min(100)
}

fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    size_of(bytes as f64)
}

/// Bytes with a unit: powers of 1000.
fn size_of(bytes: f64) -> String {
    let mut rest = bytes;
    for unit in ["B", "kB", "MB", "GB", "TB"] {
        if rest < 999.5 {
            return if rest < 9.95 && unit != "B" { format!("{rest:.1} {unit}") } else { format!("{rest:.0} {unit}") };
        }
        rest /= 1000.0;
    }
    format!("{rest:.0} PB")
}

/// A time: seconds, or minutes and seconds, or hours and minutes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats end at the bounds")]
fn time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds @ ..100 => format!("{seconds} s"),
        seconds @ ..6000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn counts(done: u64, total: Option<u64>) -> Counts {
        Counts { done, total, messages: 7, work: done, time: Duration::from_secs(2) }
    }

    #[test]
    fn there_is_never_more_than_all_of_it() {
        assert_eq!([percent(0, 7), percent(1, 3), percent(7, 7), percent(9, 7)], [0, 33, 100, 100]);
        assert_eq!([percent(0, 0), percent(u64::MAX, u64::MAX)], [0, 100]);
    }

    #[test]
    fn a_bar_fits_any_width_and_has_all_numbers_in_a_wide_one() {
        let half = counts(1_500_000_000, Some(3_000_000_000));
        let text = bar("verify", &half, 80);
        assert_eq!(text, "verify [=============              ]  50 % 1.5 GB of 3.0 GB, 750 MB/s, 2 s left");
        let cases = [half, counts(0, Some(0)), counts(9, Some(7)), counts(u64::MAX, Some(u64::MAX)), counts(5, None)];
        for counts in cases {
            for columns in 0..200 {
                let text = bar("verify", &counts, columns);
                assert!(text.chars().count() <= columns.saturating_sub(1), "{columns}: {text}");
            }
        }
        assert_eq!(bar("verify", &counts(5_000_000, None), 80), "verify 5.0 MB, 2.5 MB/s");
    }

    #[test]
    fn json_has_null_where_nothing_is_known() {
        assert_eq!(
            json("copy", &counts(10, None), false),
            r#"{"progress":"copy","bytes":10,"total":null,"rate":5.0,"seconds":2.0,"seconds_left":null,"messages":7,"end":false}"#
        );
        assert!(json("copy", &counts(10, Some(20)), false).contains(r#""seconds_left":2.0"#));
    }

    #[test]
    fn times_have_two_units_at_most() {
        let times = [0.2, 99.0, 100.0, 7260.0].map(time);
        assert_eq!(times, ["1 s", "99 s", "1 min 40 s", "2 h 01 min"]);
    }
}
