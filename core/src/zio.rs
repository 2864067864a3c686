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
//! The label is not interpreted here: to a message it is just bytes. In messages of form TENS it holds JSON that describes
//! tensors, and `tgm-std` reads that. [`Layout`] computes where the elements of such a tensor are, and [`OrderedView`] reads
//! them.
//!
//! Parts are slices of the caller's bytes, at any address. A message does not record the byte order of its coordinates and
//! elements, so the caller must state it. In practice senders are little-endian.

mod codec;
mod coords;
mod error;
mod layout;
mod message;
mod prefix;

pub use codec::{Parts, Size, encode_into, encoded_len, parts};
pub use coords::{COORDS_SIZE, Coords};
pub use error::{Error, ErrorKind, Result};
pub use layout::{Layout, OrderedIter, OrderedView};
pub use message::{Envelope, HEADER_PARTS, Message, Payloads};
pub use prefix::{Form, Level, MAGIC, PREFIX_SIZE, Prefix};
