//! The class `Archive`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use super::backing::{Backing, Lies};
use super::message::Message;
use super::object::Object;
use super::origin::Origin;
use super::show;
use crate::convert::arguments::decoding;
use crate::convert::index::{item, iterate, no_message};
use crate::convert::query;

/// An archive of messages, made by `tgm.open`: a sequence of `Message`, none of which is read before it is asked for.
///
/// | want | take |
/// |---|---|
/// | the number of messages, a message, some of them, all | `len(archive)`, `archive[0]`, `archive[-3:]`, `for message in archive` |
/// | objects by their metadata | `archive.query("mars.param=2t and step>=24")` |
/// | an object by its name | `archive[0].objects["2t"]` |
///
/// It is the same class for every source: a path, an address, bytes, a file object. It may be used from several threads.
/// It pickles as what it was opened with: another process opens it again.
///
/// `close`, or the end of a `with` statement, gives the source back. Messages and objects that were taken before keep
/// what they need, and stay usable.
///
/// >>> import numpy, tgmio as tgm
/// >>> with tgm.open(tgm.encode({"run": 7}, [(None, numpy.arange(3.0))]) * 3) as archive:
/// ...     [message.metadata["run"] for message in archive]
/// [7, 7, 7]
#[pyclass(frozen, weakref, module = "tgmio")]
pub(crate) struct Archive {
    origin: Origin,
    /// None once the archive is closed.
    backing: Mutex<Option<Arc<Backing>>>,
}

impl Archive {
    /// An archive of what was opened.
    pub(super) fn new(origin: Origin, backing: Backing) -> Self {
        Self { origin, backing: Mutex::new(Some(Arc::new(backing))) }
    }

    /// Where the messages are.
    ///
    /// # Errors
    /// `ValueError` for an archive that is closed.
    pub(super) fn backing(&self) -> PyResult<Arc<Backing>> {
        let backing = self.backing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        backing.ok_or_else(|| PyValueError::new_err("the archive is closed"))
    }

    /// The archive of the library, for datasets.
    ///
    /// # Errors
    /// `ValueError` for an archive that is closed.
    pub(crate) fn library(&self) -> PyResult<Arc<tgm_std::Archive<'static>>> {
        Ok(self.backing()?.archive())
    }

    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        self.backing()?.count(py)
    }

    /// A message by its number.
    fn message(slf: &Bound<'_, Self>, index: usize) -> PyResult<Message> {
        let (py, backing) = (slf.py(), slf.get().backing()?);
        let archive = slf.clone().into_any().unbind();
        match backing.locate(py, index)? {
            Some(Lies::Here(memory, place)) => Ok(Message::here(memory, place, archive, index)),
            Some(Lies::There(layout)) => Ok(Message::there(backing, layout, archive, index)),
            None => Err(PyIndexError::new_err(no_message(index, backing.count(py)?))),
        }
    }
}

#[pymethods]
impl Archive {
    /// What it was opened with, as text: the path, or the address. Bytes and file objects have a word for their kind, or
    /// their name. An address has its user, password and query here, so that it can be opened again; `repr` and errors
    /// leave them out.
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.origin.source(py)
    }

    /// The objects for which a query holds, in order, as a list of `Object`.
    ///
    /// A query is a text such as "mars.param=2t/10u and mars.step>=24 and not ens exists", or "dtype=float32". Metadata
    /// of all messages is read, and no payload. Digests of metadata are checked.
    ///
    /// Raises ValueError for a text that is not a query; the error names the place of the mistake. Warns where nothing
    /// matches because a key is written otherwise, such as `param` for `mars.param`.
    ///
    /// >>> import numpy, tgmio as tgm
    /// >>> fields = [tgm.encode({"base": [{"step": s}]}, [(None, numpy.full(2, float(s)))]) for s in (0, 24, 48)]
    /// >>> [found.read().tolist() for found in tgm.open(b"".join(fields)).query("step>=24")]
    /// [[24.0, 24.0], [48.0, 48.0]]
    #[pyo3(signature = (query, threads=0))]
    fn query<'py>(slf: &Bound<'py, Self>, query: &str, threads: u32) -> PyResult<Bound<'py, PyList>> {
        let (py, query) = (slf.py(), query::query(query)?);
        let found = slf.get().backing()?.query(py, &query, &decoding(true, threads, true, false))?;
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
        if list.is_empty() && slf.get().count(py)? > 0 {
            query::warn_of_keys(py, &*Self::message(slf, 0)?.global(py)?, &query)?;
        }
        Ok(list)
    }

    /// Gives the source back. Messages and arrays that were taken before stay valid, and keep what they need.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let backing = self.backing.lock().unwrap_or_else(PoisonError::into_inner).take();
        match backing {
            Some(_) => self.origin.close(py),
            None => Ok(()),
        }
    }

    /// Whether `close()` was called.
    #[getter]
    fn closed(&self) -> bool {
        self.backing().is_err()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py)
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let count = slf.get().count(py)?;
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
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        self.close(py)?;
        Ok(false)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = PyString::new(py, &self.origin.name(py)?).repr()?;
        Ok(match self.backing().map(|backing| backing.known_count(py)) {
            Ok(Some(count)) => format!("Archive({name}, messages={count})"),
            Ok(None) => format!("Archive({name})"),
            Err(_) => format!("Archive({name}, closed)"),
        })
    }

    /// A table of the messages.
    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        show::archive(slf.as_any())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        self.origin.reduced(py)
    }
}
