//! What can be wrong with bytes, and where.

use core::fmt;

use crate::names::{DecodePhase, Dtype, FrameType, Key, Kind, Stage};

/// The result of every function in this crate that can meet bad input.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// A fact about the input ([`ErrorKind`]), and the byte offset at which it holds.
///
/// The offset counts from the first byte of the slice that the caller gave. For a frame, an object or a descriptor of a
/// [`Message`](crate::Message), that slice is the message. Some errors concern a request and not bytes, for example an element
/// range or an output buffer. Their offset is the place of the object or payload concerned.
///
/// ```
/// use tgm_core::{ErrorKind, Message};
///
/// let error = Message::parse(&[0; 48]).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (ErrorKind::StartMagic, 0));
/// assert_eq!(error.to_string(), "invalid magic bytes (expected TENSOGRM) at byte 0");
/// ```
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

    /// Where it holds, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The same error, counted from a slice that starts `base` bytes earlier.
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

/// A departure from the canonical form of CBOR that writers of the format use (FORMAT §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NonCanonical {
    /// A map key does not sort after the one before it.
    KeyOrder,
    /// A length or integer is written with more bytes than necessary.
    LongHead,
    /// A float is written wider than necessary.
    WideFloat,
    /// A string, array or map has an indefinite length.
    IndefiniteLength,
    /// Bytes follow the item.
    TrailingBytes,
}

/// What is wrong: one fact about the input, with the offending value if it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end inside a structure.
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
    /// The frame after a preceder is not a data object.
    PrecederWithoutObject(FrameType),
    /// The message ends after a preceder.
    DanglingPreceder,
    /// A preceder's `base` does not have exactly one entry.
    PrecederBase(u32),
    /// The message has no metadata frame.
    NoMetadata,
    /// The metadata's `base` has more entries than the message has objects.
    BaseTooLong,
    /// The message has no object of that index.
    ObjectOutOfRange,
    /// An index entry does not lead to the listed data object, or gives a wrong length for it.
    IndexEntry,
    /// The index has different numbers of offsets and lengths.
    IndexLengths,
    /// The index lists more or fewer objects than the message has.
    IndexCount,
    /// The hash list has more or fewer entries than the message has objects.
    HashListCount,
    /// An entry of the hash list is not the object's digest.
    HashListEntry,
    /// A frame's digest is not the digest of its body.
    DigestMismatch,
    /// The postamble's `first_footer_offset` does not lie between preamble and postamble.
    FooterOffset,

    /// A CBOR head with additional information 28 to 30, or with 31 where no length can be indefinite.
    CborHead(u8),
    /// A CBOR simple value other than false, true, null and undefined.
    CborSimple(u8),
    /// A CBOR break outside of an item of indefinite length, or between a key and its value.
    CborBreak,
    /// CBOR text that is not UTF-8.
    CborUtf8,
    /// CBOR nested deeper than the limit.
    CborNesting,
    /// A value has another type than the format requires, or than was asked for.
    WrongType {
        /// The type that is required or was asked for.
        expected: Kind,
        /// The type of the value.
        found: Kind,
    },
    /// An integer does not fit the type that the format requires, or that was asked for.
    IntegerRange,
    /// A map key is of this type and not text, where the format requires text.
    NonTextKey(Kind),
    /// CBOR that is valid but not canonical.
    NonCanonical(NonCanonical),
    /// A metadata key is both at top level and in `_extra_`.
    AmbiguousKey,
    /// There are too many keys to compare them in linear time.
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

    /// This stage must be undone first. The called function does not undo it, or it is not compiled in.
    NeedsDecoding(Stage),
    /// The payload is not as long as shape, dtype and encoding imply.
    PayloadSize,
    /// The object has another dtype than the one that is required or was asked for.
    DtypeMismatch {
        /// The dtype that is required or was asked for.
        expected: Dtype,
        /// The dtype of the object.
        found: Dtype,
    },
    /// The values are not packed with `simple_packing`, so they cannot be unpacked.
    NotPacked,
    /// A selection picks of another number of dimensions (the first) than the tensor has (the second).
    SelectionRank(u16, u16),
    /// A selection picks an index that this dimension does not have, or a range that ends before it starts.
    SelectionBounds(u16),
    /// An element range or coordinate reaches beyond the tensor.
    RangeOutOfBounds,
    /// The caller's buffer does not have the length that the values need.
    OutputLength,
    /// The bytes are not aligned for the type that was asked for, so they cannot be borrowed as it.
    Misaligned,
    /// The bytes are in the other byte order, so they cannot be borrowed as values.
    SwappedBytes,
    /// `simple_packing` with more than 64 bits for each value.
    BitsPerValue(u32),
    /// A shuffle element size of zero, or one that does not divide the number of bytes.
    ElementSize,

    /// A mask reaches beyond the payload region.
    MaskBounds,
    /// A mask method that the format does not define.
    MaskMethod,
    /// A mask covers more or fewer elements than the object has.
    MaskLength,
    /// Masks on bitmasks, which have no bytes to restore.
    MaskDtype(Dtype),
    /// A run-length mask that does not start with 0 or 1.
    RleStart(u8),
    /// A run-length mask with an empty run, or with a run length that does not end.
    RleRun,
    /// A roaring bitmap with an unknown cookie.
    RoaringCookie(u32),
    /// A roaring bitmap whose containers contradict their headers, or have positions beyond the elements.
    RoaringContainer,

    /// szip samples of 0 bits, or of more than 32.
    SzipBitsPerSample(u32),
    /// A szip block size that neither the standard nor a flag allows.
    SzipBlockSize(u32),
    /// A szip reference sample interval of 0 blocks, or of more than 4096.
    SzipRsi(u32),
    /// The restricted option set of szip, with samples of more than four bits.
    SzipRestricted(u32),
    /// A szip code that stands for no sample.
    SzipStream,
    /// A szip block that does not fit the memory of a decoder of pieces.
    SzipBlockMemory,
}

