//! Which implementation of a codec is taken, where there are two.

use crate::error::{CodecError, Result};

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
    /// [`CodecError`] if the variable names no backend.
    #[inline]
    pub fn resolve(self) -> Result<Self> {
        let Some(text) = std::env::var_os(ENV_COMPRESSION_BACKEND).filter(|_| self == Self::Auto) else {
            return Ok(self);
        };
        match text.to_string_lossy().to_ascii_lowercase().as_str() {
            "pure" | "rust" => Ok(Self::Pure),
            "ffi" | "c" => Ok(Self::Ffi),
            _ => Err(CodecError::new(format!(
                "invalid {ENV_COMPRESSION_BACKEND} value: {} is neither ffi, c, pure nor rust",
                text.display()
            ))),
        }
    }
}
