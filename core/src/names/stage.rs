//! The stages of the pipeline and their choices (PIPELINE §2).

use core::fmt;

use super::wire_names;

wire_names! {
    /// The pipeline's first stage: how values become bytes.
    Encoding {
        /// The elements as they are in memory.
        None = "none",
        /// Scaled integers of a chosen number of bits (PIPELINE §3).
        SimplePacking = "simple_packing",
    }
}

wire_names! {
    /// The pipeline's second stage: how bytes are rearranged.
    Filter {
        /// The bytes stay as they are.
        None = "none",
        /// The first bytes of all elements, then the second bytes, and so on (PIPELINE §4).
        Shuffle = "shuffle",
    }
}

wire_names! {
    /// The pipeline's third stage: how bytes become fewer (PIPELINE §5).
    Compression {
        /// The bytes stay as they are.
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

/// A stage of the pipeline that must be undone to get from a payload to its values.
///
/// A `None` inside stands for a name that the format does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The first stage.
    Encoding(Option<Encoding>),
    /// The second stage.
    Filter(Option<Filter>),
    /// The third stage.
    Compression(Option<Compression>),
    /// The masks, with the method of one of them.
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
