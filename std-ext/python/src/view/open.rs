//! Opening archives, whatever they are in.

use std::path::{Path, PathBuf, absolute};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tgm_std::MappedFile;
use tgm_std::file::SourceName;

use super::archive::Archive;
use super::backing::Backing;
use super::origin::Origin;
use crate::convert::arguments::path;
use crate::convert::buffers::Bytes;
use crate::errors::{Place, of_file};
use crate::file::open::storage_options;
use crate::file::origin::Origin as FileOrigin;
use crate::source::PythonFile;
use crate::work::detached;

/// Opens an archive in what `tgm.open` was given: bytes, a file object, a path or an address. `opened` is what a file
/// object was opened from, if that was done for this call.
///
/// # Errors
/// `TypeError` for other objects; `OSError`; `FramingError` for files of other formats.
#[pyfunction]
#[pyo3(signature = (source, mmap=false, storage_options=None, opened=None))]
pub(crate) fn _open(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    mmap: bool,
    storage_options: Option<&Bound<'_, PyAny>>,
    opened: Option<Py<PyAny>>,
) -> PyResult<Archive> {
    let is_path = source.is_instance_of::<PyString>() || source.hasattr(intern!(py, "__fspath__"))?;
    if is_path {
        return by_path(py, path(source, "source")?, mmap, storage_options);
    }
    let can_read = source.hasattr(intern!(py, "read"))?;
    if (mmap || storage_options.is_some()) && (can_read || is_buffer(source)) {
        let option = if mmap { "mmap" } else { "storage_options" };
        return Err(PyValueError::new_err(format!("argument '{option}': only for paths and addresses")));
    }
    if is_memory_file(source)? {
        let bytes = source.call_method0(intern!(py, "getvalue"))?;
        let backing = Backing::buffer(&bytes)?;
        return checked(py, Origin::Object(source.clone().unbind(), opened), backing);
    }
    // A map of Python is a buffer and has `read`: it is taken as what costs no copy.
    if can_read && !is_buffer(source) {
        let file = PythonFile::new(source)?;
        return checked(py, Origin::Object(source.clone().unbind(), opened), Backing::object(file));
    }
    let backing = Backing::buffer(source).map_err(|error| {
        if !error.is_instance_of::<PyTypeError>(py) {
            return error;
        }
        let class = source.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "argument 'source': a path, an address, bytes or a file object with read and seek is expected, not '{class}'"
        ))
    })?;
    checked(py, Origin::Buffer(source.clone().unbind()), backing)
}

/// Whether a file object holds its bytes in memory, so that they need not be read piece by piece.
fn is_memory_file(source: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = source.py();
    Ok(source.get_type().is(py.import("io")?.getattr(intern!(py, "BytesIO"))?))
}

fn is_buffer(source: &Bound<'_, PyAny>) -> bool {
    Bytes::borrow(source, "source").is_ok()
}

/// Opens the archive that was pickled.
#[pyfunction]
pub(crate) fn _archive_again(
    py: Python<'_>,
    path: PathBuf,
    mmap: bool,
    storage_options: Option<Bound<'_, PyDict>>,
) -> PyResult<Archive> {
    by_path(py, path, mmap, storage_options.as_ref().map(Bound::as_any))
}

/// Opens a path or an address.
///
/// # Errors
/// As [`_open`].
#[allow(unsafe_code, reason = "memory maps need a promise that only the caller can make")]
fn by_path(py: Python<'_>, path: PathBuf, mmap: bool, options: Option<&Bound<'_, PyAny>>) -> PyResult<Archive> {
    let storage = options.map(|options| storage_options(Some(options))).transpose()?;
    let file = FileOrigin { source: path, storage: storage.clone(), bidirectional: true };
    if file.is_remote() {
        let address = file.source.clone();
        if mmap {
            return Err(PyValueError::new_err(format!("{}: an address cannot be mapped", SourceName::of(&address))));
        }
        let backing = Backing::file(file.library(py)?);
        return checked(py, Origin::Path(address, false, storage), backing);
    }
    // Another process may have another working directory.
    let path = absolute(&file.source).unwrap_or_else(|_| file.source.clone());
    if path.is_dir() {
        return Err(directory(py, &file.source));
    }
    let backing = if mmap {
        // SAFETY: until the map is dropped, no process may truncate the file or write into it. Nothing here can see to
        // that. The documentation of `tgm.open` asks its caller for it, and says what happens otherwise.
        let opened = detached(py, || unsafe { MappedFile::open(&path) })?;
        Backing::map(opened.map_err(|error| of_file(py, &error, "cannot map", &file.source))?)
    } else {
        Backing::file(file.library(py)?)
    };
    checked(py, Origin::Path(path, mmap, storage), backing)
}

/// The error for a folder, which may be an archive of another kind.
fn directory(py: Python<'_>, path: &Path) -> PyErr {
    let is_zarr = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"].iter().any(|name| path.join(name).exists());
    let what = if is_zarr { "cannot open a Zarr store, which `tgm convert` reads" } else { "cannot open" };
    of_file(py, &std::io::Error::from(std::io::ErrorKind::IsADirectory).into(), what, path)
}

/// An archive, unless the source is of another format: then it has bytes, and no message.
fn checked(py: Python<'_>, origin: Origin, backing: Backing) -> PyResult<Archive> {
    if let Err(error) = backing.ask(py, Place::UNKNOWN, tgm_std::Archive::check_format) {
        // What a program opened for this call is closed with it.
        origin.close(py)?;
        return Err(error);
    }
    Ok(Archive::new(origin, backing))
}
