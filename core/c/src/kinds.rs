//! The numbers of error kinds, which never change, and what becomes of `tgm-core`'s errors.

use tgm_core::cbor::Kind;
use tgm_core::descriptor::Dtype;
#[cfg(feature = "details")]
use tgm_core::descriptor::Stage;
use tgm_core::{Error, ErrorKind};

use crate::abi::{END, Fault};

/// One row of the table: the number that functions return, and the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The status, which is negative.
    pub number: i32,
    /// The name: the header's constant without `TGMC_E_`.
    pub name: &'static core::ffi::CStr,
}

impl Row {
    /// This kind without place and detail.
    pub(crate) const fn fault(self) -> Fault {
        Fault { kind: self.number, detail: 0, offset: 0 }
    }
}

/// The end of a walk, or something that is absent.
pub(crate) const AT_END: Fault = Fault { kind: END, detail: 0, offset: 0 };

macro_rules! boundary {
    ($($name:ident = $number:literal, $doc:literal;)+) => {
        $(
            #[doc = $doc]
            pub const $name: Row = Row {
                number: $number,
                name: c_name(concat!(stringify!($name), "\0")),
            };
        )+

        /// The kinds of errors that this interface itself finds.
        pub const BOUNDARY: &[Row] = &[$($name),+];
    };
}

boundary! {
    NULL = -900, "A pointer is NULL that must not be.";
    ALIGNMENT = -901, "A pointer is not aligned for its type.";
    LENGTH = -902, "A length is beyond the address space, or memory is too small.";
    OVERLAP = -903, "An output lies on an input.";
    HANDLE = -904, "A struct was not filled by this library, or was changed.";
    ARGUMENT = -905, "A number stands for nothing.";
    UTF8 = -906, "A name or path is not UTF-8.";
    LAYOUT = -907, "Header and library do not agree.";
    INDEFINITE = -908, "A string comes in pieces.";
    OTHER = -999, "An error of tgm-core that has no number yet.";
}

/// The kinds of errors that `tgm-core` finds.
pub const CORE: &[Row] = &[
    Row { number: -1, name: c"TRUNCATED" },
    Row { number: -2, name: c"TOO_LARGE" },
    Row { number: -100, name: c"START_MAGIC" },
    Row { number: -101, name: c"VERSION" },
    Row { number: -102, name: c"MESSAGE_TOO_SMALL" },
    Row { number: -103, name: c"MESSAGE_EXCEEDS_BUFFER" },
    Row { number: -104, name: c"END_MAGIC" },
    Row { number: -105, name: c"TOTAL_LENGTH_MISMATCH" },
    Row { number: -200, name: c"FRAME_MAGIC" },
    Row { number: -201, name: c"UNKNOWN_FRAME_TYPE" },
    Row { number: -202, name: c"RESERVED_FRAME_TYPE" },
    Row { number: -203, name: c"FRAME_TOO_SMALL" },
    Row { number: -204, name: c"FRAME_EXCEEDS_MESSAGE" },
    Row { number: -205, name: c"FRAME_END" },
    Row { number: -206, name: c"CBOR_OFFSET" },
    Row { number: -207, name: c"FRAME_ORDER" },
    Row { number: -208, name: c"PRECEDER_WITHOUT_OBJECT" },
    Row { number: -209, name: c"DANGLING_PRECEDER" },
    Row { number: -210, name: c"PRECEDER_BASE" },
    Row { number: -211, name: c"NO_METADATA" },
    Row { number: -212, name: c"BASE_TOO_LONG" },
    Row { number: -213, name: c"OBJECT_OUT_OF_RANGE" },
    Row { number: -214, name: c"INDEX_ENTRY" },
    Row { number: -215, name: c"INDEX_LENGTHS" },
    Row { number: -216, name: c"INDEX_COUNT" },
    Row { number: -217, name: c"HASH_LIST_COUNT" },
    Row { number: -218, name: c"HASH_LIST_ENTRY" },
    Row { number: -219, name: c"DIGEST_MISMATCH" },
    Row { number: -300, name: c"CBOR_HEAD" },
    Row { number: -301, name: c"CBOR_SIMPLE" },
    Row { number: -302, name: c"CBOR_BREAK" },
    Row { number: -303, name: c"CBOR_UTF8" },
    Row { number: -304, name: c"CBOR_NESTING" },
    Row { number: -305, name: c"WRONG_TYPE" },
    Row { number: -306, name: c"INTEGER_RANGE" },
    Row { number: -307, name: c"NON_TEXT_KEY" },
    Row { number: -308, name: c"NON_CANONICAL" },
    Row { number: -309, name: c"AMBIGUOUS_KEY" },
    Row { number: -310, name: c"TOO_MANY_KEYS" },
    Row { number: -400, name: c"MISSING_KEY" },
    Row { number: -401, name: c"DUPLICATE_KEY" },
    Row { number: -402, name: c"PARAMETER_RANGE" },
    Row { number: -403, name: c"UNKNOWN_DTYPE" },
    Row { number: -404, name: c"UNKNOWN_BYTE_ORDER" },
    Row { number: -405, name: c"NDIM_MISMATCH" },
    Row { number: -406, name: c"STRIDES_MISMATCH" },
    Row { number: -407, name: c"SHAPE_OVERFLOW" },
    Row { number: -500, name: c"NEEDS_DECODING" },
    Row { number: -501, name: c"PAYLOAD_SIZE" },
    Row { number: -502, name: c"DTYPE_MISMATCH" },
    Row { number: -503, name: c"NOT_PACKED" },
    Row { number: -504, name: c"SELECTION_RANK" },
    Row { number: -505, name: c"SELECTION_BOUNDS" },
    Row { number: -506, name: c"RANGE_OUT_OF_BOUNDS" },
    Row { number: -507, name: c"OUTPUT_LENGTH" },
    Row { number: -508, name: c"MISALIGNED" },
    Row { number: -509, name: c"SWAPPED_BYTES" },
    Row { number: -510, name: c"BITS_PER_VALUE" },
    Row { number: -511, name: c"ELEMENT_SIZE" },
    Row { number: -600, name: c"MASK_BOUNDS" },
    Row { number: -601, name: c"MASK_METHOD" },
    Row { number: -602, name: c"MASK_LENGTH" },
    Row { number: -603, name: c"MASK_DTYPE" },
    Row { number: -604, name: c"RLE_START" },
    Row { number: -605, name: c"RLE_RUN" },
    Row { number: -606, name: c"ROARING_COOKIE" },
    Row { number: -607, name: c"ROARING_CONTAINER" },
    Row { number: -700, name: c"SZIP_BITS_PER_SAMPLE" },
    Row { number: -701, name: c"SZIP_BLOCK_SIZE" },
    Row { number: -702, name: c"SZIP_RSI" },
    Row { number: -703, name: c"SZIP_RESTRICTED" },
    Row { number: -704, name: c"SZIP_STREAM" },
    Row { number: -705, name: c"SZIP_BLOCK_MEMORY" },
];

