//! The messages of a file, one after the other.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tgm_std::DecodeOptions;
use tgm_std::file::FileMessageIter;

use crate::errors::{Place, exception, raise};
use crate::gate::Gate;
use crate::message;
use crate::work::detached;

/// Iterates over the messages that a file had when the iteration began. `len` is the number of messages to come.
///
/// It keeps the file open by itself. Several threads may take messages from one iterator: each message is given once.
#[pyclass(frozen, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct TensogramFileIter {
    /// Taken behind the gate, so it is always free.
    messages: Mutex<FileMessageIter>,
    gate: Gate,
    count: usize,
}

impl TensogramFileIter {
    pub(crate) fn new(messages: FileMessageIter) -> Self {
        let count = messages.len();
        Self { messages: Mutex::new(messages), gate: Gate::default(), count }
    }

    /// What `ask` says of the messages. Other threads are waited for, which Ctrl-C ends.
    fn with<R: Send>(&self, ask: impl FnOnce(&mut FileMessageIter) -> R) -> tgm_std::Result<R> {
        let _turn = self.gate.alone()?;
        Ok(ask(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn remaining(&self, py: Python<'_>) -> PyResult<usize> {
        detached(py, || self.with(|messages| messages.len()))?.map_err(raise(py))
    }
}

#[pymethods]
impl TensogramFileIter {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = detached(py, || {
            let (left, bytes) = self.with(|messages| (messages.len(), messages.next()))?;
            let index = self.count.saturating_sub(left);
            let decode = |bytes: Vec<u8>| tgm_std::decode(&bytes, &DecodeOptions::default());
            Ok((index, bytes.map(|bytes| bytes.and_then(decode))))
        })?;
        match next.map_err(raise(py))? {
            (_, None) => Ok(None),
            (index, Some(decoded)) => {
                let decoded = decoded.map_err(|error| exception(py, &error, Place::message(index)))?;
                message::decoded(py, decoded).map(Some)
            }
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.remaining(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let remaining = self.remaining(py)?;
        let position = self.count.saturating_sub(remaining);
        Ok(format!("TensogramFileIter(position={position}, remaining={remaining})"))
    }
}
