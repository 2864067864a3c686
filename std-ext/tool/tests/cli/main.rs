//! The `tgm` tool as its users meet it: the built binary, run on the files of `tests/data`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unnecessary_debug_formatting,
    reason = "tests may panic, and say where"
)]

#[cfg(feature = "remote")]
#[path = "../../../tests/support/loopback.rs"]
mod loopback;
#[path = "../../../../tests/src/scale.rs"]
mod scale;

mod arrays;
mod asked;
#[cfg(feature = "remote")]
mod beside;
#[cfg(feature = "browse")]
mod browse;
mod cat;
mod catalog;
#[cfg(feature = "remote")]
mod cataloged_address;
#[cfg(all(target_os = "linux", feature = "netcdf"))]
mod child;
mod compare;
#[cfg(unix)]
mod conformance;
#[cfg(feature = "grib")]
mod convert;
mod copying;
mod corpus;
mod create;
#[cfg(any(feature = "netcdf", feature = "zarr"))]
mod cubes;
mod datasets;
mod digest;
mod digests;
mod doctor;
mod edits;
mod environment;
mod exact;
mod extract;
mod grammar;
mod help;
mod hostile;
mod keys;
mod listings;
mod lost;
mod maps;
#[cfg(target_os = "linux")]
mod memory;
mod merging;
mod npy;
#[cfg(target_os = "linux")]
mod odd_names;
mod options;
mod packed;
mod pairs;
mod pictures;
mod plot;
mod progress;
#[cfg(unix)]
mod references;
#[cfg(feature = "remote")]
mod remote;
mod repack;
mod rounding;
mod rows;
mod salvage;
mod screens;
#[cfg(feature = "remote")]
mod secrets;
#[cfg(all(unix, feature = "serve"))]
mod serve;
mod setting;
mod stats;
mod streams;
#[cfg(any(feature = "zarr", feature = "parquet"))]
mod tables;
mod tailing;
mod terminal;
mod threads;
mod times;
mod tool;
#[cfg(feature = "remote")]
mod tree_address;
mod truncated;
mod upgrade;
mod validate;
mod verify;
mod writing;
#[cfg(feature = "zio")]
mod zio;
