//! The messages of a file, one after the other.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use tgm_std::DecodeOptions;
use tgm_std::file::FileMessageIter;

use crate::errors::{Place, exception};
use crate::message;
use crate::work::detached;

/// Iterates over the messages that a file had when the iteration began. `len` is the number of messages to come.
///
/// It keeps the file open by itself. Several threads may take messages from one iterator: each message is given once.
#[pyclass(frozen, module = "tgm")]
#[derive(Debug)]
pub(crate) struct TensogramFileIter {
    messages: Mutex<FileMessageIter>,
    count: usize,
}

impl TensogramFileIter {
    pub(crate) fn new(messages: FileMessageIter) -> Self {
        let count = messages.len();
        Self { messages: Mutex::new(messages), count }
    }

    fn remaining(&self, py: Python<'_>) -> usize {
        py.detach(|| self.messages.lock().unwrap_or_else(PoisonError::into_inner).len())
    }
}

#[pymethods]
impl TensogramFileIter {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let next = detached(py, || {
            let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
            let index = self.count.saturating_sub(messages.len());
            let bytes = messages.next();
            drop(messages);
            let decode = |bytes: Vec<u8>| tgm_std::decode(&bytes, &DecodeOptions::default());
            (index, bytes.map(|bytes| bytes.and_then(decode)))
        })?;
        match next {
            (_, None) => Ok(None),
            (index, Some(decoded)) => {
                let decoded = decoded.map_err(|error| exception(py, &error, Place::message(index)))?;
                message::decoded(py, decoded).map(Some)
            }
        }
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.remaining(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let remaining = self.remaining(py);
        format!("TensogramFileIter(position={}, remaining={remaining})", self.count.saturating_sub(remaining))
    }
}
