//! Tensogram messages as borrowed views over the caller's bytes.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used, clippy::expect_used)]
#![deny(clippy::panic, clippy::unreachable)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::expect_used, clippy::panic, clippy::unreachable))]

#[cfg(test)]
extern crate std;

pub mod byteswap;
pub mod cbor;
pub mod descriptor;
mod dtype;
pub mod error;
pub mod frame;
#[cfg(feature = "hash")]
pub mod hash;
pub mod index;
#[cfg(feature = "masks")]
pub mod mask;
pub mod message;
pub mod metadata;
pub mod object;
#[cfg(feature = "packing")]
pub mod packing;
pub mod phase;
pub mod scan;
#[cfg(feature = "shuffle")]
pub mod shuffle;
pub mod stored;
#[cfg(feature = "szip")]
pub mod szip;
pub mod tensor;
pub mod wire;

pub use error::{Error, ErrorKind, NonCanonical, Result};
pub use message::Message;
