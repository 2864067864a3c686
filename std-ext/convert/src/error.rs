//! Errors of the library that converters make.

use tgm_std::TensogramError;

/// A value or a stage that cannot be converted.
pub(crate) fn encoding(text: impl Into<String>) -> TensogramError {
    TensogramError::Encoding(text.into().into())
}

/// Metadata that cannot be converted.
pub(crate) fn metadata(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}
