//! The class `StreamingEncoder`.

mod target;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use tgm_std::{DataObjectDescriptor, EncodeOptions, Result as LibraryResult, TensogramError};

use crate::convert::arguments::encoding;
use crate::convert::array_in::{self, Payload};
use crate::convert::descriptor_in::Keys;
use crate::convert::{bytes_out, descriptor_in, metadata_in};
use crate::errors::{Place, exception, of_object, raise};
use crate::functions::encode::object;
use crate::gate::{Gate, Pass};
use crate::streaming::target::{Encoder, End, Target};
use crate::work::detached;

/// Encodes one message object by object, and can begin another one after it.
///
/// It takes the arguments of `encode`. Raises ValueError for metadata and options that are wrong; digests cannot be
/// listed in the header, because they are not known yet.
///
/// >>> import numpy, tgmio as tgm
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
#[pyclass(frozen, subclass, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct StreamingEncoder {
    /// None once it is finished.
    ///
    /// Taken behind the gate, so it is always free.
    encoder: Mutex<Option<Encoder>>,
    gate: Gate,
    target: Option<Target>,
    keys: Keys,
}

impl StreamingEncoder {
    fn encoder(&self) -> MutexGuard<'_, Option<Encoder>> {
        self.encoder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread uses the encoder. Ctrl-C ends the wait.
    fn turn(&self, py: Python<'_>) -> PyResult<Pass<'_>> {
        detached(py, || self.gate.alone())?.map_err(raise(py))
    }

    /// Errors of `payload`, and of its encoding, name the object.
    fn write<'py>(
        &self,
        py: Python<'py>,
        payload: impl FnOnce() -> PyResult<(DataObjectDescriptor, Payload<'py>)>,
        write: impl FnOnce(&mut Encoder, &DataObjectDescriptor, &[u8]) -> LibraryResult<()> + Send,
    ) -> PyResult<()> {
        // Making the payload may run code of Python, which may use the encoder.
        let payload = payload();
        let turn = self.turn(py)?;
        let number = self.encoder().as_ref().map(Encoder::object_count);
        let written = payload.and_then(|(descriptor, payload)| {
            let written = array_in::with_payloads(py, vec![payload], array_in::SMALL, |bytes| {
                let bytes = bytes.first().copied().unwrap_or_default();
                self.encoder().as_mut().map(|encoder| write(encoder, &descriptor, bytes))
            })?;
            written.ok_or_else(finished)?.map_err(raise(py))
        });
        drop(turn);
        written.map_err(|error| number.map_or_else(finished, |number| of_object(py, error, number)))?;
        self.hand_over_waiting(py)
    }

    /// Writes to the file, if there is one.
    fn hand_over(&self, py: Python<'_>, take: impl FnOnce() -> Vec<u8> + Send) -> PyResult<()> {
        let Some(target) = &self.target else { return Ok(()) };
        let written = target.write(py, take);
        if written.is_err() {
            // Bytes are lost.
            let _turn = self.turn(py)?;
            detached(py, || drop(self.encoder().take()))?;
        }
        written
    }

    fn hand_over_waiting(&self, py: Python<'_>) -> PyResult<()> {
        let waiting = || {
            let _turn = self.gate.alone().ok()?;
            self.encoder().as_ref().map(Encoder::take_waiting)
        };
        self.hand_over(py, || waiting().unwrap_or_default())
    }

    /// Ends the encoder.
    fn end<'py>(&self, py: Python<'py>, end: End) -> PyResult<Bound<'py, PyBytes>> {
        let turn = self.turn(py)?;
        let (message, waiting) = detached(py, || {
            let encoder = self.encoder().take()?;
            let waiting = encoder.waiting();
            Some((encoder.finish(end), waiting))
        })?
        .ok_or_else(finished)?;
        drop(turn);
        let message = message.map_err(raise(py))?;
        self.hand_over(py, || waiting.map(|waiting| waiting.take()).unwrap_or_default())?;
        bytes_out::bytes(py, message)
    }

    /// Ends the message, and goes on with the next one.
    fn reset<'py>(&self, py: Python<'py>, end: End) -> PyResult<Bound<'py, PyBytes>> {
        let turn = self.turn(py)?;
        let message = detached(py, || self.encoder().as_mut().map(|encoder| encoder.reset(end)))?;
        drop(turn);
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

    /// Whether complex values keep all their bits, as subclasses for `Writer` and `save_dataset` say.
    #[classattr]
    const _KEEPS_COMPLEX: bool = false;

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
        let complex_as_they_are = cls.getattr(intern!(py, "_KEEPS_COMPLEX"))?.is_truthy()?;
        let options = EncodeOptions { complex_as_they_are, ..options };
        let target = file.map(Target::new).transpose()?;
        let encoder = Encoder::new(metadata, options, target.is_some()).map_err(raise(py))?;
        Ok(Self { encoder: Mutex::new(Some(encoder)), gate: Gate::default(), target, keys })
    }

    /// Encodes and writes an object. The arguments are a pair as `encode` takes it.
    ///
    /// An object that is refused leaves the message as it was. Raises RuntimeError after `finish`.
    fn write_object(&self, py: Python<'_>, descriptor: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let describe = |descriptor: &_, data: Option<&_>| descriptor_in::argument(descriptor, data, self.keys);
        self.write(py, || object(descriptor, data, describe), Encoder::write_object)
    }

    /// `write_preceder` and `write_object` in one: an object that is refused leaves no metadata after. For `Writer`.
    fn _write(
        &self,
        py: Python<'_>,
        descriptor: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        metadata: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let metadata = metadata_in::entry("", metadata)?;
        let describe = |descriptor: &_, data: Option<&_>| descriptor_in::argument(descriptor, data, self.keys);
        self.write(
            py,
            || object(descriptor, data, describe),
            |encoder, descriptor, data| encoder.write_described(descriptor, data, metadata),
        )
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
        let payload = || {
            let payload = array_in::encoded_bytes(data, true)?;
            Ok((descriptor_in::argument(descriptor, None, self.keys)?, payload))
        };
        self.write(py, payload, Encoder::write_object_pre_encoded)
    }

    /// Writes metadata of the next object before it, for readers that cannot wait for the end of the message.
    ///
    /// Raises ValueError if the object of the last call was not written yet.
    ///
    /// >>> import numpy, tgmio as tgm
    /// >>> encoder = tgm.StreamingEncoder({})
    /// >>> encoder.write_preceder({"step": 6})
    /// >>> encoder.write_object(None, numpy.zeros(2))
    /// >>> tgm.decode(encoder.finish()).metadata["step"]
    /// 6
    fn write_preceder(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let entry = metadata_in::entry("", entry)?;
        let turn = self.turn(py)?;
        let written = detached(py, || self.encoder().as_mut().map(|encoder| encoder.write_preceder(entry)))?;
        drop(turn);
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
