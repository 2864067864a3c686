//! The `tgm` tool as its users meet it: the built binary, run on the files of `tests/data`.
#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unnecessary_debug_formatting,
    reason = "tests may panic, and say where"
)]

mod cat;
mod catalog;
mod compare;
#[cfg(feature = "grib")]
mod convert;
mod copying;
mod corpus;
mod create;
mod digest;
mod digests;
mod doctor;
mod edits;
mod environment;
mod extract;
mod grammar;
mod help;
mod hostile;
mod keys;
mod listings;
mod lost;
mod merging;
mod npy;
mod plot;
mod repack;
mod salvage;
mod setting;
mod stats;
mod streams;
mod tailing;
mod tool;
mod truncated;
mod upgrade;
mod validate;
mod verify;
mod writing;
#[cfg(feature = "zio")]
mod zio;
