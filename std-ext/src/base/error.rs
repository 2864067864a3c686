//! The error type of this crate: its kinds are those that programs of the format know (FORMAT §5.8).

use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use tgm_codec::{CodecError, CompressionBackend};
use tgm_core::ErrorKind as K;
use tgm_core::cbor::{Kind, Value};
use tgm_core::descriptor::{Compression, Stage};
use tgm_core::frame::Frame;
use tgm_core::wire::{MAGIC, Preamble};

use crate::base::fetch_error::{FetchError, FetchErrorKind};
use crate::base::hint::Hint;
use crate::base::source_name::SourceName;

/// The result type of this crate.
pub type Result<T, E = TensogramError> = std::result::Result<T, E>;

/// The text of an error. If `tgm_core` found the defect, its kind and byte offset come along ([`Self::cause`]).
///
/// It can be read like the `String` that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    text: String,
    cause: Option<tgm_core::Error>,
    fetch: Option<FetchErrorKind>,
    foreign: Option<Arc<Foreign>>,
}

/// An error of another library behind a [`Reason`].
#[derive(Debug)]
struct Foreign {
    error: Box<dyn std::error::Error + Send + Sync>,
    /// The byte of the input, if the error knows it.
    offset: Option<u64>,
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        self.offset == other.offset && self.error.to_string() == other.error.to_string()
    }
}

impl Eq for Foreign {}

impl Reason {
    /// A text, and the error of `tgm_core` after it.
    #[doc(hidden)]
    pub fn with_cause(text: impl Into<String>, cause: tgm_core::Error) -> Self {
        Self { text: text.into(), cause: Some(cause), fetch: None, foreign: None }
    }

    /// A text, and the error of another library behind it, which [`std::error::Error::source`] of a [`TensogramError`] gives.
    /// `offset` is the byte of the input where it was found.
    #[doc(hidden)]
    pub fn with_source(
        text: impl Into<String>,
        offset: Option<u64>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let foreign = Foreign { error: source.into(), offset };
        Self { text: text.into(), cause: None, fetch: None, foreign: Some(Arc::new(foreign)) }
    }

    /// The byte of the input where the defect was found. [`TensogramError::cause`] says from where it counts.
    fn offset(&self) -> Option<u64> {
        self.cause.map(|cause| cause.offset()).or_else(|| self.foreign.as_ref()?.offset)
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match (&self.cause, &self.foreign) {
            (Some(cause), _) => Some(cause),
            (None, Some(foreign)) => Some(&*foreign.error),
            (None, None) => None,
        }
    }

    /// The error of `tgm_core` after this one: the kind of defect and its byte offset. [`TensogramError::cause`] says from
    /// where the offset counts.
    pub const fn cause(&self) -> Option<tgm_core::Error> {
        self.cause
    }

    /// The kind of failure, if a request for bytes failed.
    pub const fn fetch_error_kind(&self) -> Option<FetchErrorKind> {
        self.fetch
    }
}

impl Deref for Reason {
    type Target = String;

