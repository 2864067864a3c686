//! The bytes of catalogues and trees, from this machine or a server.

use std::path::Path;

use tgm_std::file::{Data, is_remote_url};
use tgm_std::internal::{read_file, reserve};
use tgm_std::{Archive, Result};

use crate::bad;

/// All bytes of a file at a path or an address. `check` sees their number before any are read.
///
/// # Errors
/// The errors of reading and of `check`.
pub(crate) fn read(path: &Path, check: impl FnOnce(u64) -> Result<()>) -> Result<Vec<u8>> {
    match path.to_str().filter(|text| is_remote_url(text)) {
        Some(address) => read_open(&Archive::open(address)?, check),
        None => read_file(path, check),
    }
}

/// All bytes of an open archive. `check` sees their number before any are read.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_open(archive: &Archive<'_>, check: impl FnOnce(u64) -> Result<()>) -> Result<Vec<u8>> {
    let len = Data::from(archive).length()?;
    check(len)?;
    let len = usize::try_from(len).map_err(|_| bad(format!("{len} bytes have no room in memory")))?;
    let mut bytes = reserve(len)?;
    let read = archive.read_at(0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}
