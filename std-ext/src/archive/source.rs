//! Where the messages of an archive are.

use std::convert::Infallible;
use std::fmt;
use std::path::Path;

use tgm_core::Message;

use crate::base::error::{Result, TensogramError};
use crate::base::span::span;
#[cfg(feature = "mmap")]
use crate::file::MappedFile;
use crate::file::{Data, TensogramFile};
use crate::read::question::{Bytes as WholeMessage, Question};
use crate::read::{RangeFetch, Reader};
use crate::scan::{Bytes, MessageLayout, ScanOptions, Table};

/// Bytes in memory.
pub(super) type Held<'d> = Box<dyn AsRef<[u8]> + Send + Sync + 'd>;

/// Where messages are.
#[expect(clippy::large_enum_variant, reason = "there is one for an archive")]
pub(super) enum Source<'d> {
    /// In memory.
    Bytes(Held<'d>, Table),
    #[cfg(feature = "mmap")]
    Mapped(MappedFile),
    /// At a path or an address.
    File(TensogramFile),
    /// In a source of ranges of bytes.
    Fetched(Reader<Box<dyn RangeFetch>>),
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes, table) => {
                let (bytes, messages) = ((**bytes).as_ref().len(), table.messages.len());
                f.debug_struct("Bytes").field("bytes", &bytes).field("messages", &messages).finish()
            }
            #[cfg(feature = "mmap")]
            Self::Mapped(mapped) => mapped.fmt(f),
            Self::File(file) => file.fmt(f),
            Self::Fetched(reader) => reader.source().fmt(f),
        }
    }
}

impl<'d> Source<'d> {
    pub(super) fn of_bytes(bytes: Held<'d>) -> Self {
        let Ok::<_, Infallible>(table) = Table::scan(Bytes((*bytes).as_ref()), &ScanOptions::default());
        Self::Bytes(bytes, table)
    }

    /// The source as functions over many messages take it.
    pub(super) fn data(&self) -> Data<'_> {
        match self {
            Self::Bytes(bytes, table) => Data::scanned((**bytes).as_ref(), table),
            #[cfg(feature = "mmap")]
            Self::Mapped(mapped) => mapped.into(),
            Self::File(file) => file.into(),
            Self::Fetched(reader) => reader.into(),
        }
    }

    /// Calls `with` with the table of all messages.
    fn with_table<R>(&self, with: impl FnOnce(&Table) -> R) -> Result<R> {
        Ok(match self {
            Self::Bytes(_, table) => with(table),
            #[cfg(feature = "mmap")]
            Self::Mapped(mapped) => with(mapped.table()),
            Self::File(file) => with(file.table()?),
            Self::Fetched(reader) => with(&*reader.table()?),
        })
    }

    pub(super) fn count(&self) -> Result<usize> {
        self.with_table(|table| table.messages.len())
    }

    pub(super) fn layouts(&self) -> Result<Vec<MessageLayout>> {
        self.with_table(|table| table.messages.clone())
    }

    /// Checks that there is a message `index`, where that is known without reading: the other sources search for it when
    /// it is asked for something.
    pub(super) fn check(&self, index: usize) -> Result<()> {
        match self {
            Self::Fetched(_) => Ok(()),
            Self::File(file) if file.is_remote() => Ok(()),
            _ => self.with_table(|table| table.get(index).map(drop))?,
        }
    }

    /// The bytes of message `index`, if they are at hand.
    pub(super) fn message_bytes(&self, index: usize) -> Result<Option<&[u8]>> {
        match self {
            Self::Bytes(bytes, table) => {
                let MessageLayout { offset, length } = table.get(index)?;
                let place = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
                let found = place.and_then(|(start, len)| (**bytes).as_ref().get(start..start.checked_add(len)?));
                let shorter = || TensogramError::Framing("message lies beyond the end of the bytes".into());
                found.map(Some).ok_or_else(shorter)
            }
            #[cfg(feature = "mmap")]
            Self::Mapped(mapped) => mapped.message_bytes(index).map(Some),
            #[cfg(feature = "mmap")]
            Self::File(file) => file.mapped().map(|mapped| mapped.message_bytes(index)).transpose(),
            #[cfg(not(feature = "mmap"))]
            Self::File(_) => Ok(None),
            Self::Fetched(_) => Ok(None),
        }
    }

    /// Message `index` where it lies, if its bytes are at hand.
    pub(super) fn view(&self, index: usize) -> Result<Option<Message<'_>>> {
        let Some(bytes) = self.message_bytes(index)? else { return Ok(None) };
        Message::parse(bytes).map(Some).map_err(|error| TensogramError::opening(error, bytes))
    }

    /// All bytes of message `index`, in memory of their own.
    pub(super) fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, WholeMessage)
    }

    /// Whether bytes can be read to where they are wanted: of a local file.
    pub(super) const fn reads_in_place(&self) -> bool {
        matches!(self, Self::File(file) if !file.is_remote())
    }

    /// Fills `out` with the bytes of message `index` from `start` on.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if the file ends before; [`TensogramError::Framing`] if there is no such message.
    pub(super) fn read_exact(&self, index: usize, start: u64, out: &mut [u8]) -> Result<()> {
        let Self::File(file) = self else {
            return Err(TensogramError::Framing("only files are read to where bytes are wanted".into()));
        };
        let layout = file.table()?.get(index)?;
        if file.read_at(span(layout.offset, start).end, out)? == out.len() {
            return Ok(());
        }
        Err(TensogramError::io(Path::new(&file.source()), &std::io::ErrorKind::UnexpectedEof.into()))
    }

    /// The answer of message `index` to a question.
    pub(super) fn ask<Q: Question + 'static>(&self, index: usize, question: Q) -> Result<Q::Answer> {
        match (self, self.message_bytes(index)?) {
            (_, Some(bytes)) => question.in_memory(bytes),
            (Self::File(file), None) => file.ask(index, question),
            (Self::Fetched(reader), None) => reader.ask(index, question),
            (_, None) => Err(TensogramError::Framing("bytes in memory are not at hand".into())),
        }
    }
}
