//! The frame of every function: panics end here, errors become codes.

use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "async")]
use std::{future::Future, future::poll_fn, pin::pin, task::Poll};

use crate::error::{Code, END_OF_ITER, Failure, OK, Report, keep};

/// The result of `work`; `None` if it panicked. A panic of Rust must not reach C, where it would end the process.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// [`caught`] for work that waits in between.
#[cfg(feature = "async")]
pub(crate) async fn caught_later<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    let step = |context: &mut std::task::Context<'_>| match caught(|| work.as_mut().poll(context)) {
        Some(polled) => polled.map(Some),
        None => Poll::Ready(None),
    };
    poll_fn(step).await
}

/// Runs the body of a function that returns a code. An error is kept as the last one of this thread.
pub(crate) fn call(work: impl FnOnce() -> Result<(), Failure>) -> Code {
    match caught(work) {
        Some(Ok(())) => OK,
        Some(Err(Failure::End)) => END_OF_ITER,
        Some(Err(Failure::Reported(report))) => keep(report),
        None => keep(Report::internal()),
    }
}

/// Runs the body of a function that returns a value. Without a value, and after a panic, that is `absent`.
pub(crate) fn get<T>(absent: T, work: impl FnOnce() -> Option<T>) -> T {
    caught(work).flatten().unwrap_or(absent)
}

/// Runs the body of a function that returns nothing.
pub(crate) fn run(work: impl FnOnce()) {
    // A function without a result cannot report a panic.
    let _ = caught(work);
}
