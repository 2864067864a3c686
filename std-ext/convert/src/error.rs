//! Errors of the library that converters make.

use std::io;
use std::path::Path;

use tgm_std::TensogramError;

/// A value or a stage that cannot be converted.
pub(crate) fn encoding(text: impl Into<String>) -> TensogramError {
    TensogramError::Encoding(text.into().into())
}

/// Metadata that cannot be converted.
pub(crate) fn metadata(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

/// An input-output error that names the file.
pub(crate) fn io(path: &Path, error: &io::Error) -> TensogramError {
    TensogramError::Io(io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
