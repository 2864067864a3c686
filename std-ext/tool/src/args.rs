//! Arguments that several commands have.

pub(crate) mod common;
pub(crate) mod cube;
pub(crate) mod decoding;
pub(crate) mod encode_flags;
pub(crate) mod files;
pub(crate) mod key_path;
pub(crate) mod limits;
pub(crate) mod listing;
pub(crate) mod metadata_flags;
pub(crate) mod object_numbers;
pub(crate) mod pipeline_flags;
pub(crate) mod placed;
pub(crate) mod threads;
pub(crate) mod values;

/// The title of options that few need. The help lists them last.
pub(crate) const RARE: &str = "Rarely needed";
