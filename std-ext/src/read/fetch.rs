//! How bytes are fetched: the traits that a source implements, and what it answers.
//!
//! A source is asked for ranges of bytes and answers with bytes. It needs to know nothing of the format. What to ask for is
//! decided by the tasks of this module; how requests are merged and split is decided by [`ReadOptions`](super::ReadOptions).

use std::fmt;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;

/// Bytes that are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// These bytes, or those of them that the source has: fewer only where the source ends.
    At(Range<u64>),
    /// The last bytes, this many of them. A shorter source gives all it has.
    Suffix(u64),
}

/// Names the version of a source's content. Two answers with equal tags are of the same content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    /// A strong entity tag, which a server can be asked to hold on to (`If-Match`).
    Strong(String),
    /// Text that changes with the content as a rule, such as a time of change. It is compared and never sent.
    Weak(String),
}

/// An answer of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where the bytes begin in the source.
    pub offset: u64,
    /// The bytes. They may be more than was asked for.
    pub bytes: Vec<u8>,
    /// The length of the whole source, if the answer says.
    pub size: Option<u64>,
    /// The version of the content, if the answer says.
    pub tag: Option<Tag>,
}

/// What kind of failure a request met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FetchErrorKind {
    /// There is no such object.
    NotFound,
    /// The credentials do not allow the request, or there are none.
    Denied,
    /// The answer did not come in time.
    Timeout,
    /// The server or the network failed, also after the client's own retries. Another try may succeed.
    Unavailable,
    /// The content is another than that of earlier answers.
    Changed,
    /// The source gives no ranges, or not of the kind that was asked for.
    NoRanges,
    /// The answer is longer than the reader may keep.
    TooLarge,
    /// The answer contradicts the request or itself.
    Protocol,
    /// The address or an option of it is not valid. No request was made.
    Invalid,
    /// A local file failed.
    Io(io::ErrorKind),
}

impl FetchErrorKind {
    /// Whether the same request may succeed later.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Timeout | Self::Unavailable)
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError {
    kind: FetchErrorKind,
    text: String,
}

impl FetchError {
    /// An error of this kind. `text` names the source and says what was done. It must hold no secrets: an address is given
    /// without its query and without user names.
    pub fn new(kind: FetchErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// What kind of failure it was.
    pub const fn kind(&self) -> FetchErrorKind {
        self.kind
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for FetchError {}

/// What a source can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchTraits {
    /// Whether [`Want::Suffix`] is answered. Azure refuses it, for example.
    pub suffix: bool,
    /// The length of the source, if it is known without a request.
    pub size: Option<u64>,
}

impl Default for FetchTraits {
    fn default() -> Self {
        Self { suffix: true, size: None }
    }
}

/// A source that answers before the call returns, such as a local file.
pub trait RangeFetch: Send + Sync {
    /// Fetches bytes. With `unchanged`, the answer is an error of kind [`FetchErrorKind::Changed`] if the source knows that
    /// its content is another version.
    ///
    /// # Errors
    /// Those of the source. The end of the source is no error: the answer is then shorter, and may be empty.
    fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> Result<Fetched, FetchError>;

    /// Fetches several pieces. The answers stand in the order of `wants`.
    ///
    /// # Errors
    /// Those of [`Self::fetch`], for the first piece that fails.
    fn fetch_many(&self, wants: &[Want], unchanged: Option<&Tag>) -> Result<Vec<Fetched>, FetchError> {
        wants.iter().map(|want| self.fetch(want, unchanged)).collect()
    }

    /// What the source can do.
    fn traits(&self) -> FetchTraits {
        FetchTraits::default()
    }

    /// The source in error texts: a path, or an address without secrets.
    fn name(&self) -> String;
}

/// A future in a box that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A source that answers later, such as an object store.
///
/// Dropping a future drops its request, and nothing else.
pub trait AsyncRangeFetch: Send + Sync {
    /// [`RangeFetch::fetch`], later.
    fn fetch<'a>(&'a self, want: &'a Want, unchanged: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>>;

    /// What the source can do.
    fn traits(&self) -> FetchTraits {
        FetchTraits::default()
    }

    /// The source in error texts: a path, or an address without secrets.
    fn name(&self) -> String;
}
