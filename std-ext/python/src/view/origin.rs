//! What an archive was opened with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use tgm_std::file::SourceName;

/// What an archive was opened with: all that is needed to open it again.
pub(super) enum Origin {
    /// A path or an address, whether a file is mapped, and options of the object store.
    Path(PathBuf, bool, Option<BTreeMap<String, String>>),
    /// Bytes.
    Buffer(Py<PyAny>),
    /// A file object, and what it was opened from, if it was opened for this archive.
    Object(Py<PyAny>, Option<Py<PyAny>>),
}

impl Origin {
    /// The path or the address; of others what they are.
    pub(super) fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Path(path, ..) => Ok(path.as_os_str().into_pyobject(py)?.into_any()),
            _ => Ok(PyString::new(py, &self.name(py)?).into_any()),
        }
    }

    /// The source as texts show it.
    pub(super) fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match self {
            Self::Path(path, ..) => SourceName::of(path).to_string(),
            Self::Buffer(buffer) => buffer.bind(py).get_type().name()?.to_string(),
            Self::Object(file, _) => crate::source::title(file.bind(py))?,
        })
    }

    /// Closes what was opened here.
    pub(super) fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            Self::Object(file, Some(_)) => file.bind(py).call_method0(intern!(py, "close")).map(drop),
            _ => Ok(()),
        }
    }

    /// For pickles.
    pub(super) fn reduced<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        match self {
            Self::Path(path, mmap, storage) => {
                let arguments = (OsString::from(path), *mmap, storage.clone()).into_pyobject(py)?;
                Ok((py.import("tgmio._native")?.getattr("_archive_again")?, arguments))
            }
            // Any buffer of bytes pickles as bytes.
            Self::Buffer(buffer) => {
                let bytes = py.get_type::<PyBytes>().call1((buffer,))?;
                Ok((py.import("tgmio")?.getattr("open")?, (bytes,).into_pyobject(py)?))
            }
            Self::Object(file, opened) => {
                let source = opened.as_ref().unwrap_or(file);
                Ok((py.import("tgmio")?.getattr("open")?, (source,).into_pyobject(py)?))
            }
        }
    }
}
