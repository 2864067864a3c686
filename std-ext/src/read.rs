//! One reader for any source: what to read next is decided here, apart from how it is read.
//!
//! ```text
//!             wants: ranges of bytes
//!  task ────────────────────────► requests ──► RangeFetch / AsyncRangeFetch
//!   ▲                              merged, split          │ bytes, size, version
//!   └───────────── Sparse: what is known of the source ◄──┘
//! ```

pub mod fetch;
mod local;
pub mod options;
pub(crate) mod positioned;
mod url;

pub use fetch::{AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};
#[cfg(feature = "async")]
pub use local::AsyncLocalFile;
pub use local::LocalFile;
pub use options::ReadOptions;
pub use url::is_remote_url;
