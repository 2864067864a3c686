//! CBOR (RFC 8949) as the format uses it: read in place, in bounded time, without allocation.
//!
//! [`Cursor`] steps over encoded items. [`Value`] and its views ([`Text`], [`Bytes`], [`Array`], [`Map`]) are items that
//! stay in the caller's bytes. A view is only made of an item that was walked to its end, so its contents are well-formed.
//! Its iterators return `Result` all the same: no part of this crate relies on a check that another part made.
//!
//! These deviations from the canonical form are accepted, as the reference accepts them (FORMAT §3.2): heads longer than
//! needed, indefinite lengths, wide floats, keys in any order, repeated keys (the last one counts), tags, and `undefined`
//! as null. These are refused: other simple values, reserved additional information, text that is not UTF-8, and
//! containers and tags nested deeper than [`MAX_NESTING`]. [`verify_canonical`] checks for the canonical form.
//!
//! The crate has its own reader, because a general decoder decodes every item into some type. Here a key that is not
//! wanted costs only its head. The tests compare this reader with `minicbor`.

mod canonical;
mod container;
mod cursor;
mod entries;
pub mod head;
mod plain;
mod reader;
mod runs;
mod siblings;
mod step;
mod string;
#[cfg(test)]
mod tests;
mod text_maps;
mod uints;
mod utf8;
mod value;

pub use crate::names::Kind;
pub use canonical::{Canonical, verify_canonical};
pub use container::{Array, Map};
pub use cursor::{Cursor, MAX_NESTING};
pub use entries::{ArrayIter, MapIter};
pub(crate) use reader::{MapReader, Name};
pub use step::Step;
pub use string::{Bytes, Chunks, Text};
pub(crate) use text_maps::{TextMaps, read_text_map};
pub use uints::{Uints, UintsIter};
pub use value::Value;
