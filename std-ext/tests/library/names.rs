//! Names that programs use: each is where it was.
//!
//! The first page of the library lists few of them. Programs written for the crate `tensogram` look for all of them, at the root
//! and in its modules; a path that is gone fails to compile here.
#![allow(unused_imports, reason = "that they resolve is the test")]

mod root {
    #[cfg(feature = "mmap")]
    use tgm_std::{Advice, MappedFile};
    use tgm_std::{
        AggregateHashPolicy, AppendOptions, BackwardCommit, BackwardOutcome, Blosc2Codec, ByteOrder,
        CompressionBackend, DEFAULT_PARALLEL_THRESHOLD_BYTES, DEFAULT_SIMPLE_PACKING_BITS, DataObjectDescriptor,
        DataPipeline, DecodeBudget, DecodeLimits, DecodeOptions, DecodedMaskSet, DecodedObject, DecodedObjectWithMasks,
        Dtype, ENV_COMPRESSION_BACKEND, ENV_THREADS, EncodeOptions, FileIssue, FileMessageIter, FileValidationReport,
        ForwardOutcome, FrameType, GlobalMetadata, HASH_ALGORITHM_NAME, HashFrame, Hint, IndexFrame, IssueCode,
        IssueSeverity, Leftover, MaskDescriptor, MaskMethod, MasksMetadata, MessageBuilder, MessageFlags, MessageIter,
        MessageLayout, MetaType, MetaValue, ObjectBuilder, ObjectIter, ObjectTable, Provenance, RESERVED_KEY, Reason,
        RemoteScanOptions, Result, ScanOptions, Scratch, Segments, Spending, StreamingEncoder, TensogramError,
        TensogramFile, TornTail, ValidateOptions, ValidationIssue, ValidationLevel, ValidationReport, ValueOrder,
        WIRE_VERSION, apply_pipeline, compute_common, compute_hash, data_object_inline_hashes, decode,
        decode_descriptors, decode_metadata, decode_object, decode_object_from_frame, decode_range,
        decode_range_from_frame, decode_range_from_payload, decode_with_masks, encode, encode_into, encode_pre_encoded,
        footer_region_present, is_remote_url, messages, objects, objects_metadata, parse_backward_postamble,
        parse_forward_preamble, parse_hash_name, same_message_check, scan, scan_file, scan_file_with_options,
        scan_with_options, validate_backward_preamble, validate_buffer, validate_file, validate_message,
        verify_canonical_cbor,
    };
}

#[cfg(feature = "async")]
mod not_blocking {
    use tgm_std::AsyncStreamingEncoder;
    use tgm_std::streaming_async::AsyncStreamingEncoder as _;
}

mod modules {
    use tgm_std::decode::{DecodeOptions, decode, decode_object, decode_range};
    use tgm_std::doctor::{run_diagnostics, run_self_test};
    use tgm_std::dtype::Dtype;
    use tgm_std::encode::{EncodeOptions, MaskMethod, encode, encode_pre_encoded};
    use tgm_std::error::{Result, TensogramError};
    use tgm_std::file::{AppendOptions, MessageLayout, TensogramFile};
    use tgm_std::framing::{
        EncodedObject, HashFramePolicy, ScanOptions, data_object_inline_hashes, decode_data_object_frame,
        decode_message, decode_metadata_only, encode_data_object_frame, encode_message, scan,
    };
    use tgm_std::hash::{HASH_ALGORITHM_NAME, check_frame_hash, compute_hash, hash_frame_body};
    use tgm_std::iter::{FileMessageIter, MessageIter, ObjectIter, messages, objects, objects_metadata};
    use tgm_std::limits::DecodeLimits;
    use tgm_std::meta_access::{MetaType, MetaValue};
    use tgm_std::metadata::{RESERVED_KEY, compute_common};
    #[cfg(feature = "mmap")]
    use tgm_std::mmap::{Advice, MappedFile};
    use tgm_std::object_table::ObjectTable;
    use tgm_std::options::{CompressionBackend, DecodeOptions as _, ENV_THREADS};
    use tgm_std::pipeline::{DataPipeline, apply_pipeline, decode_pipeline, encode_pipeline};
    use tgm_std::range::decode_range as _;
    use tgm_std::remote::is_remote_url;
    use tgm_std::remote_scan_parse::{REASON_BAD_MAGIC_FWD, is_remote_url as _};
    use tgm_std::scan::{MessageLayout as _, scan as _};
    use tgm_std::scan_opts::{RemoteScanOptions, ScanOptions as _};
    use tgm_std::shuffle::{shuffle, unshuffle};
    use tgm_std::streaming::StreamingEncoder;
    use tgm_std::types::{DataObjectDescriptor, GlobalMetadata};
    use tgm_std::validate::types::IssueCode;
    use tgm_std::wire::{MAGIC, Preamble, footer_size_for};
    use tgm_std::{codec, simple_packing, threads, v2};
}

/// Names that the first page lists: what people reach for, and no more than they can look over.
#[test]
fn the_first_page_lists_at_most_40_names() {
    let source = include_str!("../../src/lib.rs");
    let code: String = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ");
    // What is inside of modules written out here is not at the root.
    let code = code.split("pub mod deps {").next().unwrap();
    let mut names = vec!["deps".to_string()];
    for item in code.split(';') {
        let Some(at) = item.find("pub ") else { continue };
        if item.contains("doc(hidden)") || item.contains("cfg(doctest)") {
            continue;
        }
        if let Some(module) = item[at..].strip_prefix("pub mod ") {
            names.push(module.trim().to_string());
        } else if let Some(path) = item[at..].strip_prefix("pub use ") {
            let listed = path.split_once('{').map_or(path.rsplit("::").next().unwrap(), |(_, list)| list);
            let listed = listed.trim_end_matches(['}', ' ']).split(',').map(str::trim).filter(|name| !name.is_empty());
            names.extend(listed.map(str::to_string));
        }
    }
    assert!((20..=40).contains(&names.len()), "{} names: {names:?}", names.len());
}
