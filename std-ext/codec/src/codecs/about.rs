//! What a codec is, and what this build can do with it: all that programs ask before they compress or decompress.

use tgm_core::descriptor::{Compression, Dtype, Key};

use super::CompressionBackend;
use crate::error::{CodecError, Result};
use crate::threads::Threads;

/// What a codec is.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name and number on the wire.
    pub compression: Compression,
    /// What it compresses.
    pub input: Input,
    /// Whether values may change.
    pub is_lossy: bool,
    /// Its parameters in descriptors, all of them.
    pub keys: &'static [Key],
    /// The parameters that must be there, as a program sets them if its user has chosen the codec and no more. `None` if only
    /// the user can choose them.
    pub usual: Option<&'static [(Key, Parameter)]>,
    /// The parameter that says how hard it tries.
    pub level: Option<Level>,
    /// How many bytes of values one byte of a payload can become at most.
    pub expansion: Expansion,
    /// Whether messages of version 2 have it.
    pub is_in_version_2: bool,
    /// Whether this build decompresses.
    pub decoding: Support,
    /// Whether this build compresses.
    pub encoding: Support,
    /// The code that does it.
    pub implementation: Implementation,
    /// What a self-test puts through it.
    pub trial: Trial,
}

impl About {
    /// The name in descriptors.
    pub const fn name(&self) -> &'static str {
        self.compression.name()
    }

    /// Checks that this build decompresses.
    ///
    /// # Errors
    /// [`CodecError`] naming the feature.
    #[inline]
    pub fn check_decoding(&self) -> Result<()> {
        match self.decoding {
            Support::Whole | Support::Lossless(_) => Ok(()),
            Support::Lacking(feature) => {
                let error = CodecError::not_compiled_in(self.name(), feature);
                let text = format!("unknown compression: {error}");
                Err(error.in_words(text))
            }
        }
    }

    /// The error for a codec that this build does not compress with.
    pub fn cannot_encode(&self) -> CodecError {
        match self.encoding {
            Support::Lacking(feature) | Support::Lossless(feature) => CodecError::not_compiled_in(self.name(), feature),
            Support::Whole => CodecError::new("does not compress"),
        }
    }
}

/// What a codec compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Bytes of any values, with other stages before it or without.
    Bytes,
    /// Numbers, which must be `float64`, without another stage before it. In which order their bytes are matters.
    Numbers,
    /// The bits of bitmasks.
    Bits,
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(&'static str),
}

impl From<i32> for Parameter {
    fn from(value: i32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u32> for Parameter {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<f64> for Parameter {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&'static str> for Parameter {
    fn from(value: &'static str) -> Self {
        Self::Text(value)
    }
}

/// The parameter that says how hard a codec tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its key.
    pub key: Key,
    /// The lowest level.
    pub least: i32,
    /// The highest level.
    pub most: i32,
    /// The level of objects without this parameter.
    pub usual: i32,
}

/// How many bytes of values one byte of a payload can become at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The number. `None` if there is no bound.
    pub bytes: Option<u32>,
    /// What such a byte says.
    pub by: &'static str,
}

/// What a build can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// All of it.
    Whole,
    /// Only without loss. The rest needs this feature.
    Lossless(&'static str),
    /// Nothing. It needs this feature.
    Lacking(&'static str),
}

impl Support {
    /// All of it, if the feature that it needs is on.
    pub const fn by(is_on: bool, feature: &'static str) -> Self {
        if is_on { Self::Whole } else { Self::Lacking(feature) }
    }

    /// Whether there is anything.
    pub const fn is_any(self) -> bool {
        !matches!(self, Self::Lacking(_))
    }

    /// The feature that is missing for all of it.
    pub const fn missing_feature(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::Lossless(feature) | Self::Lacking(feature) => Some(feature),
        }
    }
}

/// The code behind a codec.
#[derive(Clone, Copy, Debug)]
pub enum Implementation {
    /// That of this project.
    Own,
    /// That of this project, as far as reports are to say how much of the codec that is.
    OwnFor(&'static str),
    /// A crate in Rust.
    Rust(&'static str),
    /// A library in C or C++, and what says its release, if anything does.
    Library(&'static str, Option<fn() -> &'static str>),
}

/// What a self-test puts through a codec: values of the right kind, by these stages.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The stage before it.
    pub before: Before,
    /// The parameters.
    pub parameters: &'static [(Key, Parameter)],
    /// The most that a value of some hundreds may change.
    pub loss: f64,
}

/// The stage before a codec in a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// None.
    Nothing,
    /// `simple_packing`, in 24 bits.
    Packing,
    /// The shuffle filter.
    Shuffle,
}

/// Parameters of a descriptor that is to be encoded, and the stages before the codec.
#[derive(Clone, Copy)]
pub struct Uncompressed<'a> {
    /// The type of the values.
    pub dtype: Dtype,
    /// The name of the first stage.
    pub encoding: &'a str,
    /// Bits of a packed value, if values are packed.
    pub packed_bits: Option<u32>,
    /// The name of the second stage.
    pub filter: &'a str,
    /// Whether bytes are shuffled.
    pub is_shuffled: bool,
    /// The parameters.
    pub parameters: &'a dyn Parameters,
}

