//! Every kind of error has a row: bytes or a request that produce it, and the offset that it must have.
//!
//! The list of kinds is read from the source, so that a new kind without a row fails.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::collections::BTreeSet;

use ciborium::Value;
use tgm_core::cbor::{self, Canonical, verify_canonical};
use tgm_core::descriptor::ByteOrder;
use tgm_core::hash::HashPresence;
use tgm_core::object::DataObject;
use tgm_core::selection::{Pick, Selection};
use tgm_core::szip::{Params, PieceDecoder, decode_into, flags};
use tgm_core::tensor::Shape;
use tgm_core::{Error, Message as View, byteswap};
use tgm_std::{DecodeOptions, TensogramError, TensogramFile};
use tgm_tests::builder::{Built, Frame, Message, Object, array, cbor as encode, frame_type, map};
use tgm_tests::messages::{self, broken, of_frame_types, plain, with};

type Core<T = ()> = tgm_core::Result<T>;

/// A kind as its `Debug` text, its offset, and the result that must hold both.
struct Row {
    kind: &'static str,
    offset: u64,
    found: Core,
}

fn row(kind: &'static str, offset: u64, found: Core) -> Row {
    Row { kind, offset, found }
}

fn parse(bytes: &[u8]) -> Core {
    View::parse(bytes).map(drop)
}

fn walk(built: &Built) -> Core {
    View::parse(&built.bytes)?.frames().try_for_each(|frame| frame.map(drop))
}

fn objects(built: &Built) -> Core {
    View::parse(&built.bytes)?.objects().try_for_each(|object| object.map(drop))
}

fn metadata(built: &Built) -> Core {
    View::parse(&built.bytes)?.metadata().map(drop)
}

