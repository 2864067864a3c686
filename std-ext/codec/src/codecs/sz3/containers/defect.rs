//! The defects of a container.

use std::fmt;

use crate::error::CodecError;

/// A defect of a container. It is small and without text, so that loops over values can return it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Defect {
    /// A payload where there are no values.
    NoValues,
    /// The first bytes are not SZ3's magic number.
    Magic(u32),
    /// The bytes end within this part.
    Truncated(&'static str),
    /// This many bytes follow what should be the end of this part.
    Surplus(&'static str, u64),
    /// The container holds another number of values than the descriptor says.
    Count { claimed: u64, expected: u64 },
    /// A field that is out of range, or that contradicts another one.
    Field(&'static str, u64),
    /// A floating-point number that is out of range, or that contradicts another one.
    Number(&'static str, f64),
    /// Perhaps sound, but nothing that Tensogram's writers produce.
    Unsupported(&'static str, u64),
    /// A node that a Huffman tree cannot have.
    Node(usize),
    /// Symbols end within a code word.
    Symbols,
    /// More symbols ask for stored values than there are stored values.
    Unpredictable,
    /// No memory for this many bytes.
    OutOfMemory(usize),
    /// The work was stopped from outside.
    Interrupted,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoValues => f.write_str("no values, but a payload"),
            Self::Magic(magic) => write!(f, "starts with {magic:#010x}, which is not SZ3's magic number"),
            Self::Truncated(part) => write!(f, "{part} is cut short"),
            Self::Surplus(part, len) => write!(f, "{len} bytes too many in {part}"),
            Self::Count { claimed, expected } => write!(f, "holds {claimed} values, expected {expected}"),
            Self::Field(field, value) => write!(f, "{field} cannot be {value}"),
            Self::Number(field, value) => write!(f, "{field} cannot be {value:e}"),
            Self::Unsupported(field, value) => write!(f, "{field} {value} is not supported"),
            Self::Node(index) => write!(f, "node {index} of a Huffman tree is damaged"),
            Self::Symbols => f.write_str("symbols end within a code word"),
            Self::Unpredictable => f.write_str("more unpredictable values wanted than stored"),
            Self::OutOfMemory(len) => write!(f, "cannot allocate {len} bytes"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl From<Defect> for CodecError {
    #[cold]
    fn from(defect: Defect) -> Self {
        match defect {
            Defect::Interrupted => Self::interrupted(),
            defect => Self::new(defect.to_string()),
        }
    }
}
