//! The lowest layer: errors, limits and options. Nothing here knows what a message is.

pub(crate) mod budget;
pub mod error;
pub(crate) mod fetch_error;
pub(crate) mod foreign;
pub mod harmless;
pub(crate) mod hint;
pub mod interrupt;
pub mod limits;
pub mod options;
pub(crate) mod provenance;
pub(crate) mod source_name;
pub(crate) mod span;
pub(crate) mod trace;
