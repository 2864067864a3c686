//! Validation: the findings recorded of the reference, agreement with the decoder, and every code alone.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::collections::{BTreeMap, BTreeSet};

use ciborium::Value;
use serde_json::{Value as Json, json};
use tgm_std::validate::{
    IssueCode as Code, IssueSeverity as Severity, ValidateOptions, ValidationLevel as Level, ValidationReport,
    validate_buffer, validate_file, validate_message,
};
use tgm_std::{DecodeBudget, DecodeLimits, DecodeOptions, MessageBuilder, ObjectBuilder, TensogramError};
use tgm_tests::Rng;
use tgm_tests::alloc::measure;
use tgm_tests::builder::{Built, Frame, Message, Object, array, frame_type, map};
use tgm_tests::corpus::{self, Sample};
use tgm_tests::messages::{broken, plain, with};

/// The most bytes that a validation may hold at once, beyond a few copies of the message.
const MEMORY: u64 = 64 << 20;

fn at(max_level: Level) -> ValidateOptions {
    ValidateOptions { max_level, ..Default::default() }
}

/// Bytes that messages may decode to: enough for all messages here but the bombs.
const BUDGET: DecodeBudget = DecodeBudget { max_message_bytes: Some(12 << 20), max_file_bytes: None };

fn like_reference(max_level: Level) -> ValidateOptions {
    ValidateOptions { like_reference: true, ..at(max_level) }
}

fn full(bytes: &[u8]) -> ValidationReport {
    validate_message(bytes, &at(Level::Fidelity))
}

fn codes(report: &ValidationReport) -> Vec<Code> {
    report.issues.iter().map(|issue| issue.code).collect()
}

fn lacks_codec(report: &ValidationReport) -> bool {
    report.issues.iter().any(|issue| issue.description.contains("not compiled in"))
}

// Findings recorded of the reference.

/// A finding as sidecars record it: severity, code, and the object where that is recorded.
type Finding = (String, String, Option<u64>);

fn recorded(issues: &Json, with_object: bool, bytes: &[u8]) -> BTreeSet<Finding> {
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let issues = issues.as_array().unwrap().iter().map(|issue| {
        let code = if with_object { &issue[2] } else { &issue[1] };
        (text(&issue[0]), on_this_machine(text(code), bytes), issue[3].as_u64().filter(|_| with_object))
    });
    issues.collect()
}

/// The code that this machine gives for one recorded on a 64-bit machine: a length beyond its addresses has another
/// code.
fn on_this_machine(code: String, bytes: &[u8]) -> String {
    let stated = bytes.get(16..).and_then(|rest| rest.first_chunk()).map(|length| u64::from_be_bytes(*length));
    let is_addressable = stated.is_none_or(|length| usize::try_from(length).is_ok());
    match code.as_str() {
        "total_length_exceeds_buffer" if !is_addressable => Code::TotalLengthOverflow.to_string(),
        _ => code,
    }
}

/// Whether `finding` of the reference only repeats other findings of `all`.
fn is_repetition(finding: &Finding, all: &BTreeSet<Finding>) -> bool {
    let has = |code: &str| all.iter().any(|other| other.1 == code);
    match finding.1.as_str() {
        "decoded_size_mismatch" => has("shape_overflow"),
        "footer_offset_mismatch" => has("footer_offset_out_of_range"),
        "pipeline_config_failed" => has("unknown_encoding") || has("unknown_filter") || has("unknown_compression"),
        code => code.strip_suffix("_non_canonical").is_some_and(|cbor| has(&format!("{cbor}_parse_failed"))),
    }
}

fn found(report: &ValidationReport, with_object: bool) -> BTreeSet<Finding> {
    let object = |index: Option<usize>| index.filter(|_| with_object).map(|index| index as u64);
    let issues = report.issues.iter();
    issues.map(|issue| (issue.severity.to_string(), issue.code.to_string(), object(issue.object_index))).collect()
}

/// Each message of a sample, the findings of the reference at its default and its full level, and whether they name
/// objects.
fn with_records(sample: &Sample) -> Vec<(&[u8], Json, Json, bool)> {
    if sample.class == "malformed" {
        let other = &sample.json["other"];
        let value = |name: &str| other[name]["value"].clone();
        return vec![(&sample.bytes, value("validate_default"), value("validate_full"), false)];
    }
    let messages = sample.json["messages"].as_array().into_iter().flatten();
    let messages = messages.map(|message| {
        let (offset, length) = (message["offset"].as_u64().unwrap(), message["length"].as_u64().unwrap());
        let range = usize::try_from(offset).unwrap()..usize::try_from(offset + length).unwrap();
        let default = message["validate_default"].clone();
        let full = if message["validate_full"] == "same" { &default } else { &message["validate_full"] };
        (&sample.bytes[range], default.clone(), full.clone(), true)
    });
    messages.collect()
}