fn on_object(built: &Built, ask: impl FnOnce(DataObject<'_>) -> Core) -> Core {
    ask(View::parse(&built.bytes)?.objects().next().unwrap()?)
}

/// Decodes all values with `tgm_core` into a buffer of the right length.
fn decode(built: &Built) -> Core {
    on_object(built, |object| {
        let len = object.descriptor().decoded_len()?;
        let mut out = vec![0; usize::try_from(len).unwrap()];
        object.decode_into(0..object.descriptor().element_count(), ByteOrder::NATIVE, &mut out)
    })
}

/// A message whose metadata frame holds these bytes, and where they begin.
fn cbor_bytes(bytes: &[u8]) -> (Built, u64) {
    let built = Message::empty().with(Frame::raw(frame_type::HEADER_METADATA, bytes)).build();
    let offset = built.offset("frame 0.body");
    (built, offset)
}

fn cbor_row(kind: &'static str, bytes: &[u8], at: u64) -> Row {
    let (built, offset) = cbor_bytes(bytes);
    row(kind, offset + at, metadata(&built))
}

/// The offset of the object's descriptor.
fn descriptor_at(built: &Built) -> u64 {
    built.offset("frame 3.descriptor")
}

fn structure() -> Vec<Row> {
    let mut rows = Vec::new();
    let b = plain();
    rows.push(row("Truncated", 20, parse(&b.bytes[..20])));
    rows.push(row("StartMagic", 0, parse(&broken(plain(), "preamble.magic", b"t").bytes)));
    rows.push(row("Version(2)", 8, parse(&broken(plain(), "preamble.version", &[0, 2]).bytes)));
    rows.push(row(
        "MessageTooSmall",
        16,
        parse(&broken(plain(), "preamble.total_length", &47_u64.to_be_bytes()).bytes),
    ));
    rows.push(row("MessageExceedsBuffer", 16, parse(&b.bytes[..b.bytes.len() - 1])));
    let end = b.offset("postamble.magic");
    rows.push(row("EndMagic", end, parse(&broken(plain(), "postamble.magic", b"4").bytes)));
    let copy = b.offset("postamble.total_length");
    let mismatch = broken(plain(), "postamble.total_length", &1_u64.to_be_bytes());
    rows.push(row("TotalLengthMismatch", copy, parse(&mismatch.bytes)));

    let no_frame = tgm_core::frame::Frame::parse(&b.bytes).map(drop);
    rows.push(row("FrameMagic", 0, no_frame));
    let at = b.offset("frame 1.type");
    rows.push(row("UnknownFrameType(10)", at, walk(&broken(plain(), "frame 1.type", &[0, 10]))));
    rows.push(row("ReservedFrameType", at, walk(&broken(plain(), "frame 1.type", &[0, 4]))));
    let at = b.offset("frame 3.total_length");
    let short = broken(plain(), "frame 3.total_length", &35_u64.to_be_bytes());
    rows.push(row("FrameTooSmall", at, walk(&short)));
    let long = broken(plain(), "frame 3.total_length", &u64::MAX.to_be_bytes());
    rows.push(row("FrameExceedsMessage", at, walk(&long)));
    rows.push(row("FrameEnd", b.offset("frame 3.end"), walk(&broken(plain(), "frame 3.end", b"FDNE"))));
    let at = b.offset("frame 3.cbor_offset");
    let cbor_offset = broken(plain(), "frame 3.cbor_offset", &15_u64.to_be_bytes());
    rows.push(row("CborOffset", at, walk(&cbor_offset)));

    let late = of_frame_types(&[frame_type::FOOTER_METADATA, frame_type::HEADER_METADATA]);
    rows.push(row("FrameOrder(HeaderMetadata, Footer)", late.offset("frame 1.magic"), walk(&late)));
    let alone = of_frame_types(&[frame_type::PRECEDER, frame_type::FOOTER_METADATA]);
    rows.push(row("PrecederWithoutObject(FooterMetadata)", alone.offset("frame 1.magic"), walk(&alone)));
    let dangling = of_frame_types(&[frame_type::PRECEDER]);
    let end = dangling.offset("frame 0.padding");
    rows.push(row("DanglingPreceder", end, walk(&dangling)));
    let preceder = messages::with_two_entries_in_a_preceder();
    rows.push(row("PrecederBase(2)", preceder.offset("frame 1.body"), metadata(&preceder)));
    rows.push(row("NoMetadata", 24, metadata(&Message::empty().build())));
    let base = messages::with_base_but_no_object();
    rows.push(row("BaseTooLong", base.offset("frame 0.body"), metadata(&base)));
    rows
}

fn index_and_hash() -> Vec<Row> {
    let b = plain();
    let view = View::parse(&b.bytes).unwrap();
    let mut rows = vec![row("ObjectOutOfRange", b.bytes.len() as u64, view.object(1).map(drop))];
    let mut wrong = Message::buffered([Object::bytes(&[1]), Object::bytes(&[2])]);
    wrong.frames[1] = Frame::changed_index(frame_type::HEADER_INDEX, |entries| entries[1].0 = 24);
    let wrong = wrong.build();
    rows.push(row("IndexEntry", 24, View::parse(&wrong.bytes).unwrap().object(1).map(drop)));
    let short = {
        let mut message = Message::buffered([Object::bytes(&[1])]);
        message.frames[1] = Frame::changed_index(frame_type::HEADER_INDEX, Vec::clear);
        message.build()
    };
    let verified = View::parse(&short.bytes).unwrap().verify_index();
    rows.push(row("IndexCount", short.offset("frame 3.magic"), verified));
    let listed = |hashes: &[&str]| {
        let hashes = array(hashes.iter().map(|&hash| Value::from(hash)));
        let list = map([("algorithm", Value::from("xxh3")), ("hashes", hashes)]);
        let mut message = Message::buffered([Object::bytes(&[1])]);
        message.frames[2] = Frame::metadata(frame_type::HEADER_HASH, &list);
        message.build()
    };
    for (kind, built) in [("HashListCount", listed(&[])), ("HashListEntry", listed(&["0123456789abcdef"]))] {
        let verified = View::parse(&built.bytes).unwrap().verify_hash_lists(HashPresence::Flagged);
        rows.push(row(kind, built.offset("frame 3.magic"), verified));
    }
    let mut damaged = Message::buffered([Object::f32(&[1], &[1.0])]).build();
    damaged.set("frame 3.payload", &[0xff]);
    let verified = View::parse(&damaged.bytes).unwrap().verify_all().map(drop);
    rows.push(row("DigestMismatch", damaged.offset("frame 3.magic"), verified));
    let mut misled = Message::buffered([Object::f32(&[1], &[1.0])]).build();
    misled.set("postamble.first_footer_offset", &23_u64.to_be_bytes());
    let verified = View::parse(&misled.bytes).unwrap().verify_all().map(drop);
    rows.push(row("FooterOffset", misled.offset("postamble.first_footer_offset"), verified));
    let uneven = map([("offsets", array([Value::from(1)])), ("lengths", array([]))]);
    let mut message = Message::buffered([]);
    message.frames.push(Frame::metadata(frame_type::HEADER_INDEX, &uneven));
    let built = message.build();
    let found = View::parse(&built.bytes).unwrap().find_index().map(drop);
    rows.push(row("IndexLengths", built.offset("frame 1.body"), found));
    rows
}

fn encoded() -> Vec<Row> {
    let nested = [vec![0x81; 300], vec![0x00]].concat();
    let mut rows = vec![
        cbor_row("CborHead(28)", &[0xa1, 0x61, b'k', 0x1c], 3),
        cbor_row("CborSimple(0)", &[0xa1, 0x61, b'k', 0xe0], 3),
        cbor_row("CborBreak", &[0xa1, 0x61, b'k', 0xff], 3),
        cbor_row("CborUtf8", &[0xa1, 0x61, 0xff, 0x00], 2),
        cbor_row("CborNesting", &[&[0xa1, 0x61, b'k'][..], &nested].concat(), 3 + 255),
        cbor_row("WrongType { expected: Map, found: Array }", &[0x80], 0),
        cbor_row("NonTextKey(Integer)", &[0xa1, 0x00, 0x00], 1),
    ];
    let ambiguous = map([("_extra_", map([("k", Value::from(1))])), ("k", Value::from(1))]);
    let bytes = encode(&ambiguous);
    let at = bytes.windows(2).position(|pair| pair == [0x61, b'k']).unwrap() as u64;
    rows.push(cbor_row("AmbiguousKey", &bytes, at));
    // Thousands of unknown keys beside thousands of bytes of `_extra_`.
    let keys: Vec<String> = (0..3000).map(|n| format!("k{n}")).collect();
    let extra = map([("long", Value::from("x".repeat(3000)))]);
    let unknown = keys.iter().map(|key| (&**key, Value::from(0)));
    let (built, _) = cbor_bytes(&encode(&map(unknown.chain([("_extra_", extra)]))));
    let found = metadata(&built);
    rows.push(row("TooManyKeys", found.unwrap_err().offset(), found));
    let negative = cbor::Value::parse(&[0x20], 7).and_then(|value| value.as_u64());
    rows.push(row("IntegerRange", 7, negative.map(drop)));
    rows.push(row("NonCanonical(LongHead)", 0, verify_canonical(&[0x18, 0x01], Canonical::Strict)));
    rows
}

fn descriptors() -> Vec<Row> {
    let object = || Object::f32(&[3], &[1.0, 2.0, 3.0]);
    let at_start = |kind, object| {
        let built = with(object);
        row(kind, descriptor_at(&built), objects(&built))
    };
    // The offset of the value of `key`; `after` moves it to the first item.
    let at_value = |kind, key: &str, object: Object| {
        let built = with(object);
        let encoded = encode(&Value::from(key));
        let bytes = &built.bytes[built.range("frame 3.descriptor")];
        let place = bytes.windows(encoded.len()).rposition_of(&encoded) + encoded.len();
        row(kind, descriptor_at(&built) + place as u64, objects(&built))
    };
    let after = |mut row: Row| {
        row.offset += 1;
        row
    };
    let mut twice = object();
    twice.descriptor.push((Value::from("dtype"), Value::from("int8")));
    vec![
        at_start("MissingKey(Dtype)", object().without("dtype")),
        at_value("DuplicateKey(Dtype)", "dtype", twice),
        at_value("UnknownDtype", "dtype", object().set("dtype", "float33")),
        at_value("UnknownByteOrder", "byte_order", object().set("byte_order", "middle")),
        after(at_value("NdimMismatch", "shape", object().set("ndim", 2))),
        after(at_value("StridesMismatch", "strides", object().set("strides", array([])))),
        after(at_value("ShapeOverflow", "shape", {
            let huge = array([Value::from(u64::MAX), Value::from(2)]);
            object().set("shape", huge).set("strides", array([Value::from(1), Value::from(1)])).set("ndim", 2)
        })),
        {
            let built = with(object().shuffled(4).set("shuffle_element_size", 0));
            let key = encode(&Value::from("shuffle_element_size"));
            let place = built.bytes.windows(key.len()).rposition_of(&key) + key.len();
            row("ParameterRange(ShuffleElementSize)", place as u64, decode(&built))
        },
    ]
}

/// Finds the last place of a pattern that must be present.
trait RpositionOf {
    fn rposition_of(self, pattern: &[u8]) -> usize;
}

impl RpositionOf for std::slice::Windows<'_, u8> {
    fn rposition_of(mut self, pattern: &[u8]) -> usize {
        self.rposition(|window| window == pattern).unwrap()
    }
}

