//! One archive of a dataset: which one it is, in which state it was opened, and its objects by their places.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use tgm_core::frame::stored_hash;
use tgm_core::wire::DATA_OBJECT_FOOTER_SIZE;
use tgm_std::archive::Object;
use tgm_std::file::Data;
use tgm_std::internal::is_of_server;
use tgm_std::{Archive, Result, TensogramError};

/// What is asked of servers side by side.
pub(crate) const DISTANT_AT_ONCE: usize = 32;

/// Where an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The number of its source.
    pub(crate) source: u32,
    /// The number of its message in the source.
    pub(crate) message: u32,
    /// Its number in the message.
    pub(crate) object: u32,
    /// The first byte of its frame in the source.
    pub(crate) offset: u64,
    /// Bytes of its frame.
    pub(crate) length: u64,
    /// The digest of its frame. `None` if it was not read, or has none.
    pub(crate) digest: Option<NonZeroU64>,
    /// Whether its elements are packed, and `float32` tells all of them apart.
    pub(crate) fits_float32: bool,
}

impl Entry {
    /// Where its frame ends, in a source that was searched for it.
    pub(crate) const fn end(&self) -> u64 {
        self.offset + self.length
    }

    /// The bytes of its frame.
    pub(crate) const fn frame(&self) -> Range<u64> {
        self.offset..self.end()
    }
}

/// Bytes at the end of a file that are remembered: they hold the digest of its last object, as far as messages have digests.
const TAIL: u64 = 256;
/// Bytes of an identity that say on which device a file is. Machines that share a file may number devices differently.
const DEVICE: usize = 8;

/// An open source.
pub(crate) struct Source {
    archive: Arc<Archive<'static>>,
    /// Which file of this machine it is, and in which state it was opened. `None` for another source, of which all answers are of one
    /// version.
    identity: Option<Vec<u8>>,
    /// Where its last bytes were when it was opened, and what they were.
    tail: (u64, Vec<u8>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.archive.name()).finish_non_exhaustive()
    }
}

impl Source {
    /// An archive that was opened.
    pub(crate) fn new(archive: Arc<Archive<'static>>) -> Self {
        let own = archive.place().is_some() && !archive.is_distant();
        let identity = own.then(|| Data::from(&*archive).identity()).flatten();
        let size = identity.as_deref().and_then(size_of);
        let start = size.map_or(0, |size| size.saturating_sub(TAIL));
        let tail = size.and_then(|size| bytes_at(&archive, start..size)).unwrap_or_default();
        Self { archive, identity, tail: (start, tail) }
    }

    pub(crate) fn archive(&self) -> &Archive<'static> {
        &self.archive
    }

    /// What changes when the file is written. Machines that share it agree on it. `None` where the system or the server does not tell.
    pub(crate) fn version(&self) -> Option<Vec<u8>> {
        let identity = self.identity.clone().or_else(|| Data::from(&*self.archive).identity())?;
        let start = if is_of_server(&identity) { 0 } else { DEVICE };
        identity.get(start..).map(<[u8]>::to_vec)
    }

    /// Whether the file was written to since it was opened. A file that was replaced by another one stays the one that was opened.
    pub(crate) fn is_changed(&self) -> bool {
        self.identity.is_some() && Data::from(&*self.archive).identity() != self.identity
    }

    /// Whether something was appended to the file since it was opened, as far as that shows: it is longer, and what was at its end
    /// is there still.
    fn has_grown(&self) -> bool {
        let now = Data::from(&*self.archive).identity();
        let is_longer = now.as_deref().and_then(size_of) > self.identity.as_deref().and_then(size_of);
        let (start, tail) = &self.tail;
        let end = start + tail.len() as u64;
        is_longer && !tail.is_empty() && bytes_at(&self.archive, *start..end).as_ref() == Some(tail)
    }

    /// The digest of an object's frame, as it is there now. `None` if it has none.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn digest(&self, entry: &Entry) -> Result<Option<NonZeroU64>> {
        let mut tail = [0; DATA_OBJECT_FOOTER_SIZE];
        let read = self.archive.read_at(entry.end().saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64), &mut tail)?;
        Ok(tail.get(..read).and_then(digest_of))
    }

    /// Says whether an object that was read is the one that was there when the source was opened. Where the file was written to
    /// since, the digest of its frame tells: what was appended changes no object.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if it is another one, or that cannot be known; the errors of reading.
    pub(crate) fn check(&self, entry: &Entry) -> Result<()> {
        if self.is_changed() { self.check_digest(entry, self.digest(entry)?) } else { Ok(()) }
    }

    /// [`Self::check`] for a file that was written to. `now` is the digest of the frame that was read. An object whose digest was not
    /// known when the source was opened, as catalogues have none, counts as the same if something was appended.
    pub(crate) fn check_digest(&self, entry: &Entry, now: Option<NonZeroU64>) -> Result<()> {
        let is_same = if entry.digest.is_some() { now == entry.digest } else { self.has_grown() };
        if is_same {
            return Ok(());
        }
        let text = format!("{}: the file was changed since the dataset was opened: open it again", self.archive.name());
        Err(TensogramError::Metadata(text.into()))
    }

    /// What `read` makes of an object, of which no more is fetched than that needs.
    ///
    /// # Errors
    /// The errors of `read`; as [`Self::check`], which comes first: what lies there by now may be no object.
    pub(crate) fn with_object<'s, T>(
        &'s self,
        entry: &Entry,
        read: impl FnOnce(&Object<'s>) -> Result<T>,
    ) -> Result<T> {
        let object = self.archive.object_at((entry.message as usize, entry.object as usize), entry.frame());
        let found = object.and_then(|object| read(&object));
        self.check(entry)?;
        found
    }
}

/// The size of a file of this machine that has this identity.
fn size_of(identity: &[u8]) -> Option<u64> {
    identity.last_chunk().map(|size| u64::from_le_bytes(*size))
}

/// Bytes of an archive. `None` if it has fewer.
fn bytes_at(archive: &Archive<'_>, range: Range<u64>) -> Option<Vec<u8>> {
    let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok())?;
    let mut bytes = vec![0; len];
    (archive.read_at(range.start, &mut bytes).ok()? == len).then_some(bytes)
}

/// The digest in the last bytes of a frame. `None` if it has none.
pub(crate) fn digest_of(frame: &[u8]) -> Option<NonZeroU64> {
    NonZeroU64::new(stored_hash(frame)?)
}
