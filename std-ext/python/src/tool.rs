//! The command `tgm`: as the program, and as one command within a program of Python.

use std::ffi::OsString;
use std::panic::catch_unwind;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use tgm_tool::Said;

use crate::convert::arguments::items;
use crate::convert::buffers::{Bytes, Reads};
use crate::work::detached;

/// The exit code of a panic, as a program of Rust has it.
const PANICKED: u8 = 101;

/// Adds the functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__has_netcdf__", cfg!(feature = "netcdf"))?;
    module.add_function(wrap_pyfunction!(_run_tool, module)?)?;
    module.add_function(wrap_pyfunction!(_call_tool, module)?)?;
    module.add_function(wrap_pyfunction!(_joined, module)?)
}

/// Runs the program with this command line, and gives its exit code. The process is for it alone.
#[pyfunction]
fn _run_tool(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    // The panic was printed.
    py.detach(|| catch_unwind(|| tgm_tool::run(arguments)).unwrap_or(PANICKED))
}

/// Runs a command: what it remarks, and what failed.
///
/// # Errors
/// `ValueError` for a wrong command line.
#[pyfunction]
fn _call_tool(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<(Vec<String>, Vec<String>)> {
    let Said { remarks, problems } = detached(py, || tgm_tool::call(arguments))?.map_err(PyValueError::new_err)?;
    Ok((remarks, problems))
}

/// The bytes of messages, one after the other.
///
/// # Errors
/// `TypeError` for what is not bytes; of a path it says how the file is converted.
#[pyfunction]
fn _joined(messages: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if messages.is_instance_of::<PyString>() || messages.hasattr("__fspath__")? {
        return Err(PyTypeError::new_err(
            "argument 'messages': messages are expected, not a path: `tgm.convert(\"a.tgm\", \"a.nc\")` converts a file, as the \
             command `tgm convert a.tgm -o a.nc` does, and so does `tgm.open_dataset(path).to_netcdf(…)`",
        ));
    }
    let parts = items(messages, "messages", |message| {
        Bytes::borrow(message, "messages")?.run(message.py(), Reads::All, <[u8]>::to_vec)
    })?;
    Ok(parts.concat())
}
