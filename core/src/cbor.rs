//! CBOR (RFC 8949) as the format uses it: read in place, in bounded time, without allocation.
//!
//! [`Cursor`] steps over encoded items; [`Value`] and its views ([`Text`], [`Bytes`], [`Array`], [`Map`]) are items that
//! still lie in the caller's bytes. A view is only made of an item that was walked to its end, so that what it holds is
//! well-formed; its iterators nevertheless return `Result`, because nothing in this crate trusts a claim of another part.
//!
//! Accepted as the reference accepts it (FORMAT §3.2): heads longer than needed, indefinite lengths, wide floats, keys in
//! any order, repeated keys (the last one wins), tags, `undefined` as null. Refused: other simple values, reserved
//! additional information, text that is not UTF-8, containers and tags nested deeper than [`MAX_NESTING`]. Whoever wants
//! less asks [`verify_canonical`].
//!
//! A general decoder pays at every item for a type it need not name; here a key that is not wanted costs its head. The
//! tests hold this against `minicbor`.

mod canonical;
mod container;
mod cursor;
mod plain;
mod reader;
mod siblings;
mod step;
mod string;
#[cfg(test)]
mod tests;
mod text_maps;
mod uints;
mod value;

use core::fmt;

pub use canonical::{Canonical, verify_canonical};
pub use container::{Array, ArrayIter, Map, MapIter};
pub use cursor::Cursor;
pub(crate) use reader::{MapReader, Name, WireName, read_text_map};
pub use step::Step;
pub use string::{Bytes, Chunks, Text};
pub(crate) use text_maps::TextMaps;
pub use uints::{Uints, UintsIter};
pub use value::Value;

/// Containers and tags inside each other, at most (the reference's recursion limit).
pub const MAX_NESTING: u16 = 256;

/// The type of a CBOR item, as error messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Null or undefined.
    Null,
    /// False or true.
    Bool,
    /// An integer of either sign.
    Integer,
    /// A float of any width.
    Float,
    /// A byte string.
    Bytes,
    /// A text string.
    Text,
    /// An array.
    Array,
    /// A map.
    Map,
    /// A tagged item.
    Tag,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Integer => "integer",
            Self::Float => "number",
            Self::Bytes => "bytes",
            Self::Text => "text",
            Self::Array => "array",
            Self::Map => "map",
            Self::Tag => "tag",
        })
    }
}
