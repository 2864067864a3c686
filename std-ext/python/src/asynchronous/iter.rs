//! The class `AsyncTensogramFileIter`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::PyStopAsyncIteration;
use pyo3::prelude::*;
use tgm_std::{DecodeOptions, TensogramFile};

use super::bridge;
use crate::errors::Place;
use crate::message;

/// The messages of a file, one after the other: `async for` takes it.
///
/// Several iterators of one file are independent. `len()` is the number of messages that are left.
#[pyclass(frozen, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct AsyncTensogramFileIter {
    file: Arc<TensogramFile>,
    next: AtomicUsize,
    end: usize,
}

impl AsyncTensogramFileIter {
    /// All `count` messages of `file`.
    pub(super) const fn new(file: Arc<TensogramFile>, count: usize) -> Self {
        Self { file, next: AtomicUsize::new(0), end: count }
    }

    fn position(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl AsyncTensogramFileIter {
    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let forward = |next: usize| (next < self.end).then(|| next.saturating_add(1));
        let Ok(index) = self.next.try_update(Ordering::Relaxed, Ordering::Relaxed, forward) else {
            return bridge::ready(py, Err(PyStopAsyncIteration::new_err(())));
        };
        let file = Arc::clone(&self.file);
        let work = async move { file.decode_message_async(index, &DecodeOptions::default()).await };
        bridge::spawn(py, Place::message(index), work, |py, found| message::decoded(py, found).map(Bound::unbind))
    }

    fn __len__(&self) -> usize {
        self.end.saturating_sub(self.position())
    }

    fn __repr__(&self) -> String {
        format!("AsyncTensogramFileIter(position={}, remaining={})", self.position(), self.__len__())
    }
}
