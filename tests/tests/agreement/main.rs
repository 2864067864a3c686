//! Every route to values, metadata and messages gives the same, and what was written comes back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

mod any_source;
mod append;
mod conformance;
mod firmware;
mod fuzz_page;
mod golden;
mod index;
#[path = "../shared/mapped.rs"]
mod mapped;
mod model_page;
mod non_finite;
mod push;
mod range_order;
mod read_requests;
mod reencode;
mod rewrite;
mod scan_directions;
mod select;
mod threads;
mod verified_routes;
mod views;
