//! Tensogram messages as borrowed views over the caller's bytes.
//!
//! What this crate promises:
//!
//! - **Nothing is copied, nothing is allocated.** A [`Message`] is two references; frames, descriptors, metadata and values are
//!   slices of what you gave. Decoding writes into your buffer.
//! - **Nothing panics, nothing is `unsafe`.** Bad bytes are an [`Error`]: what is wrong, and at which byte.
//! - **Nothing is believed.** Time and memory are bounded by the bytes that are there, never by a number in them.
//! - **You pay for what you ask.** Opening a message reads 48 bytes; a lookup steps over what it does not want.
//!
//! ```text
//! &[u8] ─► scan ─► message ─► frame ─► object ─► descriptor ─┬─► tensor: values where they lie
//!                     │         └─► index, hash              └─► stored: decoded into your buffer
//!                     └─► metadata                                (packing, shuffle, szip, mask)
//! ```
//!
//! | question | answer |
//! |---|---|
//! | where are the messages in these bytes? | [`scan::scan`] |
//! | and if they come in pieces? | [`push::PushDecoder`] |
//! | what is in this message? | [`Message::objects`], [`Message::frames`], [`Message::metadata`] |
//! | what is this object? | [`descriptor::Descriptor`] |
//! | may I have its values without a copy? | [`object::DataObject::view`] |
//! | and if they are packed, filtered or masked? | [`object::DataObject::decode_into`], [`stored::Stored`] |
//! | is it damaged? | [`Message::verify`] |
//! | do its index and its hash list tell the truth? | [`Message::verify_index`], [`Message::verify_hash_lists`] |
//! | what do the bytes mean? | [`spec`] |
//!
//! It is not for writing messages, and it has no codecs that need an allocator or C: those are in `tgm-std`.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used, clippy::expect_used)]
#![deny(clippy::panic, clippy::unreachable)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::expect_used, clippy::panic, clippy::unreachable))]

#[cfg(test)]
extern crate std;

mod agreement;
pub mod byteswap;
pub mod cbor;
pub mod descriptor;
pub mod error;
pub mod formula;
pub mod frame;
#[cfg(feature = "hash")]
pub mod hash;
pub mod index;
#[cfg(feature = "masks")]
pub mod mask;
pub mod message;
pub mod metadata;
mod names;
pub mod object;
#[cfg(feature = "packing")]
pub mod packing;
pub mod phase;
#[cfg(feature = "push")]
pub mod push;
pub mod scan;
pub mod selection;
#[cfg(feature = "shuffle")]
pub mod shuffle;
pub mod spec;
pub mod stored;
#[cfg(feature = "szip")]
pub mod szip;
mod target;
pub mod tensor;
pub mod wire;
#[cfg(feature = "zio")]
pub mod zio;

pub use error::{Error, ErrorKind, NonCanonical, Result};
pub use message::Message;
