//! Findings of a validation: codes, levels, severities.

use std::fmt;

use serde::{Serialize, Serializer};

/// How deep a validation goes. Each level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ValidationLevel {
    /// Preamble, frames, postamble.
    Structure,
    /// CBOR of all frames, compared with the objects.
    Metadata,
    /// Digests, and decoding of objects with a pipeline.
    #[default]
    Integrity,
    /// Values: sizes, masks, NaN and infinities.
    Fidelity,
}

impl fmt::Display for ValidationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structure => "structure",
            Self::Metadata => "metadata",
            Self::Integrity => "integrity",
            Self::Fidelity => "fidelity",
        })
    }
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueSeverity {
    /// Odd, but everything can be read.
    Warning,
    /// Something is wrong.
    Error,
}

impl fmt::Display for IssueSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])+ $code:ident = $name:literal, $level:ident $severity:ident;)+) => {
        /// The kinds of findings (FORMAT §6). Serialized as [`Self::name`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum IssueCode {
            $($(#[$doc])+ $code,)+
        }

        impl IssueCode {
            /// Every code, in the order of levels.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// The code in reports for programs.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// The level that finds it. If two levels can, the first one.
            pub const fn level(self) -> ValidationLevel {
                match self {
                    $(Self::$code => ValidationLevel::$level,)+
                }
            }

            /// How bad it is.
            pub const fn severity(self) -> IssueSeverity {
                match self {
                    $(Self::$code => IssueSeverity::$severity,)+
                }
            }
        }
    };
}

