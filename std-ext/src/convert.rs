//! Other formats become Tensogram, and Tensogram becomes them again: one module for each format.
//!
//! A conversion keeps encoded bits where the format has a stage for them, and metadata always. It names what it cannot
//! keep, or is an error.

#[cfg(feature = "grib")]
pub mod grib2;

#[doc(inline)]
pub use crate::v2;
