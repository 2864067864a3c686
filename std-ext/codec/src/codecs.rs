//! Codecs: one file each, named by the wire string, behind one trait and one registry.
//!
//! # Where a new codec goes
//! | place | what it gets | noticed by |
//! |---|---|---|
//! | `core/src/names/stage.rs` | a variant of [`Compression`], at the end, with the name on the wire | |
//! | `core/c/include/tgm_core.h` | its number, `TGMC_COMPRESSION_NAME` | test `header` of `core/c` |
//! | `codecs/NAME.rs` | a type that implements [`Codec`] and [`Compressing`]: what it is ([`About`]), how its parameters are read, and both directions. Methods without need have defaults. A folder `codecs/NAME` holds its parts, one subject a file. Loops over values belong to `kernels` | the compiler |
//! | `registered`, below | its line | the compiler |
//! | `PIPELINE §5` of the format's description | a row | nothing |
//!
//! All others ask the registry: the encoder and the decoder, validation, `doctor` and its self-test, `ObjectBuilder::compression`,
//! messages for fuzzers, `--compression` and `--level` of the tool, `tgm_has_feature` of C.
//!
//! Some codecs get more:
//!
//! | a codec that | gets | in |
//! |---|---|---|
//! | has parameters | keys before `Key::Length`; typed values for its readers | `core/src/names/key.rs` and `core/src/descriptor/params.rs`, numbers of keys in `tgm_core.h` |
//! | needs another crate | a feature, in `tgm-std` too; a `Hint` with the words of the error, and the tool's words for it | `Cargo.toml` of both, `std-ext/src/base/hint.rs`, `std-ext/tool/src/show/advice.rs`, `std-ext/doc/FEATURES.md` |
//! | people reach for | a method of `ObjectBuilder`; a flag of the tool for its parameters | `std-ext/src/encode/builder/object.rs`, `std-ext/tool/src/args/pipeline_flags.rs` |
//! | compresses masks | a variant of [`MaskMethod`] at the end, and its number; a variant of the `MaskMethod` of options; [`Compressing::append_mask`] | `core/src/names/stage.rs`, `tgm_core.h`, `std-ext/src/base/options/encode.rs` |
//! | has a bound of its own | a row of the table of limits, which a test compares with [`About::expansion`] | `std-ext/src/base/limits.rs` |
//!
//! Tests: in its file or in `codecs/NAME/tests.rs` stand payloads byte by byte, damage that must be an error, and parts that
//! agree with the whole. In `tests/tests`, `payloads`, `error_texts`, `limits` and `threads` get rows, and the test
//! `exhaustive` fails until one of its messages has the codec. `tests/data` gets golden files of the reference,
//! `tests/conformance` gets cases, and `benches/src/codecs.rs` gets a row. A fuzz target bounds memory and time.

pub mod about;
mod backend;
pub mod blosc2;
mod compress;
pub mod lz4;
pub mod part;
pub(crate) mod rle;
pub(crate) mod roaring;
pub mod shuffle;
pub mod sz3;
pub mod szip;
pub mod window;
pub mod zfp;
pub mod zstd;

use std::fmt;
use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, MaskMethod};

use self::about::{About, Uncompressed};
pub use self::backend::{CompressionBackend, ENV_COMPRESSION_BACKEND};
pub use self::blosc2::Blosc2Codec;
pub use self::compress::{Compress, MaskSettings};
pub use self::sz3::ErrorBound;
use crate::error::{CodecError, Result};
use crate::threads::Threads;

/// One way of compressing a payload, as readers know it.
///
/// Implementations bound their work and memory by `out`, never by what `payload` claims.
pub trait Codec: Sync {
    /// What it is, and what this build can do with it.
    fn about(&self) -> &'static About;

