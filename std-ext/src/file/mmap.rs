//! Files as memory maps that lend their messages out.
#![allow(unsafe_code, reason = "a memory map is unsafe by nature; each block says what is relied on")]

mod advice;

use std::fmt;
use std::ops::Range;
use std::path::Path;

pub use advice::Advice;
use memmap2::Mmap;
use tgm_core::Message;
use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::memory::prefetch;
use crate::file::open_for_reading;
use crate::scan::{Bytes, MessageLayout, ScanOptions, Segments, Table};

/// A file of messages as a memory map: messages, objects and values are borrowed from it, nothing is copied.
///
/// `Send` and `Sync`, and lock-free: the table of messages is made when the file is opened and does not change.
///
/// # Contract
/// While it is open, nobody may change the file in place or truncate it. Truncation by another process makes the operating
/// system end a process that touches the lost pages (`SIGBUS`). Changes in place change bytes behind `&[u8]`, which is
/// undefined behaviour. Replacing the file by renaming another over it is harmless, and so is appending to it.
///
/// This library cannot check that, so the constructors are `unsafe`: the caller makes the promise. A program that cannot make
/// it opens the file with [`crate::TensogramFile::open`]: positioned reads, which copy what they read and report what is gone.
///
/// # When to map and when to read
/// The times are those of `benches/run map`, beside a map without [`Advice`]; the medium decides how far they are apart.
///
/// | what is read | by | because |
/// |---|---|---|
/// | a file that is in the system's memory, any part of it | map | no call of the system, no copy, no allocation |
/// | little of each object of a file that is not: metadata, ranges, single values | map, [`Advice::Random`] for all of it | a page is read instead of many: a tenth of the time |
/// | all of an object here and there in such a file | map, [`Advice::WillNeed`] for the object, or positioned reads | one large read instead of many: a sixth of the time |
/// | everything once, in order | either | the system reads ahead by itself |
/// | more than there is memory for | map, [`Advice::Done`] for what has been read; or positioned reads | else the process seems to hold all of it, until the system takes it back |
/// | a file that others may truncate or write into; one on a network or a medium that fails | positioned reads | an error instead of the end of the process |
/// | a file larger than the address space of 32 bits | positioned reads | it cannot be mapped |
///
/// ```
/// use tgm_std::MappedFile;
///
/// // SAFETY: nobody truncates this file or writes into it.
/// let file = unsafe { MappedFile::open("../tests/data/multi/three.tgm") }?;
/// for message in file.messages() {
///     let object = message?.object(0)?;
///     println!("{} values of {}", object.descriptor().element_count(), object.descriptor().dtype());
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Without the promise it does not compile:
///
/// ```compile_fail,E0133
/// let file = tgm_std::MappedFile::open("../tests/data/multi/three.tgm");
/// ```
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
    table: Table,
}

impl MappedFile {
    /// Maps a file and finds its messages: preambles and postambles are all that is touched.
    ///
    /// # Safety
    /// Until the map is dropped, no process truncates the file or writes into it. Appending is allowed, and so is replacing
    /// the file by a rename: see the type's contract.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if it cannot be opened or mapped.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's promise is the same.
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
        let len = file.metadata().map_err(|error| TensogramError::io(path, &error))?.len();
        let map = match len {
            0 => None,
            // SAFETY: the map is read only. The caller promises that nobody truncates the file or changes it in place.
            _ => Some(unsafe { Mmap::map(&file) }.map_err(|error| TensogramError::io(path, &error))?),
        };
        let Ok::<_, std::convert::Infallible>(table) = Table::scan(Bytes(map.as_deref().unwrap_or_default()), options);
        Ok(Self { map, table })
    }

    /// Every byte of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// How many messages there are.
    pub const fn message_count(&self) -> usize {
        self.table.messages.len()
    }

    /// Where the messages lie.
    pub fn message_layouts(&self) -> &[MessageLayout] {
        &self.table.messages
    }

    /// The whole file in order: messages, and the bytes that belong to none.
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

    /// Where message `index` lies in the map.
    fn message_range(&self, index: usize) -> Result<Range<usize>> {
        let layout = self.table.get(index)?;
        let range = usize::try_from(layout.offset).ok().zip(usize::try_from(layout.length).ok());
        range.and_then(|(start, len)| Some(start..start.checked_add(len)?)).ok_or_else(beyond_the_end)
    }

    /// Message `index`, opened in place: O(1).
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message, or if it does not pass the checks of
    /// [`Message::parse`].
    pub fn message(&self, index: usize) -> Result<Message<'_>> {
        Ok(Message::parse(self.message_bytes(index)?)?)
    }

    /// All messages in order, each opened in place.
    ///
    /// Each item is what [`Self::message`] gives: a message that does not pass its checks is an error, and others follow it.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = Result<Message<'_>>> + ExactSizeIterator {
        (0..self.message_count()).map(|index| self.message(index))
    }

    /// Object `object` of message `index`, found as [`Message::object`] finds it: by the message's index, which is believed.
    ///
    /// An index that lies can lead to a frame inside another object's payload; whole decoding, which walks, then gives other
    /// values. For files of strangers, [`Message::verify_index`] says once whether the index of [`Self::message`] can be
    /// believed, and [`Message::object_by_walk`] does not look at it.
    ///
    /// No digest is looked at: [`values`](crate::values) and the like check it with `verify_hash`.
    ///
    /// # Errors
    /// Those of [`Self::message`] and [`Message::object`].
    pub fn object(&self, index: usize, object: usize) -> Result<DataObject<'_>> {
        let bytes = self.message_bytes(index)?;
        // Each frame says where the next one is, and the last one where its descriptor is.
        prefetch(bytes.get(..FRONT).unwrap_or(bytes));
        prefetch(bytes.get(bytes.len().saturating_sub(BACK)..).unwrap_or_default());
        Ok(Message::parse(bytes)?.object(object)?)
    }
}

/// Bytes in which the frames before the first object lie, mostly.
const FRONT: usize = 512;
/// Bytes in which the descriptor of the last object lies, mostly, and what follows it.
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
