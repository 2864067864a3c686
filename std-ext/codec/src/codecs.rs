//! Compression backends: one file each, named by the wire string, behind one small trait and one registry.
//!
//! # Where a new codec goes
//! The last column says what notices that a place was forgotten: the compiler, by a `match` on all variants, a test, or
//! nothing. Paths without a crate are in `std-ext/src`.
//!
//! | place | what it gets | noticed by |
//! |---|---|---|
//! | `core/src/names/stage.rs` | a variant of [`Compression`], at the end, with the name on the wire | |
//! | `core/c/include/tgm_core.h` | its number, `TGMC_COMPRESSION_NAME` | test `header` of `core/c` |
//! | `core/src/names/key.rs`, `core/src/descriptor/params.rs` | its parameters: keys before `Key::Length`, and their typed values. A key has a number in `tgm_core.h` too | the keys: test `header` |
//! | `codec/NAME.rs` | a type that implements [`Codec`]. `decompress_into` is enough; the other methods have defaults. A folder `codec/NAME` holds its parts, one subject a file. Loops over values belong to `kernels` | |
//! | [`codec()`], below | its line | the test at the end of this file |
//! | `std-ext/Cargo.toml`, `base/hint.rs` | its feature, if it needs another crate; a `Hint` that names it, and a line in `Hint::to_decode` | the same test, in a build without the feature |
//! | `std-ext/tool/src/show/advice.rs` | the words of the tool for that hint | the test there |
//! | `encode/plan.rs` | a variant of `Compressor`, its parameters, a line in `Stages::compressor` | the compiler |
//! | `encode/compress.rs` | the call of the writer: `compress` or `append` in its file | the compiler |
//! | `encode/value_order.rs`, `v2/upgrade.rs` | its name, if it compresses numbers and not bytes | nothing |
//! | `v2/object.rs` | its name: version 2 does not have it | nothing |
//! | `encode/builder/object.rs` | a method of `ObjectBuilder` | nothing |
//! | `encode/arbitrary/pipeline.rs` | a variant of `Compressed` for fuzzers | nothing |
//! | `validate/trial.rs` | a line in `configure`, if it has parameters | nothing |
//! | `base/limits.rs` | what a byte can become: a row of the table | nothing; the test `amplification` gets a row |
//! | `doctor/abilities.rs` | what the build can do | the compiler |
//! | `doctor.rs`, `doctor/self_test.rs` | a line in `features`, a row of `run_self_test` | nothing |
//! | `compat/pipeline.rs` | a line, if the reference has it in `apply_pipeline` | nothing |
//! | `std-ext/tool/src/args/pipeline_flags/staging.rs` | how the flags set it; its keys in `COMPRESSION`, and `is_lossy` | the compiler; the keys and `is_lossy`: nothing |
//! | `std-ext/tool/src/args/pipeline_flags.rs` | a flag for its parameters, and the levels that it has | nothing |
//! | `std-ext/c/src/version.rs` | its name in `has` | nothing |
//! | `PIPELINE §5` of the format's description, `std-ext/doc/FEATURES.md` | a row | nothing |
//!
//! A codec for masks also gets these:
//!
//! | place | what it gets | noticed by |
//! |---|---|---|
//! | `core/src/names/stage.rs`, `core/c/include/tgm_core.h` | a variant of [`MaskMethod`], at the end, and its number | test `header` |
//! | `mask_decompressor`, below | its line | nothing |
//! | `base/options/encode.rs` | a variant of the other `MaskMethod`, in `name` and in `from_name` | `name`: the compiler |
//! | `encode/masks.rs` | a line in `append`, and in `params_of` if it has parameters | `append`: the compiler |
//! | `encode/arbitrary/options.rs` | a choice for fuzzers | nothing |
//!
//! Tests: in its file or in `codec/NAME/tests.rs` stand payloads byte by byte, damage that must be an error, and parts that
//! agree with the whole. In `tests/tests`, `payloads`, `error_texts`, `limits` and `threads` get rows, and the test
//! `exhaustive` fails until one of its messages has the codec. `tests/data` gets golden files of the reference,
//! `tests/conformance` gets cases, and `benches/src/codecs.rs` gets a row. A fuzz target bounds memory and time.