    /// The name in descriptors.
    fn name(&self) -> &'static str {
        self.about().name()
    }

    /// The other implementation, if `backend` names one.
    ///
    /// # Errors
    /// [`CodecError`] if the environment names a backend that does not exist.
    #[inline]
    fn other(&self, _backend: CompressionBackend) -> Result<Option<&'static dyn Codec>> {
        Ok(None)
    }

    /// Checks that the parameters that readers need are there and can be read. Numbers out of range are left to decoding.
    ///
    /// # Errors
    /// The errors of [`Descriptor`].
    fn check(&self, _descriptor: &Descriptor<'_>) -> tgm_core::Result<()> {
        Ok(())
    }

    /// Decompresses `payload` into all of `out`; more or fewer bytes are an error. `descriptor` has the codec's
    /// parameters.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged or decompresses to another length, for parameters that are
    /// missing or out of range, and if this build does not decompress.
    fn decompress_into(&self, _payload: &[u8], _descriptor: &Descriptor<'_>, _out: &mut [u8]) -> Result<()> {
        Err(self.about().check_decoding().err().unwrap_or_else(|| CodecError::new("does not decompress")))
    }

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

    /// Opens the payload for reading parts of its `total` uncompressed bytes, none of them after byte `end`. The
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

    /// The decompressor of masks, which need no parameters beside the bytes. `None` if masks are not compressed by it, or are read
    /// by `tgm_core`.
    fn mask_decompressor(&self) -> Option<Decompress> {
        None
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

/// What writers ask of a codec. Programs that only read do not name this trait, and have no code that compresses.
pub trait Compressing: Codec {
    /// Reads and checks the parameters of an object that is to be compressed.
    ///
    /// # Errors
    /// [`CodecError::parameter`] for parameters that are missing or of another type; [`CodecError`] with the codec's name for
    /// values that are out of range, and for stages and types that could not be decoded.
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>>;

    /// Appends the first `count` bits of a mask. They lie in `bits` from the highest bit of the first byte on, and the bits after
    /// them are zeros.
    ///
    /// # Errors
    /// [`CodecError`] if the codec does not serve masks, if this build does not compress, and as the codec says.
    fn append_mask(&self, _bits: &[u8], _count: u64, _settings: MaskSettings, _out: &mut Vec<u8>) -> Result<()> {
        Err(CodecError::new("does not compress masks"))
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

/// This is the registry: a codec has a line here, and nowhere else.
macro_rules! registered {
    ($compression:expr) => {
        Some(match $compression {
            Compression::None => return None,
            Compression::Szip => &szip::Szip,
            Compression::Zstd => &zstd::Zstd,
            Compression::Lz4 => &lz4::Lz4,
            Compression::Blosc2 => &blosc2::Blosc2,
            Compression::Zfp => &zfp::Zfp,
            Compression::Sz3 => &sz3::Sz3,
            Compression::Rle => &rle::Rle,
            Compression::Roaring => &roaring::Roaring,
        })
    };
}

/// The codec of a compression, whether or not this build has it. `None` for [`Compression::None`].
pub const fn find(compression: Compression) -> Option<&'static dyn Codec> {
    registered!(compression)
}

/// The codec of a compression, to compress with, whether or not this build does. `None` for [`Compression::None`].
pub const fn find_compressing(compression: Compression) -> Option<&'static dyn Compressing> {
    registered!(compression)
}

/// All codecs, in the order of their numbers.
pub fn all() -> impl Iterator<Item = &'static dyn Codec> {
    Compression::ALL.iter().filter_map(|compression| find(*compression))
}

/// The codec of a compression, to decompress with. Only szip has two backends; for the others the choice makes no difference.
///
/// # Errors
/// [`CodecError`] naming the feature, if the codec is not compiled in, and for [`Compression::None`], which nothing has to undo.
#[inline]
pub fn codec(compression: Compression, backend: CompressionBackend) -> Result<&'static dyn Codec> {
    let codec = find(compression).ok_or_else(|| CodecError::new("unknown compression: there is none to undo"))?;
    codec.about().check_decoding()?;
    Ok(codec.other(backend)?.unwrap_or(codec))
}

/// The codec of a mask method, to compress with. `None` for masks without compression.
pub fn of_masks(method: MaskMethod) -> Option<&'static dyn Compressing> {
    Compression::from_name(method.name()).and_then(find_compressing)
}

/// The decompressor of a mask method that is a codec.
///
/// # Errors
/// [`CodecError`] naming the feature, if it is not compiled in.
#[inline]
pub fn mask_decompressor(method: MaskMethod) -> Result<Decompress> {
    let codec = Compression::from_name(method.name()).and_then(find);
    if let Some(codec) = codec {
        codec.about().check_decoding()?;
    }
    let decompress = codec.and_then(|codec| codec.mask_decompressor());
    decompress.ok_or_else(|| CodecError::new(format!("masks of method {} have no decompressor", method.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codec_is_there_or_its_error_names_the_feature() {
        for known in all() {
            let about = known.about();
            let found = codec(about.compression, CompressionBackend::Auto);
            let missing = found.err().map(|error| (error.missing_feature(), error.to_string()));
            match about.decoding {
                about::Support::Lacking(feature) => {
                    let text = format!(
                        "unknown compression: codec `{}` not compiled in: enable feature `{feature}`",
                        known.name()
                    );
                    assert_eq!(missing, Some((Some(feature), text)));
                }
                _ => assert_eq!(missing, None),
            }
        }
        assert!(codec(Compression::None, CompressionBackend::Auto).is_err());
    }

    #[test]
    fn codecs_are_what_they_say() {
        assert_eq!(all().count() + 1, Compression::ALL.len());
        for codec in all() {
            let about = codec.about();
            assert_eq!(find(about.compression).map(Codec::name), Some(codec.name()));
            let name = codec.name();
            assert!(about.keys.iter().all(|key| key.is_parameter() && key.name().starts_with(name)), "{name}");
            let parameters = about.usual.unwrap_or_default().iter().chain(about.trial.parameters);
            assert!(parameters.map(|(key, _)| key).all(|key| about.keys.contains(key)), "{name}");
            assert!(about.level.is_none_or(|level| about.keys.contains(&level.key)), "{name}");
            assert!(about.decoding.is_any() || !about.encoding.is_any(), "{name}: what is written can be read");
            assert_eq!(about.is_lossy, about.input == about::Input::Numbers, "{name}");
        }
    }

    /// Masks of these methods are read by `tgm_core`.
    #[test]
    fn every_mask_method_is_a_codec_that_serves_masks() {
        for &method in MaskMethod::ALL {
            let Some(codec) = of_masks(method) else {
                assert_eq!(method, MaskMethod::None);
                continue;
            };
            let is_read_by_core = matches!(method, MaskMethod::Rle | MaskMethod::Roaring);
            assert_eq!(mask_decompressor(method).is_ok(), !is_read_by_core && codec.about().decoding.is_any());
            let mut out = Vec::new();
            let stored = codec.append_mask(&[0b1010_0000], 3, MaskSettings::default(), &mut out);
            assert_eq!(stored.is_ok(), codec.about().encoding.is_any(), "{stored:?}");
        }
    }
}
