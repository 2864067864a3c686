//! ZIO messages as borrowed views: header, coordinates, payload parts, and the codec that packs parts into one buffer.
//!
//! ZIO is a layer over ZeroMQ. Its message is a list of parts, two of header and any number of payload:
//!
//! ```text
//! part 0    ZIO │ level, one digit │ form, four bytes │ label: the rest of the part
//! part 1    origin │ granule │ seqno: three u64 in the byte order of the sender
//! part 2…   payload; payload 0 is part 2
//! ```
//!
//! Where only one part can travel, as in files, all parts are packed into one buffer: `{ size data }*`, where a size is one
//! byte up to 254, or FF and a big-endian `u32`. A [`Message`] is opened from either and looks the same.
//!
//! To a message the label is just bytes. In messages with tensors it holds JSON: [`TensLabel`] reads it in place, and
//! [`LabelWriter`] writes one, both without memory of their own. [`Layout`] computes where the elements of a tensor are, and
//! [`OrderedView`] reads them. [`Flow`] is the protocol of transmissions with credit, without a socket.
//!
//! | want | take |
//! |---|---|
//! | a message out of frames or a buffer | [`Message`], [`Envelope::strip`] |
//! | its tensors | [`TensLabel`], [`TensEntry::view`] |
//! | a message to send | [`Prefix::head`], [`LabelWriter`], [`Coords::to_bytes`], [`Envelope::wrap`], [`encode_into`] |
//! | a transmission with credit | [`Flow`] |
//!
//! Parts are slices of the caller's bytes, at any address. A message does not record the byte order of its coordinates and
//! elements, so the caller must state it. In practice senders are little-endian.
//!
//! This is the half that firmware takes: it has no std and no allocator, and no function can panic on any bytes. The lints
//! below keep it so, and `tests/no-panic` proves it by linking.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used, clippy::expect_used)]
#![deny(clippy::panic, clippy::unreachable)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used))]
#![cfg_attr(test, allow(clippy::expect_used, clippy::panic, clippy::unreachable))]

mod codec;
mod coords;
mod dtype;
mod error;
mod flow;
mod json;
mod layout;
mod message;
mod prefix;
mod tens;
#[cfg(test)]
mod tests;
mod write;

pub use codec::{PackedParts, Size, encode_into, encoded_len, parts};
pub use coords::{COORDS_SIZE, Coords};
pub use dtype::{dtype_of, kind_of};
pub use error::{Error, ErrorKind, Result};
pub use flow::{Direction, Flow, FlowEvent, FlowLabel, FlowPrefix, Outgoing};
pub use json::{Json, JsonChars, JsonItems, JsonMembers, JsonStr};
pub use layout::{Layout, OrderedIter, OrderedView};
pub use message::{Envelope, HEADER_PARTS, Message, Payloads};
pub use prefix::{Form, Level, MAGIC, PREFIX_SIZE, Prefix};
pub use tens::{TensEntries, TensEntry, TensLabel};
pub use write::LabelWriter;
