//! Queries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tgm_std::metadata::query::Query;

/// A query by its text.
///
/// # Errors
/// `ValueError` with the place of the mistake.
pub(crate) fn query(text: &str) -> PyResult<Query> {
    text.parse().map_err(|error| PyValueError::new_err(format!("query {text:?}: {error}")))
}
