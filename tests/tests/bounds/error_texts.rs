//! Parts of error texts that programs match on. The format's description gives them; our sentences contain them.
//!
//! A row is the part, the beginning of the text, which names the kind of error, and the text that an error has.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::selection::Pick;
use tgm_std::decode::Picks;
use tgm_std::hash::{check_frame_hash, hash_frame_body};
use tgm_std::metadata::{cbor_to_global_metadata, cbor_to_hash_frame, cbor_to_index, cbor_to_object_descriptor};
use tgm_std::options::MaskMethod;
use tgm_std::{
    AggregateHashPolicy, ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, FrameType,
    GlobalMetadata, MaskDescriptor, MasksMetadata, Result, StreamingEncoder, TensogramError, TensogramFile,
    decode_object_from_frame, parse_hash_name,
};
use tgm_tests::builder::{Frame, Message, Object, array, frame_type, map};
use tgm_tests::messages::{self, plain};

/// The part to match on, the beginning of the text, and the whole text.
type Row = (&'static str, &'static str, String);

fn text_of<T>(found: Result<T>) -> String {
    found.err().map_or_else(|| "no error".to_string(), |error| error.to_string())
}

fn decoded(bytes: &[u8]) -> String {
    text_of(tgm_std::decode(bytes, &DecodeOptions::default()))
}

fn with(object: Object) -> String {
    decoded(&messages::with(object).bytes)
}

fn broken(caption: &str, bytes: &[u8]) -> String {
    decoded(&messages::broken(plain(), caption, bytes).bytes)
}

fn frames(types: &[u16]) -> String {
    decoded(&messages::of_frame_types(types).bytes)
}

const FRAMING: &str = "framing error: ";
const METADATA: &str = "metadata error: ";
const ENCODING: &str = "encoding error: ";

fn structure() -> Vec<Row> {
    let whole = plain().bytes;
    let large = |value: u64| value.to_be_bytes();
    let late = [frame_type::FOOTER_METADATA, frame_type::HEADER_METADATA];
    let preceder = messages::with_two_entries_in_a_preceder();
    let base = messages::with_base_but_no_object();
    vec![
        ("buffer too short for preamble", FRAMING, decoded(&whole[..20])),
        ("buffer too short for preamble", FRAMING, text_of(tgm_std::decode_metadata(&[]))),
        ("invalid magic bytes", FRAMING, broken("preamble.magic", b"t")),
        ("unsupported message version", FRAMING, broken("preamble.version", &[0, 4])),
        ("exceeds buffer size", FRAMING, decoded(&whole[..whole.len() - 1])),
        ("smaller than the minimum message size", FRAMING, broken("preamble.total_length", &large(47))),
        ("invalid end magic in postamble", FRAMING, broken("postamble.magic", b"4")),
        ("unknown frame type", FRAMING, broken("frame 1.type", &[0, 10])),
        ("reserved frame type 4", FRAMING, broken("frame 1.type", &[0, 4])),
        ("smaller than minimum frame size", FRAMING, broken("frame 3.total_length", &large(35))),
        ("exceeds buffer", FRAMING, broken("frame 3.total_length", &large(u64::MAX))),
        ("extends past buffer end", FRAMING, broken("frame 3.total_length", &large(u64::MAX))),
        ("missing ENDF marker", FRAMING, broken("frame 3.end", b"FDNE")),
        ("out of valid range", FRAMING, broken("frame 3.cbor_offset", &large(15))),
        ("exceeds payload region size", FRAMING, decoded(&messages::with_a_mask_beyond_its_region().bytes)),
        ("unexpected", FRAMING, frames(&late)),
        (
            "PrecederMetadata must be followed by a data-object frame",
            FRAMING,
            frames(&[frame_type::PRECEDER, frame_type::FOOTER_METADATA]),
        ),
        ("dangling PrecederMetadata", FRAMING, frames(&[frame_type::PRECEDER])),
        ("must have exactly 1 entry", METADATA, decoded(&preceder.bytes)),
        ("no metadata frame found", METADATA, decoded(&Message::empty().build().bytes)),
        ("metadata base has 1 entries but message contains 0 objects", METADATA, decoded(&base.bytes)),
        ("got \"tENSOGRM\" (hex 74454e534f47524d)", FRAMING, broken("preamble.magic", b"t")),
        ("required = 3", FRAMING, broken("preamble.version", &[0, 4])),
        ("total_length is too small", FRAMING, broken("preamble.total_length", &large(47))),
        ("postamble total_length", FRAMING, broken("postamble.total_length", &large(7))),
        ("obsolete v2", FRAMING, broken("frame 1.type", &[0, 4])),
        ("too small", FRAMING, broken("frame 3.total_length", &large(35))),
        ("smaller than header size", FRAMING, broken("frame 3.total_length", &large(15))),
        ("outside bounds", FRAMING, broken("frame 3.total_length", &large(1 << 40))),
        ("runs past first-message end", FRAMING, broken("frame 3.total_length", &large(1 << 40))),
        ("got 2", METADATA, decoded(&preceder.bytes)),
    ]
}

