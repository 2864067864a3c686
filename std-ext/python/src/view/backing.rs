//! Where the messages of an archive are, and how their bytes are read.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use numpy::{PyArray1, PyArrayMethods as _, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use tgm_std::core::selection::Pick;
use tgm_std::file::{SourceName, query};
use tgm_std::hash::checked_metadata;
use tgm_std::metadata::query::Query;
use tgm_std::read::{RangeFetch as _, ReadOptions, Reader, Want};
use tgm_std::scan::MessageLayout;
use tgm_std::{DataObjectDescriptor, DecodeOptions, GlobalMetadata, MappedFile, Result, TensogramError, TensogramFile};

use super::memory::Memory;
use crate::errors::{Place, exception};
use crate::source::PythonFile;
use crate::work::detached;

/// Where the messages of an archive are.
#[expect(clippy::large_enum_variant, reason = "an archive has one, behind a pointer")]
pub(super) enum Backing {
    /// A memory map.
    Map(Arc<MappedFile>, Arc<Memory>),
    /// A buffer of Python, with the messages in it.
    Buffer(Arc<Memory>, Vec<(usize, usize)>),
    /// A file of this machine that is read at positions, or a source at an address.
    File(TensogramFile, Layouts),
    /// A file object of Python.
    Object(Reader<PythonFile>, Layouts),
}

/// The places of all messages, once they are searched for.
type Layouts = OnceLock<Vec<MessageLayout>>;

/// A message: in memory, or elsewhere.
pub(super) enum Lies {
    /// In memory, at this place.
    Here(Arc<Memory>, Range<usize>),
    /// In the source, at this place.
    There(MessageLayout),
}

impl Backing {
    /// Messages of a file that is opened.
    pub(super) fn file(file: TensogramFile) -> Self {
        Self::File(file, Layouts::new())
    }

    /// Messages of a file object.
    pub(super) fn object(file: PythonFile) -> Self {
        Self::Object(Reader::new(file, ReadOptions::local()), Layouts::new())
    }

    /// Does `work`, which reads from the source, without the GIL.
    ///
    /// # Errors
    /// The errors of the work; what a file object raised.
    pub(super) fn ask<R: Send>(
        &self,
        py: Python<'_>,
        place: Place,
        work: impl FnOnce(&Self) -> Result<R> + Send,
    ) -> PyResult<R> {
        if let Self::Object(reader, _) = self {
            reader.source().refuse_reentry()?;
        }
        let done = detached(py, || work(self))?;
        let failure = match self {
            Self::Object(reader, _) => reader.source().take_failure(),
            _ => None,
        };
        done.map_err(|error: TensogramError| failure.unwrap_or_else(|| exception(py, &error, place)))
    }

    /// The places of all messages of a source that is not in memory.
    fn layouts(&self) -> Result<&[MessageLayout]> {
        let (found, layouts) = match self {
            Self::Map(..) | Self::Buffer(..) => return Ok(&[]),
            Self::File(_, layouts) | Self::Object(_, layouts) if layouts.get().is_some() => {
                return Ok(layouts.get().map(Vec::as_slice).unwrap_or_default());
            }
            Self::File(file, layouts) => (file.message_layouts()?, layouts),
            Self::Object(reader, layouts) => (reader.message_layouts()?, layouts),
        };
        Ok(layouts.get_or_init(|| found))
    }

    /// The number of messages, if it is known without reading.
    pub(super) fn known_count(&self) -> Option<usize> {
        match self {
            Self::Map(file, _) => Some(file.message_count()),
            Self::Buffer(_, places) => Some(places.len()),
            Self::File(_, layouts) | Self::Object(_, layouts) => layouts.get().map(Vec::len),
        }
    }