codes! {
    /// Fewer bytes than a preamble has.
    BufferTooShort = "buffer_too_short", Structure Error;
    /// The first bytes are not the start magic.
    InvalidMagic = "invalid_magic", Structure Error;
    /// The preamble is of another version.
    PreambleParseFailed = "preamble_parse_failed", Structure Error;
    /// The message's length does not fit this machine's addresses. Possible on machines with fewer than 64 bits.
    TotalLengthOverflow = "total_length_overflow", Structure Error;
    /// The message is longer than the bytes given.
    TotalLengthExceedsBuffer = "total_length_exceeds_buffer", Structure Error;
    /// The message's length is less than preamble and postamble take.
    TotalLengthTooSmall = "total_length_too_small", Structure Error;
    /// No end magic where the message ends, or a copy of the length that differs from the preamble's.
    PostambleInvalid = "postamble_invalid", Structure Error;
    /// `first_footer_offset` leads out of the message.
    FooterOffsetOutOfRange = "footer_offset_out_of_range", Structure Error;
    /// `first_footer_offset` is not the offset of the first footer frame, or of the postamble if there is no footer
    /// frame.
    FooterOffsetMismatch = "footer_offset_mismatch", Structure Warning;
    /// A frame's header is cut short.
    TruncatedFrameHeader = "truncated_frame_header", Structure Error;
    /// A frame's type is unknown or reserved.
    InvalidFrameHeader = "invalid_frame_header", Structure Error;
    /// A frame's end exceeds 64 bits.
    FrameLengthOverflow = "frame_length_overflow", Structure Error;
    /// A frame's length is less than its header and tail take.
    FrameTooSmall = "frame_too_small", Structure Error;
    /// A frame reaches into the postamble, or beyond it.
    FrameExceedsMessage = "frame_exceeds_message", Structure Error;
    /// A frame does not end with `ENDF`.
    MissingEndMarker = "missing_end_marker", Structure Error;
    /// A frame of an earlier phase.
    FrameOrderViolation = "frame_order_violation", Structure Error;
    /// A preceder is followed by another frame than a data object.
    PrecederNotFollowedByObject = "preceder_not_followed_by_object", Structure Error;
    /// The frames end after a preceder.
    DanglingPreceder = "dangling_preceder", Structure Error;
    /// `cbor_offset` does not lead between an object's header and its tail. The object is left out of what follows.
    CborOffsetInvalid = "cbor_offset_invalid", Structure Error;
    /// A descriptor before its payload is malformed, so the start of the payload is unknown. The object is left out of
    /// what follows.
    CborBeforeBoundaryUnknown = "cbor_before_boundary_unknown", Structure Error;
    /// Bytes between frames that are not zero.
    NonZeroPadding = "non_zero_padding", Structure Warning;
    /// The preamble announces frames that are missing, or does not announce frames that are present.
    FlagMismatch = "flag_mismatch", Structure Warning;
    /// The reserved bytes of the preamble are not 0.
    ReservedNotZero = "reserved_not_zero", Structure Warning;
    /// The preamble has flags that the format does not define.
    UnknownMessageFlags = "unknown_message_flags", Structure Warning;
    /// A frame has flags that the format does not define, or does not define for its type.
    UnknownFrameFlags = "unknown_frame_flags", Structure Warning;
    /// A frame's version is not the one that the format defines.
    UnknownFrameVersion = "unknown_frame_version", Structure Warning;
    /// A frame does not start at a multiple of eight bytes, or starts in the padding of the frame before. Readers that
    /// step by multiples of eight miss it without an error.
    FrameOffGrid = "frame_off_grid", Structure Warning;
    /// Neither header nor footer have metadata.
    NoMetadataFrame = "no_metadata_frame", Structure Error;

    /// Global metadata cannot be read. The rest of the level is skipped.
    MetadataCborParseFailed = "metadata_cbor_parse_failed", Metadata Error;
    /// Keys of global metadata are not in canonical order.
    MetadataCborNonCanonical = "metadata_cbor_non_canonical", Metadata Warning;
    /// An index cannot be read.
    IndexCborParseFailed = "index_cbor_parse_failed", Metadata Error;
    /// An index lists more or fewer objects than there are.
    IndexCountMismatch = "index_count_mismatch", Metadata Error;
    /// An index entry does not lead to its object, or states another length.
    IndexOffsetMismatch = "index_offset_mismatch", Metadata Error;
    /// A hash list cannot be read.
    HashFrameCborParseFailed = "hash_frame_cbor_parse_failed", Metadata Error;
    /// A hash list has more or fewer entries than there are objects.
    HashFrameCountMismatch = "hash_frame_count_mismatch", Metadata Error;
    /// A preceder cannot be read.
    PrecederCborParseFailed = "preceder_cbor_parse_failed", Metadata Error;
    /// Keys of a preceder are not in canonical order.
    PrecederCborNonCanonical = "preceder_cbor_non_canonical", Metadata Warning;
    /// A preceder's `base` has another number of entries than one.
    PrecederBaseCountWrong = "preceder_base_count_wrong", Metadata Error;
    /// `base` has more entries than there are objects.
    BaseCountExceedsObjects = "base_count_exceeds_objects", Metadata Error;
    /// A key is repeated in a map. This crate takes the last one. Other readers take the first, or refuse the map.
    DuplicateKey = "duplicate_key", Metadata Warning;
    /// A descriptor cannot be read, or its masks lie outside of the payload region.
    DescriptorCborParseFailed = "descriptor_cbor_parse_failed", Metadata Error;
    /// Keys of a descriptor are not in canonical order.
    DescriptorCborNonCanonical = "descriptor_cbor_non_canonical", Metadata Warning;
    /// `ndim` is not the number of dimensions in `shape`.
    NdimShapeMismatch = "ndim_shape_mismatch", Metadata Error;
    /// `strides` has another number of entries than `shape`.
    StridesShapeMismatch = "strides_shape_mismatch", Metadata Error;
    /// The number of elements exceeds 64 bits.
    ShapeOverflow = "shape_overflow", Metadata Error;
    /// An encoding that the format does not define.
    UnknownEncoding = "unknown_encoding", Metadata Error;
    /// A filter that the format does not define.
    UnknownFilter = "unknown_filter", Metadata Error;
    /// A compression that the format does not define.
    UnknownCompression = "unknown_compression", Metadata Error;
    /// `szip_block_offsets` is not an array of unsigned integers. In this and the next three cases the object can be
    /// decoded. Ranges cost more, and other readers refuse them.
    SzipBlockOffsetsWrongType = "szip_block_offsets_wrong_type", Metadata Warning;
    /// The first of `szip_block_offsets` is missing or not 0.
    SzipBlockOffsetsNotFromZero = "szip_block_offsets_not_from_zero", Metadata Warning;
    /// An entry of `szip_block_offsets` is not greater than the one before it.
    SzipBlockOffsetsNotIncreasing = "szip_block_offsets_not_increasing", Metadata Warning;
    /// An entry of `szip_block_offsets` is beyond the end of the payload.
    SzipBlockOffsetsPastEnd = "szip_block_offsets_past_end", Metadata Warning;
    /// The object's type is empty.
    EmptyObjType = "empty_obj_type", Metadata Error;
    /// `_reserved_` of a `base` entry is not a map.
    ReservedNotAMap = "reserved_not_a_map", Metadata Error;
    /// `_reserved_` of a `base` entry has no `tensor`.
    ReservedMissingTensor = "reserved_missing_tensor", Metadata Warning;

    /// A wrong digest, or hash lists that disagree with the frames or with each other.
    HashMismatch = "hash_mismatch", Integrity Error;
    /// An object without a digest in a message that has digests; or an object whose descriptor cannot be read, if the
    /// level that reports this was skipped.
    HashVerificationError = "hash_verification_error", Integrity Error;
    /// A hash list with another algorithm than xxh3. It was not compared.
    UnknownHashAlgorithm = "unknown_hash_algorithm", Integrity Warning;
    /// An object without a digest in a message that was written without.
    NoHashAvailable = "no_hash_available", Integrity Warning;
    /// The pipeline of an object cannot be undone.
    DecodePipelineFailed = "decode_pipeline_failed", Integrity Error;
    /// A stage of an object's pipeline is unknown or not compiled in, or its parameters are invalid.
    PipelineConfigFailed = "pipeline_config_failed", Integrity Error;
    /// The objects of the message, or of the file, decode to more than the budget. This object and later ones that need
    /// decoding were skipped.
    DecodeBudgetExceeded = "decode_budget_exceeded", Integrity Error;

    /// An object without a pipeline, or its masks, cannot be decoded.
    DecodeObjectFailed = "decode_object_failed", Fidelity Error;
    /// There are more or fewer bytes than shape and dtype imply.
    DecodedSizeMismatch = "decoded_size_mismatch", Fidelity Error;
    /// The first non-finite value that no mask covers is a NaN.
    NanDetected = "nan_detected", Fidelity Error;
    /// The first non-finite value that no mask covers is an infinity.
    InfDetected = "inf_detected", Fidelity Error;
}

