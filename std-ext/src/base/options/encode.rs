//! How to encode.

use super::CompressionBackend;
use crate::base::error::{Result, TensogramError};

/// Packed bytes of a mask up to which it is stored as it is.
const SMALL_MASK_BYTES: usize = 128;

/// Options of encoding (FORMAT §4.1).
///
/// ```
/// use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};
///
/// let options = EncodeOptions { allow_nan: true, threads: 4, ..EncodeOptions::default() };
/// let object = ObjectBuilder::new(&[2], &[1.0, f64::NAN])?;
/// let bytes = MessageBuilder::new().object(object).options(options).encode()?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// A digest is written into every frame.
    pub hashing: bool,
    /// Which implementation of a codec is asked, where there are several: szip has one in Rust and libaec. Their bytes are
    /// the same.
    pub compression_backend: CompressionBackend,
    /// How many threads may encode: 0 for what the variable [`ENV_THREADS`](crate::ENV_THREADS) says, or one. The bytes do not depend on it,
    /// except that zstd, for any number but 0, cuts its input at other places.
    pub threads: u32,
    /// A message of less payload than this is encoded on the calling thread; 64 KiB if `None`.
    pub parallel_threshold_bytes: Option<usize>,
    /// NaN is stored as zero and a mask says where; otherwise it is an error.
    pub allow_nan: bool,
    /// Infinities are stored as zeros and masks say where; otherwise they are an error.
    pub allow_inf: bool,
    /// How the mask of NaN is stored.
    pub nan_mask_method: MaskMethod,
    /// How the mask of +∞ is stored.
    pub pos_inf_mask_method: MaskMethod,
    /// How the mask of −∞ is stored.
    pub neg_inf_mask_method: MaskMethod,
    /// A mask of at most so many packed bytes is stored as it is; 0 for none.
    pub small_mask_threshold_bytes: usize,
    /// Where a list of all objects' digests is written.
    pub aggregate_hash: AggregateHashPolicy,
    /// In which byte order zfp and sz3 are given values; other codecs have the descriptor's.
    pub value_order: ValueOrder,
    /// What the message says of its own making; `None` for this library, now, and a random uuid.
    pub provenance: Option<Provenance>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            hashing: true,
            compression_backend: CompressionBackend::Auto,
            threads: 0,
            parallel_threshold_bytes: None,
            allow_nan: false,
            allow_inf: false,
            nan_mask_method: MaskMethod::Roaring,
            pos_inf_mask_method: MaskMethod::Roaring,
            neg_inf_mask_method: MaskMethod::Roaring,
            small_mask_threshold_bytes: SMALL_MASK_BYTES,
            aggregate_hash: AggregateHashPolicy::Auto,
            value_order: ValueOrder::Checked,
            provenance: None,
        }
    }
}

/// In which byte order the bytes of an object come that zfp or sz3 compresses.
///
/// These codecs code numbers, so that a wrong order gives wrong numbers, which nobody notices. The crate `tensogram` takes
/// this machine's order, whatever the descriptor says. It makes a difference only where the descriptor says the other one:
/// what is written is the same then, and reads back in the order that the descriptor says.
///
/// ```
/// use tgm_std::core::descriptor::ZfpMode;
/// use tgm_std::options::ValueOrder;
/// use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, ObjectBuilder};
/// use tgm_std::{GlobalMetadata, decode, encode};
///
/// // As a program for the crate `tensogram` has it on a little-endian machine.
/// let values: Vec<u8> = (1..100).flat_map(|i| (f64::from(i) / 8.0).to_le_bytes()).collect();
/// let descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Big, &[99]);
/// let object = ObjectBuilder::from_parts(descriptor, &[][..]).zfp(ZfpMode::FixedAccuracy(0.01));
///
/// # if cfg!(target_endian = "little") {
/// let objects = [(object.descriptor(), &values[..])];
/// let error = encode(&GlobalMetadata::default(), &objects, &EncodeOptions::default()).unwrap_err();
/// assert!(error.to_string().contains("ValueOrder::Native"));
///
/// let options = EncodeOptions { value_order: ValueOrder::Native, ..EncodeOptions::default() };
/// let message = encode(&GlobalMetadata::default(), &objects, &options)?;
/// let (_, objects) = decode(&message, &DecodeOptions::default())?;
/// let eighth = f64::from_le_bytes(objects[0].1[..8].try_into().unwrap());
/// assert!((eighth - 0.125).abs() < 0.01);
/// # }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueOrder {
    /// The descriptor's. An error for 16 values and more which, read so, are often of no magnitude that measurements have,
    /// and all are in this machine's order. The first few values answer where the order is right.
    #[default]
    Checked,
    /// The descriptor's, whatever the values look like.
    Declared,
    /// This machine's, as programs for the crate `tensogram` give them.
    Native,
}

