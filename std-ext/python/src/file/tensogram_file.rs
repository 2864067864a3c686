//! The class `TensogramFile`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use tgm_std::encode::prepare_stored;
use tgm_std::file::AppendOptions;
use tgm_std::{DataObjectDescriptor, TensogramFile as Library};

use crate::convert::arguments::{decoding, encoding, items, of_save, path, ranges, ranging};
use crate::convert::buffers::{Bytes, Reads};
use crate::convert::descriptor_in::Keys;
use crate::convert::index::{item, no_message, refuse_wide};
use crate::convert::{bytes_out, metadata_in, query};
use crate::errors::{Place, raise};
use crate::file::handle::{Failure, Handle};
use crate::file::iterate::TensogramFileIter;
use crate::file::open::storage_options;
use crate::file::origin::Origin;
use crate::functions::encode::Objects;
use crate::message;
use crate::metadata::Metadata;
use crate::work::detached;

/// A file of messages, on this machine or in an object store.
///
/// It is a sequence of messages: `len(f)`, `f[0]`, `f[-1]`, `f[2:5]`, and `for message in f`. Any number of threads may
/// read from one handle and append to it. Only those parts of large messages are read that a call needs.
///
/// A `with` statement gives the file back to the operating system at its end; a later use opens it again. `close`
/// closes it for good. A handle pickles as its path or address, and opens it again.
///
/// >>> import numpy, tempfile, tgmio as tgm
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> with tgm.TensogramFile.create(folder.name + "/fields.tgm") as file:
/// ...     for step in range(3):
/// ...         file.append({"base": [{"step": step}]}, [(None, numpy.full((2, 2), step))])
/// >>> file = tgm.TensogramFile.open(folder.name + "/fields.tgm")
/// >>> len(file), file[-1].metadata["step"]
/// (3, 2)
/// >>> file.file_decode_object(1, 0)["data"]
/// array([[1, 1],
///        [1, 1]])
#[pyclass(frozen, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct TensogramFile {
    handle: Handle,
}

impl TensogramFile {
    pub(crate) const fn new(handle: Handle) -> Self {
        Self { handle }
    }

    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        self.handle.read(py, Place::UNKNOWN, Library::message_count)
    }

    fn append_encoded(&self, py: Python<'_>, message: &[u8]) -> PyResult<()> {
        let append = |file: &mut Library| file.append_message(message, &AppendOptions::default());
        let appended = detached(py, || self.handle.change_detached(append))?;
        appended.map(|_| ()).map_err(|failure: Failure| failure.exception(py, Place::UNKNOWN))
    }

    fn decoded<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(true, 0, true, false);
        let read = |file: &Library| file.decode_message(index, &options);
        message::decoded(py, self.handle.read(py, Place::message(index), read)?)
    }
}

#[pymethods]
impl TensogramFile {
    /// Opens a file by its path, or a source by its address (`is_remote_url`). Nothing of a local file is read yet.
    ///
    /// `source` is text, bytes or an `os.PathLike`. An address is searched for messages from both ends, unless `bidirectional`
    /// is False.
    ///
    /// Raises FileNotFoundError, IsADirectoryError, PermissionError and other kinds of OSError, among them RemoteError.
    #[staticmethod]
    #[pyo3(signature = (source, *, bidirectional=true))]
    pub(crate) fn open(py: Python<'_>, source: &Bound<'_, PyAny>, bidirectional: bool) -> PyResult<Self> {
        Origin { source: path(source, "source")?, storage: None, bidirectional }.open_detached(py)
    }

