//! What can be wrong with bytes, and where.

use core::fmt;

use crate::names::{DecodePhase, Dtype, FrameType, Key, Kind, Stage};

/// Result of everything in this crate that can meet bad input.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// A fact about the input ([`ErrorKind`]) and the byte offset it holds at.
///
/// The offset counts from the first byte of the slice that the caller gave. For errors that concern a request rather
/// than bytes (an element range, an output buffer) the offset is that of the object or payload concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    offset: u64,
}

const _: () = assert!(size_of::<Error>() <= 16);

impl Error {
    /// What is wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The same error seen from a slice that starts `base` bytes earlier.
    #[must_use]
    pub const fn shift(self, base: u64) -> Self {
        Self { kind: self.kind, offset: self.offset.saturating_add(base) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl core::error::Error for Error {}

/// What departs from the canonical form of CBOR that the format writes (FORMAT §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonCanonical {
    /// A map key does not sort after the one before it.
    KeyOrder,
    /// A length or integer is written with more bytes than it needs.
    LongHead,
    /// A float is written wider than its value needs.
    WideFloat,
    /// A string, array or map of indefinite length.
    IndefiniteLength,
    /// Bytes follow the item.
    TrailingBytes,
}

/// What is wrong: one fact about the input, with the offending value where it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before the structure that starts or continues here does.
    Truncated,
    /// A length does not fit this machine's address space.
    TooLarge,

    /// The message does not start with `TENSOGRM`.
    StartMagic,
    /// The preamble's version is not 3.
    Version(u16),
    /// The preamble's `total_length` is smaller than preamble and postamble together.
    MessageTooSmall,
    /// The preamble's `total_length` reaches beyond the buffer.
    MessageExceedsBuffer,
    /// The message does not end with `39277777`.
    EndMagic,
    /// The postamble's copy of `total_length` differs from the preamble's.
    TotalLengthMismatch,

    /// A frame does not start with `FR`.
    FrameMagic,
    /// A frame type that version 3 does not define.
    UnknownFrameType(u16),
    /// Frame type 4, the data object of version 2.
    ReservedFrameType,
    /// A frame's `total_length` is smaller than its header and tail.
    FrameTooSmall,
    /// A frame's `total_length` reaches beyond the frames' end.
    FrameExceedsMessage,
    /// A frame does not end with `ENDF`.
    FrameEnd,
    /// A data object's `cbor_offset` does not point between its header and its tail.
    CborOffset,
    /// A frame of this type is not allowed in this phase of the message.
    FrameOrder(FrameType, DecodePhase),
    /// A preceder is followed by something else than a data object.
    PrecederWithoutObject(FrameType),
    /// The message ends after a preceder.
    DanglingPreceder,
    /// A preceder's `base` has another number of entries than one.
    PrecederBase(u32),
    /// The message has no metadata frame.
    NoMetadata,
    /// The metadata's `base` has more entries than the message has objects.
    BaseTooLong,
    /// The message has no object of that index.
    ObjectOutOfRange,
    /// The frame where an index entry points is not a data object of the entry's length, or not the object listed.
    IndexEntry,
    /// The index has different numbers of offsets and lengths.
    IndexLengths,
    /// The index lists more or fewer objects than the message has.
    IndexCount,
    /// The hash list has more or fewer entries than the message has objects.
    HashListCount,
    /// An entry of the hash list is not the object's digest.
    HashListEntry,

    /// A CBOR head uses a reserved additional-information value (28 to 30, or 31 where no length belongs).
    CborHead(u8),
    /// A CBOR simple value other than false, true, null and undefined.
    CborSimple(u8),
    /// A CBOR break where no item of indefinite length is open, or between a key and its value.
    CborBreak,
    /// CBOR text that is not UTF-8.
    CborUtf8,
    /// CBOR nested deeper than the limit.
    CborNesting,
    /// A value of another type than the format demands, or than was asked for.
    WrongType {
        /// The type wanted.
        expected: Kind,
        /// The type that stands there.
        found: Kind,
    },
    /// An integer outside the range of the type asked for.
    IntegerRange,
    /// A map key that is not text where the format demands text.
    NonTextKey,
    /// CBOR that is valid but not canonical.
    NonCanonical(NonCanonical),
    /// A metadata key stands both at top level and in `_extra_`.
    AmbiguousKey,
    /// More top-level metadata keys than can be checked against `_extra_` in linear time.
    TooManyKeys,

    /// A required key is absent.
    MissingKey(Key),
    /// A fixed key occurs twice.
    DuplicateKey(Key),
    /// A parameter's value is outside its range.
    ParameterRange(Key),
    /// `dtype` is not one of the format's fifteen names.
    UnknownDtype,
    /// `byte_order` is neither `big` nor `little`.
    UnknownByteOrder,
    /// `ndim` differs from the number of dimensions in `shape`.
    NdimMismatch,
    /// `strides` has another number of entries than `shape`.
    StridesMismatch,
    /// The product of the shape, or the size in bytes, exceeds the integers of this machine.
    ShapeOverflow,

    /// The values need this stage undone, which a borrowed view cannot do or this crate does not contain.
    NeedsDecoding(Stage),
    /// The payload is not as long as shape, dtype and encoding imply.
    PayloadSize,
    /// The object's dtype is not the one asked for.
    DtypeMismatch(Dtype),
    /// A selection picks of another number of dimensions (the first) than the tensor has (the second).
    SelectionRank(u16, u16),
    /// A selection picks an index that this dimension does not have, or a range that ends before it starts.
    SelectionBounds(u16),
    /// An element range or coordinate reaches beyond the tensor.
    RangeOutOfBounds,
    /// The caller's buffer does not have the length that the values need.
    OutputLength,
    /// The bytes are not aligned for the type asked for, and conversion was not wanted.
    Misaligned,
    /// The bytes are in the other byte order, and conversion was not wanted.
    SwappedBytes,
    /// `simple_packing` with more than 64 bits a value.
    BitsPerValue(u32),
    /// A shuffle element size of zero, or one that does not divide the number of bytes.
    ElementSize,

    /// A mask reaches beyond the payload region.
    MaskBounds,
    /// A mask method that the format, or this crate, does not know.
    MaskMethod,
    /// A mask does not cover the elements exactly.
    MaskLength,
    /// Masks on a dtype that has no non-finite values to restore.
    MaskDtype(Dtype),
    /// A run-length mask that starts with another byte than 0 or 1.
    RleStart(u8),
    /// A run-length mask with an empty run or a run length that does not end.
    RleRun,
    /// A roaring bitmap with an unknown cookie.
    RoaringCookie(u32),
    /// A roaring bitmap whose containers contradict their headers, or hold positions beyond the elements.
    RoaringContainer,

    /// szip samples of other than 1 to 32 bits.
    SzipBitsPerSample(u32),
    /// A szip block size that the standard, or a flag that extends it, does not allow.
    SzipBlockSize(u32),
    /// A szip reference sample interval of other than 1 to 4096 blocks.
    SzipRsi(u32),
    /// The restricted option set of szip with samples of more than four bits.
    SzipRestricted(u32),
    /// A szip code that stands for no sample.
    SzipStream,
    /// A szip block that the memory of a decoder of pieces does not hold.
    SzipBlockMemory,
}

impl ErrorKind {
    /// This fact at byte `offset`.
    pub const fn at(self, offset: u64) -> Error {
        Error { kind: self, offset }
    }

