//! The class `SourceFile`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tgm_std::TensogramError;
use tgm_std::read::{ReadOptions, Reader};

use crate::convert::arguments::{self, decoding, ranging};
use crate::convert::bytes_out;
use crate::convert::index::{item, no_message};
use crate::errors::{Place, exception};
use crate::message;
use crate::metadata::Metadata;
use crate::source::python_file::PythonFile;
use crate::work::detached;

/// Messages of a file object: `io.BytesIO`, what `open(path, "rb")` gives, or a file of fsspec.
///
/// The object has `seek` and `read`. It is asked only for the bytes that a call needs, and no other code may move its
/// position meanwhile. Its length is asked for once, when this is made. `len(s)`, `s[i]` and iteration give
/// messages as `TensogramFile` does. Threads may share it; their reads take turns.
///
/// An exception of the file object is raised as it is. Other errors are as for `TensogramFile`.
///
/// >>> import io, numpy, tgm
/// >>> message = tgm.encode({"run": 7}, [(None, numpy.arange(3.0))])
/// >>> source = tgm.SourceFile(io.BytesIO(message * 2))
/// >>> len(source), source[1].objects[0][1]
/// (2, array([0., 1., 2.]))
#[pyclass(frozen, weakref, module = "tgm")]
#[derive(Debug)]
pub(crate) struct SourceFile {
    reader: Reader<PythonFile>,
}

impl SourceFile {
    fn read<R: Send>(
        &self,
        py: Python<'_>,
        place: Place,
        read: impl FnOnce(&Reader<PythonFile>) -> tgm_std::Result<R> + Send,
    ) -> PyResult<R> {
        self.reader.source().refuse_reentry()?;
        let found = detached(py, || read(&self.reader))?;
        let failure = self.reader.source().take_failure();
        found.map_err(|error: TensogramError| failure.unwrap_or_else(|| exception(py, &error, place)))
    }

    fn decoded<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        options: &tgm_std::DecodeOptions,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = |reader: &Reader<PythonFile>| tgm_std::decode(&reader.read_message(index)?, options);
        message::decoded(py, self.read(py, Place::message(index), read)?)
    }
}

#[pymethods]
impl SourceFile {
    /// Raises TypeError for an object without `seek` and `read`.
    #[new]
    fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { reader: Reader::new(PythonFile::new(file)?, ReadOptions::local()) })
    }

    /// The number of messages. They are searched for at the first call.
    fn message_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, Place::UNKNOWN, Reader::message_count)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.message_count(py)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (count, options) = (self.message_count(py)?, decoding(true, 0, true, false));
        item(key, count, |index| self.decoded(py, index, &options), |index| no_message(index, count))
    }

    /// The bytes of a message.
    fn read_message<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.read(py, Place::message(index), |reader| reader.read_message(index))?;
        bytes_out::bytes(py, bytes)
    }

    /// Decodes message `index` into `(metadata, objects)`. The other arguments are as for `decode`.
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
        self.decoded(py, index, &decoding(native_byte_order, threads, restore_non_finite, verify_hash))
    }

    /// The metadata of message `msg_index`. No payload is read.
    fn file_decode_metadata(&self, py: Python<'_>, msg_index: usize) -> PyResult<Metadata> {
        let read = |reader: &Reader<PythonFile>| reader.decode_metadata(msg_index);
        self.read(py, Place::message(msg_index), read).map(Metadata::new)
    }

    /// A dict with the `metadata` and the `descriptors` of message `msg_index`. No payload is read.
    fn file_decode_descriptors<'py>(&self, py: Python<'py>, msg_index: usize) -> PyResult<Bound<'py, PyDict>> {
        let read = |reader: &Reader<PythonFile>| reader.decode_descriptors(msg_index);
        message::descriptors_dict(py, self.read(py, Place::message(msg_index), read)?)
    }

    /// A dict with the `metadata`, the `descriptor` and the array (`data`) of one object. No other payload is read.
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
        let read = |reader: &Reader<PythonFile>| reader.decode_object(msg_index, obj_index, &options);
        message::object_dict(py, self.read(py, Place::both(msg_index, obj_index), read)?)
    }

    /// Decodes ranges of the flat values of an object, as `decode_range` does. Only what holds them is read, where the
    /// compression has parts.
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
        let ranges = arguments::ranges(ranges)?;
        let read = |reader: &Reader<PythonFile>| reader.decode_range(msg_index, obj_index, &ranges, &options);
        message::ranges(py, self.read(py, Place::both(msg_index, obj_index), read)?, join)
    }

    fn __repr__(&self) -> String {
        format!("SourceFile({:?})", self.reader.source().title())
    }
}
