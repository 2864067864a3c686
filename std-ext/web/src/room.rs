//! Memory for values, and how they are decoded.

use tgm_dataset::Indices;
use tgm_std::{DecodeOptions, TensogramError};

use crate::failure::Failure;

/// The options of decoding: a module has one thread.
pub(crate) fn decoding() -> DecodeOptions {
    DecodeOptions { threads: 1, ..DecodeOptions::default() }
}

/// How many values are picked.
///
/// # Errors
/// [`TensogramError::Object`] if they do not fit into memory.
pub(crate) fn count_of(picks: &[Indices]) -> Result<usize, Failure> {
    let count = picks.iter().try_fold(1_u64, |all, pick| all.checked_mul(pick.count()));
    count.and_then(|count| usize::try_from(count).ok()).ok_or_else(too_many)
}

/// The error for want of memory.
pub(crate) fn too_many() -> Failure {
    TensogramError::Object("these are more values than there is memory for".into()).into()
}

/// A zero for each value that is picked.
///
/// # Errors
/// [`TensogramError::Object`] if they do not fit into memory.
pub(crate) fn zeros<T: Clone + Default>(picks: &[Indices]) -> Result<Vec<T>, Failure> {
    let count = count_of(picks)?;
    let mut values: Vec<T> = Vec::new();
    values.try_reserve_exact(count).map_err(|_| too_many())?;
    values.resize(count, T::default());
    Ok(values)
}
