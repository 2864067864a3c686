//! What all launches share: their last parameters, and the way from work to a task.

use std::future::Future;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::engine::{engine, has_ended};
use super::task::{Task, Value};
use super::token::Token;
use crate::args::{self, Place};
use crate::call::caught_later;
use crate::error::{Report, Result};

/// A `tgm_async_task_t` of C.
pub struct AsyncTask(pub(super) Arc<Task>);

impl std::fmt::Debug for AsyncTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncTask").field("is_ready", &self.0.is_ready()).finish()
    }
}

/// The last parameters of a launch.
pub(super) struct Launch<'a> {
    token: Option<&'a Token>,
    timeout: Option<Duration>,
    out: Place<'a, *mut AsyncTask>,
}

impl Launch<'_> {
    /// # Safety
    /// The header's contract.
    pub(super) unsafe fn new(cancel: *mut Token, timeout_ms: u64, out_task: *mut *mut AsyncTask) -> Result<Self> {
        // SAFETY: the caller makes the same promise.
        let (token, out) = unsafe { (args::given(cancel)?, args::place(out_task)?) };
        Ok(Self { token, timeout: (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms)), out })
    }

    /// Makes the task and gives its handle to the caller. The task has ended already if its token was cancelled: then
    /// nothing must be started for it.
    ///
    /// # Errors
    /// The errors of the runtime. There is no task then.
    pub(super) fn task(self) -> Result<(Arc<Task>, Handle)> {
        let engine = engine();
        let runtime = engine.runtime()?;
        let token = self.token.map(|token| &token.tasks);
        let task = Task::new(iter::once(&engine.tasks).chain(token).cloned().collect());
        if !engine.tasks.add(&task) {
            return Err(has_ended());
        }
        if token.is_some_and(|tasks| !tasks.add(&task)) {
            task.cancel();
        }
        if task.is_ready() {
            // It may have ended before it was in its last group.
            task.leave_groups();
        } else if let Some(timeout) = self.timeout {
            let late = Arc::clone(&task);
            let timer = runtime.spawn(async move {
                sleep(timeout).await;
                late.time_out();
            });
            task.stops(timer.abort_handle());
        }
        self.out.put_handle(AsyncTask(Arc::clone(&task)));
        Ok((task, runtime))
    }

    /// Starts `work`, whose result the task ends with. It is dropped if the task ends before.
    ///
    /// # Errors
    /// The errors of [`Self::task`].
    pub(super) fn start<T: Send + 'static>(self, work: impl Future<Output = Result<T>> + Send + 'static) -> Result<()> {
        let (task, runtime) = self.task()?;
        let worker = Arc::clone(&task);
        let running = runtime.spawn(async move {
            if !worker.is_ready() {
                let outcome = caught_later(work).await;
                worker.settle(boxed(outcome.unwrap_or_else(|| Err(Report::internal().into()))));
            }
        });
        task.stops(running.abort_handle());
        Ok(())
    }
}

/// A result as a task ends with it.
pub(super) fn boxed<T: Send + 'static>(result: Result<T>) -> Result<Value> {
    result.map(|value| Box::new(value) as Value)
}

/// Runs `work` on a thread that may block. If the task ends meanwhile, it goes on and its result is dropped.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_cancelled() => Err(has_ended()),
        Err(_) => Err(Report::internal().into()),
    }
}
