//! Writing files: creating them, and appending one whole message at a time (FORMAT §5.7).
//!
//! ```text
//! lock ─ find the end ─ write the message without its magic ─ (sync) ─ write the magic ─ (sync) ─ unlock
//! ```
//!
//! Bytes without a start magic are no message. So readers see the new message in one step, when the magic is written. A
//! crash before that leaves a torn tail, which belongs to no message. Scans recognise its frames, so a message inside
//! its payload does not count as a message of the file ([`tgm_core::scan`]). Writers of this library wait for each
//! other with an advisory lock.
//!
//! Readers get the length of the file first, and read up to there. All messages up to that length are complete, except
//! perhaps the last one. A reader that reads past that length may see a message without the one before it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tgm_core::Message;
use tgm_core::scan::{Scanner, Source as _};
use tgm_core::wire::MAGIC;

use super::positioned::source_of;
use super::tensogram_file::{Backing, TensogramFile};
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::{MessageBuilder, encode};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::ScanOptions;
use crate::scan::{MessageLayout, Table};

/// Options of appending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendOptions {
    /// Whether to wait until the message is on disk. If the power fails meanwhile, the file has the whole message or
    /// nothing of it.
    pub sync: bool,
    /// What to do with bytes after the last message.
    pub torn_tail: TornTail,
}

/// What to do with bytes after the last message of a file. An interrupted writer leaves such bytes.
///
/// [`tgm_core::scan`] defines which message is the last one: messages inside the payload of an unfinished message
/// belong to it. Messages that a scan finds are never removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TornTail {
    /// Append nothing. The error says where the bytes are.
    #[default]
    Refuse,
    /// Remove the bytes.
    Remove,
}

