//! Files of messages (FORMAT §5.7).
//!
//! A file is a sequence of messages. [`TensogramFile`] scans it once, when the first message is asked for, and reads
//! only preambles and postambles for that. After that any number of threads read messages through `&self`. Each read is
//! a positioned read without a lock. Of a message larger than 256 KiB, only the requested parts are read.
//! [`crate::MappedFile`] does the same with a memory map, and its messages are borrowed from the map.
//!
//! What cannot be read at positions, such as a pipe or a socket, is read by a [`MessageReader`], message by message,
//! or by a [`ValueReader`], which gives values while their messages still come.

mod append;
#[cfg(feature = "async")]
mod async_file;
mod data;
mod decode;
mod file_iter;
pub mod iter;
mod message_bytes;
mod message_reader;
#[cfg(feature = "mmap")]
pub mod mmap;
mod open;
mod positioned;
mod query;
mod remote;
#[cfg(feature = "remote")]
mod remote_file;
mod tensogram_file;
mod value_reader;

pub use self::append::{AppendOptions, TornTail};
pub use self::data::Data;
pub use self::file_iter::FileMessageIter;
pub use self::iter::{MessageIter, ObjectIter, data_object_inline_hashes, messages, objects, objects_metadata};
pub use self::message_reader::{MessageBytes, MessageReader, StreamOptions, StreamPart};
#[cfg(feature = "mmap")]
pub use self::mmap::{Advice, MappedFile};
pub use self::query::query;
pub use self::remote::RemoteScanOptions;
pub use self::tensogram_file::TensogramFile;
pub use self::value_reader::{ValueEvent, ValueReader};
pub use crate::read::is_remote_url;
pub use crate::scan::MessageLayout;
