//! Digests.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::buffers::{Reads, strictly_bytes};

/// The digest of bytes: 16 lower-case hexadecimal digits.
///
/// `data` is `bytes` or `bytearray`; `algo` is "xxh3". Raises TypeError for other data, and ValueError for another
/// name.
///
/// >>> import tgmio as tgm
/// >>> tgm.compute_hash(b"hello world")
/// 'd447b1ea40e6988b'
#[pyfunction]
#[pyo3(signature = (data, algo="xxh3"))]
pub(crate) fn compute_hash(py: Python<'_>, data: &Bound<'_, PyAny>, algo: &str) -> PyResult<String> {
    let data = strictly_bytes(data, "data")?;
    if !matches!(algo, "xxh3" | "none") {
        return Err(PyValueError::new_err(format!("MetadataError: unknown hash type: {algo:?} (expected 'xxh3')")));
    }
    data.run(py, Reads::All, tgm_std::hash::compute_hash)
}
