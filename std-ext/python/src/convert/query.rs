//! Queries.

use std::ffi::CString;

use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use tgm_std::GlobalMetadata;
use tgm_std::metadata::query::Query;

/// Warns of keys of a query that selected nothing, where the metadata of the first message that was asked have keys that may
/// be meant.
///
/// # Errors
/// What the filters of warnings raise.
pub(crate) fn warn_of_keys(py: Python<'_>, metadata: &GlobalMetadata, query: &Query) -> PyResult<()> {
    let Some(hint) = query.hint(metadata) else { return Ok(()) };
    // Keys are the program's, and may hold a NUL.
    let hint = CString::new(hint.replace('\0', "\u{fffd}"))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &hint, 1)
}

/// A query by its text.
///
/// # Errors
/// `ValueError` with the place of the mistake.
pub(crate) fn query(text: &str) -> PyResult<Query> {
    text.parse().map_err(|error| PyValueError::new_err(format!("query {text:?}: {error}")))
}
