//! Appending messages whose bytes come piece by piece, from an encoder elsewhere.

use std::io;
use std::path::{Path, PathBuf};

use tgm_core::wire::MAGIC;

use super::failure;
use super::medium::Medium as _;
use super::options::{AppendOptions, TornTail};
use super::protocol::Tail;
use super::writer::Writer;
use crate::base::error::{Result, TensogramError};

/// A file that is locked, and grows by messages. All of them stay, or none: dropped before [`Self::finish`], the file is as it was.
///
/// Other writers wait meanwhile, so what is read of the file holds until the end. Readers see each message in one step. A
/// process that is killed leaves the messages that were whole by then.
#[derive(Debug)]
pub struct Growing {
    writer: Writer,
    path: PathBuf,
    /// Where the messages ended that were there before.
    start: u64,
    /// Where the whole messages end.
    end: u64,
    /// Bytes of the message that is being written.
    written: u64,
    /// Its first bytes, which are written last.
    magic: Vec<u8>,
    is_finished: bool,
}

impl Growing {
    /// Waits for the lock of the file at `path`. A torn tail is removed.
    ///
    /// # Errors
    /// [`TensogramError::Io`] for a file that cannot be written, and for one that is not there.
    pub fn lock(path: &Path) -> Result<Self> {
        let failed = |error| TensogramError::io(path, &error);
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(failed(io::Error::other("it is not a file, so nothing can be appended")));
        }
        let (writer, len) = Writer::lock(None, path).map_err(failed)?;
        let how = AppendOptions { torn_tail: TornTail::Remove, ..AppendOptions::default() };
        let tail = Tail::find(&writer.on_disk(path), len, None, None, how).map_err(|stopped| failure(path, stopped))?;
        let end = tail.map_or(len, |tail| tail.end());
        let path = path.to_path_buf();
        Ok(Self { writer, path, start: end, end, written: 0, magic: Vec::new(), is_finished: false })
    }

    /// Writes the next bytes of a message.
    ///
    /// # Errors
    /// [`TensogramError::Io`]. Messages can go on being written, but this one is not whole.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let missing = MAGIC.len().saturating_sub(self.magic.len()).min(bytes.len());
        let (front, rest) = bytes.split_at(missing);
        self.magic.extend_from_slice(front);
        self.written += front.len() as u64;
        let offset = self.end + self.written;
        self.written += rest.len() as u64;
        self.writer.on_disk(&self.path).write_at(offset, rest).map_err(|error| TensogramError::io(&self.path, &error))
    }

    /// Ends a message: readers see it.
    ///
    /// # Errors
    /// [`TensogramError::Io`], also for bytes that begin like no message.
    pub fn end_message(&mut self) -> Result<()> {
        let magic = std::mem::take(&mut self.magic);
        if magic != MAGIC {
            return Err(TensogramError::io(&self.path, &io::ErrorKind::InvalidData.into()));
        }
        let written = self.writer.on_disk(&self.path).write_at(self.end, &magic);
        written.map_err(|error| TensogramError::io(&self.path, &error))?;
        self.end += std::mem::take(&mut self.written);
        Ok(())
    }

    /// Keeps the messages that were ended.
    pub fn finish(mut self) {
        self.is_finished = self.written == 0;
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if !self.is_finished {
            // An error cannot be reported here. Bytes that stay belong to no message, or to whole ones.
            let _ = self.writer.on_disk(&self.path).cut(self.start);
        }
        // A child of this process may have the file too, and with it the lock.
        self.writer.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::file::TensogramFile;
    use crate::{EncodeOptions, GlobalMetadata, encode};

    fn message() -> Vec<u8> {
        encode(&GlobalMetadata::default(), &[], &EncodeOptions::default()).unwrap()
    }

    fn write_in_pieces(file: &mut Growing, message: &[u8], len: usize) {
        message.chunks(len).for_each(|piece| file.write(piece).unwrap());
    }

    #[test]
    fn messages_are_seen_when_they_are_whole_and_stay_when_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tgm");
        let message = message();
        for len in [1, 7, 8, 9, 1000] {
            fs::write(&path, &message).unwrap();
            let count = || TensogramFile::open(&path).unwrap().message_count().unwrap();
            let mut file = Growing::lock(&path).unwrap();
            write_in_pieces(&mut file, &message, len);
            assert_eq!(count(), 1);
            file.end_message().unwrap();
            assert_eq!(count(), 2);
            write_in_pieces(&mut file, &message, len);
            file.end_message().unwrap();
            file.finish();
            assert_eq!(fs::read(&path).unwrap(), [message.as_slice(); 3].concat());
        }
    }

    #[test]
    fn what_is_not_finished_is_removed_and_so_is_a_torn_tail() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tgm");
        let message = message();
        fs::write(&path, [message.as_slice(), &message[..20]].concat()).unwrap();
        let mut file = Growing::lock(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), message);
        write_in_pieces(&mut file, &message, 9);
        file.end_message().unwrap();
        file.write(&message).unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), message);
        assert!(Growing::lock(&path).unwrap().end_message().is_err());
    }

    #[test]
    fn another_writer_waits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tgm");
        let message = message();
        fs::write(&path, &message).unwrap();
        let mut file = Growing::lock(&path).unwrap();
        let (done, is_done) = channel();
        let other = thread::spawn({
            let (path, message) = (path.clone(), message.clone());
            move || {
                let mut file = Growing::lock(&path).unwrap();
                file.write(&message).unwrap();
                file.end_message().unwrap();
                file.finish();
                done.send(()).unwrap();
            }
        });
        assert!(is_done.recv_timeout(Duration::from_millis(200)).is_err());
        file.write(&message).unwrap();
        file.end_message().unwrap();
        file.finish();
        other.join().unwrap();
        assert_eq!(fs::read(&path).unwrap().len(), 3 * message.len());
    }

    #[test]
    #[cfg(unix)]
    fn what_is_not_a_file_is_refused() {
        for path in ["/dev/null", "/", "/no such file"] {
            assert!(Growing::lock(Path::new(path)).is_err(), "{path}");
        }
    }
}