const fn c_name(with_nul: &'static str) -> &'static core::ffi::CStr {
    match core::ffi::CStr::from_bytes_with_nul(with_nul.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// The number of a kind, without its sign. Apart from the detail, so that the compiler makes it a table.
const fn number_of(kind: ErrorKind) -> u16 {
    use ErrorKind as K;
    match kind {
        K::Truncated => 1,
        K::TooLarge => 2,
        K::StartMagic => 100,
        K::Version(..) => 101,
        K::MessageTooSmall => 102,
        K::MessageExceedsBuffer => 103,
        K::EndMagic => 104,
        K::TotalLengthMismatch => 105,
        K::FrameMagic => 200,
        K::UnknownFrameType(..) => 201,
        K::ReservedFrameType => 202,
        K::FrameTooSmall => 203,
        K::FrameExceedsMessage => 204,
        K::FrameEnd => 205,
        K::CborOffset => 206,
        K::FrameOrder(..) => 207,
        K::PrecederWithoutObject(..) => 208,
        K::DanglingPreceder => 209,
        K::PrecederBase(..) => 210,
        K::NoMetadata => 211,
        K::BaseTooLong => 212,
        K::ObjectOutOfRange => 213,
        K::IndexEntry => 214,
        K::IndexLengths => 215,
        K::IndexCount => 216,
        K::HashListCount => 217,
        K::HashListEntry => 218,
        K::DigestMismatch => 219,
        K::FooterOffset => 220,
        K::CborHead(..) => 300,
        K::CborSimple(..) => 301,
        K::CborBreak => 302,
        K::CborUtf8 => 303,
        K::CborNesting => 304,
        K::WrongType { .. } => 305,
        K::IntegerRange => 306,
        K::NonTextKey(_) => 307,
        K::NonCanonical(..) => 308,
        K::AmbiguousKey => 309,
        K::TooManyKeys => 310,
        K::MissingKey(..) => 400,
        K::DuplicateKey(..) => 401,
        K::ParameterRange(..) => 402,
        K::UnknownDtype => 403,
        K::UnknownByteOrder => 404,
        K::NdimMismatch => 405,
        K::StridesMismatch => 406,
        K::ShapeOverflow => 407,
        K::NeedsDecoding(..) => 500,
        K::PayloadSize => 501,
        K::DtypeMismatch { .. } => 502,
        K::NotPacked => 503,
        K::SelectionRank(..) => 504,
        K::SelectionBounds(..) => 505,
        K::RangeOutOfBounds => 506,
        K::OutputLength => 507,
        K::Misaligned => 508,
        K::SwappedBytes => 509,
        K::BitsPerValue(..) => 510,
        K::ElementSize => 511,
        K::MaskBounds => 600,
        K::MaskMethod => 601,
        K::MaskLength => 602,
        K::MaskDtype(..) => 603,
        K::RleStart(..) => 604,
        K::RleRun => 605,
        K::RoaringCookie(..) => 606,
        K::RoaringContainer => 607,
        K::SzipBitsPerSample(..) => 700,
        K::SzipBlockSize(..) => 701,
        K::SzipRsi(..) => 702,
        K::SzipRestricted(..) => 703,
        K::SzipStream => 704,
        K::SzipBlockMemory => 705,
        _ => 999,
    }
}

/// The detail of a kind.
#[cfg(feature = "details")]
const fn detail_of(kind: ErrorKind) -> u32 {
    use ErrorKind as K;
    match kind {
        K::Version(version) => version as u32,
        K::UnknownFrameType(number) => number as u32,
        K::FrameOrder(frame, phase) => pair(frame.as_u16(), phase as u16),
        K::PrecederWithoutObject(frame) => frame.as_u16() as u32,
        K::PrecederBase(entries) => entries,
        K::CborHead(info) => info as u32,
        K::CborSimple(value) => value as u32,
        K::WrongType { expected, found } => pair(kind_number(expected) as u16, kind_number(found) as u16),
        K::NonCanonical(why) => why as u32,
        K::MissingKey(key) => key as u32,
        K::DuplicateKey(key) => key as u32,
        K::ParameterRange(key) => key as u32,
        K::NeedsDecoding(stage) => stage_number(stage),
        K::DtypeMismatch { expected, found } => pair(dtype_number(expected) as u16, dtype_number(found) as u16),
        K::SelectionRank(found, expected) => pair(expected, found),
        K::SelectionBounds(dimension) => dimension as u32,
        K::BitsPerValue(bits) => bits,
        K::MaskDtype(dtype) => dtype_number(dtype) as u32,
        K::RleStart(byte) => byte as u32,
        K::RoaringCookie(cookie) => cookie,
        K::SzipBitsPerSample(bits) => bits,
        K::SzipBlockSize(size) => size,
        K::SzipRsi(rsi) => rsi,
        K::SzipRestricted(bits) => bits,
        _ => 0,
    }
}

/// Two small numbers in one: the first in the lower half.
#[cfg(feature = "details")]
const fn pair(low: u16, high: u16) -> u32 {
    low as u32 | (high as u32) << 16
}

/// The number of a dtype, which is never 0.
pub(crate) const fn dtype_number(dtype: Dtype) -> u8 {
    (dtype as u8).wrapping_add(1)
}

/// The number of a type of CBOR items.
pub(crate) const fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Null => 0,
        Kind::Bool => 1,
        Kind::Integer => 2,
        Kind::Float => 3,
        Kind::Text => 4,
        Kind::Bytes => 5,
        Kind::Array => 6,
        Kind::Map => 7,
        Kind::Tag => 8,
    }
}

/// The number of a choice: 0 for an unknown one, otherwise its place in the format's list, counted from 1.
macro_rules! choice {
    ($known:expr) => {
        match $known {
            Some(known) => (known as u8).wrapping_add(1),
            None => 0,
        }
    };
}
pub(crate) use choice;

/// The number of a stage in the lower half, and of its choice in the upper half.
#[cfg(feature = "details")]
const fn stage_number(stage: Stage) -> u32 {
    match stage {
        Stage::Encoding(known) => pair(1, choice!(known) as u16),
        Stage::Filter(known) => pair(2, choice!(known) as u16),
        Stage::Compression(known) => pair(3, choice!(known) as u16),
        Stage::Masks(known) => pair(4, choice!(known) as u16),
    }
}

impl From<Error> for Fault {
    // Never inlined: it is called from every function, and it is a table.
    #[inline(never)]
    fn from(error: Error) -> Self {
        let kind = i32::from(number_of(error.kind())).wrapping_neg();
        #[cfg(feature = "details")]
        let detail = detail_of(error.kind());
        #[cfg(not(feature = "details"))]
        let detail = 0;
        Self { kind, detail, offset: error.offset() }
    }
}