    fn deref(&self) -> &String {
        &self.text
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl AsRef<str> for Reason {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for Reason {
    fn eq(&self, text: &str) -> bool {
        self.text == text
    }
}

impl PartialEq<&str> for Reason {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

impl PartialEq<String> for Reason {
    fn eq(&self, text: &String) -> bool {
        self.text == *text
    }
}

impl<T: Into<String>> From<T> for Reason {
    fn from(text: T) -> Self {
        Self { text: text.into(), cause: None, fetch: None, foreign: None }
    }
}

/// An error of messages, files and their values.
#[derive(Debug)]
#[non_exhaustive]
pub enum TensogramError {
    /// The structure is wrong: lengths, markers, the order of frames, the number of a message in a file.
    Framing(Reason),
    /// CBOR, a descriptor or an option is wrong.
    Metadata(Reason),
    /// A stage of the pipeline failed, in either direction, or a limit was exceeded.
    Encoding(Reason),
    /// Data that a compressor needs for a partial read is missing.
    Compression(Reason),
    /// The message has no object of that number.
    Object(Reason),
    /// A file or sink failed.
    Io(io::Error),
    /// The bytes differ from those that the written digest was computed from.
    HashMismatch {
        /// The number of the object in its message. `None` for a single frame, and for a frame without a data object.
        object_index: Option<usize>,
        /// The digest that was written: 16 hexadecimal digits.
        expected: String,
        /// The digest of the bytes as they are: 16 hexadecimal digits.
        actual: String,
    },
    /// The caller asked for verification, but the object has no digest.
    MissingHash {
        /// The number of the object in its message.
        object_index: usize,
    },
    /// A source of bytes failed: [`Reason::fetch_error_kind`] says how. Or an address cannot be read.
    Remote(Reason),
    /// A message of a stream is longer than the limit. Reading can go on after it.
    MessageTooLarge {
        /// Where the message begins, in bytes from the start of the stream.
        offset: u64,
        /// The length that the message states. `None` if it states none.
        length: Option<u64>,
        /// The limit in bytes.
        limit: u64,
    },
}

impl TensogramError {
    /// Whether bytes are missing that the program gives by itself ([`Given`](crate::read::Given)): the same call goes further once
    /// they are there.
    pub fn is_not_given(&self) -> bool {
        matches!(self, Self::Remote(reason) if reason.fetch_error_kind() == Some(FetchErrorKind::NotGiven))
    }

    /// The error of `tgm_core` after this one: the kind of defect and its byte offset.
    ///
    /// The offset counts from the start of the bytes that the caller gave. For a message of a file, it counts from the start
    /// of the message. To get the place in the file, add the `offset` of that message's [`MessageLayout`]. The files'
    /// method `message_layouts` returns one for each message.
    ///
    /// [`MessageLayout`]: crate::MessageLayout
    pub const fn cause(&self) -> Option<tgm_core::Error> {
        match self.reason() {
            Some(reason) => reason.cause(),
            None => None,
        }
    }

    const fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Framing(r)
            | Self::Metadata(r)
            | Self::Encoding(r)
            | Self::Compression(r)
            | Self::Object(r)
            | Self::Remote(r) => Some(r),
            Self::MessageTooLarge { .. } | Self::Io(_) | Self::HashMismatch { .. } | Self::MissingHash { .. } => None,
        }
    }

    /// The byte where the defect was found, whoever found it: a converter too. It counts as that of [`Self::cause`] does, and for
    /// other formats from the start of the message or file.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::MessageTooLarge { offset, .. } => Some(*offset),
            _ => self.reason()?.offset(),
        }
    }

