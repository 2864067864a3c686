//! Something that takes one call at a time, until a call ends it.

use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::error::{Failure, Result, invalid};

/// A value that is gone after its end. `name` says in errors what it is.
#[derive(Debug)]
pub(crate) struct Turns<T> {
    state: Mutex<Option<T>>,
    name: &'static str,
}

impl<T> Turns<T> {
    pub(crate) const fn new(name: &'static str, value: T) -> Self {
        Self { state: Mutex::new(Some(value)), name }
    }

    /// The failure of any call after the end.
    fn ended(&self) -> Failure {
        invalid(format!("{} already finished", self.name))
    }

    /// The value for one call. A second call meanwhile fails, and does not wait: it may come from a function of the caller that
    /// the first one calls.
    fn lock(&self) -> Result<MutexGuard<'_, Option<T>>> {
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => Ok(state.into_inner()),
            Err(TryLockError::WouldBlock) => Err(invalid(format!("another call uses the {}", self.name))),
        }
    }

    /// Calls `turn` with the value.
    ///
    /// # Errors
    /// `INVALID_ARG` after the end, and while another call goes on; the errors of `turn`.
    pub(crate) fn with<R>(&self, turn: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        turn(self.lock()?.as_mut().ok_or_else(|| self.ended())?)
    }

    /// What `ask` says of the value. `None` after the end, and while another call goes on.
    pub(crate) fn ask<R>(&self, ask: impl FnOnce(&T) -> R) -> Option<R> {
        self.lock().ok()?.as_ref().map(ask)
    }

    /// Ends it with `end`, which gets the value.
    ///
    /// # Errors
    /// As for [`Self::with`].
    pub(crate) fn end<R>(&self, end: impl FnOnce(T) -> Result<R>) -> Result<R> {
        let mut state = self.lock()?;
        // It stays locked: `end` may call a function of the caller, which may call again.
        let value = state.take().ok_or_else(|| self.ended())?;
        end(value)
    }
}
