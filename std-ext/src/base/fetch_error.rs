//! Failures of requests for bytes.

use std::fmt;
use std::io;

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
    /// The content changed since earlier answers.
    Changed,
    /// The source gives no ranges, or not of the kind that was asked for.
    NoRanges,
    /// The answer is longer than the reader may keep, or the call takes more than its limits allow.
    TooLarge,
    /// The answer contradicts the request or itself.
    Protocol,
    /// The address or an option of it is not valid. No request was made.
    Invalid,
    /// The program has not given these bytes yet ([`Given`](crate::read::Given)).
    NotGiven,
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
