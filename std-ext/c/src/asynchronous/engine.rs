//! The threads of this process that do asynchronous work, and the tasks that run on them.

use std::mem;
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use super::pool::Pool;
use super::task::Group;
use crate::error::{Failure, IO, Report, Result, invalid};
use crate::locks::lock;

/// More threads than that are a mistake.
const MOST_THREADS: u32 = 1024;

/// Numbers of threads.
#[derive(Clone, Copy)]
struct Threads {
    /// They drive requests and timers.
    workers: usize,
    /// They read local files and decode.
    blocking: usize,
    /// They run callbacks.
    dispatchers: usize,
}

impl Threads {
    /// The numbers that the caller asks for; 0 stands for the default.
    fn new(workers: u32, dispatchers: u32) -> Self {
        let processors = available_parallelism().map_or(2, usize::from);
        let or = |number: u32, default: usize| usize::try_from(number).ok().filter(|n| *n > 0).unwrap_or(default);
        Self {
            workers: or(workers, processors.min(8)),
            blocking: processors.saturating_mul(4).saturating_add(16),
            dispatchers: or(dispatchers, processors.min(4)),
        }
    }
}

/// The threads of a process, and its tasks.
pub(super) struct Engine {
    /// The number of the process.
    process: u32,
    state: Mutex<State>,
    /// All tasks that have not ended.
    pub(super) tasks: Arc<Group>,
    pub(super) pool: Pool,
}

#[derive(Default)]
struct State {
    /// The numbers of threads, once they are set or used.
    threads: Option<Threads>,
    stage: Stage,
}

#[derive(Default)]
enum Stage {
    /// The runtime starts with the first task.
    #[default]
    New,
    Running(Runtime),
    /// It was shut down.
    Ended,
}

impl State {
    fn threads(&mut self) -> Threads {
        *self.threads.get_or_insert_with(|| Threads::new(0, 0))
    }
}

/// The engine of this process. It lives until the process ends.
///
/// A forked process has none of the threads of its parent, so it gets an engine of its own.
pub(super) fn engine() -> &'static Engine {
    static ENGINE: Mutex<Option<&'static Engine>> = Mutex::new(None);
    let process = std::process::id();
    let mut slot = lock(&ENGINE);
    match *slot {
        Some(engine) if engine.process == process => engine,
        _ => {
            let engine = Engine { process, state: Mutex::default(), tasks: Arc::default(), pool: Pool::default() };
            slot.insert(Box::leak(Box::new(engine)))
        }
    }
}

/// The failure of a launch after the end.
pub(super) fn has_ended() -> Failure {
    Report::new(IO, "runtime has been shut down").into()
}

impl Engine {
    /// Sets the numbers of threads, once and before the first task.
    ///
    /// # Errors
    /// `TGM_ERROR_INVALID_ARG` if a number is out of range, or if they were set before.
    pub(super) fn configure(&self, workers: u32, dispatchers: u32) -> Result<()> {
        for (number, what) in [(workers, "workers"), (dispatchers, "dispatcher_workers")] {
            if number > MOST_THREADS {
                return Err(invalid(format!("{what} is {number}: at most {MOST_THREADS} are possible")));
            }
        }
        let mut state = lock(&self.state);
        if state.threads.is_some() || !matches!(state.stage, Stage::New) {
            return Err(invalid("runtime already configured or built"));
        }
        state.threads = Some(Threads::new(workers, dispatchers));
        Ok(())
    }

    /// The runtime, which starts if it has not yet.
    ///
    /// # Errors
    /// `TGM_ERROR_IO` after the shutdown, and if the system gives no threads. The next call tries again then.
    pub(super) fn runtime(&self) -> Result<Handle> {
        let mut state = lock(&self.state);
        match &state.stage {
            Stage::Running(runtime) => return Ok(runtime.handle().clone()),
            Stage::Ended => return Err(has_ended()),
            Stage::New => {}
        }
        let threads = state.threads();
        let built = Builder::new_multi_thread()
            .worker_threads(threads.workers)
            .max_blocking_threads(threads.blocking)
            .thread_name("tensogram-async")
            .enable_all()
            .build()
            .map_err(|error| no_threads(&error))?;
        let handle = built.handle().clone();
        state.stage = Stage::Running(built);
        Ok(handle)
    }

    /// Starts the threads that run callbacks, if they have not yet.
    ///
    /// # Errors
    /// `TGM_ERROR_IO` if the system gives no threads.
    pub(super) fn start_pool(&'static self) -> Result<()> {
        let threads = lock(&self.state).threads();
        self.pool.start(threads.dispatchers).map_err(|error| no_threads(&error))
    }

    /// Refuses new tasks, waits for the others, and cancels what is left then. Returns how many these are. Threads that
    /// wait for the system are not waited for.
    pub(super) fn shut_down(&self, at_most: Duration) -> u64 {
        self.tasks.close();
        let before = mem::replace(&mut lock(&self.state).stage, Stage::Ended);
        let Stage::Running(runtime) = before else { return 0 };
        self.tasks.wait_until_empty(at_most);
        let left = self.tasks.cancel();
        runtime.shutdown_background();
        left
    }
}

fn no_threads(error: &std::io::Error) -> Failure {
    Report::new(IO, format!("cannot start threads for asynchronous calls: {error}")).into()
}
