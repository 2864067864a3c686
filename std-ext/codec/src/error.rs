//! The error of codecs, and of the memory and threads that they take.

use std::borrow::Cow;
use std::fmt;

/// The result type of this crate.
pub type Result<T, E = CodecError> = std::result::Result<T, E>;

/// What a codec says: a sentence without the codec's name. If `tgm_core` found the defect, its kind and byte offset come along.
///
/// ```
/// use tgm_codec::CodecError;
/// use tgm_core::ErrorKind;
///
/// let error = CodecError::from(ErrorKind::Truncated.at(7));
/// assert_eq!(error.to_string(), "the bytes end too early at byte 7");
/// // The payload starts at byte 100 of the message.
/// assert_eq!(error.shift(100).cause(), Some(ErrorKind::Truncated.at(107)));
///
/// let error = CodecError::not_compiled_in("zstd", "zstd");
/// assert_eq!(error.to_string(), "codec `zstd` not compiled in: enable feature `zstd`");
/// assert_eq!(error.missing_feature(), Some("zstd"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    text: Cow<'static, str>,
    cause: Cause,
}

/// The fact behind an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The text says all.
    Text,
    /// A defect of the payload. Its offset counts from the payload's first byte.
    Payload(tgm_core::Error),
    /// A defect of the descriptor, or a request that it does not allow. Its offset counts from where the descriptor's does.
    Descriptor(tgm_core::Error),
    /// A parameter is missing, or is of another type than it should be.
    Parameter,
    /// The feature that this build lacks.
    Missing(&'static str),
    /// The work was stopped from outside.
    Interrupted,
}

impl CodecError {
    /// An error in words.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), cause: Cause::Text }
    }

    /// A parameter that is missing, or of another type than it should be.
    pub fn parameter(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), cause: Cause::Parameter }
    }

    /// A defect that the descriptor's own functions report.
    pub fn of_descriptor(error: tgm_core::Error) -> Self {
        Self { text: error.to_string().into(), cause: Cause::Descriptor(error) }
    }

    /// A codec that needs `feature`, which this build lacks.
    pub fn not_compiled_in(codec: &str, feature: &'static str) -> Self {
        let text = format!("codec `{codec}` not compiled in: {}", Enable(feature)).into();
        Self { text, cause: Cause::Missing(feature) }
    }

    /// A part of a codec that needs `feature`, which this build lacks: what it is, and what else may be done.
    pub fn part_not_compiled_in(part: &str, feature: &'static str, or: &str) -> Self {
        let text = format!("{part} is not compiled in: {}, or {or}", Enable(feature)).into();
        Self { text, cause: Cause::Missing(feature) }
    }

    /// Work that was stopped from outside: [`interrupt`](crate::interrupt).
    pub const fn interrupted() -> Self {
        Self { text: Cow::Borrowed("interrupted"), cause: Cause::Interrupted }
    }

    /// No memory for `len` bytes.
    pub(crate) fn no_memory(len: usize) -> Self {
        Self::new(format!("cannot allocate {len} bytes"))
    }

    /// This error in other words.
    #[must_use]
    pub fn in_words(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), ..self }
    }

    /// This error with the codec's name in front.
    #[must_use]
    pub fn in_codec(self, name: &str) -> Self {
        let text = format!("{name} compression: {self}");
        self.in_words(text)
    }

    /// The same error for a payload that starts `base` bytes into what the caller gave. The text stays as it is.
    #[must_use]
    pub fn shift(self, base: u64) -> Self {
        match self.cause {
            Cause::Payload(error) => Self { cause: Cause::Payload(error.shift(base)), ..self },
            _ => self,
        }
    }

    /// The error of `tgm_core` after this one: the kind of defect and its byte offset. For a defect of the payload, the offset
    /// counts from the payload's first byte, unless the error was shifted.
    pub const fn cause(&self) -> Option<tgm_core::Error> {
        match self.cause {
            Cause::Payload(error) | Cause::Descriptor(error) => Some(error),
            Cause::Text | Cause::Parameter | Cause::Missing(_) | Cause::Interrupted => None,
        }
    }

    /// Whether a parameter is missing or of another type.
    pub const fn is_about_a_parameter(&self) -> bool {
        matches!(self.cause, Cause::Parameter)
    }

    /// Whether the work was stopped from outside.
    pub const fn is_interrupted(&self) -> bool {
        matches!(self.cause, Cause::Interrupted)
    }

    /// The feature of this crate that is missing, if that is the error.
    pub const fn missing_feature(&self) -> Option<&'static str> {
        match self.cause {
            Cause::Missing(feature) => Some(feature),
            _ => None,
        }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Payload(error) | Cause::Descriptor(error) => Some(error),
            Cause::Text | Cause::Parameter | Cause::Missing(_) | Cause::Interrupted => None,
        }
    }
}

impl From<tgm_core::Error> for CodecError {
    /// A defect of the payload, whose offset counts from the payload's first byte.
    fn from(error: tgm_core::Error) -> Self {
        Self { text: error.to_string().into(), cause: Cause::Payload(error) }
    }
}

impl From<tgm_core::ErrorKind> for CodecError {
    /// A parameter that is wrong. There are no bytes to point at, so the offset is 0.
    fn from(kind: tgm_core::ErrorKind) -> Self {
        Self { text: kind.to_string().into(), cause: Cause::Descriptor(kind.at(0)) }
    }
}

/// The advice to enable a feature.
#[derive(Clone, Copy, Debug)]
struct Enable(&'static str);

impl fmt::Display for Enable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "enable feature `{}`", self.0)
    }
}
