//! Files of messages (FORMAT §5.7).
//!
//! A file is a sequence of messages. [`TensogramFile`] scans it once, when the first message is asked for, and reads
//! only preambles and postambles for that. After that any number of threads read messages through `&self`. Each read is
//! a positioned read without a lock. Only the requested parts of a message larger than 256 KiB are read.
//! [`crate::MappedFile`] does the same with a memory map, and its messages are borrowed from the map.
//!
//! What cannot be read at positions, such as a pipe or a socket, is read by a [`MessageReader`], message by message.
//!
//! # What holds after an append returns
//!
//! | | [`AppendOptions::sync`] | without |
//! |---|---|---|
//! | the message is seen by every reader | yes | yes |
//! | … is there after this process was killed | yes | yes |
//! | … is there after a crash of the system, or a loss of power | yes | when a later append with `sync` to this file has returned, or the system has written the file by itself |
//!
//! Messages that wait in an [`Appender`] are appended when [`Appender::flush`] returns.
//!
//! # What a crash leaves, and what readers do with it
//!
//! *The process is killed.* The file holds all messages whose append has returned, and perhaps a torn message after them:
//! the beginning of a message, or a whole one without its magic. Scans recognise the frames of a torn message, so a
//! message inside its payload does not count as a message of the file ([`tgm_core::scan`]).
//!
//! *The system crashes, `sync` was on.* The file holds all messages whose append has returned, after them perhaps some whole
//! messages whose append has not returned, and bytes that belong to no message. No message is torn.
//!
//! *The system crashes, `sync` was off.* All messages up to the last append with `sync` are there, unchanged, and scans find
//! them. After them anything may be left of the later messages. A message may be listed although part of its payload was
//! lost and reads as zeros, and messages inside payloads may be listed. Digests tell: what
//! [`crate::DecodeOptions::verify_hash`] accepts is what was written.
//!
//! In each case readers list the messages, and skip the bytes that belong to none of them
//! ([`TensogramFile::torn_tail`]). The next append refuses or removes such bytes at the end of the file ([`TornTail`]).
//!
//! This relies on the disk: a wait (`fsync`) ends when the bytes are there, sectors are written whole, and bytes of a file
//! that were never written read as zeros. A torn message that holds more than 256 messages is the one exception: a
//! second crash, while it is removed, may leave some of them listed.

pub(crate) mod append;
#[cfg(feature = "async")]
mod async_file;
mod decode;
mod file_iter;
pub(crate) mod identity;
pub(crate) mod in_order;
pub mod iter;
mod message_bytes;
mod message_reader;
mod message_runs;
#[cfg(feature = "mmap")]
pub mod mmap;
mod positioned;
mod query;
mod remote;
#[cfg(feature = "remote")]
mod remote_backing;
#[cfg(feature = "remote")]
mod remote_file;
#[cfg(not(target_family = "wasm"))]
pub mod replace;
mod tensogram_file;

pub use self::append::{AppendOptions, Appender, GroupAppender, TornTail};
pub use self::file_iter::FileMessageIter;
pub use self::iter::{MessageIter, ObjectIter, data_object_inline_hashes, messages, objects, objects_metadata};
pub use self::message_reader::{MessageBytes, MessageReader, StreamOptions, StreamPart};
pub use self::message_runs::Data;
#[cfg(feature = "mmap")]
pub use self::mmap::{Advice, MappedFile};
pub use self::query::query;
pub use self::remote::RemoteScanOptions;
pub use self::tensogram_file::TensogramFile;
#[cfg(all(feature = "async", not(feature = "remote")))]
pub(crate) use self::tensogram_file::without_remote;
pub use crate::base::foreign::{KINDS as FOREIGN_KINDS, kind_of};
pub use crate::base::source_name::SourceName;
pub use crate::read::is_remote_url;
pub use crate::scan::MessageLayout;
