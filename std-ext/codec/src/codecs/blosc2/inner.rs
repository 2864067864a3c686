//! The codecs inside Blosc2 frames.

/// The codecs inside Blosc2 frames (PIPELINE §5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blosc2Codec {
    /// blosclz
    Blosclz,
    /// lz4
    #[default]
    Lz4,
    /// lz4hc
    Lz4hc,
    /// zlib
    Zlib,
    /// zstd
    Zstd,
}

impl Blosc2Codec {
    /// All codecs.
    pub const ALL: [Self; 5] = [Self::Blosclz, Self::Lz4, Self::Lz4hc, Self::Zlib, Self::Zstd];

    /// The name in descriptors.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The codec of that name, which is exact and in lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }
}
