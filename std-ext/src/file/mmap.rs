//! Files as memory maps. Messages are borrowed from the map.
#![allow(unsafe_code, reason = "a memory map is unsafe by nature; each block says what it relies on")]

mod advice;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;

pub use advice::Advice;
use memmap2::Mmap;
use tgm_codec::memory::prefetch;
use tgm_core::Message;
use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::source_name::SourceName;
use crate::base::span::{head, last};
use crate::base::trace;
use crate::file::identity::identity;
use crate::read::open::open_for_reading;
use crate::scan::{Bytes, MessageLayout, ScanOptions, Segments, Table};

/// A file of messages as a memory map. Messages, objects and values are borrowed from it without a copy.
///
/// The type is `Send` and `Sync`, and needs no lock: the list of messages is made when the file is opened, and never
/// changes.
///
/// # Contract
/// While the map is open, no program may truncate the file or change it in place. If another process truncates it, the
/// operating system ends a process that touches the lost pages (`SIGBUS`). Changes in place change bytes after
/// `&[u8]`, which is undefined behaviour. Appending to the file is harmless, and so is replacing it by a rename.
///
/// This library cannot check the contract. So the constructors are `unsafe`, and the caller makes the promise. A
/// program that cannot promise it opens the file with [`crate::TensogramFile::open`]. That uses positioned reads, which
/// copy what they read and return errors for bytes that are gone.
///
/// # When to map and when to read
/// The times are measured by `benches/run map`, in comparison with a map without [`Advice`]. The medium decides how
/// large the difference is.
///
/// | what is read | by | because |
/// |---|---|---|
/// | any part of a file that is in the system's cache | map | no system call, no copy, no allocation |
/// | little of each object of a file on disk: metadata, ranges, single values | map, [`Advice::Random`] for all of it | a page is read instead of many: a tenth of the time |
/// | some whole objects of a file on disk | map, [`Advice::WillNeed`] for the object, or positioned reads | one large read instead of many: a sixth of the time |
/// | everything once, in order | either | the system reads ahead by itself |
/// | more than fits the memory | map, [`Advice::Done`] for what has been read; or positioned reads | otherwise the process seems to hold all of it until the system takes it back |
/// | a file that others may truncate or write into; one on a network or a medium that fails | positioned reads | an error instead of the end of the process |
/// | a file larger than the address space of 32 bits | positioned reads | it cannot be mapped |
///
/// ```
/// use tgm_std::MappedFile;
///
/// // SAFETY: no program truncates this file or writes into it.
/// let file = unsafe { MappedFile::open("../tests/data/multi/three.tgm") }?;
/// for message in file.messages() {
///     let object = message?.object(0)?;
///     println!("{} values of {}", object.descriptor().element_count(), object.descriptor().dtype());
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Without `unsafe`, and so without the promise, it does not compile:
///
/// ```compile_fail,E0133
/// let file = tgm_std::MappedFile::open("../tests/data/multi/three.tgm");
/// ```
pub struct MappedFile {
    /// The map. `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
    table: Table,
    /// Which file it was when it was opened.
    identity: Option<Vec<u8>>,
}

