//! Every public name at each of its paths, with its signature: if this compiles, all of them exist.

#![allow(clippy::type_complexity, clippy::extra_unused_lifetimes, reason = "this file is about types")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Cursor};
use std::path::Path;

use ciborium::Value;
use tensogram::doctor::{
    BackendVersion, BuildInfo, DoctorReport, FeatureKind, FeatureState, FeatureStatus, Linkage, SelfTestOutcome,
    SelfTestResult,
};
use tensogram::framing::{DecodedMessage, EncodedObject, HashFramePolicy};
use tensogram::wire::{FrameHeader, Postamble, Preamble};
use tensogram::{
    AggregateHashPolicy, BackwardCommit, BackwardOutcome, ByteOrder, CompressionBackend, DataObjectDescriptor,
    DataPipeline, DecodeOptions, DecodedMaskSet, DecodedObject, DecodedObjectWithMasks, Dtype, EncodeOptions,
    FileIssue, FileMessageIter, FileValidationReport, ForwardOutcome, FrameType, GlobalMetadata, HashFrame, IndexFrame,
    IssueCode, IssueSeverity, MaskDescriptor, MaskMethod, MasksMetadata, MessageFlags, MessageIter, MessageLayout,
    MetaType, MetaValue, ObjectIter, RemoteScanOptions, Result, ScanOptions, StreamingEncoder, TensogramError,
    TensogramFile, ValidateOptions, ValidationIssue, ValidationLevel, ValidationReport,
};

type Extents = Vec<(usize, usize)>;
type Entries = BTreeMap<String, Value>;

