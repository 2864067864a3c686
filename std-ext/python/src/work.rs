//! Work without the GIL.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Runs `work` while other threads of Python run too.
///
/// A panic would be a defect of this package. It becomes a `RuntimeError`, because pyo3's own `PanicException` is no
/// `Exception`, and programs would not catch it.
///
/// # Errors
/// `RuntimeError` for a panic.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|panic| panicked(&*panic))
}

/// [`detached`] with the GIL kept, for work that is too short to give it away, or whose bytes it guards.
///
/// # Errors
/// `RuntimeError` for a panic.
pub(crate) fn attached<R>(work: impl FnOnce() -> R) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panicked(&*panic))
}

/// Whether only one thread at a time runs code of Python. In interpreters without the GIL, holding it guards nothing.
pub(crate) fn has_gil(py: Python<'_>) -> bool {
    static HAS_GIL: PyOnceLock<bool> = PyOnceLock::new();
    *HAS_GIL.get_or_init(py, || {
        // Interpreters before 3.13 always have it.
        let asked = py.import("sys").and_then(|sys| sys.call_method0("_is_gil_enabled")?.is_truthy());
        asked.unwrap_or(true)
    })
}

fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    PyRuntimeError::new_err(format!("defect in tgm: {}", text.unwrap_or("panic without a text")))
}
