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
pub(crate) fn open_unread(source: &str) -> Result<TensogramFile> {
    #[cfg(feature = "remote")]
    return TensogramFile::open_remote_unread(source);
    #[cfg(not(feature = "remote"))]
    TensogramFile::open_source(source, None)
}

/// The bytes from start to end of what `read_at` reads at positions. A source at an address is read once, in requests as long as they
/// may be: for work that needs all of it. Its messages are found as they come.
pub(crate) fn in_order<F: Fn(u64, &mut [u8]) -> Result<usize>>(read_at: F) -> impl Read + use<F> {
    BufReader::with_capacity(AT_ONCE, InOrder { read_at, at: 0 })
}

struct InOrder<F> {
    read_at: F,
    at: u64,
}

impl<F: Fn(u64, &mut [u8]) -> Result<usize>> Read for InOrder<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = (self.read_at)(self.at, out).map_err(|error| match error {
            TensogramError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        self.at = self.at.saturating_add(read as u64);
        Ok(read)
    }
}