    /// The variant's name in lower case, for programs that read reports.
    pub const fn kind_name(&self) -> &'static str {
        match self {
            Self::Framing(_) => "framing",
            Self::Metadata(_) => "metadata",
            Self::Encoding(_) => "encoding",
            Self::Compression(_) => "compression",
            Self::Object(_) => "object",
            Self::Io(_) => "io",
            Self::HashMismatch { .. } => "hash_mismatch",
            Self::MissingHash { .. } => "missing_hash",
            Self::Remote(_) => "remote",
            Self::MessageTooLarge { .. } => "message_too_large",
        }
    }

    /// An input-output error that names the file.
    #[doc(hidden)]
    pub fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io(io::Error::new(error.kind(), format!("{}: {error}", SourceName::of(path))))
    }

    /// This error with the number of the message in front of its text.
    #[doc(hidden)]
    #[must_use]
    pub fn in_message(self, index: usize) -> Self {
        self.within(format_args!("message {index}"))
    }

    /// This error with the place where it happened in front of its text.
    #[doc(hidden)]
    #[must_use]
    pub fn within(self, place: impl fmt::Display) -> Self {
        let named = |reason: Reason| Reason { text: format!("{place}: {}", reason.text), ..reason };
        match self {
            Self::Framing(reason) => Self::Framing(named(reason)),
            Self::Metadata(reason) => Self::Metadata(named(reason)),
            Self::Encoding(reason) => Self::Encoding(named(reason)),
            Self::Compression(reason) => Self::Compression(named(reason)),
            Self::Object(reason) => Self::Object(named(reason)),
            other => other,
        }
    }

    /// An encoding error with that text.
    pub(crate) fn encoding(text: impl Into<String>) -> Self {
        Self::Encoding(text.into().into())
    }

    /// An error in the CBOR of `what`, which is `body`, and begins at byte `start`. It was read without its frame. If the
    /// bytes end too early, that is then an error of metadata and not of framing.
    pub(crate) fn cbor(what: CborOf, body: &[u8], start: u64, cause: tgm_core::Error) -> Self {
        let name = what.name();
        let text = match cause.kind() {
            K::WrongType { expected: Kind::Map, .. } if cause.offset() == start => {
                format!("failed to deserialize {name}: {name} CBOR is not a map: {cause}")
            }
            kind if kind == K::Truncated || is_malformed_cbor(kind) => format!("failed to parse {name} CBOR: {cause}"),
            kind => match (what, entry_at(body, start, cause.offset())) {
                (CborOf::Index | CborOf::Hashes, Some(key)) => {
                    let is_entry = key == "hashes" && matches!(kind, K::WrongType { expected: Kind::Text, .. });
                    let subject = if is_entry { "hash entry" } else { &key };
                    format!("failed to deserialize {name}: {subject} {}: {cause}", requirement(kind))
                }
                (CborOf::Metadata, Some(key)) => format!("failed to deserialize {key} of {name}: {cause}"),
                _ => format!("failed to deserialize {name}: {cause}"),
            },
        };
        Self::Metadata(Reason::with_cause(text, cause))
    }

    /// The error of a frame that holds `what`. Only what well-formed CBOR says wrongly is given in the words of
    /// [`Self::cbor`].
    pub(crate) fn cbor_in(frame: &Frame<'_>, what: CborOf, cause: tgm_core::Error) -> Self {
        match cause.kind() {
            K::WrongType { .. } | K::NonTextKey(_) | K::IntegerRange => {
                Self::cbor(what, frame.body(), frame.body_offset(), cause)
            }
            _ => cause.into(),
        }
    }

    /// The error of a data object that cannot be opened: what is wrong with its descriptor is said as such.
    pub(crate) fn of_object(cause: tgm_core::Error) -> Self {
        match Self::from(cause) {
            Self::Framing(reason) if matches!(cause.kind(), K::UnknownFrameType(_)) => {
                Self::Framing(reason).within("expected data-object frame")
            }
            Self::Metadata(reason) if !is_malformed_cbor(cause.kind()) => {
                Self::Metadata(reason).within("failed to deserialize descriptor")
            }
            other => other,
        }
    }

    /// The error for metadata whose `base` has `entries` entries, in a message of fewer objects.
    pub(crate) fn base_too_long(entries: usize, objects: usize, cause: tgm_core::Error) -> Self {
        let text = format!("metadata base has {entries} entries but message contains {objects} objects: {cause}");
        Self::Metadata(Reason::with_cause(text, cause))
    }

    /// The error for `bytes` that do not begin with a message.
    pub(crate) fn opening(cause: tgm_core::Error, bytes: &[u8]) -> Self {
        let text = match bytes.first_chunk::<{ MAGIC.len() }>() {
            _ if bytes.len() < size_of::<Preamble>() => format!("buffer too short for preamble: {cause}"),
            Some(found) if cause.kind() == K::StartMagic => {
                format!("{cause}: got \"{}\" (hex {:016x})", found.escape_ascii(), u64::from_be_bytes(*found))
            }
            _ => return cause.into(),
        };
        Self::Framing(Reason::with_cause(text, cause))
    }

    /// The error for a wrong digest, which [`tgm_core`] reports as two numbers: [`Self::HashMismatch`] with both as
    /// text.
    ///
    /// `object_index` is the number of the object in its message. Pass `None` for a single frame, and for a frame
    /// without a data object.
    ///
    /// ```
    /// use tgm_std::TensogramError;
    /// use tgm_std::core::hash::HashMismatch;
    ///
    /// let error = TensogramError::hash_mismatch(Some(2), HashMismatch { expected: 0xab, computed: 0xcd });
    /// assert_eq!(
    ///     error.to_string(),
    ///     "hash mismatch on object 2: expected 00000000000000ab, got 00000000000000cd"
    /// );
    /// ```
    pub fn hash_mismatch(object_index: Option<usize>, mismatch: tgm_core::hash::HashMismatch) -> Self {
        Self::HashMismatch {
            object_index,
            expected: format!("{:016x}", mismatch.expected),
            actual: format!("{:016x}", mismatch.computed),
        }
    }
}

