//! Awaitables of a loop that work on other threads ends.
//!
//! ```text
//! the loop's thread                    threads of the runtime
//! spawn: makes a Call  ──────────────► work, without the GIL
//! await                                hand over: the result becomes a Python object, with the GIL
//!   │  settle  ◄──────────────────────  loop.call_soon_threadsafe
//! result
//! ```
//!
//! A loop that is closed by then gets nothing, and nothing is printed. A call that was cancelled drops its result.

use std::future::Future;

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tgm_std::Result;

use super::runtime::{keep_interpreter, runtime};
use crate::errors::{Place, exception};

/// The module of Python with the class of awaitables.
const MODULE: &str = "tgmio._call";

/// An awaitable of the running loop, and what ends it.
struct Pending {
    event_loop: Py<PyAny>,
    future: Py<PyAny>,
    settle: Py<PyAny>,
}

/// Starts `work`, and gives an awaitable of its result, which `convert` makes a Python object.
///
/// # Errors
/// `RuntimeError` ("no running event loop") outside of a loop.
pub(super) fn spawn<T: Send + 'static>(
    py: Python<'_>,
    place: Place,
    work: impl Future<Output = Result<T>> + Send + 'static,
    convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let (call, pending) = pending(py)?;
    let runtime = runtime(py)?;
    runtime.spawn(async move {
        // A task of its own, so that a panic ends in its result.
        let worked = tokio::spawn(work).await;
        // Waiting for the GIL blocks, which the threads that drive requests must not.
        tokio::task::spawn_blocking(move || {
            hand_over(&pending, |py| match worked {
                Ok(Ok(value)) => convert(py, value),
                Ok(Err(error)) => Err(exception(py, &error, place)),
                Err(error) => Err(PyRuntimeError::new_err(format!("defect in tgm: {error}"))),
            });
        });
    });
    Ok(call)
}

/// An awaitable that has its result already.
///
/// # Errors
/// The errors of [`spawn`].
pub(super) fn ready(py: Python<'_>, result: PyResult<Py<PyAny>>) -> PyResult<Bound<'_, PyAny>> {
    let (call, pending) = pending(py)?;
    let (value, error) = both(py, result);
    pending.settle.call1(py, (pending.future, value, error))?;
    Ok(call)
}

fn pending(py: Python<'_>) -> PyResult<(Bound<'_, PyAny>, Pending)> {
    static RUNNING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static CALL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static SETTLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let event_loop = RUNNING.import(py, "asyncio", "get_running_loop")?.call0()?;
    let future = event_loop.call_method0(intern!(py, "create_future"))?;
    let call = CALL.import(py, MODULE, "Call")?.call1((&future,))?;
    let settle = SETTLE.import(py, MODULE, "settle")?.clone().unbind();
    Ok((call, Pending { event_loop: event_loop.unbind(), future: future.unbind(), settle }))
}

/// Makes the result with the GIL held and ends the awaitable with it. Does nothing if the awaitable was cancelled, or
/// if its loop is closed.
fn hand_over(pending: &Pending, make: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>) {
    let Some(_guard) = keep_interpreter() else { return };
    Python::try_attach(|py| {
        let is_gone = |name, object: &Py<PyAny>| {
            object.bind(py).call_method0(name).and_then(|gone| gone.is_truthy()).unwrap_or(true)
        };
        if is_gone(intern!(py, "done"), &pending.future) || is_gone(intern!(py, "is_closed"), &pending.event_loop) {
            return;
        }
        let (value, error) = both(py, make(py));
        let arguments = (&pending.settle, &pending.future, value, error);
        // The loop may have been closed since. That is an error here, but nothing waits for the result.
        let _ = pending.event_loop.bind(py).call_method1(intern!(py, "call_soon_threadsafe"), arguments);
    });
}

/// A result as the two arguments of `settle`.
fn both(py: Python<'_>, result: PyResult<Py<PyAny>>) -> (Py<PyAny>, Option<Py<PyAny>>) {
    match result {
        Ok(value) => (value, None),
        Err(error) => (py.None(), Some(error.into_value(py).into_any())),
    }
}