impl ErrorKind {
    /// This fact at byte `offset`.
    pub const fn at(self, offset: u64) -> Error {
        Error { kind: self, offset }
    }

    /// This fact at byte `offset`, which is an index into memory.
    pub(crate) const fn at_index(self, offset: usize) -> Error {
        self.at(offset as u64)
    }
}

impl fmt::Display for ErrorKind {
    #[expect(clippy::too_many_lines, reason = "one arm for each kind")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated => f.write_str("the bytes end too early"),
            Self::TooLarge => f.write_str("a length overflows usize, the address space of this machine"),
            Self::StartMagic => f.write_str("invalid magic bytes (expected TENSOGRM)"),
            Self::Version(v) => write!(f, "unsupported message version {v} (required = 3)"),
            Self::MessageTooSmall => f.write_str("total_length is too small: smaller than the minimum message size of 48"),
            Self::MessageExceedsBuffer => f.write_str("total_length exceeds buffer size"),
            Self::EndMagic => f.write_str("invalid end magic in postamble (expected 39277777)"),
            Self::TotalLengthMismatch => {
                f.write_str("postamble total_length does not match preamble total_length")
            }
            Self::FrameMagic => f.write_str("no frame starts here (expected FR)"),
            Self::UnknownFrameType(t) => write!(f, "unknown frame type {t}"),
            Self::ReservedFrameType => f.write_str("reserved frame type 4 (obsolete v2 data object)"),
            Self::FrameTooSmall => f.write_str(
                "frame total_length is too small: smaller than minimum frame size (smaller than header size and tail)",
            ),
            Self::FrameExceedsMessage => f.write_str(
                "frame total_length exceeds buffer: the frame is outside bounds, it extends past buffer end or runs past \
                 first-message end",
            ),
            Self::FrameEnd => f.write_str("missing ENDF marker"),
            Self::CborOffset => {
                f.write_str("cbor_offset out of valid range (expected a place between the frame's header and its tail)")
            }
            Self::FrameOrder(frame, phase) => write!(f, "unexpected {frame} frame after {phase} phase"),
            Self::PrecederWithoutObject(found) => {
                write!(f, "PrecederMetadata must be followed by a data-object frame, not {found}")
            }
            Self::DanglingPreceder => f.write_str("dangling PrecederMetadata: no data object follows"),
            Self::PrecederBase(n) => write!(f, "PrecederMetadata base must have exactly 1 entry, got {n}"),
            Self::NoMetadata => f.write_str("no metadata frame found in message"),
            Self::BaseTooLong => f.write_str("metadata base has more entries than the message contains objects"),
            Self::ObjectOutOfRange => f.write_str("object index out of range: the message has fewer objects"),
            Self::IndexEntry => f.write_str("index entry does not lead to a data object of its length"),
            Self::IndexLengths => f.write_str("index offsets.len() != lengths.len()"),
            Self::IndexCount => f.write_str("the index lists more or fewer objects than the message has"),
            Self::HashListCount => f.write_str("the hash list has more or fewer entries than the message has objects"),
            Self::HashListEntry => f.write_str("an entry of the hash list is not the object's digest"),
            Self::DigestMismatch => f.write_str("hash mismatch: a frame's digest is not the digest of its body"),
            Self::FooterOffset => f.write_str("first_footer_offset does not lie between preamble and postamble"),
            Self::CborHead(info) => write!(f, "invalid CBOR: additional information {info} is not allowed here"),
            Self::CborSimple(v) => {
                write!(f, "invalid CBOR: simple value {v} (expected 20 to 23: false, true, null or undefined)")
            }
            Self::CborBreak => f.write_str("invalid CBOR: misplaced break"),
            Self::CborUtf8 => f.write_str("invalid CBOR: text is not UTF-8"),
            Self::CborNesting => f.write_str("CBOR is nested too deeply"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, got {found}"),
            Self::IntegerRange => f.write_str("integer out of range for the type that is expected here"),
            Self::NonTextKey(kind) => {
                let name = key_name(kind);
                write!(f, "non-text top-level key ({name} key): a non-text key in a map that needs text keys")
            }
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
            Self::NdimMismatch => f.write_str("ndim does not match shape.len(), the number of dimensions"),
            Self::StridesMismatch => f.write_str("strides.len() does not match shape.len()"),
            Self::ShapeOverflow => {
                f.write_str("shape product overflow: more elements or bytes than an integer can count")
            }
            Self::NeedsDecoding(stage) => write!(f, "values are not stored plainly: {stage} must be undone first"),
            Self::PayloadSize => f.write_str("the payload does not have the size that the descriptor claims"),
            Self::DtypeMismatch { expected, found } => write!(f, "the object's dtype is {found}, expected {expected}"),
            Self::NotPacked => f.write_str("the values are not packed (expected encoding simple_packing)"),
            Self::SelectionRank(found, expected) => {
                write!(f, "a selection of {found} dimensions of a tensor that has {expected}")
            }
            Self::SelectionBounds(dimension) => {
                write!(f, "the selection of dimension {dimension} (counted from 0) reaches beyond it")
            }
            Self::RangeOutOfBounds => f.write_str("range exceeds payload size: it reaches beyond the last element"),
            Self::OutputLength => f.write_str("the output buffer does not have the length that the values need"),
            Self::Misaligned => f.write_str("values are not aligned in memory for the type that was asked for"),
            Self::SwappedBytes => f.write_str("values are not in native byte order, which was asked for"),
            Self::BitsPerValue(bits) => write!(f, "sp_bits_per_value {bits} exceeds 64"),
            Self::ElementSize => f.write_str("data length is not divisible by element_size"),
            Self::MaskBounds => f.write_str("mask offset + length exceeds payload region size"),
            Self::MaskMethod => {
                f.write_str("unknown mask method (expected one of none, rle, roaring, lz4, zstd, blosc2)")
            }
            Self::MaskLength => f.write_str("mask covers more or fewer elements than the object has"),
            Self::MaskDtype(dtype) => write!(f, "masks are not possible on dtype {dtype}"),
            Self::RleStart(byte) => write!(f, "run-length mask starts with {byte} instead of 0 or 1"),
            Self::RleRun => f.write_str("run-length mask has an empty or endless run"),
            Self::RoaringCookie(cookie) => write!(f, "unknown roaring cookie {cookie} (expected 12346 or 12347)"),
            Self::RoaringContainer => f.write_str("a roaring container contradicts its header or the mask's length"),
            Self::SzipBitsPerSample(bits) => write!(f, "bits_per_sample must be 1..=32, got {bits}"),
            Self::SzipBlockSize(size) => write!(f, "szip_block_size {size} is not allowed (expected 8, 16, 32 or 64)"),
            Self::SzipRsi(rsi) => write!(f, "szip_rsi must be 1..=4096, got {rsi}"),
            Self::SzipRestricted(bits) => write!(f, "AEC_RESTRICTED requires bits_per_sample <= 4, got {bits}"),
            Self::SzipStream => f.write_str("invalid code in szip stream: it stands for no sample"),
            Self::SzipBlockMemory => f.write_str("a szip block does not fit the decoder's memory for one block"),
        }
    }
}

/// The name of a key's type, as programs look for it in texts.
const fn key_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Integer => "integer",
        Kind::Float => "float",
        Kind::Bytes => "byte-string",
        Kind::Text => "text",
        Kind::Array => "array",
        Kind::Map => "map",
        Kind::Tag => "tagged",
    }
}
