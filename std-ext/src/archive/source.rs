//! Where the messages of an archive are.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::ops::Range;
use std::path::Path;
#[cfg(feature = "mmap")]
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tgm_core::Message;
use tgm_core::scan::Segment;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::{head, tail};
#[cfg(feature = "mmap")]
use crate::file::MappedFile;
use crate::file::{Data, TensogramFile};
use crate::model::types::GlobalMetadata;
use crate::read::question::about::AllMetadata;
use crate::read::question::whole::{Bytes as WholeMessage, Outline};
use crate::read::question::{Question, Subject};
use crate::read::{RangeFetch, ReadOptions, Reader};
use crate::scan::{Bytes, MessageLayout, ScanOptions, Table};

/// Bytes in memory.
pub(super) type Held<'d> = Box<dyn AsRef<[u8]> + Send + Sync + 'd>;

/// Where messages are, and whether the digests of their metadata are checked.
pub(super) struct Source<'d> {
    pub(super) kind: Kind<'d>,
    verify_metadata: AtomicBool,
}

/// The kinds of sources.
#[expect(clippy::large_enum_variant, reason = "there is one for an archive")]
pub(super) enum Kind<'d> {
    /// In memory.
    Bytes(Held<'d>, Table),
    #[cfg(feature = "mmap")]
    Mapped(Arc<MappedFile>),
    /// At a path or an address.
    File(TensogramFile),
    /// In a source of ranges of bytes.
    Fetched(Reader<Box<dyn RangeFetch>>),
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Bytes(bytes, table) => {
                let (bytes, messages) = ((**bytes).as_ref().len(), table.messages.len());
                f.debug_struct("Bytes").field("bytes", &bytes).field("messages", &messages).finish()
            }
            #[cfg(feature = "mmap")]
            Kind::Mapped(mapped) => mapped.fmt(f),
            Kind::File(file) => file.fmt(f),
            Kind::Fetched(reader) => reader.source().fmt(f),
        }
    }
}

impl<'d> From<Kind<'d>> for Source<'d> {
    fn from(kind: Kind<'d>) -> Self {
        Self { kind, verify_metadata: AtomicBool::new(true) }
    }
}

impl<'d> Source<'d> {
    /// Says whether the digests of metadata frames are checked.
    pub(super) fn verify_metadata(&self, on: bool) {
        self.verify_metadata.store(on, Ordering::Relaxed);
    }

    /// Options of reading the metadata of many messages.
    pub(super) fn metadata_options(&self) -> DecodeOptions {
        DecodeOptions { verify_metadata: self.verify_metadata.load(Ordering::Relaxed), ..DecodeOptions::default() }
    }

    /// The metadata of message `index`.
    pub(super) fn metadata(&self, index: usize) -> Result<GlobalMetadata> {
        self.ask(index, AllMetadata { verify: self.verify_metadata.load(Ordering::Relaxed) })
    }

    /// The number of objects of message `index`. No digest is checked.
    pub(super) fn count_objects(&self, index: usize) -> Result<usize> {
        Ok(self.ask(index, AllMetadata { verify: false })?.base.len())
    }

    pub(super) fn of_bytes(bytes: Held<'d>) -> Self {
        let Ok::<_, Infallible>(table) = Table::scan(Bytes((*bytes).as_ref()), &ScanOptions::default());
        Kind::Bytes(bytes, table).into()
    }

