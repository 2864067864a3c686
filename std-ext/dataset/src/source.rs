//! One source of messages, where its objects are, and how parts of them are read.

use std::fmt;
use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tgm_catalog::tree::side_by_side;
use tgm_core::selection::Pick;
use tgm_core::wire::{DATA_OBJECT_FOOTER_SIZE, ObjectTail};
use tgm_std::decode::Selected;
use tgm_std::file::{Data, TensogramFile};
use tgm_std::internal::is_of_server;
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use tgm_std::{DataObjectDescriptor, DecodeOptions, Result, TensogramError};
use zerocopy::FromBytes as _;

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
    /// The first byte of its message, if a catalogue told it. Then the messages before it are not known, and need not be.
    pub(crate) start: Option<u64>,
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
}

/// Bytes at the end of a file that are remembered: they hold the digest of its last object, as far as messages have digests.
const TAIL: u64 = 256;
/// Bytes of an identity that say on which device a file is. Machines that share a file may number devices differently.
const DEVICE: usize = 8;

/// An open source.
pub(crate) struct Source {
    file: Arc<TensogramFile>,
    /// Which file it is, and in which state it was opened. `None` for one on a server, of which all answers are of one version.
    identity: Option<Vec<u8>>,
    /// Where its last bytes were when it was opened, and what they were.
    tail: (u64, Vec<u8>),
    /// What reads parts of long objects. It keeps the structure of messages from call to call: a message can have very many
    /// objects.
    reader: OnceLock<Reader<Ranges>>,
    /// The same for messages on a server whose places a catalogue told: where each begins, and its reader. The one that was used last
    /// is at the end.
    distant: Mutex<Vec<(u64, Arc<Reader<Ranges>>)>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.file.name().to_string()).finish_non_exhaustive()
    }
}

impl Source {
    /// A file that was opened, and of which nothing was read yet.
    pub(crate) fn new(file: TensogramFile) -> Self {
        let identity = (!file.is_remote()).then(|| Data::from(&file).identity()).flatten();
        let size = identity.as_deref().and_then(size_of);
        let start = size.map_or(0, |size| size.saturating_sub(TAIL));
        let tail = size.and_then(|size| bytes_at(&file, start..size)).unwrap_or_default();
        Self { file: Arc::new(file), identity, tail: (start, tail), reader: OnceLock::new(), distant: Mutex::default() }
    }

    pub(crate) fn file(&self) -> &TensogramFile {
        &self.file
    }

    /// What changes when the file is written. Machines that share it agree on it. `None` where the system or the server does not tell.
    pub(crate) fn version(&self) -> Option<Vec<u8>> {
        let identity = if self.file.is_remote() { Data::from(&*self.file).identity() } else { self.identity.clone() }?;
        let start = if is_of_server(&identity) { 0 } else { DEVICE };
        identity.get(start..).map(<[u8]>::to_vec)
    }

    /// Whether the file was written to since it was opened. A file that was replaced by another one stays the one that was opened.
    pub(crate) fn is_changed(&self) -> bool {
        !self.file.is_remote() && Data::from(&*self.file).identity() != self.identity
    }

    /// Whether something was appended to the file since it was opened, as far as that shows: it is longer, and what was at its end
    /// is there still.
    fn has_grown(&self) -> bool {
        let now = Data::from(&*self.file).identity();
        let is_longer = now.as_deref().and_then(size_of) > self.identity.as_deref().and_then(size_of);
        let (start, tail) = &self.tail;
        let end = start.saturating_add(tail.len() as u64);
        is_longer && !tail.is_empty() && bytes_at(&self.file, *start..end).as_ref() == Some(tail)
    }

