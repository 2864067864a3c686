//! Progress of long work, for people at a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::show::output::Manner;

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const PACE: Duration = Duration::from_millis(200);

/// A progress line on standard error, removed when the work ends. Shown on terminals only.
#[derive(Debug)]
pub(crate) struct Progress {
    what: String,
    done: u64,
    total: u64,
    /// The time of the next update. `None` without a terminal.
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// The progress of work called `what`, which has `total` steps of any kind: bytes, objects, messages.
    pub(crate) fn new(what: &str, total: u64, manner: Manner) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let next = (io::stderr().is_terminal() && !is_dumb && !manner.quiet).then(|| Instant::now() + PATIENCE);
        Self { what: crate::show::text::escape(what), done: 0, total, next, is_shown: false }
    }

    /// Adds `steps` finished steps.
    pub(crate) fn advance(&mut self, steps: u64) {
        self.done = self.done.saturating_add(steps);
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + PACE);
            self.is_shown = true;
            // A failure to show progress does not matter.
            let _ = write!(io::stderr(), "\r\x1b[K{}: {} %", self.what, percent(self.done, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn percent(done: u64, total: u64) -> u64 {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    u64::try_from(percent).unwrap_or(100).min(100)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn there_is_never_more_than_all_of_it() {
        assert_eq!([percent(0, 7), percent(1, 3), percent(7, 7), percent(9, 7)], [0, 33, 100, 100]);
        assert_eq!([percent(0, 0), percent(u64::MAX, u64::MAX)], [0, 100]);
    }
}
