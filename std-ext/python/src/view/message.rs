//! The class `Message`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use tgm_std::codec::memory::owned;
use tgm_std::core::Message as Parsed;
use tgm_std::decode::ObjectTable;
use tgm_std::hash::checked_metadata;
use tgm_std::scan::MessageLayout;
use tgm_std::{Dtype, GlobalMetadata, Result};

use super::backing::Backing;
use super::memory::Memory;
use super::numpy_memory;
use crate::convert::array_out;
use crate::convert::buffers::Bytes;
use crate::errors::{Place, raise_at};

/// A message where it lies: in a buffer of the caller, in a memory map, or in the source of an `Archive`.
///
/// `Message(buffer)` takes `bytes`, `bytearray`, `memoryview`, `mmap`, an array of uint8, or any other buffer that
/// begins with a message; bytes after it are ignored. Nothing is copied, and nothing is decoded before it is asked
/// for. The message keeps the buffer: meanwhile a `bytearray` refuses to change its size, and an `mmap` to close.
/// Writing into the buffer changes arrays that are views of it.
///
/// Raises ValueError if the buffer does not begin with a message.
///
/// >>> import numpy, tgmio as tgm
/// >>> message = tgm.Message(tgm.encode({"run": 7}, [(None, numpy.arange(6.0).reshape(2, 3))]))
/// >>> message.metadata["run"], len(message.objects)
/// (7, 1)
/// >>> message.objects[0][1, ::2]
/// array([3., 5.])
#[pyclass(frozen, weakref, module = "tgmio")]
pub(crate) struct Message {
    /// The bytes, or their outline: without payloads and masks. It is read when it is first asked for.
    memory: OnceLock<Arc<Memory>>,
    /// Where the message lies in the memory.
    place: Range<usize>,
    /// The archive that it is a message of, and its number there.
    archive: Option<(Py<PyAny>, usize)>,
    /// Where it is read, if it does not lie in memory.
    source: Option<(Arc<Backing>, MessageLayout)>,
    table: OnceLock<ObjectTable>,
    metadata: OnceLock<Arc<GlobalMetadata>>,
}

/// The source of an object whose payload is not in memory.
#[derive(Clone)]
pub(super) struct Elsewhere {
    pub(super) backing: Arc<Backing>,
    /// The number of the message in its archive.
    pub(super) message: usize,
}

impl Message {
    /// A message in memory.
    pub(super) fn here(memory: Arc<Memory>, place: Range<usize>, archive: Py<PyAny>, index: usize) -> Self {
        Self {
            memory: OnceLock::from(memory),
            place,
            archive: Some((archive, index)),
            source: None,
            table: OnceLock::new(),
            metadata: OnceLock::new(),
        }
    }

    /// The message that a buffer begins with.
    ///
    /// # Errors
    /// `FramingError` if the buffer does not begin with a message.
    pub(super) fn in_buffer(py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<Self> {
        let memory = Memory::Buffer(Bytes::borrow(buffer, "buffer")?);
        let place = 0..memory.len(py);
        let len = memory.look(py, &place, |bytes| Ok(Parsed::parse(bytes)?.as_bytes().len()))?;
        let len = len.map_err(raise_at(py, Place::UNKNOWN))?;
        Ok(Self {
            memory: OnceLock::from(Arc::new(memory)),
            place: 0..len,
            archive: None,
            source: None,
            table: OnceLock::new(),
            metadata: OnceLock::new(),
        })
    }

    /// A message of a source. Nothing is read yet.
    pub(super) fn there(backing: Arc<Backing>, layout: MessageLayout, archive: Py<PyAny>, index: usize) -> Self {
        Self {
            memory: OnceLock::new(),
            place: 0..usize::try_from(layout.length).unwrap_or(usize::MAX),
            archive: Some((archive, index)),
            source: Some((backing, layout)),
            table: OnceLock::new(),
            metadata: OnceLock::new(),
        }
    }

    /// The bytes that it lies in. Payloads are not among them if there is [`Self::elsewhere`].
    pub(super) fn memory(&self, py: Python<'_>) -> PyResult<&Memory> {
        if let Some(memory) = self.memory.get() {
            return Ok(memory);
        }
        let Some((backing, _)) = &self.source else {
            return Err(PyIndexError::new_err("the message has no bytes"));
        };
        let (place, index) = (self.place_of(None), self.number().unwrap_or_default());
        // A search may know the outline of a short message without its payloads, which are looked for here.
        let is_whole = self.elsewhere().is_none();
        let read = backing.ask(py, place, |archive| {
            let message = archive.message(index)?;
            Ok(owned(if is_whole { message.bytes()? } else { message.outline()? })?)
        })?;
        Ok(self.memory.get_or_init(|| Arc::new(Memory::Owned(read))))
    }

    /// Where payloads are read, if they are not in memory.
    pub(super) fn elsewhere(&self) -> Option<Elsewhere> {
        let (backing, layout) = self.source.as_ref()?;
        let is_whole = layout.length <= backing.whole_message();
        (!is_whole).then(|| Elsewhere { backing: Arc::clone(backing), message: self.number().unwrap_or_default() })
    }

    /// The archive that it is a message of, and its number there.
    pub(super) const fn archive(&self) -> Option<&(Py<PyAny>, usize)> {
        self.archive.as_ref()
    }

    /// What it lies in, as texts show it.
    pub(super) fn within(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match &self.source {
            Some((backing, _)) => backing.name().to_owned(),
            None => self.memory(py)?.name().to_owned(),
        })
    }

