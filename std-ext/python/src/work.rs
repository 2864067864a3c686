//! Work without the GIL.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tgm_std::interrupt;

/// Runs `work` while other threads of Python run too. Ctrl-C ends it between two of its parts: messages,
/// objects, blocks of a codec, answers of a server.
///
/// A panic would be a defect of this package. It becomes a `RuntimeError`, because pyo3's own `PanicException` does not
/// derive from `Exception`, and programs would not catch it.
///
/// # Errors
/// `RuntimeError` for a panic; what handlers of signals raise, such as `KeyboardInterrupt`.
pub(crate) fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(|| interrupt::with(is_interrupted, work))));
    match INTERRUPT.take() {
        Some(error) => return Err(error),
        // A signal that came after the last question.
        None => py.check_signals()?,
    }
    result.map_err(|panic| panicked(&*panic))
}

thread_local! {
    /// What a handler of a signal raised while this thread worked.
    static INTERRUPT: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// When this thread asked for signals last.
    static ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Whether a signal, such as that of Ctrl-C, ends the work of this thread. The library asks between its parts
/// and while it waits.
///
/// Asking Python needs the GIL, so it is done a few times in a second. Signals come to the main thread only.
fn is_interrupted() -> bool {
    if !is_time_to_ask() {
        return false;
    }
    Python::attach(|py| {
        let raised = py.check_signals().err();
        let is_raised = raised.is_some();
        INTERRUPT.set(raised);
        is_raised
    })
}

/// Whether this thread asked for signals long enough ago. Then it has to ask now.
fn is_time_to_ask() -> bool {
    const PAUSE: Duration = Duration::from_millis(200);
    let now = Instant::now();
    let is_time = ASKED.get().is_none_or(|asked| now.duration_since(asked) >= PAUSE);
    if is_time {
        ASKED.set(Some(now));
    }
    is_time
}

/// [`detached`] with the GIL kept, for work that is too short to give it away, or whose bytes it guards.
///
/// Ctrl-C ends a row of such calls: `list(tgm.iter_messages(…))` runs no code of Python between them, which would
/// ask for signals.
///
/// # Errors
/// `RuntimeError` for a panic; what handlers of signals raise, such as `KeyboardInterrupt`.
pub(crate) fn attached<R>(py: Python<'_>, work: impl FnOnce() -> R) -> PyResult<R> {
    if is_time_to_ask() {
        py.check_signals()?;
    }
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
