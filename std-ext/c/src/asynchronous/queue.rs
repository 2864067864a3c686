//! What is written to one message, in the order of launches.
//!
//! A thread works as long as calls wait. A call that has ended before its turn, because it was cancelled or took too long,
//! is passed over. A call whose turn has come writes all that it has to write, also if its task ends meanwhile. So a
//! frame is written whole or not at all.

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::sync::{Arc, Mutex};

use tgm_std::StreamingEncoder;
use tokio::runtime::Handle;

use super::engine::has_ended;
use super::launch::boxed;
use super::task::Task;
use crate::call::caught;
use crate::error::{Report, Result};
use crate::locks::lock;

/// The message; `None` after its end.
pub(super) type Open = Option<StreamingEncoder<BufWriter<File>>>;

/// What a call does with the message.
type Write = Box<dyn FnOnce(&mut Open) -> Result<()> + Send>;

/// The calls for one message.
pub(super) struct Queue {
    state: Mutex<State>,
}

struct State {
    /// The thread has it while it works.
    message: Open,
    /// Whether a thread works, or will.
    is_busy: bool,
    waiting: VecDeque<Call>,
}

impl State {
    /// The next call whose task has not ended, and the message for it. Without one the work is done.
    fn begin_next(&mut self) -> Option<(Call, Open)> {
        while let Some(call) = self.waiting.pop_front() {
            if !call.task.is_ready() {
                return Some((call, self.message.take()));
            }
        }
        self.is_busy = false;
        None
    }
}

/// A call that waits for its turn.
struct Call {
    task: Arc<Task>,
    write: Write,
}

/// What can be said of a message at once.
pub(super) enum Progress {
    /// Calls wait or are under way.
    Busy,
    Finished,
    /// The number of objects that were written.
    Objects(usize),
}

impl Queue {
    pub(super) fn new(message: StreamingEncoder<BufWriter<File>>) -> Arc<Self> {
        let state = State { message: Some(message), is_busy: false, waiting: VecDeque::new() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Adds a call, which the task ends with.
    pub(super) fn push(
        self: &Arc<Self>,
        task: Arc<Task>,
        runtime: &Handle,
        write: impl FnOnce(&mut Open) -> Result<()> + Send + 'static,
    ) {
        let mut state = lock(&self.state);
        state.waiting.push_back(Call { task, write: Box::new(write) });
        if !state.is_busy {
            state.is_busy = true;
            drop(state);
            let work = Work(Some(Arc::clone(self)));
            runtime.spawn_blocking(move || work.run());
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let state = lock(&self.state);
        match &state.message {
            _ if state.is_busy => Progress::Busy,
            None => Progress::Finished,
            Some(message) => Progress::Objects(message.object_count()),
        }
    }

    /// Makes all calls that wait.
    fn work(&self) {
        let mut next = lock(&self.state).begin_next();
        while let Some((call, mut message)) = next {
            let outcome = caught(|| (call.write)(&mut message)).unwrap_or_else(|| {
                // Nobody knows what was written.
                message = None;
                Err(Report::internal().into())
            });
            next = {
                let mut state = lock(&self.state);
                state.message = message;
                state.begin_next()
            };
            // Who learns of the end can ask for the number of objects.
            call.task.settle(boxed(outcome));
        }
    }

    /// Ends all calls, because there is no thread for them.
    fn abandon(&self) {
        let calls = {
            let mut state = lock(&self.state);
            state.is_busy = false;
            std::mem::take(&mut state.waiting)
        };
        for call in calls {
            call.task.settle(Err(has_ended()));
        }
    }
}

/// The work of a queue's thread. A runtime that is shut down drops it instead.
struct Work(Option<Arc<Queue>>);

impl Work {
    fn run(mut self) {
        if let Some(queue) = self.0.take() {
            queue.work();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(queue) = &self.0 {
            queue.abandon();
        }
    }
}