/// Where the list of all objects' digests goes. There is none without hashing, nor without objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregateHashPolicy {
    /// In the header of a buffered message, in the footer of a streamed one.
    #[default]
    Auto,
    /// Nowhere.
    None,
    /// In the header, before the objects. Not for streams.
    Header,
    /// In the footer, after the objects.
    Footer,
    /// In both. Not for streams.
    Both,
}

/// How the bits of a mask are stored (PIPELINE §6.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MaskMethod {
    /// Run lengths.
    Rle,
    /// A roaring bitmap.
    #[default]
    Roaring,
    /// A contiguous Blosc2 frame of the packed bits.
    Blosc2 {
        /// The codec inside.
        codec: Blosc2Codec,
        /// Its level, 1 to 9; other numbers become the nearest of them.
        level: i32,
    },
    /// One Zstandard frame of the packed bits.
    Zstd {
        /// Its level, 3 if `None`.
        level: Option<i32>,
    },
    /// A length and one LZ4 block of the packed bits.
    Lz4,
    /// Packed bits.
    None,
}

impl MaskMethod {
    /// The name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Rle => "rle",
            Self::Roaring => "roaring",
            Self::Blosc2 { .. } => "blosc2",
            Self::Zstd { .. } => "zstd",
            Self::Lz4 => "lz4",
            Self::None => "none",
        }
    }

    /// The method of that name, with its usual parameters: for blosc2 lz4 at level 5, for zstd its own default.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for another name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "rle" => Ok(Self::Rle),
            "roaring" => Ok(Self::Roaring),
            "blosc2" => Ok(Self::Blosc2 { codec: Blosc2Codec::Lz4, level: 5 }),
            "zstd" => Ok(Self::Zstd { level: None }),
            "lz4" => Ok(Self::Lz4),
            "none" => Ok(Self::None),
            other => Err(TensogramError::Metadata(
                format!("unknown mask method: {other} (known: none, rle, roaring, lz4, zstd, blosc2)").into(),
            )),
        }
    }
}

/// The codecs that a Blosc2 frame can have inside (PIPELINE §5.5).
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Blosclz, Self::Lz4, Self::Lz4hc, Self::Zlib, Self::Zstd];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blosclz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4hc => "lz4hc",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The one of that name, exact and lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }
}

/// What a message says of its own making (FORMAT §3.4).
///
/// Messages that were made with the same provenance out of the same data are the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// When, in UTC: `YYYY-MM-DDThh:mm:ssZ`.
    pub time: String,
    /// Which message, a uuid in lower case with hyphens.
    pub uuid: String,
    /// By what.
    pub encoder_name: String,
    /// By which release of it.
    pub encoder_version: String,
}

impl Provenance {
    /// This library, now, and a random uuid. Not on bare WebAssembly, which has neither clock nor chance.
    ///
    /// # Panics
    /// If the system has no random bytes to give.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[allow(clippy::expect_used, reason = "systems without random bytes are not of this world")]
    pub fn now() -> Self {
        let made = crate::base::provenance::with_new(|time, uuid| Self {
            time: time.to_string(),
            uuid: uuid.to_string(),
            encoder_name: env!("CARGO_PKG_NAME").to_string(),
            encoder_version: env!("CARGO_PKG_VERSION").to_string(),
        });
        made.expect("random bytes")
    }
}
