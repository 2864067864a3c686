//! What can be wrong with a ZIO message, and where: one error type for parts, labels, tensors and FLOW.

use core::fmt;

/// The result of everything in this module that can fail.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// A fact about the input ([`ErrorKind`]) and its place: a part and a byte of it, or a tensor and its key.
///
/// ```
/// use tgm_zio::{ErrorKind, TensLabel};
///
/// let label = br#"{"TENS":{"tensors":[{"shape":[2],"word":0,"dtype":"f"}]}}"#;
/// let error = TensLabel::parse(label)?.tensors().next().unwrap().unwrap_err();
/// assert_eq!((error.kind(), error.tensor(), error.key()), (ErrorKind::BadWord, Some(0), Some("word")));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    part: usize,
    offset: Option<u64>,
    tensor: Option<usize>,
    key: Option<&'static str>,
}

impl Error {
    /// What is wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The index of the part: 0 is the prefix with the label, 1 the coordinates.
    pub const fn part(&self) -> usize {
        self.part
    }

    /// The byte, if there is one. It counts from the part's start, for errors of the codec from the buffer's start, and
    /// for errors of the label from the label's start.
    pub const fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The tensor, if the error concerns one.
    pub const fn tensor(&self) -> Option<usize> {
        self.tensor
    }

    /// The key: of the tensor if one is named, otherwise of the label or of its TENS object.
    pub const fn key(&self) -> Option<&'static str> {
        self.key
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match (self.kind.scope(), self.offset, self.tensor, self.key) {
            (Scope::Buffer, Some(offset), ..) => write!(f, " at byte {offset} of the buffer (part {})", self.part),
            (Scope::Part, Some(offset), ..) => write!(f, " (part {}, byte {offset})", self.part),
            (Scope::Label, Some(offset), ..) => write!(f, " at byte {offset} of the label"),
            (_, _, Some(tensor), Some(key)) => write!(f, " (tensor {tensor}, key {key})"),
            (_, _, Some(tensor), None) => write!(f, " (tensor {tensor})"),
            (_, _, None, Some(key)) => write!(f, " (key {key})"),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Error {}

/// What an error's byte counts from.
enum Scope {
    Whole,
    Buffer,
    Part,
    Label,
}

/// What is wrong: one fact about the input, with the offending value if it is small.
///
/// ```
/// use tgm_zio::{Error, ErrorKind, Prefix};
///
/// let error: Error = Prefix::parse(b"ZIO9TENS").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::BadLevel(b'9'));
/// assert_eq!(error.to_string(), "invalid level byte 0x39 (expected a digit from 0 to 8) (part 0, byte 3)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The buffer ends within the four bytes of a long size.
    TruncatedSize,
    /// A size reaches beyond the buffer's end.
    TruncatedPart,
    /// A part of more than 2³²-1 bytes. It cannot be packed, but it can be sent as a multipart message.
    PartTooLarge,
    /// The output buffer does not have the length that the output needs.
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
    /// A ROUTER sends to a peer, and the peer's identity is not given.
    NoIdentity,

    /// The label is not UTF-8.
    LabelNotUtf8,
    /// The label is not JSON, is nested too deeply, or has bytes after the JSON.
    LabelNotJson,
    /// The label is JSON, and not an object.
    LabelNotObject,
    /// The label has no key TENS: a message without tensors.
    NoTens,
    /// TENS is not an object.
    TensNotObject,
    /// `tensors` is not an array.
    TensorsNotArray,
    /// An entry of `tensors` is not an object.
    TensorNotObject,
    /// `shape`, `word` or `dtype` is missing.
    MissingAttribute,
    /// `shape` is not an array of non-negative integers.
    BadShape,
    /// `word` is not an integer from 1 to 2³²-1.
    BadWord,
    /// `dtype` is not text, or is empty.
    BadDtype,
    /// `pointer` names an address, which is never followed.
    PointerUnsupported,
    /// `packing` is other than dense. The bytes of such a tensor can be read, its elements cannot.
    UnsupportedPacking,
    /// `part` is not a non-negative integer.
    BadPart,
    /// The message has no such payload part.
    PartOutOfRange,
    /// Two things of different content are to be the same payload part.
    PartTaken,
    /// `order` is not a permutation of the dimensions.
    BadOrder,
    /// `ascend` is not a boolean for each dimension.
    BadAscend,
    /// The tensor's bytes cannot be counted in 64 bits.
    SizeOverflow,
    /// The payload part is not as long as shape and word say.
    SizeMismatch,
    /// The tensor has more dimensions than can be read without an allocator.
    RankTooLarge(usize),

    /// The tensor's elements have another type than the one asked for, or a type without a counterpart in Rust.
    DtypeMismatch,
    /// The tensor is not in row-major order; see `ordered_view`.
    NotRowMajor,
    /// A key with a fixed meaning was given as one of the application.
    ReservedKey,

    /// The label has no key `flow`: a message that does not belong to FLOW.
    NoFlow,
    /// `flow` is not BOT, DAT, PAY or EOT.
    BadFlow,
    /// `direction` is not extract or inject, or is not the reverse of the other side's.
    BadDirection,
    /// `credit` is not a positive integer.
    BadCredit,
    /// More credit or more data than both sides agreed on.
    CreditExceeded,
    /// Data cannot be sent now: the peer must pay first.
    NoCredit,
    /// The transmission is in a state that does not allow this message.
    OutOfTurn,
}

impl ErrorKind {
    /// The error of this kind at a byte of a part, or of a buffer.
    pub const fn at(self, part: usize, offset: u64) -> Error {
        Error { kind: self, part, offset: Some(offset), tensor: None, key: None }
    }

