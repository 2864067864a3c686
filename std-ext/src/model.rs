//! Owned descriptors, metadata, indexes and digest lists, and their CBOR. `tgm_core` has the borrowed views of the same.

pub(crate) mod cbor;
pub mod hash;
#[cfg(feature = "json")]
pub mod json;
pub mod meta_access;
pub mod metadata;
pub(crate) mod metadata_budget;
pub(crate) mod number;
pub(crate) mod params;
pub mod picks;
pub mod query;
pub mod to_owned;
pub mod types;
