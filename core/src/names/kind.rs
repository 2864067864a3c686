//! The types of CBOR items.

use core::fmt;

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
