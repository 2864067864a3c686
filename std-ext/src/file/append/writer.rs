//! The handle of a writer: the file, open for writing, with the lock that writers share.

#[cfg(unix)]
use std::fs;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::medium::OnDisk;
use super::protocol::Known;

/// A file that stays open between the appends of one handle.
#[derive(Debug)]
pub(in crate::file) struct Writer {
    file: File,
    /// Device and number of the file.
    #[cfg(unix)]
    identity: (u64, u64),
    /// What the last append of this handle has left. `None` after an error.
    pub(super) known: Option<Known>,
}

impl Writer {
    /// Waits for the lock of the file at `path`, and returns the file with its length. `kept` is used if it is still that
    /// file.
    pub(in crate::file) fn lock(kept: Option<Self>, path: &Path) -> io::Result<(Self, u64)> {
        // Without numbers of files nothing says whether the path leads to another file by now.
        let mut kept = if cfg!(unix) { kept } else { None };
        loop {
            let writer = match kept.take() {
                Some(writer) => writer,
                None => Self::open(path)?,
            };
            writer.file.lock()?;
            // Another program may have replaced the file before the lock was there. Then its lock is of no use.
            if let Some(len) = writer.len_if_at(path)? {
                return Ok((writer, len));
            }
        }
    }

    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Self {
            #[cfg(unix)]
            identity: identity(&file.metadata()?),
            file,
            known: None,
        })
    }

    /// The file's length, if it is the file at `path`.
    #[cfg(unix)]
    fn len_if_at(&self, path: &Path) -> io::Result<Option<u64>> {
        let there = fs::metadata(path)?;
        Ok((identity(&there) == self.identity).then_some(there.len()))
    }

    #[cfg(not(unix))]
    fn len_if_at(&self, _: &Path) -> io::Result<Option<u64>> {
        self.file.metadata().map(|own| Some(own.len()))
    }

    /// Lets other writers at the file.
    pub(super) fn unlock(&self) {
        // If this fails, closing the file still unlocks it.
        let _ = self.file.unlock();
    }

    /// The file as appending sees it.
    pub(super) const fn on_disk<'w>(&'w self, path: &'w Path) -> OnDisk<'w> {
        OnDisk { file: &self.file, path }
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}
