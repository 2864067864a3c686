//! Files as sources of scans.

use std::fs::File;
use std::io;

pub(super) use crate::read::positioned::read_at;
use crate::scan::{Foresight, Windowed};

/// The file as a source for the scanner.
///
/// # Errors
/// The errors of asking for the file's length.
pub(super) fn source_of(file: &File) -> io::Result<impl Foresight<Error = io::Error>> {
    Ok(Windowed::new(file.metadata()?.len(), |offset, out: &mut [u8]| read_at(file, offset, out)))
}