    /// The number of messages. The first call searches for them.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn count(&self, py: Python<'_>) -> PyResult<usize> {
        match self.known_count() {
            Some(count) => Ok(count),
            None => self.ask(py, Place::UNKNOWN, |backing| Ok(backing.layouts()?.len())),
        }
    }

    /// Where message `index` lies. `None` if there is no such message.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn locate(&self, py: Python<'_>, index: usize) -> PyResult<Option<Lies>> {
        let here = |memory: &Arc<Memory>, start: usize, len: usize| {
            Some(Lies::Here(Arc::clone(memory), start..start.checked_add(len)?))
        };
        Ok(match self {
            Self::Map(file, memory) => file.message_layouts().get(index).and_then(|layout| {
                here(memory, usize::try_from(layout.offset).ok()?, usize::try_from(layout.length).ok()?)
            }),
            Self::Buffer(memory, places) => places.get(index).and_then(|&(start, len)| here(memory, start, len)),
            _ => self.ask(py, Place::UNKNOWN, |backing| Ok(backing.layouts()?.get(index).copied()))?.map(Lies::There),
        })
    }

    /// Bytes of messages up to this length are read at once, with their payloads.
    pub(super) fn whole_message(&self) -> u64 {
        match self {
            Self::File(file, _) if file.is_remote() => ReadOptions::remote().whole_message,
            _ => ReadOptions::local().whole_message,
        }
    }

    /// All of message `index`, or all but its payloads and masks, which are zeros then.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn outline(&self, index: usize) -> Result<Vec<u8>> {
        match self {
            Self::File(file, _) => file.read_message_outline(index),
            Self::Object(reader, _) => reader.read_message_outline(index),
            Self::Map(..) | Self::Buffer(..) => Err(in_memory()),
        }
    }

    /// The bytes of message `index`.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn message(&self, index: usize) -> Result<Vec<u8>> {
        match self {
            Self::File(file, _) => file.read_message(index),
            Self::Object(reader, _) => reader.read_message(index),
            Self::Map(..) | Self::Buffer(..) => Err(in_memory()),
        }
    }

    /// Fills `out` with the bytes of the source from `offset` on.
    ///
    /// # Errors
    /// The errors of the source; [`TensogramError::Framing`] if it ends before.
    pub(super) fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let read = match self {
            Self::File(file, _) => file.read_at(offset, out)?,
            Self::Object(reader, _) => {
                let want = Want::At(offset..offset.saturating_add(out.len() as u64));
                let bytes = reader.source().fetch(&want, None)?.bytes;
                out.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
                bytes.len()
            }
            Self::Map(..) | Self::Buffer(..) => return Err(in_memory()),
        };
        if read < out.len() {
            let (end, len) = (offset.saturating_add(read as u64), out.len());
            return Err(TensogramError::Framing(
                format!("the source ends at byte {end}, within {len} bytes from byte {offset} on").into(),
            ));
        }
        Ok(())
    }

    /// Fills a flat array of bytes with the bytes of the source from `offset` on.
    ///
    /// # Errors
    /// The errors of [`Self::read_into`].
    #[allow(unsafe_code, reason = "numpy gives an address")]
    pub(super) fn fill(&self, py: Python<'_>, place: Place, offset: u64, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let array = array.cast::<PyArray1<u8>>()?;
        let len = array.len();
        if let Self::Object(..) = self {
            let view = py.get_type::<PyMemoryView>().call1((array,))?.unbind();
            return self.ask(py, place, move |backing| match backing {
                Self::Object(reader, _) => Ok(reader.source().fill(offset, &view, len)?),
                _ => Err(in_memory()),
            });
        }
        if !array.is_contiguous() {
            return Err(PyValueError::new_err("the array is not contiguous"));
        }
        let address = array.data() as usize;
        self.ask(py, place, |backing| {
            // SAFETY: a contiguous array of bytes has `len` of them there, which were written when it was made. The
            // caller holds the array, so that numpy keeps them. Callers fill arrays that are new, or that they were
            // given to be written to: another thread that looks meanwhile sees some old and some new bytes, as with
            // functions of numpy that give the GIL away.
            let out = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, len) };
            if len == 0 { Ok(()) } else { backing.read_into(offset, out) }
        })
    }

    /// The bytes of the source in this range.
    ///
    /// # Errors
    /// The errors of [`Self::read_into`]; [`TensogramError::Encoding`] for want of memory.
    pub(super) fn read(&self, range: &Range<u64>) -> Result<Vec<u8>> {
        let len = usize::try_from(range.end.saturating_sub(range.start)).map_err(|error| too_large(&error))?;
        if let Self::Object(reader, _) = self {
            let bytes = reader.source().fetch(&Want::At(range.clone()), None)?.bytes;
            return if bytes.len() == len { Ok(bytes) } else { Err(ends_early(range)) };
        }
        let mut bytes = tgm_std::codec::memory::zeros(len)?;
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// The values that `picks` take of an object. Only what holds them is read, where the compression has parts.
    ///
    /// # Errors
    /// The errors of the source, and of decoding.
    pub(super) fn select(
        &self,
        index: usize,
        object: usize,
        picks: &[Pick],
        options: &DecodeOptions,
    ) -> Result<Vec<u8>> {
        let selected = match self {
            Self::File(file, _) => file.select(index, object, picks, options),
            Self::Object(reader, _) => reader.select(index, object, picks, options),
            Self::Map(..) | Self::Buffer(..) => Err(in_memory()),
        };
        selected.map(|(_, selected)| selected.bytes.into_owned())
    }

    /// The values of ranges of an object, as [`Self::select`] reads them.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub(super) fn ranges(
        &self,
        index: usize,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<Vec<u8>>> {
        let found = match self {
            Self::File(file, _) => file.decode_range(index, object, ranges, options),
            Self::Object(reader, _) => reader.decode_range(index, object, ranges, options),
            Self::Map(..) | Self::Buffer(..) => Err(in_memory()),
        };
        found.map(|(_, values)| values)
    }

    /// An object, decoded by the rules of its whole message: its digest may be promised elsewhere than in its frame.
    ///
    /// # Errors
    /// The errors of the source, and of decoding.
    pub(super) fn object_of(
        &self,
        index: usize,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
        match self {
            Self::File(file, _) => file.decode_object(index, object, options),
            Self::Object(reader, _) => reader.decode_object(index, object, options),
            Self::Map(..) | Self::Buffer(..) => Err(in_memory()),
        }
    }

    /// The objects for which a query holds, as numbers of messages and of objects in them.
    ///
    /// # Errors
    /// The errors of the source, and of metadata.
    pub(super) fn query(
        &self,
        py: Python<'_>,
        asked: &Query,
        options: &DecodeOptions,
    ) -> PyResult<Vec<(usize, usize)>> {
        match self {
            Self::Map(file, _) => self.ask(py, Place::UNKNOWN, |_| file.query(asked, options)),
            Self::File(file, _) => self.ask(py, Place::UNKNOWN, |_| file.query(asked, options)),
            Self::Buffer(memory, _) => {
                let found = memory.run(py, &(0..memory.len(py)), |bytes| query(bytes, asked, options))?;
                found.map_err(|error| exception(py, &error, Place::UNKNOWN))
            }
            Self::Object(..) => self.ask(py, Place::UNKNOWN, |backing| backing.query_each(asked)),
        }
    }

    /// [`Self::query`] message by message.
    fn query_each(&self, asked: &Query) -> Result<Vec<(usize, usize)>> {
        let mut found = Vec::new();
        for message in 0..self.layouts()?.len() {
            tgm_std::interrupt::check()?;
            let bytes = self.outline(message)?;
            let metadata = checked_metadata(&tgm_std::core::Message::parse(&bytes)?)?;
            asked.objects_of(&metadata, |object| found.push((message, object)))?;
        }
        Ok(found)
    }

    /// The bytes at the front of the source, up to `len`.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn head(&self, py: Python<'_>, len: usize) -> PyResult<Vec<u8>> {
        let of_memory = |memory: &Memory| {
            let len = memory.len(py).min(len);
            memory.look(py, &(0..len), |bytes| Ok(bytes.to_vec()))
        };
        let head = match self {
            Self::Map(_, memory) | Self::Buffer(memory, _) => of_memory(memory)?,
            Self::File(..) => Ok(self.ask(py, Place::UNKNOWN, |backing| {
                let Self::File(file, _) = backing else { return Ok(Vec::new()) };
                let mut head = vec![0; len];
                let read = file.read_at(0, &mut head)?;
                head.truncate(read);
                Ok(head)
            })?),
            Self::Object(..) => Ok(self.ask(py, Place::UNKNOWN, |backing| {
                let Self::Object(reader, _) = backing else { return Ok(Vec::new()) };
                Ok(reader.source().fetch(&Want::At(0..len as u64), None)?.bytes)
            })?),
        };
        head.map_err(|error| exception(py, &error, Place::UNKNOWN))
    }

    /// The name of the source as texts show it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(file, _) => file.name().to_string(),
            Self::Object(reader, _) => SourceName::of(reader.source().title()).to_string(),
            Self::Map(_, memory) | Self::Buffer(memory, _) => memory.name().to_owned(),
        }
    }
}

/// Messages in memory are not read. A caller that asks for it has a defect.
fn in_memory() -> TensogramError {
    TensogramError::Framing("the message is in memory".into())
}

fn too_large(error: &impl std::fmt::Display) -> TensogramError {
    TensogramError::Encoding(format!("an object is larger than this machine can address: {error}").into())
}

fn ends_early(range: &Range<u64>) -> TensogramError {
    TensogramError::Framing(format!("the source ends within bytes {} to {}", range.start, range.end).into())
}
