//! The class `AsyncTensogramFile`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use tgm_std::file::SourceName;
use tgm_std::{Result, TensogramError, TensogramFile};

use super::bridge::{ready, spawn};
use super::iter::AsyncTensogramFileIter;
use crate::convert::arguments::{self, decoding, path, ranging};
use crate::errors::Place;
use crate::file::batch;
use crate::file::open::storage_options;
use crate::file::origin::Origin;
use crate::message;

/// A file of messages, local or at an address, whose methods do not block.
///
/// Methods return awaitables: `await` them, or hand them to `asyncio.gather`, `wait_for`, `create_task` and their like.
/// Wrong arguments raise at the call, all else on `await`. A method needs a running loop. The file belongs to no loop:
/// it may be opened under one and used under another. Any number of calls may be under way. A cancelled call leaves
/// the file as it is.
///
/// >>> import asyncio, os, tempfile, tgmio as tgm
/// >>> path = os.path.join(tempfile.mkdtemp(), "a.tgm")
/// >>> with open(path, "wb") as out:
/// ...     _ = out.write(tgm.encode({"run": 7}, []))
/// >>> async def run():
/// ...     async with await tgm.AsyncTensogramFile.open(path) as file:
/// ...         return (await file.decode_message(0)).metadata["run"]
/// >>> asyncio.run(run())
/// 7
#[pyclass(frozen, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct AsyncTensogramFile {
    file: Arc<TensogramFile>,
    source: PathBuf,
    /// The number of messages, once it was awaited.
    count: Arc<OnceLock<usize>>,
}

impl AsyncTensogramFile {
    fn new(file: TensogramFile, source: PathBuf) -> Self {
        Self { file: Arc::new(file), source, count: Arc::default() }
    }

    /// Starts `work` on the file, and gives an awaitable of its result, which `convert` makes a Python object.
    fn call<'py, T: Send + 'static, W: Future<Output = Result<T>> + Send + 'static>(
        &self,
        py: Python<'py>,
        place: Place,
        work: impl FnOnce(Arc<TensogramFile>) -> W,
        convert: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        spawn(py, place, work(Arc::clone(&self.file)), convert)
    }

    fn known_count(&self) -> PyResult<usize> {
        let unknown =
            || PyRuntimeError::new_err("the number of messages is not known yet: await message_count() first");
        self.count.get().copied().ok_or_else(unknown)
    }
}

