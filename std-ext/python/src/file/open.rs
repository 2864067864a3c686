//! Opens files, and opens them again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tgm_std::{TensogramError, TensogramFile as Library};

use crate::errors::of_file;
use crate::file::TensogramFile;
use crate::file::handle::Handle;
use crate::file::origin::Origin;
use crate::work::detached;

impl Origin {
    /// Opens the file without the GIL.
    ///
    /// # Errors
    /// The errors of [`Self::open`], as exceptions that name the file.
    pub(crate) fn open_detached(self, py: Python<'_>) -> PyResult<TensogramFile> {
        let opened = detached(py, || self.open())?;
        self.opened(py, opened, "cannot open")
    }

    /// The file of the library, opened without the GIL.
    ///
    /// # Errors
    /// As [`Self::open_detached`].
    pub(crate) fn library(&self, py: Python<'_>) -> PyResult<Library> {
        let opened = detached(py, || self.open())?;
        opened.map_err(|error| self.refused(py, &error, "cannot open"))
    }

    /// The exception that names the file which could not be opened.
    fn refused(&self, py: Python<'_>, error: &TensogramError, what: &str) -> PyErr {
        let is_missing = matches!(error, TensogramError::Io(io) if io.kind() == std::io::ErrorKind::NotFound);
        let what = if is_missing && what == "cannot open" { "file not found" } else { what };
        of_file(py, error, what, &self.source)
    }

    /// The file that was opened, or the exception that names it.
    pub(crate) fn opened(self, py: Python<'_>, file: tgm_std::Result<Library>, what: &str) -> PyResult<TensogramFile> {
        match file {
            Ok(file) => Ok(TensogramFile::new(Handle::new(self, file))),
            Err(error) => Err(self.refused(py, &error, what)),
        }
    }
}

/// Options of an object store: text as keys, and values that can be made text.
///
/// # Errors
/// `TypeError` unless it is a dict with text as keys, `ValueError` for values that cannot be made text.
pub(crate) fn storage_options(options: Option<&Bound<'_, PyAny>>) -> PyResult<BTreeMap<String, String>> {
    let Some(options) = options else {
        return Ok(BTreeMap::new());
    };
    let Ok(dict) = options.cast::<PyDict>() else {
        let class = options.get_type().name()?;
        let text = format!("argument 'storage_options': '{class}' object is not an instance of 'dict'");
        return Err(PyTypeError::new_err(text));
    };
    dict.iter()
        .map(|(key, value)| {
            let Ok(key) = key.cast::<PyString>() else {
                let class = key.get_type().name()?;
                return Err(PyTypeError::new_err(format!("storage_options: key of type {class} is not a 'str'")));
            };
            let key = key.to_str()?.to_owned();
            match value.str().and_then(|value| Ok(value.to_str()?.to_owned())) {
                Ok(value) => Ok((key, value)),
                Err(error) => Err(PyValueError::new_err(format!(
                    "storage_options: the value of {key:?} is not convertible to string: {error}"
                ))),
            }
        })
        .collect()
}

/// Opens the file that was pickled.
#[pyfunction]
pub(crate) fn _open_again(
    py: Python<'_>,
    source: PathBuf,
    storage: Option<BTreeMap<String, String>>,
    bidirectional: bool,
) -> PyResult<TensogramFile> {
    Origin { source, storage, bidirectional }.open_detached(py)
}
