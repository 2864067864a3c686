//! A file object of Python as a source of ranges of bytes.

use std::io;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice, PyString};
use tgm_std::file::SourceName;
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};

use super::turn::Turn;
use crate::convert::buffers::Bytes;

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

    /// The file's name, or its class.
    pub(crate) fn title(&self) -> &str {
        &self.name
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

    /// Fills `view`, a memoryview of `len` bytes that may be written, with the bytes from `offset` on.
    ///
    /// # Errors
    /// What the file object raises, and [`FetchErrorKind::Changed`] if it ends before.
    pub(crate) fn fill(&self, offset: u64, view: &Py<PyAny>, len: usize) -> Result<(), FetchError> {
        let filled = self.turn.take(|| Python::attach(|py| self.fill_attached(offset, view.bind(py), len)));
        let filled = filled.map_err(|_| interrupted())?.map_err(|error| self.failed(error))?;
        if filled < len {
            let text = format!("{}: the file ends after {filled} of {len} bytes from byte {offset} on", self.name);
            return Err(FetchError::new(FetchErrorKind::Changed, text));
        }
        Ok(())
    }

    fn fill_attached(&self, offset: u64, view: &Bound<'_, PyAny>, len: usize) -> PyResult<usize> {
        let (py, file) = (view.py(), self.file.bind(view.py()));
        let reads_into = file.hasattr(intern!(py, "readinto"))?;
        file.call_method1(intern!(py, "seek"), (offset,))?;
        let mut done = 0;
        while done < len {
            let rest = view.get_item(PySlice::new(py, isize::try_from(done)?, isize::try_from(len)?, 1))?;
            let more = if reads_into {
                let read = file.call_method1(intern!(py, "readinto"), (&rest,))?;
                read.extract::<usize>()?
            } else {
                let bytes = read_some(file, len - done)?;
                let part = rest.get_item(PySlice::new(py, 0, isize::try_from(bytes.len())?, 1))?;
                part.set_item(PySlice::full(py), PyBytes::new(py, &bytes))?;
                bytes.len()
            };
            if more == 0 {
                break;
            }
            if more > len - done {
                return Err(PyValueError::new_err(format!("readinto of {} bytes returned {more}", len - done)));
            }
            done += more;
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
    match file.getattr(intern!(file.py(), "name")).or_else(|_| file.getattr(intern!(file.py(), "path"))) {
        Ok(name) => Ok(SourceName::of(&name.str()?.to_string()).to_string()),
        Err(_) => Ok(file.get_type().name()?.to_string()),
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

impl RangeFetch for PythonFile {
    fn fetch(&self, want: &Want, _: Option<&Tag>) -> Result<Fetched, FetchError> {
        let range = want.within(self.size);
        let failed = |text: String| FetchError::new(FetchErrorKind::Io(io::ErrorKind::Other), text);
        let len = usize::try_from(range.end - range.start)
            .map_err(|_| failed(format!("{}: {} bytes do not fit into memory", self.name, range.end - range.start)))?;
        let read = self.turn.take(|| Python::attach(|py| self.read(py, range.start, len)));
        match read.map_err(|_| interrupted())? {
            Ok(bytes) => Ok(Fetched { offset: range.start, bytes, size: Some(self.size), tag: None }),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: true, size: Some(self.size) }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