fn values() -> Vec<Row> {
    let object = || Object::f32(&[3], &[1.0, 2.0, 3.0]);
    let b = plain();
    let payload = b.offset("frame 3.payload");
    let mut rows = Vec::new();
    let compressed = with(object().compressed("zstd"));
    rows.push(row("NeedsDecoding(Compression(Some(Zstd)))", descriptor_at(&compressed), decode(&compressed)));
    let short = with(Object::plain("float32", &[3], [0; 11]));
    rows.push(row("PayloadSize", short.offset("frame 3.payload"), decode(&short)));
    let mismatch = "DtypeMismatch { expected: Float64, found: Float32 }";
    rows.push(row(mismatch, descriptor_at(&b), on_object(&b, |object| object.view::<f64>().map(drop))));
    rows.push(row("NotPacked", 0, on_object(&b, |object| object.stored()?.unpack_into(0, &mut [0.0_f64]))));
    let ask = |range: std::ops::Range<u64>, len: usize| {
        on_object(&b, |object| object.decode_into(range, ByteOrder::NATIVE, &mut vec![0; len]))
    };
    rows.push(row("RangeOutOfBounds", payload, ask(2..4, 8)));
    rows.push(row("OutputLength", payload, ask(0..3, 11)));
    let bytes: [u8; 17] = [0; 17];
    // One of two adjacent addresses is not aligned.
    let view = |start: usize, order| {
        let payload = &bytes[start..start + 8];
        tgm_core::tensor::TensorView::<f64>::new(payload, order, (&[1_u64]).into()).unwrap()
    };
    let misaligned = [0, 1].map(|start| view(start, ByteOrder::NATIVE).try_as_slice().map(drop));
    rows.push(row("Misaligned", 0, misaligned.into_iter().find(Result::is_err).unwrap()));
    let other = if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    rows.push(row("SwappedBytes", 0, view(0, other).try_as_slice().map(drop)));
    let wide = with(Object::packed(&[1], [0; 9], 0.0, (0, 0), 65));
    let key = encode(&Value::from("sp_bits_per_value"));
    let at = wide.bytes.windows(key.len()).rposition_of(&key) + key.len();
    rows.push(row("BitsPerValue(65)", at as u64, decode(&wide)));
    rows.push(row("ElementSize", 0, byteswap::swap_in_place(&mut [0; 3], 3)));
    rows
}

