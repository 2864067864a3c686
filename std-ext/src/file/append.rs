//! Writing files: creating them, and appending whole messages (FORMAT §5.7).
//!
//! ```text
//! one:   lock ─ find the end ─ write the message without its magic ─ (wait) ─ write the magic ─ (wait) ─ unlock
//! many:  lock ─ find the end ─ write all without their magics ─ wait ─ write the magics ─ wait ─ unlock
//!        without waiting: write all, with their magics, in one piece
//! ```
//!
//! Bytes without a start magic are not a message. So readers see a message in one step, when its magic is written. Writers
//! of this library wait for each other with an advisory lock.
//!
//! Readers get the length of the file first, and read up to there. All messages up to that length are complete, except
//! perhaps the last one. A reader that reads past that length may see a message without the one before it.
//!
//! [`crate::file`] says what is promised after an append, and what a crash may leave.
//!
//! # Why two waits, and three
//!
//! Between two waits the disk may have any part of what was written, in any order, and the file may have any length that it
//! had since then. So the magics are written only when all other bytes are on disk. If a start magic lies inside a message,
//! as in a payload that is a file of messages, a third wait comes between: the inner magics are written when the frames
//! around them are on disk, and the outer magic after that.
//!
//! A message that is written where another one was must not mix with it. So the first append with `sync` of a handle waits
//! for what was done to the file before, and the removal of a torn tail waits as well. The tests in `tests/crash.rs` check all
//! of that on a simulated disk.
//!
//! # Cost
//!
//! An append without `sync` takes five system calls: lock, find the file, write twice, unlock. With `sync` it waits for the
//! disk twice. The first append of a handle also waits for what was done to the file before, and for its directory. Two
//! waits are the least for one message that must never be seen torn: one for its bytes, one for its magic. [`Appender`]
//! and [`GroupAppender`] share them between messages.
//!
//! A long message whose values are stored as they are is encoded while it is written, if nothing waits for the disk: its objects
//! from the caller's memory, what lies in front of them, and the magic. It takes no memory, and about as long as writing the
//! values alone.

mod appender;
mod group;
mod growing;
pub(super) mod medium;
mod options;
mod protocol;
#[cfg(test)]
mod tests;
mod whole;
pub(super) mod writer;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use self::appender::Appender;
pub use self::group::GroupAppender;
pub use self::growing::Growing;
use self::medium::{directory_of, sync_directory};
pub use self::options::{AppendOptions, TornTail};
use self::protocol::Stopped;
use self::whole::whole_message;
use super::tensogram_file::{Backing, TensogramFile};
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::base::source_name::SourceName;
use crate::base::span::{span, span_len};
use crate::encode::buffered::prepare_stored;
use crate::encode::{MessageBuilder, encode};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::MessageLayout;

