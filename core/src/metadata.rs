//! Metadata as borrowed views: of one frame, of one object, of a whole message (FORMAT §3.3, §5.4, §7.4).
//!
//! No map is built. A lookup walks the CBOR, steps over what it does not need, and returns a [`Value`](crate::cbor::Value). There are three
//! different answers: an absent key is `Ok(None)`, a value of another type is [`ErrorKind::WrongType`](crate::ErrorKind::WrongType), and malformed CBOR
//! is an error when the view is made.
//!
//! The metadata of an object comes from two frames at most. One is the last metadata frame of the message, which may be in
//! its header or in its footer: its `base` has an entry for the object. The other is the object's preceder: its top-level
//! keys replace the keys of the `base` entry.

mod frame;
mod keys;
mod message;
mod object;
mod path;
#[cfg(test)]
mod tests;

pub use frame::Metadata;
pub use message::{MessageMetadata, ObjectMetadataIter};
pub use object::ObjectMetadata;
pub use path::{keys_of_path, split_path};

/// The key of what the library itself writes, at message level and in every `base` entry.
pub const RESERVED_KEY: &str = "_reserved_";
/// The key of the writer's annotations of the message.
pub const EXTRA_KEY: &str = "_extra_";
/// The key of the objects' metadata.
pub const BASE_KEY: &str = "base";
/// Dotted keys of an object's metadata that may hold its name. The first that is present counts.
pub const NAME_KEYS: [&str; 7] =
    ["name", "mars.param", "param", "mars.shortName", "shortName", "variable", "long_name"];