impl fmt::Display for IssueCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for IssueCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One finding in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValidationIssue {
    /// The kind.
    pub code: IssueCode,
    /// The level that found it.
    pub level: ValidationLevel,
    /// How bad it is.
    pub severity: IssueSeverity,
    /// The data object that is concerned, counted from 0, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_index: Option<usize>,
    /// The position in bytes from the message's start, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_offset: Option<usize>,
    /// The finding in words.
    pub description: String,
}

impl ValidationIssue {
    /// A finding about the message as a whole.
    pub(super) fn new(code: IssueCode, description: impl Into<String>) -> Self {
        let (level, severity) = (code.level(), code.severity());
        Self { code, level, severity, object_index: None, byte_offset: None, description: description.into() }
    }

    /// The finding at byte `offset`.
    pub(super) fn at(mut self, offset: u64) -> Self {
        // The message is in memory, so positions fit.
        self.byte_offset = usize::try_from(offset).ok();
        self
    }

    /// The finding about data object `index`.
    pub(super) const fn of_object(mut self, index: usize) -> Self {
        self.object_index = Some(index);
        self
    }

    /// The finding with another level than the first that can have it.
    pub(super) const fn found_by(mut self, level: ValidationLevel) -> Self {
        self.level = level;
        self
    }
}