/// Samples in which findings differ from the reference's on purpose, by reason.
const DELIBERATE: &[(&str, &[&str])] = &[
    (
        "frames are found also if they are not at the next multiple of 8",
        &[
            "layout/padding-extra64",
            "layout/padding-extra8",
            "layout/padding-none",
            "malformed/frame/padding-fake-frame-header",
            "malformed/frame/padding-ones",
            "malformed/frame/padding-removed",
        ],
    ),
    (
        "streamed messages are delimited by their frames: the recorded bytes begin in a payload",
        &["layout/stream-fake-preamble-in-payload"],
    ),
    (
        "decoded lengths are compared with the shape for every codec, by the decoder and therefore at level 3",
        &[
            "malformed/codec/bomb-2p40-blosc2",
            "malformed/codec/bomb-2p40-lz4",
            "malformed/codec/bomb-2p40-shuffle",
            "malformed/codec/bomb-2p40-sz3",
            "malformed/codec/bomb-2p40-zstd",
            "malformed/codec/lz4-prefix-huge",
            "malformed/codec/zstd-bomb-1gib",
            "malformed/codec/zstd-shape-larger",
            "malformed/codec/zstd-shape-smaller",
            "malformed/descriptor/sz3-shape-larger",
            "malformed/descriptor/zfp-dtype-f32",
            "quirks/zfp-float32",
        ],
    ),
    (
        "payloads that the reference decodes to wrong values are refused",
        &[
            "malformed/codec/zfp-truncated",
            "malformed/descriptor/zfp-rate-64",
            "malformed/descriptor/zfp-rate-negative",
            "quirks/sp12-szip",
            "quirks/sp20-szip",
            "quirks/sz3-float32",
            "quirks/sz3-shuffle",
            "quirks/sz3-simple-packing",
            "quirks/zfp-shuffle",
            "quirks/zfp-simple-packing",
        ],
    ),
    (
        "masks must lie inside the payload region before anything is decoded",
        &[
            "malformed/mask/mask-rle-length-too-long",
            "malformed/mask/mask-rle-length-u64max",
            "malformed/mask/mask-rle-offset-at-descriptor",
            "malformed/mask/mask-rle-offset-length-overflow",
            "malformed/mask/mask-rle-offset-past",
            "malformed/mask/mask-rle-offset-u64max",
        ],
    ),
    ("metadata that decoding refuses is refused here too", &["malformed/metadata/truncated"]),
    (
        "parameters of simple_packing are read under the names they had before 0.19",
        &[
            "malformed/descriptor/sp-old-keys",
            "versions/0.17.0/sp16-old-keys",
            "versions/0.17.0/sp16-old-keys-szip",
            "versions/0.18.0/sp16-old-keys",
            "versions/0.18.0/sp16-old-keys-szip",
        ],
    ),
    (
        "the reference decodes masks of method blosc2 only when it has used that codec before",
        &["malformed-bases/mask-blosc2", "masks/method-blosc2"],
    ),
];

#[test]
fn findings_are_those_recorded_of_the_reference() {
    let mut differing: BTreeMap<String, String> = BTreeMap::new();
    let mut compared = 0;
    for sample in corpus::samples() {
        for (bytes, default, full, with_object) in with_records(&sample) {
            for (level, record) in [(Level::Integrity, default), (Level::Fidelity, full)] {
                let options = ValidateOptions { check_canonical: true, ..like_reference(level) };
                if record["issues"].is_null() {
                    continue;
                }
                let report = validate_message(bytes, &options);
                let (ours, mut theirs) = (found(&report, with_object), recorded(&record["issues"], with_object, bytes));
                let all = theirs.clone();
                theirs.retain(|finding| ours.contains(finding) || !is_repetition(finding, &all));
                let verified = record["hash_verified"].as_bool().unwrap();
                compared += 1;
                if !lacks_codec(&report) && (ours != theirs || report.hash_verified != verified) {
                    let only = |a: &BTreeSet<Finding>, b| a.difference(b).map(|f| f.1.clone()).collect::<Vec<_>>();
                    let text = format!("ours {:?}, theirs {:?}", only(&ours, &theirs), only(&theirs, &ours));
                    differing.insert(sample.name.clone(), text);
                }
            }
        }
    }
    let expected: BTreeSet<&str> = DELIBERATE.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let unexpected: Vec<_> = differing.iter().filter(|(name, _)| !expected.contains(name.as_str())).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let agreeing: Vec<_> = expected.iter().filter(|name| !differing.contains_key(**name)).collect();
    assert!(agreeing.is_empty(), "these agree and must be taken off the list: {agreeing:?}");
    assert!(compared > 1500, "{compared}");
}

/// The default adds findings and keeps the errors of the reference. One error is gone: messages of 0.17 to 0.20 need no
/// flagged digests.
#[test]
fn the_default_finds_at_least_what_the_reference_finds() {
    for sample in corpus::samples() {
        let strict = full(&sample.bytes);
        let like = validate_message(&sample.bytes, &like_reference(Level::Fidelity));
        for issue in like.errors() {
            let is_found =
                strict.errors().any(|other| (other.code, other.object_index) == (issue.code, issue.object_index));
            assert!(is_found || issue.code == Code::HashVerificationError, "{}: {issue:?}", sample.name);
        }
    }
}

// Agreement with the decoder.

#[test]
fn valid_files_have_no_errors_except_non_finite_values() {
    let mut messages = 0;
    for sample in corpus::samples().iter().filter(|sample| sample.class == "valid") {
        let report = validate_buffer(&sample.bytes, &at(Level::Fidelity));
        for message in report.messages.iter().filter(|message| !lacks_codec(message)) {
            for issue in message.errors() {
                assert!(matches!(issue.code, Code::NanDetected | Code::InfDetected), "{}: {issue:?}", sample.name);
            }
            messages += 1;
        }
    }
    assert!(messages > 400, "{messages}");
}

#[test]
fn every_message_that_the_decoder_refuses_has_an_error() {
    let mut refused = 0;
    for sample in corpus::samples() {
        let decoded = tgm_std::decode(&sample.bytes, &DecodeOptions::default());
        let report = full(&sample.bytes);
        if let Err(error) = &decoded {
            assert!(!report.is_ok(), "{}: {error}, but {report:?}", sample.name);
            refused += 1;
        }
        if let Ok(message) = tgm_core::Message::parse(&sample.bytes)
            && let Ok(outline) = message.outline()
        {
            for index in 0..outline.object_count {
                if let Err(error) = message.object(index) {
                    assert!(!report.is_ok(), "{}: {error}, but {report:?}", sample.name);
                }
                let ranges = tgm_std::decode_range(&sample.bytes, index, &[(0, 1)], &DecodeOptions::default());
                // A tensor without elements has no first element.
                let is_empty = message.object(index).is_ok_and(|object| object.descriptor().element_count() == 0);
                if let Err(error) = ranges
                    && !is_empty
                {
                    assert!(!report.is_ok(), "{}: {error}, but {report:?}", sample.name);
                }
            }
        }
        let verify = DecodeOptions { verify_hash: true, ..Default::default() };
        let verified = tgm_std::decode(&sample.bytes, &verify);
        let checksum = ValidateOptions { checksum_only: true, ..Default::default() };
        let report = validate_message(&sample.bytes, &checksum);
        if let Err(TensogramError::HashMismatch { .. }) = verified {
            assert!(codes(&report).contains(&Code::HashMismatch), "{}: {report:?}", sample.name);
        }
        assert!(decoded.is_err() || !report.hash_verified || verified.is_ok(), "{}: {report:?}", sample.name);
    }
    assert!(refused > 150, "{refused}");
}

