//! The threads that call the functions of callers when tasks have ended.
//!
//! Callers may do anything there, also wait: the runtime goes on meanwhile.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::io;
use std::sync::{Condvar, Mutex};
use std::thread;

use crate::locks::{lock, wait};

/// A `tgm_completion_fn` of C.
pub type CompletionFn = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

/// A function of the caller, and what it is called with.
pub(super) struct Callback {
    function: unsafe extern "C" fn(userdata: *mut c_void),
    userdata: *mut c_void,
}

// SAFETY: the header's contract: the function may be called with its data on any thread.
unsafe impl Send for Callback {}

impl Callback {
    /// `None` without a function. The contract of the header is that of `tgm_async_task_set_completion`.
    pub(super) fn new(function: CompletionFn, userdata: *mut c_void) -> Option<Self> {
        function.map(|function| Self { function, userdata })
    }

    fn call(self) {
        // SAFETY: the header's contract: the function may be called once with its data, on any thread.
        unsafe { (self.function)(self.userdata) };
    }
}

/// Threads that wait for callbacks. They start with the first of them and live as long as the process.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Default)]
struct State {
    has_started: bool,
    waiting: VecDeque<Callback>,
}

impl Pool {
    /// Starts the threads, unless they have started.
    ///
    /// # Errors
    /// The system gives no thread. The next call tries again.
    pub(super) fn start(&'static self, threads: usize) -> io::Result<()> {
        let mut state = lock(&self.state);
        if state.has_started {
            return Ok(());
        }
        for number in 0..threads {
            let started = thread::Builder::new().name(format!("tensogram-dispatch-{number}")).spawn(|| self.work());
            match started {
                Ok(_) => state.has_started = true,
                // One thread is enough.
                Err(_) if state.has_started => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Lets a thread call the function. There is no bound for how many wait.
    pub(super) fn send(&self, callback: Callback) {
        lock(&self.state).waiting.push_back(callback);
        self.filled.notify_one();
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            match state.waiting.pop_front() {
                Some(callback) => {
                    drop(state);
                    callback.call();
                    state = lock(&self.state);
                }
                None => state = wait(&self.filled, state),
            }
        }
    }
}