fn masks() -> Vec<Row> {
    let object = || Object::f32(&[3], &[0.0, 0.0, 0.0]);

    let blob = |method: &'static str, blob: &[u8]| {
        let mut object = object();
        object.masks.push(("nan", method, blob.to_vec()));
        with(object)
    };
    let in_blob = |kind, method, bytes: &[u8], at: u64| {
        let built = blob(method, bytes);
        row(kind, built.offset("frame 3.nan") + at, decode(&built))
    };
    let entry_at = |built: &Built| {
        let key = encode(&Value::from("nan"));
        let found = built.bytes[built.range("frame 3.descriptor")].windows(key.len()).rposition_of(&key);
        descriptor_at(built) + (found + key.len()) as u64
    };
    let beyond = messages::with_a_mask_beyond_its_region();
    let unknown = blob("morse", &[0]);
    let integers = with(Object::plain("int32", &[3], [0; 12]));
    let mut on_bits = Object::plain("bitmask", &[3], [0]);
    on_bits.masks.push(("nan", "none", vec![0x80]));
    let on_bits = with(on_bits);
    assert!(decode(&integers).is_ok());
    let cookie = u32::from_le_bytes([1, 2, 3, 4]);
    assert_eq!(cookie, 67_305_985);
    vec![
        row("MaskBounds", entry_at(&beyond), objects(&beyond)),
        row("MaskMethod", entry_at(&unknown), decode(&unknown)),
        in_blob("MaskLength", "none", &[0, 0], 0),
        row("MaskDtype(Bitmask)", on_bits.offset("frame 3.nan"), decode(&on_bits)),
        in_blob("RleStart(2)", "rle", &[2, 3], 0),
        in_blob("RleRun", "rle", &[1, 1, 0, 2], 2),
        in_blob("RoaringCookie(67305985)", "roaring", &[1, 2, 3, 4], 0),
        in_blob("RoaringContainer", "roaring", &[&12346_u32.to_le_bytes()[..], &u32::MAX.to_le_bytes()].concat(), 4),
    ]
}