/// The functions.
pub(crate) fn functions() {
    use tensogram::{decode as d, framing as f, hash as h, metadata as m, remote_scan_parse as r, validate as v};

    let _: [fn(&GlobalMetadata, &[(&DataObjectDescriptor, &[u8])], &EncodeOptions) -> Result<Vec<u8>>; 4] = [
        tensogram::encode,
        tensogram::encode_pre_encoded,
        tensogram::encode::encode,
        tensogram::encode::encode_pre_encoded,
    ];
    let _: [fn(&[u8], &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObject>)>; 2] =
        [tensogram::decode, d::decode];
    let _: [fn(&[u8]) -> Result<GlobalMetadata>; 3] =
        [tensogram::decode_metadata, d::decode_metadata, f::decode_metadata_only];
    let _: [fn(&[u8]) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)>; 2] =
        [tensogram::decode_descriptors, d::decode_descriptors];
    let _: [fn(&[u8], usize, &DecodeOptions) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)>; 2] =
        [tensogram::decode_object, d::decode_object];
    let _: [fn(&[u8], usize, &[(u64, u64)], &DecodeOptions) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)>; 2] =
        [tensogram::decode_range, d::decode_range];
    let _: [fn(&DataObjectDescriptor, &[u8], &[(u64, u64)], &DecodeOptions) -> Result<Vec<Vec<u8>>>; 2] =
        [tensogram::decode_range_from_payload, d::decode_range_from_payload];
    let _: [fn(&[u8], &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObjectWithMasks>)>; 2] =
        [tensogram::decode_with_masks, d::decode_with_masks];
    let _: fn(&[u8], &DecodeOptions) -> Result<(DataObjectDescriptor, Vec<u8>)> = d::decode_object_from_frame;
    let _: fn(&[u8], &[(u64, u64)], &DecodeOptions) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> =
        d::decode_range_from_frame;

    let _: [fn(&[u8]) -> Extents; 2] = [tensogram::scan, f::scan];
    let _: [fn(&[u8], &ScanOptions) -> Extents; 2] = [tensogram::scan_with_options, f::scan_with_options];
    let _: [fn(&mut Cursor<Vec<u8>>) -> Result<Extents>; 2] =
        [|file| tensogram::scan_file(file), |file| f::scan_file(file)];
    let _: [fn(&mut Cursor<Vec<u8>>, &ScanOptions) -> Result<Extents>; 2] = [
        |file, options| tensogram::scan_file_with_options(file, options),
        |file, options| f::scan_file_with_options(file, options),
    ];
    let _: [fn(&[u8]) -> Result<Vec<Option<u64>>>; 2] =
        [tensogram::data_object_inline_hashes, f::data_object_inline_hashes];
    let _: [for<'a> fn(&'a [u8]) -> MessageIter<'a>; 2] = [tensogram::messages, tensogram::iter::messages];
    let _: [fn(&[u8], DecodeOptions) -> Result<ObjectIter>; 2] = [tensogram::objects, tensogram::iter::objects];
    let _: [fn(&[u8]) -> Result<Vec<DataObjectDescriptor>>; 2] = [
        |message| tensogram::objects_metadata(message).map(Iterator::collect),
        |message| tensogram::iter::objects_metadata(message).map(Iterator::collect),
    ];

    let _: [fn(&[Entries]) -> (Entries, Vec<Entries>); 2] = [tensogram::compute_common, m::compute_common];
    let _: [fn(&[u8]) -> Result<()>; 2] = [tensogram::verify_canonical_cbor, m::verify_canonical_cbor];
    let _: fn(&GlobalMetadata) -> Result<Vec<u8>> = m::global_metadata_to_cbor;
    let _: fn(&[u8]) -> Result<GlobalMetadata> = m::cbor_to_global_metadata;
    let _: fn(&DataObjectDescriptor) -> Result<Vec<u8>> = m::object_descriptor_to_cbor;
    let _: fn(&[u8]) -> Result<DataObjectDescriptor> = m::cbor_to_object_descriptor;
    let _: fn(&IndexFrame) -> Result<Vec<u8>> = m::index_to_cbor;
    let _: fn(&[u8]) -> Result<IndexFrame> = m::cbor_to_index;
    let _: fn(&HashFrame) -> Result<Vec<u8>> = m::hash_frame_to_cbor;
    let _: fn(&[u8]) -> Result<HashFrame> = m::cbor_to_hash_frame;

    let _: [fn(&[u8]) -> String; 2] = [tensogram::compute_hash, h::compute_hash];
    let _: [fn(Option<&str>) -> Result<bool>; 2] = [tensogram::parse_hash_name, h::parse_hash_name];
    let _: fn(&[u8], FrameType) -> Result<u64> = h::hash_frame_body;
    let _: fn(&[u8], FrameType) -> Result<bool> = h::check_frame_hash;
    let _: fn(&[u8], FrameType, Option<usize>) -> Result<()> = h::verify_frame_hash;

    let _: [fn(&mut DataObjectDescriptor, Option<&[f64]>, &DataPipeline, &str) -> std::result::Result<(), String>; 2] =
        [tensogram::apply_pipeline, tensogram::pipeline::apply_pipeline];

    let _: [fn(&[u8], &ValidateOptions) -> ValidationReport; 2] = [tensogram::validate_message, v::validate_message];
    let _: [fn(&[u8], &ValidateOptions) -> FileValidationReport; 2] = [tensogram::validate_buffer, v::validate_buffer];
    let _: [fn(&Path, &ValidateOptions) -> io::Result<FileValidationReport>; 2] =
        [|path, options| tensogram::validate_file(path, options), |path, options| v::validate_file(path, options)];

    let _: [fn(&[u8], u64, u64, u64) -> ForwardOutcome; 2] =
        [tensogram::parse_forward_preamble, r::parse_forward_preamble];
    let _: [fn(&[u8], u64, u64) -> BackwardOutcome; 2] =
        [tensogram::parse_backward_postamble, r::parse_backward_postamble];
    let _: [fn(&[u8], u64, u64) -> BackwardCommit; 2] =
        [tensogram::validate_backward_preamble, r::validate_backward_preamble];
    let _: [fn(u64, u64, u64, u64) -> bool; 2] = [tensogram::same_message_check, r::same_message_check];
    let _: [fn(u64, u64) -> bool; 2] = [tensogram::footer_region_present, r::footer_region_present];

    let _: fn(&GlobalMetadata, &[EncodedObject], bool, HashFramePolicy) -> Result<Vec<u8>> = f::encode_message;
    let _: for<'a> fn(&'a [u8]) -> Result<DecodedMessage<'a>> = f::decode_message;
    let _: fn(&DataObjectDescriptor, &[u8], bool, bool) -> Result<Vec<u8>> = f::encode_data_object_frame;
    let _: for<'a> fn(&'a [u8]) -> Result<(DataObjectDescriptor, &'a [u8], &'a [u8], usize)> =
        f::decode_data_object_frame;
    let _: fn(FrameType) -> usize = tensogram::wire::footer_size_for;
    let _: fn() -> DoctorReport = tensogram::doctor::run_diagnostics;
    let _: fn() -> Vec<SelfTestResult> = tensogram::doctor::run_self_test;
}

