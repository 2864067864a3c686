//! Compression backends: one file each, named by the wire string, behind one small trait and one registry.

#[cfg(feature = "blosc2-decode")]
pub mod blosc2;
mod error_bound;
#[cfg(feature = "lz4")]
pub(crate) mod lz4;
pub(crate) mod rle;
pub(crate) mod roaring;
#[cfg(feature = "sz3-decode")]
pub mod sz3;
pub mod szip;
pub(crate) mod window;
pub mod zfp;
#[cfg(feature = "zstd")]
pub(crate) mod zstd;

pub use self::error_bound::ErrorBound;

use std::fmt;
use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, MaskMethod};

use crate::base::error::{Result, TensogramError, not_compiled_in};
use crate::base::options::CompressionBackend;
use crate::base::threads::Threads;

/// What a backend reports: a sentence about the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError(String);

impl CodecError {
    /// An error in words, without the codec's name.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CodecError {}

/// One way of compressing a payload.
///
/// Implementations bound their work and memory by `out`, never by what `payload` claims.
pub trait Codec: Sync {
    /// The name on the wire.
    fn name(&self) -> &'static str;

    /// Decompresses `payload` into all of `out`; more or fewer bytes are an error. The codec's parameters are in
    /// `descriptor`.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged or decompresses to another length, and for parameters that are missing
    /// or out of range.
    fn decompress_into(
        &self,
        payload: &[u8],
        descriptor: &Descriptor<'_>,
        out: &mut [u8],
    ) -> std::result::Result<(), CodecError>;

    /// [`Self::decompress_into`] on several threads, where the codec's form allows it, and in memory that is kept. The
    /// result is the same, whatever `out` and `work` were before.
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
    ) -> std::result::Result<(), CodecError> {
        self.decompress_into(payload, descriptor, out)
    }

    /// Opens the payload for reading parts of its `total` uncompressed bytes, none of them behind byte `end`; `None` if
    /// parts cost as much as all of it. The parts work in `work`.
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
    ) -> std::result::Result<Option<Box<dyn Parts + 'a>>, CodecError> {
        Ok(None)
    }

    /// Whether [`Self::unpack_into`] does it for objects like this one.
    fn unpacks(&self, _descriptor: &Descriptor<'_>) -> bool {
        false
    }

    /// Decompresses and unpacks `simple_packing` in one pass, into f64 values in `order` that fill all of `out`, which is
    /// a whole number of them long.
    ///
    /// # Errors
    /// As [`Self::decompress_into`]; always where [`Self::unpacks`] says no.
    fn unpack_into(
        &self,
        _payload: &[u8],
        _descriptor: &Descriptor<'_>,
        _order: ByteOrder,
        _out: &mut [u8],
        _threads: Threads,
    ) -> std::result::Result<(), CodecError> {
        Err(CodecError::new("does not unpack"))
    }
}

/// A compressed payload of which parts can be read, in any order; ascending is the one that costs least.
///
/// Whoever reads several parts asks where blocks end, and reads what several parts need of a block at once: that is how
/// the ranges of a call come to decode each block once.
pub trait Parts {
    /// Where the block ends that holds the last byte of `part`, which is not empty: bytes up to there cost little or nothing
    /// more than those of `part`. The end of `part` itself, if each byte can be had for itself.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged where it has to be looked at.
    fn end_of_block(&mut self, part: &Range<u64>) -> std::result::Result<u64, CodecError>;

    /// Decompresses all of `out` from uncompressed byte `start` on. What it takes is in proportion to the blocks that hold
    /// these bytes, and, if parts are read in ascending order, to the payload for all of them together.
    ///
    /// # Errors
    /// [`CodecError`] for a payload that is damaged where it has to be looked at.
    fn read_into(&mut self, start: u64, out: &mut [u8]) -> std::result::Result<(), CodecError>;
}

/// Memory that backends work in, kept from one call to the next. Nothing is reserved before it is needed.
///
/// libzstd's decoder state is not here: each thread has one.
#[derive(Default)]
pub struct Workspace {
    #[cfg(feature = "blosc2-decode")]
    blosc2: blosc2::Scratch,
    /// What was done so far.
    #[cfg(test)]
    pub(crate) done: Done,
}

/// Work that parts took, in uncompressed bytes, for tests to hold against what was wanted.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Bytes that were decoded, those that nobody wanted included.
    pub(crate) decoded: u64,
    /// Bytes that were passed over to find others.
    pub(crate) passed: u64,
}

#[cfg(test)]
impl std::ops::Sub for Done {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { decoded: self.decoded - before.decoded, passed: self.passed - before.passed }
    }
}

#[cfg(test)]
impl Workspace {
    pub(crate) const fn done_so_far(&self) -> Done {
        self.done
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

/// A compressor that masks use too: what it needs to know is in the bytes.
pub(crate) type Decompress = fn(&[u8], &mut [u8]) -> std::result::Result<(), CodecError>;

/// The backend of a compression. Only szip has two; of the others there is one, whichever is asked for.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the feature, if the backend is not compiled in.
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
            #[cfg(feature = "szip")]
            CompressionBackend::Ffi => Ok(&szip::Libaec),
            _ => Ok(&szip::Szip),
        },
        Compression::Zfp => Ok(&zfp::Zfp),
        Compression::Rle => Ok(&rle::Rle),
        Compression::Roaring => Ok(&roaring::Roaring),
        other => Err(TensogramError::encoding(not_compiled_in(other.name()))),
    }
}

/// The decompressor of a mask method that needs one.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the feature, if it is not compiled in.
pub(crate) fn mask_decompressor(method: MaskMethod) -> Result<Decompress> {
    match method {
        #[cfg(feature = "blosc2-decode")]
        MaskMethod::Blosc2 => Ok(blosc2::decompress),
        #[cfg(feature = "lz4")]
        MaskMethod::Lz4 => Ok(lz4::decompress),
        #[cfg(feature = "zstd")]
        MaskMethod::Zstd => Ok(zstd::decompress),
        other => Err(TensogramError::encoding(not_compiled_in(other.name()))),
    }
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
