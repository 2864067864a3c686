//! Files written: created, and messages appended one whole message at a time (FORMAT §5.7).
//!
//! ```text
//! lock ─ find the end ─ write all of the message but its first bytes ─ (sync) ─ write those ─ (sync) ─ unlock
//! ```
//!
//! Without its start magic a message is none, so that it appears to readers in one step, and a crash before that step leaves
//! a tail that belongs to no message. That tail is known by its frames, so that a message inside of its payload is not taken
//! for one of the file: [`tgm_core::scan`] says how. Writers of this library wait for each other by an advisory lock.
//!
//! Readers ask how long the file is before they read: all messages before that end are whole but perhaps the last. Who reads
//! on to wherever the file then ends may see a message without the one before it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use tgm_core::Message;
use tgm_core::scan::{Scanner, Source as _};
use tgm_core::wire::MAGIC;

use super::{Backing, TensogramFile, source_of};
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::{MessageBuilder, encode};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::ScanOptions;
use crate::scan::{MessageLayout, Table};

/// How to append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendOptions {
    /// Returns when the message is on disk, and not before. Should the power fail on the way, the message is there or
    /// it is not.
    pub sync: bool,
    /// What to do with bytes behind the last message.
    pub torn_tail: TornTail,
}

/// What to do with bytes behind the last message of a file, which a writer left there that could not finish.
///
/// Which message is the last one, [`tgm_core::scan`] says: messages inside of the payload of an unfinished one are part of
/// it. What a scan finds is never cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TornTail {
    /// Append nothing, and say where they are.
    #[default]
    Refuse,
    /// Cut them off.
    Remove,
}

impl TensogramFile {
    /// Creates a file without messages, and the directories it lies in. A file that is there is emptied.
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
            // Not before those who are writing to it have finished.
            let locked = Locked::new(&file)?;
            file.set_len(0)?;
            drop(locked);
            Ok(file)
        };
        let file = create().map_err(|error: io::Error| TensogramError::io(path, &error))?;
        Ok(Self::positioned(path, file))
    }

    /// Encodes a message and appends it: [`Self::append_with`], with the default options.
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

    /// Encodes a message and appends it. Returns where it lies.
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

    /// Appends a message as it is. Returns where it lies.
    ///
    /// Readers see it in one step. Other writers of this library wait; after an error the file is as it was.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if `message` is not one whole message, or the file has a torn tail that is to stay;
    /// [`TensogramError::Io`] for a file that cannot be written, and for a mapped one.
    pub fn append_message(&mut self, message: &[u8], how: &AppendOptions) -> Result<MessageLayout> {
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
        if end < len {
            match how.torn_tail {
                TornTail::Remove => file.set_len(end).map_err(io_error)?,
                TornTail::Refuse => {
                    return Err(TensogramError::Framing(
                        format!(
                            "{}: {} bytes at offset {end} belong to no message: nothing was appended (a torn tail can be removed)",
                            self.path.display(),
                            len - end
                        )
                        .into(),
                    ));
                }
            }
        }
        let written = write_message(&file, end, message, how.sync);
        // The name of a new file is on disk only when its directory is.
        let written = if how.sync && end == 0 { written.and_then(|()| sync_directory(&self.path)) } else { written };
        if let Err(error) = written {
            // What became of it is said by the error; the file is to be as it was in any case.
            let _ = file.set_len(end);
            return Err(io_error(error));
        }
        drop(locked);
        let layout = MessageLayout { offset: end, length: message.len() as u64 };
        self.remember(layout);
        Ok(layout)
    }

    /// The bytes behind the last message, which belong to none; `None` if there are no such bytes.
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
        }
    }

    /// Where the file ends, and where its last message does. The last message mostly says how long it is; only if it does
    /// not, the file is scanned.
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

    /// Enters an appended message into the table, if there is one and it knows all that is before.
    fn remember(&mut self, layout: MessageLayout) {
        #[cfg_attr(
            not(feature = "mmap"),
            expect(irrefutable_let_patterns, reason = "without mmap there is one backing")
        )]
        let Backing::Positioned { table, .. } = &mut self.backing else { return };
        let scanned =
            table.get().map(|table| table.segments().next_back().map_or(0, |s| s.offset().saturating_add(s.length())));
        match (scanned, table.get_mut()) {
            (Some(end), Some(table)) if end == layout.offset => {
                table.messages.push(layout);
            }
            _ => self.invalidate_offsets(),
        }
    }
}

/// Writes a message at `offset`, its start magic last.
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

/// The advisory lock of writers on a file, given back when it is dropped.
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
        // The lock goes with the handle in any case.
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