impl fmt::Display for TensogramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Framing(r) => write!(f, "framing error: {r}"),
            Self::Metadata(r) => write!(f, "metadata error: {r}"),
            Self::Encoding(r) => write!(f, "encoding error: {r}"),
            Self::Compression(r) => write!(f, "compression error: {r}"),
            Self::Object(r) => write!(f, "object error: {r}"),
            Self::Io(e) => write!(f, "io error: {e}"),
            Self::HashMismatch { object_index, expected, actual } => {
                match object_index {
                    Some(index) => write!(f, "hash mismatch on object {index}")?,
                    None => f.write_str("hash mismatch on frame")?,
                }
                write!(f, ": expected {expected}, got {actual}")
            }
            Self::MissingHash { object_index } => {
                write!(f, "hash verification requested but object {object_index} has no inline hash recorded")
            }
            Self::Remote(r) => write!(f, "remote error: {r}"),
            Self::MessageTooLarge { offset, length, limit } => {
                write!(f, "the message at offset {offset}")?;
                match length {
                    Some(length) => {
                        write!(f, " has {length} bytes, more than {} of {limit}", Hint::MaxMessageBytes.text())
                    }
                    None => write!(f, " has more bytes than {} of {limit}", Hint::MaxMessageBytes.text()),
                }
            }
        }
    }
}

impl std::error::Error for TensogramError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Framing(r)
            | Self::Metadata(r)
            | Self::Encoding(r)
            | Self::Compression(r)
            | Self::Object(r)
            | Self::Remote(r) => r.source(),
            Self::Io(e) => Some(e),
            Self::HashMismatch { .. } | Self::MissingHash { .. } | Self::MessageTooLarge { .. } => None,
        }
    }
}

impl From<io::Error> for TensogramError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<tgm_core::ErrorKind> for TensogramError {
    /// The error for a value that the caller passed in. There are no bytes to point at, so the offset is 0.
    fn from(kind: tgm_core::ErrorKind) -> Self {
        kind.at(0).into()
    }
}

impl From<tgm_core::Error> for TensogramError {
    fn from(error: tgm_core::Error) -> Self {
        let reason = Reason::with_cause(text_of(error), error);
        match error.kind() {
            K::ObjectOutOfRange => Self::Object(reason),
            kind if is_framing(kind) => Self::Framing(reason),
            kind if is_encoding(kind) => Self::Encoding(reason),
            _ => Self::Metadata(reason),
        }
    }
}

impl From<CodecError> for TensogramError {
    /// What a codec, or its memory and threads, could not do. Kind and offset come along.
    fn from(error: CodecError) -> Self {
        if error.is_interrupted() {
            return Self::Io(io::ErrorKind::Interrupted.into());
        }
        let reason = Reason { cause: error.cause(), ..error.to_string().into() };
        if error.is_about_a_parameter() { Self::Metadata(reason) } else { Self::Encoding(reason) }
    }
}

/// What a piece of CBOR is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CborOf {
    Metadata,
    Index,
    Hashes,
    Descriptor,
    /// CBOR whose keys are checked to be in order, whatever it is.
    Canonical,
}

impl CborOf {
    const fn name(self) -> &'static str {
        match self {
            Self::Metadata => "global metadata",
            Self::Index => "index",
            Self::Hashes => "hash frame",
            Self::Descriptor => "descriptor",
            Self::Canonical => "canonical",
        }
    }
}

/// What a list of an index or hash frame must be, and is not.
fn requirement(kind: K) -> String {
    match kind {
        K::WrongType { expected: Kind::Array, .. } => "must be an array".to_owned(),
        K::WrongType { expected: Kind::Integer, .. } => "must be an integer".to_owned(),
        K::WrongType { expected, .. } => format!("must be {expected}"),
        K::IntegerRange => "value out of u64 range".to_owned(),
        _ => "cannot be read".to_owned(),
    }
}

