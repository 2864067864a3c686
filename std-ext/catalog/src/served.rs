//! Times of change as servers tell of them.
//!
//! Most servers tell a time in whole seconds: as `Last-Modified`, and in the tags of nginx. A file that is changed twice within a
//! second then looks the same. So such a time proves something only if it was over for a while when the file was catalogued: what
//! changes the file later has another time. It is **settled**.

use std::time::SystemTime;

/// Seconds after which the time of change of a file of this machine is settled. Systems set it by a clock that lags a little.
const SETTLED_HERE: u64 = 2;
/// Seconds after which a time that a server tells is settled, whose clock is not the clock of this machine.
const SETTLED_THERE: u64 = 60;

/// Whether a server tells of a file that it has the size and the time of change that the identity `local` has, of a file of a
/// machine: the file was served where it lay, or was copied with its time. Servers tell the time as `Last-Modified`; the tags of
/// nginx and Apache are made of size and time. Whole seconds count only if the time of change was settled.
pub(super) fn is_served(local: &[u8], served: &[u8], is_settled: bool) -> bool {
    let Some(Local { seconds, nanoseconds, size }) = Local::of(local) else { return false };
    let Some(whole) = seconds.checked_mul(1_000_000) else { return false };
    let coarse = [
        format!("\"{seconds:x}-{size:x}\""),
        format!("\"{size:x}-{whole:x}\""),
        format!("Last-Modified: {}", http_date(seconds)),
    ];
    let Some(told) = served.strip_prefix(format!("server {size} ").as_bytes()) else { return false };
    let is_exact = nanoseconds > 999 && {
        let exact = format!("\"{size:x}-{:x}\"", whole.saturating_add(nanoseconds / 1000));
        exact.as_bytes() == told
    };
    is_exact || (is_settled && coarse.iter().any(|tag| tag.as_bytes() == told))
}

/// Whether the time of change that an identity has was settled at a moment: whether all later changes of the file have another time in
/// whole seconds. Tags that are not made of a time are settled. `None` for an identity of neither kind.
pub(super) fn is_settled(identity: &[u8], now: SystemTime) -> Option<bool> {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    let is_over = |second: u64, after: u64| second.checked_add(after).is_some_and(|settled| settled <= now);
    if let Some(local) = Local::of(identity) {
        return Some(is_over(local.seconds, SETTLED_HERE));
    }
    let (size, tag) = std::str::from_utf8(identity).ok()?.strip_prefix("server ")?.split_once(' ')?;
    match coarse_time(size.parse().ok()?, tag) {
        CoarseTime::None => Some(true),
        CoarseTime::Second(second) => Some(is_over(second, SETTLED_THERE)),
        CoarseTime::Unread => Some(false),
    }
}

/// What an identity tells of a file of this machine.
struct Local {
    seconds: u64,
    nanoseconds: u64,
    size: u64,
}

impl Local {
    fn of(identity: &[u8]) -> Option<Self> {
        let ([_, _, seconds, nanoseconds, size], []) = identity.as_chunks::<8>() else { return None };
        let [seconds, nanoseconds, size] = [seconds, nanoseconds, size].map(|bytes| u64::from_le_bytes(*bytes));
        Some(Self { seconds, nanoseconds, size })
    }
}

/// The time in whole seconds that a tag is made of.
enum CoarseTime {
    None,
    Second(u64),
    /// A date in a form that is not known.
    Unread,
}

fn coarse_time(size: u64, tag: &str) -> CoarseTime {
    if let Some(date) = tag.strip_prefix("Last-Modified: ") {
        return second_of(date).map_or(CoarseTime::Unread, CoarseTime::Second);
    }
    let parts = tag.trim_matches('"').split_once('-');
    let parts = parts.and_then(|(a, b)| Some((u64::from_str_radix(a, 16).ok()?, u64::from_str_radix(b, 16).ok()?)));
    match parts {
        // nginx.
        Some((second, of)) if of == size => CoarseTime::Second(second),
        // Apache, on a file system that has whole seconds.
        Some((of, micros)) if of == size && micros % 1_000_000 == 0 => CoarseTime::Second(micros / 1_000_000),
        _ => CoarseTime::None,
    }
}

const MONTHS: [&str; 12] = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"];

/// The second since 1970 of a time as [`http_date`] writes it.
fn second_of(date: &str) -> Option<u64> {
    let (_, date) = date.split_once(", ")?;
    let mut parts = date.split(' ');
    let mut part = || parts.next();
    let (day, month, year, clock, zone) = (part()?, part()?, part()?, part()?, part()?);
    let mut clock = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let month = u64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()?;
    let year = year.parse::<u64>().ok()?.checked_sub(u64::from(month >= 10))?;
    let is_date = zone == "GMT" && year <= 9999 && hour < 24 && minute < 60 && second <= 60;
    let day = day.parse::<u64>().ok().filter(|day| is_date && (1..=31).contains(day))?;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some(days.checked_sub(719_468)? * 86_400 + hour * 3600 + minute * 60 + second)
}