/// The methods.
pub(crate) fn methods() {
    type M = GlobalMetadata;
    let _: fn(&M) -> usize = M::num_objects;
    let _: for<'a> fn(&'a M, &str) -> Option<&'a Value> = M::get_value;
    let _: for<'a> fn(&'a M, usize, &str) -> Option<&'a Value> = M::get_value_at;
    let _: for<'a> fn(&'a M, &str) -> Option<MetaValue<'a>> = M::get;
    let _: for<'a> fn(&'a M, usize, &str) -> Option<MetaValue<'a>> = M::get_at;
    let _: fn(&M, &str) -> bool = M::contains;
    let _: fn(&M, usize, &str) -> bool = M::contains_at;
    let _: for<'a> fn(&'a M, usize) -> Option<MetaValue<'a>> = M::object;
    let _: [for<'a> fn(&'a M) -> MetaValue<'a>; 2] = [M::extra_view, M::reserved_view];

    let _: fn(&DataObjectDescriptor) -> Result<usize> = DataObjectDescriptor::num_elements;
    let _: fn(&MasksMetadata) -> bool = MasksMetadata::is_empty;
    let _: fn(&DecodedMaskSet) -> bool = DecodedMaskSet::is_empty;
    let _: fn(&Dtype) -> usize = |dtype| dtype.byte_width() + dtype.swap_unit_size();
    let _: fn() -> ByteOrder = ByteOrder::native;
    let _: fn(&MaskMethod) -> &'static str = MaskMethod::name;

    type F = TensogramFile;
    let _: [fn(&Path) -> Result<F>; 2] = [|path| F::open(path), |path| F::create(path)];
    let _: fn(String, Option<RemoteScanOptions>) -> Result<F> = |source, options| F::open_source(source, options);
    let _: fn(&F) -> Result<usize> = F::message_count;
    let _: fn(&F) -> Result<Vec<MessageLayout>> = F::message_layouts;
    let _: fn(&mut F, &GlobalMetadata, &[(&DataObjectDescriptor, &[u8])], &EncodeOptions) -> Result<()> = F::append;
    let _: fn(&F, usize) -> Result<Vec<u8>> = F::read_message;
    #[allow(deprecated, reason = "the method must exist")]
    let _: fn(&F) -> Result<Vec<Vec<u8>>> = F::messages;
    let _: fn(&F, usize, &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObject>)> = F::decode_message;
    let _: fn(&F, usize) -> Result<GlobalMetadata> = F::decode_metadata;
    let _: fn(&F, usize) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> = F::decode_descriptors;
    let _: fn(&F, usize, usize, &DecodeOptions) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> =
        F::decode_object;
    let _: fn(&F, usize, usize, &[(u64, u64)], &DecodeOptions) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> =
        F::decode_range;
    let _: fn(&F) -> Result<FileMessageIter> = F::iter;
    let _: for<'a> fn(&'a F) -> Option<&'a Path> = F::path;
    let _: fn(&F) -> String = F::source;
    let _: fn(&F) -> bool = F::is_remote;
    let _: fn(&mut F) = F::invalidate_offsets;

    type S = StreamingEncoder<Cursor<Vec<u8>>>;
    let _: fn(Cursor<Vec<u8>>, &GlobalMetadata, &EncodeOptions) -> Result<S> = S::new;
    let _: fn(&mut S, Entries) -> Result<()> = S::write_preceder;
    let _: [fn(&mut S, &DataObjectDescriptor, &[u8]) -> Result<()>; 2] = [S::write_object, S::write_object_pre_encoded];
    let _: [fn(S) -> Result<Cursor<Vec<u8>>>; 2] = [S::finish, S::finish_with_backfill];
    let _: [fn(&mut S) -> Result<Vec<u8>>; 2] = [S::finish_and_reset, S::finish_and_reset_with_backfill];
    let _: fn(&S) -> usize = S::object_count;
    let _: fn(&S) -> u64 = S::bytes_written;

    let _: fn(&[u8]) -> Result<Preamble> = Preamble::read_from;
    let _: fn(&Preamble, &mut Vec<u8>) = Preamble::write_to;
    let _: fn(&[u8]) -> Result<FrameHeader> = FrameHeader::read_from;
    let _: fn(&FrameHeader, &mut Vec<u8>) = FrameHeader::write_to;
    let _: fn(&[u8]) -> Result<Postamble> = Postamble::read_from;
    let _: fn(&Postamble, &mut Vec<u8>) = Postamble::write_to;
    let _: fn(u16) -> MessageFlags = MessageFlags::new;
    let _: fn(MessageFlags) -> u16 = MessageFlags::bits;
    let _: fn(MessageFlags, u16) -> bool = MessageFlags::has;
    let _: fn(&mut MessageFlags, u16) = MessageFlags::set;
    let _: fn(MessageFlags) -> bool = MessageFlags::has_metadata;
    let _: fn(FrameType) -> bool = FrameType::is_data_object;

    let _: [fn(&ValidationReport) -> bool; 2] = [ValidationReport::is_ok, |report| report.hash_verified];
    let _: [fn(&FileValidationReport) -> bool; 2] = [FileValidationReport::is_ok, FileValidationReport::hash_verified];
    let _: fn(&FileValidationReport) -> usize = FileValidationReport::total_objects;
}