impl std::fmt::Debug for Uncompressed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uncompressed").field("dtype", &self.dtype).finish_non_exhaustive()
    }
}

impl Uncompressed<'_> {
    /// Checks the input of a codec for numbers: other stages before it, and other types, could not be decoded.
    pub(super) fn check_numbers(&self, codec: &str) -> Result<()> {
        let text = if self.dtype != Dtype::Float64 {
            format!("values are {}: only float64 can be compressed by it", self.dtype)
        } else if self.packed_bits.is_some() || self.is_shuffled {
            format!("encoding {}, filter {}: none can stand before it", self.encoding, self.filter)
        } else {
            return Ok(());
        };
        Err(CodecError::new(text).in_codec(codec))
    }

    /// Checks the input of a codec for bits.
    pub(super) fn check_bits(&self, codec: &str) -> Result<()> {
        match self.dtype {
            Dtype::Bitmask => Ok(()),
            dtype => {
                let text = format!("compression \"{codec}\" only supports dtype=bitmask, got dtype={dtype}");
                Err(CodecError::new(text))
            }
        }
    }
}

/// The parameters of a descriptor, by their keys. `None` for a key that is not there.
pub trait Parameters {
    /// An integer.
    ///
    /// # Errors
    /// [`CodecError::parameter`] for another value, and for one that does not fit.
    fn i32(&self, key: Key) -> Result<Option<i32>>;

    /// An integer that is not negative.
    ///
    /// # Errors
    /// [`CodecError::parameter`] for another value, and for one that does not fit.
    fn u32(&self, key: Key) -> Result<Option<u32>>;

    /// A number: a float, or an integer that is exact as `f64`.
    ///
    /// # Errors
    /// [`CodecError::parameter`] for another value, and for one that does not fit.
    fn f64(&self, key: Key) -> Result<Option<f64>>;

    /// A text.
    ///
    /// # Errors
    /// [`CodecError::parameter`] for another value.
    fn text(&self, key: Key) -> Result<Option<&str>>;
}

/// The value of a parameter that must be present.
///
/// # Errors
/// [`CodecError::parameter`] naming the key.
pub fn required<T>(value: Option<T>, key: Key) -> Result<T> {
    value.ok_or_else(|| CodecError::parameter(format!("missing required parameter: {}", key.name())))
}

/// The backend and the threads that a codec may use.
#[derive(Clone, Copy, Debug)]
pub struct CodecResources {
    /// The backend.
    pub backend: CompressionBackend,
    /// The threads for one object.
    pub threads: Threads,
}
