//! Archives: messages of any source, and the objects in them, which are read when their values are asked for.
//!
//! ```text
//! archive ─ message(i) ─► message ─ object(k) ─► object ─ read() ─► request ─► values
//!    │                                             ▲
//!    └─ query, objects, object(i, k) ──────────────┘
//! ```
//!
//! | noun | what it is | verbs |
//! |---|---|---|
//! | [`Archive`] | messages of any source: bytes, a path, a map, an address, something with `read` and `seek` | open, len, index, iterate, query, append |
//! | [`Message`] | one message; its bytes are borrowed where they are at hand | metadata, objects, verify |
//! | [`Object`] | one tensor, not yet read | shape, dtype, stages, bytes, where it can be cut; metadata; **read** |
//! | [`Read`](crate::Read) | a request: all, ranges or a box; how it is decoded | into new memory, the caller's buffer, an array |
//! | [`Writer`] | where messages go: memory, a file, anything with `write` | object, finish |
//!
//! With feature `async`, `AsyncArchive` has the same methods, followed by `.await`.
//!
//! Objects are found by a walk over frames, or by an index that was proven: so an object is the same, whatever its source
//! is. [`MappedFile::object`](crate::MappedFile::object) follows the index as it is.
//!
//! ```
//! use tgm_std::Archive;
//! use tgm_std::decode::Picks;
//!
//! let archive = Archive::open("../tests/data/realistic/surface-181x360.tgm")?;
//! let found = archive.query(&"mars.param = 2t".parse()?)?;
//! let object = &found[0];
//! assert_eq!(object.shape(), [181, 360]);
//! let picks = "40:60, 0:30".parse::<Picks>()?.resolve(object.shape().iter().copied())?;
//! let mut values = [0.0_f32; 20 * 30];
//! object.read().select(&picks).values_into(&mut values)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "async")]
mod async_archive;
#[cfg(feature = "async")]
mod async_object;
mod facts;
mod message;
mod object;
mod seek;
mod source;
mod writer;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io::{Read, Seek};
use std::ops::Range;
use std::path::Path;
#[cfg(feature = "mmap")]
use std::sync::Arc;

use tgm_core::Message as MessageView;
use tgm_core::scan::Segment;
use tgm_core::wire::MAGIC;

use self::seek::SeekFetch;
use self::source::{Kind, Source};
use crate::base::error::{Result, TensogramError};
use crate::base::foreign::{LOOKED_AT, error as foreign_file};
use crate::base::options::DecodeOptions;
use crate::encode::MessageBuilder;
#[cfg(feature = "mmap")]
use crate::file::MappedFile;
use crate::file::in_order::{in_order, open_unread};
use crate::file::{AppendOptions, Data, TensogramFile};
use crate::model::query::Query;
use crate::read::question::whole::{Bytes as WholeMessage, Outline};
use crate::read::{RangeFetch, ReadOptions, Reader, is_remote_url};
use crate::scan::MessageLayout;

#[cfg(feature = "async")]
pub use self::async_archive::{AsyncArchive, AsyncMessage};
#[cfg(feature = "async")]
pub use self::async_object::{AsyncObject, AsyncRead};
pub use self::message::Message;
pub use self::object::{Object, object_of_frame};
pub use self::writer::{MessageSink, Writer};

/// Messages of any source.
///
/// | source | made by | messages |
/// |---|---|---|
/// | a path, or an address of a server (feature `remote`) | [`Self::open`] | read in parts, as they are asked for |
/// | bytes: borrowed, owned or shared | [`Self::from_bytes`] | borrowed |
/// | a memory map | `From<MappedFile>`, feature `mmap` | borrowed |
/// | something with [`Read`] and [`Seek`] | [`Self::from_reader`] | read in parts |
/// | the program's own source of ranges of bytes | [`Self::from_fetch`] | read in parts |
/// | an open [`TensogramFile`] | `From<TensogramFile>` | as the file |
///
/// All methods take `&self` but [`Self::append`], and threads may share an archive. What is read between messages, and
/// what is trusted, is said in the [module](crate::archive).
///
/// ```
/// use tgm_std::{Archive, MessageBuilder, ObjectBuilder};
///
/// let message = |n: i32| MessageBuilder::new().object(ObjectBuilder::new(&[2], &[n, 2 * n])?.metadata("n", n)).encode();
/// let archive = Archive::from_bytes([message(1)?, message(2)?].concat());
/// assert_eq!(archive.len()?, 2);
/// assert_eq!(archive.object(1, 0)?.read().values::<i32>()?, [2, 4]);
/// for message in archive.messages()? {
///     for object in message?.objects()? {
///         let object = object?;
///         println!("{:?} {:?}", object.metadata()?.get("n").and_then(|n| n.as_i64()), object.shape());
///     }
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub struct Archive<'d> {
    source: Source<'d>,
}

