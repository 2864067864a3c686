//! How to decode; how to encode is in `encode`.

mod encode;

pub use encode::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::DecodeLimits;

/// Payloads of fewer bytes are processed on the calling thread, unless options say otherwise.
pub const DEFAULT_PARALLEL_THRESHOLD_BYTES: usize = 64 << 10;
/// The environment variable that says how many threads to use where options do not. A process asks it once.
pub const ENV_THREADS: &str = "TENSOGRAM_THREADS";
/// Bits of a packed value where the writer does not say.
pub const DEFAULT_SIMPLE_PACKING_BITS: u32 = 16;

/// The environment variable that says which backend [`CompressionBackend::Auto`] is: `pure` or `rust`, `ffi` or `c`.
pub const ENV_COMPRESSION_BACKEND: &str = "TENSOGRAM_COMPRESSION_BACKEND";

/// Which implementation of a codec is asked, where there are several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompressionBackend {
    /// What the variable [`ENV_COMPRESSION_BACKEND`] says, or else the fastest: that in Rust.
    #[default]
    Auto,
    /// A C library.
    Ffi,
    /// Pure Rust.
    Pure,
}

impl CompressionBackend {
    /// The backend that is meant.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the environment has to be asked, and what it says is none.
    pub(crate) fn resolve(self) -> Result<Self> {
        let Some(text) = std::env::var_os(ENV_COMPRESSION_BACKEND).filter(|_| self == Self::Auto) else {
            return Ok(self);
        };
        match text.to_str() {
            Some("pure" | "rust") => Ok(Self::Pure),
            Some("ffi" | "c") => Ok(Self::Ffi),
            _ => Err(TensogramError::encoding(format!(
                "{ENV_COMPRESSION_BACKEND}={} is no backend: neither ffi, c, pure nor rust",
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
    /// Values come in the byte order of this machine; otherwise as they are stored.
    pub native_byte_order: bool,
    /// Which implementation of a codec is asked: szip has one in Rust and, with feature `szip`, libaec.
    pub compression_backend: CompressionBackend,
    /// How many threads may decode, 0 for what the variable [`ENV_THREADS`] says, or one: objects of a message side by side,
    /// or else pieces of one (intervals of szip, blocks of blosc2 and of zfp at a fixed rate, packed, shuffled and swapped
    /// values). Values do not depend on it.
    pub threads: u32,
    /// A message of fewer bytes than this is decoded on the calling thread; 64 KiB if `None`.
    pub parallel_threshold_bytes: Option<usize>,
    /// NaN and infinities are written where masks say so; otherwise the zeros stay that stand for them.
    pub restore_non_finite: bool,
    /// Digests of data objects are checked before anything is decoded, by everything that takes these options: a wrong one
    /// is [`TensogramError::HashMismatch`], one that was never written [`TensogramError::MissingHash`].
    ///
    /// A digest covers an object's whole frame. So a range costs as much as reading the whole object then: all of its
    /// payload is read and hashed, once a call however many ranges that has, and out of a large message in a file all of
    /// the frame is fetched. Objects that are not asked for are not looked at, nor are other frames: `tgm verify` checks
    /// those. Without it, nothing is read for it.
    pub verify_hash: bool,
    /// Only flags of frames say that a digest was written, as releases since 0.21 have it; otherwise digests of older
    /// messages are recognised too (Rule H of FORMAT §2). A frame on its own, without its message, has no more than its flag
    /// in any case.
    pub strict_hash_presence: bool,
    /// Ranges are refused where the reference refuses them: behind a filter, of bitmasks, out of zstd, lz4 and sz3, and out
    /// of szip without `szip_block_offsets`.
    pub reference_range_refusals: bool,
    /// What decoding may cost.
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