/// An awaitable of a file. It is opened on a thread that may block.
fn opened(py: Python<'_>, origin: Origin) -> PyResult<Bound<'_, PyAny>> {
    let source = origin.source.clone();
    let work = async move {
        let opened = tokio::task::spawn_blocking(move || (origin.open(), origin)).await;
        opened.map_err(|panic| TensogramError::Io(std::io::Error::other(panic)))
    };
    spawn(py, Place::UNKNOWN, work, move |py, (file, origin)| match file {
        Ok(file) => Ok(Py::new(py, AsyncTensogramFile::new(file, source))?.into_any()),
        Err(error) => origin.opened(py, Err(error), "cannot open").map(|_| py.None()),
    })
}

#[pymethods]
impl AsyncTensogramFile {
    /// Opens a file by its path, or a source by its address. An awaitable of the file.
    ///
    /// With `bidirectional=False` messages at an address are searched for from the start only.
    ///
    /// Raises OSError if there is no such file.
    #[staticmethod]
    #[pyo3(signature = (source, *, bidirectional=true))]
    fn open<'py>(py: Python<'py>, source: &Bound<'py, PyAny>, bidirectional: bool) -> PyResult<Bound<'py, PyAny>> {
        opened(py, Origin { source: path(source, "source")?, storage: None, bidirectional })
    }

    /// Opens a source by its address, with options of its store: an awaitable of the file.
    ///
    /// Raises OSError if it is not an address, and if the source cannot be read.
    #[staticmethod]
    #[pyo3(signature = (source, storage_options=None, *, bidirectional=true))]
    fn open_remote<'py>(
        py: Python<'py>,
        source: String,
        storage_options: Option<&Bound<'py, PyAny>>,
        bidirectional: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let storage = Some(self::storage_options(storage_options)?);
        opened(py, Origin { source: source.into(), storage, bidirectional })
    }

    /// Whether the source is at an address.
    fn is_remote(&self) -> bool {
        self.file.is_remote()
    }

    /// The path or address that the file was opened with. An address has its user, password and query here, so that it can be
    /// opened again; `repr` and errors leave them out.
    fn source(&self) -> &OsStr {
        self.source.as_os_str()
    }

    /// The number of messages, as an awaitable. `len()` knows it afterwards.
    fn message_count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (file, known) = (Arc::clone(&self.file), Arc::clone(&self.count));
        let work = async move {
            match known.get() {
                Some(count) => Ok(*count),
                None => file.message_count_async().await,
            }
        };
        let known = Arc::clone(&self.count);
        spawn(py, Place::UNKNOWN, work, move |py, count| {
            Ok((*known.get_or_init(|| count)).into_pyobject(py)?.into_any().unbind())
        })
    }

    /// Decodes a message: an awaitable of `(metadata, objects)`. It has the arguments of `tgm.decode`.
    #[pyo3(signature = (index, native_byte_order=true, threads=0, verify_hash=false))]
    fn decode_message<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        native_byte_order: bool,
        threads: u32,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(native_byte_order, threads, true, verify_hash);
        let work = |file: Arc<TensogramFile>| async move { file.decode_message_async(index, &options).await };
        self.call(py, Place::message(index), work, |py, found| message::decoded(py, found).map(Bound::unbind))
    }

    /// The metadata of a message, as an awaitable. No payload is read.
    fn file_decode_metadata<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyAny>> {
        let work = |file: Arc<TensogramFile>| async move { file.decode_metadata_async(msg_index).await };
        self.call(py, Place::message(msg_index), work, |py, found| {
            Ok(Py::new(py, crate::metadata::Metadata::new(found))?.into_any())
        })
    }

    /// The metadata of a message and its descriptors: an awaitable of a dict of "metadata" and "descriptors".
    fn file_decode_descriptors<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyAny>> {
        let work = |file: Arc<TensogramFile>| async move { file.decode_descriptors_async(msg_index).await };
        self.call(py, Place::message(msg_index), work, |py, found| {
            Ok(message::descriptors_dict(py, found)?.into_any().unbind())
        })
    }

    /// Decodes an object of a message: an awaitable of a dict of "metadata", "descriptor" and "data".
    #[pyo3(signature = (msg_index, obj_index, native_byte_order=true, threads=0, verify_hash=false))]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python method")]
    fn file_decode_object<'py>(
        &self,
        py: Python<'py>,
        msg_index: usize,
        obj_index: usize,
        native_byte_order: bool,
        threads: u32,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(native_byte_order, threads, true, verify_hash);
        let work =
            |file: Arc<TensogramFile>| async move { file.decode_object_async(msg_index, obj_index, &options).await };
        self.call(py, Place::both(msg_index, obj_index), work, |py, found| {
            Ok(message::object_dict(py, found)?.into_any().unbind())
        })
    }

    /// Decodes ranges of an object's values: an awaitable of what `tgm.decode_range` returns.
    #[pyo3(signature = (msg_index, obj_index, ranges, join=false, native_byte_order=true, threads=0))]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python method")]
    fn file_decode_range<'py>(
        &self,
        py: Python<'py>,
        msg_index: usize,
        obj_index: usize,
        ranges: &Bound<'py, PyAny>,
        join: bool,
        native_byte_order: bool,
        threads: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ranges = arguments::ranges(ranges)?;
        let options = ranging(native_byte_order, threads, true);
        let work = |file: Arc<TensogramFile>| async move {
            file.decode_range_async(msg_index, obj_index, &ranges, &options).await
        };
        self.call(py, Place::both(msg_index, obj_index), work, move |py, found| {
            message::ranges(py, found, join).map(Bound::unbind)
        })
    }

    /// Decodes object `obj_index` of each of the messages, fetched together: an awaitable of a list of dicts.
    ///
    /// Only for sources at addresses: OSError for a local file.
    #[pyo3(signature = (msg_indices, obj_index, native_byte_order=true, threads=0, verify_hash=false))]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python method")]
    fn file_decode_object_batch<'py>(
        &self,
        py: Python<'py>,
        msg_indices: &Bound<'py, PyAny>,
        obj_index: usize,
        native_byte_order: bool,
        threads: u32,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let msg_indices = arguments::items(msg_indices, "msg_indices", |index| index.extract::<usize>())?;
        let options = decoding(native_byte_order, threads, true, verify_hash);
        let work = |file: Arc<TensogramFile>| async move {
            batch!(file.decode_object_batch_async(&msg_indices, obj_index, &options).await)
        };
        self.call(py, Place::object(obj_index), work, |py, found| {
            Ok(message::object_dicts(py, found)?.into_any().unbind())
        })
    }

    /// Decodes ranges of object `obj_index` of each of the messages, fetched together: an awaitable of a list.
    ///
    /// Only for sources at addresses: OSError for a local file.
    #[pyo3(signature = (msg_indices, obj_index, ranges, join=false, native_byte_order=true, threads=0))]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python method")]
    fn file_decode_range_batch<'py>(
        &self,
        py: Python<'py>,
        msg_indices: &Bound<'py, PyAny>,
        obj_index: usize,
        ranges: &Bound<'py, PyAny>,
        join: bool,
        native_byte_order: bool,
        threads: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let msg_indices = arguments::items(msg_indices, "msg_indices", |index| index.extract::<usize>())?;
        let ranges = arguments::ranges(ranges)?;
        let options = ranging(native_byte_order, threads, true);
        let work = |file: Arc<TensogramFile>| async move {
            batch!(file.decode_range_batch_async(&msg_indices, obj_index, &ranges, &options).await)
        };
        self.call(py, Place::object(obj_index), work, move |py, found| {
            Ok(message::range_lists(py, found, join)?.into_any().unbind())
        })
    }

    /// Fetches the structure of messages at an address together, so that later calls need not: an awaitable of `()`.
    fn prefetch_layouts<'py>(&self, py: Python<'py>, msg_indices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let msg_indices = arguments::items(msg_indices, "msg_indices", |index| index.extract::<usize>())?;
        let work = |file: Arc<TensogramFile>| async move {
            // A local file has nothing to fetch.
            if file.is_remote() { batch!(file.prefetch_layouts_async(&msg_indices).await) } else { Ok(()) }
        };
        self.call(py, Place::UNKNOWN, work, |py, ()| Ok(PyTuple::empty(py).into_any().unbind()))
    }

    /// The bytes of a message, as an awaitable.
    fn read_message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let work = |file: Arc<TensogramFile>| async move { file.read_message_async(index).await };
        self.call(py, Place::message(index), work, |py, bytes| Ok(PyBytes::new(py, &bytes).into_any().unbind()))
    }

    /// The bytes of all messages: an awaitable of a list.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let work = |file: Arc<TensogramFile>| async move {
            let mut messages = Vec::new();
            for index in 0..file.message_count_async().await? {
                messages.push(file.read_message_async(index).await?);
            }
            Ok(messages)
        };
        self.call(py, Place::UNKNOWN, work, |py, messages| {
            let messages = messages.iter().map(|bytes| PyBytes::new(py, bytes));
            Ok(PyList::new(py, messages)?.into_any().unbind())
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        self.known_count()
    }

    fn __aiter__(&self) -> PyResult<AsyncTensogramFileIter> {
        Ok(AsyncTensogramFileIter::new(Arc::clone(&self.file), self.known_count()?))
    }

    fn __aenter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        ready(slf.py(), Ok(slf.clone().into_any().unbind()))
    }

    #[pyo3(signature = (*_exception))]
    fn __aexit__<'py>(&self, py: Python<'py>, _exception: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        ready(py, Ok(false.into_pyobject(py)?.to_owned().into_any().unbind()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "AsyncTensogramFile(source={})",
            PyString::new(py, &SourceName::of(&self.source).to_string()).repr()?
        ))
    }
}
