//! Names at the root of this crate that its first page does not list.
//!
//! A program written for the crate `tensogram` expects most of them at the root. Each is documented in its own module.

pub use crate::base::budget::{DecodeBudget, Spending};
pub use crate::base::error::Reason;
pub use crate::base::hint::Hint;
pub use crate::base::limits;
pub use crate::base::limits::DecodeLimits;
pub use crate::base::options::{
    AggregateHashPolicy, Blosc2Codec, CompressionBackend, DEFAULT_PARALLEL_THRESHOLD_BYTES,
    DEFAULT_SIMPLE_PACKING_BITS, ENV_COMPRESSION_BACKEND, ENV_THREADS, MaskMethod, Provenance, ValueOrder,
};
pub use crate::compat::pipeline::{DataPipeline, apply_pipeline};
pub use crate::compat::remote_scan_parse::{
    BackwardCommit, BackwardOutcome, ForwardOutcome, footer_region_present, parse_backward_postamble,
    parse_forward_preamble, same_message_check, validate_backward_preamble,
};
pub use crate::compat::{framing, pipeline, remote_scan_parse, wire};
pub use crate::decode::{
    Float, ObjectTable, decode_descriptors, decode_metadata, decode_object_from_frame, decode_range_from_frame,
    decode_range_from_payload, decode_with_masks, object_table, range,
};
#[cfg(feature = "async")]
pub use crate::encode::AsyncStreamingEncoder;
pub use crate::encode::{Number, encode_into, encode_pre_encoded, streaming};
#[cfg(feature = "mmap")]
pub use crate::file::{Advice, mmap};
pub use crate::file::{
    AppendOptions, FileMessageIter, MessageIter, ObjectIter, RemoteScanOptions, TornTail, data_object_inline_hashes,
    is_remote_url, messages, objects, objects_metadata,
};
pub use crate::model::hash::{HASH_ALGORITHM_NAME, compute_hash, parse_hash_name};
pub use crate::model::meta_access::{MetaType, MetaValue};
pub use crate::model::metadata::{RESERVED_KEY, compute_common, verify_canonical_cbor};
pub use crate::model::types::{
    DecodedMaskSet, DecodedObject, DecodedObjectWithMasks, HashFrame, IndexFrame, MaskDescriptor, MasksMetadata,
};
pub use crate::model::{hash, meta_access, types};
pub use crate::scan::{MessageLayout, ScanOptions, Segments, scan_file, scan_file_with_options, scan_with_options};
pub use crate::stages::{shuffle, simple_packing};
pub use crate::validate::{
    FileIssue, FileValidationReport, IssueCode, IssueSeverity, Leftover, ValidateOptions, ValidationIssue,
    ValidationLevel, ValidationReport, validate_buffer, validate_file, validate_message,
};
pub use tgm_codec::threads;
pub use tgm_core::wire::{FrameType, MessageFlags, WIRE_VERSION};

/// Iteration over messages and objects.
pub mod iter {
    pub use crate::file::FileMessageIter;
    pub use crate::file::iter::*;
}

/// Element types.
pub mod dtype {
    pub use tgm_core::descriptor::Dtype;
}

/// Addresses of object stores.
#[cfg(not(feature = "remote"))]
pub mod remote {
    pub use crate::file::is_remote_url;
}

/// Messages to writers of tokio.
#[cfg(feature = "async")]
pub mod streaming_async {
    pub use crate::encode::AsyncStreamingEncoder;
}

/// Options of scanning.
pub mod scan_opts {
    pub use crate::file::RemoteScanOptions;
    pub use crate::scan::ScanOptions;
}
