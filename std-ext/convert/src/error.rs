//! Errors of the library that converters make.

use tgm_std::TensogramError;

/// A value or a stage that cannot be converted.
pub(crate) fn encoding(text: impl Into<String>) -> TensogramError {
    TensogramError::Encoding(text.into().into())
}

/// The same where `tgm_core` found the defect: its kind and offset come along.
#[cfg(feature = "grib")]
pub(crate) fn encoding_by(place: impl std::fmt::Display, cause: tgm_core::Error) -> TensogramError {
    TensogramError::Encoding(tgm_std::Reason::with_cause(format!("{place}: {cause}"), cause))
}

/// The same where another library found the defect: `place` says in what, and the library's error comes along as the source.
#[cfg(any(feature = "arrow", feature = "grib-png", feature = "grib-jpeg2000", feature = "netcdf", feature = "zarr"))]
pub(crate) fn encoding_from<E: std::error::Error + Send + Sync + 'static>(
    place: impl std::fmt::Display,
    error: E,
) -> TensogramError {
    TensogramError::Encoding(tgm_std::Reason::with_source(format!("{place}: {error}"), None, error))
}

/// Metadata that cannot be converted.
pub(crate) fn metadata(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}