/// CBOR that is well-formed and says something wrong, read without its frame.
fn cbor() -> Vec<Row> {
    let bytes = |value: &Value| {
        let mut bytes = Vec::new();
        ciborium::into_writer(value, &mut bytes).unwrap();
        bytes
    };
    let metadata = |value: Value| text_of(cbor_to_global_metadata(&bytes(&value)));
    let index = |value: Value| text_of(cbor_to_index(&bytes(&value)));
    let hashes = |value: Value| text_of(cbor_to_hash_frame(&bytes(&value)));
    let descriptor = |value: Value| text_of(cbor_to_object_descriptor(&bytes(&value)));
    let keyed = |key: Value| Value::Map(vec![(key, 1.into())]);
    let one = |key: &str, value: Value| map([("a", 1.into()), (key, value)]);
    let list = |item: Value| array([item]);
    let framed = |frame_type, value: Value| {
        let body = bytes(&value);
        decoded(&Message::empty().with(Frame::raw(frame_type, body)).build().bytes)
    };
    let mut rows = vec![
        ("failed to deserialize base", METADATA, metadata(one("base", 1.into()))),
        ("failed to deserialize base", METADATA, metadata(one("base", list(keyed(1.into()))))),
        ("failed to deserialize _extra_", METADATA, metadata(one("_extra_", 1.into()))),
        ("failed to deserialize _reserved_", METADATA, metadata(one("_reserved_", keyed(1.into())))),
        ("failed to deserialize _extra_", METADATA, framed(frame_type::HEADER_METADATA, one("_extra_", 1.into()))),
        ("global metadata CBOR is not a map", METADATA, metadata(1.into())),
        ("offsets must be an array", METADATA, index(one("offsets", 1.into()))),
        ("lengths must be an integer", METADATA, index(one("lengths", list("x".into())))),
        ("lengths value out of u64 range", METADATA, index(one("lengths", list((-1).into())))),
        ("hashes must be an array", METADATA, hashes(one("hashes", 1.into()))),
        ("algorithm must be text", METADATA, hashes(one("algorithm", 1.into()))),
        ("failed to deserialize descriptor", METADATA, descriptor(1.into())),
        ("failed to deserialize descriptor", METADATA, descriptor(map([]))),
        ("failed to deserialize descriptor", METADATA, with(Object::bytes(&[1]).set("masks", 1))),
        ("failed to deserialize descriptor", METADATA, with(Object::bytes(&[1]).set("dtype", "float65"))),
    ];
    let kinds = [
        (Value::from(1), "non-text top-level key (integer key)"),
        (Value::Bytes(vec![1]), "(byte-string key)"),
        (Value::Bool(true), "(boolean key)"),
        (Value::Float(1.5), "(float key)"),
        (Value::Null, "(null key)"),
        (array([]), "(array key)"),
        (map([]), "(map key)"),
        (Value::Tag(1, Box::new(1.into())), "(tagged key)"),
    ];
    for (key, part) in kinds {
        rows.extend([(part, METADATA, metadata(keyed(key.clone()))), ("non-text key", METADATA, index(keyed(key)))]);
    }
    rows
}

