//! Options of decoding, and what options share. Options of encoding are in `encode`.

mod encode;

pub use encode::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::DecodeLimits;

/// The default threshold for threads: fewer bytes of payload are processed on the calling thread.
pub const DEFAULT_PARALLEL_THRESHOLD_BYTES: usize = 64 << 10;
/// The environment variable with the number of threads, for options that say 0. A process reads it once.
pub const ENV_THREADS: &str = "TENSOGRAM_THREADS";
/// The default width of packed values, in bits.
pub const DEFAULT_SIMPLE_PACKING_BITS: u32 = 16;

/// The environment variable that chooses the backend for [`CompressionBackend::Auto`]: `pure` or `rust`, `ffi` or `c`.
pub const ENV_COMPRESSION_BACKEND: &str = "TENSOGRAM_COMPRESSION_BACKEND";

/// The implementation of a codec to use, for codecs that have two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompressionBackend {
    /// The one that the variable [`ENV_COMPRESSION_BACKEND`] names, or else the fastest, which is the one in Rust.
    #[default]
    Auto,
    /// The C library.
    Ffi,
    /// Pure Rust.
    Pure,
}

impl CompressionBackend {
    /// The backend to use: for [`Self::Auto`], the one that the environment names.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the variable names no backend.
    pub(crate) fn resolve(self) -> Result<Self> {
        let Some(text) = std::env::var_os(ENV_COMPRESSION_BACKEND).filter(|_| self == Self::Auto) else {
            return Ok(self);
        };
        match text.to_string_lossy().to_ascii_lowercase().as_str() {
            "pure" | "rust" => Ok(Self::Pure),
            "ffi" | "c" => Ok(Self::Ffi),
            _ => Err(TensogramError::encoding(format!(
                "invalid {ENV_COMPRESSION_BACKEND} value: {} is neither ffi, c, pure nor rust",
                text.display()
            ))),
        }
    }
}

/// Options of decoding (FORMAT §5.1).
///
/// ```
/// use tgm_std::{DecodeLimits, DecodeOptions, decode};
///
/// // For messages of strangers: digests are checked, and an object may take 64 MiB.
/// let limits = DecodeLimits { max_decoded_bytes: 64 << 20, ..DecodeLimits::default() };
/// let options = DecodeOptions { verify_hash: true, limits, ..DecodeOptions::default() };
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let (metadata, objects) = decode(&bytes, &options)?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the fields are the format's users' and each stands for itself")]
pub struct DecodeOptions {
    /// Whether values come in the byte order of this machine. Otherwise they come as they are stored.
    pub native_byte_order: bool,
    /// The implementation of a codec to use. szip has one in Rust and, with feature `libaec`, libaec.
    pub compression_backend: CompressionBackend,
    /// The number of threads that may decode. 0 means the number in the variable [`ENV_THREADS`], or one thread.
    ///
    /// Threads decode several objects of a message at the same time. Of a single object they decode pieces: intervals
    /// of szip, blocks of blosc2 and of zfp at a fixed rate, packed, shuffled and swapped values. The number of threads
    /// does not change the values.
    pub threads: u32,
    /// Messages with fewer bytes than this are decoded on the calling thread. `None` means 64 KiB.
    pub parallel_threshold_bytes: Option<usize>,
    /// Whether NaN and infinities are put back where masks record them. Otherwise zeros stay in their places.
    pub restore_non_finite: bool,
    /// Whether the digests of data objects are checked before their values are decoded. Every function that takes these
    /// options does so. A wrong digest is [`TensogramError::HashMismatch`]. A digest that was never written is
    /// [`TensogramError::MissingHash`].
    ///
    /// A digest covers the whole frame of an object, so a range then costs as much as the whole object. All of its
    /// payload is read and hashed, once for each call with any number of ranges. From a large message in a file, the
    /// whole frame is read. Other objects and other frames are not checked; `tgm verify` checks them. Without this
    /// option, no byte is read for a digest.
    pub verify_hash: bool,
    /// Whether a digest counts as written only if the flag of its frame says so, as releases since 0.21 set it.
    /// Otherwise digests of older messages are recognised too (Rule H of FORMAT §2). A frame without its message has
    /// only its flag in any case.
    pub strict_hash_presence: bool,
    /// Whether ranges are refused where the reference refuses them: behind a filter, of bitmasks, of zstd, lz4 and sz3
    /// payloads, and of szip payloads without `szip_block_offsets`.
    pub reference_range_refusals: bool,
    /// Limits on what decoding may cost.
    pub limits: DecodeLimits,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            native_byte_order: true,
            compression_backend: CompressionBackend::Auto,
            threads: 0,
            parallel_threshold_bytes: None,
            restore_non_finite: true,
            verify_hash: false,
            strict_hash_presence: false,
            reference_range_refusals: false,
            limits: DecodeLimits::default(),
        }
    }
}
