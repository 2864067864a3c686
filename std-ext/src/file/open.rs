//! Opening files. Errors name the path.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::base::error::{Result, TensogramError};
use crate::base::source_name::SourceName;

/// Opens a file for reading.
///
/// # Errors
/// [`TensogramError::Io`] naming the path.
pub(crate) fn open_for_reading(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            TensogramError::Io(io::Error::new(error.kind(), format!("file not found: {}", SourceName::of(path))))
        }
        _ => TensogramError::io(path, &error),
    })
}
