//! The threads that asynchronous calls run on.

use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// Threads that drive requests. They mostly wait, so two serve many.
const WORKERS: usize = 2;
/// Threads that read local files, decode, and hand results over, beside two for each processor.
const BLOCKING: usize = 4;

/// The runtime, and the process that its threads belong to.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Whether the interpreter ends. A thread holds the lock for reading while it hands a result over, so that the end
/// waits for it.
static ENDED: RwLock<bool> = RwLock::new(false);

/// The runtime of this process. It starts with the first call, and runs until the process ends.
///
/// A forked process has none of the threads of its parent, so it gets a runtime of its own. The parent's is leaked
/// there: its threads cannot be joined.
///
/// # Errors
/// `RuntimeError` if the system gives no threads, and if the interpreter ends, because the result could not be
/// delivered.
pub(super) fn runtime(py: Python<'_>) -> PyResult<&'static Runtime> {
    // Waiting for the lock with the GIL held could wait for itself.
    if !ENDED.try_read().is_ok_and(|ended| !*ended) {
        return Err(PyRuntimeError::new_err("cannot start an asynchronous call: the interpreter ends"));
    }
    let process = std::process::id();
    // The lock is held shortly, and never while Python runs.
    let found = *RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, runtime)) = found
        && owner == process
    {
        return Ok(runtime);
    }
    let atexit = py.import("atexit")?;
    atexit.call_method1("register", (pyo3::wrap_pyfunction!(_end, py)?,))?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let built = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(threads.saturating_mul(2).saturating_add(BLOCKING))
        .thread_name("tgm-async")
        .enable_all()
        .build();
    let built: &'static Runtime =
        Box::leak(Box::new(built.map_err(|error| {
            PyRuntimeError::new_err(format!("cannot start threads for asynchronous calls: {error}"))
        })?));
    let mut slot = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    match *slot {
        // Another thread was faster.
        Some((owner, runtime)) if owner == process => Ok(runtime),
        _ => {
            *slot = Some((process, built));
            Ok(built)
        }
    }
}

/// A guard that keeps the interpreter from ending; None if it ends already.
pub(super) fn keep_interpreter() -> Option<RwLockReadGuard<'static, bool>> {
    let guard = ENDED.read().unwrap_or_else(PoisonError::into_inner);
    (!*guard).then_some(guard)
}

/// Waits for results that are being handed over, and refuses all others. Python calls it before the interpreter ends,
/// because a thread that asks for the GIL later does not come back.
#[pyfunction]
fn _end(py: Python<'_>) {
    py.detach(|| *ENDED.write().unwrap_or_else(PoisonError::into_inner) = true);
}