impl TensogramFile {
    /// Creates a file without messages, and its directories. An existing file is emptied.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    ///
    /// ```
    /// use tgm_std::{EncodeOptions, GlobalMetadata, TensogramFile};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("new/fields.tgm");
    /// let mut file = TensogramFile::create(&path)?;
    /// file.append(&GlobalMetadata::default(), &[], &EncodeOptions::default())?;
    /// assert_eq!(file.message_count()?, 1);
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let create = || {
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                fs::create_dir_all(parent)?;
            }
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            // The lock waits for other writers to finish.
            let locked = Locked::new(&file)?;
            file.set_len(0)?;
            drop(locked);
            Ok(file)
        };
        let file = create().map_err(|error: io::Error| TensogramError::io(path, &error))?;
        Ok(Self::positioned(path, file))
    }

    /// Encodes a message and appends it, as [`Self::append_with`] does with default options.
    ///
    /// # Errors
    /// As [`Self::append_with`].
    pub fn append(
        &mut self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<()> {
        self.append_with(metadata, objects, options, &AppendOptions::default()).map(|_| ())
    }

    /// Encodes a message and appends it. Returns its place.
    ///
    /// # Errors
    /// Those of [`encode`] and of [`Self::append_message`].
    pub fn append_with(
        &mut self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
        how: &AppendOptions,
    ) -> Result<MessageLayout> {
        self.check_writable()?;
        self.append_message(&encode(metadata, objects, options)?, how)
    }

    /// Appends a message as it is. Returns its place.
    ///
    /// Readers see the message in one step. Other writers of this library wait. After an error the file is unchanged.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if `message` is not exactly one message, and if the file has a torn tail that may
    /// not be removed; [`TensogramError::Io`] for a file that cannot be written, and for a mapped one.
    pub fn append_message(&mut self, message: &[u8], how: &AppendOptions) -> Result<MessageLayout> {
        let appended = self.append_at(None, message, how)?;
        appended.ok_or_else(|| TensogramError::Framing("a message that may begin anywhere was not appended".into()))
    }

    /// [`Self::append_message`], but only if the messages of the file end at byte `at`. `None` if they end elsewhere, because
    /// another writer has changed the file. Then the file is as it was.
    pub(crate) fn append_at(
        &mut self,
        at: Option<u64>,
        message: &[u8],
        how: &AppendOptions,
    ) -> Result<Option<MessageLayout>> {
        self.check_writable()?;
        let parsed = Message::parse(message)?;
        if parsed.as_bytes().len() != message.len() {
            return Err(TensogramError::Framing("not one whole message: bytes follow its postamble".into()));
        }
        let open = || OpenOptions::new().read(true).write(true).open(&self.path);
        let io_error = |error: io::Error| TensogramError::io(&self.path, &error);
        let file = open().map_err(io_error)?;
        let locked = Locked::new(&file).map_err(io_error)?;
        let (len, end) = self.ends(&file)?;
        if at.is_some_and(|at| at != end) {
            return Ok(None);
        }
        self.cut_torn_tail(&file, len, end, how.torn_tail)?;
        let written = write_message(&file, end, message, how.sync);
        // The name of a new file is only on disk when its directory is.
        let written = if how.sync && end == 0 { written.and_then(|()| sync_directory(&self.path)) } else { written };
        if let Err(error) = written {
            // If this fails too, the first error is still the one to report.
            let _ = file.set_len(end);
            return Err(io_error(error));
        }
        drop(locked);
        let layout = MessageLayout { offset: end, length: message.len() as u64 };
        self.remember(layout);
        Ok(Some(layout))
    }

    /// Removes or refuses the bytes from `end`, the end of the last message, to `len`, the end of the file.
    fn cut_torn_tail(&self, file: &File, len: u64, end: u64, torn_tail: TornTail) -> Result<()> {
        if end == len {
            return Ok(());
        }
        match torn_tail {
            TornTail::Remove => file.set_len(end).map_err(|error| TensogramError::io(&self.path, &error)),
            TornTail::Refuse => {
                let text = format!(
                    "{}: {} bytes at offset {end} belong to no message: nothing was appended (a torn tail can be removed)",
                    self.path.display(),
                    len - end
                );
                Err(TensogramError::Framing(text.into()))
            }
        }
    }

    /// The bytes after the last message, which belong to no message. `None` if there are none.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn torn_tail(&self) -> Result<Option<MessageLayout>> {
        let last = self.segments()?.next_back().filter(|segment| !segment.is_message());
        Ok(last.map(|segment| MessageLayout { offset: segment.offset(), length: segment.length() }))
    }

    fn check_writable(&self) -> Result<()> {
        match &self.backing {
            Backing::Positioned { .. } => Ok(()),
            #[cfg(feature = "mmap")]
            Backing::Mapped(_) => Err(TensogramError::Io(io::Error::other("cannot append to a memory-mapped file"))),
            #[cfg(feature = "remote")]
            Backing::Remote(_) => Err(crate::file::remote_file::not_supported()),
        }
    }

    /// The ends of the file and of its last message. The postamble of the last message mostly states the message's
    /// length. Only if it does not, the file is scanned.
    fn ends(&self, file: &File) -> Result<(u64, u64)> {
        let ends = || {
            let source = source_of(file)?;
            let len = source.len();
            if len == 0 {
                return Ok((0, 0));
            }
            let options = ScanOptions::default();
            let last = Scanner::new(source).next_message_back(options.max_message_size)?;
            if last.is_some_and(|last| last.offset().checked_add(last.length()) == Some(len)) {
                return Ok((len, len));
            }
            let table = Table::scan(source_of(file)?, &options)?;
            let last = table.messages.last().map_or(0, |last| last.offset.saturating_add(last.length));
            Ok((len, last))
        };
        ends().map_err(|error: io::Error| TensogramError::io(&self.path, &error))
    }

    /// Adds an appended message to the list of messages. A list that does not cover everything before it is dropped.
    fn remember(&mut self, layout: MessageLayout) {
        #[cfg_attr(
            not(any(feature = "mmap", feature = "remote")),
            expect(irrefutable_let_patterns, reason = "without mmap there is one backing")
        )]
        let Backing::Positioned { table, .. } = &mut self.backing else { return };
        let scanned =
            table.get().map(|table| table.segments().next_back().map_or(0, |s| s.offset().saturating_add(s.length())));
        // A call that does not block may still read the list. Then the file has a new one.
        match (scanned, Arc::get_mut(table).and_then(OnceLock::get_mut)) {
            (Some(end), Some(table)) if end == layout.offset => {
                table.messages.push(layout);
            }
            _ => self.invalidate_offsets(),
        }
    }
}

/// Writes a message at `offset`, and its start magic last.
fn write_message(file: &File, offset: u64, message: &[u8], sync: bool) -> io::Result<()> {
    let (magic, rest) = message.split_first_chunk::<{ MAGIC.len() }>().ok_or(io::ErrorKind::InvalidInput)?;
    write_at(file, offset + MAGIC.len() as u64, rest)?;
    if sync {
        file.sync_data()?;
    }
    write_at(file, offset, magic)?;
    if sync {
        file.sync_all()?;
    }
    Ok(())
}

#[cfg(unix)]
fn sync_directory(file: &Path) -> io::Result<()> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek as _, SeekFrom, Write as _};
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// The advisory lock of writers on a file. Dropping it unlocks the file.
struct Locked<'f>(&'f File);

impl<'f> Locked<'f> {
    /// Waits for the lock.
    fn new(file: &'f File) -> io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // If this fails, closing the file still unlocks it.
        let _ = self.0.unlock();
    }
}

impl MessageBuilder<'_> {
    /// Encodes the message and appends it to a file.
    ///
    /// # Errors
    /// Those of [`encode`] and [`TensogramFile::append_message`].
    pub fn append_to(self, file: &mut TensogramFile, how: &AppendOptions) -> Result<MessageLayout> {
        file.append_message(&self.encode()?, how)
    }
}