impl MappedFile {
    /// Maps a file and finds its messages. Only preambles and postambles are read.
    ///
    /// # Safety
    /// Until the map is dropped, no process may truncate the file or write into it. Appending is allowed, and so is
    /// replacing the file by a rename. See the contract of the type.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if it cannot be opened or mapped.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller makes the same promise to this function.
        unsafe { Self::open_with_options(path, &ScanOptions::default()) }
    }

    /// [`Self::open`], with the messages found as `options` say.
    ///
    /// # Safety
    /// As [`Self::open`].
    ///
    /// # Errors
    /// As [`Self::open`].
    pub unsafe fn open_with_options(path: impl AsRef<Path>, options: &ScanOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = open_for_reading(path)?;
        let metadata = file.metadata().map_err(|error| TensogramError::io(path, &error))?;
        let map = match metadata.len() {
            0 => None,
            // SAFETY: the map is only read. The caller promises that no program truncates the file or changes it in place.
            _ => Some(unsafe { Mmap::map(&file) }.map_err(|error| TensogramError::io(path, &error))?),
        };
        trace::opened(&SourceName::of(path), "map");
        let bytes = map.as_deref().unwrap_or(&[]);
        let Ok::<_, std::convert::Infallible>(table) = Table::scan(Bytes(bytes), options);
        Ok(Self { map, table, identity: identity(&metadata) })
    }

    pub(super) fn identity(&self) -> Option<&[u8]> {
        self.identity.as_deref()
    }

    /// Every byte of the file.
    pub fn as_bytes(&self) -> &[u8] {
        // An empty file has no map.
        self.map.as_deref().unwrap_or(&[])
    }

    /// The number of messages.
    pub const fn message_count(&self) -> usize {
        self.table.messages.len()
    }

    /// The places of the messages.
    pub fn message_layouts(&self) -> &[MessageLayout] {
        &self.table.messages
    }

    /// The whole file in order: messages, and the bytes that belong to no message.
    pub fn segments(&self) -> Segments<'_> {
        self.table.segments()
    }

    pub(crate) const fn table(&self) -> &Table {
        &self.table
    }

    /// The bytes of message `index`: O(1).
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message.
    pub fn message_bytes(&self, index: usize) -> Result<&[u8]> {
        self.as_bytes().get(self.message_range(index)?).ok_or_else(beyond_the_end)
    }

    /// The place of message `index` in the map.
    fn message_range(&self, index: usize) -> Result<Range<usize>> {
        let layout = self.table.get(index)?;
        let range = usize::try_from(layout.offset).ok().zip(usize::try_from(layout.length).ok());
        range.and_then(|(start, len)| Some(start..start.checked_add(len)?)).ok_or_else(beyond_the_end)
    }

    /// Message `index`, parsed in place: O(1).
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; the errors of [`Message::parse`].
    pub fn message(&self, index: usize) -> Result<Message<'_>> {
        Ok(Message::parse(self.message_bytes(index)?)?)
    }

    /// All messages in order, each opened in place.
    ///
    /// Each item is what [`Self::message`] gives: a message that does not pass its checks is an error, and others follow it.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = Result<Message<'_>>> + ExactSizeIterator {
        (0..self.message_count()).map(|index| self.message(index))
    }

    /// Object `object` of message `index`. It is found as by [`Message::object`]: the index of the message is trusted.
    ///
    /// A wrong index can point to a frame inside another object's payload. Decoding the whole message then gives other
    /// values, because it walks over the frames. For files from unknown sources, call [`Message::verify_index`] on
    /// [`Self::message`] once, or use [`Message::object_by_walk`], which ignores the index.
    ///
    /// The digest is not checked. A request ([`read`](crate::read())) checks it with `verify_hash`.
    ///
    /// # Errors
    /// The errors of [`Self::message`] and [`Message::object`].
    pub fn object(&self, index: usize, object: usize) -> Result<DataObject<'_>> {
        let bytes = self.message_bytes(index)?;
        // Both ends are prefetched, because reading them frame by frame waits for memory at each frame.
        prefetch(head(bytes, FRONT as u64));
        prefetch(last(bytes, BACK));
        Ok(Message::parse(bytes)?.object(object)?)
    }

    /// Tells the system how object `object` of message `index` will be read: its payload and masks. Finding the object
    /// reads its frame header and descriptor.
    ///
    /// Advice applies to whole pages. The pages at both ends may hold parts of other objects. [`Advice::Random`] and
    /// [`Advice::Sequential`] split the map, and the number of maps of a process is limited (65,530 by default on
    /// Linux). So for thousands of objects, give such advice once with [`Self::advise_all`]. Other advice leaves
    /// nothing after.
    ///
    /// ```
    /// use tgm_std::{Advice, MappedFile};
    ///
    /// // SAFETY: no program truncates this file or writes into it.
    /// let file = unsafe { MappedFile::open("../tests/data/multi/three.tgm") }?;
    /// for index in 0..file.message_count() {
    ///     file.advise(index + 1, 0, Advice::WillNeed).ok(); // the next one, if there is one
    ///     let object = file.object(index, 0)?;
    ///     println!("{:?}", object.payload().iter().max());
    ///     file.advise(index, 0, Advice::Done)?;
    /// }
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Self::object`]; [`TensogramError::Io`] if the system does not take the advice.
    pub fn advise(&self, index: usize, object: usize, advice: Advice) -> Result<()> {
        let (message, object) = (self.message_range(index)?, self.object(index, object)?);
        let start = usize::try_from(object.region_offset()).ok().and_then(|offset| message.start.checked_add(offset));
        let range = start.and_then(|start| Some(start..start.checked_add(object.region().len())?));
        let beyond = || TensogramError::Framing("object lies beyond the end of the file".into());
        self.advise_range(&range.ok_or_else(beyond)?, advice)
    }

    /// Tells the system how the whole message `index` will be read. No page is read for that. See [`Self::advise`].
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; [`TensogramError::Io`] if the system does not take the
    /// advice.
    pub fn advise_message(&self, index: usize, advice: Advice) -> Result<()> {
        self.advise_range(&self.message_range(index)?, advice)
    }

    /// Tells the system how the whole file will be read.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if the system does not take the advice.
    pub fn advise_all(&self, advice: Advice) -> Result<()> {
        self.advise_range(&(0..self.as_bytes().len()), advice)
    }

    /// Gives advice about a range, which must lie within the map.
    fn advise_range(&self, range: &Range<usize>, advice: Advice) -> Result<()> {
        let Some(map) = self.map.as_ref().filter(|_| !range.is_empty()) else { return Ok(()) };
        advice::give(map, range, advice).map_err(|error| {
            let what = format!("advice about bytes {} to {}: {error}", range.start, range.end);
            TensogramError::Io(io::Error::new(error.kind(), what))
        })
    }
}

/// Bytes at the front of a message that mostly hold the frames before the first object.
const FRONT: usize = 512;
/// Bytes at the end of a message that mostly hold the last object's descriptor, and everything after it.
const BACK: usize = 256;

#[cold]
fn beyond_the_end() -> TensogramError {
    TensogramError::Framing("message lies beyond the end of the map".into())
}

impl fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedFile")
            .field("bytes", &self.as_bytes().len())
            .field("messages", &self.message_count())
            .finish_non_exhaustive()
    }
}