/// A time since 1970 as servers write it: `Fri, 27 Nov 2026 03:00:01 GMT`.
fn http_date(seconds: u64) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that a leap day is the last one. The first of March of the year 0 is 719,468 days before 1970.
    let (era, of_era) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year + u64::from(month >= 10);
    let name = |names: &[&'static str], at: u64| usize::try_from(at).ok().and_then(|at| names.get(at)).copied();
    let (weekday, month) = (name(&WEEKDAYS, days % 7).unwrap_or(""), name(&MONTHS, month).unwrap_or(""));
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_this_machine_is_known_by_what_servers_tell_of_it() {
        let local: Vec<u8> = [9, 8, 0x6927_c411, 123_456_789, 1000].into_iter().flat_map(u64::to_le_bytes).collect();
        let told = |size: u64, tag: &str| is_served(&local, format!("server {size} {tag}").as_bytes(), true);
        assert_eq!(http_date(0x6927_c411), "Thu, 27 Nov 2025 03:22:57 GMT");
        assert_eq!(
            (http_date(0), http_date(951_782_400)),
            ("Thu, 01 Jan 1970 00:00:00 GMT".into(), "Tue, 29 Feb 2000 00:00:00 GMT".into())
        );
        for tag in [
            "Last-Modified: Thu, 27 Nov 2025 03:22:57 GMT",
            "\"6927c411-3e8\"",
            "\"3e8-6448b077c6640\"",
            "\"3e8-6448b077e4880\"",
        ] {
            assert_eq!((told(1000, tag), told(1001, tag)), (true, false), "{tag}");
            // Only microseconds say what was changed within a second.
            let unsettled = is_served(&local, format!("server 1000 {tag}").as_bytes(), false);
            assert_eq!(unsettled, tag == "\"3e8-6448b077e4880\"", "{tag}");
        }
        for tag in ["Last-Modified: Thu, 27 Nov 2025 03:22:58 GMT", "\"6927c412-3e8\"", "\"1\"", ""] {
            assert!(!told(1000, tag), "{tag}");
        }
        let neither = |a: &[u8], b: &[u8]| !is_served(a, b, true);
        assert!(neither(&local, &local) && neither(b"server 1000 x", b"server 1000 x") && neither(&[], b""));
    }

    #[test]
    fn dates_of_servers_are_read_as_they_are_written() {
        for second in (0..4_000_000_000).step_by(86_400 * 29 + 3661) {
            assert_eq!(second_of(&http_date(second)), Some(second));
        }
        for date in [
            "",
            "Thu, 27 Nov 2025",
            "Thursday, 27-Nov-25 03:22:57 GMT",
            "Thu, 27 Nov 2025 03:22:57 CET",
            "Thu, 01 Jan 1969 00:00:00 GMT",
        ] {
            assert_eq!(second_of(date), None, "{date}");
        }
    }

    #[test]
    fn a_time_of_change_is_settled_when_its_second_is_over() {
        let at = |second: u64| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
        let changed = 0x6927_c411_u64;
        let local: Vec<u8> = [9, 8, changed, 999_999_999, 1000].into_iter().flat_map(u64::to_le_bytes).collect();
        let settled = |after: u64, identity: &str| is_settled(identity.as_bytes(), at(changed + after));
        assert_eq!([0, 1, 2].map(|after| is_settled(&local, at(changed + after)).unwrap()), [false, false, true]);
        assert_eq!(is_settled(&local, at(changed - 5)), Some(false), "a time that is yet to come");
        for tag in ["Last-Modified: Thu, 27 Nov 2025 03:22:57 GMT", "\"6927c411-3e8\"", "\"3e8-6448b077c6640\""] {
            let found = [0, 59, 60].map(|after| settled(after, &format!("server 1000 {tag}")).unwrap());
            assert_eq!(found, [false, false, true], "{tag}");
        }
        assert_eq!(settled(9999, "server 1000 Last-Modified: soon"), Some(false));
        for tag in ["\"3e8-6448b077e4880\"", "\"6927c411-3e9\"", "\"abc\"", "\"d41d8cd98f00b204e9800998ecf8427e\""] {
            assert_eq!(settled(0, &format!("server 1000 {tag}")), Some(true), "{tag}");
        }
        assert_eq!((settled(0, ""), settled(0, "server x")), (None, None));
    }
}
