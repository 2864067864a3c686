//! How files are opened, and opened again.

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tgm_std::file::{RemoteScanOptions, is_remote_url};
use tgm_std::{TensogramError, TensogramFile as Library};

use crate::errors::of_file;
use crate::file::TensogramFile;
use crate::file::handle::Handle;
use crate::work::detached;

/// How a file was opened. This is all that is needed to open it once more, in this process or in another one.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The path or the address as the program gave it.
    pub(crate) source: String,
    /// Options of the object store. `None` for a source that was not opened as remote.
    pub(crate) storage: Option<BTreeMap<String, String>>,
    /// Whether an address is searched for messages from both ends.
    pub(crate) bidirectional: bool,
}

impl Origin {
    /// Whether this is an address.
    pub(crate) fn is_remote(&self) -> bool {
        self.storage.is_some() || is_remote_url(&self.source)
    }

    /// Opens the file.
    ///
    /// # Errors
    /// The errors of the library; a directory is an error.
    pub(crate) fn open(&self) -> tgm_std::Result<Library> {
        let scan = RemoteScanOptions { bidirectional: self.bidirectional };
        match &self.storage {
            Some(storage) => open_remote(&self.source, storage, scan),
            None if is_remote_url(&self.source) => open_remote(&self.source, &BTreeMap::new(), scan),
            None => {
                let path = Path::new(&self.source);
                if path.is_dir() {
                    return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory).into());
                }
                Library::open(path)
            }
        }
    }

    /// Opens the file without the GIL.
    ///
    /// # Errors
    /// The errors of [`Self::open`], as exceptions that name the file.
    pub(crate) fn open_detached(self, py: Python<'_>) -> PyResult<TensogramFile> {
        let opened = detached(py, || self.open())?;
        self.opened(py, opened, "cannot open")
    }

    /// The file that was opened, or the exception that names it.
    pub(crate) fn opened(self, py: Python<'_>, file: tgm_std::Result<Library>, what: &str) -> PyResult<TensogramFile> {
        match file {
            Ok(file) => Ok(TensogramFile::new(Handle::new(self, file))),
            Err(error) => {
                let is_missing = matches!(&error, TensogramError::Io(io) if io.kind() == std::io::ErrorKind::NotFound);
                let what = if is_missing && what == "cannot open" { "file not found" } else { what };
                Err(of_file(py, &error, what, &self.source))
            }
        }
    }
}

/// Options that the store does not know are ignored, because programs pass those of other libraries along.
#[cfg(feature = "remote")]
fn open_remote(address: &str, storage: &BTreeMap<String, String>, scan: RemoteScanOptions) -> tgm_std::Result<Library> {
    use tgm_std::remote::{RemoteOptions, UnknownKeys};
    if !address.contains("://") {
        return Err(TensogramError::Remote(format!("invalid URL: {address} is not an address").into()));
    }
    let options =
        RemoteOptions { unknown_keys: UnknownKeys::Ignore, storage: storage.clone(), ..RemoteOptions::default() };
    Library::open_remote_with(address, &options, Some(scan))
}

#[cfg(not(feature = "remote"))]
fn open_remote(
    address: &str,
    _storage: &BTreeMap<String, String>,
    _scan: RemoteScanOptions,
) -> tgm_std::Result<Library> {
    Err(TensogramError::Remote(format!("{address}: this build reads no addresses (feature remote)").into()))
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
    source: String,
    storage: Option<BTreeMap<String, String>>,
    bidirectional: bool,
) -> PyResult<TensogramFile> {
    Origin { source, storage, bidirectional }.open_detached(py)
}
