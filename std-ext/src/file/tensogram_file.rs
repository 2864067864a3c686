//! A file of messages: opening it, and the bytes of its messages.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "mmap")]
use tgm_codec::memory;
#[cfg(feature = "mmap")]
use tgm_core::scan::Source;

use crate::base::error::{Result, TensogramError};
use crate::base::source_name::SourceName;
use crate::base::span::{head, tail};
use crate::base::trace;
#[cfg(doc)]
use crate::decode;
use crate::file::append::writer::Writer;
use crate::file::message_bytes::{self, read_whole};
#[cfg(feature = "mmap")]
use crate::file::mmap::MappedFile;
use crate::file::positioned::{read_at, source_of};
use crate::file::remote::RemoteScanOptions;
#[cfg(feature = "remote")]
use crate::file::remote_backing::Remote;
use crate::read::open::open_for_reading;
use crate::read::question::whole::Outline;
use crate::read::question::{self, Question, Subject};
use crate::read::{LocalFile, is_remote_url};
use crate::scan::{MessageLayout, ScanOptions, Segments, Table};

/// A file of messages, opened for reading.
///
/// Every read takes `&self`, and the type is `Send` and `Sync`.
///
/// ```
/// use tgm_std::{DecodeOptions, TensogramFile};
///
/// let file = TensogramFile::open("../tests/data/multi/three.tgm")?;
/// for index in 0..file.message_count()? {
///     let (metadata, objects) = file.decode_message(index, &DecodeOptions::default())?;
///     assert_eq!(metadata.base.len(), objects.len());
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub struct TensogramFile {
    pub(super) path: PathBuf,
    pub(super) backing: Backing,
    /// The handle for appending, from the first append on.
    pub(super) writer: Option<Writer>,
}

impl std::fmt::Debug for TensogramFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, backing, writer } = self;
        let name = SourceName::of(path);
        let mut shown = f.debug_struct("TensogramFile");
        shown.field("name", &name).field("backing", backing).field("writer", writer).finish()
    }
}

/// The way in which the file is read. Clones share the file and the list of its messages.
#[derive(Clone, Debug)]
pub(super) enum Backing {
    /// Positioned reads. The file is scanned when the first message is asked for.
    Positioned { file: LocalFile, table: Arc<OnceLock<Table>> },
    #[cfg(feature = "mmap")]
    Mapped(Arc<MappedFile>),
    /// A source at an address. Its messages are searched for as far as they are asked for.
    #[cfg(feature = "remote")]
    Remote(Remote),
}

/// The error of an address in a build that reads none.
#[cfg(not(feature = "remote"))]
pub(crate) fn without_remote(address: &str) -> TensogramError {
    let address = SourceName::of(address);
    let text = format!("{address}: addresses are read with feature remote, which is not compiled in");
    TensogramError::Remote(text.into())
}

