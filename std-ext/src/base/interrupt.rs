//! Points at which long work can be stopped from outside.
//!
//! Work on many objects or messages calls [`check`] between two of them. That reads a variable of the thread, and asks
//! the function that [`with`] was given. Work on several threads is stopped only between those parts that the calling
//! thread does itself.

use std::cell::Cell;
use std::io;

use crate::base::error::{Result, TensogramError};

thread_local! {
    static STOP: Cell<Option<fn() -> bool>> = const { Cell::new(None) };
}

/// Runs `work`, which ends with an error between two objects or messages if `stop` says so.
///
/// The error is [`TensogramError::Io`] of the kind [`io::ErrorKind::Interrupted`]. `stop` is called often, on this
/// thread.
///
/// ```
/// use tgm_std::{DecodeOptions, TensogramError, decode, interrupt};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm")?;
/// let stopped = interrupt::with(|| true, || decode(&bytes, &DecodeOptions::default()));
/// assert!(matches!(stopped, Err(TensogramError::Io(error)) if error.kind() == std::io::ErrorKind::Interrupted));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn with<R>(stop: fn() -> bool, work: impl FnOnce() -> R) -> R {
    /// Puts back what was there before, also after a panic.
    struct Restore(Option<fn() -> bool>);
    impl Drop for Restore {
        fn drop(&mut self) {
            STOP.set(self.0);
        }
    }
    let _restore = Restore(STOP.replace(Some(stop)));
    work()
}

/// Whether work on this thread may go on.
///
/// # Errors
/// [`TensogramError::Io`] if it is to stop.
pub fn check() -> Result<()> {
    match STOP.get() {
        Some(stop) if stop() => Err(TensogramError::Io(io::ErrorKind::Interrupted.into())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_within_is_stopped() {
        assert!(check().is_ok());
        with(
            || true,
            || {
                assert!(check().is_err());
                with(|| false, || assert!(check().is_ok()));
                assert!(check().is_err());
            },
        );
        assert!(check().is_ok());
    }
}