/// The methods of values. Their results borrow from the metadata, not from the value.
pub(crate) fn of_values<'a>() {
    type V<'a> = MetaValue<'a>;
    let _: fn(&V<'a>) -> MetaType = V::value_type;
    let _: [fn(&V<'a>) -> bool; 2] = [V::is_null, V::is_empty];
    let _: fn(&V<'a>) -> Option<bool> = V::as_bool;
    let _: fn(&V<'a>) -> Option<i64> = V::as_i64;
    let _: fn(&V<'a>) -> Option<u64> = V::as_u64;
    let _: fn(&V<'a>) -> Option<f64> = V::as_f64;
    let _: fn(&V<'a>) -> Option<&'a str> = V::as_str;
    let _: fn(&V<'a>) -> Option<&'a [u8]> = V::as_bytes;
    let _: fn(&V<'a>) -> usize = V::len;
    let _: [fn(&V<'a>, usize) -> Option<V<'a>>; 2] = [V::get_index, V::value_at];
    let _: fn(&V<'a>, &str) -> Option<V<'a>> = V::get_key;
    let _: fn(&V<'a>, &str) -> bool = V::contains_key;
    let _: fn(&V<'a>, usize) -> Option<&'a str> = V::key_at;
}

/// The types of fields that no other part of this program uses.
pub(crate) fn fields() {
    let _: fn(&ValidateOptions) -> (&ValidationLevel, bool, bool) =
        |options| (&options.max_level, options.check_canonical, options.checksum_only);
    let _: fn(&ValidationReport) -> (&Vec<ValidationIssue>, usize) = |report| (&report.issues, report.object_count);
    let _: fn(&ValidationIssue) -> (&IssueCode, &ValidationLevel, &IssueSeverity) =
        |issue| (&issue.code, &issue.level, &issue.severity);
    let _: fn(&ValidationIssue) -> (Option<usize>, Option<usize>, &str) =
        |issue| (issue.object_index, issue.byte_offset, &issue.description);
    let _: fn(&FileValidationReport) -> (&Vec<FileIssue>, &Vec<ValidationReport>) =
        |report| (&report.file_issues, &report.messages);
    let _: fn(&FileIssue) -> (usize, usize, &str) = |issue| (issue.byte_offset, issue.length, &issue.description);
    let _: fn(&EncodeOptions) -> (bool, &CompressionBackend, u32, Option<usize>, usize, &AggregateHashPolicy) = |o| {
        let threads = (o.threads, o.parallel_threshold_bytes);
        (o.hashing, &o.compression_backend, threads.0, threads.1, o.small_mask_threshold_bytes, &o.aggregate_hash)
    };
    let _: fn(&EncodeOptions) -> (bool, bool, [&MaskMethod; 3]) =
        |o| (o.allow_nan, o.allow_inf, [&o.nan_mask_method, &o.pos_inf_mask_method, &o.neg_inf_mask_method]);
    let _: fn(&DecodeOptions) -> (bool, &CompressionBackend, u32, Option<usize>, bool, bool) = |o| {
        let threads = (o.threads, o.parallel_threshold_bytes);
        (o.native_byte_order, &o.compression_backend, threads.0, threads.1, o.restore_non_finite, o.verify_hash)
    };
    let _: fn(&MaskDescriptor) -> (&String, u64, u64, &Entries) = |m| (&m.method, m.offset, m.length, &m.params);
    let _: fn(&DoctorReport) -> (&BuildInfo, &Vec<FeatureStatus>, &Vec<SelfTestResult>) =
        |report| (&report.build, &report.features, &report.self_test);
    let _: fn(&FeatureStatus) -> (&FeatureKind, &FeatureState) = |feature| (&feature.kind, &feature.state);
    let _: fn(&SelfTestResult) -> (&str, &SelfTestOutcome) = |result| (&result.label, &result.outcome);
    let _: fn(&BuildInfo) -> (&String, u16) = |build| (&build.version, build.wire_version);
    let _: fn(&BackendVersion) -> &Linkage = |backend| &backend.linkage;
    let _: fn(MessageLayout) -> (u64, u64) = |layout| (layout.offset, layout.length);
}

/// Names at the paths of their modules; the crate's root has them too.
#[allow(unused_imports, reason = "only their existence is tested")]
mod paths {
    use tensogram::decode::{DecodeOptions, DecodedMaskSet, DecodedObjectWithMasks};
    use tensogram::dtype::Dtype;
    use tensogram::encode::{AggregateHashPolicy, EncodeOptions, MaskMethod};
    use tensogram::error::{Result, TensogramError};
    use tensogram::file::{MessageLayout, TensogramFile};
    use tensogram::framing::ScanOptions;
    use tensogram::hash::HASH_ALGORITHM_NAME;
    use tensogram::iter::{FileMessageIter, MessageIter, ObjectIter};
    use tensogram::meta_access::{MetaType, MetaValue};
    use tensogram::metadata::RESERVED_KEY;
    use tensogram::pipeline::{DEFAULT_SIMPLE_PACKING_BITS, DataPipeline};
    use tensogram::remote_scan_parse::{BackwardCommit, BackwardOutcome, ForwardOutcome};
    use tensogram::scan_opts::RemoteScanOptions;
    use tensogram::streaming::StreamingEncoder;
    use tensogram::types::{
        ByteOrder, DataObjectDescriptor, DecodedObject, GlobalMetadata, HashFrame, IndexFrame, MaskDescriptor,
        MasksMetadata,
    };
    use tensogram::validate::{
        FileIssue, FileValidationReport, IssueCode, IssueSeverity, ValidateOptions, ValidationIssue, ValidationLevel,
        ValidationReport,
    };
    use tensogram::wire::{
        DATA_OBJECT_FOOTER_SIZE, DataObjectFlags, END_MAGIC, FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE,
        FRAME_MAGIC, FrameFlags, FrameHeader, FrameType, MAGIC, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble,
        Preamble, WIRE_VERSION,
    };
}

/// Types of validation, which are also in a module of their own.
#[allow(unused_imports, reason = "only their existence is tested")]
mod validate_types {
    use tensogram::validate::types::{
        FileIssue, FileValidationReport, IssueCode, IssueSeverity, ValidateOptions, ValidationIssue, ValidationLevel,
        ValidationReport,
    };
}

/// The traits that let programs keep values in threads, structures and error types.
pub(crate) fn bounds() {
    fn shared<T: Send + Sync + 'static>() {}
    fn plain<T: Clone + std::fmt::Debug + Send + Sync + 'static>() {}
    fn copied<T: Copy + std::fmt::Debug + Send + Sync + 'static>() {}
    fn defaulted<T: Default>() {}
    fn compared<T: Clone + std::fmt::Debug + Eq>() {}
    fn in_words<T: std::fmt::Display>() {}
    fn serialized<T: serde::Serialize + serde::de::DeserializeOwned>() {}
    fn reported<T: serde::Serialize>() {}
    fn error<T: Error + From<io::Error>>() {}

    shared::<TensogramFile>();
    shared::<FileMessageIter>();
    shared::<ObjectIter>();
    shared::<TensogramError>();
    error::<TensogramError>();
    plain::<GlobalMetadata>();
    plain::<DataObjectDescriptor>();
    plain::<IndexFrame>();
    plain::<HashFrame>();
    plain::<Preamble>();
    plain::<FrameHeader>();
    plain::<Postamble>();
    plain::<DataPipeline>();
    plain::<EncodeOptions>();
    plain::<DecodeOptions>();
    plain::<DecodedMaskSet>();
    plain::<DecodedObjectWithMasks>();
    defaulted::<GlobalMetadata>();
    defaulted::<IndexFrame>();
    defaulted::<MasksMetadata>();
    defaulted::<DecodedMaskSet>();
    defaulted::<DataPipeline>();
    defaulted::<EncodeOptions>();
    defaulted::<DecodeOptions>();
    defaulted::<ScanOptions>();
    defaulted::<RemoteScanOptions>();
    defaulted::<ValidateOptions>();
    defaulted::<MaskMethod>();
    defaulted::<CompressionBackend>();
    defaulted::<AggregateHashPolicy>();
    defaulted::<MessageFlags>();
    copied::<ByteOrder>();
    copied::<Dtype>();
    copied::<MetaType>();
    copied::<MetaValue<'static>>();
    copied::<CompressionBackend>();
    copied::<AggregateHashPolicy>();
    copied::<FrameType>();
    copied::<MessageFlags>();
    compared::<ByteOrder>();
    compared::<Dtype>();
    compared::<MetaType>();
    compared::<MaskMethod>();
    compared::<CompressionBackend>();
    compared::<AggregateHashPolicy>();
    compared::<FrameType>();
    compared::<MessageFlags>();
    compared::<ForwardOutcome>();
    compared::<BackwardOutcome>();
    compared::<BackwardCommit>();
    compared::<IssueCode>();
    compared::<IssueSeverity>();
    compared::<ValidationLevel>();
    in_words::<Dtype>();
    in_words::<TensogramError>();
    serialized::<Dtype>();
    serialized::<ByteOrder>();
    serialized::<GlobalMetadata>();
    serialized::<DataObjectDescriptor>();
    serialized::<MasksMetadata>();
    serialized::<MaskDescriptor>();
    reported::<ValidationReport>();
    reported::<FileValidationReport>();
    reported::<ValidationIssue>();
    reported::<IssueCode>();
    reported::<DoctorReport>();
}
