//! Memory maps of files that only the tests use.

use std::path::Path;

use tgm_std::{MappedFile, Result};

/// Maps a file of the test data, or one in a test's own folder.
#[allow(unsafe_code, reason = "a memory map is unsafe by nature")]
pub(crate) fn map(path: impl AsRef<Path>) -> Result<MappedFile> {
    // SAFETY: no test truncates a file or writes into it while it is mapped.
    unsafe { MappedFile::open(path) }
}
