//! The library as programs use it. One program, as each is linked with all of the library.

mod append;
mod archive;
#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(feature = "async")]
mod async_file;
mod compat;
mod deferred;
#[cfg(all(feature = "lz4", feature = "roaring", feature = "zstd"))]
mod descriptor_first;
mod doctor;
mod encode;
mod examples;
mod intact;
#[cfg(feature = "zstd")]
mod interrupt;
mod json;
mod local;
mod message_reader;
mod meta_access;
mod metadata;
mod names;
mod picks;
mod query;
mod readers;
#[cfg(feature = "remote")]
mod remote;
mod runs;
mod stages;
mod steps;
#[cfg(feature = "async")]
mod streaming_async;
#[cfg(feature = "tracing")]
mod trace;
mod upgrade;
mod version_2;
mod writer;