impl TensogramFile {
    /// Creates a file without messages, and its directories. An existing file is emptied.
    ///
    /// # Errors
    /// [`TensogramError::Io`], as for an address: addresses are read, and not written.
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
            SourceName::of(path).to_write()?;
            create_directories(directory_of(path))?;
            let file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
            // The lock waits for other writers to finish.
            file.lock()?;
            let emptied = file.set_len(0);
            // If this fails, closing the file still unlocks it.
            let _ = file.unlock();
            emptied.map(|()| file)
        };
        let file = create().map_err(|error: io::Error| {
            let text = format!("cannot create {}: {error}", SourceName::of(path));
            TensogramError::Io(io::Error::new(error.kind(), text))
        })?;
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
    /// The errors of [`encode`] and of [`Self::append_message`].
    pub fn append_with(
        &mut self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
        how: &AppendOptions,
    ) -> Result<MessageLayout> {
        self.check_writable()?;
        match self.append_stored(metadata, objects, options, how)? {
            Some(layout) => Ok(layout),
            None => self.append_message(&encode(metadata, objects, options)?, how),
        }
    }

    /// Appends a long message whose values are stored as they are, piece by piece: it is nowhere whole in memory, and values are
    /// read once. `None` if there are stages or values that are not finite; then the file is as it was.
    fn append_stored(
        &mut self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
        how: &AppendOptions,
    ) -> Result<Option<MessageLayout>> {
        // What waits for the disk is looked through for magics first.
        let message = if how.sync { None } else { prepare_stored(metadata, objects, options)? };
        match message.and_then(|message| Some((usize::try_from(message.len()?).ok()?, message))) {
            Some((len, message)) => self.appender(how)?.write_prepared(message, len),
            None => Ok(None),
        }
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
    #[doc(hidden)]
    pub fn append_at(&mut self, at: Option<u64>, message: &[u8], how: &AppendOptions) -> Result<Option<MessageLayout>> {
        self.check_writable()?;
        whole_message(message)?;
        let Some(mut appender) = Appender::new(self, at, how)? else { return Ok(None) };
        appender.write(message).map(Some)
    }

    /// Appends messages as they are, and returns their places. The file is opened and locked once, small messages are
    /// written together, and with [`AppendOptions::sync`] they share the waits for the disk.
    ///
    /// # Errors
    /// The errors of [`Self::append_message`]. Messages before the one with the error may have been appended.
    pub fn append_all(
        &mut self,
        messages: impl IntoIterator<Item = impl AsRef<[u8]>>,
        how: &AppendOptions,
    ) -> Result<Vec<MessageLayout>> {
        let mut appender = self.appender(how)?;
        let places = messages.into_iter().map(|message| appender.append_message(message.as_ref()));
        let layouts = places.collect::<Result<_>>()?;
        appender.flush()?;
        Ok(layouts)
    }

    /// Locks the file, to append many messages.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if the file has a torn tail that may not be removed; [`TensogramError::Io`] for a file that
    /// cannot be written, and for a mapped one.
    pub fn appender(&mut self, how: &AppendOptions) -> Result<Appender<'_>> {
        let appender = Appender::new(self, None, how)?;
        appender.ok_or_else(|| TensogramError::Framing("messages that may begin anywhere were not appended".into()))
    }

    /// The bytes after the last message, which belong to no message. `None` if there are none.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan.
    pub fn torn_tail(&self) -> Result<Option<MessageLayout>> {
        let last = self.segments()?.next_back().filter(|segment| !segment.is_message());
        Ok(last.map(|segment| MessageLayout { offset: segment.offset(), length: segment.length() }))
    }

    #[cfg_attr(
        not(any(feature = "mmap", feature = "remote")),
        expect(clippy::unnecessary_wraps, reason = "there is one backing, which can be written")
    )]
    fn check_writable(&self) -> Result<()> {
        match &self.backing {
            Backing::Positioned { .. } => Ok(()),
            #[cfg(feature = "mmap")]
            Backing::Mapped(_) => Err(TensogramError::Io(io::Error::other("cannot append to a memory-mapped file"))),
            #[cfg(feature = "remote")]
            Backing::Remote(_) => Err(crate::file::remote_backing::not_supported()),
        }
    }

    /// Adds an appended message to the list of messages. A list that does not cover everything before it is dropped.
    fn remember(&mut self, layout: MessageLayout) {
        #[cfg_attr(
            not(any(feature = "mmap", feature = "remote")),
            expect(irrefutable_let_patterns, reason = "without mmap there is one backing")
        )]
        let Backing::Positioned { table, .. } = &mut self.backing else { return };
        let scanned =
            table.get().map(|table| table.segments().next_back().map_or(0, |s| span(s.offset(), s.length()).end));
        // A call that does not block may still read the list. Then the file has a new one.
        match (scanned, Arc::get_mut(table).and_then(OnceLock::get_mut)) {
            (Some(end), Some(table)) if end == layout.offset => {
                table.messages.push(layout);
            }
            _ => self.invalidate_offsets(),
        }
    }
}

/// Creates the directory and those above it, and waits until their names are on disk.
fn create_directories(directory: &Path) -> io::Result<()> {
    let missing = missing_directories(directory);
    fs::create_dir_all(directory)?;
    missing.into_iter().try_for_each(sync_name_if_possible)
}

/// The directory and those above it, as far as they are missing.
fn missing_directories(directory: &Path) -> Vec<&Path> {
    directory.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists()).collect()
}

/// Waits until the name of a directory is on disk.
fn sync_name_if_possible(made: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match sync_directory(directory_of(made)) {
        // Some directories may be written but not read, and some file systems cannot sync a directory.
        Err(error) if matches!(error.kind(), PermissionDenied | InvalidInput | Unsupported) => Ok(()),
        done => done,
    }
}

/// Why nothing was appended to a file.
fn failure(path: &Path, stopped: Stopped) -> TensogramError {
    match stopped {
        Stopped::Io(error) => TensogramError::io(path, &error),
        Stopped::Torn { end, len } => {
            let text = format!(
                "{}: {} bytes at offset {end} belong to no message: nothing was appended (a torn tail can be removed)",
                SourceName::of(path),
                span_len(&(end..len))
            );
            TensogramError::Framing(text.into())
        }
    }
}

impl MessageBuilder<'_> {
    /// Encodes the message and appends it to a file.
    ///
    /// # Errors
    /// The errors of [`Self::encode`] and [`TensogramFile::append_message`].
    pub fn append_to(self, file: &mut TensogramFile, how: &AppendOptions) -> Result<MessageLayout> {
        self.with_parts(|metadata, objects, options| file.append_with(metadata, objects, options, how))
    }
}
