//! Tensogram with std: codecs, files, decoding into owned values, and the `tgm` tool.
//!
//! The borrowed views are those of [`tgm_core`], which this crate hands out wherever it can. What stands here is what needs
//! an allocator or an operating system:
//!
//! | want | take |
//! |---|---|
//! | one message, decoded | [`decode()`], [`decode_object`], [`decode_range`], [`decode_with_masks`] |
//! | values of a borrowed object | [`values`], [`ranges`] |
//! | the same into the caller's buffers | [`values_into`], [`elements_into`], [`unpack_into`], [`ranges_into`] |
//! | a message of values, into a buffer that is kept or not | [`encode_into`], [`encode()`] |
//! | any object of a message at once | [`ObjectTable`] |
//! | a file, message by message | [`TensogramFile`] |
//! | a file, mapped and borrowed | [`MappedFile`] |
//! | where messages are | [`scan()`], [`scan_file`] |
//! | a value of the metadata | [`GlobalMetadata::get`], [`GlobalMetadata::get_at`] |
//! | the CBOR of descriptors and metadata | [`metadata`] |
//! | everything that is wrong with a message or file | [`validate_message`], [`validate_file`] |
//! | messages of version 2 | [`v2`], which makes them version 3 |
//! | stages of the pipeline by themselves | [`simple_packing`], [`mod@shuffle`], [`pipeline`] |
//! | ZIO messages with tensors | `zio`, with that feature |
//!
//! Names, arguments and results of the functions are those that users of the reference crate know.

// Before anything else that names zstd: c-blosc2 brings a zstd of its own, and the linker takes the one of the crate that
// is named last. A test of `codec::zstd` asks which one it was.
#[cfg(feature = "blosc2")]
extern crate blosc2_sys as _;
#[cfg(feature = "zstd")]
extern crate zstd as _;

mod budget;
mod builder;
mod cbor;
pub mod codec;
pub mod compat;
pub mod decode;
pub mod doctor;
pub mod encode;
pub mod error;
pub mod file;
pub mod framing;
pub mod hash;
mod hint;
pub mod iter;
pub mod kernels;
mod leftover;
pub mod limits;
mod masks;
mod memory;
pub mod meta_access;
pub mod metadata;
#[cfg(feature = "mmap")]
pub mod mmap;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub mod object_table;
pub mod options;
mod params;
pub mod pipeline;
pub mod range;
pub mod remote_scan_parse;
mod room;
pub mod scan;
pub mod scan_opts;
pub mod shuffle;
pub mod simple_packing;
pub mod streaming;
pub mod threads;
mod to_owned;
pub mod types;
pub mod v2;
pub mod validate;
pub mod wire;
#[cfg(feature = "zio")]
pub mod zio;

pub use budget::{DecodeBudget, Spending};
pub use builder::{MessageBuilder, ObjectBuilder};
pub use decode::{
    Scratch, decode, decode_descriptors, decode_metadata, decode_object, decode_object_from_frame, decode_with_masks,
    elements_into, unpack_into, values, values_into,
};
pub use encode::{encode, encode_into, encode_pre_encoded};
pub use error::{Reason, Result, TensogramError};
pub use file::{AppendOptions, FileMessageIter, TensogramFile, TornTail};
pub use hash::{HASH_ALGORITHM_NAME, compute_hash, parse_hash_name};
pub use hint::Hint;
pub use iter::{MessageIter, ObjectIter, data_object_inline_hashes, messages, objects, objects_metadata};
pub use leftover::Leftover;
pub use limits::DecodeLimits;
pub use meta_access::{MetaType, MetaValue};
pub use metadata::{RESERVED_KEY, compute_common, verify_canonical_cbor};
#[cfg(feature = "mmap")]
pub use mmap::{Advice, MappedFile};
pub use object_table::ObjectTable;
pub use options::{
    AggregateHashPolicy, Blosc2Codec, CompressionBackend, DEFAULT_PARALLEL_THRESHOLD_BYTES,
    DEFAULT_SIMPLE_PACKING_BITS, DecodeOptions, ENV_COMPRESSION_BACKEND, ENV_THREADS, EncodeOptions, MaskMethod,
    Provenance, ValueOrder,
};
pub use pipeline::{DataPipeline, apply_pipeline};
pub use range::{
    decode_range, decode_range_from_frame, decode_range_from_payload, element_ranges_into, ranges, ranges_into,
};
pub use remote_scan_parse::{
    BackwardCommit, BackwardOutcome, ForwardOutcome, footer_region_present, is_remote_url, parse_backward_postamble,
    parse_forward_preamble, same_message_check, validate_backward_preamble,
};
pub use scan::{MessageLayout, ScanOptions, Segments, scan, scan_file, scan_file_with_options, scan_with_options};
pub use scan_opts::RemoteScanOptions;
pub use streaming::StreamingEncoder;
pub use tgm_core as core;
pub use tgm_core::descriptor::{ByteOrder, Dtype};
pub use tgm_core::wire::{FrameType, MessageFlags, WIRE_VERSION};
pub use types::{
    DataObjectDescriptor, DecodedMaskSet, DecodedObject, DecodedObjectWithMasks, GlobalMetadata, HashFrame, IndexFrame,
    MaskDescriptor, MasksMetadata,
};
pub use validate::{
    FileIssue, FileValidationReport, IssueCode, IssueSeverity, ValidateOptions, ValidationIssue, ValidationLevel,
    ValidationReport, validate_buffer, validate_file, validate_message,
};

/// Element types, under the path that users of the reference crate know.
pub mod dtype {
    pub use tgm_core::descriptor::Dtype;
}

/// Addresses of object stores, under the path that users of the reference crate know.
pub mod remote {
    pub use crate::remote_scan_parse::is_remote_url;
}

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The examples of the guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../doc/GUIDE.md")]
struct Guide;
