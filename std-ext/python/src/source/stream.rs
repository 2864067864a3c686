//! The class `MessageStream`.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tgm_std::TensogramError;
use tgm_std::file::{MessageReader, StreamOptions};

use super::turn::Turn;
use crate::convert::bytes_out;
use crate::errors::{Place, exception};
use crate::source::python_file::read_some;
use crate::work::detached;

/// Whole messages of a stream, as `bytes`, each as soon as its last byte is there.
///
/// `stream` is anything that can be read: a pipe, a socket's `makefile("rb")`, `sys.stdin.buffer`, a response of an
/// HTTP library, a file. It need not seek. Bytes that belong to no message are passed over. At most `max_message_bytes`
/// of a message are kept: a longer one raises ValueError, and the iteration goes on after it.
///
/// An exception of the stream is raised as it is, and nothing is lost by it: `next` can be called again.
///
/// >>> import io, numpy, tgmio as tgm
/// >>> message = tgm.encode({"run": 7}, [(None, numpy.arange(3.0))])
/// >>> [tgm.decode(message).metadata["run"] for message in tgm.MessageStream(io.BytesIO(message * 2))]
/// [7, 7]
#[pyclass(frozen, weakref, module = "tgmio")]
#[derive(Debug)]
pub(crate) struct MessageStream {
    /// It is only waited for without the GIL.
    reader: Mutex<MessageReader<Stream>>,
    turn: Turn,
}

/// A stream of Python as one of Rust.
#[derive(Debug)]
struct Stream {
    stream: Py<PyAny>,
    failure: Option<PyErr>,
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = Python::attach(|py| read_some(self.stream.bind(py), out.len()));
        let bytes = read.map_err(|error| {
            let text = error.to_string();
            self.failure = Some(error);
            io::Error::other(text)
        })?;
        let room = out.get_mut(..bytes.len()).ok_or_else(|| io::Error::other("more bytes than were asked for"))?;
        room.copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

#[pymethods]
impl MessageStream {
    /// Raises TypeError for an object without `read`.
    #[new]
    #[pyo3(signature = (stream, *, max_message_bytes=None))]
    fn new(stream: &Bound<'_, PyAny>, max_message_bytes: Option<u64>) -> PyResult<Self> {
        if !stream.hasattr(intern!(stream.py(), "read"))? {
            let class = stream.get_type().name()?;
            return Err(PyTypeError::new_err(format!("argument 'stream': '{class}' object has no read")));
        }
        let usual = StreamOptions::default();
        let options =
            StreamOptions { max_message_bytes: max_message_bytes.unwrap_or(usual.max_message_bytes), ..usual };
        let stream = Stream { stream: stream.clone().unbind(), failure: None };
        Ok(Self { reader: Mutex::new(MessageReader::with_options(stream, &options)), turn: Turn::default() })
    }

    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.turn.refuse_reentry()?;
        let next = || {
            let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
            let found = reader.next_message().map(|message| message.map(|message| message.to_vec()));
            let failure = reader.get_mut().failure.take();
            (found, failure)
        };
        let taken = detached(py, || self.turn.take(next))?;
        let (found, failure) = taken.map_err(|error| self.raised(py, &error))?;
        match found {
            Ok(message) => message.map(|message| bytes_out::bytes(py, message)).transpose(),
            Err(error) => Err(failure.unwrap_or_else(|| self.raised(py, &error))),
        }
    }
}

impl MessageStream {
    fn raised(&self, py: Python<'_>, error: &TensogramError) -> PyErr {
        exception(py, error, Place::UNKNOWN)
    }
}
