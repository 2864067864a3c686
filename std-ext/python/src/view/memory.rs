//! The bytes of messages, and what keeps them.
//!
//! Bytes that nobody can change are worked on without the GIL: those of a map, of `bytes`, and of views of `bytes`.
//! Others, such as those of a `bytearray`, are worked on with the GIL held, so that no code of Python writes to them
//! meanwhile. What was read of them before is not trusted later: each call reads the frame again, and only the place of
//! values is kept, which stays within the buffer.

use std::ops::Range;
use std::sync::Arc;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tgm_std::{MappedFile, Result, TensogramError};

use crate::convert::buffers::Bytes;
use crate::work::{attached, detached};

/// Bytes that stay where they are.
pub(super) enum Memory {
    Map(Arc<MappedFile>),
    Bytes(Py<PyBytes>),
    Buffer {
        /// While it is held, a `bytearray` refuses to change its size, and an `mmap` to close.
        buffer: PyBuffer<u8>,
        is_fixed: bool,
    },
}

impl Memory {
    /// The bytes of `object`, which is the argument `name`.
    ///
    /// # Errors
    /// `TypeError` for an object without a buffer of bytes; `BufferError` for a buffer with gaps.
    pub(super) fn borrow(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let bytes = Bytes::borrow(object, name)?;
        if let Some(bytes) = bytes.as_bytes_object() {
            return Ok(Self::Bytes(bytes.clone().unbind()));
        }
        Ok(Self::Buffer { buffer: PyBuffer::get(object)?, is_fixed: bytes.is_fixed() })
    }

    /// Whether nobody can change the bytes.
    pub(super) const fn is_fixed(&self) -> bool {
        match self {
            Self::Map(_) | Self::Bytes(_) => true,
            Self::Buffer { is_fixed, .. } => *is_fixed,
        }
    }

    /// What keeps the bytes, as a word.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Map(_) => "map",
            Self::Bytes(_) | Self::Buffer { is_fixed: true, .. } => "bytes",
            Self::Buffer { .. } => "buffer",
        }
    }

    /// Runs `work` on bytes, without the GIL if nobody can change them.
    ///
    /// # Errors
    /// `RuntimeError` for a panic.
    pub(super) fn run<R: Send>(
        &self,
        py: Python<'_>,
        range: &Range<usize>,
        work: impl FnOnce(&[u8]) -> Result<R> + Send,
    ) -> PyResult<Result<R>> {
        let bytes = self.slice(py, range);
        let work = || bytes.and_then(work);
        if self.is_fixed() { detached(py, work) } else { attached(work) }
    }

    /// Runs short `work` on bytes with the GIL held.
    ///
    /// # Errors
    /// `RuntimeError` for a panic.
    pub(super) fn look<R>(
        &self,
        py: Python<'_>,
        range: &Range<usize>,
        work: impl FnOnce(&[u8]) -> Result<R>,
    ) -> PyResult<Result<R>> {
        attached(|| self.slice(py, range).and_then(work))
    }

    /// Where the bytes of `range` begin, if they are all there. They stay there for as long as `self` lives.
    pub(super) fn address(&self, py: Python<'_>, range: &Range<usize>) -> Option<*const u8> {
        self.all(py).get(range.clone()).map(<[u8]>::as_ptr)
    }

    /// How many bytes there are.
    pub(super) fn len(&self, py: Python<'_>) -> usize {
        self.all(py).len()
    }

    fn slice<'a>(&'a self, py: Python<'a>, range: &Range<usize>) -> Result<&'a [u8]> {
        let bytes = self.all(py).get(range.clone());
        bytes.ok_or_else(|| TensogramError::Framing("message lies beyond the end of its buffer".into()))
    }

    #[allow(unsafe_code, reason = "the buffer protocol gives a pointer")]
    fn all<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        match self {
            Self::Map(file) => file.as_bytes(),
            Self::Bytes(bytes) => bytes.as_bytes(py),
            Self::Buffer { buffer, .. } => match buffer.as_slice_ptr() {
                // SAFETY: the exporter keeps the memory in place for as long as `buffer` lives, which is as long as
                // `self`. `run` and `look` above hold the GIL while they use the slice, so that no thread of Python
                // writes to it, or know that nobody can write (`is_fixed`).
                Some(slice) => unsafe { slice.as_ref() },
                // An empty buffer may have no address.
                None => &[],
            },
        }
    }
}
