//! Tensogram with std: codecs, files, and decoding into owned values.
//!
//! Views that borrow come from [`tgm_core`], here as [`core`]. This crate adds what needs an allocator or an operating system.
//!
//! # Read
//! | want | take |
//! |---|---|
//! | messages of any source, and objects in them that are not read yet | [`Archive`], [`archive::Message`], [`archive::Object`] |
//! | values of an object of an archive | [`archive::Object::read`] |
//! | values of an object in memory | [`read()`] |
//! | bytes, borrowed where they can be; a vector; a buffer that the caller keeps | the last methods of a request: [`Read`] |
//! | ranges, or a box of a tensor | [`Read::ranges`], [`Read::select`] |
//! | arrays of the crate `ndarray` | `ndarray`, with that feature |
//! | one message, decoded into owned values | [`decode()`], [`decode_object`], [`decode_range`], [`decode::decode_metadata`] |
//!
//! # Write
//! | want | take |
//! |---|---|
//! | messages, object by object, to memory, a file, or anything with `write` | [`Writer`], [`ObjectBuilder`] |
//! | an object that keeps what it has to, and no more | [`ObjectBuilder::compress`] |
//! | a message from slices of numbers | [`MessageBuilder`], [`ObjectBuilder`] |
//! | a message from descriptors and bytes | [`encode()`], [`encode::encode_into`] |
//! | a message that is not in memory as a whole | [`StreamingEncoder`] |
//! | one stage of the pipeline by itself | [`stages`] |
//! | messages out of a fuzzer's bytes | the package `tgm-arbitrary` |
//!
//! # Files
//! | want | take |
//! |---|---|
//! | messages of a path, an address, bytes, a map, or anything that can seek | [`Archive`] |
//! | a file, read at positions or appended to | [`TensogramFile`], [`file::AppendOptions`] |
//! | a file, mapped, whose messages are borrowed | `MappedFile`, with feature `mmap` |
//! | messages of a pipe or socket, as they come | [`file::MessageReader`] |
//! | where messages are in bytes | [`scan()`], [`file::messages`] |
//! | a file on a server or in an object store | [`TensogramFile::open_source`], `TensogramFile::open_remote`, with feature `remote` |
//! | messages of the program's own source | [`Archive::from_fetch`], [`read::RangeFetch`] |
//! | … whose bytes the program fetches by itself: event loops, browsers, flash | [`read::Steps`] |
//! | the objects with certain metadata | [`Archive::query`], or a catalogue of the file, by the crate `tgm-catalog` |
//!
//! # Describe
//! | want | take |
//! |---|---|
//! | what an object is | [`DataObjectDescriptor`], [`Dtype`], [`ByteOrder`] |
//! | what a message says of itself, and its CBOR | [`GlobalMetadata`], [`metadata`] |
//! | metadata as a type of the program | [`metadata::deserialize`] |
//! | the types whose values an object can hold | [`encode::Number`] |
//!
//! # Trust
//! | want | take |
//! |---|---|
//! | whether a message is intact | [`check_message`] |
//! | everything that is wrong with a message or a file | [`validate::validate_message`], [`validate::validate_file`] |
//! | digests checked while decoding, and bounds on memory | [`DecodeOptions`] and its [`limits`](DecodeOptions::limits) |
//! | what went wrong, and at which byte | [`TensogramError`]; [`cause`](TensogramError::cause) and its [`offset`](tgm_core::Error::offset) |
//!
//! # Other formats and other programs
//! | want | take |
//! |---|---|
//! | messages of version 2 | [`v2`](mod@v2) makes them version 3 |
//! | ZIO messages with tensors, and FLOW | the crate `tgm-zio` |
//! | GRIB, NetCDF, Zarr, numpy, safetensors and CSV as Tensogram, and back | the crate `tgm-convert` |
//! | where the values of a grid are | the crate `tgm-grid` |
//! | names and texts of files on a screen | [`harmless`] |
//! | a program written for the crate `tensogram` | [`compat`]. All names of `tensogram` are at the root; this page hides them |
//! | the crates whose types stand in signatures | [`deps`] |
//!
//! # Layers
//! A module imports only from rows below its own. Modules of one row do not import each other. `.ci/layers` checks both.
//!
//! | layer | what it knows |
//! |---|---|
//! | `internal` | what the packages beside this one take |
//! | `doctor` | which features this build has, each tested |
//! | `compat` | the names of the crate `tensogram` |
//! | `ndarray` | arrays of another library |
//! | `archive` | messages and objects of any source |
//! | `validate` | everything that is wrong with a message or a file |
//! | `v2` | messages of version 2 |
//! | `file` | files and the messages in them |
//! | `remote` | servers and object stores |
//! | `read` | what to read next of any source, to find messages and parts of them |
//! | `stages` | single stages |
//! | `encode`, `decode` | messages |
//! | `scan` | where messages are |
//! | `model` | owned descriptors and metadata |
//! | `base` | errors, limits, options |
//!
//! Codecs, kernels, memory and threads are in the package `tgm-codec` below all of these.
//!
//! # How this crate grows
//! Versions follow the rules of Cargo. As long as the first number is 0, only a new second number may break programs. The
//! oldest supported compiler is Rust 1.94 (`rust-version` in `Cargo.toml`), and only a new second number may require a newer
//! one. A program is safe from smaller releases if it follows the last column:
//!
//! | items | how they grow | what a program does |
//! |---|---|---|
//! | option structures: [`EncodeOptions`], [`DecodeOptions`], [`DecodeLimits`], [`AppendOptions`] … | public fields, more in any release | ends literals with `..Default::default()` |
//! | enums that may grow: [`TensogramError`], [`Hint`], [`IssueCode`], [`Leftover`], [`ValueOrder`], [`TornTail`], [`encode::Part`] … | `#[non_exhaustive]`, more variants in any release | ends matches with `_ =>` |
//! | enums of the format and of the crate `tensogram`: [`Dtype`], [`ByteOrder`], [`MaskMethod`], [`AggregateHashPolicy`], [`CompressionBackend`], [`MetaType`] … | complete, more variants with a new second number only | matches all variants, if it likes |
//! | descriptors and metadata: [`DataObjectDescriptor`], [`GlobalMetadata`], [`MaskDescriptor`] … | the format's fields, more with a new second number only | writes all fields |
//! | the modules `internal`, `codec` and `doctor`, which are hidden | change in any release | does not use them |
//!
//! Option structures are not `#[non_exhaustive]`, because programs for `tensogram` write them as literals. Enums of
//! `tensogram` are not either, because such programs match on all variants.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod archive;
mod base;
pub mod compat;
pub mod decode;
#[doc(hidden)]
pub mod doctor;
pub mod encode;
pub mod file;
#[doc(hidden)]
pub mod internal;
mod model;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod read;
#[cfg(feature = "remote")]
pub mod remote;
#[doc(hidden)]
pub mod scan;
pub mod stages;
pub mod v2;
pub mod validate;

