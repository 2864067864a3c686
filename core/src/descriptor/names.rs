//! The names of the format that stand for a choice: stages of the pipeline, mask methods, keys (FORMAT §3.5).

use core::fmt;

use crate::cbor::{Text, WireName};

macro_rules! wire_names {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The one of that name, exact and lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::from_bytes(name.as_bytes())
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl From<Text<'_>> for Option<$type> {
            fn from(text: Text<'_>) -> Self {
                WireName::from_text(text)
            }
        }

        impl WireName for $type {
            #[inline]
            fn from_bytes(name: &[u8]) -> Option<Self> {
                $(if name == $name.as_bytes() {
                    return Some(Self::$variant);
                })+
                None
            }

            fn from_text(name: Text<'_>) -> Option<Self> {
                match name.as_str() {
                    Some(name) => Self::from_name(name),
                    None => Self::ALL.iter().copied().find(|known| name == *known.name()),
                }
            }
        }
    };
}

wire_names! {
    /// The pipeline's first stage: how values become bytes.
    Encoding {
        /// Elements as they are in memory.
        None = "none",
        /// Scaled integers of a chosen number of bits (PIPELINE §3).
        SimplePacking = "simple_packing",
    }
}

wire_names! {
    /// The pipeline's second stage: how bytes are rearranged.
    Filter {
        /// Not at all.
        None = "none",
        /// First bytes of all elements, then second bytes, and so on (PIPELINE §4).
        Shuffle = "shuffle",
    }
}

wire_names! {
    /// The pipeline's third stage: how bytes become fewer (PIPELINE §5).
    Compression {
        /// Not at all.
        None = "none",
        /// CCSDS 121.0-B adaptive entropy coding.
        Szip = "szip",
        /// One Zstandard frame.
        Zstd = "zstd",
        /// A length and one LZ4 block.
        Lz4 = "lz4",
        /// A contiguous Blosc2 frame.
        Blosc2 = "blosc2",
        /// A bare zfp stream.
        Zfp = "zfp",
        /// An SZ3 container.
        Sz3 = "sz3",
        /// Run lengths of bits.
        Rle = "rle",
        /// A roaring bitmap.
        Roaring = "roaring",
    }
}

wire_names! {
    /// How the bits of a mask are stored (PIPELINE §6.3).
    MaskMethod {
        /// Packed bits.
        None = "none",
        /// Run lengths.
        Rle = "rle",
        /// A roaring bitmap.
        Roaring = "roaring",
        /// A length and one LZ4 block of the packed bits.
        Lz4 = "lz4",
        /// One Zstandard frame of the packed bits.
        Zstd = "zstd",
        /// A contiguous Blosc2 frame of the packed bits.
        Blosc2 = "blosc2",
    }
}

