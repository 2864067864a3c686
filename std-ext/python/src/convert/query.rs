//! Queries.

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use tgm_std::metadata::query::Query;

/// Warns of keys of a query that selected nothing, where `message`, the first that was asked, has keys that may be meant.
///
/// # Errors
/// What the filters of warnings raise; the errors of reading metadata.
pub(crate) fn warn_of_keys(message: &Bound<'_, PyAny>, query: &Query) -> PyResult<()> {
    let py = message.py();
    let keys: Vec<&str> = query.keys().collect();
    py.import(intern!(py, "tgm._asked"))?.call_method1(intern!(py, "warn_of_keys"), (message, keys))?;
    Ok(())
}

/// A query by its text.
///
/// # Errors
/// `ValueError` with the place of the mistake.
pub(crate) fn query(text: &str) -> PyResult<Query> {
    text.parse().map_err(|error| PyValueError::new_err(format!("query {text:?}: {error}")))
}