fn values() -> Vec<Row> {
    let float = || Object::f32(&[3], &[1.0, 2.0, 3.0]);
    let huge = || array([Value::from(u64::MAX), Value::from(2)]);
    let ones = array([Value::from(1), Value::from(1)]);
    let mut unknown_mask = float();
    unknown_mask.masks.push(("nan", "morse", vec![0]));
    let refusing = DecodeOptions { reference_range_refusals: true, ..DecodeOptions::default() };
    let range = |object: Object, range: (u64, u64)| {
        let bytes = Message::buffered([object]).build().bytes;
        text_of(tgm_std::decode_range(&bytes, 0, &[range], &refusing))
    };
    let object_1 = tgm_std::decode_object(&plain().bytes, 1, &DecodeOptions::default());
    let bits = Object::plain("bitmask", &[3], [0]);
    vec![
        ("failed to parse", METADATA, decoded(&broken_cbor())),
        ("shape product overflow", METADATA, with(float().set("shape", huge()).set("strides", ones).set("ndim", 2))),
        ("does not match shape.len()", METADATA, with(float().set("ndim", 2))),
        ("strides.len()", METADATA, with(float().set("strides", array([])))),
        ("descriptor claims 12 decoded byte(s) but frame payload is 11 byte(s)", ENCODING, {
            with(Object::plain("float32", &[3], [0; 11]))
        }),
        ("unknown mask method", ENCODING, with(unknown_mask)),
        ("unknown encoding:", ENCODING, with(float().set("encoding", "zip"))),
        ("unknown filter:", ENCODING, with(float().set("filter", "zip"))),
        ("unknown compression:", ENCODING, with(float().set("compression", "zip"))),
        ("decode_range is not supported when a filter", ENCODING, range(float().shuffled(4), (0, 1))),
        ("partial range decode not supported for bitmask dtype", ENCODING, range(bits, (0, 1))),
        (
            "missing szip_block_offsets",
            "compression error: ",
            range(Object::bytes(&[1]).set("compression", "szip"), (0, 1)),
        ),
        ("range decode not supported for this compressor", ENCODING, range(float().compressed("zstd"), (0, 1))),
        ("range (offset=2, count=2): range error: range (2, 2) exceeds payload size", ENCODING, range(float(), (2, 2))),
        ("a selection of 0 dimensions of a tensor that has 1", ENCODING, selected(float(), &[])),
        ("the selection of dimension 0 (counted from 0) reaches beyond it", ENCODING, selected(float(), &[3.into()])),
        ("selection, part 1 (counted from 0): the step of `::0` is less than 1", ENCODING, {
            text_of(Picks::parse("..,::0").map_err(TensogramError::from))
        }),
        ("selection, dimension 0 (counted from 0): there is no index -4, the length is 3", ENCODING, {
            text_of(Picks::parse("-4").unwrap().resolve([3]).map_err(TensogramError::from))
        }),
        ("out of range", "object error: ", text_of(object_1)),
    ]
}

/// What selecting from the object says.
fn selected(object: Object, picks: &[Pick]) -> String {
    let bytes = Message::buffered([object]).build().bytes;
    let message = tgm_core::Message::parse(&bytes).unwrap();
    text_of(tgm_std::read(&message.object(0).unwrap()).select(picks).bytes())
}

/// A message whose metadata is not CBOR.
fn broken_cbor() -> Vec<u8> {
    Message::empty().with(Frame::raw(frame_type::HEADER_METADATA, [0xa1, 0x61, b'k', 0x1c])).build().bytes
}

fn float64() -> DataObjectDescriptor {
    DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, &[2])
}

fn changed(change: impl FnOnce(&mut DataObjectDescriptor)) -> DataObjectDescriptor {
    let mut descriptor = float64();
    change(&mut descriptor);
    descriptor
}