#[doc(hidden)]
pub use tgm_codec as codec;
pub use tgm_core as core;
pub use tgm_core::descriptor::{ByteOrder, Dtype};

#[cfg(feature = "async")]
pub use archive::AsyncArchive;
pub use archive::{Archive, Writer};
#[doc(hidden)]
pub use archive::{Message, Object};
pub use base::error::{self, Result, TensogramError};
pub use base::harmless;
#[doc(hidden)]
pub use base::interrupt;
pub use base::options::{self, DecodeOptions, EncodeOptions};
#[doc(hidden)]
pub use decode::{Picks, decode_object, decode_range};
pub use decode::{Read, Scratch, decode, read};
pub use encode::{Compress, MessageBuilder, ObjectBuilder, StreamingEncoder, encode};
#[cfg(feature = "mmap")]
pub use file::MappedFile;
pub use file::TensogramFile;
pub use model::metadata;
pub use model::types::{DataObjectDescriptor, GlobalMetadata};
#[doc(hidden)]
pub use scan::scan;
pub use validate::check_message;

#[doc(hidden)]
pub use compat::names::*;

/// The crates whose types stand in the signatures of this one, in the versions that fit.
///
/// ```
/// use tgm_std::deps::ciborium::Value;
/// use tgm_std::{MessageBuilder, ObjectBuilder};
///
/// let levels = Value::Array(vec![500.into(), 850.into()]);
/// let object = ObjectBuilder::new(&[2], &[1.0, 2.0])?.metadata("levels", levels);
/// assert!(MessageBuilder::new().object(object).encode().is_ok());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub mod deps {
    #[cfg(feature = "ndarray")]
    pub use ::ndarray;
    pub use ciborium;
    pub use half;
    #[cfg(feature = "num-complex")]
    pub use num_complex;
    pub use serde;
    pub use zerocopy;
}

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples of the package's README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadme;
