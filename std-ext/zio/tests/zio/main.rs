//! ZIO messages and TENS labels, compared with vectors made by ZIO's C++ and Python (`tests/data-zio`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic, and say where")]

mod bridge;
mod build;
mod codec;
mod examples;
mod files;
mod labels;
mod layouts;
mod malformed;
mod received;
mod vectors;
mod without_std;