    /// This fact at byte `offset`, given as a position in memory.
    pub(crate) const fn at_index(self, offset: usize) -> Error {
        self.at(offset as u64)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated => f.write_str("the bytes end too early"),
            Self::TooLarge => f.write_str("a length overflows usize"),
            Self::StartMagic => f.write_str("invalid magic bytes (expected TENSOGRM)"),
            Self::Version(v) => write!(f, "unsupported message version {v} (expected 3)"),
            Self::MessageTooSmall => f.write_str("total_length is smaller than the minimum message size of 48"),
            Self::MessageExceedsBuffer => f.write_str("total_length exceeds buffer size"),
            Self::EndMagic => f.write_str("invalid end magic in postamble (expected 39277777)"),
            Self::TotalLengthMismatch => {
                f.write_str("the postamble's total_length does not match preamble total_length")
            }
            Self::FrameMagic => f.write_str("no frame starts here (expected FR)"),
            Self::UnknownFrameType(t) => write!(f, "unknown frame type {t}"),
            Self::ReservedFrameType => f.write_str("reserved frame type 4 (data object of version 2)"),
            Self::FrameTooSmall => f.write_str("frame total_length is smaller than minimum frame size"),
            Self::FrameExceedsMessage => f.write_str(
                "frame total_length exceeds buffer: the frame extends past buffer end or into the postamble",
            ),
            Self::FrameEnd => f.write_str("missing ENDF marker"),
            Self::CborOffset => f.write_str("cbor_offset out of valid range"),
            Self::FrameOrder(frame, phase) => write!(f, "unexpected {frame} frame after {phase} phase"),
            Self::PrecederWithoutObject(found) => {
                write!(f, "PrecederMetadata must be followed by a data-object frame, not {found}")
            }
            Self::DanglingPreceder => f.write_str("dangling PrecederMetadata: no data object follows"),
            Self::PrecederBase(n) => write!(f, "PrecederMetadata base must have exactly 1 entry, not {n}"),
            Self::NoMetadata => f.write_str("no metadata frame found in message"),
            Self::BaseTooLong => f.write_str("metadata base has more entries than the message contains objects"),
            Self::ObjectOutOfRange => f.write_str("object index out of range"),
            Self::IndexEntry => f.write_str("index entry does not lead to a data object of its length"),
            Self::IndexLengths => f.write_str("index offsets.len() != lengths.len()"),
            Self::IndexCount => f.write_str("the index lists more or fewer objects than the message has"),
            Self::HashListCount => f.write_str("the hash list has more or fewer entries than the message has objects"),
            Self::HashListEntry => f.write_str("an entry of the hash list is not the object's digest"),
            Self::CborHead(info) => write!(f, "invalid CBOR: additional information {info}"),
            Self::CborSimple(v) => write!(f, "invalid CBOR: simple value {v}"),
            Self::CborBreak => f.write_str("invalid CBOR: misplaced break"),
            Self::CborUtf8 => f.write_str("invalid CBOR: text is not UTF-8"),
            Self::CborNesting => f.write_str("CBOR is nested too deeply"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, got {found}"),
            Self::IntegerRange => f.write_str("integer out of range"),
            Self::NonTextKey => f.write_str("non-text top-level key in a map that needs text keys"),
            Self::NonCanonical(why) => f.write_str(match why {
                NonCanonical::KeyOrder => "CBOR map keys not in canonical order",
                NonCanonical::LongHead => "CBOR not canonical: head longer than needed",
                NonCanonical::WideFloat => "CBOR not canonical: float wider than needed",
                NonCanonical::IndefiniteLength => "CBOR not canonical: indefinite length",
                NonCanonical::TrailingBytes => "CBOR not canonical: bytes after the item",
            }),
            Self::AmbiguousKey => f.write_str("ambiguous metadata: key both at top level and in _extra_"),
            Self::TooManyKeys => f.write_str("too many unknown top-level metadata keys beside _extra_"),
            Self::MissingKey(key) => write!(f, "missing field or required parameter: {key}"),
            Self::DuplicateKey(key) => write!(f, "duplicate field: {key}"),
            Self::ParameterRange(key) => write!(f, "{key} is out of range"),
            Self::UnknownDtype => f.write_str(
                "unknown dtype (expected one of float16, bfloat16, float32, float64, complex64, complex128, int8, \
                 int16, int32, int64, uint8, uint16, uint32, uint64, bitmask)",
            ),
            Self::UnknownByteOrder => f.write_str("unknown byte_order (expected big or little)"),
            Self::NdimMismatch => f.write_str("ndim does not match shape.len()"),
            Self::StridesMismatch => f.write_str("strides.len() does not match shape.len()"),
            Self::ShapeOverflow => f.write_str("shape product overflow"),
            Self::NeedsDecoding(stage) => write!(f, "values are not stored plainly: {stage} must be undone first"),
            Self::PayloadSize => f.write_str("the payload does not have the size that the descriptor claims"),
            Self::DtypeMismatch(dtype) => write!(f, "the object's dtype is {dtype}"),
            Self::SelectionRank(found, expected) => {
                write!(f, "a selection of {found} dimensions of a tensor that has {expected}")
            }
            Self::SelectionBounds(dimension) => {
                write!(f, "the selection of dimension {dimension} (counted from 0) reaches beyond it")
            }
            Self::RangeOutOfBounds => f.write_str("range exceeds payload size"),
            Self::OutputLength => f.write_str("the output buffer has the wrong length"),
            Self::Misaligned => f.write_str("values are not aligned in memory"),
            Self::SwappedBytes => f.write_str("values are not in native byte order"),
            Self::BitsPerValue(bits) => write!(f, "sp_bits_per_value {bits} exceeds 64"),
            Self::ElementSize => f.write_str("data length is not divisible by element_size"),
            Self::MaskBounds => f.write_str("mask offset + length exceeds payload region size"),
            Self::MaskMethod => f.write_str("unknown mask method"),
            Self::MaskLength => f.write_str("mask does not cover the elements exactly"),
            Self::MaskDtype(dtype) => write!(f, "masks are not possible on dtype {dtype}"),
            Self::RleStart(byte) => write!(f, "run-length mask starts with {byte} instead of 0 or 1"),
            Self::RleRun => f.write_str("run-length mask has an empty or endless run"),
            Self::RoaringCookie(cookie) => write!(f, "unknown roaring cookie {cookie}"),
            Self::RoaringContainer => f.write_str("inconsistent roaring container"),
            Self::SzipBitsPerSample(bits) => write!(f, "bits_per_sample must be 1..=32, got {bits}"),
            Self::SzipBlockSize(size) => write!(f, "szip_block_size {size} is not allowed (expected 8, 16, 32 or 64)"),
            Self::SzipRsi(rsi) => write!(f, "szip_rsi must be 1..=4096, got {rsi}"),
            Self::SzipRestricted(bits) => write!(f, "AEC_RESTRICTED requires bits_per_sample <= 4, got {bits}"),
            Self::SzipStream => f.write_str("invalid code in szip stream"),
            Self::SzipBlockMemory => f.write_str("a szip block does not fit the memory given for one"),
        }
    }
}
