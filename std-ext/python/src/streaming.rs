//! The class `StreamingEncoder`.

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tgm_std::{Result as LibraryResult, StreamingEncoder as Library, TensogramError};

use crate::convert::arguments::encoding;
use crate::convert::array_in::{self, Payload};
use crate::convert::{bytes_out, descriptor_in, metadata_in};
use crate::errors::{Place, exception, raise};
use crate::functions::encode::object;
use crate::work::detached;

/// The encoder of a message in memory.
type Encoder = Library<Cursor<Vec<u8>>>;

/// Encodes one message object by object, and can begin another one after it.
///
/// The arguments are those of `encode`. Raises ValueError for metadata and options that are wrong; digests cannot be
/// listed in the header, because they are not known yet.
///
/// >>> import numpy, tgm
/// >>> encoder = tgm.StreamingEncoder({"run": 7})
/// >>> for step in range(3):
/// ...     encoder.write_object(None, numpy.full(2, step))
/// >>> message = encoder.finish()
/// >>> [array.tolist() for _, array in tgm.decode(message).objects]
/// [[0, 0], [1, 1], [2, 2]]
#[pyclass(frozen, weakref, module = "tgm")]
#[derive(Debug)]
pub(crate) struct StreamingEncoder {
    encoder: Mutex<Option<Encoder>>,
}

impl StreamingEncoder {
    fn write(
        &self,
        py: Python<'_>,
        payload: Payload<'_>,
        write: impl FnOnce(&mut Encoder, &[u8]) -> LibraryResult<()> + Send,
    ) -> PyResult<()> {
        let written = array_in::with_payloads(py, vec![payload], |bytes| {
            let mut encoder = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
            encoder.as_mut().map(|encoder| write(encoder, bytes.first().copied().unwrap_or_default()))
        })?;
        written.ok_or_else(finished)?.map_err(raise(py))
    }

    /// Ends the encoder by `end`.
    fn end<'py>(
        &self,
        py: Python<'py>,
        end: impl FnOnce(Encoder) -> LibraryResult<Cursor<Vec<u8>>> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ended = detached(py, || {
            let encoder = self.encoder.lock().unwrap_or_else(PoisonError::into_inner).take();
            encoder.map(|encoder| end(encoder).map(Cursor::into_inner))
        })?;
        bytes_out::bytes(py, ended.ok_or_else(finished)?.map_err(raise(py))?)
    }

    /// Ends the message by `end`, and goes on with the next one.
    fn reset<'py>(
        &self,
        py: Python<'py>,
        end: impl FnOnce(&mut Encoder) -> LibraryResult<Vec<u8>> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ended = detached(py, || self.encoder.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(end))?;
        bytes_out::bytes(py, ended.ok_or_else(finished)?.map_err(raise(py))?)
    }
}

fn in_header(policy: &str) -> TensogramError {
    TensogramError::Encoding(
        format!("aggregate_hash {policy:?} is not supported in streaming mode: digests are known at the end only")
            .into(),
    )
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("StreamingEncoder already finished")
}

#[pymethods]
impl StreamingEncoder {
    #[new]
    #[pyo3(
        signature = (
            global_meta_dict, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false, nan_mask_method=None,
            pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None
        ),
        text_signature = "(global_meta_dict, hash='xxh3', threads=0, allow_nan=False, allow_inf=False, \
                          nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, \
                          small_mask_threshold_bytes=None, aggregate_hash=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python class")]
    #[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python class")]
    fn new(
        py: Python<'_>,
        global_meta_dict: &Bound<'_, PyAny>,
        hash: Option<&str>,
        threads: u32,
        allow_nan: bool,
        allow_inf: bool,
        nan_mask_method: Option<&str>,
        pos_inf_mask_method: Option<&str>,
        neg_inf_mask_method: Option<&str>,
        small_mask_threshold_bytes: Option<usize>,
        aggregate_hash: Option<&str>,
    ) -> PyResult<Self> {
        let metadata = metadata_in::metadata(global_meta_dict)?;
        if let Some(policy @ ("header" | "both")) = aggregate_hash {
            return Err(exception(py, &in_header(policy), Place::UNKNOWN));
        }
        let encoder = Library::new(
            Cursor::new(Vec::new()),
            &metadata,
            &encoding(
                py,
                hash,
                threads,
                (allow_nan, allow_inf),
                [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
                small_mask_threshold_bytes,
                aggregate_hash,
            )?,
        )
        .map_err(raise(py))?;
        Ok(Self { encoder: Mutex::new(Some(encoder)) })
    }

    /// Encodes and writes an object. The arguments are those of a pair of `encode`.
    ///
    /// An object that is refused leaves the message as it was. Raises RuntimeError after `finish`.
    fn write_object(&self, py: Python<'_>, descriptor: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let (descriptor, payload) = object(descriptor, data, descriptor_in::argument)?;
        self.write(py, payload, |encoder, bytes| encoder.write_object(&descriptor, bytes))
    }

    /// Writes an object whose bytes went through its pipeline before.
    ///
    /// Raises TypeError for data that is not bytes, and RuntimeError after `finish`.
    fn write_object_pre_encoded(
        &self,
        py: Python<'_>,
        descriptor: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let payload = array_in::encoded_bytes(data, true)?;
        let descriptor = descriptor_in::argument(descriptor, None)?;
        self.write(py, payload, |encoder, bytes| encoder.write_object_pre_encoded(&descriptor, bytes))
    }

    /// Writes metadata of the next object before it, for readers that cannot wait for the end of the message.
    ///
    /// Raises ValueError if the object of the last call was not written yet.
    ///
    /// >>> import numpy, tgm
    /// >>> encoder = tgm.StreamingEncoder({})
    /// >>> encoder.write_preceder({"step": 6})
    /// >>> encoder.write_object(None, numpy.zeros(2))
    /// >>> tgm.decode(encoder.finish()).metadata["step"]
    /// 6
    fn write_preceder(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry = metadata_in::entry(entry)?;
        let written = detached(py, || {
            let mut encoder = self.encoder.lock().unwrap_or_else(PoisonError::into_inner);
            encoder.as_mut().map(|encoder| encoder.write_preceder(entry))
        })?;
        written.ok_or_else(finished)?.map_err(raise(py))
    }

    /// Ends the message and returns it. The message does not state its length.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.end(py, Library::finish)
    }

    /// Ends the message and returns it. The message states its length.
    fn finish_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.end(py, Library::finish_with_backfill)
    }

    /// Ends the message, returns it, and begins another one with the same metadata and options.
    fn finish_and_reset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.reset(py, Library::finish_and_reset)
    }

    /// `finish_and_reset`, for a message that states its length.
    fn finish_and_reset_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.reset(py, Library::finish_and_reset_with_backfill)
    }
}
