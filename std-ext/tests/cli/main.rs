//! The `tgm` tool as its users meet it: the built binary, run on the files of `tests/data`.
#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unnecessary_debug_formatting,
    reason = "tests may panic, and say where"
)]

mod corpus;
mod create;
mod digest;
mod environment;
mod extract;
mod hostile;
mod keys;
mod listings;
mod npy;
mod repack;
mod streams;
mod tool;
mod validate;
mod verify;
