//! Sources on servers and in object stores.
//!
//! ```text
//!  address + options ──► open ──┬─ https, http ──────────► HttpSource ──┐
//!                               ├─ s3, gs, az, … ────────► StoreSource ─┤ exchange: one request, one checked answer
//!                               └─ file ─────────────────► LocalFile    │
//!                                                                       ▼
//!                                              connection (reqwest, as object_store sets it up)
//! ```
//!
//! All requests for bytes are GETs; the size and the version of the content come with the first of them. Answers are
//! checked here and not by the client: status, range, length, encoding and version. `object_store` knows where objects
//! are, signs requests and repeats those that failed. Addresses of the web go around it, because its own store for them
//! drops the query, which presigned addresses need, and hides the status of an answer.
//!
//! Methods of [`AsyncRangeFetch`](crate::read::AsyncRangeFetch) need a runtime of tokio with time and network enabled.
//! [`Blocking`] is the same source for programs without one.
//!
//! Connections do not survive `fork`: a child process opens its sources anew.

mod address;
mod answer;
mod body;
mod connection;
mod exchange;
mod http;
mod keys;
mod options;
mod pieces;
mod retry;
mod runtime;
mod store;

pub use crate::read::is_remote_url;
pub use address::{RemoteSource, open};
pub use options::{Credentials, RemoteOptions, Retry, UnknownKeys};
pub use runtime::Blocking;
pub(crate) use runtime::wait;
