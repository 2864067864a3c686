//! The C interface of Tensogram: the functions that `include/tensogram.h` declares.
//!
//! Every function has the same shape. It turns its pointers into references, calls safe code, and writes its results:
//!
//! ```text
//! call ─ catch a panic ─ check pointers ─ safe code of `tgm_std` ─ write the results
//!                                                              └─ or keep the error, and return its code
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `call` | the only place that catches panics |
//! | `args` | pointers as references, slices and texts; memory for results |
//! | `locks` | locks of handles that change |
//! | `error` | codes, and the last error of each thread |
//! | `buffers` | memory that the caller frees |
//! | `json_in`, `json_out` | metadata and descriptors as JSON |
//! | `asynchronous` | functions that do not block |
//! | `options` | options of C as options of `tgm_std` |
//! | all others | the functions, a file for each group of the header |
//!
//! # Contract
//! The caller keeps what the header says, in its first comment and at each function:
//!
//! - A pointer is NULL or points to what its type says, for as long as the call lasts or as the header says.
//! - A handle comes from this library. It is freed once, when no other call uses it.
//! - What a call reads does not change during the call. What a call writes is used by no one else during the call, and
//!   lies apart from what it reads.
//!
//! This is what the `SAFETY` comments of this crate mean by "the header's contract".
#![allow(unsafe_code, reason = "pointers come from C; each block says what it relies on")]
#![allow(unreachable_pub, reason = "C reaches functions by their names, and types through them")]
#![allow(clippy::missing_safety_doc, reason = "the contract is the same for all functions, and stands above")]

#[cfg(panic = "abort")]
compile_error!("a panic would end the program that calls this library: build it with `panic = \"unwind\"`");

mod archive;
mod archive_object;
mod archive_source;
mod args;
#[cfg(feature = "async")]
mod asynchronous;
mod buffers;
mod builder;
mod call;
mod catalog;
#[cfg(feature = "dataset")]
mod dataset;
mod decode;
mod dlpack;
mod encode;
mod error;
mod file;
mod hash;
mod iterators;
mod json_in;
mod json_out;
mod last_error;
mod locks;
mod message;
mod metadata;
mod object;
mod object_facts;
mod object_list;
mod objects;
mod options;
mod ranges;
mod request;
mod scan;
mod streaming;
mod turns;
mod validate;
mod value;
mod version;
mod writer;

#[cfg(test)]
mod tests;