fn encoded(descriptor: &DataObjectDescriptor, data: &[u8]) -> String {
    encoded_with(&GlobalMetadata::default(), descriptor, data)
}

fn encoded_with(metadata: &GlobalMetadata, descriptor: &DataObjectDescriptor, data: &[u8]) -> String {
    text_of(tgm_std::encode(metadata, &[(descriptor, data)], &EncodeOptions::default()))
}

fn packed(params: &[(&str, Value)]) -> String {
    let descriptor = changed(|d| {
        d.encoding = "simple_packing".into();
        d.params.extend(params.iter().map(|(key, value)| ((*key).to_string(), value.clone())));
    });
    encoded(&descriptor, &[0; 16])
}

fn compressed(codec: &str, params: &[(&str, Value)]) -> String {
    let descriptor = changed(|d| {
        d.compression = codec.into();
        d.params.extend(params.iter().map(|(key, value)| ((*key).to_string(), value.clone())));
    });
    encoded(&descriptor, &[0; 16])
}

fn arguments() -> Vec<Row> {
    let nan = |values: [f64; 2]| encoded(&float64(), values.map(f64::to_le_bytes).as_flattened());
    let complex = |values: [f32; 4]| {
        let descriptor = DataObjectDescriptor::new(Dtype::Complex64, ByteOrder::Little, &[2]);
        encoded(&descriptor, values.map(f32::to_le_bytes).as_flattened())
    };
    let masked = |method: &str, key: Option<&str>| {
        let params = key.map(|key| (key.to_string(), Value::from(1))).into_iter().collect();
        let mask = MaskDescriptor { method: method.into(), offset: 0, length: 0, params };
        let masks = MasksMetadata { nan: Some(mask), pos_inf: None, neg_inf: None };
        encoded(&changed(|d| d.masks = Some(masks)), &[0; 16])
    };
    let reserved = || BTreeMap::from([("_reserved_".to_string(), map([]))]);
    let at_top =
        GlobalMetadata { reserved: BTreeMap::from([("k".to_string(), 1.into())]), ..GlobalMetadata::default() };
    let in_base = GlobalMetadata { base: vec![reserved()], ..GlobalMetadata::default() };
    let long = GlobalMetadata { base: vec![BTreeMap::new(); 2], ..GlobalMetadata::default() };
    let bits: (&str, Value) = ("sp_bits_per_value", 8.into());
    vec![
        ("obj_type must not be empty", METADATA, encoded(&changed(|d| d.obj_type.clear()), &[0; 16])),
        ("ndim 2 does not match shape.len() 1", METADATA, encoded(&changed(|d| d.ndim = 2), &[0; 16])),
        ("strides.len() 0 does not match shape.len() 1", METADATA, encoded(&changed(|d| d.strides.clear()), &[0; 16])),
        ("data_len 15 does not match expected 16 bytes", METADATA, encoded(&float64(), &[0; 15])),
        ("unknown method", METADATA, masked("morse", None)),
        ("unknown param", METADATA, masked("rle", Some("level"))),
        ("strict-NaN check: NaN at element 1 of float64 array", ENCODING, nan([0.0, f64::NAN])),
        ("strict-Inf check: +Inf at element 0", ENCODING, nan([f64::INFINITY, 0.0])),
        ("strict-Inf check: -Inf at element 1", ENCODING, nan([0.0, f64::NEG_INFINITY])),
        ("(real component)", ENCODING, complex([f32::NAN, 0.0, 0.0, 0.0])),
        ("(imaginary component)", ENCODING, complex([0.0, f32::NAN, 0.0, 0.0])),
        ("simple_packing only supports float64", ENCODING, {
            let packs =
                |d: &mut DataObjectDescriptor| (d.encoding, d.dtype) = ("simple_packing".into(), Dtype::Float32);
            encoded(&changed(packs), &[0; 8])
        }),
        ("simple_packing requires sp_bits_per_value", METADATA, packed(&[])),
        ("auto-compute", METADATA, packed(&[])),
        ("has sp_binary_scale_factor but not sp_reference_value", METADATA, {
            packed(&[bits.clone(), ("sp_binary_scale_factor", 0.into())])
        }),
        (
            "unknown mask method \"morse\" (expected \"none\", \"rle\", \"roaring\", \"lz4\", \"zstd\" or \"blosc2\")",
            METADATA,
            text_of(MaskMethod::from_name("morse")),
        ),
        ("auto-compute", METADATA, packed(&[bits.clone(), ("sp_reference_value", 0.0.into())])),
        ("sp_binary_scale_factor", METADATA, packed(&[bits, ("sp_reference_value", 0.0.into())])),
        ("expected integer for sp_bits_per_value, got text", METADATA, packed(&[("sp_bits_per_value", "8".into())])),
        ("out of u32 range", METADATA, packed(&[("sp_bits_per_value", (-1).into())])),
        ("only supports dtype=bitmask", ENCODING, compressed("rle", &[])),
        ("out of i32 range", METADATA, compressed("zstd", &[("zstd_level", (1_u64 << 40).into())])),
        ("missing required parameter: szip_rsi", METADATA, compressed("szip", &[])),
        ("unknown zfp_mode", ENCODING, compressed("zfp", &[("zfp_mode", "fixed".into())])),
        ("client code must not write to '_reserved_' at message level", METADATA, {
            encoded_with(&at_top, &float64(), &[0; 16])
        }),
        ("client code must not write to '_reserved_' in base[0]", METADATA, {
            encoded_with(&in_base, &float64(), &[0; 16])
        }),
        ("metadata base has 2 entries but only 1 descriptors provided", METADATA, {
            encoded_with(&long, &float64(), &[0; 16])
        }),
    ]
}