#[test]
fn files_and_buffers_have_the_same_report() {
    for sample in corpus::samples() {
        let options = ValidateOptions { check_canonical: true, ..at(Level::Fidelity) };
        let of_buffer = validate_buffer(&sample.bytes, &options);
        for threads in [1, 3] {
            let options = ValidateOptions { threads, ..options.clone() };
            assert_eq!(validate_file(&sample.path, &options).unwrap(), of_buffer, "{}", sample.name);
        }
        let scanned = tgm_std::scan(&sample.bytes);
        assert_eq!(of_buffer.messages.len(), scanned.len(), "{}", sample.name);
        let inside: usize = scanned.iter().map(|(_, length)| length).sum();
        let outside: usize = of_buffer.file_issues.iter().map(|issue| issue.length).sum();
        assert_eq!(inside + outside, sample.bytes.len(), "{}", sample.name);
    }
}

// Every code alone.

fn metadata(metadata: &Value) -> Built {
    Message::buffered_with(metadata, [Object::bytes(&[1])]).build()
}

fn raw(frames: impl IntoIterator<Item = Frame>) -> Built {
    Message { frames: frames.into_iter().collect(), ..Message::empty() }.build()
}

fn header() -> Frame {
    Frame::metadata(frame_type::HEADER_METADATA, &map([]))
}

fn object() -> Frame {
    Frame::object(Object::bytes(&[1]))
}

fn reserved(value: Value) -> Built {
    metadata(&map([("base", array([map([("_reserved_", value)])]))]))
}

/// A map whose keys are in the wrong order.
const UNSORTED: &[u8] = &[0xa2, 0x62, b'b', b'b', 1, 0x61, b'a', 2];

/// {"a": 1, "a": 2}
const REPEATED: &[u8] = &[0xa2, 0x61, b'a', 1, 0x61, b'a', 2];

/// {"hashes": [], "hashes": []}
const NO_OBJECTS_TWICE: &[u8] = b"\xa2\x66hashes\x80\x66hashes\x80";

/// An object that szip encoded, with these `szip_block_offsets`.
fn with_offsets(offsets: impl Into<Value>) -> Built {
    let values: Vec<u8> = (0..=255).collect();
    let object = ObjectBuilder::new(&[256], &values).unwrap().szip();
    let bytes = MessageBuilder::new().object(object).encode().unwrap();
    let object = tgm_core::Message::parse(&bytes).unwrap().object_by_walk(0).unwrap();
    let mut copy = Object::bytes(object.payload()).set("shape", array([Value::from(256)])).set("compression", "szip");
    for key in ["szip_rsi", "szip_block_size", "szip_flags"] {
        let value = object.descriptor().parameter(key).unwrap().unwrap().as_u64().unwrap();
        copy = copy.set(key, value);
    }
    with(copy.set("szip_block_offsets", offsets))
}

/// Two objects of 8 MiB each, stored in a few bytes.
fn two_bombs() -> Built {
    let bomb = || Object::packed(&[1 << 20], [], 1.0, (0, 0), 0);
    Message::buffered([bomb(), bomb()]).build()
}

