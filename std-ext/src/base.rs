//! The lowest layer: errors, limits, memory, threads and options. Nothing here knows what a message is.

pub(crate) mod budget;
pub mod error;
pub(crate) mod fetch_error;
pub(crate) mod fresh;
pub(crate) mod hint;
pub mod interrupt;
pub mod limits;
pub(crate) mod memory;
pub mod options;
pub(crate) mod provenance;
pub mod threads;
