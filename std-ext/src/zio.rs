//! ZIO messages with tensors (TENS): reading and writing labels, and the bridge to Tensogram.
//!
//! The message is [`Message`], a view of `tgm_core`: header, label bytes and payload parts, without regard to the
//! label's content. TENS is a convention for the JSON in the label, which describes the tensors in the payload parts. A
//! message has tensors if its label describes some; the form in the header does not decide it.
//!
//! | want | take |
//! |---|---|
//! | a message out of the frames of a socket | [`Received`], owned; [`Message::from_frames`], borrowed |
//! | the tensors of a message | [`Tens::parse`], [`Tensor::view`], `Tensor::array` with feature `ndarray` |
//! | a message with tensors | [`TensBuilder`] |
//! | a received message with more in it | [`Tens::to_builder`], [`Received::to_builder`] |
//! | frames for a socket | [`Parts::frames`], [`Parts::into_frames`] |
//! | a transmission with credit | [`Flow`], [`TensBuilder::flow`], [`Parts::of_flow`] |
//! | TENS as Tensogram, and back | [`to_tensogram`], [`from_tensogram`] |
//! | `.zio` files | [`file`](mod@file) |
//! | labels without std | [`TensLabel`], [`LabelWriter`] |
//!
//! Everything that can be wrong with a message is one [`Error`], with its kind and place. With the bridge it becomes a
//! [`TensogramError`](crate::TensogramError).
//!
//! ```
//! use tgm_std::ByteOrder;
//! use tgm_std::zio::{Message, Tens, TensBuilder, TensorBuilder};
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

#[cfg(feature = "ndarray")]
mod array;
mod bridge;
mod build;
mod dtype;
mod error;
pub mod file;
mod label;
mod parts;
mod payload;
mod received;
mod tens;
mod tensor;

pub use bridge::{BridgeOptions, Header, NotKept, from_tensogram, to_tensogram};
pub use build::{Built, Placement, TensBuilder, TensorBuilder, Warning};
pub use parts::Parts;
pub use payload::Payload;
pub use received::Received;
pub use tens::Tens;
pub use tensor::Tensor;
pub use tgm_core::zio::{
    Coords, Direction, Envelope, Error, ErrorKind, Flow, FlowEvent, FlowLabel, FlowPrefix, Form, Json, JsonStr,
    LabelWriter, Layout, Level, Message, OrderedView, Outgoing, Payloads, Prefix, Result, Size, TensEntry, TensLabel,
    parts,
};
/// The same error and its kinds, under the names that say what they are mostly about.
#[doc(hidden)]
pub use tgm_core::zio::{Error as TensError, ErrorKind as TensErrorKind};