impl TensogramFile {
    /// Opens a file. Nothing is read yet.
    ///
    /// If another program truncates or replaces the file while it is open, reads return errors. They never return wrong
    /// bytes in a message that passes its checks.
    ///
    /// # Errors
    /// [`TensogramError::Io`] if it cannot be opened ("file not found: PATH").
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self::positioned(path, open_for_reading(path)?))
    }

    pub(super) fn positioned(path: &Path, file: File) -> Self {
        trace::opened(&SourceName::of(path), "file");
        let backing = Backing::Positioned { file: LocalFile::new(file, path), table: Arc::default() };
        Self { path: path.to_path_buf(), backing, writer: None }
    }

    /// Opens a file by its path, or a source by its address ([`is_remote_url`]). `options` are for sources at addresses.
    ///
    /// # Errors
    /// The errors of [`Self::open`] and of `open_remote`; without feature `remote`, [`TensogramError::Remote`] for an address.
    pub fn open_source(source: impl AsRef<str>, options: Option<RemoteScanOptions>) -> Result<Self> {
        let source = source.as_ref();
        if !is_remote_url(source) {
            return Self::open(source);
        }
        #[cfg(feature = "remote")]
        return Self::open_remote(source, &std::collections::BTreeMap::new(), options);
        #[cfg(not(feature = "remote"))]
        {
            let _ = options;
            Err(without_remote(source))
        }
    }

    /// Opens a file as a memory map and scans it.
    ///
    /// **Unsound if the file is truncated or changed in place while it is open**: the operating system then ends the
    /// process (`SIGBUS`), or bytes change after `&[u8]`. [`MappedFile`] states the contract. This function is not
    /// `unsafe` because programs for the reference call it under this name. New programs should call
    /// [`MappedFile::open`], which is `unsafe`, or [`Self::open`], which needs no promise.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code, reason = "the safe spelling of ported programs, labelled as unsound")]
    pub fn open_mmap(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: no program may truncate the file or write into it. This function cannot promise that. Its documentation
        // asks the caller for it.
        let mapped = unsafe { MappedFile::open(path.as_ref()) }?;
        Ok(Self { path: path.as_ref().to_path_buf(), backing: Backing::Mapped(Arc::new(mapped)), writer: None })
    }

    /// The memory map of a file that was opened with [`Self::open_mmap`]. Messages can be borrowed from it.
    #[cfg(feature = "mmap")]
    pub fn mapped(&self) -> Option<&MappedFile> {
        match &self.backing {
            Backing::Mapped(mapped) => Some(mapped),
            Backing::Positioned { .. } => None,
            #[cfg(feature = "remote")]
            Backing::Remote(_) => None,
        }
    }

    /// The path that the file was opened with. `None` for a source at an address.
    pub fn path(&self) -> Option<&Path> {
        (!self.is_remote()).then_some(&*self.path)
    }

    /// The path or address that the file was opened with, as text that opens it again. An address has its user, password
    /// and query. What people see is [`Self::name`].
    pub fn source(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// The name of the file as errors and `Debug` show it.
    pub fn name(&self) -> SourceName<'_> {
        SourceName::of(&self.path)
    }

    /// Whether this is a source at an address.
    pub const fn is_remote(&self) -> bool {
        match &self.backing {
            #[cfg(feature = "remote")]
            Backing::Remote(_) => true,
            _ => false,
        }
    }

    /// Drops the list of messages. The next read scans the file again.
    pub fn invalidate_offsets(&mut self) {
        match &mut self.backing {
            Backing::Positioned { table, .. } => *table = Arc::default(),
            #[cfg(feature = "mmap")]
            Backing::Mapped(_) => {}
            #[cfg(feature = "remote")]
            Backing::Remote(remote) => remote.refresh(),
        }
    }

    /// The list of messages, made by a scan at the first call.
    pub(crate) fn table(&self) -> Result<&Table> {
        match &self.backing {
            Backing::Positioned { file, table } => {
                if let Some(table) = table.get() {
                    return Ok(table);
                }
                let scanned = source_of(file.file()).and_then(|source| Table::scan(source, &ScanOptions::default()));
                let scanned = scanned.map_err(|error| TensogramError::io(&self.path, &error))?;
                // Threads that come here at the same time each scan the file. One of the tables stays.
                Ok(table.get_or_init(|| scanned))
            }
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => Ok(mapped.table()),
            #[cfg(feature = "remote")]
            Backing::Remote(remote) => remote.table(),
        }
    }

    /// The number of messages.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn message_count(&self) -> Result<usize> {
        Ok(self.table()?.messages.len())
    }

    /// The places of the messages.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn message_layouts(&self) -> Result<Vec<MessageLayout>> {
        Ok(self.table()?.messages.clone())
    }

    /// The places of the messages with these numbers. A source at an address is searched no further than the last of them. The
    /// list is shorter if there are fewer messages.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan; the errors of the source.
    pub fn message_layouts_in(&self, numbers: Range<usize>) -> Result<Vec<MessageLayout>> {
        #[cfg(feature = "remote")]
        if let Backing::Remote(remote) = &self.backing {
            return remote.message_layouts_in(numbers);
        }
        let messages = &self.table()?.messages;
        Ok(head(tail(messages, numbers.start as u64), numbers.len() as u64).to_vec())
    }

    /// The place of the message that begins at byte `offset`. `None` if no message begins there. Only the start of that message
    /// is read from an address, unless it was streamed and does not state its length.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan; the errors of the source.
    pub fn message_layout_at(&self, offset: u64) -> Result<Option<MessageLayout>> {
        match &self.backing {
            #[cfg(feature = "remote")]
            Backing::Remote(remote) => remote.message_layout_at(offset),
            _ => Ok(self.table()?.messages.iter().find(|message| message.offset == offset).copied()),
        }
    }

    /// The whole file in order: messages, and the bytes that belong to no message.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn segments(&self) -> Result<Segments<'_>> {
        Ok(self.table()?.segments())
    }

    /// The bytes of message `index`: one positioned read, or a copy from the map. Digests are not checked;
    /// [`Self::decode_message`] with `verify_hash` checks the digests of objects.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if there is no such message, [`TensogramError::Io`] if it cannot be read.
    pub fn read_message(&self, index: usize) -> Result<Vec<u8>> {
        match &self.backing {
            Backing::Positioned { file, .. } => read_whole(file, self.table()?.get(index)?),
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => Ok(memory::copy(mapped.message_bytes(index)?)?),
            #[cfg(feature = "remote")]
            Backing::Remote(remote) => remote.ask(index.into(), question::whole::Bytes),
        }
    }

    /// The bytes of message `index`, with zeros instead of payloads and masks. Metadata and descriptors are there, for
    /// [`decode::decode_descriptors`] and [`tgm_core::Message`]. A message of up to 256 KiB is read as a whole. Only
    /// these parts of a larger one are read, and the zeros take addresses but no memory.
    ///
    /// Digests of objects cannot be checked on these bytes.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`].
    pub fn read_message_outline(&self, index: usize) -> Result<Vec<u8>> {
        self.ask(index, Outline(None))
    }

    /// The bytes of message `index` as [`Self::read_message_outline`] returns them, with the whole frame of object
    /// `object`: its payload, its masks, and all bytes that its digest covers.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`]. If the message has no such object, that is not an error here.
    pub fn read_message_object(&self, index: usize, object: usize) -> Result<Vec<u8>> {
        self.ask(index, Outline(Some(object)))
    }

    /// Fills `out` with the bytes of the file from `offset` on. Returns how many they are: fewer only at the end of the
    /// file, which another program may have truncated. Use it to read the bytes between messages ([`Self::segments`]).
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        match &self.backing {
            Backing::Positioned { file, .. } => {
                read_at(file.file(), offset, out).map_err(|error| TensogramError::io(&self.path, &error))
            }
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => {
                let Ok(read) = Source::read_at(&mapped.as_bytes(), offset, out);
                Ok(read)
            }
            #[cfg(feature = "remote")]
            Backing::Remote(remote) => remote.read_at(offset, out),
        }
    }

    /// The file, if it is read at positions.
    #[cfg_attr(
        not(any(feature = "mmap", feature = "remote")),
        expect(clippy::unnecessary_wraps, reason = "there is one backing, which is read at positions")
    )]
    pub(super) fn positioned_file(&self) -> Option<&LocalFile> {
        match &self.backing {
            Backing::Positioned { file, .. } => Some(file),
            #[cfg(any(feature = "mmap", feature = "remote"))]
            _ => None,
        }
    }

    /// Calls `with` with the open file. A mapped one is not open any more.
    pub(super) fn with_file<T>(&self, with: impl FnOnce(&File) -> io::Result<T>) -> Result<T> {
        let done = match &self.backing {
            Backing::Positioned { file, .. } => with(file.file()),
            #[cfg(any(feature = "mmap", feature = "remote"))]
            _ => Err(io::ErrorKind::Unsupported.into()),
        };
        done.map_err(|error| TensogramError::io(&self.path, &error))
    }

    /// The bytes of the message at `layout`. The file is not scanned, as with [`Self::read_outline_at`].
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and of [`Self::read_outline_at`].
    pub fn read_message_at(&self, layout: MessageLayout) -> Result<Vec<u8>> {
        self.ask(layout, question::whole::Bytes)
    }

    /// The bytes of the message at `layout`, as [`Self::read_message_outline`] or, with the number of an object,
    /// [`Self::read_message_object`] returns them. The file is not scanned: for programs that scan it themselves, as
    /// with [`tgm_core::scan::Scanner`].
    ///
    /// # Errors
    /// The errors of [`Self::read_message_outline`]; an [`io::ErrorKind::Unsupported`] error if the file is mapped: its bytes
    /// can be borrowed.
    ///
    /// ```
    /// use tgm_std::TensogramFile;
    /// use tgm_std::scan::MessageLayout;
    ///
    /// let file = TensogramFile::open("../tests/data/multi/three.tgm")?;
    /// let second = MessageLayout { offset: 568, length: 568 };
    /// assert_eq!(file.read_outline_at(second, None)?.len(), 568);
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn read_outline_at(&self, layout: MessageLayout, object: Option<usize>) -> Result<Vec<u8>> {
        self.ask(layout, Outline(object))
    }

    /// The answer of a message or a frame to a question. Mapped bytes are not copied. Only the parts of a long message that
    /// the answer needs are read, if it is not mapped.
    pub(crate) fn ask<Q: Question + 'static>(&self, of: impl Into<Subject>, question: Q) -> Result<Q::Answer> {
        let of = of.into();
        match (&self.backing, of) {
            #[cfg(feature = "mmap")]
            (Backing::Mapped(mapped), Subject::Number(index)) => question.in_memory(mapped.message_bytes(index)?),
            #[cfg(feature = "mmap")]
            (Backing::Mapped(_), _) => Err(TensogramError::Io(io::ErrorKind::Unsupported.into())),
            (Backing::Positioned { file, .. }, Subject::Number(index)) => {
                message_bytes::ask(file, self.table()?.get(index)?, question)
            }
            (Backing::Positioned { file, .. }, Subject::Message(layout)) => message_bytes::ask(file, layout, question),
            (Backing::Positioned { file, .. }, Subject::Frame(frame)) => {
                let end = frame.end;
                message_bytes::ask_parts(file, Subject::Frame(frame), end, question)
            }
            #[cfg(feature = "remote")]
            (Backing::Remote(remote), of) => remote.ask(of, question),
        }
    }
}
