//! Where the messages of an archive are: an archive of the library, and what Python's classes need beside it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use tgm_std::file::query;
use tgm_std::metadata::query::Query;
use tgm_std::read::{RangeFetch as _, ReadOptions};
use tgm_std::scan::MessageLayout;
use tgm_std::{Archive, DecodeOptions, MappedFile, Result, TensogramError, TensogramFile};

use super::memory::Memory;
use crate::convert::buffers::Bytes;
use crate::errors::{Place, exception};
use crate::source::{PythonFile, SharedFile, buffer};
use crate::work::detached;

/// Where the messages of an archive are.
pub(super) struct Backing {
    archive: Arc<Archive<'static>>,
    /// The source in texts.
    name: String,
    is_remote: bool,
    /// The memory that messages lie in, if they lie in memory.
    memory: Option<Arc<Memory>>,
    /// The file object that is read, if one is.
    file: Option<Arc<PythonFile>>,
    /// The places of all messages, once they are searched for.
    layouts: OnceLock<Vec<MessageLayout>>,
}

/// A message: in memory, or elsewhere.
pub(super) enum Lies {
    /// In memory, at this place.
    Here(Arc<Memory>, Range<usize>),
    /// In the source, at this place.
    There(MessageLayout),
}

impl Backing {
    /// Messages of a file of this machine that is read at positions, or of a source at an address.
    pub(super) fn file(file: TensogramFile) -> Self {
        let (name, is_remote) = (file.name().to_string(), file.is_remote());
        Self { archive: Arc::new(file.into()), name, is_remote, memory: None, file: None, layouts: OnceLock::new() }
    }

    /// Messages of a file object.
    pub(super) fn object(file: PythonFile) -> Self {
        let file = Arc::new(file);
        let shared = SharedFile(Arc::clone(&file));
        let name = shared.name();
        let archive = Arc::new(Archive::from_fetch(shared, ReadOptions::local()));
        Self { archive, name, is_remote: false, memory: None, file: Some(file), layouts: OnceLock::new() }
    }

    /// Messages of a map.
    pub(super) fn map(mapped: MappedFile) -> Self {
        let mapped = Arc::new(mapped);
        Self::in_memory(Arc::clone(&mapped).into(), Memory::Map(mapped))
    }

    /// Messages of a buffer of Python.
    ///
    /// # Errors
    /// `TypeError` for an object without a buffer of bytes.
    pub(super) fn buffer(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let memory = Memory::Buffer(Bytes::borrow(source, "source")?);
        Ok(Self::in_memory(buffer::archive(source, "source")?, memory))
    }

    fn in_memory(archive: Archive<'static>, memory: Memory) -> Self {
        let (name, archive) = (memory.name().to_owned(), Arc::new(archive));
        Self { archive, name, is_remote: false, memory: Some(Arc::new(memory)), file: None, layouts: OnceLock::new() }
    }

    /// The archive of the library, for datasets.
    pub(super) fn archive(&self) -> Arc<Archive<'static>> {
        Arc::clone(&self.archive)
    }

    /// Does `work`, which reads from the source, without the GIL.
    ///
    /// # Errors
    /// The errors of the work; what a file object raised.
    pub(super) fn ask<R: Send>(
        &self,
        py: Python<'_>,
        place: Place,
        work: impl FnOnce(&Archive<'static>) -> Result<R> + Send,
    ) -> PyResult<R> {
        if let Some(file) = &self.file {
            file.refuse_reentry()?;
        }
        let done = detached(py, || work(&self.archive))?;
        let failure = self.file.as_ref().and_then(|file| file.take_failure());
        done.map_err(|error: TensogramError| failure.unwrap_or_else(|| exception(py, &error, place)))
    }

    /// The places of all messages. The first call searches for them.
    fn layouts(&self, py: Python<'_>) -> PyResult<&[MessageLayout]> {
        if let Some(layouts) = self.layouts.get() {
            return Ok(layouts);
        }
        let found = self.ask(py, Place::UNKNOWN, Archive::layouts)?;
        Ok(self.layouts.get_or_init(|| found))
    }

    /// The number of messages, if it is known without reading.
    pub(super) fn known_count(&self, py: Python<'_>) -> Option<usize> {
        if self.memory.is_some() { self.count(py).ok() } else { self.layouts.get().map(Vec::len) }
    }

    /// The number of messages. The first call searches for them.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn count(&self, py: Python<'_>) -> PyResult<usize> {
        self.layouts(py).map(<[_]>::len)
    }

    /// Where message `index` lies. `None` if there is no such message.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn locate(&self, py: Python<'_>, index: usize) -> PyResult<Option<Lies>> {
        let Some(&layout) = self.layouts(py)?.get(index) else { return Ok(None) };
        let Some(memory) = &self.memory else { return Ok(Some(Lies::There(layout))) };
        let place = usize::try_from(layout.offset).ok().zip(usize::try_from(layout.length).ok());
        let place = place.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        Ok(place.map(|place| Lies::Here(Arc::clone(memory), place)))
    }

    /// Bytes of messages up to this length are read at once, with their payloads.
    pub(super) fn whole_message(&self) -> u64 {
        self.archive.whole_message()
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
        self.ask(py, Place::UNKNOWN, |archive| query(archive, asked, options))
    }

    /// Whether reading takes requests to a server.
    pub(super) const fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// The name of the source as texts show it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}