mod backend;
#[cfg(feature = "blosc2-decode")]
pub mod blosc2;
mod blosc2_codec;
mod error_bound;
#[cfg(feature = "lz4")]
pub mod lz4;
pub mod part;
pub mod rle;
pub mod roaring;
pub mod shuffle;
#[cfg(feature = "sz3-decode")]
pub mod sz3;
pub mod szip;
pub mod window;
pub mod zfp;
#[cfg(feature = "zstd")]
pub mod zstd;

pub use self::backend::{CompressionBackend, ENV_COMPRESSION_BACKEND};
pub use self::blosc2_codec::Blosc2Codec;
pub use self::error_bound::ErrorBound;

use std::fmt;
use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, MaskMethod};

use crate::error::{CodecError, Result};
use crate::threads::Threads;

/// One way of compressing a payload.
///
/// Implementations bound their work and memory by `out`, never by what `payload` claims.
pub trait Codec: Sync {
    /// The name of the compression in descriptors.
    fn name(&self) -> &'static str;

    /// Decompresses `payload` into all of `out`; more or fewer bytes are an error. `descriptor` has the codec's
    /// parameters.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged or decompresses to another length, and for parameters that are
    /// missing or out of range.
    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<()>;

    /// [`Self::decompress_into`] on several threads, if the codec's format allows it, with memory that is kept in
    /// `work`.
    ///
    /// The result does not depend on what `out` and `work` held before.
    ///
    /// # Errors
    /// As [`Self::decompress_into`].
    fn decompress_on(
        &self,
        _threads: Threads,
        payload: &[u8],
        descriptor: &Descriptor<'_>,
        out: &mut [u8],
        _work: &mut Workspace,
    ) -> Result<()> {
        self.decompress_into(payload, descriptor, out)
    }

    /// Opens the payload for reading parts of its `total` uncompressed bytes, none of them behind byte `end`. The
    /// reader keeps its memory in `work`. `None` if a part costs as much as the whole.
    ///
    /// # Errors
    /// As [`Self::decompress_into`].
    fn open_parts<'a>(
        &self,
        _payload: &'a [u8],
        _descriptor: &Descriptor<'a>,
        _total: u64,
        _end: u64,
        _work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn PartReader + 'a>>> {
        Ok(None)
    }

    /// How payloads are divided into parts that are payloads themselves; `None` if they cannot be.
    fn divisible(&self) -> Option<&dyn part::Divisible> {
        None
    }

    /// Whether [`Self::unpack_into`] decodes objects with this descriptor.
    fn unpacks(&self, _descriptor: &Descriptor<'_>) -> bool {
        false
    }

    /// Decompresses and unpacks `simple_packing` in one pass. All of `out`, a whole number of values long, is filled
    /// with f64 values in `order`.
    ///
    /// # Errors
    /// As [`Self::decompress_into`]; always if [`Self::unpacks`] is false.
    fn unpack_into(
        &self,
        _payload: &[u8],
        _descriptor: &Descriptor<'_>,
        _order: ByteOrder,
        _out: &mut [u8],
        _threads: Threads,
    ) -> Result<()> {
        Err(CodecError::new("does not unpack"))
    }
}

/// Reads parts of a compressed payload, in any order. The ascending order costs least.
///
/// A caller with several parts asks where blocks end, and reads what they need of one block at once. So each block is
/// decoded once for all ranges of a call.
pub trait PartReader {
    /// The end of the block that holds the last byte of `part`, which is not empty. Bytes up to there cost little or
    /// nothing more than `part` alone. It is the end of `part` if every byte can be read by itself.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged where it is read.
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64>;

    /// What it costs to pass over `distance` bytes to the next part, as the number of bytes whose decoding takes as
    /// long. It is 0 if blocks are found without reading those before them.
    fn cost_of_passing(&self, _distance: u64) -> u64 {
        0
    }

    /// Decompresses all of `out` from uncompressed byte `start` on.
    ///
    /// The work is in proportion to the blocks that hold these bytes. Parts in ascending order together cost no more
    /// than the payload.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged where it is read.
    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<()>;
}

