//! A file of the library that any number of threads share, and that can be closed.
//!
//! Reads share a gate, and an append has it alone. The gate is only waited for without the GIL, so that a thread that
//! is inside can always go on, and Ctrl-C ends the wait.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tgm_std::{TensogramError, TensogramFile as Library};

use crate::errors::{Place, exception, raise};
use crate::file::origin::Origin;
use crate::gate::Gate;
use crate::work::detached;

/// A file that can be closed.
#[derive(Debug)]
pub(crate) struct Handle {
    origin: Origin,
    gate: Gate,
    /// Taken behind the gate, so it is always free.
    state: RwLock<State>,
}

#[derive(Debug)]
enum State {
    Open(Library),
    /// Left by a `with` statement. The next use opens the file again.
    Left,
    Closed,
}

/// Why something could not be done with a file.
pub(crate) enum Failure {
    Library(TensogramError),
    Closed,
}

impl From<TensogramError> for Failure {
    fn from(error: TensogramError) -> Self {
        Self::Library(error)
    }
}

impl Failure {
    /// The exception.
    pub(crate) fn exception(&self, py: Python<'_>, place: Place) -> PyErr {
        match self {
            Self::Library(error) => exception(py, error, place),
            Self::Closed => PyValueError::new_err("I/O operation on closed file"),
        }
    }
}

impl Handle {
    pub(crate) fn new(origin: Origin, file: Library) -> Self {
        Self { origin, gate: Gate::default(), state: RwLock::new(State::Open(file)) }
    }

    /// How the file was opened.
    pub(crate) const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Reads from the file, without the GIL.
    ///
    /// # Errors
    /// The errors of `read`; `ValueError` for a closed file.
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        place: Place,
        read: impl FnOnce(&Library) -> tgm_std::Result<R> + Send,
    ) -> PyResult<R> {
        detached(py, || self.read_detached(read))?.map_err(|failure| failure.exception(py, place))
    }

    /// Reads from the file, on a thread that does not hold the GIL.
    ///
    /// # Errors
    /// The errors of `read`, and [`Failure::Closed`].
    pub(crate) fn read_detached<R>(&self, read: impl FnOnce(&Library) -> tgm_std::Result<R>) -> Result<R, Failure> {
        loop {
            let pass = self.gate.shared()?;
            match &*self.shared() {
                State::Open(file) => return Ok(read(file)?),
                State::Closed => return Err(Failure::Closed),
                State::Left => {}
            }
            drop(pass);
            self.open_again()?;
        }
    }

    /// Changes the file, without the GIL and without other readers.
    ///
    /// # Errors
    /// The errors of `change`; `ValueError` for a closed file.
    pub(crate) fn change_detached<R>(
        &self,
        change: impl FnOnce(&mut Library) -> tgm_std::Result<R>,
    ) -> Result<R, Failure> {
        let _alone = self.gate.alone()?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Left) {
            *state = State::Open(self.origin.open()?);
        }
        match &mut *state {
            State::Open(file) => Ok(change(file)?),
            _ => Err(Failure::Closed),
        }
    }

    /// Gives the file back to the operating system, after all reads have ended. It stays closed, unless it is only
    /// left.
    pub(crate) fn close(&self, py: Python<'_>, for_good: bool) -> PyResult<()> {
        let closed: tgm_std::Result<()> = detached(py, || {
            let _alone = self.gate.alone()?;
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            if for_good {
                *state = State::Closed;
            } else if matches!(&*state, State::Open(file) if !file.is_remote()) {
                // A source at an address has nothing to give back, and opening it again would cost requests.
                *state = State::Left;
            }
            Ok(())
        })?;
        closed.map_err(raise(py))
    }

    /// Whether the file was closed for good.
    pub(crate) fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        let is_closed = detached(py, || {
            let _shared = self.gate.shared()?;
            Ok(matches!(&*self.shared(), State::Closed))
        })?;
        is_closed.map_err(raise(py))
    }

    fn shared(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_again(&self) -> tgm_std::Result<()> {
        let _alone = self.gate.alone()?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Left) {
            *state = State::Open(self.origin.open()?);
        }
        Ok(())
    }
}
