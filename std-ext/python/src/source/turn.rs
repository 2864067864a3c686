//! Turns of threads at an object of Python that reads.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tgm_std::Result;

use crate::gate::Gate;

/// One call of `read` at a time. A `read` that asks the reader that called it would wait for itself forever: that is
/// found by its thread.
#[derive(Debug, Default)]
pub(super) struct Turn {
    gate: Gate,
    holder: Mutex<Option<ThreadId>>,
}

impl Turn {
    /// Checks that this thread is not within [`Self::take`].
    ///
    /// # Errors
    /// `RuntimeError` if it is.
    pub(super) fn refuse_reentry(&self) -> PyResult<()> {
        if *self.holder() == Some(thread::current().id()) {
            return Err(PyRuntimeError::new_err("read uses the reader that called it"));
        }
        Ok(())
    }

    /// Does `work` when it is this thread's turn.
    ///
    /// # Errors
    /// The wait for it is interrupted.
    pub(super) fn take<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let _turn = self.gate.alone()?;
        *self.holder() = Some(thread::current().id());
        let _end = End(self);
        Ok(work())
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a turn, also by a panic.
struct End<'a>(&'a Turn);

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.0.holder() = None;
    }
}