/// A code, a message that has it, and the codes that must be found after it.
type Specimen = (Code, Built, &'static [Code]);

/// For each code, bytes in which it is found first, and the codes that must be found after it.
fn specimens() -> Vec<(Code, Vec<u8>, &'static [Code])> {
    let mut streamed = Message::streamed([]).build().bytes;
    streamed.truncate(40);
    let built = structure_specimens().into_iter().chain(metadata_specimens()).chain(value_specimens());
    let mut all: Vec<_> = built.map(|(code, built, more)| (code, built.bytes, more)).collect();
    all.push((Code::BufferTooShort, b"TENSOGRM".to_vec(), &[]));
    all.push((Code::PostambleInvalid, streamed, &[]));
    all
}

/// A hash list in the header.
fn hashes(list: &[&str], algorithm: &str) -> Frame {
    let list = array(list.iter().map(|&text| Value::from(text)));
    Frame::metadata(frame_type::HEADER_HASH, &map([("hashes", list), ("algorithm", Value::from(algorithm))]))
}

fn structure_specimens() -> Vec<Specimen> {
    vec![
        (Code::InvalidMagic, broken(plain(), "preamble.magic", b"t"), &[]),
        (Code::PreambleParseFailed, broken(plain(), "preamble.version", &[0, 2]), &[]),
        (Code::TotalLengthExceedsBuffer, broken(plain(), "preamble.total_length", &1_000_000_u64.to_be_bytes()), &[]),
        #[cfg(not(target_pointer_width = "64"))]
        (Code::TotalLengthOverflow, broken(plain(), "preamble.total_length", &[1]), &[]),
        (Code::TotalLengthTooSmall, broken(plain(), "preamble.total_length", &47_u64.to_be_bytes()), &[]),
        (Code::PostambleInvalid, broken(plain(), "postamble.magic", b"4"), &[]),
        (Code::PostambleInvalid, broken(plain(), "postamble.total_length", &[1]), &[]),
        (Code::FooterOffsetOutOfRange, broken(plain(), "postamble.first_footer_offset", &[1]), &[]),
        (Code::FooterOffsetMismatch, broken(plain(), "postamble.first_footer_offset", &24_u64.to_be_bytes()), &[]),
        (Code::TruncatedFrameHeader, raw([header(), object().padded([b'F', b'R', 0])]), &[]),
        (Code::InvalidFrameHeader, broken(raw([header(), object()]), "frame 1.type", &[0, 4]), &[]),
        (Code::FrameLengthOverflow, broken(raw([header(), object()]), "frame 1.total_length", &[0xff; 8]), &[]),
        (Code::FrameTooSmall, broken(raw([header(), object()]), "frame 1.total_length", &35_u64.to_be_bytes()), &[]),
        (Code::FrameExceedsMessage, broken(raw([header(), object()]), "frame 1.total_length", &[1]), &[]),
        (Code::MissingEndMarker, broken(raw([header(), object()]), "frame 1.end", b"E_DF"), &[]),
        (Code::FrameOrderViolation, raw([object(), header()]), &[]),
        (
            Code::PrecederNotFollowedByObject,
            raw([header(), Frame::preceder(&map([])), Frame::preceder(&map([])), object()]),
            &[],
        ),
        (Code::DanglingPreceder, raw([header(), Frame::preceder(&map([]))]), &[]),
        (Code::CborOffsetInvalid, broken(raw([header(), object()]), "frame 1.cbor_offset", &[1]), &[]),
        (
            Code::CborBeforeBoundaryUnknown,
            broken(
                raw([header(), Frame::object(Object::bytes(&[1]).descriptor_first())]),
                "frame 1.descriptor",
                &[0xff],
            ),
            &[],
        ),
        (Code::NonZeroPadding, raw([header(), object().padded(*b"some text")]), &[]),
        (Code::FlagMismatch, broken(plain(), "preamble.flags", &[0, 0x91]), &[]),
        (Code::NoMetadataFrame, raw([object()]), &[]),
        (Code::ReservedNotZero, broken(plain(), "preamble.reserved", &[0, 0, 0, 1]), &[]),
        (Code::UnknownMessageFlags, broken(plain(), "preamble.flags", &[1, 0x95]), &[]),
        (Code::UnknownFrameFlags, broken(plain(), "frame 3.flags", &[0x80, 3]), &[]),
        (Code::UnknownFrameFlags, broken(plain(), "frame 0.flags", &[0, 3]), &[]),
        (Code::UnknownFrameVersion, broken(plain(), "frame 0.version", &[0, 9]), &[]),
        (Code::FrameOffGrid, raw([header().padded([]), object()]), &[]),
        (Code::FrameOffGrid, raw([header().padded([0; 8]), object()]), &[]),
        (
            Code::FrameOffGrid,
            // The second frame is off the grid. The third one is on it, but inside what other readers take for padding.
            raw([header().padded([0; 4]), header().padded([0; 2]), object()]),
            &[Code::FrameOffGrid],
        ),
    ]
}

fn metadata_specimens() -> Vec<Specimen> {
    use frame_type as ty;
    vec![
        (Code::MetadataCborParseFailed, raw([Frame::raw(ty::HEADER_METADATA, [0xff]), object()]), &[]),
        (Code::MetadataCborNonCanonical, raw([Frame::raw(ty::HEADER_METADATA, UNSORTED), object()]), &[]),
        (Code::IndexCborParseFailed, raw([header(), Frame::raw(ty::HEADER_INDEX, [0x80]), object()]), &[]),
        (Code::IndexCountMismatch, raw([header(), Frame::changed_index(ty::HEADER_INDEX, Vec::clear), object()]), &[]),
        (
            Code::IndexOffsetMismatch,
            raw([header(), Frame::changed_index(ty::HEADER_INDEX, |e| e[0].0 += 8), object()]),
            &[],
        ),
        (
            Code::IndexOffsetMismatch,
            raw([header(), Frame::changed_index(ty::HEADER_INDEX, |e| e[0].1 += 8), object()]),
            &[],
        ),
        (Code::HashFrameCborParseFailed, raw([header(), Frame::raw(ty::FOOTER_HASH, [0x80])]), &[]),
        (Code::HashFrameCountMismatch, raw([header(), hashes(&["0"], "xxh3")]), &[]),
        (Code::PrecederCborParseFailed, raw([header(), Frame::raw(ty::PRECEDER, [0x80]), object()]), &[]),
        (
            Code::PrecederCborNonCanonical,
            raw([
                header(),
                Frame::raw(ty::PRECEDER, [&[0xa2, 0x64], &b"base"[..], &[0x81, 0xa0, 0x61, b'a', 2]].concat()),
                object(),
            ]),
            &[],
        ),
        (Code::PrecederBaseCountWrong, raw([header(), Frame::metadata(ty::PRECEDER, &map([])), object()]), &[]),
        (Code::BaseCountExceedsObjects, metadata(&map([("base", array([map([]), map([])]))])), &[]),
        (Code::DescriptorCborParseFailed, with(Object::bytes(&[1]).without("dtype")), &[]),
        (
            Code::DescriptorCborParseFailed,
            {
                let mut built = with(Object::f32(&[1], &[1.0]).masked("nan", "none", &[false]));
                built.replace("frame 3.descriptor", b"\x66length\x01", b"\x66length\x02");
                built
            },
            &[Code::HashMismatch],
        ),
        (
            Code::DescriptorCborNonCanonical,
            with({
                let mut object = Object::bytes(&[1]);
                object.descriptor.reverse();
                object
            }),
            &[],
        ),
        (Code::NdimShapeMismatch, with(Object::bytes(&[1]).set("ndim", 2)), &[]),
        (Code::StridesShapeMismatch, with(Object::bytes(&[1]).set("strides", array([]))), &[]),
        (Code::ShapeOverflow, with(Object::plain("uint8", &[1 << 40, 1 << 40], [1])), &[]),
        (Code::UnknownEncoding, with(Object::bytes(&[1]).set("encoding", "x")), &[]),
        (Code::UnknownFilter, with(Object::bytes(&[1]).set("filter", "x")), &[]),
        (Code::UnknownCompression, with(Object::bytes(&[1]).set("compression", "x")), &[]),
        (Code::EmptyObjType, with(Object::bytes(&[1]).set("type", "")), &[]),
        (
            Code::DuplicateKey,
            raw([Frame::raw(ty::HEADER_METADATA, REPEATED), object()]),
            &[Code::MetadataCborNonCanonical],
        ),
        (Code::DuplicateKey, raw([header(), Frame::raw(ty::HEADER_INDEX, NO_OBJECTS_TWICE)]), &[]),
        (
            Code::DuplicateKey,
            raw([header(), Frame::raw(ty::FOOTER_HASH, NO_OBJECTS_TWICE)]),
            &[Code::UnknownHashAlgorithm],
        ),
        (
            Code::DuplicateKey,
            raw([
                header(),
                Frame::raw(ty::PRECEDER, [&[0xa1, 0x64], &b"base"[..], &[0x81], REPEATED].concat()),
                object(),
            ]),
            &[Code::PrecederCborNonCanonical],
        ),
        (
            Code::DuplicateKey,
            with({
                let mut object = Object::bytes(&[1]).set("x", 1);
                let again = object.descriptor.iter().position(|(key, _)| key.as_text() == Some("x")).unwrap();
                object.descriptor.insert(again, (Value::from("x"), Value::from(2)));
                object
            }),
            &[Code::DescriptorCborNonCanonical],
        ),
        (Code::SzipBlockOffsetsWrongType, with_offsets("none"), &[]),
        (Code::SzipBlockOffsetsWrongType, with_offsets(array([Value::from(-1)])), &[]),
        (Code::SzipBlockOffsetsNotFromZero, with_offsets(array([Value::from(1)])), &[]),
        (Code::SzipBlockOffsetsNotFromZero, with_offsets(array([])), &[]),
        (Code::SzipBlockOffsetsNotIncreasing, with_offsets(array([0, 9, 9].map(Value::from))), &[]),
        (Code::SzipBlockOffsetsPastEnd, with_offsets(array([0, 1_000_000].map(Value::from))), &[]),
        (Code::ReservedNotAMap, reserved(Value::from(1)), &[]),
        (Code::ReservedMissingTensor, reserved(map([])), &[]),
    ]
}

fn value_specimens() -> Vec<Specimen> {
    use frame_type as ty;
    let f32s = |value: f32| with(Object::f32(&[2], &[0.0, value]));
    let unflagged = {
        let mut built = Message::buffered([Object::bytes(&[1]), Object::bytes(&[2])]).build();
        built.set("frame 4.flags", &[0, 1]);
        built
    };
    vec![
        (Code::HashMismatch, broken(plain(), "frame 3.payload", &[1]), &[]),
        (Code::HashMismatch, broken(plain(), "frame 0.hash", &[1]), &[]),
        (Code::HashMismatch, raw([header(), hashes(&["0123456789abcdef"], "xxh3"), object()]), &[]),
        (
            Code::HashMismatch,
            raw([
                header(),
                Frame::hashes(ty::HEADER_HASH),
                object(),
                Frame { frame_type: ty::FOOTER_HASH, ..hashes(&["0"], "xxh3") },
            ]),
            &[],
        ),
        (Code::HashVerificationError, unflagged, &[]),
        (Code::UnknownHashAlgorithm, raw([header(), hashes(&["0"], "md5"), object()]), &[]),
        (Code::NoHashAvailable, Message::buffered([Object::bytes(&[1])]).unhashed().build(), &[]),
        (
            Code::DecodePipelineFailed,
            with(Object::bytes(&[1; 9]).compressed("lz4").set("shape", array([8.into()]))),
            &[],
        ),
        (Code::DecodePipelineFailed, with(Object::packed(&[2], [0], 0.0, (0, 0), 16)), &[]),
        (Code::PipelineConfigFailed, with(Object::bytes(&[1]).set("filter", "shuffle")), &[]),
        (Code::PipelineConfigFailed, with(Object::bytes(&[1]).set("compression", "rle")), &[]),
        (Code::DecodeBudgetExceeded, two_bombs(), &[]),
        (Code::DecodeObjectFailed, with(Object::f32(&[9], &[0.0; 9]).masked("nan", "none", &[true; 4])), &[]),
        (Code::DecodeObjectFailed, with(Object::plain("bitmask", &[8], [1]).masked("nan", "none", &[true; 8])), &[]),
        (Code::DecodedSizeMismatch, with(Object::f32(&[2], &[1.0])), &[]),
        (Code::NanDetected, f32s(f32::NAN), &[]),
        (Code::InfDetected, f32s(f32::NEG_INFINITY), &[]),
    ]
}

fn with_canonical(max_level: Level) -> ValidateOptions {
    ValidateOptions { check_canonical: true, ..at(max_level) }
}

#[test]
fn every_code_is_found_alone_at_its_level_and_severity() {
    let mut missing: BTreeSet<Code> = Code::ALL.iter().copied().collect();
    for (code, bytes, more) in specimens() {
        let report = validate_message(&bytes, &ValidateOptions { budget: BUDGET, ..with_canonical(Level::Fidelity) });
        let expected: Vec<Code> = [&[code], more].concat();
        assert_eq!(codes(&report), expected, "{code}: {:#?}", report.issues);
        let issue = &report.issues[0];
        assert_eq!((issue.level, issue.severity), (code.level(), code.severity()));
        assert_eq!(report.is_ok(), code.severity() == Severity::Warning, "{code}");
        assert!(!issue.description.is_empty());
        // Lower levels do not report it, and codes of canonical form are reported only if asked for.
        for lower in [Level::Structure, Level::Metadata, Level::Integrity] {
            let report = validate_message(&bytes, &ValidateOptions { budget: BUDGET, ..at(lower) });
            let is_canonical = code.name().ends_with("non_canonical");
            assert_eq!(codes(&report).contains(&code), lower >= code.level() && !is_canonical, "{code} at {lower}");
        }
        missing.remove(&code);
    }
    // With 64-bit addresses no length overflows.
    let impossible = [Code::TotalLengthOverflow].into_iter().filter(|_| usize::BITS == 64);
    assert_eq!(missing, impossible.collect());
}

#[test]
fn checksum_only_leaves_out_warnings_about_structure_metadata_and_decoding() {
    let options = ValidateOptions { checksum_only: true, max_level: Level::Fidelity, ..Default::default() };
    for (code, bytes, _) in specimens() {
        let report = validate_message(&bytes, &options);
        let is_left_out = match code.level() {
            Level::Structure => code.severity() == Severity::Warning,
            Level::Metadata => !matches!(code, Code::HashFrameCborParseFailed),
            Level::Integrity => {
                matches!(code, Code::DecodePipelineFailed | Code::PipelineConfigFailed | Code::DecodeBudgetExceeded)
            }
            Level::Fidelity => true,
        };
        assert_eq!(codes(&report).contains(&code), !is_left_out, "{code}: {report:?}");
    }
    let bytes = raw([header(), Frame::raw(frame_type::FOOTER_HASH, [0x80])]).bytes;
    assert_eq!(validate_message(&bytes, &options).issues[0].level, Level::Integrity);
}

#[test]
fn like_reference_reports_only_what_the_reference_reports() {
    let object = Object::bytes(&[1]);
    let old = {
        // As 0.20 writes: no frame is flagged, every slot holds a digest.
        let mut built = Message::buffered([object]).build();
        for frame in 0..3 {
            built.set(&format!("frame {frame}.flags"), &[0, 0]);
        }
        built.set("frame 3.flags", &[0, 1]);
        built
    };
    for (bytes, strict, like) in [
        (broken(plain(), "frame 0.hash", &[1]).bytes, vec![Code::HashMismatch], vec![]),
        (broken(plain(), "frame 1.hash", &[1]).bytes, vec![Code::HashMismatch], vec![]),
        (broken(plain(), "frame 2.hash", &[1]).bytes, vec![Code::HashMismatch], vec![]),
        (broken(plain(), "postamble.total_length", &[1]).bytes, vec![Code::PostambleInvalid], vec![]),
        (old.bytes.clone(), vec![], vec![Code::HashVerificationError]),
        (broken(old, "frame 3.payload", &[9]).bytes, vec![Code::HashMismatch], vec![Code::HashVerificationError]),
        (broken(plain(), "preamble.flags", &[0, 0x15]).bytes, vec![], vec![Code::NoHashAvailable]),
    ] {
        let report = full(&bytes);
        assert_eq!(codes(&report), strict, "{report:?}");
        assert_eq!(report.hash_verified, strict.is_empty());
        let report = validate_message(&bytes, &like_reference(Level::Fidelity));
        assert_eq!(codes(&report), like, "{report:?}");
    }
    let report = full(&broken(plain(), "frame 1.hash", &[1]).bytes);
    assert_eq!((report.issues[0].object_index, report.issues[0].byte_offset), (None, Some(56)));
}

/// Codes for faults that the reference does not look for.
const OURS: &[Code] = &[
    Code::ReservedNotZero,
    Code::UnknownMessageFlags,
    Code::UnknownFrameFlags,
    Code::UnknownFrameVersion,
    Code::FrameOffGrid,
    Code::DuplicateKey,
    Code::SzipBlockOffsetsWrongType,
    Code::SzipBlockOffsetsNotFromZero,
    Code::SzipBlockOffsetsNotIncreasing,
    Code::SzipBlockOffsetsPastEnd,
];

#[test]
fn codes_unknown_to_the_reference_are_warnings_and_like_reference_leaves_them_out() {
    for code in OURS {
        assert_eq!(code.severity(), Severity::Warning, "{code}");
    }
    for (code, bytes, _) in specimens().into_iter().filter(|(code, ..)| OURS.contains(code)) {
        let like = ValidateOptions { check_canonical: true, ..like_reference(Level::Fidelity) };
        assert!(!codes(&validate_message(&bytes, &like)).contains(&code), "{code}");
        // The message decodes nevertheless.
        let decoded = tgm_std::decode(&bytes, &DecodeOptions::default());
        assert!(decoded.is_ok(), "{code}: {decoded:?}");
    }
}

/// Lists are checked even if frames hold no digests: as the reference checks them, and also against the bytes of the
/// objects.
#[test]
fn hash_lists_of_messages_without_digests_are_checked() {
    use frame_type as ty;
    let unhashed = |frames: Vec<Frame>| {
        let frames = [vec![header()], frames].concat();
        Message { frames, ..Message::empty() }.unhashed().build().bytes
    };
    let footer = |list: Frame| Frame { frame_type: ty::FOOTER_HASH, ..list };
    let good = || Frame::hashes(ty::HEADER_HASH);
    let other = || hashes(&["0123456789abcdef"], "xxh3");
    let missing = Code::NoHashAvailable;
    for (frames, expected, like) in [
        (vec![good(), object(), footer(good())], vec![missing], vec![missing]),
        (
            vec![hashes(&["0"], "md5"), object()],
            vec![missing, Code::UnknownHashAlgorithm],
            vec![missing, Code::UnknownHashAlgorithm],
        ),
        (vec![good(), object(), footer(other())], vec![missing, Code::HashMismatch], vec![missing, Code::HashMismatch]),
        // Without digests in frames, the reference has nothing to compare this list with.
        (vec![other(), object()], vec![missing, Code::HashMismatch], vec![missing]),
    ] {
        let bytes = unhashed(frames);
        assert_eq!(codes(&full(&bytes)), expected);
        assert_eq!(codes(&validate_message(&bytes, &like_reference(Level::Fidelity))), like);
    }
}

// Budgets.

#[test]
fn a_message_of_bombs_is_decoded_as_far_as_the_budget_allows() {
    let bomb = |n: u32| Object::packed(&[1 << 20], [], f64::from(n), (0, 0), 0);
    let good = Object::packed(&[4], [1; 8], 1.0, (0, 0), 16);
    let objects = [good, Object::bytes(&[1])].into_iter().chain((0..200).map(bomb));
    let bytes = Message::buffered(objects.chain([Object::f32(&[1], &[f32::NAN])])).build().bytes;
    let within = |budget| ValidateOptions { budget, ..at(Level::Fidelity) };
    let (report, usage) = measure(|| validate_message(&bytes, &within(BUDGET)));
    // Digests and objects that need no decoding are checked nevertheless.
    assert_eq!(codes(&report), [Code::DecodeBudgetExceeded, Code::NanDetected]);
    let issue = &report.issues[0];
    assert_eq!((issue.object_index, report.is_ok(), report.hash_verified), (Some(3), false, false));
    assert!(issue.description.contains("12582912") && issue.description.contains("max_message_bytes"), "{issue:?}");
    assert!(usage.peak < 20 << 20, "{} MiB", usage.peak >> 20);
    assert_eq!(codes(&validate_message(&bytes, &within(DecodeBudget::UNLIMITED))), [Code::NanDetected]);
    // Objects that the limits refuse do not use up the budget.
    let limits = DecodeLimits { max_decoded_bytes: 1 << 20, ..DecodeLimits::default() };
    let report = validate_message(&bytes, &ValidateOptions { limits, ..within(BUDGET) });
    assert_eq!(report.issues.iter().filter(|issue| issue.code == Code::DecodePipelineFailed).count(), 200);
}

#[test]
fn a_file_of_bombs_is_decoded_as_far_as_the_budget_allows() {
    // Long enough for threads.
    let bytes = two_bombs().bytes.repeat(400);
    assert!(bytes.len() > 64 << 10);
    let budget = DecodeBudget { max_message_bytes: None, max_file_bytes: Some(45 << 20) };
    let options = ValidateOptions { budget, ..at(Level::Integrity) };
    let report = validate_buffer(&bytes, &options);
    let refused: Vec<_> = report.messages.iter().map(|message| codes(message).len()).collect();
    // The budget is enough for five objects of 8 MiB: two messages and one object. Then each message has one finding.
    assert_eq!(refused, [vec![0; 2], vec![1; 398]].concat());
    assert_eq!(report.messages[2].issues[0].object_index, Some(1));
    assert_eq!(report.messages[3].issues[0].object_index, Some(0));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, &bytes).unwrap();
    // The messages that get something are those that one thread would give it to.
    for threads in [1, 3] {
        assert_eq!(
            validate_file(file.path(), &ValidateOptions { threads, ..options.clone() }).unwrap(),
            report,
            "{threads}"
        );
    }
}

