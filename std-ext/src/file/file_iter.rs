//! All messages of a file, one after the other.

#[cfg(feature = "mmap")]
use std::sync::Arc;
use std::vec;

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::file::message_bytes::read_whole;
#[cfg(feature = "mmap")]
use crate::file::mmap::MappedFile;
use crate::file::tensogram_file::{Backing, TensogramFile};
use crate::read::LocalFile;
use crate::scan::MessageLayout;

impl TensogramFile {
    /// The bytes of all messages at once.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`].
    #[deprecated(note = "use `iter`, or `message_count` and `read_message`, which do not hold all of the file")]
    pub fn messages(&self) -> Result<Vec<Vec<u8>>> {
        self.iter()?.collect()
    }

    /// The bytes of each message in order. The iterator keeps the file open by itself. Messages that are appended later
    /// are not part of it.
    ///
    /// # Errors
    /// [`TensogramError::Io`] from the scan; [`TensogramError::Remote`] for a source at an address, whose messages are read by
    /// number. The items have errors of their own.
    #[expect(clippy::iter_not_returning_iterator, reason = "the scan comes first, and it can fail")]
    pub fn iter(&self) -> Result<FileMessageIter> {
        let held = match &self.backing {
            Backing::Positioned { file, .. } => OpenFile::File(file.clone()),
            #[cfg(feature = "mmap")]
            Backing::Mapped(mapped) => OpenFile::Map(Arc::clone(mapped)),
            #[cfg(feature = "remote")]
            Backing::Remote(_) => return Err(crate::file::remote_backing::not_supported()),
        };
        let layouts = self.message_layouts()?.into_iter();
        Ok(FileMessageIter { held, layouts, next: 0 })
    }
}

/// The bytes of each message of a file, as [`TensogramFile::iter`] returns them. Digests are not checked. Decode the
/// messages with `verify_hash` to check the digests of objects, or check the whole file with [`crate::validate_file`].
#[derive(Clone, Debug)]
pub struct FileMessageIter {
    held: OpenFile,
    layouts: vec::IntoIter<MessageLayout>,
    next: usize,
}

/// Keeps a file open while messages are read from it.
#[derive(Clone, Debug)]
enum OpenFile {
    File(LocalFile),
    #[cfg(feature = "mmap")]
    Map(Arc<MappedFile>),
}

impl Iterator for FileMessageIter {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (layout, index) = (self.layouts.next()?, self.next);
        self.next = index + 1;
        Some(match &self.held {
            OpenFile::File(file) => read_whole(file, layout),
            #[cfg(feature = "mmap")]
            OpenFile::Map(mapped) => mapped.message_bytes(index).map(<[u8]>::to_vec),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.layouts.size_hint()
    }
}

impl ExactSizeIterator for FileMessageIter {}
