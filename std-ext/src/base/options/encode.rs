//! Options of encoding.

use super::{Blosc2Codec, CompressionBackend};
use crate::base::error::{Result, TensogramError};

/// The default for small masks: up to this many packed bytes, a mask is stored without compression.
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
#[expect(clippy::struct_excessive_bools, reason = "the fields are the format's users' and each stands for itself")]
pub struct EncodeOptions {
    /// Whether every frame gets a digest.
    pub hashing: bool,
    /// The implementation of a codec to use. szip has one in Rust and libaec, which write the same bytes.
    pub compression_backend: CompressionBackend,
    /// The number of threads that may encode. 0 means the number in the variable [`ENV_THREADS`](crate::ENV_THREADS),
    /// or one thread. It does not change the bytes, with one exception: for any number but 0, zstd cuts its input at
    /// other places.
    pub threads: u32,
    /// Messages with less payload than this are encoded on the calling thread. `None` means 64 KiB.
    pub parallel_threshold_bytes: Option<usize>,
    /// Whether NaN is allowed: it is stored as zero, and a mask records its places. Otherwise NaN is an error.
    pub allow_nan: bool,
    /// Whether infinities are allowed: they are stored as zeros, and masks record their places. Otherwise they are an
    /// error.
    pub allow_inf: bool,
    /// Whether complex elements keep all their bits. A mask gives an element back with the same value in both parts, so an object
    /// with another element, such as 1 + ∞i, is stored without masks. The deepest level of validation reports what no mask covers.
    pub complex_as_they_are: bool,
    /// The form in which the mask of NaN is stored.
    pub nan_mask_method: MaskMethod,
    /// The form in which the mask of +∞ is stored.
    pub pos_inf_mask_method: MaskMethod,
    /// The form in which the mask of −∞ is stored.
    pub neg_inf_mask_method: MaskMethod,
    /// The size of small masks: up to this many packed bytes, a mask is stored without compression. 0 compresses all
    /// masks.
    pub small_mask_threshold_bytes: usize,
    /// The place of the list of all objects' digests.
    pub aggregate_hash: AggregateHashPolicy,
    /// The byte order of values for zfp and sz3. Values for other codecs are in the descriptor's order.
    pub value_order: ValueOrder,
    /// Whether each object's descriptor comes before its payload. Otherwise it comes after it, as other writers put it.
    ///
    /// Readers of both orders find the same values. With the descriptor first, a reader of a stream can decode values while
    /// the payload still comes. A payload is then compressed in a buffer of its own before it is written, because its
    /// descriptor needs the result.
    pub descriptor_first: bool,
    /// What the message says about its making. `None` means this library, the current time and a random uuid.
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
            complex_as_they_are: false,
            nan_mask_method: MaskMethod::Roaring,
            pos_inf_mask_method: MaskMethod::Roaring,
            neg_inf_mask_method: MaskMethod::Roaring,
            small_mask_threshold_bytes: SMALL_MASK_BYTES,
            aggregate_hash: AggregateHashPolicy::Auto,
            value_order: ValueOrder::Checked,
            descriptor_first: false,
            provenance: None,
        }
    }
}

/// The byte order of the bytes that the caller passes for an object with zfp or sz3.
///
/// These codecs compress numbers, so a wrong byte order silently stores wrong numbers. The crate `tensogram` takes this
/// machine's order, whatever the descriptor says. The choice only matters if the descriptor names the other order. The
/// stored numbers are then the same for either choice of bytes, and reading returns them in the descriptor's order.
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
#[non_exhaustive]
pub enum ValueOrder {
    /// The descriptor's order, with a check. The check fails for 16 or more values that all look like measurements in
    /// this machine's order, while many do not in the descriptor's order. If the descriptor is right, the check reads
    /// only the first few values.
    #[default]
    Checked,
    /// The descriptor's order, without a check.
    Declared,
    /// This machine's order, as programs for the crate `tensogram` pass it.
    Native,
}

/// The place of the list of all objects' digests. A message without digests or without objects has no list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregateHashPolicy {
    /// The header of a buffered message, the footer of a streamed one.
    #[default]
    Auto,
    /// No list.
    None,
    /// The header, before the objects. Streamed messages cannot have it there.
    Header,
    /// The footer, after the objects.
    Footer,
    /// Header and footer. Streamed messages cannot have it there.
    Both,
}

impl AggregateHashPolicy {
    /// Whether the header of a buffered message has the list.
    pub(crate) const fn in_header(self) -> bool {
        matches!(self, Self::Auto | Self::Header | Self::Both)
    }

    /// Whether the footer of a buffered message has the list.
    pub(crate) const fn in_footer(self) -> bool {
        matches!(self, Self::Footer | Self::Both)
    }
}

/// The form in which the bits of a mask are stored (PIPELINE §6.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MaskMethod {
    /// Run lengths.
    Rle,
    /// A roaring bitmap.
    #[default]
    Roaring,
    /// A contiguous Blosc2 frame of the packed bits.
    Blosc2 {
        /// The codec inside the frame.
        codec: Blosc2Codec,
        /// The level of the codec, 1 to 9. Other numbers are moved to the nearest of these.
        level: i32,
    },
    /// One Zstandard frame of the packed bits.
    Zstd {
        /// The level. `None` means 3.
        level: Option<i32>,
    },
    /// A length and one LZ4 block of the packed bits.
    Lz4,
    /// The packed bits, without compression.
    None,
}

impl MaskMethod {
    /// The default method, [`Self::Roaring`], if this build encodes it. Otherwise [`Self::Rle`], which every build encodes.
    pub const fn of_build() -> Self {
        if cfg!(feature = "roaring") { Self::Roaring } else { Self::Rle }
    }

    /// The name in descriptors.
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

    /// The method of the format, without parameters.
    pub(crate) fn kind(&self) -> Option<tgm_core::descriptor::MaskMethod> {
        tgm_core::descriptor::MaskMethod::from_name(self.name())
    }

    /// The method of that name, with its usual parameters: lz4 at level 5 for blosc2, its own default for zstd.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for any other name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "rle" => Ok(Self::Rle),
            "roaring" => Ok(Self::Roaring),
            "blosc2" => Ok(Self::Blosc2 { codec: Blosc2Codec::Lz4, level: 5 }),
            "zstd" => Ok(Self::Zstd { level: None }),
            "lz4" => Ok(Self::Lz4),
            "none" => Ok(Self::None),
            other => Err(TensogramError::Metadata(
                format!(
                    "unknown mask method \"{other}\" (expected \"none\", \"rle\", \"roaring\", \"lz4\", \"zstd\" or \"blosc2\")"
                )
                .into(),
            )),
        }
    }
}

/// What a message says about its making (FORMAT §3.4).
///
/// The same data with the same provenance gives the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The time of encoding in UTC: `YYYY-MM-DDThh:mm:ssZ`.
    pub time: String,
    /// The uuid of the message, in lower case with hyphens.
    pub uuid: String,
    /// The name of the program or library that encoded it.
    pub encoder_name: String,
    /// The version of that program or library.
    pub encoder_version: String,
}

impl Provenance {
    /// This library, the current time and a random uuid. Bare WebAssembly has neither clock nor random bytes, so this
    /// function does not exist there.
    ///
    /// # Panics
    /// If the system has no random bytes.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[allow(clippy::expect_used, reason = "every system with a standard library has random bytes")]
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
