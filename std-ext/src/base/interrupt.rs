//! Points at which long work can be stopped from outside.
//!
//! Work on many objects or messages calls [`check`] between two of them, codecs call it between blocks, and whoever waits for a
//! source calls it while it waits. The mechanism is [`tgm_codec::interrupt`]; threads that help are stopped too.

use std::io;

use crate::base::error::{Result, TensogramError};

/// Runs `work`, which ends with an error between two of its parts if `stop` says so.
///
/// The error is [`TensogramError::Io`] of the kind [`io::ErrorKind::Interrupted`]. `stop` is called often, on this
/// thread, until it says so once.
///
/// ```
/// use tgm_std::{DecodeOptions, TensogramError, decode, interrupt};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm")?;
/// let stopped = interrupt::with(|| true, || decode(&bytes, &DecodeOptions::default()));
/// assert!(matches!(stopped, Err(TensogramError::Io(error)) if error.kind() == std::io::ErrorKind::Interrupted));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn with<R>(stop: fn() -> bool, work: impl FnOnce() -> R) -> R {
    tgm_codec::interrupt::with(stop, work)
}

/// Whether work on this thread may go on.
///
/// # Errors
/// [`TensogramError::Io`] if it is to stop.
pub fn check() -> Result<()> {
    if tgm_codec::interrupt::is_stopped() {
        return Err(TensogramError::Io(io::ErrorKind::Interrupted.into()));
    }
    Ok(())
}
