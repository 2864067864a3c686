//! A file as a stream, from its start to its end.

use std::io::{self, BufReader, Read};

use crate::base::error::{Result, TensogramError};
use crate::file::tensogram_file::TensogramFile;

/// Bytes that are asked for at once: two of the longest requests to a source at an address.
const AT_ONCE: usize = 16 << 20;

/// Opens a source at an address without reading, for a caller whose first question is about a place that it knows. Without
/// feature `remote` it is an error.
///
/// # Errors
/// [`TensogramError::Remote`].
pub fn open_unread(source: &str) -> Result<TensogramFile> {
    #[cfg(feature = "remote")]
    return TensogramFile::open_remote_unread(source);
    #[cfg(not(feature = "remote"))]
    TensogramFile::open_source(source, None)
}

/// The bytes of a file from start to end. A source at an address is read once, in requests as long as they may be: for work that
/// needs all of it. Its messages are found as they come.
pub fn in_order(file: TensogramFile) -> impl Read + Send {
    BufReader::with_capacity(AT_ONCE, InOrder { file, at: 0 })
}

struct InOrder {
    file: TensogramFile,
    at: u64,
}

impl Read for InOrder {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.at, out).map_err(|error| match error {
            TensogramError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        self.at = self.at.saturating_add(read as u64);
        Ok(read)
    }
}
