//! Messages out of descriptors and data (FORMAT §4).
//!
//! ```text
//! data ─ substitute ─ simple_packing ─ shuffle ─ compress ─┐
//!            └────── masks ────────────────────────────────┴─ payload region ─ frame ─ message
//! ```
//!
//! Output that needs no compressor is computed in its final place, so a message takes one allocation. Values are read
//! once to derive parameters, and once to be packed. They are hashed while they are in the cache.

mod assemble;
mod buffered;
pub mod builder;
pub(crate) mod checks;
pub(crate) mod compress;
pub(crate) mod defaults;
pub(crate) mod finite;
pub(crate) mod frame;
mod growing;
pub(crate) mod masks;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod object_frame;
pub(crate) mod packing;
mod part_error;
mod parts;
mod plan;
mod reframe;
mod region;
mod sharing;
pub(crate) mod sink;
mod streamed;
pub mod streaming;
#[cfg(feature = "async")]
pub mod streaming_async;
pub(crate) mod value_order;

pub use self::buffered::{encode, encode_into, encode_pre_encoded};
pub use self::builder::{MessageBuilder, ObjectBuilder};
pub use self::growing::GrowingMessage;
pub use self::message::HashFramePolicy;
pub use self::object_frame::encode_data_object_frame;
pub use self::part_error::PartError;
pub use self::parts::{Part, encode_parts};
pub use self::reframe::{TakenObject, reframe};
pub use self::streaming::StreamingEncoder;
#[cfg(feature = "async")]
pub use self::streaming_async::AsyncStreamingEncoder;
pub use crate::base::options::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};
pub use crate::model::number::Number;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may panic")]
mod tests;
