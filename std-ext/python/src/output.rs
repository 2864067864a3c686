//! Files that appear whole or not at all, and files that are appended to, as the code in Python writes them.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyTuple;
use tgm_std::file::SourceName;
use tgm_std::file::replace::Replacement;
use tgm_std::internal::Growing;
use tgm_std::{Result as LibraryResult, TensogramError};

use crate::convert::arguments::of_save;
use crate::convert::descriptor_in::Keys;
use crate::convert::metadata_in;
use crate::errors::raise;
use crate::functions::encode::Objects;
use crate::work::detached;

/// A file that is written. What is not finished changes nothing.
#[pyclass(frozen, name = "_Output", module = "tgmio._native")]
pub(crate) struct Output {
    path: PathBuf,
    /// None once it is finished. One thread writes it, so the lock is free.
    to: Mutex<Option<To>>,
}

enum To {
    Whole(Replacement),
    Grown(Growing),
}

impl Output {
    fn to(&self) -> MutexGuard<'_, Option<To>> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T: Send>(&self, py: Python<'_>, change: impl FnOnce(&mut To) -> LibraryResult<T> + Send) -> PyResult<T> {
        let changed = detached(py, || self.to().as_mut().map(change))?;
        changed.ok_or_else(|| PyValueError::new_err("the file is finished"))?.map_err(raise(py))
    }
}

#[pymethods]
impl Output {
    /// Begins to write a whole file, in the place of the one that is there.
    #[staticmethod]
    fn replace(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let begun = detached(py, || {
            let begun = SourceName::of(&path).to_write().and_then(Replacement::begin);
            begun.map_err(|error| TensogramError::io(&path, &error))
        })?;
        Ok(Self { to: Mutex::new(Some(To::Whole(begun.map_err(raise(py))?))), path })
    }

    /// Waits until other programs have appended to a file, and begins to append messages.
    #[staticmethod]
    fn append(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let begun = detached(py, || Growing::lock(&path))?;
        Ok(Self { to: Mutex::new(Some(To::Grown(begun.map_err(raise(py))?))), path })
    }

    /// Writes all bytes.
    fn write(&self, py: Python<'_>, bytes: PyBackedBytes) -> PyResult<()> {
        self.change(py, |to| match to {
            To::Whole(file) => file.file().write_all(&bytes).map_err(|error| TensogramError::io(&self.path, &error)),
            To::Grown(file) => file.write(&bytes),
        })
    }

    /// Encodes a message as all that the file has, for `save`. Descriptors have known keys, and values that are not finite are
    /// kept.
    fn write_message(
        &self,
        py: Python<'_>,
        metadata: &Bound<'_, PyAny>,
        descriptors_and_data: &Bound<'_, PyAny>,
        threads: u32,
    ) -> PyResult<()> {
        let metadata = metadata_in::metadata(metadata)?;
        let options = of_save(py, threads)?;
        let objects = Objects::new(descriptors_and_data, Keys::Known)?;
        objects.with(py, |pairs| match self.to().as_ref() {
            Some(To::Whole(file)) => file.write_message(&metadata, pairs, &options).map_err(|error| match error {
                TensogramError::Io(error) => TensogramError::io(&self.path, &error),
                other => other,
            }),
            _ => Err(TensogramError::Encoding("the file is not one that is replaced".into())),
        })
    }

    /// Ends a message.
    fn end_message(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |to| match to {
            To::Whole(_) => Ok(()),
            To::Grown(file) => file.end_message(),
        })
    }

    /// Puts the file into its place. With `is_new` FileExistsError is raised if there is one by now.
    #[pyo3(signature = (*, is_new=false))]
    fn finish(&self, py: Python<'_>, is_new: bool) -> PyResult<()> {
        let finished = detached(py, || {
            let done = match self.to().take() {
                Some(To::Whole(file)) if is_new => file.finish_new(),
                Some(To::Whole(file)) => file.finish(),
                Some(To::Grown(file)) => {
                    file.finish();
                    Ok(())
                }
                None => Ok(()),
            };
            done.map_err(|error| TensogramError::io(&self.path, &error))
        });
        finished?.map_err(raise(py))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> bool {
        // Not `detached`: what left the statement goes on, and a signal does not take its place.
        py.detach(|| drop(self.to().take()));
        false
    }
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Output>()
}