fn szip() -> Vec<Row> {
    let refused =
        |bits, block_size, rsi, flags| Params::new(bits, block_size, rsi, flags).map(drop).map_err(|k| k.at(0));
    let params = Params::new(8, 8, 1, 0).unwrap();
    // ID 000, then bit 1 for the second extension, then a code of 93 zeros: no pair of samples has that code.
    let mut stream = [0xff; 64];
    stream[..13].fill(0);
    stream[0] = 0b0001_0000;
    stream[12] = 0b0000_0100;
    vec![
        row("SzipBitsPerSample(33)", 0, refused(33, 8, 1, 0)),
        row("SzipBlockSize(7)", 0, refused(8, 7, 1, 0)),
        row("SzipRsi(0)", 0, refused(8, 8, 0, 0)),
        row("SzipRestricted(8)", 0, refused(8, 8, 1, flags::RESTRICTED)),
        row("SzipBlockMemory", 0, PieceDecoder::<4>::new(&params).map(drop).map_err(|k| k.at(0))),
        row("SzipStream", 0, decode_into(&stream, &params, &mut [0; 8])),
    ]
}

fn selections() -> Vec<Row> {
    let selection = |picks: &[Pick]| Selection::new(Shape::from(&[2, 3]), picks).map(drop);
    vec![
        row("SelectionRank(1, 2)", 0, selection(&[Pick::All])),
        row("SelectionBounds(1)", 0, selection(&[Pick::All, Pick::Index(3)])),
    ]
}

/// Kinds that no test on a 64-bit machine can produce, and why.
const UNREACHABLE: &[(&str, &str)] =
    &[("TooLarge", "a length beyond `usize`: on 64 bits every length that fits the buffer fits `usize`")];

