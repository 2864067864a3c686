//! Tensogram messages as borrowed views of the caller's bytes.
//!
//! # Promises
//!
//! - **Nothing is copied, and nothing is allocated.** A [`Message`] is a slice and two references. Frames, descriptors,
//!   metadata and values are slices of the caller's bytes. Decoding writes into the caller's buffer.
//! - **Nothing panics, and nothing is `unsafe`.** Bad bytes give an [`Error`]: what is wrong, and at which byte.
//! - **The input is never trusted.** Time and memory are bounded by the number of bytes that exist, and never by a number
//!   that the bytes contain.
//! - **A call costs only what it needs.** Opening a message reads 48 bytes. A lookup steps over what it does not need.
//!
//! # Map
//!
//! ```text
//! &[u8] ─► scan ─► message ─┬─► frame ─┬─► object ─┬─► descriptor
//!                           │          │           ├─► view                 values in place (tensor)
//!                           │          │           ├─► decode_into          filter, packing and masks undone (stored, mask)
//!                           │          │           └─► decode_floats_into   szip undone too (szip)
//!                           │          └─► index, hash
//!                           └─► metadata
//! ```
//!
//! | question | answer |
//! |---|---|
//! | where are the messages in these bytes? | [`scan::scan`] |
//! | the bytes come in pieces; how do I read them? | [`push::PushDecoder`] |
//! | what is in this message? | [`Message::objects`], [`Message::frames`], [`Message::metadata`] |
//! | what is this object? | [`descriptor::Descriptor`] |
//! | can I have its values without a copy? | [`object::DataObject::view`] |
//! | can I have its values as floats, in whatever way they are stored? | [`object::DataObject::decode_floats_into`] |
//! | can I have some of its values, as bytes? | [`object::DataObject::decode_into`], [`stored::Stored`] |
//! | is this message intact? | [`Message::verify_all`] |
//! | which frames are damaged? | [`Message::verify`] |
//! | do its index and its hash list agree with its objects? | [`Message::verify_index`], [`Message::verify_hash_lists`] |
//! | what do the bytes mean? | [`spec`] |
//!
//! ```
//! use tgm_core::Message;
//!
//! # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
//! let message = Message::parse(bytes)?;
//! for object in message.objects() {
//!     for value in object?.view::<f32>()?.iter() {
//!         println!("{value}");
//!     }
//! }
//! # Ok::<(), tgm_core::Error>(())
//! ```
//!
//! This crate does not write messages, and it has no codecs that need an allocator or C. Those are in `tgm-std`.
//!
//! # Features
//!
//! Every feature only adds items. `default` has all of them except `serde`.
//!
//! | feature | what it adds |
//! |---|---|
//! | `hash` | digests of frames ([`hash`]) |
//! | `masks` | restoration of NaN and infinities ([`mask`]) |
//! | `packing` | `simple_packing` ([`packing`]) |
//! | `push` | messages that come in pieces ([`push`]) |
//! | `serde` | names of dtypes and byte orders in serde's formats |
//! | `shuffle` | the shuffle filter ([`shuffle`]) |
//! | `szip` | decompression of szip ([`szip`]) |
//!
//! # How this crate grows
//!
//! Versions follow semantic versioning. Before 1.0 a new minor version may break; a new patch version never does.
//!
//! - **Sets that can grow are `#[non_exhaustive]`:** kinds of errors, events of [`push`], parts of a stream, and structs
//!   that are results, such as [`message::Outline`]. A `match` on them needs a wildcard.
//! - **Sets that the format closes are exhaustive:** byte orders, dtypes, frame types, phases, stages. If the format adds
//!   a member, a new breaking version of this crate does too, so that every `match` is reviewed.
//! - **Texts of errors may change at any time.** Programs should compare an [`ErrorKind`].
//! - **The minimum supported Rust version** is the `rust-version` of the package. Raising it is not a breaking change, but
//!   it always comes with a new minor version.
//! - **Types of other crates** that appear in signatures are re-exported: [`half`] and [`zerocopy`]. Their breaking
//!   versions are breaking versions of this crate.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
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
pub mod integrity;
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
mod values;
pub mod wire;

pub use error::{Error, ErrorKind, NonCanonical, Result};
pub use half;
pub use message::Message;
pub use zerocopy;