    /// Opens a source by its address. The first bytes are read, which says whether it can be read.
    ///
    /// `storage_options` is a dict with options of the object store, such as `aws_region`, `timeout` or `max_retries`.
    /// Values are made text. Options that are not known are ignored. Credentials that are not given are looked for in
    /// the environment.
    ///
    /// Raises RemoteError, which is an OSError; TypeError and ValueError for wrong options.
    #[staticmethod]
    #[pyo3(signature = (source, storage_options=None, *, bidirectional=true))]
    pub(crate) fn open_remote(
        py: Python<'_>,
        source: &str,
        storage_options: Option<&Bound<'_, PyAny>>,
        bidirectional: bool,
    ) -> PyResult<Self> {
        let storage = Some(self::storage_options(storage_options)?);
        Origin { source: source.into(), storage, bidirectional }.open_detached(py)
    }

    /// Creates a file without messages, and its directories. An existing file is emptied.
    ///
    /// Raises PermissionError and other kinds of OSError, as for an address, which is never written.
    #[staticmethod]
    pub(crate) fn create(py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source = self::path(path, "path")?;
        let created = detached(py, || Library::create(&source))?;
        Origin { source, storage: None, bidirectional: true }.opened(py, created, "cannot create")
    }

    /// Encodes a message and appends it. It takes the arguments of `encode`, and descriptors with keys of any name, as the
    /// package `tensogram` does.
    ///
    /// Readers of the file see the message when all of it is there. Other writers wait meanwhile. Raises OSError for a
    /// source at an address, and what `encode` raises.
    #[pyo3(
        signature = (
            global_meta_dict, descriptors_and_data, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false,
            nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None,
            aggregate_hash=None
        ),
        text_signature = "($self, global_meta_dict, descriptors_and_data, hash='xxh3', threads=0, allow_nan=False, \
                          allow_inf=False, nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, \
                          small_mask_threshold_bytes=None, aggregate_hash=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python method")]
    #[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python method")]
    fn append(
        &self,
        py: Python<'_>,
        global_meta_dict: &Bound<'_, PyAny>,
        descriptors_and_data: &Bound<'_, PyAny>,
        hash: Option<&str>,
        threads: u32,
        allow_nan: bool,
        allow_inf: bool,
        nan_mask_method: Option<&str>,
        pos_inf_mask_method: Option<&str>,
        neg_inf_mask_method: Option<&str>,
        small_mask_threshold_bytes: Option<usize>,
        aggregate_hash: Option<&str>,
    ) -> PyResult<()> {
        let metadata = metadata_in::metadata(global_meta_dict)?;
        let options = encoding(
            py,
            hash,
            threads,
            (allow_nan, allow_inf),
            [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
            small_mask_threshold_bytes,
            aggregate_hash,
        )?;
        // The message is encoded before the lock is taken, so that readers do not wait for it.
        let objects = Objects::new(descriptors_and_data, Keys::Any)?;
        let message = objects.with(py, |pairs| tgm_std::encode(&metadata, pairs, &options))?;
        self.append_encoded(py, &message)
    }

    /// Encodes a message and appends it to the file that `opened` gives, for `save`. Descriptors have known keys, and values that
    /// are not finite are kept. What is refused is refused before the file is opened.
    #[staticmethod]
    fn _save(
        py: Python<'_>,
        opened: &Bound<'_, PyAny>,
        metadata: &Bound<'_, PyAny>,
        descriptors_and_data: &Bound<'_, PyAny>,
        threads: u32,
    ) -> PyResult<()> {
        let metadata = metadata_in::metadata(metadata)?;
        let options = of_save(py, threads)?;
        let objects = Objects::new(descriptors_and_data, Keys::Known)?;
        let is_stored = prepare_stored(&metadata, &objects.while_attached(py), &options).map_err(raise(py))?.is_some();
        if !is_stored {
            let message = objects.with(py, |pairs| tgm_std::encode(&metadata, pairs, &options))?;
            return opened.call0()?.cast::<Self>()?.get().append_encoded(py, &message);
        }
        let opened = opened.call0()?;
        let (handle, how) = (&opened.cast::<Self>()?.get().handle, AppendOptions::default());
        // Nobody else has the file, so its gate is free.
        let append = |pairs: &[(&DataObjectDescriptor, &[u8])]| {
            Ok(handle.change_detached(|file| file.append_with(&metadata, pairs, &options, &how)))
        };
        let appended = objects.with(py, append)?;
        appended.map(|_| ()).map_err(|failure: Failure| failure.exception(py, Place::UNKNOWN))
    }

    /// Appends a message that is encoded already. `message` is any buffer of bytes.
    ///
    /// Raises ValueError for bytes that are not one message, and OSError for a source at an address.
    fn append_raw(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let append =
            |bytes: &[u8]| self.handle.change_detached(|file| file.append_message(bytes, &AppendOptions::default()));
        let appended = Bytes::borrow(message, "message")?.run(py, Reads::All, append)?;
        appended.map(|_| ()).map_err(|failure: Failure| failure.exception(py, Place::UNKNOWN))
    }

    /// The number of messages. The first call scans the file.
    fn message_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py)
    }

    /// Decodes message `index`, as `decode` does.
    ///
    /// Raises ValueError if there is no such message, and what `decode` raises.
    #[pyo3(signature = (index, native_byte_order=true, threads=0, restore_non_finite=true, verify_hash=false))]
    #[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python method")]
    fn decode_message<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        native_byte_order: bool,
        threads: u32,
        restore_non_finite: bool,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = decoding(native_byte_order, threads, restore_non_finite, verify_hash);
        let read = |file: &Library| file.decode_message(index, &options);
        message::decoded(py, self.handle.read(py, Place::message(index), read)?)
    }

    /// The metadata of message `msg_index`. Nothing else is read of a large message.
    fn file_decode_metadata(&self, py: Python<'_>, msg_index: usize) -> PyResult<Metadata> {
        let read = |file: &Library| file.decode_metadata(msg_index);
        self.handle.read(py, Place::message(msg_index), read).map(Metadata::new)
    }

    /// A dict with the `metadata` of message `msg_index` and a list of its `descriptors`. No payload is read.
    fn file_decode_descriptors<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyDict>> {
        let read = |file: &Library| file.decode_descriptors(msg_index);
        message::descriptors_dict(py, self.handle.read(py, Place::message(msg_index), read)?)
    }

    /// A dict with the `metadata` of message `msg_index`, and the `descriptor` and `data` of object `obj_index`.
    ///
    /// Raises ValueError if there is no such message or object, and what `decode` raises.
    #[pyo3(signature = (msg_index, obj_index, native_byte_order=true, threads=0, verify_hash=false))]
    fn file_decode_object<'py>(
        &self,
        py: Python<'py>,
        msg_index: usize,
        obj_index: usize,
        native_byte_order: bool,
        threads: u32,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = decoding(native_byte_order, threads, true, verify_hash);
        let read = |file: &Library| file.decode_object(msg_index, obj_index, &options);
        message::object_dict(py, self.handle.read(py, Place::both(msg_index, obj_index), read)?)
    }

    /// Decodes ranges of the flat values of object `obj_index` of message `msg_index`, as `decode_range` does. Only the
    /// parts of the file are read that hold them, where the compression has parts.
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
        let options = ranging(native_byte_order, threads, true);
        let ranges = self::ranges(ranges)?;
        let read = |file: &Library| file.decode_range(msg_index, obj_index, &ranges, &options);
        message::ranges(py, self.handle.read(py, Place::both(msg_index, obj_index), read)?, join)
    }

    /// Object `obj_index` of each of these messages, fetched together: a list of dicts as `file_decode_object` gives
    /// them, in the order asked.
    ///
    /// Raises OSError for a local file, and ValueError if there is no such message or object.
    #[pyo3(signature = (msg_indices, obj_index, native_byte_order=true, threads=0, verify_hash=false))]
    fn file_decode_object_batch<'py>(
        &self,
        py: Python<'py>,
        msg_indices: &Bound<'py, PyAny>,
        obj_index: usize,
        native_byte_order: bool,
        threads: u32,
        verify_hash: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let msg_indices = items(msg_indices, "msg_indices", |index| index.extract::<usize>())?;
        let options = decoding(native_byte_order, threads, true, verify_hash);
        let read = |file: &Library| batch!(file.decode_object_batch(&msg_indices, obj_index, &options));
        let objects = self.handle.read(py, Place::object(obj_index), read)?;
        message::object_dicts(py, objects)
    }

    /// Ranges of object `obj_index` of each of these messages, fetched together: a list with what `file_decode_range`
    /// gives for each message.
    ///
    /// Raises OSError for a local file, and what `decode_range` raises.
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
    ) -> PyResult<Bound<'py, PyList>> {
        let options = ranging(native_byte_order, threads, true);
        let ranges = self::ranges(ranges)?;
        let msg_indices = items(msg_indices, "msg_indices", |index| index.extract::<usize>())?;
        let read = |file: &Library| batch!(file.decode_range_batch(&msg_indices, obj_index, &ranges, &options));
        let found = self.handle.read(py, Place::object(obj_index), read)?;
        message::range_lists(py, found, join)
    }

    /// The bytes of message `index`. Digests are not checked.
    fn read_message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.handle.read(py, Place::message(index), |file| file.read_message(index))?;
        bytes_out::bytes(py, bytes)
    }

    /// A list with the bytes of every message. Raises OSError for a source at an address.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let read = |file: &Library| {
            let messages = file.iter()?.map(|message| tgm_std::interrupt::check().and(message));
            messages.collect::<tgm_std::Result<Vec<_>>>()
        };
        let messages = self.handle.read(py, Place::UNKNOWN, read)?;
        let list = PyList::empty(py);
        messages.into_iter().try_for_each(|message| list.append(bytes_out::bytes(py, message)?))?;
        Ok(list)
    }

    /// Whether this is a source at an address.
    fn is_remote(&self) -> bool {
        self.handle.origin().is_remote()
    }

    /// The path or address that the file was opened with. An address has its user, password and query here and in a pickle,
    /// so that it can be opened again; `repr` and errors leave them out.
    fn source(&self) -> &OsStr {
        self.handle.origin().source.as_os_str()
    }

    /// Closes the file, after all reads have ended. Any later use raises ValueError.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.close(py, true)
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.handle.is_closed(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.count(py)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        refuse_wide(key)?;
        let count = self.count(py)?;
        item(key, count, |index| self.decoded(py, index), |index| no_message(index, count))
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<TensogramFileIter> {
        if self.is_remote() {
            return Err(PyRuntimeError::new_err(
                "iteration not supported on remote files: use f[:], or AsyncTensogramFile",
            ));
        }
        self.handle.read(py, Place::UNKNOWN, Library::iter).map(TensogramFileIter::new)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        self.handle.close(py, false)?;
        Ok(false)
    }

    /// The objects for which a query holds, in order: a list of pairs of the number of a message and of an object in
    /// it.
    ///
    /// A query is a text such as "mars.param=2t/10u and mars.step>=24", or "dtype=float32 and not ens exists". Metadata
    /// of all messages is read, and no payload.
    ///
    /// Raises ValueError for a text that is not a query; the error names the place of the mistake.
    #[pyo3(signature = (query, threads=0))]
    fn query(&self, py: Python<'_>, query: &str, threads: u32) -> PyResult<Vec<(usize, usize)>> {
        let (query, options) = (query::query(query)?, decoding(true, threads, true, false));
        self.handle.read(py, Place::UNKNOWN, |file| file.query(&query, &options))
    }

    fn __repr__(&self) -> String {
        format!("TensogramFile(source='{}')", self.handle.origin().name())
    }

    #[expect(clippy::type_complexity, reason = "what pickle wants")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (OsString, Option<BTreeMap<String, String>>, bool))> {
        let Origin { source, storage, bidirectional } = self.handle.origin().clone();
        Ok((py.import("tgmio._native")?.getattr("_open_again")?, (source.into(), storage, bidirectional)))
    }
}
