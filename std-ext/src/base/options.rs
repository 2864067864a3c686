//! Options of decoding, and what options share. Options of encoding are in `encode`.

mod encode;

pub use tgm_codec::threads::{DEFAULT_PARALLEL_THRESHOLD_BYTES, ENV_THREADS};
pub use tgm_codec::{Blosc2Codec, CompressionBackend, ENV_COMPRESSION_BACKEND};

pub use encode::{AggregateHashPolicy, EncodeOptions, MaskMethod, Provenance, ValueOrder};

use crate::base::limits::DecodeLimits;

/// The default width of packed values, in bits.
pub const DEFAULT_SIMPLE_PACKING_BITS: u32 = 16;

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
    /// Threads decode several objects of a message at the same time. They decode pieces of a single object: intervals
    /// of szip, blocks of blosc2 and of zfp at a fixed rate, packed, shuffled and swapped values. The number of threads
    /// does not change the values.
    pub threads: u32,
    /// Messages with fewer bytes than this are decoded on the calling thread. `None` means 64 KiB.
    pub parallel_threshold_bytes: Option<usize>,
    /// Whether NaN and infinities are put back where masks record them. Otherwise zeros stay in their places.
    pub restore_non_finite: bool,
    /// Whether the digests of data objects are checked before their values are decoded. Every function that takes these
    /// options does so. A wrong digest is
    /// [`HashMismatch`](crate::TensogramError::HashMismatch). A digest that was never written is
    /// [`MissingHash`](crate::TensogramError::MissingHash).
    ///
    /// A digest covers the whole frame of an object, so a range then costs as much as the whole object. All of its
    /// payload is read and hashed, once for each call with any number of ranges. From a large message in a file, the
    /// whole frame is read. Where the metadata of the message come with the values, their frames are checked too. Other
    /// objects and other frames are not; `tgm validate --digests` checks them. Without this option, no byte is read for a digest.
    pub verify_hash: bool,
    /// Whether the digests of metadata frames are checked where metadata are read for themselves: by queries over files and
    /// by catalogues. A wrong digest is [`HashMismatch`](crate::TensogramError::HashMismatch) without an object. A frame
    /// without a digest passes. True unless told otherwise, because metadata are small.
    pub verify_metadata: bool,
    /// Whether a digest counts as written only if the flag of its frame says so, as releases since 0.21 set it.
    /// Otherwise digests of older messages are recognised too (Rule H of FORMAT §2). A frame without its message has
    /// only its flag in any case.
    pub strict_hash_presence: bool,
    /// Whether ranges are refused where the reference refuses them: after a filter, of bitmasks, of zstd, lz4 and sz3
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
            verify_metadata: true,
            strict_hash_presence: false,
            reference_range_refusals: false,
            limits: DecodeLimits::default(),
        }
    }
}
