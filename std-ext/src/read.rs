//! One reader for any source: what to read next is decided here, apart from how it is read.
//!
//! ```text
//!             wants: ranges of bytes
//!  task ────────────────────────► requests ──► RangeFetch / AsyncRangeFetch
//!   ▲                              merged, split          │ bytes, size, version
//!   └───────────── Sparse: what is known of the source ◄──┘
//! ```

pub(crate) mod answer;
#[cfg(feature = "async")]
pub mod async_reader;
#[cfg(feature = "async")]
mod batch;
pub mod fetch;
mod gather;
mod known;
mod local;
mod locate;
mod memory;
pub mod options;
mod outline;
pub(crate) mod positioned;
pub mod reader;
mod session;
mod source;
mod structure;
mod task;
mod url;
mod wants;

#[cfg(feature = "async")]
pub use async_reader::AsyncReader;
pub use fetch::{AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};
#[cfg(feature = "async")]
pub use local::AsyncLocalFile;
pub use local::LocalFile;
pub use options::ReadOptions;
pub use reader::Reader;
pub use url::is_remote_url;
