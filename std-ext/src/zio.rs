//! ZIO messages with tensors (TENS): reading and writing labels, and the bridge to Tensogram.
//!
//! The message is [`Message`], a view of `tgm_core`: header, label bytes and payload parts, without regard to the
//! label's content. TENS is a convention for the JSON in the label, which describes the tensors in the payload parts. A
//! message has tensors if its label describes some; the form in the header does not decide it.
//!
//! | want | take |
//! |---|---|
//! | the tensors of a message | [`Tens::parse`], [`Tensor::view`] |
//! | a message with tensors | [`TensBuilder`], [`Parts`] |
//! | TENS as Tensogram, and back | [`to_tensogram`], [`from_tensogram`] |
//! | `.zio` files | [`file`](mod@file) |
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

mod bridge;
mod build;
mod dtype;
mod error;
pub mod file;
mod label;
mod parts;
mod tens;
mod tensor;

pub use bridge::{BridgeOptions, Header, NotKept, from_tensogram, to_tensogram};
pub use build::{Built, Placement, TensBuilder, TensorBuilder, Warning};
pub use error::{TensError, TensErrorKind};
pub use parts::Parts;
pub use tens::Tens;
pub use tensor::Tensor;
pub use tgm_core::zio::{
    Coords, Envelope, Error, ErrorKind, Form, Layout, Level, Message, OrderedView, Payloads, Prefix, Size, parts,
};
