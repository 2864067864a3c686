//! The bytes of messages, and what keeps them.
//!
//! Bytes that nobody can change are worked on without the GIL: a map, `bytes`, and views of `bytes`. Other bytes, such
//! as a `bytearray`, are worked on with the GIL held, so that no code of Python writes to them meanwhile. What was read
//! of them before is not trusted later: each call reads the frame again, and only the place of values is kept, which
//! stays within the buffer. An interpreter without the GIL works on a copy.

use std::ops::Range;
use std::sync::Arc;

use pyo3::prelude::*;
use tgm_std::{MappedFile, Result, TensogramError};

use crate::convert::buffers::Bytes;
use crate::work::{attached, detached, has_gil};

/// Bytes that stay where they are.
pub(super) enum Memory {
    Map(Arc<MappedFile>),
    /// A message that was read, or its outline.
    Owned(Vec<u8>),
    /// While it is held, a `bytearray` refuses to change its size, and an `mmap` to close.
    Buffer(Bytes),
}

impl Memory {
    /// Whether nobody can change the bytes.
    pub(super) const fn is_fixed(&self) -> bool {
        match self {
            Self::Map(_) | Self::Owned(_) => true,
            Self::Buffer(bytes) => bytes.is_fixed(),
        }
    }

    /// The kind of owner of the bytes, as a word.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Map(_) => "map",
            Self::Owned(_) => "memory",
            Self::Buffer(bytes) if bytes.is_fixed() => "bytes",
            Self::Buffer(_) => "buffer",
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
        if let Some(copy) = self.copy_if_open(py)? {
            return detached(py, move || slice(&copy, range).and_then(work));
        }
        let bytes = slice(self.all(py), range);
        let work = || bytes.and_then(work);
        if self.is_fixed() { detached(py, work) } else { attached(py, work) }
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
        if let Some(copy) = self.copy_if_open(py)? {
            return attached(py, || slice(&copy, range).and_then(work));
        }
        attached(py, || slice(self.all(py), range).and_then(work))
    }

    /// A copy of bytes that other threads may change meanwhile, because the interpreter has no GIL to keep them away.
    fn copy_if_open(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        match self {
            Self::Buffer(bytes) if !bytes.is_fixed() && !has_gil(py) => bytes.to_vec(py).map(Some),
            _ => Ok(None),
        }
    }

    /// Where the bytes of `range` begin, if they are all there. They stay there for as long as `self` lives.
    pub(super) fn address(&self, py: Python<'_>, range: &Range<usize>) -> Option<*const u8> {
        self.all(py).get(range.clone()).map(<[u8]>::as_ptr)
    }

    /// How many bytes there are.
    pub(super) fn len(&self, py: Python<'_>) -> usize {
        self.all(py).len()
    }

    fn all(&self, py: Python<'_>) -> &[u8] {
        match self {
            Self::Map(file) => file.as_bytes(),
            Self::Owned(bytes) => bytes,
            Self::Buffer(bytes) => bytes.while_attached(py),
        }
    }
}

fn slice<'a>(bytes: &'a [u8], range: &Range<usize>) -> Result<&'a [u8]> {
    bytes
        .get(range.clone())
        .ok_or_else(|| TensogramError::Framing("the message lies beyond the end of its buffer".into()))
}