#[test]
fn default_budgets_grow_with_the_number_of_bytes() {
    let bytes = Message::buffered([Object::packed(&[1 << 27], [], 1.0, (0, 0), 0)]).build().bytes;
    let gibibyte = tgm_core::Message::parse(&bytes).unwrap().object_by_walk(0).unwrap();
    let spent = |budget: DecodeBudget, len: u64| {
        let mut spending = budget.of_file(len);
        spending.begin_message(len);
        (0..1000).take_while(|_| spending.spend(&gibibyte, &DecodeLimits::default()).is_ok()).count()
    };
    assert_eq!(spent(DecodeBudget::default(), 600), 16);
    assert_eq!(spent(DecodeBudget::default(), 1 << 20), 32);
    let set = DecodeBudget { max_message_bytes: Some(100 << 30), max_file_bytes: Some(50 << 30) };
    assert_eq!(spent(set, 600), 50);
    assert_eq!(spent(DecodeBudget::UNLIMITED, 600), 1000);
}

#[test]
fn several_faults_are_all_found() {
    let object = Object::bytes(&[1]).set("ndim", 3).set("strides", array([])).set("encoding", "q").set("filter", "w");
    let bytes = with(object.set("compression", "e").set("type", "")).bytes;
    let expected = [
        Code::NdimShapeMismatch,
        Code::StridesShapeMismatch,
        Code::EmptyObjType,
        Code::UnknownEncoding,
        Code::UnknownFilter,
        Code::UnknownCompression,
    ];
    assert_eq!(codes(&full(&bytes)), expected);
    // The walk goes on after an object without a descriptor, and counts it.
    let mut built = Message::buffered([Object::bytes(&[1]), Object::bytes(&[2]).set("encoding", "q")]).build();
    built.set("frame 3.cbor_offset", &[1]);
    let report = full(&built.bytes);
    let objects: Vec<_> = report.issues.iter().filter_map(|issue| Some((issue.code, issue.object_index?))).collect();
    assert_eq!(objects, [(Code::CborOffsetInvalid, 0), (Code::UnknownEncoding, 1)]);
    assert_eq!(report.object_count, 1);
}

