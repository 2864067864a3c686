//! The command line of the command that runs.
//!
//! It is the process's own in the program `tgm`, and another one in a program that calls the library.

use std::ffi::OsString;
use std::sync::{Mutex, MutexGuard, PoisonError};

static ARGUMENTS: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// A list is replaced as a whole, so a panic elsewhere leaves nothing half done.
fn arguments() -> MutexGuard<'static, Vec<OsString>> {
    ARGUMENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what the command line is. The first word is the name of the program.
pub(crate) fn set(given: impl IntoIterator<Item = OsString>) {
    *arguments() = given.into_iter().collect();
}

/// All words of the command line.
pub(crate) fn all() -> Vec<OsString> {
    arguments().clone()
}
