//! The library as programs use it. One program, as each is linked with all of the library.

#[cfg(all(feature = "lz4", feature = "roaring", feature = "zstd"))]
mod descriptor_first;
mod examples;
#[cfg(feature = "zstd")]
mod interrupt;
mod message_reader;
mod names;
#[cfg(feature = "remote")]
mod remote;
mod upgrade;