fn offsets(codec: &str, offsets: Value) -> String {
    let szip = [("szip_rsi", 128), ("szip_block_size", 16), ("szip_flags", 8)];
    let descriptor = changed(|d| {
        d.compression = codec.into();
        // Only with an encoding may the payload be shorter than the values.
        d.encoding = "simple_packing".into();
        d.params.extend(szip.map(|(key, value)| (key.to_string(), Value::from(value))));
        let keys = ["sp_bits_per_value", "sp_decimal_scale_factor", "sp_binary_scale_factor"];
        d.params.extend(keys.map(|key| (key.to_string(), Value::from(8))));
        d.params.insert("sp_reference_value".into(), 0.0.into());
        d.params.insert("szip_block_offsets".into(), offsets);
    });
    let objects: [(&DataObjectDescriptor, &[u8]); 1] = [(&descriptor, &[0; 2])];
    text_of(tgm_std::encode_pre_encoded(&GlobalMetadata::default(), &objects, &EncodeOptions::default()))
}

fn pre_encoded() -> Vec<Row> {
    let at = |items: &[u64]| array(items.iter().map(|item| Value::from(*item)));
    vec![
        ("szip_block_offsets provided but compression", METADATA, offsets("zstd", at(&[0]))),
        ("szip_block_offsets must be an array", METADATA, offsets("szip", 0.into())),
        ("must not be empty; first offset must be 0", METADATA, offsets("szip", at(&[]))),
        ("must be an integer", METADATA, offsets("szip", array(["0".into()]))),
        ("szip_block_offsets[0] must be 0, got 1", METADATA, offsets("szip", at(&[1]))),
        ("first offset must be 0", METADATA, offsets("szip", at(&[1]))),
        ("must be strictly increasing", METADATA, offsets("szip", at(&[0, 8, 8]))),
        ("exceeds bit bound", METADATA, offsets("szip", at(&[0, 17]))),
    ]
}

