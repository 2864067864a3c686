//! Conversions from and to GRIB and NetCDF. They need C libraries that this build does not have, so each one raises what
//! `tensogram` raises in a build without them.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::convert::arguments::path_text;

fn no_grib() -> PyErr {
    PyRuntimeError::new_err(
        "tensogram was built without GRIB support: convert the file with another program, such as ecCodes and numpy, \
         and encode its arrays",
    )
}

fn no_netcdf() -> PyErr {
    PyRuntimeError::new_err(
        "tensogram was built without NetCDF support: open the file with another package, such as netCDF4 or xarray, \
         and encode its arrays",
    )
}

/// Converts a file of GRIB messages. Not in this build: raises RuntimeError.
#[pyfunction]
#[pyo3(
    signature = (
        path, *, grouping="merge_all", preserve_all_keys=false, encoding="none", bits=None, filter="none",
        compression="none", compression_level=None, threads=0, hash=Some("xxh3")
    ),
    text_signature = "(path, *, grouping='merge_all', preserve_all_keys=False, encoding='none', bits=None, \
                      filter='none', compression='none', compression_level=None, threads=0, hash='xxh3')"
)]
#[allow(clippy::too_many_arguments, unused_variables, reason = "the face of the Python function")]
pub(crate) fn convert_grib(
    path: &Bound<'_, PyAny>,
    grouping: &str,
    preserve_all_keys: bool,
    encoding: &str,
    bits: Option<u32>,
    filter: &str,
    compression: &str,
    compression_level: Option<i32>,
    threads: u32,
    hash: Option<&str>,
) -> PyResult<Vec<Py<PyAny>>> {
    path_text(path, "path")?;
    Err(no_grib())
}

/// Converts a buffer of GRIB messages. Not in this build: raises RuntimeError.
#[pyfunction]
#[pyo3(
    signature = (
        buffer, *, grouping="merge_all", preserve_all_keys=false, encoding="none", bits=None, filter="none",
        compression="none", compression_level=None, threads=0, hash=Some("xxh3")
    ),
    text_signature = "(buffer, *, grouping='merge_all', preserve_all_keys=False, encoding='none', bits=None, \
                      filter='none', compression='none', compression_level=None, threads=0, hash='xxh3')"
)]
#[allow(clippy::too_many_arguments, unused_variables, reason = "the face of the Python function")]
pub(crate) fn convert_grib_buffer(
    buffer: &Bound<'_, PyAny>,
    grouping: &str,
    preserve_all_keys: bool,
    encoding: &str,
    bits: Option<u32>,
    filter: &str,
    compression: &str,
    compression_level: Option<i32>,
    threads: u32,
    hash: Option<&str>,
) -> PyResult<Vec<Py<PyAny>>> {
    Err(no_grib())
}

/// Converts a NetCDF file. Not in this build: raises RuntimeError.
#[pyfunction]
#[pyo3(
    signature = (
        path, *, split_by="file", cf=false, encoding="none", bits=None, filter="none", compression="none",
        compression_level=None, threads=0, hash=Some("xxh3")
    ),
    text_signature = "(path, *, split_by='file', cf=False, encoding='none', bits=None, filter='none', \
                      compression='none', compression_level=None, threads=0, hash='xxh3')"
)]
#[allow(clippy::too_many_arguments, unused_variables, reason = "the face of the Python function")]
pub(crate) fn convert_netcdf(
    path: &Bound<'_, PyAny>,
    split_by: &str,
    cf: bool,
    encoding: &str,
    bits: Option<u32>,
    filter: &str,
    compression: &str,
    compression_level: Option<i32>,
    threads: u32,
    hash: Option<&str>,
) -> PyResult<Vec<Py<PyAny>>> {
    path_text(path, "path")?;
    Err(no_netcdf())
}

/// Makes GRIB messages of messages. Not in this build: raises RuntimeError.
#[pyfunction]
#[allow(unused_variables, reason = "the face of the Python function")]
pub(crate) fn to_grib(messages: Vec<Vec<u8>>) -> PyResult<Vec<u8>> {
    Err(no_grib())
}

/// Writes a NetCDF file of messages. Not in this build: raises RuntimeError.
#[pyfunction]
#[allow(unused_variables, reason = "the face of the Python function")]
pub(crate) fn to_netcdf(messages: Vec<Vec<u8>>, path: &Bound<'_, PyAny>) -> PyResult<()> {
    path_text(path, "path")?;
    Err(no_netcdf())
}