    /// The source as functions over many messages take it.
    pub(super) fn data(&self) -> Data<'_> {
        match &self.kind {
            Kind::Bytes(bytes, table) => Data::scanned((**bytes).as_ref(), table),
            #[cfg(feature = "mmap")]
            Kind::Mapped(mapped) => (&**mapped).into(),
            Kind::File(file) => file.into(),
            Kind::Fetched(reader) => reader.into(),
        }
    }

    /// Calls `with` with the table of all messages.
    fn with_table<R>(&self, with: impl FnOnce(&Table) -> R) -> Result<R> {
        Ok(match &self.kind {
            Kind::Bytes(_, table) => with(table),
            #[cfg(feature = "mmap")]
            Kind::Mapped(mapped) => with(mapped.table()),
            Kind::File(file) => with(file.table()?),
            Kind::Fetched(reader) => with(&*reader.table()?),
        })
    }

    pub(super) fn count(&self) -> Result<usize> {
        self.with_table(|table| table.messages.len())
    }

    pub(super) fn layouts(&self) -> Result<Vec<MessageLayout>> {
        self.with_table(|table| table.messages.clone())
    }

    pub(super) fn layouts_in(&self, numbers: Range<usize>) -> Result<Vec<MessageLayout>> {
        if let Kind::File(file) = &self.kind {
            return file.message_layouts_in(numbers);
        }
        self.with_table(|table| head(tail(&table.messages, numbers.start as u64), numbers.len() as u64).to_vec())
    }

    pub(super) fn layout_at(&self, offset: u64) -> Result<Option<MessageLayout>> {
        if let Kind::File(file) = &self.kind {
            return file.message_layout_at(offset);
        }
        self.with_table(|table| table.messages.iter().find(|message| message.offset == offset).copied())
    }

    pub(super) fn segments(&self) -> Result<Vec<Segment>> {
        self.with_table(|table| table.segments().collect())
    }

    /// The bytes of the message at a place, or what a question takes of them if they are not at hand.
    pub(super) fn at<Q>(&self, layout: MessageLayout, question: Q) -> Result<Cow<'_, [u8]>>
    where
        Q: Question<Answer = Vec<u8>> + 'static,
    {
        match self.frame_bytes(&(layout.offset..layout.end()))? {
            Some(bytes) => Ok(Cow::Borrowed(bytes)),
            None => Ok(Cow::Owned(self.ask(layout, question)?)),
        }
    }

    /// Checks that there is a message `index`, where that is known without reading: the other sources search for it when
    /// it is asked for something.
    pub(super) fn check(&self, index: usize) -> Result<()> {
        match &self.kind {
            Kind::Fetched(_) => Ok(()),
            Kind::File(file) if file.is_remote() => Ok(()),
            _ => self.with_table(|table| table.get(index).map(drop))?,
        }
    }

    /// The bytes of message `index`, if they are at hand.
    pub(super) fn message_bytes(&self, index: usize) -> Result<Option<&[u8]>> {
        let Some(all) = self.data().bytes() else { return Ok(None) };
        let layout = self.with_table(|table| table.get(index))??;
        let shorter = || TensogramError::Framing("message lies beyond the end of the bytes".into());
        bytes_of(all, &(layout.offset..layout.end())).map(Some).ok_or_else(shorter)
    }

    /// Message `index` where it lies, if its bytes are at hand.
    pub(super) fn view(&self, index: usize) -> Result<Option<Message<'_>>> {
        let Some(bytes) = self.message_bytes(index)? else { return Ok(None) };
        Message::parse(bytes).map(Some).map_err(|error| TensogramError::opening(error, bytes))
    }

    /// The bytes of a frame, if they are at hand. Errors if the source ends before.
    pub(super) fn frame_bytes(&self, frame: &Range<u64>) -> Result<Option<&[u8]>> {
        let Some(all) = self.data().bytes() else { return Ok(None) };
        let shorter = || TensogramError::Framing("object lies beyond the end of the bytes".into());
        bytes_of(all, frame).map(Some).ok_or_else(shorter)
    }

    /// All bytes of message `index`, in memory of their own.
    pub(super) fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, WholeMessage)
    }

    /// All bytes of message `index`, with zeros in the place of payloads and masks if it is long.
    pub(super) fn outline(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, Outline(None))
    }

    /// Messages up to this many bytes are read whole, whatever is asked of them.
    pub(super) fn whole_message(&self) -> u64 {
        match &self.kind {
            Kind::File(file) if file.is_remote() => ReadOptions::remote().whole_message,
            Kind::File(_) => ReadOptions::local().whole_message,
            Kind::Fetched(reader) => reader.options().whole_message,
            _ => u64::MAX,
        }
    }

    /// The first bytes, up to `len`.
    pub(super) fn head(&self, len: usize) -> Result<Vec<u8>> {
        let mut head = vec![0; len];
        let read = self.data().read_at(0, &mut head)?;
        head.truncate(read);
        Ok(head)
    }

    /// Whether a request for bytes takes long, so that several should be under way.
    pub(super) fn is_distant(&self) -> bool {
        match &self.kind {
            Kind::File(file) => file.is_remote(),
            Kind::Fetched(reader) => reader.options().parallel > 1,
            _ => false,
        }
    }

    /// The source in error texts.
    pub(super) fn name(&self) -> String {
        match &self.kind {
            Kind::Bytes(..) => "bytes".into(),
            #[cfg(feature = "mmap")]
            Kind::Mapped(_) => "a map".into(),
            Kind::File(file) => file.name().to_string(),
            Kind::Fetched(reader) => reader.source().name(),
        }
    }

    /// Whether this is a source at an address.
    pub(super) const fn is_remote(&self) -> bool {
        matches!(&self.kind, Kind::File(file) if file.is_remote())
    }

    /// Whether bytes can be read to where they are wanted: of a local file, and of a source that says so.
    pub(super) fn reads_in_place(&self) -> bool {
        match &self.kind {
            Kind::File(file) => !file.is_remote(),
            Kind::Fetched(reader) => reader.source().traits().in_place,
            _ => false,
        }
    }

    /// The first byte of a message or of a frame.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message; the errors of the source.
    pub(super) fn start(&self, of: &Subject) -> Result<u64> {
        Ok(match of {
            Subject::Number(index) => self.with_table(|table| table.get(*index))??.offset,
            Subject::Message(layout) => layout.offset,
            Subject::Frame(frame) => frame.start,
        })
    }

    /// Fills `out` with the bytes of the source from `from` on.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if the source ends before; the errors of the source.
    pub(super) fn read_exact(&self, from: u64, out: &mut [u8]) -> Result<()> {
        let read = match &self.kind {
            Kind::Fetched(reader) => reader.source().fetch_into(from, out)?,
            _ => self.data().read_at(from, out)?,
        };
        if read == out.len() {
            return Ok(());
        }
        Err(TensogramError::io(Path::new(&self.name()), &std::io::ErrorKind::UnexpectedEof.into()))
    }

    /// The answer of a message or a frame to a question.
    pub(super) fn ask<Q: Question + 'static>(&self, of: impl Into<Subject>, question: Q) -> Result<Q::Answer> {
        let of = of.into();
        if let Subject::Number(index) = of
            && let Some(bytes) = self.message_bytes(index)?
        {
            return question.in_memory(bytes);
        }
        match &self.kind {
            Kind::File(file) => file.ask(of, question),
            Kind::Fetched(reader) => reader.ask(of, question),
            _ => Err(TensogramError::Framing("bytes in memory are not asked for".into())),
        }
    }
}

/// Bytes of a place, if all of them are there.
fn bytes_of<'a>(all: &'a [u8], place: &Range<u64>) -> Option<&'a [u8]> {
    all.get(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?)
}
