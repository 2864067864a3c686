//! Arguments that several commands have.

pub(crate) mod encode_flags;
pub(crate) mod files;
pub(crate) mod key_path;
pub(crate) mod limits;
pub(crate) mod metadata_flags;
pub(crate) mod pipeline_flags;