    /// Where it lies in its memory.
    pub(super) const fn place(&self) -> &Range<usize> {
        &self.place
    }

    /// The number of the message in its file.
    pub(super) fn number(&self) -> Option<usize> {
        self.archive.as_ref().map(|(_, number)| *number)
    }

    /// Where an error of the message, or of one of its objects, happened.
    pub(super) fn place_of(&self, object: Option<usize>) -> Place {
        Place { message: self.number(), object }
    }

    /// Where the objects are. Finding them reads the headers of all frames once.
    pub(super) fn table(&self, py: Python<'_>) -> PyResult<&ObjectTable> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let found = self.memory(py)?.run(py, &self.place, |bytes| ObjectTable::by_walk(&Parsed::parse(bytes)?))?;
        let found = found.map_err(raise_at(py, self.place_of(None)))?;
        Ok(self.table.get_or_init(|| found))
    }

    /// The metadata. It is read when it is first asked for.
    pub(super) fn global(&self, py: Python<'_>) -> PyResult<Arc<GlobalMetadata>> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(Arc::clone(metadata));
        }
        let read = |bytes: &[u8]| {
            checked_metadata(&Parsed::parse(bytes)?)?;
            Ok(tgm_std::decode::decode_descriptors(bytes)?.0)
        };
        let found = self.memory(py)?.run(py, &self.place, read)?.map_err(raise_at(py, self.place_of(None)))?;
        Ok(Arc::clone(self.metadata.get_or_init(|| Arc::new(found))))
    }

    /// The number of its bytes. A streamed message does not state it: outside a file it is the number of bytes of the
    /// buffer.
    pub(super) fn byte_len(&self, py: Python<'_>) -> usize {
        // A source says where its messages end.
        if self.source.is_some() {
            return self.place.len();
        }
        let Ok(memory) = self.memory(py) else { return self.place.len() };
        let stated = memory.look(py, &self.place, |bytes| {
            let length = Parsed::parse(bytes)?.total_length();
            Ok(length.and_then(|length| usize::try_from(length).ok()))
        });
        stated.ok().and_then(Result::ok).flatten().unwrap_or(self.place.len())
    }

    /// Its bytes as a read-only array: a view, if they are in memory.
    pub(super) fn as_array<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if this.elsewhere().is_some() {
            return array_out::flat(py, Dtype::Uint8, this.read(py)?);
        }
        let len = this.byte_len(py);
        let range = this.place.start..this.place.start.saturating_add(len).min(this.place.end);
        bytes_at(slf.as_any(), this.memory(py)?, &range)
    }

    /// All bytes of a message that is not in memory.
    pub(super) fn read(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let Some(Elsewhere { backing, message }) = self.elsewhere() else { return Ok(Vec::new()) };
        backing.ask(py, self.place_of(None), |archive| Ok(owned(archive.message(message)?.bytes()?)?))
    }
}

/// A read-only array of the bytes of `range`, which `owner` keeps.
#[allow(unsafe_code, reason = "an array over foreign memory")]
fn bytes_at<'py>(owner: &Bound<'py, PyAny>, memory: &Memory, range: &Range<usize>) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let address = memory.address(py, range).ok_or_else(|| PyIndexError::new_err("beyond the end of the buffer"))?;
    let dtype = numpy_memory::descr(py, Dtype::Uint8, false)?;
    // SAFETY: the memory has the bytes of `range`, as `address` found, and keeps them in place for as long as it lives.
    // `owner` keeps the memory.
    unsafe { array_out::array_at(Some(owner), &dtype, &[range.len() as u64], address) }
}
