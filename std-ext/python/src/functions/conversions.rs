//! Conversions from and to GRIB and NetCDF. They need C libraries that this build does not have, so each one raises
//! what `tensogram` raises in a build without them.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert::arguments::{self, items};
use crate::convert::buffers::Bytes;

/// The exception of a conversion that is not compiled in.
fn absent<T>(format: &str, way_out: &str) -> PyResult<T> {
    Err(PyRuntimeError::new_err(format!("tensogram was built without {format} support: {way_out}")))
}

fn no_grib<T>() -> PyResult<T> {
    absent("GRIB", "the command `tgm convert` reads and writes it: `tgm convert x.grib2 -o x.tgm`")
}

fn no_netcdf<T>() -> PyResult<T> {
    absent(
        "NetCDF",
        "the command `tgm convert` reads and writes it: `tgm convert x.nc -o x.tgm`; so does xarray with `tgm.save_dataset` and \
         `tgm.open_dataset(…).to_netcdf`",
    )
}

/// Defines functions that make messages of something else. `name(input; own options) = signature => work`: the other
/// options are the same for all.
macro_rules! conversions {
    ($(
        $(#[$doc:meta])*
        $name:ident($input:ident; $($option:ident: $type:ty = $default:literal),*) = $signature:literal => $work:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (
                    $input, *, $($option = $default,)* encoding="none", bits=None, filter="none", compression="none",
                    compression_level=None, threads=0, hash=Some("xxh3")
                ),
                text_signature = $signature
            )]
            #[allow(clippy::too_many_arguments, unused_variables, reason = "the face of the Python function")]
            pub(crate) fn $name(
                $input: &Bound<'_, PyAny>,
                $($option: $type,)*
                encoding: &str,
                bits: Option<u32>,
                filter: &str,
                compression: &str,
                compression_level: Option<i32>,
                threads: u32,
                hash: Option<&str>,
            ) -> PyResult<Vec<Py<PyAny>>> {
                $work
            }
        )*
    };
}

conversions! {
    /// Converts a file of GRIB messages. Not in this build: raises RuntimeError.
    convert_grib(path; grouping: &str = "merge_all", preserve_all_keys: bool = false) =
        "(path, *, grouping='merge_all', preserve_all_keys=False, encoding='none', bits=None, filter='none', \
         compression='none', compression_level=None, threads=0, hash='xxh3')"
        => arguments::path(path, "path").and_then(|_| no_grib());

    /// Converts a buffer of GRIB messages. Not in this build: raises RuntimeError.
    convert_grib_buffer(buffer; grouping: &str = "merge_all", preserve_all_keys: bool = false) =
        "(buffer, *, grouping='merge_all', preserve_all_keys=False, encoding='none', bits=None, filter='none', \
         compression='none', compression_level=None, threads=0, hash='xxh3')"
        => no_grib();

    /// Converts a NetCDF file. Not in this build: raises RuntimeError.
    convert_netcdf(path; split_by: &str = "file", cf: bool = false) =
        "(path, *, split_by='file', cf=False, encoding='none', bits=None, filter='none', compression='none', \
         compression_level=None, threads=0, hash='xxh3')"
        => arguments::path(path, "path").and_then(|_| no_netcdf());
}

/// Makes GRIB messages of messages. Not in this build: raises RuntimeError.
#[pyfunction]
#[allow(unused_variables, reason = "the face of the Python function")]
pub(crate) fn to_grib(messages: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    self::messages(messages)?;
    no_grib()
}

/// Writes a NetCDF file of messages. Not in this build: raises RuntimeError.
#[pyfunction]
#[allow(unused_variables, reason = "the face of the Python function")]
pub(crate) fn to_netcdf(messages: &Bound<'_, PyAny>, path: &Bound<'_, PyAny>) -> PyResult<()> {
    self::messages(messages)?;
    arguments::path(path, "path").and_then(|_| no_netcdf())
}

/// Checks that each message has bytes.
///
/// # Errors
/// `TypeError` for what is not bytes; of a path it says how the file is converted.
fn messages(messages: &Bound<'_, PyAny>) -> PyResult<()> {
    if messages.is_instance_of::<PyString>() || messages.hasattr("__fspath__")? {
        return Err(PyTypeError::new_err(
            "argument 'messages': messages are expected, not a path: the command `tgm convert a.tgm -o a.nc` (or `-o a.grib2`) \
             converts a file, and so does `tgm.open_dataset(path).to_netcdf(…)`",
        ));
    }
    items(messages, "messages", |message| Bytes::borrow(message, "messages").map(drop)).map(drop)
}
