//! Files of a machine as servers tell of them.

/// Whether a server tells of a file that it has the size and the time of change that the identity `local` has, of a file of a
/// machine: the file was served where it lay, or was copied with its time. Servers tell the time as `Last-Modified`; the tags of
/// nginx and Apache are made of size and time.
pub(super) fn is_served(local: &[u8], served: &[u8]) -> bool {
    let ([_, _, seconds, nanoseconds, size], []) = local.as_chunks::<8>() else { return false };
    let [seconds, nanoseconds, size] = [seconds, nanoseconds, size].map(|bytes| u64::from_le_bytes(*bytes));
    let Some(whole) = seconds.checked_mul(1_000_000) else { return false };
    let tags = [
        format!("\"{seconds:x}-{size:x}\""),
        format!("\"{size:x}-{whole:x}\""),
        format!("\"{size:x}-{:x}\"", whole.saturating_add(nanoseconds / 1000)),
        format!("Last-Modified: {}", http_date(seconds)),
    ];
    let Some(told) = served.strip_prefix(format!("server {size} ").as_bytes()) else { return false };
    tags.iter().any(|tag| tag.as_bytes() == told)
}

/// A time since 1970 as servers write it: `Fri, 27 Nov 2026 03:00:01 GMT`.
fn http_date(seconds: u64) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"];
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
        let told = |size: u64, tag: &str| is_served(&local, format!("server {size} {tag}").as_bytes());
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
        }
        for tag in ["Last-Modified: Thu, 27 Nov 2025 03:22:58 GMT", "\"6927c412-3e8\"", "\"1\"", ""] {
            assert!(!told(1000, tag), "{tag}");
        }
        assert!(!is_served(&local, &local) && !is_served(b"server 1000 x", b"server 1000 x") && !is_served(&[], b""));
    }
}
