//! The library as programs use it. One program, as each is linked with all of the library.

mod archive;
#[cfg(all(feature = "lz4", feature = "roaring", feature = "zstd"))]
mod descriptor_first;
mod encode;
mod examples;
mod intact;
#[cfg(feature = "zstd")]
mod interrupt;
mod message_reader;
mod metadata;
mod names;
mod readers;
#[cfg(feature = "remote")]
mod remote;
mod steps;
#[cfg(feature = "async")]
mod streaming_async;
mod upgrade;
mod version_2;
