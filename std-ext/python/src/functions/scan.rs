//! Where messages are.

use std::ffi::OsString;
use std::path::PathBuf;

use numpy::{IntoPyArray as _, PyArrayMethods as _};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyString;
use tgm_std::file::SourceName;
use tgm_std::scan::MessageLayout;

use crate::convert::buffers::{Bytes, Reads};
use crate::errors::raise;
use crate::source::buffer;
use crate::work::detached;

/// The places of the messages in a buffer: a list of tuples `(offset, length)` in bytes.
///
/// Bytes between messages are skipped. A buffer without messages gives an empty list; nothing in the data raises.
///
/// >>> import tgmio as tgm
/// >>> message = tgm.encode({}, [])
/// >>> tgm.scan(b"junk" + message) == [(4, len(message))]
/// True
///
/// With `as_array=True` the result is an array of int64 with a row for each message, which takes less time and memory.
///
/// >>> tgm.scan(message + message, as_array=True)[:, 0].tolist() == [0, len(message)]
/// True
#[pyfunction]
#[pyo3(signature = (buf, *, as_array=false))]
pub(crate) fn scan<'py>(py: Python<'py>, buf: &Bound<'py, PyAny>, as_array: bool) -> PyResult<Bound<'py, PyAny>> {
    let places = places(py, buf)?;
    if !as_array {
        return places.into_bound_py_any(py);
    }
    let numbers = places.iter().flat_map(|&(offset, len)| [offset, len]).map(i64::try_from);
    let flat = numbers.collect::<Result<Vec<_>, _>>()?.into_pyarray(py);
    Ok(flat.reshape([places.len(), 2])?.into_any())
}

/// The places of the messages in a buffer. Other threads run meanwhile.
///
/// # Errors
/// `TypeError` for an object without a buffer of bytes.
pub(crate) fn places(py: Python<'_>, buf: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, usize)>> {
    let bytes = Bytes::borrow(buf, "buf")?;
    if bytes.is_fixed() || bytes.is_small(py) {
        return bytes.run(py, Reads::Parts, tgm_std::scan);
    }
    let archive = buffer::archive(buf, "buf")?;
    let layouts = detached(py, || archive.layouts())?.map_err(raise(py))?;
    let place = |layout: MessageLayout| Some((layout.offset.try_into().ok()?, layout.length.try_into().ok()?));
    Ok(layouts.into_iter().filter_map(place).collect())
}

/// Whether a name is an address in an object store or on a server, and not a path: `http`, `https`, `s3`, `s3a`, `gs`,
/// `az` or `azure`, in upper or lower case, and `://`.
///
/// >>> import tgmio as tgm
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