#[test]
fn non_finite_values_under_a_mask_are_not_reported() {
    let nan = f32::NAN;
    let masked = |values: &[f32], kind, bits: &[bool]| {
        ["none", "rle", "roaring", "lz4", "zstd"]
            .map(|method| full(&with(Object::f32(&[3], values).masked(kind, method, bits)).bytes))
    };
    for report in masked(&[1.0, nan, 2.0], "nan", &[false, true, false]) {
        assert!(report.is_ok() && report.hash_verified, "{report:?}");
    }
    // Restoring overwrites the stored value, whatever the kind of the mask.
    for report in masked(&[1.0, nan, 2.0], "inf-", &[false, true, false]) {
        assert!(report.is_ok(), "{report:?}");
    }
    for report in masked(&[nan, nan, f32::INFINITY], "nan", &[true, true, false]) {
        assert_eq!(codes(&report), [Code::InfDetected]);
        assert!(report.issues[0].description.contains("element 2"), "{report:?}");
    }
}

#[test]
fn masks_of_several_runs_and_kinds_together_cover_the_values() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let values = [nan, 1.0, nan, inf, 2.0, nan, inf];
    for method in ["none", "rle", "roaring", "zstd"] {
        let masked = |last: bool| {
            let nans = [true, false, true, false, false, true, false];
            let infs = [false, false, false, true, false, false, last];
            let object = Object::f32(&[7], &values).masked("nan", method, &nans).masked("inf+", method, &infs);
            full(&with(object).bytes)
        };
        assert!(masked(true).is_ok(), "{method}: {:?}", masked(true));
        let report = masked(false);
        assert_eq!(codes(&report), [Code::InfDetected], "{method}");
        assert!(report.issues[0].description.contains("element 6"), "{report:?}");
    }
}