impl fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("source", &self.source).finish()
    }
}

impl Archive<'static> {
    /// Opens a file by its path, or a source by its address ([`is_remote_url`]). The beginning is read; messages are
    /// searched for when the first one is asked for.
    ///
    /// An empty file is an archive without messages, to which messages can be appended. For options of addresses, see
    /// `TensogramFile::open_remote_with`.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if it cannot be opened ("file not found: PATH"); [`TensogramError::Framing`] if no message is
    /// found in it: the error says what it looks like; [`TensogramError::Remote`] for an address, and for every address
    /// without feature `remote`.
    pub fn open(source: impl AsRef<Path>) -> Result<Self> {
        let path = source.as_ref();
        if let Some(address) = path.to_str().filter(|text| is_remote_url(text)) {
            return Ok(TensogramFile::open_source(address, None)?.into());
        }
        let archive = Self::from(TensogramFile::open(path)?);
        archive.check_format()?;
        Ok(archive)
    }

    /// Opens a file by its path, or a source by its address, without reading: for questions about places that the program knows,
    /// and for what need not hold a message. Nothing checks that it does ([`Self::check_format`]).
    ///
    /// # Errors
    /// As [`Self::open`], formats excepted.
    pub fn open_unread(source: impl AsRef<Path>) -> Result<Self> {
        let path = source.as_ref();
        Ok(match path.to_str().filter(|text| is_remote_url(text)) {
            Some(address) => open_unread(address)?.into(),
            None => TensogramFile::open(path)?.into(),
        })
    }

    /// Reads something that has a position, such as a [`Cursor`](std::io::Cursor) or a file object. Other programs should
    /// not move it meanwhile.
    pub fn from_reader(reader: impl Read + Seek + Send + 'static) -> Self {
        Self::from_fetch(SeekFetch::new(reader), ReadOptions::local())
    }

    /// Reads ranges of bytes by a program's own [`RangeFetch`]. `options` say how much is asked for at once.
    pub fn from_fetch(source: impl RangeFetch + 'static, options: ReadOptions) -> Self {
        let fetch: Box<dyn RangeFetch> = Box::new(source);
        Self { source: Kind::Fetched(Reader::new(fetch, options)).into() }
    }
}

impl From<TensogramFile> for Archive<'static> {
    fn from(file: TensogramFile) -> Self {
        Self { source: Kind::File(file).into() }
    }
}

/// The messages are borrowed from the map.
#[cfg(feature = "mmap")]
impl From<MappedFile> for Archive<'static> {
    fn from(mapped: MappedFile) -> Self {
        Arc::new(mapped).into()
    }
}

/// The messages are borrowed from the map, which others may have too.
#[cfg(feature = "mmap")]
impl From<Arc<MappedFile>> for Archive<'static> {
    fn from(mapped: Arc<MappedFile>) -> Self {
        Self { source: Kind::Mapped(mapped).into() }
    }
}

/// The messages of an archive, for functions over the data of many messages.
impl<'d> From<&'d Archive<'_>> for Data<'d> {
    fn from(archive: &'d Archive<'_>) -> Self {
        archive.source.data()
    }
}

