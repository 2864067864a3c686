//! Compression backends: one file each, named by the wire string, behind one small trait and one registry.

#[cfg(feature = "lz4")]
mod lz4;
mod rle;
mod roaring;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt;

use tgm_core::descriptor::{Compression, Descriptor, MaskMethod};

use crate::error::{Result, TensogramError};

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

    /// Whether [`Self::decompress_range_into`] costs less for a part of this object than decompressing all of it.
    fn has_ranges(&self, _descriptor: &Descriptor<'_>) -> bool {
        false
    }

    /// Decompresses all of `out` from uncompressed byte `start` on, of which there are `total`.
    ///
    /// # Errors
    /// As [`Self::decompress_into`], of the bytes that have to be looked at. Codecs without ranges always fail.
    fn decompress_range_into(
        &self,
        _payload: &[u8],
        _descriptor: &Descriptor<'_>,
        _total: u64,
        _start: u64,
        _out: &mut [u8],
    ) -> std::result::Result<(), CodecError> {
        Err(CodecError::new("has no ranges"))
    }
}

/// A compressor that masks use too: what it needs to know is in the bytes.
pub(crate) type Decompress = fn(&[u8], &mut [u8]) -> std::result::Result<(), CodecError>;

/// The backend of a compression.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the feature, if the backend is not compiled in.
pub fn codec(compression: Compression) -> Result<&'static dyn Codec> {
    match compression {
        #[cfg(feature = "lz4")]
        Compression::Lz4 => Ok(&lz4::Lz4),
        #[cfg(feature = "zstd")]
        Compression::Zstd => Ok(&zstd::Zstd),
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
        #[cfg(feature = "lz4")]
        MaskMethod::Lz4 => Ok(lz4::decompress),
        #[cfg(feature = "zstd")]
        MaskMethod::Zstd => Ok(zstd::decompress),
        other => Err(TensogramError::encoding(not_compiled_in(other.name()))),
    }
}

/// The error for a codec that this build lacks.
pub(crate) fn not_compiled_in(name: &str) -> String {
    format!("unknown compression: codec `{name}` not compiled in: enable feature `{name}`")
}
