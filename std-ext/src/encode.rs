//! Messages out of descriptors and data (FORMAT §4).
//!
//! ```text
//! data ─ substitute ─ simple_packing ─ shuffle ─ compress ─┐
//!            └────── masks ────────────────────────────────┴─ payload region ─ frame ─ message
//! ```
//!
//! Output that needs no compressor is computed in its final place, so a message takes one allocation. Values are read
//! once to derive parameters, and once to be packed. They are hashed while they are in the cache.
//!
//! # Layers
//! A module imports only from rows below its own, as with the layers of the crate.
//!
//! | layer | what it knows |
//! |---|---|
//! | `streaming_async`, `message_builder` | the writers of tokio; messages out of typed slices |
//! | `growing_message`, `streaming` | messages that take their objects bit by bit, in memory and to a sink |
//! | `buffered`, `taken_object`, `streamed` | whole messages by where their objects come from |
//! | `message`, `object_builder`, `parts` | a message as it is written; an object out of a typed slice, and what objects are made of |
//! | `object` | an object, from the caller's bytes to its frame |
//! | `checks`, `compress` | what callers describe; the third stage |
//! | `plan`, `payload`, `finite` | the stages of an object; its payload before it is written; NaN and infinities |
//! | `packing`, `frame`, `masks` | the first stage; frames; masks as they are stored |
//! | `sink`, `value_order`, `defaults`, `part_error` | where bytes go; byte orders; default parameters; errors with an object's number |

pub(crate) mod buffered;
pub(crate) mod checks;
pub(crate) mod compress;
pub(crate) mod defaults;
pub(crate) mod finite;
pub(crate) mod frame;
mod growing_message;
pub(crate) mod masks;
pub(crate) mod message;
mod message_builder;
pub(crate) mod object;
mod object_builder;
pub(crate) mod packing;
mod part_error;
mod parts;
mod payload;
mod plan;
pub(crate) mod sink;
mod streamed;
pub mod streaming;
#[cfg(feature = "async")]
pub mod streaming_async;
mod taken_object;
pub(crate) mod value_order;

pub use self::buffered::{
    encode, encode_data_object_frame, encode_into, encode_parts, encode_pre_encoded, prepare_stored,
};
pub use self::growing_message::GrowingMessage;
pub use self::message::HashFramePolicy;
pub(crate) use self::message::Prepared;
pub use self::message_builder::MessageBuilder;
pub use self::object_builder::ObjectBuilder;
pub use self::object_builder::preset::Compress;
pub use self::part_error::PartError;
pub use self::parts::Part;
pub use self::streaming::StreamingEncoder;
#[cfg(feature = "async")]
pub use self::streaming_async::AsyncStreamingEncoder;
pub use self::taken_object::{TakenObject, reframe};
pub use crate::base::options::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};
pub use crate::model::number::Number;

/// Builders of objects and messages.
pub mod builder {
    pub use super::{MessageBuilder, ObjectBuilder};
}