    /// The digest of an object's frame, as it is there now. `None` if it has none.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn digest(&self, entry: &Entry) -> Result<Option<NonZeroU64>> {
        let mut tail = [0; DATA_OBJECT_FOOTER_SIZE];
        let read = self.file.read_at(entry.end().saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64), &mut tail)?;
        Ok(tail.get(..read).and_then(digest_of))
    }

    /// Says whether an object that was read is the one that was there when the source was opened. Where the file was written to
    /// since, the digest of its frame tells: what was appended changes no object.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if it is another one, or cannot be told; the errors of reading.
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
        let text = format!("{}: the file was changed since the dataset was opened: open it again", self.file.name());
        Err(TensogramError::Metadata(text.into()))
    }

    /// The reader of the message that begins at a byte of a file on a server. Each new one would ask for the structure again.
    fn reader_from(&self, start: u64) -> Arc<Reader<Ranges>> {
        let mut known = self.distant.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|(own, _)| *own == start).map(|at| known.remove(at));
        let (_, reader) = found.unwrap_or_else(|| {
            let ranges = Ranges { file: Arc::clone(&self.file), start, size: OnceLock::new() };
            (start, Arc::new(Reader::new(ranges, ReadOptions::remote())))
        });
        if known.len() >= REMEMBERED {
            known.remove(0);
        }
        known.push((start, Arc::clone(&reader)));
        reader
    }

    /// What `picks` take of an object. Only the parts are read that hold it.
    ///
    /// # Errors
    /// The errors of reading and decoding.
    pub(crate) fn select(
        &self,
        entry: &Entry,
        picks: &[Pick],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Selected<'static>)> {
        let (message, object) = (entry.message as usize, entry.object as usize);
        if self.file.is_remote() {
            let Some(start) = entry.start else { return self.file.select(message, object, picks, options) };
            // To a server, finding a message by its number takes a request for each one before it.
            return self.reader_from(start).select(0, object, picks, options);
        }
        let ranges = || Ranges { file: Arc::clone(&self.file), start: 0, size: OnceLock::new() };
        let reader = self.reader.get_or_init(|| Reader::new(ranges(), ReadOptions::local()));
        let found = reader.select(message, object, picks, options);
        // What lies there by now may be no object.
        self.check(entry)?;
        found
    }
}

/// Messages on a server whose structure is remembered.
const REMEMBERED: usize = 64;

/// The size of a file of this machine that has this identity.
fn size_of(identity: &[u8]) -> Option<u64> {
    identity.last_chunk().map(|size| u64::from_le_bytes(*size))
}

/// Bytes of a file. `None` if it has fewer.
fn bytes_at(file: &TensogramFile, range: Range<u64>) -> Option<Vec<u8>> {
    let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok())?;
    let mut bytes = vec![0; len];
    (file.read_at(range.start, &mut bytes).ok()? == len).then_some(bytes)
}

/// The digest in the last bytes of a frame. `None` if it has none.
pub(crate) fn digest_of(frame: &[u8]) -> Option<NonZeroU64> {
    let (_, tail) = ObjectTail::ref_from_suffix(frame).ok()?;
    NonZeroU64::new(tail.hash.get())
}

/// Ranges of bytes of an open file, from a byte on.
struct Ranges {
    file: Arc<TensogramFile>,
    start: u64,
    /// Bytes from there on. Asked for once: what is read lies where it lay when the dataset was opened, and a file that was cut since
    /// gives fewer bytes.
    size: OnceLock<u64>,
}

impl Ranges {
    fn size(&self) -> Result<u64> {
        if let Some(size) = self.size.get() {
            return Ok(*size);
        }
        let size = Data::from(&*self.file).length()?.saturating_sub(self.start);
        Ok(*self.size.get_or_init(|| size))
    }

    fn failed(&self, error: &TensogramError) -> FetchError {
        let kind = match error {
            TensogramError::Io(error) => FetchErrorKind::Io(error.kind()),
            _ => FetchErrorKind::Io(io::ErrorKind::Other),
        };
        FetchError::new(kind, format!("{}: {error}", self.file.name()))
    }

    fn read(&self, want: &Want) -> Result<Fetched> {
        let size = self.size()?;
        let range = want.within(size);
        let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok());
        let mut bytes =
            tgm_std::internal::reserve(len.ok_or_else(|| TensogramError::Metadata("a frame is too long".into()))?)?;
        let read = self.file.read_at(range.start.saturating_add(self.start), &mut bytes)?;
        bytes.truncate(read);
        Ok(Fetched { offset: range.start, bytes, size: Some(size), tag: None })
    }
}

impl RangeFetch for Ranges {
    fn fetch(&self, want: &Want, _: Option<&Tag>) -> std::result::Result<Fetched, FetchError> {
        self.read(want).map_err(|error| self.failed(&error))
    }

    fn fetch_many(&self, wants: &[Want], _: Option<&Tag>) -> Vec<std::result::Result<Fetched, FetchError>> {
        let threads = if self.file.is_remote() { DISTANT_AT_ONCE } else { 1 };
        side_by_side(wants, threads, |want| self.fetch(want, None))
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { size: self.size().ok(), ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        self.file.name().to_string()
    }
}
