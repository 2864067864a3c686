//! Counts of what was read, over all files of a command.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

static METER: Meter = Meter::new();

/// The counts of all shares together.
#[derive(Debug)]
struct Meter {
    done: AtomicU64,
    messages: AtomicU64,
    work: AtomicU64,
    opened: AtomicU64,
    expected: AtomicU64,
    is_endless: AtomicBool,
}

/// The counts at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Bytes up to the present place, over all files.
    pub(super) done: u64,
    /// Bytes of all files; `None` if that is not known.
    pub(super) total: Option<u64>,
    /// Messages up to the present place.
    pub(super) messages: u64,
    /// Bytes of the messages that were read. A file that is read twice counts twice.
    pub(super) work: u64,
    /// The time since the start.
    pub(super) time: Duration,
}

impl Counts {
    /// Bytes in a second.
    #[expect(clippy::cast_precision_loss, reason = "few digits are shown")]
    pub(super) fn rate(&self) -> f64 {
        self.work as f64 / self.time.as_secs_f64().max(1e-3)
    }

    /// Seconds to the end of this pass over the files. `None` if the end or the rate is not known.
    #[expect(clippy::cast_precision_loss, reason = "few digits are shown")]
    pub(super) fn seconds_left(&self) -> Option<f64> {
        let rate = self.rate();
        self.total.filter(|_| rate > 0.0).map(|total| total.saturating_sub(self.done) as f64 / rate)
    }
}

impl Meter {
    const fn new() -> Self {
        Self {
            done: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            work: AtomicU64::new(0),
            opened: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            is_endless: AtomicBool::new(false),
        }
    }

    fn snapshot(&self, time: Duration) -> Counts {
        let total = self.opened.load(Relaxed).max(self.expected.load(Relaxed));
        let total = (total > 0 && !self.is_endless.load(Relaxed)).then_some(total);
        let [done, messages, work] = [&self.done, &self.messages, &self.work].map(|count| count.load(Relaxed));
        Counts { done, total, messages, work, time }
    }

    fn share(&'static self, length: Option<u64>) -> Share {
        match length {
            Some(length) => _ = self.opened.fetch_add(length, Relaxed),
            None => self.is_endless.store(true, Relaxed),
        }
        Share { meter: self, bytes: AtomicU64::new(0), messages: AtomicU64::new(0) }
    }
}

/// The counts now, `time` after the start.
pub(super) fn snapshot(time: Duration) -> Counts {
    METER.snapshot(time)
}

/// Says how many bytes all files of a command have together, before the last of them is opened.
pub(crate) fn expect(bytes: u64) {
    METER.expected.fetch_max(bytes, Relaxed);
}

/// The share of one file: the place that the command has come to.
///
/// A command that begins from the file's start again falls back by what the file had added.
#[derive(Debug)]
pub(crate) struct Share {
    meter: &'static Meter,
    bytes: AtomicU64,
    messages: AtomicU64,
}

impl Share {
    /// The share of a file of `length` bytes, or of a stream whose length is not known.
    pub(crate) fn new(length: Option<u64>) -> Self {
        METER.share(length)
    }

    /// The command takes up `length` bytes at `offset`, after this number of messages.
    pub(crate) fn take_up(&self, offset: u64, length: u64, messages: usize) {
        self.meter.work.fetch_add(length, Relaxed);
        self.come_to(offset, messages);
    }

    /// The command has come to `offset`, after this number of messages.
    pub(crate) fn come_to(&self, offset: u64, messages: usize) {
        move_to(&self.bytes, &self.meter.done, offset);
        move_to(&self.messages, &self.meter.messages, messages as u64);
    }

    /// The command has read `length` bytes more.
    pub(crate) fn advance(&self, length: u64) {
        self.meter.work.fetch_add(length, Relaxed);
        self.meter.done.fetch_add(length, Relaxed);
        self.bytes.fetch_add(length, Relaxed);
    }
}

/// Sets a share's count, and moves the sum of all by the difference, which may be negative.
fn move_to(own: &AtomicU64, sum: &AtomicU64, to: u64) {
    sum.fetch_add(to.wrapping_sub(own.swap(to, Relaxed)), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_fall_back() {
        static METER: Meter = Meter::new();
        let (one, other) = (METER.share(Some(100)), METER.share(Some(50)));
        one.take_up(10, 20, 1);
        one.come_to(30, 2);
        other.advance(5);
        let counts = METER.snapshot(Duration::from_secs(1));
        assert_eq!((counts.done, counts.total, counts.messages, counts.work), (35, Some(150), 2, 25));
        assert!((counts.rate() - 25.0).abs() < 1e-9 && (counts.seconds_left().unwrap() - 4.6).abs() < 1e-9);
        one.take_up(0, 20, 0);
        METER.expected.fetch_max(1000, Relaxed);
        let counts = METER.snapshot(Duration::from_secs(1));
        assert_eq!((counts.done, counts.total, counts.messages, counts.work), (5, Some(1000), 0, 45));
        let _stream = METER.share(None);
        assert_eq!(METER.snapshot(Duration::ZERO).total, None);
    }
}