// The form of reports.

#[test]
fn reports_have_the_json_form_of_the_format() {
    let mut bytes = broken(plain(), "frame 3.payload", &[9]).bytes;
    bytes.extend(b"junk");
    let report = validate_buffer(&bytes, &ValidateOptions::default());
    let expected = json!({
        "file_issues": [{
            "byte_offset": bytes.len() - 4,
            "length": 4,
            "description": format!("4 trailing bytes after last message at offset {}", bytes.len() - 4),
        }],
        "messages": [{
            "issues": [{
                "code": "hash_mismatch",
                "level": "integrity",
                "severity": "error",
                "object_index": 0,
                "byte_offset": plain().offset("frame 3.magic"),
                "description": report.messages[0].issues[0].description,
            }],
            "object_count": 1,
            "hash_verified": false,
        }],
    });
    assert_eq!(serde_json::to_value(&report).unwrap(), expected);
    let report = validate_message(b"", &ValidateOptions::default());
    assert!(serde_json::to_value(&report).unwrap()["issues"][0].get("object_index").is_none());
    for code in Code::ALL {
        assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        let camel: String = code.name().split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        assert_eq!(format!("{code:?}"), camel);
    }
}

#[test]
fn bytes_that_belong_to_no_message_are_reported() {
    let message = plain().bytes;
    let default = ValidateOptions::default();
    let empty = validate_buffer(b"", &default);
    assert!(empty.is_ok() && !empty.hash_verified() && empty.messages.is_empty());
    let two = [&b"head"[..], &message, b"middle", &message, b"tail!"].concat();
    let report = validate_buffer(&two, &default);
    let lengths: Vec<_> = report.file_issues.iter().map(|issue| (issue.byte_offset, issue.length)).collect();
    let len = message.len();
    assert_eq!(lengths, [(0, 4), (4 + len, 6), (10 + 2 * len, 5)]);
    assert!(!report.is_ok() && report.hash_verified());
    assert_eq!(report.total_objects(), 2);
    let report = validate_buffer(b"no message here", &default);
    assert_eq!(report.file_issues[0].description, "15 bytes with no valid messages");
    assert!(validate_file("/no/such.tgm".as_ref(), &default).is_err());
}

