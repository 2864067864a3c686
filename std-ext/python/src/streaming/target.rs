//! Where a streamed message goes: into memory, or piece by piece into a file object.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use ciborium::Value;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tgm_std::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, Result, StreamingEncoder, TensogramError};

use crate::work::detached;

/// The encoder of a message.
#[derive(Debug)]
pub(super) enum Encoder {
    /// The message is kept until it is finished.
    Memory(Box<StreamingEncoder<Cursor<Vec<u8>>>>),
    /// What is encoded waits here until it is written to the file object.
    File(Box<ToFile>),
}

/// The encoder of a message for a file object, and what the next message needs.
#[derive(Debug)]
pub(super) struct ToFile {
    encoder: StreamingEncoder<Waiting>,
    waiting: Waiting,
    metadata: GlobalMetadata,
    options: EncodeOptions,
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The message does not state its length.
    Open,
    /// The message states its length.
    Backfilled,
}

impl Encoder {
    /// Begins a message.
    ///
    /// # Errors
    /// The errors of the library.
    pub(super) fn new(metadata: GlobalMetadata, options: EncodeOptions, to_file: bool) -> Result<Self> {
        if !to_file {
            let encoder = StreamingEncoder::new(Cursor::default(), &metadata, &options)?;
            return Ok(Self::Memory(Box::new(encoder)));
        }
        let waiting = Waiting::default();
        let encoder = StreamingEncoder::new(waiting.clone(), &metadata, &options)?;
        Ok(Self::File(Box::new(ToFile { encoder, waiting, metadata, options })))
    }

    /// [`StreamingEncoder::write_object`].
    pub(super) fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        match self {
            Self::Memory(encoder) => encoder.write_object(descriptor, data),
            Self::File(file) => file.encoder.write_object(descriptor, data),
        }
    }

    /// Writes an object after its metadata.
    ///
    /// # Errors
    /// The errors of [`Self::write_object`], and of the metadata.
    pub(super) fn write_described(
        &mut self,
        descriptor: &DataObjectDescriptor,
        data: &[u8],
        metadata: BTreeMap<String, Value>,
    ) -> Result<()> {
        match self {
            Self::Memory(encoder) => encoder.write_described(descriptor, data, metadata),
            Self::File(file) => file.encoder.write_described(descriptor, data, metadata),
        }
    }

    /// [`StreamingEncoder::write_object_pre_encoded`].
    pub(super) fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        match self {
            Self::Memory(encoder) => encoder.write_object_pre_encoded(descriptor, region),
            Self::File(file) => file.encoder.write_object_pre_encoded(descriptor, region),
        }
    }

    /// The number of objects that the message has.
    pub(super) fn object_count(&self) -> usize {
        match self {
            Self::Memory(encoder) => encoder.object_count(),
            Self::File(file) => file.encoder.object_count(),
        }
    }

    /// [`StreamingEncoder::write_preceder`].
    pub(super) fn write_preceder(&mut self, entry: BTreeMap<String, Value>) -> Result<()> {
        match self {
            Self::Memory(encoder) => encoder.write_preceder(entry),
            Self::File(file) => file.encoder.write_preceder(entry),
        }
    }

    /// Ends the message, and gives it, unless it goes to a file.
    ///
    /// # Errors
    /// The errors of the library.
    pub(super) fn finish(self, end: End) -> Result<Vec<u8>> {
        match (self, end) {
            (Self::Memory(encoder), End::Open) => encoder.finish().map(Cursor::into_inner),
            (Self::Memory(encoder), End::Backfilled) => encoder.finish_with_backfill().map(Cursor::into_inner),
            (Self::File(file), End::Open) => file.encoder.finish().map(|_| Vec::new()),
            (Self::File(_), End::Backfilled) => Err(no_backfill()),
        }
    }

    /// Ends the message, gives it, unless it goes to a file, and begins the next one.
    ///
    /// # Errors
    /// The errors of the library.
    pub(super) fn reset(&mut self, end: End) -> Result<Vec<u8>> {
        match (self, end) {
            (Self::Memory(encoder), End::Open) => encoder.finish_and_reset(),
            (Self::Memory(encoder), End::Backfilled) => encoder.finish_and_reset_with_backfill(),
            (Self::File(file), End::Open) => {
                // The next message begins after this one, so this one is finished first.
                let unused = StreamingEncoder::new(Waiting::default(), &file.metadata, &file.options)?;
                mem::replace(&mut file.encoder, unused).finish()?;
                file.encoder = StreamingEncoder::new(file.waiting.clone(), &file.metadata, &file.options)?;
                Ok(Vec::new())
            }
            (Self::File(_), End::Backfilled) => Err(no_backfill()),
        }
    }

    /// What waits to be written to a file object.
    pub(super) fn take_waiting(&self) -> Vec<u8> {
        match self {
            Self::Memory(_) => Vec::new(),
            Self::File(file) => file.waiting.take(),
        }
    }

    /// Where the bytes wait that the end of a message adds.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        match self {
            Self::Memory(_) => None,
            Self::File(file) => Some(file.waiting.clone()),
        }
    }
}

fn no_backfill() -> TensogramError {
    TensogramError::Encoding("the beginning of the message is in the file already: use finish".into())
}

/// Bytes that are encoded, and not written yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(Arc<Mutex<Vec<u8>>>);

impl Waiting {
    pub(super) fn take(&self) -> Vec<u8> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file object that can be written to.
#[derive(Debug)]
pub(super) struct Target {
    file: Py<PyAny>,
    /// Threads write in turn, so that pieces stay in order. It is only waited for without the GIL.
    turn: Mutex<()>,
}

impl Target {
    /// # Errors
    /// `TypeError` for an object without `write`.
    pub(super) fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        if file.hasattr(intern!(file.py(), "write"))? {
            return Ok(Self { file: file.clone().unbind(), turn: Mutex::default() });
        }
        let class = file.get_type().name()?;
        Err(PyTypeError::new_err(format!("argument 'file': '{class}' object has no write")))
    }

    /// Writes the bytes that `take` gives when it is this thread's turn.
    ///
    /// # Errors
    /// What the file object raises.
    pub(super) fn write(&self, py: Python<'_>, take: impl FnOnce() -> Vec<u8> + Send) -> PyResult<()> {
        detached(py, || {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let bytes = take();
            if bytes.is_empty() { Ok(()) } else { Python::attach(|py| self.write_all(py, &bytes)) }
        })?
    }

    fn write_all(&self, py: Python<'_>, mut bytes: &[u8]) -> PyResult<()> {
        while !bytes.is_empty() {
            let written = self.file.bind(py).call_method1(intern!(py, "write"), (PyBytes::new(py, bytes),))?;
            // Unbuffered files may write a part. Objects other than files may return nothing.
            let count = if written.is_none() { bytes.len() } else { written.extract::<usize>()? };
            bytes = bytes.get(count.max(1)..).unwrap_or_default();
        }
        Ok(())
    }
}
