//! One reader for any source. It decides what to read next; the source only fetches bytes.
//!
//! ```text
//!   question ─► Gather ─► bytes ─► answer          decoding: reads nothing
//!                │  ▲
//!          wants │  │ Known: the bytes that were fetched so far
//!                ▼  │
//!              requests ─► RangeFetch or AsyncRangeFetch
//!              (merged, split)
//! ```
//!
//! A task looks at the known bytes and ends with a result, or with ranges that it needs. The reader fetches them and calls
//! the task again. So there is one logic for memory, files, servers, tasks that wait and calls that block. [`Reader`] is for
//! sources that answer before a call returns, `AsyncReader` for the others (feature `async`). Programs that fetch bytes by
//! themselves, in an event loop, a browser or before a flash chip, drive the tasks of [`Steps`], or give the bytes to a [`Given`],
//! over which everything runs that takes an archive.
//!
//! # What is read
//! | wanted | read |
//! |---|---|
//! | all messages | short messages: everything; long ones: the 48 bytes where one ends and the next begins |
//! | the last message | the end of the source |
//! | metadata | the frames before the first object, or after the last one |
//! | descriptors | the end of each object's frame |
//! | an object | its frame, which the index leads to |
//! | ranges | raw and packed values: their bytes; szip: the intervals that hold them and three more; zfp of fixed rate: their blocks; otherwise the frame |
//! | a box | as ranges, one for each of its rows; of more than 65,536 rows, the frame |
//!
//! An index counts if its objects lie side by side from the first frame to the last. A frame counts if it is what the index
//! says. If anything is odd, all of the message is read, and the result is the one of the whole message.
//!
//! # What is promised
//! - All answers are of one version of the source. If the source says that it changed, calls fail.
//! - A source that contradicts itself or a request gives an error. No byte that was not fetched takes part in an answer.
//! - A call that fails, or a future that is dropped, loses nothing: what it fetched serves later calls, up to
//!   20 MiB.
//!
//! # Layers
//! A module imports only from rows below its own, as with the layers of the crate.
//!
//! | layer | what it knows |
//! |---|---|
//! | `reader`, `async_reader` | sources that answer at once, and later |
//! | `steps` | tasks whose bytes the program fetches |
//! | `session` | what calls to one reader share |
//! | `question`, `batch` | questions and their answers; one question to several messages |
//! | `gather` | the bytes that an answer needs |
//! | `locate`, `lone_message` | where messages are; one whose place is known |
//! | `outline` | all of a message but payloads |
//! | `described`, `source`, `read_task`, `ahead` | descriptors; known bytes as a source of scans; what is wanted, apart from fetching; what is read beyond it |
//! | `structure` | the metadata of a message, and where its objects are |
//! | `missing_ranges` | what a step found missing, and the requests for it |
//! | `given` | what the program gives, as a source |
//! | `known_bytes`, `local`, `memory`, `stream` | what is known of a source; local files and memory as sources; files from start to end |
//! | `fetch`, `open`, `options`, `pace`, `positioned`, `url` | the traits of sources, how they are opened and asked, and how fast they answer |

mod ahead;
#[cfg(feature = "async")]
pub mod async_reader;
#[cfg(feature = "async")]
mod batch;
pub(crate) mod described;
pub mod fetch;
mod gather;
mod given;
mod known_bytes;
mod local;
mod locate;
mod lone_message;
mod memory;
mod missing_ranges;
pub(crate) mod open;
pub mod options;
pub(crate) mod outline;
mod pace;
pub(crate) mod positioned;
pub(crate) mod question;
mod read_task;
pub mod reader;
mod session;
mod source;
mod steps;
pub(crate) mod stream;
mod structure;
mod url;

#[cfg(feature = "async")]
pub use async_reader::AsyncReader;
pub use fetch::{AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, Tag, Want};
pub use given::Given;
#[cfg(feature = "async")]
pub use local::AsyncLocalFile;
pub use local::LocalFile;
pub use options::ReadOptions;
pub use reader::Reader;
pub use steps::{Step, Steps, StepsRead, Task};
pub use url::is_remote_url;