#[test]
fn messages_of_other_versions_are_reported_with_their_remedy() {
    let v2 = corpus::sample("multi/v2-between-v3").bytes;
    let report = validate_buffer(&v2, &at(Level::Integrity));
    assert_eq!(report.messages.len(), 2);
    let text = &report.file_issues[0].description;
    assert!(text.contains("1 message of version 2: `tgm upgrade`"), "{text}");
    let like = validate_buffer(&v2, &like_reference(Level::Integrity));
    assert!(!like.file_issues[0].description.contains("upgrade"), "{like:?}");
    let future = broken(plain(), "preamble.version", &[0, 4]).bytes;
    let torn = plain().bytes[..100].to_vec();
    for (bytes, text) in [
        (future.clone(), "a message of version 4: "),
        ([&b"text "[..], &future].concat(), "a message of version 4: "),
        (torn.clone(), "is cut short: 100 are there"),
        (torn[..20].to_vec(), "cut short in its first 24 bytes"),
        (broken(plain(), "postamble.magic", b"4").bytes, "a damaged message: invalid end magic"),
    ] {
        let report = validate_buffer(&bytes, &at(Level::Integrity));
        let issue = &report.file_issues[0].description;
        assert!(issue.starts_with(&format!("{} bytes with no valid messages: ", bytes.len())), "{issue}");
        assert!(issue.contains(text), "{issue}");
    }
    // A message validated alone, and the error of decoding it.
    for (version, text) in [(2, "`tgm upgrade` makes it version 3"), (4, "version 4")] {
        let bytes = broken(plain(), "preamble.version", &[0, version]).bytes;
        let report = full(&bytes);
        assert_eq!(codes(&report), [Code::PreambleParseFailed]);
        assert!(report.issues[0].description.contains(text), "{report:?}");
        let error = tgm_std::decode(&bytes, &DecodeOptions::default()).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

// Hostile input.

#[test]
fn a_damaged_message_that_does_not_decode_is_never_reported_as_valid() {
    let two = || [(Some(map([("a", 1.into())])), Object::f32(&[2], &[1.0, 2.0])), (None, Object::bytes(&[1]))];
    let bases = [
        Message::buffered([Object::f32(&[3], &[1.0, 2.0, 3.0]).masked("nan", "rle", &[false, true, false])]),
        Message::buffered([Object::packed(&[4], [1; 8], 1.0, (0, 0), 16), Object::bytes(&[1, 2]).descriptor_first()]),
        Message::streamed_with(&map([]), &map([("base", array([map([]), map([])]))]), two()),
        Message::buffered([Object::bytes(&[7; 40]).compressed("lz4"), Object::bytes(&[7; 40]).shuffled(4)]),
    ];
    let mut rng = Rng(6);
    let options = with_canonical(Level::Fidelity);
    let check = |bytes: &[u8]| {
        let (report, usage) = measure(|| validate_message(bytes, &options));
        assert!(usage.peak < MEMORY, "{} MiB", usage.peak >> 20);
        let decoded = tgm_std::decode(bytes, &DecodeOptions::default());
        assert!(decoded.is_ok() || !report.is_ok(), "{decoded:?}");
        assert!(report.issues.is_sorted_by_key(|issue| issue.level));
        validate_message(bytes, &like_reference(Level::Fidelity));
        validate_buffer(bytes, &options);
    };
    for base in bases {
        let bytes = base.build().bytes;
        let report = validate_message(&bytes, &options);
        assert!(report.is_ok(), "{report:?}");
        (0..bytes.len()).for_each(|end| check(&bytes[..end]));
        for position in 0..bytes.len() {
            for damage in [1, 0x80, 1 << rng.below(8), 0xff] {
                let mut damaged = bytes.clone();
                damaged[position] ^= u8::try_from(damage).unwrap();
                check(&damaged);
            }
        }
    }
}

#[test]
fn the_number_of_findings_is_bounded_and_the_first_error_is_among_them() {
    // Header frames that come too late: a finding for every 32 bytes.
    let mut built = raw([Frame::metadata(frame_type::FOOTER_METADATA, &map([])), header()]);
    let frame = usize::try_from(built.offset("frame 1.magic")).unwrap()..built.bytes.len() - 24;
    let length = built.bytes.len() + 59_999 * frame.len();
    built.set("preamble.total_length", &(length as u64).to_be_bytes());
    built.set("postamble.total_length", &(length as u64).to_be_bytes());
    let (before, after) = built.bytes.split_at(frame.end);
    let bytes = [before, &before[frame].repeat(59_999), after].concat();
    let (report, usage) = measure(|| full(&bytes));
    assert_eq!((report.issues.len(), report.omitted_issues), (10_000, 50_000));
    assert!(usage.peak < 16 << 20, "{} MiB", usage.peak >> 20);

    // A warning for each gap, and an error after them.
    let frames = (0..20).map(|_| header().padded(*b"gap "));
    let bytes = raw(frames.chain([object()])).bytes;
    let options = ValidateOptions { max_issues: 3, ..Default::default() };
    assert!(validate_message(&bytes, &options).is_ok());
    let mut bytes = bytes;
    let end = bytes.len() - 48;
    bytes[end..end + 24].fill(1);
    let report = validate_message(&bytes, &options);
    assert!(!report.is_ok() && report.omitted_issues > 0, "{report:?}");
}
