//! A task. It ends once. Then each thread that waits for it wakes up, and its function is called.

use std::any::Any;
use std::mem;
use std::sync::{Arc, Condvar, Mutex};

use tokio::task::AbortHandle;

use super::pool::{Callback, Pool};
use crate::error::{CANCELLED, Code, Failure, Report, Result, TIMEOUT, invalid};
use crate::locks::{lock, wait};

mod group;

pub(super) use group::Group;

/// The value of a task that succeeded. Each kind of it is a type.
pub(super) type Value = Box<dyn Any + Send>;

/// The state of a task, which its handle, its work and its groups share.
pub(super) struct Task {
    state: Mutex<State>,
    ended: Condvar,
    groups: Vec<Arc<Group>>,
}

struct State {
    outcome: Outcome,
    completion: Completion,
    /// What runs for the task on the runtime. It is stopped when the task ends.
    running: Vec<AbortHandle>,
}

/// How the task ended.
enum Outcome {
    Pending,
    Ended(Result<Value>),
    /// A join took it.
    Taken,
}

/// The function that is called at the end.
enum Completion {
    None,
    Waiting(Callback, &'static Pool),
    /// It was handed to the pool.
    Sent,
}

impl Task {
    /// A task that will leave these groups when it ends.
    pub(super) fn new(groups: Vec<Arc<Group>>) -> Arc<Self> {
        let state = State { outcome: Outcome::Pending, completion: Completion::None, running: Vec::new() };
        Arc::new(Self { state: Mutex::new(state), ended: Condvar::new(), groups })
    }

    /// Whether the task has ended, in whatever way.
    pub(super) fn is_ready(&self) -> bool {
        !matches!(lock(&self.state).outcome, Outcome::Pending)
    }

    /// Ends the task. Returns whether this was the end: a task that has ended already stays as it is.
    pub(super) fn settle(&self, outcome: Result<Value>) -> bool {
        let mut state = lock(&self.state);
        if !matches!(state.outcome, Outcome::Pending) {
            return false;
        }
        state.outcome = Outcome::Ended(outcome);
        let running = mem::take(&mut state.running);
        let callback = match mem::replace(&mut state.completion, Completion::Sent) {
            Completion::Waiting(callback, pool) => Some((callback, pool)),
            other => {
                state.completion = other;
                None
            }
        };
        drop(state);
        self.ended.notify_all();
        running.iter().for_each(AbortHandle::abort);
        self.leave_groups();
        // Last: the callback may free the task.
        if let Some((callback, pool)) = callback {
            pool.send(callback);
        }
        true
    }

    /// [`Self::settle`] as cancelled.
    pub(super) fn cancel(&self) -> bool {
        self.end_with(CANCELLED, "async task cancelled")
    }

    /// [`Self::settle`] as out of time.
    pub(super) fn time_out(&self) -> bool {
        self.end_with(TIMEOUT, "async task timed out")
    }

    fn end_with(&self, code: Code, text: &str) -> bool {
        self.settle(Err(Report::new(code, text).into()))
    }

    /// Leaves the groups. A task that was added to one after its end does so again.
    pub(super) fn leave_groups(&self) {
        self.groups.iter().for_each(|group| group.remove(self));
    }

    /// Lets something that runs be stopped by the end of the task, which may have come already.
    pub(super) fn stops(&self, running: AbortHandle) {
        let mut state = lock(&self.state);
        if matches!(state.outcome, Outcome::Pending) {
            state.running.push(running);
        } else {
            drop(state);
            running.abort();
        }
    }

    /// Waits for the end, and takes the value. `expected` is the name of its kind.
    ///
    /// # Errors
    /// The error that the task ended with; `TGM_ERROR_INVALID_ARG` if the value was taken before, and if it is of another
    /// kind. It is lost then.
    pub(super) fn join<T: 'static>(&self, expected: &str) -> Result<T> {
        let value = self.take()?.downcast();
        value.map(|value| *value).map_err(|_| invalid(format!("task result type mismatch (expected {expected})")))
    }

    fn take(&self) -> Result<Value> {
        let mut state = lock(&self.state);
        while matches!(state.outcome, Outcome::Pending) {
            state = wait(&self.ended, state);
        }
        match mem::replace(&mut state.outcome, Outcome::Taken) {
            Outcome::Ended(outcome) => outcome,
            Outcome::Pending | Outcome::Taken => Err(consumed()),
        }
    }

    /// Lets a function be called by `pool` when the task has ended. That may be at once.
    ///
    /// # Errors
    /// `TGM_ERROR_INVALID_ARG` if the task has such a function, and if its value was taken.
    pub(super) fn on_completion(&self, callback: Callback, pool: &'static Pool) -> Result<()> {
        let mut state = lock(&self.state);
        if !matches!(state.completion, Completion::None) {
            return Err(invalid("completion callback already registered"));
        }
        match state.outcome {
            Outcome::Taken => Err(consumed()),
            Outcome::Pending => {
                state.completion = Completion::Waiting(callback, pool);
                Ok(())
            }
            Outcome::Ended(_) => {
                state.completion = Completion::Sent;
                drop(state);
                pool.send(callback);
                Ok(())
            }
        }
    }
}

fn consumed() -> Failure {
    invalid("task result already consumed")
}
