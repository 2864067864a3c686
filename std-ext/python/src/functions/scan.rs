//! Where messages are.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyString;
use tgm_std::file::SourceName;

use crate::convert::buffers::{Bytes, Reads};

/// The places of the messages in a buffer: a list of tuples `(offset, length)` in bytes.
///
/// Bytes between messages are skipped. A buffer without messages gives an empty list; nothing in the data raises.
///
/// >>> import tgm
/// >>> message = tgm.encode({}, [])
/// >>> tgm.scan(b"junk" + message) == [(4, len(message))]
/// True
#[pyfunction]
pub(crate) fn scan(py: Python<'_>, buf: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, usize)>> {
    Bytes::borrow(buf, "buf")?.run(py, Reads::Parts, tgm_std::scan)
}

/// Whether a name is an address in an object store or on a server, and not a path: `http`, `https`, `s3`, `s3a`, `gs`,
/// `az` or `azure`, in upper or lower case, and `://`.
///
/// >>> import tgm
/// >>> tgm.is_remote_url("s3://bucket/fields.tgm"), tgm.is_remote_url("/data/fields.tgm")
/// (True, False)
#[pyfunction]
pub(crate) fn is_remote_url(source: &Bound<'_, PyString>) -> bool {
    // A path that is not UTF-8 has surrogates, which no address has.
    source.to_str().is_ok_and(tgm_std::file::is_remote_url)
}

/// A path or an address as texts may show it, and whether it begins like an address.
#[pyfunction]
pub(crate) fn _shown(source: PathBuf) -> (OsString, bool) {
    let name = SourceName::of(&source);
    if name.is_address() { (name.to_string().into(), true) } else { (source.into(), false) }
}