wire_names! {
    /// A key that the format defines for descriptors and mask entries.
    Key {
        /// Number of dimensions.
        Ndim = "ndim",
        /// Kind of object, "ntensor" by convention.
        Type = "type",
        /// Element type.
        Dtype = "dtype",
        /// Masks of non-finite values.
        Masks = "masks",
        /// Dimensions.
        Shape = "shape",
        /// Second stage.
        Filter = "filter",
        /// Strides, never interpreted.
        Strides = "strides",
        /// First stage.
        Encoding = "encoding",
        /// Order of bytes in a scalar.
        ByteOrder = "byte_order",
        /// Third stage.
        Compression = "compression",
        /// simple_packing: the value of a packed 0.
        SpReferenceValue = "sp_reference_value",
        /// simple_packing: power of two that packed integers are multiplied by.
        SpBinaryScaleFactor = "sp_binary_scale_factor",
        /// simple_packing: power of ten that values were multiplied by.
        SpDecimalScaleFactor = "sp_decimal_scale_factor",
        /// simple_packing: bits of a packed integer.
        SpBitsPerValue = "sp_bits_per_value",
        /// `sp_reference_value` before 0.19.
        ReferenceValue = "reference_value",
        /// `sp_binary_scale_factor` before 0.19.
        BinaryScaleFactor = "binary_scale_factor",
        /// `sp_decimal_scale_factor` before 0.19.
        DecimalScaleFactor = "decimal_scale_factor",
        /// `sp_bits_per_value` before 0.19.
        BitsPerValue = "bits_per_value",
        /// shuffle: bytes of an element.
        ShuffleElementSize = "shuffle_element_size",
        /// szip: blocks in a reference sample interval.
        SzipRsi = "szip_rsi",
        /// szip: samples in a block.
        SzipBlockSize = "szip_block_size",
        /// szip: libaec's flags.
        SzipFlags = "szip_flags",
        /// szip: bit offsets of the reference sample intervals.
        SzipBlockOffsets = "szip_block_offsets",
        /// zstd: level it was compressed with.
        ZstdLevel = "zstd_level",
        /// blosc2: codec inside.
        Blosc2Codec = "blosc2_codec",
        /// blosc2: level it was compressed with.
        Blosc2Clevel = "blosc2_clevel",
        /// zfp: what bounds the stream.
        ZfpMode = "zfp_mode",
        /// zfp: bits a value.
        ZfpRate = "zfp_rate",
        /// zfp: bit planes.
        ZfpPrecision = "zfp_precision",
        /// zfp: absolute error.
        ZfpTolerance = "zfp_tolerance",
        /// sz3: what its bound means.
        Sz3ErrorBoundMode = "sz3_error_bound_mode",
        /// sz3: the bound.
        Sz3ErrorBound = "sz3_error_bound",
        /// Mask entry: bytes of the blob.
        Length = "length",
        /// Mask entry: how the bits are stored.
        Method = "method",
        /// Mask entry: bytes from the region's start to the blob.
        Offset = "offset",
        /// Mask entry: parameters of the method, informational.
        Params = "params",
    }
}

impl Key {
    /// Whether a descriptor has this key at most once, as a field of its own and not as a parameter.
    pub const fn is_field(self) -> bool {
        (self as u8) <= Self::Compression as u8
    }

    /// One bit of 32, different for each field.
    pub(super) const fn bit(self) -> u32 {
        1_u32.wrapping_shl(self as u32)
    }

    /// Whether this is a parameter of a stage.
    pub const fn is_parameter(self) -> bool {
        !self.is_field() && (self as u8) < Self::Length as u8
    }
}

/// A name read from a message: one that this crate knows as `K`, or another one, kept.
#[derive(Clone, Copy, Debug)]
pub enum Named<'a, K> {
    /// A name of the format.
    Known(K),
    /// Any other text.
    Unknown(Text<'a>),
}

impl<'a, K: Copy> Named<'a, K> {
    /// Looks the text up among the names.
    pub(crate) fn new(text: Text<'a>) -> Self
    where
        K: WireName,
    {
        K::from_text(text).map_or(Self::Unknown(text), Self::Known)
    }

    /// What the name stands for, if it is one of the format.
    pub const fn known(&self) -> Option<K> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Unknown(_) => None,
        }
    }
}

impl<K: fmt::Display> fmt::Display for Named<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(known) => known.fmt(f),
            Self::Unknown(text) => text.fmt(f),
        }
    }
}

/// A stage of the pipeline that stands between a payload and its values; `None` inside is a name the format lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first stage.
    Encoding(Option<Encoding>),
    /// The second stage.
    Filter(Option<Filter>),
    /// The third stage.
    Compression(Option<Compression>),
    /// Masks, and one method they are stored by.
    Masks(Option<MaskMethod>),
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stage, name) = match *self {
            Self::Encoding(known) => ("encoding", known.map(Encoding::name)),
            Self::Filter(known) => ("filter", known.map(Filter::name)),
            Self::Compression(known) => ("compression", known.map(Compression::name)),
            Self::Masks(known) => ("mask method", known.map(MaskMethod::name)),
        };
        match name {
            Some(name) => write!(f, "{stage} {name}"),
            None => write!(f, "an unknown {stage}"),
        }
    }
}