/// Working memory of backends, kept from one call to the next. Nothing is reserved before it is needed.
///
/// The state of libzstd's decoder is not here: each thread has one of its own.
#[derive(Default)]
pub struct Workspace {
    #[cfg(feature = "blosc2-decode")]
    blosc2: blosc2::Scratch,
    /// The work that parts took so far.
    done: Done,
}

/// The work that parts took, in uncompressed bytes: to be compared with what was wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Bytes that were decoded, wanted or not.
    pub decoded: u64,
    /// Bytes that were read only to find others.
    pub passed: u64,
}

impl std::ops::Sub for Done {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { decoded: self.decoded.saturating_sub(before.decoded), passed: self.passed.saturating_sub(before.passed) }
    }
}

impl Workspace {
    /// The work that parts took since this was made. The whole of a payload is not counted.
    #[inline]
    pub const fn done_so_far(&self) -> Done {
        self.done
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

/// A decompressor that masks use too: it needs no parameters beside the bytes.
pub type Decompress = fn(&[u8], &mut [u8]) -> Result<()>;

/// The backend of a compression. Only szip has two backends; for the others the choice makes no difference.
///
/// # Errors
/// [`CodecError`] naming the feature, if the backend is not compiled in, and for [`Compression::None`], which nothing has to undo.
#[inline]
pub fn codec(compression: Compression, backend: CompressionBackend) -> Result<&'static dyn Codec> {
    match compression {
        #[cfg(feature = "blosc2-decode")]
        Compression::Blosc2 => Ok(&blosc2::Blosc2),
        #[cfg(feature = "lz4")]
        Compression::Lz4 => Ok(&lz4::Lz4),
        #[cfg(feature = "zstd")]
        Compression::Zstd => Ok(&zstd::Zstd),
        #[cfg(feature = "sz3-decode")]
        Compression::Sz3 => Ok(&sz3::Sz3),
        Compression::Szip => match backend.resolve()? {
            #[cfg(feature = "libaec")]
            CompressionBackend::Ffi => Ok(&szip::Libaec),
            _ => Ok(&szip::Szip),
        },
        Compression::Zfp => Ok(&zfp::Zfp),
        Compression::Rle => Ok(&rle::Rle),
        Compression::Roaring => Ok(&roaring::Roaring),
        other => Err(lacking(other.name())),
    }
}

/// The decompressor of a mask method that is a codec.
///
/// # Errors
/// [`CodecError`] naming the feature, if it is not compiled in.
#[inline]
pub fn mask_decompressor(method: MaskMethod) -> Result<Decompress> {
    match method {
        #[cfg(feature = "blosc2-decode")]
        MaskMethod::Blosc2 => Ok(blosc2::decompress),
        #[cfg(feature = "lz4")]
        MaskMethod::Lz4 => Ok(lz4::decompress),
        #[cfg(feature = "zstd")]
        MaskMethod::Zstd => Ok(zstd::decompress),
        other => Err(lacking(other.name())),
    }
}

/// The error for a codec that this build cannot decode.
fn lacking(name: &str) -> CodecError {
    let feature = match name {
        "blosc2" => "blosc2-decode",
        "lz4" => "lz4",
        "sz3" => "sz3-decode",
        "zstd" => "zstd",
        _ => return CodecError::new(format!("unknown compression: codec `{name}` not compiled in")),
    };
    let error = CodecError::not_compiled_in(name, feature);
    let text = format!("unknown compression: {error}");
    error.in_words(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codec_is_there_or_its_error_names_the_feature() {
        for &compression in Compression::ALL {
            let name = compression.name();
            let feature = match name {
                "blosc2" => cfg!(feature = "blosc2-decode"),
                "lz4" => cfg!(feature = "lz4"),
                "sz3" => cfg!(feature = "sz3-decode"),
                "zstd" => cfg!(feature = "zstd"),
                other => other != "none",
            };
            match codec(compression, CompressionBackend::Auto) {
                Ok(backend) => assert_eq!((backend.name(), feature), (name, true)),
                Err(error) => {
                    assert!(!feature, "{error}");
                    let end = match name {
                        "none" => "codec `none` not compiled in".to_string(),
                        "blosc2" | "sz3" => format!("enable feature `{name}-decode`"),
                        _ => format!("enable feature `{name}`"),
                    };
                    assert!(error.to_string().ends_with(&end), "{error}");
                }
            }
        }
    }
}
