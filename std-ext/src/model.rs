//! Owned forms of what `tgm_core` lends as views: descriptors, metadata, index and digests, and their CBOR.

pub(crate) mod cbor;
pub mod hash;
pub mod meta_access;
pub mod metadata;
pub(crate) mod number;
pub(crate) mod params;
pub mod query;
pub(crate) mod room;
pub(crate) mod to_owned;
pub mod types;
