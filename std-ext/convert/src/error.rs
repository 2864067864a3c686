//! Errors of the library that converters make.

use tgm_std::{Reason, TensogramError};

/// A value or a stage that cannot be converted.
pub(crate) fn encoding(reason: impl Into<Reason>) -> TensogramError {
    TensogramError::Encoding(reason.into())
}

/// The same where `tgm_core` found the defect: its kind and offset come along.
#[cfg(feature = "grib")]
pub(crate) fn encoding_by(place: impl std::fmt::Display, cause: tgm_core::Error) -> TensogramError {
    encoding(Reason::with_cause(format!("{place}: {cause}"), cause))
}

/// The same where another library found the defect: `place` says in what, and the library's error comes along as the source.
#[cfg(any(feature = "arrow", feature = "grib-png", feature = "grib-jpeg2000", feature = "netcdf", feature = "zarr"))]
pub(crate) fn encoding_from<E: std::error::Error + Send + Sync + 'static>(
    place: impl std::fmt::Display,
    error: E,
) -> TensogramError {
    encoding(reason_in(place)(error))
}

/// What another library found: its text, and its error as the source.
#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub(crate) fn reason_of<E: std::error::Error + Send + Sync + 'static>(error: E) -> Reason {
    Reason::with_source(error.to_string(), None, error)
}

/// The same, with what it was found in before the text.
#[cfg(any(feature = "arrow", feature = "grib-png", feature = "grib-jpeg2000", feature = "netcdf", feature = "zarr"))]
pub(crate) fn reason_in<E: std::error::Error + Send + Sync + 'static>(
    place: impl std::fmt::Display,
) -> impl FnOnce(E) -> Reason {
    move |error| Reason::with_source(format!("{place}: {error}"), None, error)
}

/// Metadata that cannot be converted.
pub(crate) fn metadata(reason: impl Into<Reason>) -> TensogramError {
    TensogramError::Metadata(reason.into())
}
