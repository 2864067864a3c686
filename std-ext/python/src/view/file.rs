//! The class `MappedFile`, and the function that makes it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use tgm_std::{DecodeOptions, MappedFile as Mapped};

use super::message::Message;
use super::object::Object;
use crate::convert::index::{item, iterate, no_message};
use crate::convert::query;
use crate::errors::{of_file, raise};
use crate::work::detached;

/// A file of messages as a memory map, made by `open_mmap`: a sequence of `Message`, none of which is read before it is
/// asked for.
///
/// >>> import os, tempfile, tgm
/// >>> path = os.path.join(tempfile.mkdtemp(), "a.tgm")
/// >>> with open(path, "wb") as out:
/// ...     _ = out.write(tgm.encode({"run": 7}, []) * 3)
/// >>> with tgm.open_mmap(path) as file:
/// ...     [message.metadata["run"] for message in file]
/// [7, 7, 7]
///
/// It may be used from several threads. It pickles as its path: the other process maps the file again.
#[pyclass(frozen, weakref, module = "tgm")]
pub(crate) struct MappedFile {
    path: PathBuf,
    /// None once the file is closed.
    file: Mutex<Option<Arc<Mapped>>>,
}

/// Opens a file of messages as a memory map.
///
/// Only where messages begin and end is read. `path` is a `str` or any other path.
///
/// Arrays of the objects are views of the map, and keep it: they are valid after the file is closed, deleted, or
/// replaced by a rename. **No program may truncate the file or write into it while the map or a view of it lives.** If
/// the file is truncated, the system ends this process with the signal SIGBUS when it touches bytes that are gone; no
/// exception can be raised. Bytes that are changed in place change in the views too. Appending is harmless: messages
/// that are appended later are not seen. For files that others may change, use `TensogramFile`, which copies what it
/// reads.
///
/// Raises OSError, such as FileNotFoundError, if the file cannot be mapped.
///
/// >>> import numpy, os, tempfile, tgm
/// >>> path = os.path.join(tempfile.mkdtemp(), "a.tgm")
/// >>> with open(path, "wb") as out:
/// ...     _ = out.write(tgm.encode({"run": 7}, [(None, numpy.arange(3.0))]))
/// >>> file = tgm.open_mmap(path)
/// >>> len(file), file[0].objects[0].array
/// (1, array([0., 1., 2.]))
/// >>> file[0].objects[0].array.flags.writeable
/// False
#[pyfunction]
#[allow(unsafe_code, reason = "memory maps need a promise that only the caller can make")]
pub(crate) fn open_mmap(py: Python<'_>, path: PathBuf) -> PyResult<MappedFile> {
    // SAFETY: until the map is dropped, no process may truncate the file or write into it. Nothing here can see to
    // that. The documentation of this function asks its caller for it, and says what happens otherwise.
    let file = detached(py, || unsafe { Mapped::open(&path) })?;
    let file = file.map_err(|error| of_file(py, &error, "cannot map", &path.to_string_lossy()))?;
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok(MappedFile { path, file: Mutex::new(Some(Arc::new(file))) })
}

impl MappedFile {
    fn get(&self) -> PyResult<Arc<Mapped>> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).clone();
        file.ok_or_else(|| PyValueError::new_err("the file is closed"))
    }

    /// A message by its number.
    fn message(slf: &Bound<'_, Self>, index: usize) -> PyResult<Message> {
        let file = slf.get().get()?;
        let layout = file.message_layouts().get(index);
        let range = layout.and_then(|layout| {
            let start = usize::try_from(layout.offset).ok()?;
            Some(start..start.checked_add(usize::try_from(layout.length).ok()?)?)
        });
        let count = file.message_count();
        let range = range.ok_or_else(|| PyIndexError::new_err(no_message(index, count)))?;
        Ok(Message::of_file(file, range, slf.clone().unbind(), index))
    }
}

#[pymethods]
impl MappedFile {
    /// The number of messages.
    fn message_count(&self) -> PyResult<usize> {
        Ok(self.get()?.message_count())
    }

    /// The absolute path of the file.
    fn source(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The objects for which a query holds, in order, as a list of `Object`.
    ///
    /// A query is a text such as "mars.param=2t/10u and mars.step>=24 and not ens exists", or "dtype=float32". Metadata
    /// of all messages is read, and no payload.
    ///
    /// Raises ValueError for a text that is not a query; the error names the place of the mistake.
    ///
    /// >>> import numpy, os, tempfile, tgm
    /// >>> path = os.path.join(tempfile.mkdtemp(), "a.tgm")
    /// >>> with open(path, "wb") as out:
    /// ...     for step in (0, 24, 48):
    /// ...         _ = out.write(tgm.encode({"base": [{"step": step}]}, [(None, numpy.full(2, float(step)))]))
    /// >>> [found.array.tolist() for found in tgm.open_mmap(path).query("step>=24")]
    /// [[24.0, 24.0], [48.0, 48.0]]
    #[pyo3(signature = (query, threads=0))]
    fn query<'py>(slf: &Bound<'py, Self>, query: &str, threads: u32) -> PyResult<Bound<'py, PyList>> {
        let (py, query) = (slf.py(), query::query(query)?);
        let options = DecodeOptions { threads, ..DecodeOptions::default() };
        let file = slf.get().get()?;
        let found = detached(py, || file.query(&query, &options))?.map_err(raise(py))?;
        let list = PyList::empty(py);
        let mut owner_before: Option<(usize, Py<Message>)> = None;
        for (message, object) in found {
            let owner = match &owner_before {
                Some((index, owner)) if *index == message => owner.clone_ref(py),
                _ => Py::new(py, Self::message(slf, message)?)?,
            };
            list.append(Py::new(py, Object::new(owner.bind(py), object)?)?)?;
            owner_before = Some((message, owner));
        }
        Ok(list)
    }

    /// Gives the map up. Messages and arrays of it stay valid, and keep it.
    fn close(&self) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether `close()` was called.
    #[getter]
    fn closed(&self) -> bool {
        self.get().is_err()
    }

    fn __len__(&self) -> PyResult<usize> {
        self.message_count()
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let count = slf.get().message_count()?;
        let message = |index| Ok(Py::new(py, Self::message(slf, index)?)?.into_bound(py).into_any());
        item(index, count, message, |index| no_message(index, count))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        iterate(slf.as_any())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> bool {
        self.close();
        false
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let source = PyString::new(py, &self.source()).repr()?;
        Ok(match self.get() {
            Ok(file) => format!("MappedFile({source}, messages={})", file.message_count()),
            Err(_) => format!("MappedFile({source}, closed)"),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf,))> {
        Ok((py.import("tgm")?.getattr("open_mmap")?, (self.path.clone(),)))
    }
}