/// The key of the top-level entry of the map `body` whose value has the byte at `offset`. `None` if a key has it. The body
/// begins at byte `start`.
fn entry_at(body: &[u8], start: u64, offset: u64) -> Option<String> {
    let mut found = None;
    for entry in Value::parse(body, start).ok()?.as_map().ok()? {
        let (key, value) = entry.ok()?;
        if key.offset() <= offset {
            found = (value.offset() <= offset).then(|| key.as_text().ok().map(|key| key.to_string())).flatten();
        }
    }
    found
}

/// The text of an error, with advice if there is any.
fn text_of(error: tgm_core::Error) -> String {
    match error.kind() {
        kind if is_malformed_cbor(kind) => {
            format!("failed to parse CBOR: {kind} at byte {}", error.offset())
        }
        K::Truncated => format!("buffer too short: {error}"),
        K::Version(version) => format!("{error}: {}", way_out(version)),
        K::NeedsDecoding(Stage::Compression(Some(compression))) => compressed(error, compression),
        _ => error.to_string(),
    }
}

/// The version that can be upgraded to version 3.
const VERSION_2: u16 = 2;
/// Advice for a message of version 2.
pub(crate) const UPGRADE_ONE: &str = "`tgm upgrade` makes it version 3";

/// Advice for a message of another version than 3.
pub(crate) const fn way_out(version: u16) -> &'static str {
    match version {
        VERSION_2 => UPGRADE_ONE,
        0 | 1 => "this release reads version 3, and upgrades version 2",
        _ => "a newer release may read it; this one reads version 3, and upgrades version 2",
    }
}

/// The text for values that were asked for as they are stored, and are compressed. If their codec is there, decoding helps.
fn compressed(error: tgm_core::Error, compression: Compression) -> String {
    match tgm_codec::codec(compression, CompressionBackend::Pure) {
        Ok(_) => format!("{error}; `values` and `decode` undo it, a view does not"),
        Err(lacking) => lacking.to_string(),
    }
}

/// Whether the CBOR is malformed, so that no decoder could read it.
const fn is_malformed_cbor(kind: K) -> bool {
    matches!(kind, K::CborHead(_) | K::CborSimple(_) | K::CborBreak | K::CborUtf8 | K::CborNesting)
}

/// Whether the kind concerns the structure of messages and frames.
const fn is_framing(kind: K) -> bool {
    matches!(
        kind,
        K::Truncated
            | K::TooLarge
            | K::StartMagic
            | K::Version(_)
            | K::MessageTooSmall
            | K::MessageExceedsBuffer
            | K::EndMagic
            | K::TotalLengthMismatch
            | K::FrameMagic
            | K::UnknownFrameType(_)
            | K::ReservedFrameType
            | K::FrameTooSmall
            | K::FrameExceedsMessage
            | K::FrameEnd
            | K::CborOffset
            | K::FrameOrder(..)
            | K::PrecederWithoutObject(_)
            | K::DanglingPreceder
            | K::IndexEntry
            | K::IndexCount
            | K::HashListCount
            | K::HashListEntry
            | K::DigestMismatch
            | K::FooterOffset
            | K::MaskBounds
            | K::MaskDtype(_)
    )
}

/// Whether the kind concerns the pipeline.
const fn is_encoding(kind: K) -> bool {
    matches!(
        kind,
        K::NeedsDecoding(_)
            | K::PayloadSize
            | K::DtypeMismatch { .. }
            | K::NotPacked
            | K::RangeOutOfBounds
            | K::SelectionRank(..)
            | K::SelectionBounds(_)
            | K::OutputLength
            | K::Misaligned
            | K::SwappedBytes
            | K::BitsPerValue(_)
            | K::ElementSize
            | K::MaskMethod
            | K::MaskLength
            | K::RleStart(_)
            | K::RleRun
            | K::RoaringCookie(_)
            | K::RoaringContainer
    )
}

impl From<FetchError> for TensogramError {
    /// Failures of local files are [`TensogramError::Io`], others are [`TensogramError::Remote`].
    fn from(error: FetchError) -> Self {
        match error.kind() {
            FetchErrorKind::Io(kind) => Self::Io(io::Error::new(kind, error.to_string())),
            kind => Self::Remote(Reason { fetch: Some(kind), ..error.to_string().into() }),
        }
    }
}
