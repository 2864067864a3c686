//! A task: something that is wanted of a source, apart from how its bytes are fetched.

use super::known_bytes::KnownBytes;
use super::missing_ranges::MissingRanges;
use crate::base::error::Result;

/// How far a step of a task has come.
#[derive(Debug)]
pub(crate) enum Progress<T> {
    /// The task is done.
    Done(T),
    /// The step has asked for bytes that it needs.
    Wait,
}

/// Something that is wanted of a source.
///
/// A task does no input and no output. Its steps look at the known bytes. A step ends with the result, or after it has asked
/// for bytes. Who drives the task fetches them in any way, and calls the next step.
pub(crate) trait ReadTask {
    type Output;

    /// Goes on as far as the known bytes allow. Bytes that were known at an earlier step are still
    /// known, but those before [`Self::done_with`].
    ///
    /// # Errors
    /// The errors of what is read.
    fn step(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Progress<Self::Output>>;

    /// The byte before which this task needs nothing any more.
    fn done_with(&self) -> u64 {
        0
    }
}