/// The names of the variants in the text of `ErrorKind`.
fn variants() -> BTreeSet<String> {
    let source = include_str!("../../../core/src/error.rs");
    let body = source.split("pub enum ErrorKind {").nth(1).unwrap().split("\n}").next().unwrap();
    let lines = body.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    let names = lines.map(|line| line.trim().chars().take_while(char::is_ascii_alphanumeric).collect::<String>());
    names.filter(|name| !name.is_empty()).collect()
}

fn rows() -> impl Iterator<Item = Row> {
    [structure(), index_and_hash(), encoded(), descriptors(), values(), masks(), szip(), selections()]
        .into_iter()
        .flatten()
}

#[test]
fn every_kind_is_produced_at_its_offset() {
    let mut wrong = Vec::new();
    let mut produced: BTreeSet<String> = UNREACHABLE.iter().map(|(name, _)| (*name).to_owned()).collect();
    for Row { kind, offset, found } in rows() {
        let text = |error: Error| format!("{:?} at {}", error.kind(), error.offset());
        let found = found.err().map(text);
        let expected = format!("{kind} at {offset}");
        if found.as_ref() != Some(&expected) {
            wrong.push(format!("expected {expected}, found {found:?}"));
        }
        produced.insert(kind.chars().take_while(char::is_ascii_alphanumeric).collect());
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let known = variants();
    assert!(known.len() > 50, "the source is read wrongly: {known:?}");
    assert_eq!(produced, known, "kinds with a row (left), kinds in the source (right)");
}

#[test]
fn every_kind_has_a_text_of_its_own() {
    let texts: Vec<String> = rows().map(|row| row.found.unwrap_err().kind().to_string()).collect();
    let distinct: BTreeSet<&String> = texts.iter().collect();
    assert_eq!(distinct.len(), texts.len(), "{texts:#?}");
}

#[test]
fn every_variant_of_tensogram_error_but_remote_is_produced() {
    let default = DecodeOptions::default();
    let verify = DecodeOptions { verify_hash: true, ..default.clone() };
    let b = plain();
    let whole = |bytes: &[u8], options: &DecodeOptions| tgm_std::decode(bytes, options).map(drop).unwrap_err();
    let metadata = cbor_bytes(&[0x80]).0;
    let unknown = with(Object::bytes(&[1]).set("compression", "zip"));
    let mut damaged = plain();
    damaged.set("frame 3.payload", &[9]);
    let expected = "hash mismatch on object 0: expected ";
    for (name, error, text) in [
        ("framing", whole(&b.bytes[..10], &default), "framing error: "),
        ("metadata", whole(&metadata.bytes, &default), "metadata error: "),
        ("encoding", whole(&unknown.bytes, &default), "encoding error: unknown compression: zip"),
        (
            "object",
            tgm_std::decode_object(&b.bytes, 1, &default).unwrap_err(),
            "object error: object index 1 out of range (num_objects=1)",
        ),
        ("io", TensogramFile::open("/no/such.tgm").map(drop).unwrap_err(), "io error: file not found: /no/such.tgm"),
        ("hash_mismatch", whole(&damaged.bytes, &verify), expected),
        (
            "missing_hash",
            whole(&Message::buffered([Object::bytes(&[1])]).unhashed().build().bytes, &verify),
            "hash verification requested but object 0",
        ),
    ] {
        assert_eq!(error.kind_name(), name, "{error}");
        assert!(error.to_string().starts_with(text), "{error}");
    }
    assert!(matches!(whole(&b.bytes[..10], &default), TensogramError::Framing(_)));
    let refusing = DecodeOptions { reference_range_refusals: true, ..default };
    let packed = with(Object::bytes(&[1]).set("compression", "szip"));
    let error = tgm_std::decode_range(&packed.bytes, 0, &[(0, 1)], &refusing).map(drop).unwrap_err();
    assert_eq!((error.kind_name(), error.to_string().contains("missing szip_block_offsets")), ("compression", true));
}