fn streamed() -> Vec<Row> {
    let new = |policy| {
        let options = EncodeOptions { aggregate_hash: policy, ..EncodeOptions::default() };
        StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options)
    };
    let begun = || new(AggregateHashPolicy::Auto).unwrap();
    let reserved = BTreeMap::from([("_reserved_".to_string(), map([]))]);
    let mut twice = begun();
    twice.write_preceder(BTreeMap::new()).unwrap();
    let again = twice.write_preceder(BTreeMap::new());
    vec![
        ("Header is not supported in streaming", ENCODING, text_of(new(AggregateHashPolicy::Header))),
        ("Both is not supported in streaming", ENCODING, text_of(new(AggregateHashPolicy::Both))),
        ("Header/Both is not supported in streaming", ENCODING, text_of(new(AggregateHashPolicy::Both))),
        ("AggregateHashPolicy::Header", ENCODING, text_of(new(AggregateHashPolicy::Header))),
        ("AggregateHashPolicy::Both", ENCODING, text_of(new(AggregateHashPolicy::Both))),
        ("write_preceder called twice", FRAMING, text_of(again)),
        ("dangling PrecederMetadata: finish called", FRAMING, text_of(twice.finish())),
        (
            "client code must not write '_reserved_' in preceder metadata",
            METADATA,
            text_of(begun().write_preceder(reserved)),
        ),
    ]
}

fn digests_and_files() -> Vec<Row> {
    let built = plain();
    let frame = &built.bytes[built.range("frame 3.magic").start..built.range("frame 3.end").end];
    let mut damaged = frame.to_vec();
    damaged[20] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.tgm");
    std::fs::write(&path, &built.bytes).unwrap();
    let file = TensogramFile::open(&path).unwrap();
    let checked = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let cut = text_of(decode_object_from_frame(&frame[..frame.len() - 1], &DecodeOptions::default()));
    let mut metadata = frame.to_vec();
    metadata[3] = 1;
    let other = text_of(decode_object_from_frame(&metadata, &DecodeOptions::default()));
    let unhashed = Message::buffered([Object::bytes(&[1])]).unhashed().build().bytes;
    vec![
        ("unknown hash type", METADATA, text_of(parse_hash_name(Some("md5")))),
        ("outside bounds", FRAMING, cut),
        ("expected data-object frame", FRAMING, other),
        ("frame_bytes.len() = 20", FRAMING, text_of(hash_frame_body(&frame[..20], FrameType::NTensorFrame))),
        ("frame_bytes.len() = 20", FRAMING, text_of(check_frame_hash(&frame[..20], FrameType::NTensorFrame))),
        ("frame too small to hash", FRAMING, text_of(hash_frame_body(&frame[..20], FrameType::NTensorFrame))),
        ("outside bounds", FRAMING, text_of(hash_frame_body(&frame[..20], FrameType::NTensorFrame))),
        (
            "frame too small to read hash slot",
            FRAMING,
            text_of(check_frame_hash(&frame[..20], FrameType::NTensorFrame)),
        ),
        ("missing ENDF", FRAMING, text_of(check_frame_hash(&frame[..frame.len() - 1], FrameType::NTensorFrame))),
        (": expected ", "hash mismatch on frame", text_of(check_frame_hash(&damaged, FrameType::NTensorFrame))),
        ("has no inline hash recorded", "hash verification requested but object 0", {
            text_of(tgm_std::decode(&unhashed, &checked))
        }),
        ("file not found: /no/such.tgm", "io error: ", text_of(TensogramFile::open("/no/such.tgm"))),
        ("cannot create", "io error: ", text_of(TensogramFile::create(folder.path()))),
        ("message index 1 out of range (count=1)", FRAMING, text_of(file.read_message(1))),
    ]
}

#[test]
fn error_texts_contain_the_parts_that_programs_match_on() {
    let rows = [structure(), cbor(), values(), arguments(), pre_encoded(), streamed(), digests_and_files()].concat();
    let lacks = |(part, start, text): &&Row| !text.contains(part) || !text.starts_with(start);
    let wrong: Vec<_> =
        rows.iter().filter(lacks).map(|(part, start, text)| format!("{start}… {part} …\n    {text}")).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
