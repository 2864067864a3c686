//! What can be wrong with a ZIO message's parts, and where.

use core::fmt;

/// The result of reading and packing parts.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// A fact about the input ([`ErrorKind`]), the part that it concerns, and the byte at which it holds.
///
/// Bytes count from the part's start. For errors of the codec they count from the buffer's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    part: usize,
    offset: u64,
}

impl Error {
    /// What is wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The index of the part: 0 is the prefix, 1 the coordinates.
    pub const fn part(&self) -> usize {
        self.part
    }

    /// Where it holds: bytes from the part's start; for errors of the codec, from the buffer's start.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::TruncatedSize | ErrorKind::TruncatedPart => {
                write!(f, "{} at byte {} of the buffer (part {})", self.kind, self.offset, self.part)
            }
            ErrorKind::TooFewParts(_) | ErrorKind::OutputLength | ErrorKind::NoDelimiter => self.kind.fmt(f),
            _ => write!(f, "{} (part {}, byte {})", self.kind, self.part, self.offset),
        }
    }
}

impl core::error::Error for Error {}

/// What is wrong: one fact about the input, with the offending value if it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The buffer ends within the four bytes of a long size.
    TruncatedSize,
    /// A size reaches beyond the buffer's end.
    TruncatedPart,
    /// A part of more than 2³²-1 bytes. It cannot be packed, but it can be sent as a multipart message.
    PartTooLarge,
    /// The output buffer does not have the length that the parts need.
    OutputLength,

    /// Fewer parts than the two of a header.
    TooFewParts(usize),
    /// The prefix has fewer than eight bytes.
    PrefixTooShort(usize),
    /// The prefix does not start with `ZIO`.
    BadMagic,
    /// The prefix's fourth byte is not a digit from 0 to 8.
    BadLevel(u8),
    /// The coordinates are not 24 bytes.
    BadCoordSize(usize),
    /// The envelope has no empty frame before the message.
    NoDelimiter,
}

impl ErrorKind {
    pub(super) const fn at(self, part: usize, offset: u64) -> Error {
        Error { kind: self, part, offset }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TruncatedSize => f.write_str("the buffer ends within a size"),
            Self::TruncatedPart => f.write_str("a part's size exceeds the buffer"),
            Self::PartTooLarge => {
                f.write_str("the part exceeds the 4 GiB that a single buffer allows (send it as multipart)")
            }
            Self::OutputLength => f.write_str("the output buffer does not have the length that the parts need"),
            Self::TooFewParts(count) => write!(f, "a ZIO message has at least 2 parts, not {count}"),
            Self::PrefixTooShort(0) => {
                f.write_str("the prefix is empty (was the delimiter of a DEALER not taken off?)")
            }
            Self::PrefixTooShort(len) => write!(f, "the prefix has {len} bytes, fewer than 8"),
            Self::BadMagic => f.write_str("invalid magic bytes (expected ZIO)"),
            Self::BadLevel(byte) => write!(f, "invalid level byte 0x{byte:02x} (expected a digit from 0 to 8)"),
            Self::BadCoordSize(len) => write!(f, "the coordinates have {len} bytes instead of 24"),
            Self::NoDelimiter => f.write_str("no empty delimiter frame in front of the message"),
        }
    }
}