impl<'d> Archive<'d> {
    /// Messages in memory: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, or anything else that gives the same bytes at each call. They
    /// are scanned at once, and borrowed.
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'd) -> Self {
        Self { source: Source::of_bytes(Box::new(bytes)) }
    }

    /// Checks that the source is an archive: it begins with a message, or has one further on, or is empty. [`Self::open`] does
    /// this; an empty source at an address is not an archive.
    ///
    /// # Errors
    /// [`TensogramError::Framing`], which says what the source looks like, and [`TensogramError::Remote`] for an address; the
    /// errors of the source.
    pub fn check_format(&self) -> Result<()> {
        let (start, is_remote) = (self.source.head(LOOKED_AT)?, self.source.is_remote());
        // What begins with a message is not searched.
        if start.starts_with(MAGIC) || start.is_empty() && !is_remote || self.len()? > 0 {
            return Ok(());
        }
        Err(foreign_file(&self.source.name(), is_remote, &start))
    }

    /// Says whether the digests of metadata frames are checked where metadata is handed out: by [`Message::metadata`],
    /// [`Object::metadata`] and [`Self::query`]. They are unless told otherwise, because metadata is small. A frame without a
    /// digest passes. Metadata that was read before stays.
    ///
    /// ```
    /// let archive = tgm_std::Archive::open("../tests/data/realistic/surface-181x360.tgm")?;
    /// archive.verify_metadata(false);
    /// assert!(!archive.metadata_options().verify_metadata);
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn verify_metadata(&self, on: bool) {
        self.source.verify_metadata(on);
    }

    /// The options by which this archive reads metadata, for functions over many messages: the default ones with
    /// [`Self::verify_metadata`].
    pub fn metadata_options(&self) -> DecodeOptions {
        self.source.metadata_options()
    }

    /// The number of messages. The first call searches for them.
    ///
    /// # Errors
    /// The errors of the source.
    #[expect(clippy::len_without_is_empty, reason = "it can fail, and finds all messages")]
    pub fn len(&self) -> Result<usize> {
        self.source.count()
    }

    /// Messages up to this many bytes are read whole, whatever is asked of them. The outline of one has its payloads, unless the
    /// search for messages has met it already. Messages in memory are always at hand.
    pub fn whole_message(&self) -> u64 {
        self.source.whole_message()
    }

    /// The places of the messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn layouts(&self) -> Result<Vec<MessageLayout>> {
        self.source.layouts()
    }

    /// The places of the messages with these numbers, of which there may be fewer. A source at an address is searched no further than
    /// the last of them.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn layouts_in(&self, numbers: Range<usize>) -> Result<Vec<MessageLayout>> {
        self.source.layouts_in(numbers)
    }

    /// The place of the message that begins at byte `offset`. `None` if no message begins there. Only the start of that message
    /// is read from an address, unless it was streamed and does not state its length.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn layout_at(&self, offset: u64) -> Result<Option<MessageLayout>> {
        self.source.layout_at(offset)
    }

    /// The source from start to end: messages, and bytes that belong to none.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn segments(&self) -> Result<Vec<Segment>> {
        self.source.segments()
    }

    /// Bytes of the source where they lie, if all of them are at hand.
    pub fn bytes_at(&self, bytes: Range<u64>) -> Option<&[u8]> {
        self.source.frame_bytes(&bytes).ok().flatten()
    }

    /// The bytes of the message at a place, which is not searched for. Borrowed where they are at hand.
    ///
    /// ```
    /// let archive = tgm_std::Archive::open_unread("../tests/data/multi/three.tgm")?;
    /// let second = tgm_std::file::MessageLayout { offset: 568, length: 568 };
    /// assert_eq!(archive.message_at(second)?, archive.message(1)?.bytes()?);
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of the source, and of a place that is not in it.
    pub fn message_at(&self, layout: MessageLayout) -> Result<Cow<'_, [u8]>> {
        self.source.at(layout, WholeMessage)
    }

    /// [`Self::message_at`] with zeros in the place of payloads and masks if the message is long and not at hand. What `object` names
    /// keeps its frame.
    ///
    /// # Errors
    /// As there.
    pub fn outline_at(&self, layout: MessageLayout, object: Option<usize>) -> Result<Cow<'_, [u8]>> {
        self.source.at(layout, Outline(object))
    }

    /// The bytes from start to end. A source at an address is read in requests as long as they may be.
    pub fn into_reader(self) -> impl Read + Send + use<'d> {
        in_order(move |at, out| self.read_at(at, out))
    }

    /// Message `index`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; the errors of the source.
    pub fn message(&self, index: usize) -> Result<Message<'_>> {
        self.source.check(index)?;
        Ok(Message::new(&self.source, index))
    }

    /// All messages in order.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn messages(&self) -> Result<impl DoubleEndedIterator<Item = Result<Message<'_>>> + ExactSizeIterator> {
        Ok((0..self.len()?).map(|index| self.message(index)))
    }

    /// Object `object` of message `index`, as [`Message::object`] gives it.
    ///
    /// # Errors
    /// The errors of [`Self::message`] and of [`Message::object`].
    pub fn object(&self, index: usize, object: usize) -> Result<Object<'_>> {
        Object::open(&self.source, index, object)
    }

    /// Object `object` of message `message`, whose frame lies at the bytes `frame` of the source, as a catalogue or an earlier
    /// reader tells. Its descriptor is read, and nothing else of its message. The frame is proved to be an object's.
    ///
    /// ```
    /// let archive = tgm_std::Archive::open("../tests/data/multi/three.tgm")?;
    /// let message = archive.message(2)?;
    /// let start = archive.layouts()?[2].offset;
    /// let bytes = message.bytes()?;
    /// let frame = *tgm_std::core::Message::parse(&bytes)?.object(0)?.frame();
    /// let object = archive.object_at((2, 0), start + frame.offset()..start + frame.end_offset())?;
    /// assert_eq!(object.read().bytes()?, message.object(0)?.read().bytes()?);
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if no frame of an object lies there; the errors of the source and of the frame.
    pub fn object_at(&self, (message, object): (usize, usize), frame: Range<u64>) -> Result<Object<'_>> {
        Object::open_at(&self.source, (message, object), frame)
    }

    /// Fills `out` with bytes of the source from `offset` on. Returns how many they are: fewer only where it ends.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        self.source.data().read_at(offset, out)
    }

    /// The source in error texts: a path, or an address without user, password and query.
    pub fn name(&self) -> String {
        self.source.name()
    }

    /// Whether a request for bytes takes long, so that several should be under way: for sources at addresses, and for the
    /// program's own with [`ReadOptions::remote`].
    pub fn is_distant(&self) -> bool {
        self.source.is_distant()
    }

    /// The path or the address that the source was opened with, as text or bytes that open it again. `None` for other sources.
    pub fn place(&self) -> Option<OsString> {
        match &self.source.kind {
            Kind::File(file) => Some(file.path().map_or_else(|| file.source().into(), Into::into)),
            _ => None,
        }
    }

    /// The objects for which a query holds, in order. Reads the metadata of all messages, and no payload. Digests of metadata
    /// frames are checked, unless [`Self::verify_metadata`] turned that off.
    ///
    /// [`file::query`](crate::file::query) gives their numbers, and has options. A catalogue (the crate `tgm-catalog`)
    /// answers the same question without reading the messages.
    ///
    /// # Errors
    /// The errors of the source, and of the metadata of the first message that has an error. The text names the message.
    pub fn query(&self, query: &Query) -> Result<Vec<Object<'_>>> {
        let found = crate::file::query(self, query, &self.metadata_options())?;
        found.into_iter().map(|(index, object)| self.object(index, object)).collect()
    }

    /// Appends a message to a file that was opened by its path. Readers see it in one step.
    ///
    /// # Errors
    /// [`TensogramError::Io`] for a source that cannot be written; the errors of [`MessageBuilder::encode`] and of
    /// [`TensogramFile::append_message`].
    pub fn append(&mut self, message: MessageBuilder<'_>) -> Result<MessageLayout> {
        match &mut self.source.kind {
            Kind::File(file) => file.append_message(&message.encode()?, &AppendOptions::default()),
            _ => Err(TensogramError::Io(std::io::Error::new(
                std::io::ErrorKind::Unsupported,
                "messages are appended to files that were opened by their paths",
            ))),
        }
    }

    /// Message `index` where it lies, if its bytes are at hand.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; the errors of [`MessageView::parse`].
    pub fn view(&self, index: usize) -> Result<Option<MessageView<'_>>> {
        self.source.view(index)
    }
}
