//! How bytes are fetched: the traits that a source implements, and what it answers.
//!
//! A source is asked for ranges of bytes and answers with bytes. It needs to know nothing of the format. What to ask for is
//! decided by the tasks of this module; how requests are merged and split is decided by [`ReadOptions`](super::ReadOptions).

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;

pub use crate::base::fetch_error::{FetchError, FetchErrorKind};
use crate::base::span::span_before;

/// Bytes that are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// The bytes at these offsets. The answer has fewer bytes only where the source ends.
    At(Range<u64>),
    /// The last bytes, this many of them. A shorter source gives all it has.
    Suffix(u64),
}

impl Want {
    /// The part of a source of `size` bytes that is asked for. It may be empty.
    ///
    /// ```
    /// use tgm_std::read::Want;
    ///
    /// assert_eq!(Want::At(3..9).within(5), 3..5);
    /// assert_eq!(Want::Suffix(2).within(5), 3..5);
    /// ```
    pub fn within(&self, size: u64) -> Range<u64> {
        match self {
            Self::At(range) => {
                let start = range.start.min(size);
                start..range.end.clamp(start, size)
            }
            Self::Suffix(len) => span_before(size, *len),
        }
    }
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
    /// The errors of the source. The end of the source is not an error: the answer is then shorter, and may be empty.
    fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> Result<Fetched, FetchError>;

    /// Fetches several pieces. The answers stand in the order of `wants`. If some fail, the others are kept all the same.
    fn fetch_many(&self, wants: &[Want], unchanged: Option<&Tag>) -> Vec<Result<Fetched, FetchError>> {
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

impl fmt::Debug for dyn RangeFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RangeFetch").field(&self.name()).finish()
    }
}

impl fmt::Debug for dyn AsyncRangeFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AsyncRangeFetch").field(&self.name()).finish()
    }
}
