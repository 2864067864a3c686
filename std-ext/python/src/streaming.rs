//! The class `StreamingEncoder`.

mod target;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use tgm_std::{Result as LibraryResult, TensogramError};

use crate::convert::arguments::encoding;
use crate::convert::array_in::{self, Payload};
use crate::convert::descriptor_in::Keys;
use crate::convert::{bytes_out, descriptor_in, metadata_in};
use crate::errors::{Place, exception, raise};
use crate::functions::encode::object;
use crate::streaming::target::{Encoder, End, Target};
use crate::work::detached;

/// Encodes one message object by object, and can begin another one after it.
///
/// It takes the arguments of `encode`. Raises ValueError for metadata and options that are wrong; digests cannot be
/// listed in the header, because they are not known yet.
///
/// >>> import numpy, tgm
/// >>> encoder = tgm.StreamingEncoder({"run": 7})
/// >>> for step in range(3):
/// ...     encoder.write_object(None, numpy.full(2, step))
/// >>> message = encoder.finish()
/// >>> [array.tolist() for _, array in tgm.decode(message).objects]
/// [[0, 0], [1, 1], [2, 2]]
///
/// With `file`, any object with `write`, an object is written to the file as soon as it is encoded, and memory holds
/// one object at a time. Methods that end a message then return no bytes. What the file raises is raised as it is, and
/// ends the encoder: the message in the file is not complete.
///
/// >>> import io
/// >>> file = io.BytesIO()
/// >>> encoder = tgm.StreamingEncoder({"run": 8}, file=file)
/// >>> encoder.write_object(None, numpy.zeros(2))
/// >>> encoder.finish()
/// b''
/// >>> tgm.decode(file.getvalue()).metadata["run"]
/// 8
#[pyclass(frozen, subclass, weakref, module = "tgm")]
#[derive(Debug)]
pub(crate) struct StreamingEncoder {
    /// None once it is finished.
    encoder: Mutex<Option<Encoder>>,
    target: Option<Target>,
    keys: Keys,
}

impl StreamingEncoder {
    fn encoder(&self) -> MutexGuard<'_, Option<Encoder>> {
        self.encoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(
        &self,
        py: Python<'_>,
        payload: Payload<'_>,
        write: impl FnOnce(&mut Encoder, &[u8]) -> LibraryResult<()> + Send,
    ) -> PyResult<()> {
        let written = array_in::with_payloads(py, vec![payload], |bytes| {
            self.encoder().as_mut().map(|encoder| write(encoder, bytes.first().copied().unwrap_or_default()))
        })?;
        written.ok_or_else(finished)?.map_err(raise(py))?;
        self.hand_over_waiting(py)
    }

    /// Writes to the file, if there is one.
    fn hand_over(&self, py: Python<'_>, take: impl FnOnce() -> Vec<u8> + Send) -> PyResult<()> {
        let Some(target) = &self.target else { return Ok(()) };
        let written = target.write(py, take);
        if written.is_err() {
            // Bytes are lost.
            detached(py, || drop(self.encoder().take()))?;
        }
        written
    }

    fn hand_over_waiting(&self, py: Python<'_>) -> PyResult<()> {
        self.hand_over(py, || self.encoder().as_ref().map(Encoder::take_waiting).unwrap_or_default())
    }

    /// Ends the encoder.
    fn end<'py>(&self, py: Python<'py>, end: End) -> PyResult<Bound<'py, PyBytes>> {
        let (message, waiting) = detached(py, || {
            let encoder = self.encoder().take()?;
            let waiting = encoder.waiting();
            Some((encoder.finish(end), waiting))
        })?
        .ok_or_else(finished)?;
        let message = message.map_err(raise(py))?;
        self.hand_over(py, || waiting.map(|waiting| waiting.take()).unwrap_or_default())?;
        bytes_out::bytes(py, message)
    }

    /// Ends the message, and goes on with the next one.
    fn reset<'py>(&self, py: Python<'py>, end: End) -> PyResult<Bound<'py, PyBytes>> {
        let message = detached(py, || self.encoder().as_mut().map(|encoder| encoder.reset(end)))?;
        let message = message.ok_or_else(finished)?.map_err(raise(py))?;
        self.hand_over_waiting(py)?;
        bytes_out::bytes(py, message)
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
    /// Whether descriptors may have keys of any name, as subclasses of the package `tensogram` say.
    #[classattr]
    const _TAKES_ANY_KEYS: bool = false;

    #[new]
    #[classmethod]
    #[pyo3(
        signature = (
            global_meta_dict, hash=Some("xxh3"), threads=0, allow_nan=false, allow_inf=false, nan_mask_method=None,
            pos_inf_mask_method=None, neg_inf_mask_method=None, small_mask_threshold_bytes=None, aggregate_hash=None,
            *, file=None
        ),
        text_signature = "(global_meta_dict, hash='xxh3', threads=0, allow_nan=False, allow_inf=False, \
                          nan_mask_method=None, pos_inf_mask_method=None, neg_inf_mask_method=None, \
                          small_mask_threshold_bytes=None, aggregate_hash=None, *, file=None)"
    )]
    #[allow(clippy::too_many_arguments, reason = "the face of the Python class")]
    #[allow(clippy::fn_params_excessive_bools, reason = "the face of the Python class")]
    fn new(
        cls: &Bound<'_, PyType>,
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
        file: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = cls.py();
        let keys = if cls.getattr(intern!(py, "_TAKES_ANY_KEYS"))?.is_truthy()? { Keys::Any } else { Keys::Known };
        let metadata = metadata_in::metadata(global_meta_dict)?;
        if let Some(policy @ ("header" | "both")) = aggregate_hash {
            return Err(exception(py, &in_header(policy), Place::UNKNOWN));
        }
        let options = encoding(
            py,
            hash,
            threads,
            (allow_nan, allow_inf),
            [nan_mask_method, pos_inf_mask_method, neg_inf_mask_method],
            small_mask_threshold_bytes,
            aggregate_hash,
        )?;
        let target = file.map(Target::new).transpose()?;
        let encoder = Encoder::new(metadata, options, target.is_some()).map_err(raise(py))?;
        Ok(Self { encoder: Mutex::new(Some(encoder)), target, keys })
    }

    /// Encodes and writes an object. The arguments are a pair as `encode` takes it.
    ///
    /// An object that is refused leaves the message as it was. Raises RuntimeError after `finish`.
    fn write_object(&self, py: Python<'_>, descriptor: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let describe = |descriptor: &_, data: Option<&_>| descriptor_in::argument(descriptor, data, self.keys);
        let (descriptor, payload) = object(descriptor, data, describe)?;
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
        let descriptor = descriptor_in::argument(descriptor, None, self.keys)?;
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
        let written = detached(py, || self.encoder().as_mut().map(|encoder| encoder.write_preceder(entry)))?;
        written.ok_or_else(finished)?.map_err(raise(py))?;
        self.hand_over_waiting(py)
    }

    /// Ends the message and returns it. The message does not state its length.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.end(py, End::Open)
    }

    /// Ends the message and returns it. The message states its length.
    ///
    /// Raises ValueError for an encoder with a file, because the beginning of the message is written already.
    fn finish_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.end(py, End::Backfilled)
    }

    /// Ends the message, returns it, and begins another one with the same metadata and options.
    fn finish_and_reset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.reset(py, End::Open)
    }

    /// `finish_and_reset`, for a message that states its length.
    fn finish_and_reset_backfilled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.reset(py, End::Backfilled)
    }
}
