//! Points at which long work can be stopped from outside.
//!
//! A caller runs work by [`with`], and gives a function that says whether to stop. Work asks by [`check`] between two
//! blocks, objects or messages. Threads that help with the work ask too: the calling thread, while it waits for them, asks
//! for all. Asking costs the read of a variable of the thread if the work has no watch.
//!
//! ```text
//! calling thread   with(stop) ── check: calls `stop` ── … ── waits for helpers, and calls `stop` meanwhile
//!                                     │ once it says yes                                │
//!                                     ▼                                                 ▼
//! all of them                        a flag, which stays set until `with` ends
//! helper                        Watch::run ── check: reads the flag ── …
//! ```

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{CodecError, Result};

/// Bytes of values between two questions, where work has no parts of its own.
pub const BLOCK: usize = 1 << 20;

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// How work on a thread is stopped.
#[derive(Clone, Debug)]
pub struct Watch {
    /// What the calling thread asks. Helpers have none.
    stop: Option<fn() -> bool>,
    is_stopped: Arc<AtomicBool>,
}

impl Watch {
    /// The watch of this thread, for threads that help it. `None` if the work has no watch.
    pub fn of_this_thread() -> Option<Self> {
        WATCH.with_borrow(|watch| watch.as_ref().map(|watch| Self { stop: None, ..watch.clone() }))
    }

    /// Runs `work` on a thread that helps: it is stopped when the work of the other thread is.
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        /// Puts back what was there before, also after a panic.
        struct Restore(Option<Watch>);
        impl Drop for Restore {
            fn drop(&mut self) {
                WATCH.set(self.0.take());
            }
        }
        let _restore = Restore(WATCH.replace(Some(self)));
        work()
    }
}

/// Runs `work`, which ends with an error between two of its parts if `stop` says so.
///
/// `stop` is called often, on this thread, until it says so once.
pub fn with<R>(stop: fn() -> bool, work: impl FnOnce() -> R) -> R {
    Watch { stop: Some(stop), is_stopped: Arc::default() }.run(work)
}

/// Whether work on this thread can be stopped: then it is worth to cut it into parts.
#[inline]
pub fn is_watched() -> bool {
    WATCH.with_borrow(Option::is_some)
}

/// Whether work on this thread is to end.
#[inline]
pub fn is_stopped() -> bool {
    // `stop` may run programs that come back here, so nothing is borrowed while it runs.
    let Some(Watch { stop, is_stopped }) = WATCH.with_borrow(Clone::clone) else { return false };
    if is_stopped.load(Ordering::Relaxed) {
        return true;
    }
    let is_asked_to = stop.is_some_and(|stop| stop());
    if is_asked_to {
        is_stopped.store(true, Ordering::Relaxed);
    }
    is_asked_to
}

/// Whether work on this thread may go on.
///
/// # Errors
/// [`CodecError::interrupted`] if it is to end.
#[inline]
pub fn check() -> Result<()> {
    if is_stopped() { Err(CodecError::interrupted()) } else { Ok(()) }
}

/// Asks once in a number of steps, for loops whose steps are short.
#[derive(Debug)]
pub struct Pace {
    every: u32,
    left: u32,
}

impl Pace {
    /// A question after each `every` steps.
    pub const fn of(every: u32) -> Self {
        Self { every, left: every }
    }

    /// One step.
    ///
    /// # Errors
    /// As [`check`], if it is time to ask.
    #[inline]
    pub fn step(&mut self) -> Result<()> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.left = self.every;
            return check();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn only_work_within_is_stopped() {
        assert!(check().is_ok() && !is_watched());
        with(
            || true,
            || {
                assert!(check().is_err_and(|error| error.is_interrupted()));
                with(|| false, || assert!(check().is_ok() && is_watched()));
                assert!(check().is_err());
            },
        );
        assert!(check().is_ok());
    }

    #[test]
    fn once_stopped_it_stays_stopped() {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        with(
            || ASKED.fetch_add(1, Ordering::Relaxed) == 1,
            || {
                assert!(check().is_ok());
                assert!(check().is_err() && check().is_err());
            },
        );
        assert_eq!(ASKED.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn helpers_are_stopped_by_the_thread_that_asks() {
        static STOP: AtomicBool = AtomicBool::new(false);
        with(
            || STOP.load(Ordering::Relaxed),
            || {
                let watch = Watch::of_this_thread().expect("work can be stopped");
                std::thread::scope(|scope| {
                    let helper = scope.spawn(|| watch.run(|| while check().is_ok() {}));
                    STOP.store(true, Ordering::Relaxed);
                    assert!(check().is_err());
                    assert!(helper.join().is_ok());
                });
            },
        );
    }

    #[test]
    fn a_pace_asks_once_in_a_while() {
        with(
            || true,
            || {
                let mut pace = Pace::of(3);
                assert_eq!(
                    (0..7).map(|_| pace.step().is_err()).collect::<Vec<_>>(),
                    [false, false, true, false, false, true, false]
                );
            },
        );
    }
}
