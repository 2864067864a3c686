//! How fast a source answers, as far as its answers have shown.

use std::time::Duration;

/// Answers of this length or more show how long bytes take.
pub(super) const LONG: u64 = 512 << 10;
/// Unneeded bytes are load for the server and the reader. They are read only if that is this many times faster than a request.
const FASTER: u32 = 8;

/// Where a request takes less, it costs little, and so short a time says little of how long bytes take.
const NOTICED: Duration = Duration::from_millis(5);
/// The time of the bytes of an answer is taken as at least this part of the whole answer, because the delay of requests varies.
const UNSURE: u32 = 32;

/// How long answers take. It is empty until `take` has got a measured answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// The shortest answer: mostly the time that a request takes whatever its length.
    delay: Option<Duration>,
    /// The fastest long answer: its length, and how long it took.
    long: Option<(u64, Duration)>,
}

impl Pace {
    /// Takes in how long an answer of `len` bytes took. Sources that do not wait have no time to take in.
    #[cfg(any(test, feature = "async"))]
    pub(crate) fn take(&mut self, len: u64, took: Duration) {
        self.delay = Some(self.delay.map_or(took, |delay| delay.min(took)));
        let is_faster = |(known, before): (u64, Duration)| per_byte(len, took) < per_byte(known, before);
        if len >= LONG && self.long.is_none_or(is_faster) {
            self.long = Some((len, took));
        }
    }

    /// Whether requests take long, and no answer was long enough to show how long bytes take.
    pub(super) fn lacks_long(&self) -> bool {
        self.delay.is_some_and(|delay| delay >= NOTICED) && self.long.is_none()
    }

    /// Whether reading `len` bytes more is much faster than a request, if so many requests are under way at once. `false` if that
    /// is not known.
    pub(super) fn favours_reading(&self, len: u64, at_once: u32) -> bool {
        let (Some(delay), Some((long, took))) = (self.delay, self.long) else { return false };
        let reading = per_byte(long, took.saturating_sub(delay).max(took / UNSURE)) * float(len);
        delay >= NOTICED && reading * f64::from(FASTER) < delay.as_secs_f64() / f64::from(at_once.max(1))
    }
}

/// Seconds that a byte takes.
fn per_byte(len: u64, took: Duration) -> f64 {
    took.as_secs_f64() / float(len.max(1))
}

/// A length, which counts as 4 GiB if it is longer.
fn float(len: u64) -> f64 {
    f64::from(u32::try_from(len).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that answers after `delay` milliseconds, with so many bytes a second.
    fn pace(delay: u64, rate: f64) -> Pace {
        let mut pace = Pace::default();
        for len in [64 << 10, 20 << 10, 1 << 20] {
            pace.take(len, Duration::from_millis(delay) + Duration::from_secs_f64(float(len) / rate));
        }
        pace
    }

    #[test]
    fn bytes_are_read_where_requests_take_long_and_bytes_do_not() {
        let rows = [
            // Milliseconds, bytes a second, bytes of a message, requests at once, whether it is read.
            (50, 1e7, 1_000_000, 1, false),
            (50, 1e9, 1_000_000, 1, true),
            (50, 1e9, 1_000_000, 10, false),
            (50, 1e9, 100_000, 10, true),
            (0, 1e9, 100_000, 1, false),
        ];
        for (delay, rate, len, at_once, is_read) in rows {
            assert_eq!(pace(delay, rate).favours_reading(len, at_once), is_read, "{delay} {rate} {len} {at_once}");
        }
    }

    #[test]
    fn what_was_not_measured_favours_nothing() {
        let mut pace = Pace::default();
        assert!(!pace.lacks_long() && !pace.favours_reading(1, 1));
        pace.take(1000, Duration::from_millis(50));
        assert!(pace.lacks_long() && !pace.favours_reading(1, 1));
    }
}
