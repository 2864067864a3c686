//! Appending many messages to one file: opened and locked once, small messages written together.

use std::io;
use std::mem;

use super::failure;
use super::medium::OnDisk;
use super::options::AppendOptions;
use super::protocol::{Batch, Stopped, Tail};
use super::whole::whole_message;
use super::writer::Writer;
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::{PartError, Prepared, encode_into};
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::scan::MessageLayout;

/// Appends messages to a file that stays open and locked: [`TensogramFile::appender`] makes it.
///
/// Small messages wait in memory. They are written, 256 KiB at a time, when there are enough of them and at
/// [`Self::flush`]. After `flush` has returned, they are in the file, and with [`AppendOptions::sync`] also on disk.
/// Dropping the appender writes the rest but cannot report an error: call `flush` before. Other writers wait until the
/// appender is dropped. A writer on the same thread waits too, and so it waits forever.
///
/// After an error the messages that were not written yet are lost, and every further call returns an error. The file ends
/// with the last message that was written.
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, GlobalMetadata, TensogramFile};
/// use tgm_std::file::AppendOptions;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("fields.tgm");
/// let mut file = TensogramFile::create(&path)?;
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
/// let mut appender = file.appender(&AppendOptions { sync: true, ..AppendOptions::default() })?;
/// for step in 0..100 {
///     let values = [step, step + 1, step + 2];
///     appender.append(&GlobalMetadata::default(), &[(&descriptor, &values)], &EncodeOptions::default())?;
/// }
/// appender.flush()?; // All are on disk.
/// drop(appender);
/// assert_eq!(file.message_count()?, 100);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct Appender<'f> {
    file: &'f mut TensogramFile,
    /// The end of the file. `None` before it is found, and after an error.
    tail: Option<Tail>,
    encoded: Vec<u8>,
}

impl<'f> Appender<'f> {
    /// Waits for the lock of the file and finds its end. `None` if the messages end elsewhere than at byte `at`.
    pub(super) fn new(file: &'f mut TensogramFile, at: Option<u64>, how: &AppendOptions) -> Result<Option<Self>> {
        file.check_writable()?;
        let locked = Writer::lock(file.writer.take(), &file.path);
        let (mut writer, len) = locked.map_err(|error| TensogramError::io(&file.path, &error))?;
        let known = writer.known.take();
        file.writer = Some(writer);
        // From here on the drop of the appender unlocks the file.
        let mut appender = Self { file, tail: None, encoded: Vec::new() };
        let found = appender.disk().map_err(Stopped::Io).and_then(|disk| Tail::find(&disk, len, known, at, *how));
        appender.tail = found.map_err(|stopped| failure(&appender.file.path, stopped))?;
        Ok(appender.tail.is_some().then_some(appender))
    }

    /// Encodes a message and appends it. Returns the place that it gets.
    ///
    /// # Errors
    /// The errors of [`crate::encode()`] and of [`Self::append_message`].
    pub fn append(
        &mut self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<MessageLayout> {
        let mut encoded = mem::take(&mut self.encoded);
        let appended = encode_into(metadata, objects, options, &mut encoded).and_then(|()| self.add(&encoded));
        self.encoded = encoded;
        appended
    }

    /// Appends a message as it is. Returns the place that it gets.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if `message` is not exactly one message; [`TensogramError::Io`] from writing it, and
    /// messages before it.
    pub fn append_message(&mut self, message: &[u8]) -> Result<MessageLayout> {
        whole_message(message)?;
        self.add(message)
    }

    /// Writes the messages that wait in memory.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn flush(&mut self) -> Result<()> {
        self.change(|tail, disk| tail.flush(disk))
    }

    /// Appends a whole message.
    fn add(&mut self, message: &[u8]) -> Result<MessageLayout> {
        let layout = self.change(|tail, disk| tail.add(disk, message))?;
        self.file.remember(layout);
        Ok(layout)
    }

    /// Writes a whole message at once. No message waits in memory.
    pub(super) fn write(&mut self, message: &[u8]) -> Result<MessageLayout> {
        let layout = self.change(|tail, disk| tail.write(disk, message))?;
        self.file.remember(layout);
        Ok(layout)
    }

    /// Writes a message of `len` bytes at once, piece by piece. `None` if it refuses its values. No message waits in memory.
    pub(super) fn write_prepared(&mut self, message: Prepared<'_>, len: usize) -> Result<Option<MessageLayout>> {
        let mut is_refused = false;
        let written = self.change(|tail, disk| {
            tail.write_pieces(disk, len, |write_at| match message.write_behind_front(write_at) {
                Err(PartError { error: TensogramError::Io(error), .. }) => Err(error),
                other => other.map_err(|error| {
                    is_refused = true;
                    io::Error::other(error)
                }),
            })
        });
        if is_refused {
            return Ok(None);
        }
        let layout = written?;
        self.file.remember(layout);
        Ok(Some(layout))
    }

    /// Writes a batch at once. Returns the places of its messages. No message waits in memory.
    pub(super) fn write_group(&mut self, batch: &mut Batch) -> Result<Vec<MessageLayout>> {
        let layouts: Vec<_> = batch.layouts(self.tail.as_ref().map_or(0, Tail::end)).collect();
        self.change(|tail, disk| tail.write_batch(disk, batch))?;
        for &layout in &layouts {
            self.file.remember(layout);
        }
        Ok(layouts)
    }

    /// Calls `change` with the end of the file. After an error there is none.
    fn change<T>(&mut self, change: impl FnOnce(&mut Tail, &OnDisk<'_>) -> io::Result<T>) -> Result<T> {
        let mut tail = self.tail.take();
        let changed = match &mut tail {
            Some(tail) => self.disk().and_then(|disk| change(tail, &disk)),
            None => Err(io::Error::other("an earlier append failed")),
        };
        match changed {
            Ok(changed) => {
                self.tail = tail;
                Ok(changed)
            }
            Err(error) => {
                // The list may have messages that are not in the file.
                self.file.invalidate_offsets();
                Err(TensogramError::io(&self.file.path, &error))
            }
        }
    }

    /// The file on disk.
    fn disk(&self) -> io::Result<OnDisk<'_>> {
        let writer = self.file.writer.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(writer.on_disk(&self.file.path))
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        if self.tail.is_some() {
            // There is nobody to report an error to.
            let _ = self.flush();
        }
        let Some(writer) = &mut self.file.writer else { return };
        writer.known = self.tail.as_ref().map(Tail::known);
        writer.unlock();
    }
}