    /// The error of this kind in a label as a whole.
    pub const fn in_label(self) -> Error {
        Error { kind: self, part: 0, offset: None, tensor: None, key: None }
    }

    /// The error of this kind at a byte of a label.
    pub const fn at_byte(self, offset: usize) -> Error {
        Error { offset: Some(offset as u64), ..self.in_label() }
    }

    /// The error of this kind under a key of a label, or of its TENS object.
    pub const fn under(self, key: &'static str) -> Error {
        Error { key: Some(key), ..self.in_label() }
    }

    /// The error of this kind of a tensor's key.
    pub const fn of(self, tensor: usize, key: &'static str) -> Error {
        Error { tensor: Some(tensor), ..self.under(key) }
    }

    /// The error of this kind of a tensor as a whole.
    pub const fn of_tensor(self, tensor: usize) -> Error {
        Error { tensor: Some(tensor), ..self.in_label() }
    }

    const fn scope(self) -> Scope {
        match self {
            Self::TruncatedSize | Self::TruncatedPart => Scope::Buffer,
            Self::PartTooLarge
            | Self::PrefixTooShort(_)
            | Self::BadMagic
            | Self::BadLevel(_)
            | Self::BadCoordSize(_) => Scope::Part,
            Self::TooFewParts(_) | Self::OutputLength | Self::NoDelimiter | Self::NoIdentity => Scope::Whole,
            _ => Scope::Label,
        }
    }

    /// The text of kinds that carry no value.
    const fn text(self) -> &'static str {
        match self {
            Self::TruncatedSize => "the buffer ends within a size",
            Self::TruncatedPart => "a part's size exceeds the buffer",
            Self::PartTooLarge => "the part exceeds the 4 GiB that a single buffer allows (send it as multipart)",
            Self::OutputLength => "the output buffer does not have the length that the output needs",
            Self::BadMagic => "invalid magic bytes (expected ZIO)",
            Self::NoDelimiter => "no empty delimiter frame in front of the message",
            Self::NoIdentity => "a ROUTER needs the identity of the peer it sends to",
            Self::LabelNotUtf8 => "the label is not UTF-8",
            Self::LabelNotJson => "the label is not JSON",
            Self::LabelNotObject => "the label is not a JSON object",
            Self::NoTens => "the label has no key TENS",
            Self::TensNotObject => "TENS is not an object",
            Self::TensorsNotArray => "tensors is not an array",
            Self::TensorNotObject => "a tensor is not an object",
            Self::MissingAttribute => "a required attribute is missing",
            Self::BadShape => "shape is not an array of non-negative integers",
            Self::BadWord => "word is not an integer from 1 to 4294967295",
            Self::BadDtype => "dtype is not a non-empty text",
            Self::PointerUnsupported => "pointers to memory are not followed",
            Self::UnsupportedPacking => "packing is not dense",
            Self::BadPart => "part is not a non-negative integer",
            Self::PartOutOfRange => "the message has no such payload part",
            Self::PartTaken => "the payload part has other content already",
            Self::BadOrder => "order is not a permutation of the dimensions",
            Self::BadAscend => "ascend is not one boolean for each dimension",
            Self::SizeOverflow => "the tensor's size exceeds 64 bits",
            Self::SizeMismatch => "the payload part is not as long as shape and word say",
            Self::DtypeMismatch => "the tensor's elements are of another type",
            Self::NotRowMajor => "the tensor is not stored in rows",
            Self::ReservedKey => "a key of the format cannot be an application's",
            Self::NoFlow => "the label has no key flow",
            Self::BadFlow => "flow is not BOT, DAT, PAY or EOT",
            Self::BadDirection => "direction is not extract or inject, or not the reverse of the other side's",
            Self::BadCredit => "credit is not a positive integer",
            Self::CreditExceeded => "more credit or data than was agreed on",
            Self::NoCredit => "no credit is left (wait for PAY)",
            Self::OutOfTurn => "the transmission is in a state that does not allow this message",
            Self::TooFewParts(_)
            | Self::PrefixTooShort(_)
            | Self::BadLevel(_)
            | Self::BadCoordSize(_)
            | Self::RankTooLarge(_) => "",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFewParts(count) => write!(f, "a ZIO message has at least 2 parts, not {count}"),
            Self::PrefixTooShort(0) => {
                f.write_str("the prefix is empty (was the delimiter of a DEALER not taken off?)")
            }
            Self::PrefixTooShort(len) => write!(f, "the prefix has {len} bytes, fewer than 8"),
            Self::BadLevel(byte) => write!(f, "invalid level byte 0x{byte:02x} (expected a digit from 0 to 8)"),
            Self::BadCoordSize(len) => write!(f, "the coordinates have {len} bytes instead of 24"),
            Self::RankTooLarge(rank) => write!(f, "the tensor has {rank} dimensions, which is too many without memory"),
            other => f.write_str(other.text()),
        }
    }
}
