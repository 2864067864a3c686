//! Pauses between tries.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use object_store::{BackoffConfig, RetryConfig};

use crate::remote::options::Retry;

impl Retry {
    pub(super) fn config(&self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig { init_backoff: self.first_pause, max_backoff: self.longest_pause, base: 2.0 },
            // As many as this machine can count.
            max_retries: usize::try_from(self.max_retries).unwrap_or(usize::MAX),
            retry_timeout: self.within,
        }
    }
}

/// The tries of one request.
pub(super) struct Tries {
    retry: Retry,
    start: Instant,
    failed: u32,
}

impl Tries {
    pub(super) fn new(retry: Retry) -> Self {
        Self { retry, start: Instant::now(), failed: 0 }
    }

    /// How long to wait before the next try, after one failed. `None` if there is no next one. `asked` is what the
    /// server asked to wait.
    pub(super) fn pause(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let Retry { max_retries, first_pause, longest_pause, within } = self.retry;
        // `longest_pause` bounds it.
        let doubled = first_pause.saturating_mul(1_u32.checked_shl(self.failed).unwrap_or(u32::MAX));
        // Here and below: what is beyond the range of the type is beyond every limit.
        self.failed = self.failed.saturating_add(1);
        // A pause differs by up to a half from try to try, so that many clients do not come back at once.
        // 16 bits fit.
        let random = u32::try_from(RandomState::new().hash_one(self.failed) >> 48).unwrap_or_default();
        let jittered = doubled.mul_f64(0.75 + 0.5 * f64::from(random) / 65_536.0);
        let pause = jittered.max(asked.unwrap_or(Duration::ZERO)).min(longest_pause);
        let goes_on = self.failed <= max_retries && self.start.elapsed().saturating_add(pause) <= within;
        goes_on.then_some(pause)
    }

    /// How many tries failed.
    pub(super) const fn failed(&self) -> u32 {
        self.failed
    }

    /// Text of an error: how often it was tried. Empty after one try.
    pub(super) fn text(&self) -> String {
        match self.failed {
            0 | 1 => String::new(),
            tries => format!(" (after {tries} tries in {:.1} s)", self.start.elapsed().as_secs_f64()),
        }
    }
}
