//! Waiting for other threads, which Ctrl-C ends.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tgm_std::{Result, interrupt};

/// How long a thread waits before it asks again whether it is interrupted.
const PAUSE: Duration = Duration::from_millis(50);

/// A gate that lets many threads in together, or one alone. It is only waited for without the GIL.
///
/// What it guards stays behind a lock of its own, which then is free: this one only makes that the wait can end.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    inside: Mutex<Inside>,
    left: Condvar,
}

/// Who is inside, and who waits.
#[derive(Debug, Default)]
struct Inside {
    together: usize,
    is_alone: bool,
    /// Threads that want to be alone. New ones that share wait for them.
    waiting: usize,
}

/// A place behind the gate, until this is dropped.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    gate: &'a Gate,
    is_alone: bool,
}

impl Gate {
    /// Waits until no thread has the gate for itself.
    ///
    /// # Errors
    /// The wait is interrupted.
    pub(crate) fn shared(&self) -> Result<Pass<'_>> {
        let mut inside = self.inside();
        while inside.is_alone || inside.waiting > 0 {
            inside = self.pause(inside)?;
        }
        inside.together = inside.together.saturating_add(1);
        Ok(Pass { gate: self, is_alone: false })
    }

    /// Waits until every thread has left.
    ///
    /// # Errors
    /// The wait is interrupted.
    pub(crate) fn alone(&self) -> Result<Pass<'_>> {
        let mut inside = self.inside();
        inside.waiting = inside.waiting.saturating_add(1);
        while inside.is_alone || inside.together > 0 {
            inside = self.pause(inside).inspect_err(|_| {
                let mut inside = self.inside();
                inside.waiting = inside.waiting.saturating_sub(1);
                drop(inside);
                self.left.notify_all();
            })?;
        }
        inside.waiting = inside.waiting.saturating_sub(1);
        inside.is_alone = true;
        Ok(Pass { gate: self, is_alone: true })
    }

    /// Waits until somebody leaves, or for a while.
    fn pause<'a>(&'a self, inside: MutexGuard<'a, Inside>) -> Result<MutexGuard<'a, Inside>> {
        let (inside, _) = self.left.wait_timeout(inside, PAUSE).unwrap_or_else(PoisonError::into_inner);
        // Whoever asks may run code of Python, so nothing is locked meanwhile.
        drop(inside);
        interrupt::check()?;
        Ok(self.inside())
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut inside = self.gate.inside();
        if self.is_alone {
            inside.is_alone = false;
        } else {
            inside.together = inside.together.saturating_sub(1);
        }
        drop(inside);
        self.gate.left.notify_all();
    }
}
