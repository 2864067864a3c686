//! ZIO messages with tensors, as views of the caller's bytes and as owned messages, and the bridge to Tensogram.
//!
//! ZIO is a layer over ZeroMQ. Its message has a header of two parts, and payload in any number of parts. TENS is a
//! convention for JSON in the header, which describes the tensors in the payload parts. A message has tensors if its label
//! describes some; the form in the header does not decide it. FLOW is the protocol of transmissions with credit. The module
//! [`spec`] says what the bytes are.
//!
//! # Without std
//! These work on the caller's bytes, in place, at any address. They never allocate and never panic.
//!
//! | want | take |
//! |---|---|
//! | a message out of frames or a buffer | [`Message`], [`Envelope::strip`] |
//! | its tensors | [`TensLabel`], [`TensEntry::view`] |
//! | any label of JSON | [`Json`] |
//! | a message to send | [`Prefix::head`], [`LabelWriter`], [`Coords::to_bytes`], [`Envelope::wrap`], [`encode_into`] |
//! | a transmission with credit | [`Flow`] |
//!
//! # With std
//! Feature `std`, which is on by default, adds these:
//!
//! | want | take |
//! |---|---|
//! | a message out of the frames of a socket | `Received`, owned; [`Message::from_frames`], borrowed |
//! | the tensors of a message | `Tens::parse`, `Tensor::view`, `Tensor::array` with feature `ndarray` |
//! | a message with tensors | `TensBuilder` |
//! | a received message with more in it | `Tens::to_builder`, `Received::to_builder` |
//! | frames for a socket | `Parts::frames`, `Parts::into_frames` |
//! | a transmission with credit | [`Flow`], `TensBuilder::flow`, `Parts::of_flow` |
//! | TENS as Tensogram, and back | `to_tensogram`, `from_tensogram` |
//! | `.zio` files | `file` |
//! | the crates whose types stand in signatures | `deps` |
//!
//! Everything that can be wrong with a message is one [`Error`], with its kind and place. With the bridge it becomes a
//! `TensogramError` of `tgm_std`.
//!
//! ```
//! use tgm_std::ByteOrder;
//! use tgm_zio::{Message, Tens, TensBuilder, TensorBuilder};
//!
//! let adc = [1_i16, 2, 3, 4, 5, 6];
//! let built = TensBuilder::new().tensor(TensorBuilder::new(&[2, 3], &adc)).build()?;
//! assert!(built.warnings.is_empty());
//!
//! let parts = built.parts.as_slices(); // hand these to ZeroMQ
//! let message = Message::from_parts(&parts, ByteOrder::NATIVE)?;
//! let tens = Tens::parse(&message)?;
//! let view = tens.tensors()[0].view::<i16>()?;
//! assert_eq!(view.get_at(&[1, 2]), Some(6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "ndarray")]
mod array;
#[cfg(feature = "std")]
mod bridge;
#[cfg(feature = "std")]
mod build;
#[cfg(feature = "std")]
mod dtype;
#[cfg(feature = "std")]
mod error;
#[cfg(feature = "std")]
pub mod file;
#[cfg(feature = "std")]
mod label;
#[cfg(feature = "std")]
mod parts;
#[cfg(feature = "std")]
mod payload;
#[cfg(feature = "std")]
mod received;
#[cfg(feature = "std")]
mod tens;
#[cfg(feature = "std")]
mod tensor;
mod wire;

#[cfg(feature = "std")]
pub use bridge::{BridgeOptions, Header, NotKept, from_tensogram, to_tensogram};
#[cfg(feature = "std")]
pub use build::{Built, Placement, TensBuilder, TensorBuilder, Warning};
#[cfg(feature = "std")]
pub use parts::Parts;
#[cfg(feature = "std")]
pub use payload::Payload;
#[cfg(feature = "std")]
pub use received::Received;
#[cfg(feature = "std")]
pub use tens::Tens;
#[cfg(feature = "std")]
pub use tensor::Tensor;
pub use wire::{
    COORDS_SIZE, Coords, Direction, Envelope, Error, ErrorKind, Flow, FlowEvent, FlowLabel, FlowPrefix, Form,
    HEADER_PARTS, Json, JsonChars, JsonItems, JsonMembers, JsonStr, LabelWriter, Layout, Level, MAGIC, Message,
    OrderedIter, OrderedView, Outgoing, PREFIX_SIZE, PackedParts, Payloads, Prefix, Result, Size, TensEntries,
    TensEntry, TensLabel, dtype_of, encode_into, encoded_len, kind_of, parts,
};

/// The crates whose types stand in the signatures of this one, in the versions that fit.
pub mod deps {
    #[cfg(feature = "std")]
    pub use bytes;
    #[cfg(feature = "ndarray")]
    pub use ndarray;
    #[cfg(feature = "std")]
    pub use serde_json;
    pub use tgm_core;
    #[cfg(feature = "std")]
    pub use tgm_std;
}

/// What the bytes of a message are, what a reader accepts, and how the bridge maps a message to Tensogram and back.
///
/// Comments cite its sections as ZIO §2. FORMAT is the page of [`tgm_core::spec`].
#[allow(clippy::doc_markdown, reason = "names of the format stand bare in the prose and tables of its page")]
#[doc = include_str!("../doc/FORMAT.md")]
pub mod spec {}

/// The examples of the package's README, compiled and run.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the page about programs, compiled and run.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../doc/ZIO.md")]
struct Guide;
