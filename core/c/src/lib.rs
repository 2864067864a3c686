//! The C interface of `tgm-core`: the functions and structs of `include/tgm_core.h`, which documents them.
//!
//! Every exported function has one shape:
//!
//! 1. Check the pointers: not NULL, aligned, inside the address space, outputs apart from inputs.
//! 2. Copy structs in, and make slices of bytes.
//! 3. Call `tgm-core`, which is safe Rust and cannot panic.
//! 4. Copy results out. No borrow of the caller's memory is alive then.
//!
//! # Opaque structs
//!
//! An opaque struct of the header holds plain words: an address, a length, a few numbers, and a check word over all of
//! them ([`words`]). Each call makes `tgm-core`'s view of the bytes anew, which is O(1) for messages and frames. So no
//! Rust value is made from bytes that the caller could have written, and a struct that this library did not fill is
//! refused.
//!
//! The two exceptions keep a decoder between calls: [`push`] and [`unpack`]. They live between guard words that depend
//! on their address.
#![no_std]
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used, clippy::expect_used)]

pub mod abi;
pub mod about;
#[cfg(feature = "packing")]
mod float;
#[cfg(feature = "packing")]
pub mod floats;
#[cfg(feature = "push")]
mod guarded;
pub mod kinds;
pub mod layout;
pub mod message;
pub mod object;
#[cfg(feature = "panic-handler")]
mod panic;
mod pointers;
#[cfg(feature = "push")]
pub mod push;
pub mod scan;
#[cfg(feature = "szip")]
pub mod szip;
#[cfg(all(feature = "push", feature = "packing"))]
pub mod unpack;
pub mod value;
pub mod values;
mod words;
