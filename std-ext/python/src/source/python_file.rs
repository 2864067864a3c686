//! A file object of Python as a source of ranges of bytes.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyMemoryView, PySlice, PyString};
use tgm_std::file::SourceName;
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};

use super::turn::Turn;
use crate::convert::buffers::Bytes;

/// Bytes that are read at once to where they are wanted.
const PIECE: usize = 1 << 20;

/// A file object: it has `seek` and `read`.
#[derive(Debug)]
pub(crate) struct PythonFile {
    file: Py<PyAny>,
    name: String,
    size: u64,
    /// One read at a time: the position belongs to the file object. It is only waited for without the GIL.
    turn: Turn,
    /// What the file object raised last.
    failure: Mutex<Option<PyErr>>,
}

impl PythonFile {
    /// The file object, with the length that it has now.
    ///
    /// # Errors
    /// `TypeError` for objects without `read` and `seek`, or whose `read` gives text; what `seek` raises.
    pub(crate) fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = file.py();
        if !file.hasattr(intern!(py, "read"))? || !file.hasattr(intern!(py, "seek"))? {
            let class = file.get_type().name()?;
            let text = format!("argument 'file': '{class}' object has no read and seek; MessageStream reads streams");
            return Err(PyTypeError::new_err(text));
        }
        let end = file.call_method1(intern!(py, "seek"), (0, 2))?;
        let end = if end.is_none() { file.call_method0(intern!(py, "tell"))? } else { end };
        let name = title(file)?;
        let (turn, failure) = (Turn::default(), Mutex::default());
        Ok(Self { file: file.clone().unbind(), name, size: end.extract()?, turn, failure })
    }

    /// The exception of the file object that ended the last call, if one did.
    pub(crate) fn take_failure(&self) -> Option<PyErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Checks that this thread is not within a read of the file object.
    ///
    /// # Errors
    /// `RuntimeError` if it is.
    pub(crate) fn refuse_reentry(&self) -> PyResult<()> {
        self.turn.refuse_reentry()
    }

    /// Reads into `out` from `offset` on, some of it at a time. Returns how many bytes there are.
    fn read_into(&self, py: Python<'_>, offset: u64, out: &mut [u8]) -> PyResult<usize> {
        let file = self.file.bind(py);
        // Python's memory may outlive the call: what it was read into is copied.
        let piece = PyByteArray::new(py, &vec![0; out.len().min(PIECE)]);
        let view = py.get_type::<PyMemoryView>().call1((&piece,))?;
        let reads_into = file.hasattr(intern!(py, "readinto"))?;
        file.call_method1(intern!(py, "seek"), (offset,))?;
        let mut done = 0;
        while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let wanted = rest.len().min(PIECE);
            let count = if reads_into {
                let part = view.get_item(PySlice::new(py, 0, isize::try_from(wanted)?, 1))?;
                let count = file.call_method1(intern!(py, "readinto"), (part,))?.extract::<usize>()?;
                let Some(to) = rest.get_mut(..count).filter(|_| count <= wanted) else {
                    return Err(PyValueError::new_err(format!("readinto of {wanted} bytes returned {count}")));
                };
                let part = view.get_item(PySlice::new(py, 0, isize::try_from(count)?, 1))?;
                PyBuffer::<u8>::get(&part)?.copy_to_slice(py, to)?;
                count
            } else {
                let bytes = read_some(file, wanted)?;
                rest.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
                bytes.len()
            };
            if count == 0 {
                break;
            }
            done = done.saturating_add(count);
        }
        Ok(done)
    }

    /// Keeps an exception of the file object, and gives the error that stands for it.
    fn failed(&self, error: PyErr) -> FetchError {
        let text = format!("{}: {error}", self.name);
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        FetchError::new(FetchErrorKind::Io(io::ErrorKind::Other), text)
    }

    fn read(&self, py: Python<'_>, offset: u64, len: usize) -> PyResult<Vec<u8>> {
        let file = self.file.bind(py);
        file.call_method1(intern!(py, "seek"), (offset,))?;
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let more = read_some(file, len - bytes.len())?;
            if more.is_empty() {
                break;
            }
            if bytes.is_empty() {
                bytes = more;
            } else {
                bytes.extend_from_slice(&more);
            }
        }
        Ok(bytes)
    }
}

/// The name of a file object, or its class.
///
/// # Errors
/// What a name's `str` raises.
pub(crate) fn title(file: &Bound<'_, PyAny>) -> PyResult<String> {
    // Files of some packages are named by their addresses.
    // Files without a place in a file system have a number, or nothing.
    match file.getattr(intern!(file.py(), "name")).or_else(|_| file.getattr(intern!(file.py(), "path"))) {
        Ok(name) if !name.is_none() && !name.is_instance_of::<PyInt>() => {
            Ok(SourceName::of(&name.str()?.to_string()).to_string())
        }
        _ => Ok(file.get_type().name()?.to_string()),
    }
}

/// At most `len` bytes; none at the end.
///
/// # Errors
/// What `read` raises; `TypeError` for text; `ValueError` for more bytes than were asked for, and for a file that has
/// nothing for the moment.
pub(crate) fn read_some(file: &Bound<'_, PyAny>, len: usize) -> PyResult<Vec<u8>> {
    let read = file.call_method1(intern!(file.py(), "read"), (len,))?;
    if read.is_none() {
        return Err(PyValueError::new_err("read returned None: files that do not block cannot be read"));
    }
    let bytes: Vec<u8> = match read.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) if read.is_instance_of::<PyString>() => {
            return Err(PyTypeError::new_err("read returned text: open the file with mode 'rb'"));
        }
        Err(_) => Bytes::borrow(&read, "what read returned")?.to_vec(file.py())?,
    };
    if bytes.len() > len {
        return Err(PyValueError::new_err(format!("read({len}) returned {} bytes", bytes.len())));
    }
    Ok(bytes)
}

fn interrupted() -> FetchError {
    FetchError::new(FetchErrorKind::Io(io::ErrorKind::Interrupted), "interrupted")
}

/// A file object as a source of an archive of the library. Others ask it whether it failed.
pub(crate) struct SharedFile(pub(crate) Arc<PythonFile>);

impl RangeFetch for SharedFile {
    fn fetch(&self, want: &Want, _: Option<&Tag>) -> Result<Fetched, FetchError> {
        let range = want.within(self.0.size);
        let failed = |text: String| FetchError::new(FetchErrorKind::Io(io::ErrorKind::Other), text);
        let len = usize::try_from(range.end - range.start).map_err(|_| {
            failed(format!("{}: {} bytes do not fit into memory", self.0.name, range.end - range.start))
        })?;
        let read = self.0.turn.take(|| Python::attach(|py| self.0.read(py, range.start, len)));
        match read.map_err(|_| interrupted())? {
            Ok(bytes) => Ok(Fetched { offset: range.start, bytes, size: Some(self.0.size), tag: None }),
            Err(error) => Err(self.0.failed(error)),
        }
    }

    fn fetch_into(&self, offset: u64, out: &mut [u8]) -> Result<usize, FetchError> {
        let read = self.0.turn.take(|| Python::attach(|py| self.0.read_into(py, offset, out)));
        read.map_err(|_| interrupted())?.map_err(|error| self.0.failed(error))
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { size: Some(self.0.size), in_place: true, ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        self.0.name.clone()
    }
}
