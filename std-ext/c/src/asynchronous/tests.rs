//! Tests of what programs in C cannot see or cause.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::mem::MaybeUninit;
use std::sync::Arc;

use tgm_std::{EncodeOptions, GlobalMetadata, StreamingEncoder};

use super::engine::engine;
use super::launch::{AsyncTask, Launch, blocking};
use super::queue::{Progress, Queue};
use super::task::Task;
use super::token::Token;
use crate::error::{CANCELLED, Code, ENCODING, IO, Result, keep};

/// Launches `work` with a token.
fn launched<T: Send + 'static>(token: &mut Token, work: impl Future<Output = Result<T>> + Send + 'static) -> Arc<Task> {
    let mut out = MaybeUninit::<*mut AsyncTask>::uninit();
    // SAFETY: the token and the place of the handle live as long as the call.
    unsafe { Launch::new(token, 0, out.as_mut_ptr()) }
        .and_then(|launch| launch.start(work))
        .unwrap_or_else(|_| panic!());
    // SAFETY: the launch wrote a handle of its own, which is used here only.
    unsafe { Box::from_raw(out.assume_init()) }.0
}

/// The code that a task ends with.
fn code<T: 'static>(task: &Task) -> Code {
    match task.join::<T>("what the test expects") {
        Ok(_) => 0,
        Err(crate::error::Failure::Reported(report)) => keep(report),
        Err(crate::error::Failure::End) => panic!(),
    }
}

/// Waits until something holds.
fn soon(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

fn token() -> Token {
    Token { tasks: Arc::default() }
}

#[test]
fn a_panic_ends_its_task_as_an_error() {
    let mut token = token();
    let at_once = launched::<()>(&mut token, async { panic!("a defect") });
    assert_eq!(code::<()>(&at_once), ENCODING);
    let on_a_thread = launched::<()>(&mut token, blocking(|| panic!("a defect")));
    assert_eq!(code::<()>(&on_a_thread), ENCODING);
}

#[test]
fn a_task_that_ends_leaves_its_groups_and_drops_its_work() {
    let mut token = token();
    let held = Arc::new(());
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let held = Arc::clone(&held);
            launched::<()>(&mut token, async move {
                std::future::pending::<()>().await;
                drop(held);
                Ok(())
            })
        })
        .collect();
    let done = launched(&mut token, async { Ok(7_u64) });
    assert_eq!(code::<u64>(&done), 0);
    // It wakes up who joins it, and leaves then.
    soon(|| token.tasks.len() == 3);
    assert!(waiting[0].cancel() && !waiting[0].cancel());
    assert_eq!(token.tasks.len(), 2);
    assert_eq!(token.tasks.cancel(), 2);
    assert_eq!(token.tasks.len(), 0);
    assert!(waiting.iter().all(|task| code::<()>(task) == CANCELLED));
    let late = launched(&mut token, async { Ok(()) });
    assert_eq!((code::<()>(&late), token.tasks.len()), (CANCELLED, 0));
    // The runtime drops the work.
    soon(|| Arc::strong_count(&held) == 1);
}

#[test]
fn calls_without_a_thread_end() {
    let file = std::io::BufWriter::new(tempfile::tempfile().unwrap());
    let message = StreamingEncoder::new(file, &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    let queue = Queue::new(message);
    let ended = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let runtime = ended.handle().clone();
    ended.shutdown_background();
    let task = Task::new(vec![Arc::clone(&engine().tasks)]);
    queue.push(Arc::clone(&task), &runtime, |_| Ok(()));
    assert_eq!(code::<()>(&task), IO);
    assert!(matches!(queue.progress(), Progress::Objects(0)));
}

#[test]
fn a_call_that_panics_ends_the_message() {
    let file = std::io::BufWriter::new(tempfile::tempfile().unwrap());
    let message = StreamingEncoder::new(file, &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    let queue = Queue::new(message);
    let runtime = engine().runtime().unwrap_or_else(|_| panic!());
    let task = Task::new(Vec::new());
    queue.push(Arc::clone(&task), &runtime, |_| panic!("a defect"));
    assert_eq!(code::<()>(&task), ENCODING);
    assert!(matches!(queue.progress(), Progress::Finished));
}
