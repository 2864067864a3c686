use std::collections::BTreeMap;

use ciborium::{Value, cbor};
use tgm_core::wire::{END_MAGIC, FRAME_END, FRAME_MAGIC, MAGIC};

use tgm_std::v2::*;
use tgm_std::{DecodeOptions, EncodeOptions, GlobalMetadata, Provenance, TensogramError};

const METADATA: u16 = 1;
const OBJECT: u16 = 4;
const FOOTER_METADATA: u16 = 7;
const PRECEDER: u16 = 8;

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

fn frame(frame_type: u16, flags: u16, body: &[u8], tail: &[u8]) -> Vec<u8> {
    let mut bytes = FRAME_MAGIC.to_vec();
    bytes.extend([frame_type, 1, flags].into_iter().flat_map(u16::to_be_bytes)); // type, version, flags
    bytes.extend((16 + body.len() as u64 + tail.len() as u64 + 4).to_be_bytes()); // total_length
    bytes.extend(body);
    bytes.extend(tail);
    bytes.extend(FRAME_END);
    bytes
}

fn metadata(frame_type: u16, value: &Value) -> Vec<u8> {
    frame(frame_type, 0, &encoded(value), &[])
}

/// A data object with its descriptor after the payload or before it.
fn object(descriptor: &Value, payload: &[u8], is_last: bool) -> Vec<u8> {
    let cbor = encoded(descriptor);
    if is_last {
        let cbor_offset = (16 + payload.len() as u64).to_be_bytes();
        return frame(OBJECT, 1, &[payload, &cbor].concat(), &cbor_offset);
    }
    frame(OBJECT, 0, &[&cbor, payload].concat(), &16_u64.to_be_bytes())
}

/// A message that states its length, or a streamed one.
fn message(frames: &[Vec<u8>], states_length: bool) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([0, 2, 0, 5, 0, 0, 0, 0]); // version, flags, reserved
    bytes.extend([0; 8]); // total_length
    for frame in frames {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(frame);
    }
    bytes.extend((bytes.len() as u64).to_be_bytes()); // first_footer_offset
    bytes.extend(END_MAGIC);
    if states_length {
        let len = (bytes.len() as u64).to_be_bytes();
        bytes[16..24].copy_from_slice(&len);
    }
    bytes
}

/// The descriptor of two bytes, with more entries.
fn bytes_with(entries: Vec<(Value, Value)>) -> Value {
    let Value::Map(mut map) = cbor!({
        "type" => "ntensor", "ndim" => 1, "shape" => [2], "strides" => [1], "dtype" => "uint8",
        "byte_order" => "little", "encoding" => "none", "filter" => "none", "compression" => "none"
    })
    .unwrap() else {
        unreachable!("a map")
    };
    map.retain(|(key, _)| !entries.iter().any(|(new, _)| new == key));
    map.extend(entries);
    Value::Map(map)
}

fn two_bytes() -> Vec<u8> {
    object(&bytes_with(Vec::new()), &[7, 9], true)
}

fn only_version() -> Vec<u8> {
    metadata(METADATA, &cbor!({"version" => 2}).unwrap())
}

fn upgraded(message: &[u8]) -> (GlobalMetadata, Vec<tgm_std::DecodedObject>) {
    let new = upgrade_message(message, &UpgradeOptions::default()).unwrap();
    tgm_std::decode(&new, &DecodeOptions { verify_hash: true, ..DecodeOptions::default() }).unwrap()
}

fn refused(message: &[u8]) -> TensogramError {
    upgrade_message(message, &UpgradeOptions::default()).unwrap_err()
}

/// An entry without `_reserved_`.
fn own(entry: &BTreeMap<String, Value>) -> Value {
    let entries = entry.iter().filter(|(key, _)| *key != "_reserved_");
    Value::Map(entries.map(|(key, value)| (Value::from(key.as_str()), value.clone())).collect())
}

#[test]
fn what_the_old_library_said_is_kept_and_what_the_new_one_says_replaces_it() {
    let old = cbor!({
        "version" => 2,
        "base" => [{"name" => "t", "_reserved_" => {"tensor" => {"ndim" => 9}, "note" => "n"}}],
        "_extra_" => {"a" => 1, "version" => "mine", "upgraded_from" => "me"},
        "_reserved_" => {"uuid" => "old", "encoder" => {"name" => "tensogram"}},
        "stray" => 5,
        "a" => 2
    });
    let old = message(&[metadata(METADATA, &old.unwrap()), two_bytes()], true);
    let provenance = Provenance { uuid: "new".into(), ..Provenance::now() };
    let encode = EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() };
    let new = upgrade_message(&old, &UpgradeOptions { encode, ..UpgradeOptions::default() }).unwrap();
    let (metadata, _) = tgm_std::decode(&new, &DecodeOptions::default()).unwrap();
    assert_eq!(metadata.reserved["uuid"], Value::from("new"));
    assert_eq!(
        own(&metadata.base[0]),
        cbor!({"name" => "t", "upgraded_from" => {"reserved" => {"note" => "n"}}}).unwrap()
    );
    let record =
        cbor!({"reserved" => {"uuid" => "old", "encoder" => {"name" => "tensogram"}}, "wire_version" => 2}).unwrap();
    let expected = [
        ("a", Value::from(1)),
        ("stray", Value::from(5)),
        ("upgraded_from", Value::from("me")),
        ("upgraded_from_", record),
        ("version", Value::from("mine")),
    ];
    let sorted = |map: &BTreeMap<String, Value>| encoded(&own(map)).len();
    let expected: BTreeMap<_, _> = expected.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    assert_eq!(metadata.extra.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(sorted(&metadata.extra), sorted(&expected));
}

#[test]
fn metadata_of_0_5_goes_where_it_belongs_now() {
    let old = cbor!({
        "version" => 2,
        "common" => {"class" => "od", "step" => 0},
        "payload" => [{"step" => 6}],
        "reserved" => {"uuid" => "old"},
        "source" => "s"
    });
    let old = message(&[metadata(METADATA, &old.unwrap()), two_bytes(), two_bytes()], true);
    let (metadata, objects) = upgraded(&old);
    assert_eq!(objects.len(), 2);
    assert_eq!(own(&metadata.base[0]), cbor!({"class" => "od", "step" => 6}).unwrap());
    assert_eq!(own(&metadata.base[1]), cbor!({"class" => "od", "step" => 0}).unwrap());
    assert_eq!(metadata.extra["source"], Value::from("s"));
    let record = metadata.extra[UPGRADED_FROM].as_map().unwrap();
    assert!(record.contains(&(Value::from("reserved"), cbor!({"uuid" => "old"}).unwrap())));
}

#[test]
fn what_many_objects_have_in_common_is_not_copied_without_bound() {
    let common = cbor!({"version" => 2, "common" => {"text" => "x".repeat(1 << 16)}}).unwrap();
    let frames = |count| [vec![metadata(METADATA, &common)], vec![two_bytes(); count]].concat();
    let (few, _) = upgraded(&message(&frames(200), true));
    assert!(few.base.iter().all(|entry| entry.contains_key("text")));
    let (many, _) = upgraded(&message(&frames(300), true));
    assert!(many.base.iter().all(|entry| !entry.contains_key("text")));
    assert!(many.extra["common"].is_map());
    // Without objects nothing is lost either.
    assert!(upgraded(&message(&frames(0), true)).0.extra["common"].is_map());
}

#[test]
fn preceders_lie_over_the_entry_of_the_object_that_follows() {
    let preceder = cbor!({"base" => [{"step" => 6, "new" => true, "_reserved_" => {"forged" => 1}}]}).unwrap();
    let footer = cbor!({"version" => 2, "base" => [{"step" => 1}, {"step" => 2, "kept" => 3}]}).unwrap();
    let frames =
        [only_version(), two_bytes(), metadata(PRECEDER, &preceder), two_bytes(), metadata(FOOTER_METADATA, &footer)];
    for states_length in [false, true] {
        let (metadata, _) = upgraded(&message(&frames, states_length));
        assert_eq!(own(&metadata.base[0]), cbor!({"step" => 1}).unwrap());
        assert_eq!(own(&metadata.base[1]), cbor!({"kept" => 3, "new" => true, "step" => 6}).unwrap());
    }
}

#[test]
fn descriptors_before_payloads_are_read() {
    let old = message(&[only_version(), object(&bytes_with(Vec::new()), &[7, 9], false)], true);
    assert_eq!(upgraded(&old).1[0].1, [7, 9]);
}

#[test]
fn a_wrong_digest_is_an_error_unless_it_is_to_be_ignored() {
    let hash = |value: Value| bytes_with(vec![(Value::from("hash"), value)]);
    let right = tgm_std::compute_hash(&[7, 9]);
    let with = |value: Value| message(&[only_version(), two_bytes(), object(&hash(value), &[7, 9], true)], true);
    let (_, objects) = upgraded(&with(cbor!({"type" => "xxh3", "value" => right}).unwrap()));
    assert!(objects[1].0.params.is_empty());
    assert_eq!(upgraded(&with(Value::Null)).1.len(), 2);
    let wrong = [
        (
            cbor!({"type" => "xxh3", "value" => "0000000000000000"}),
            "hash mismatch on object 1: expected 0000000000000000",
        ),
        (cbor!({"type" => "md5", "value" => right}), "object 1: hash is not an xxh3 digest"),
        (cbor!({"type" => "xxh3", "value" => "+00000000000000f"}), "object 1: hash is not an xxh3 digest"),
        (cbor!("text"), "object 1: hash is not an xxh3 digest"),
    ];
    for (value, text) in wrong {
        let old = with(value.unwrap());
        let error = refused(&old).to_string();
        assert!(error.contains(text), "{error}");
        let new = upgrade_message(&old, &UpgradeOptions { ignore_hash: true, ..UpgradeOptions::default() }).unwrap();
        let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
        assert_eq!(tgm_std::decode(&new, &options).unwrap().1[1].1, [7, 9]);
    }
}

#[test]
fn what_version_3_would_read_otherwise_is_refused() {
    let entry = |key: &str, value: Value| bytes_with(vec![(Value::from(key), value)]);
    let mask = cbor!({"nan" => {"method" => "none", "offset" => 0, "length" => 1}}).unwrap();
    let Value::Map(mut without_order) = bytes_with(Vec::new()) else { unreachable!("a map") };
    without_order.retain(|(key, _)| *key != Value::from("byte_order"));
    let both = vec![
        ("encoding", Value::from("simple_packing")),
        ("bits_per_value", 8.into()),
        ("sp_bits_per_value", 9.into()),
    ];
    let both = both.into_iter().map(|(key, value)| (Value::from(key), value)).collect();
    let cases = [
        (entry("masks", mask), "has masks"),
        (Value::Map(without_order), "byte_order"),
        (bytes_with(both), "both bits_per_value and sp_bits_per_value"),
        (entry("compression", "rle".into()), "compression rle is none of version 2"),
        (entry("compression", "brotli".into()), "compression brotli is none of version 2"),
        (entry("filter", "delta".into()), "filter delta is none of version 2"),
        (entry("encoding", "jpeg".into()), "encoding jpeg is none of version 2"),
        (entry("shape", Value::Array(vec![3.into()])), "object 0: the payload does not have the size"),
    ];
    for (descriptor, text) in cases {
        let error = refused(&message(&[only_version(), object(&descriptor, &[7, 9], true)], true)).to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn damage_is_told_by_kind_and_place() {
    let whole = message(&[only_version(), two_bytes()], true);
    let (mut no_end, mut type_9) = (whole.clone(), whole.clone());
    let end = whole.windows(4).rposition(|window| window == FRAME_END).unwrap();
    no_end[end] = b'X';
    let object = whole.windows(2).rposition(|window| window == FRAME_MAGIC).unwrap();
    type_9[object + 3] = 9;
    let mut reaching = whole.clone();
    reaching[end - 1] = 0xff;
    let longer_base = cbor!({"version" => 2, "base" => [{"a" => 1}]}).unwrap();
    let cases = [
        (no_end, format!("missing ENDF marker at byte {end}")),
        (type_9, format!("unknown frame type 9 at byte {}", object + 2)),
        (reaching, "cbor_offset out of valid range".into()),
        (whole[..whole.len() - 1].to_vec(), "exceeds buffer size".into()),
        (whole[..20].to_vec(), "buffer too short for preamble".into()),
        (message(&[two_bytes()], true), "no metadata frame".into()),
        (message(&[metadata(METADATA, &longer_base)], true), "base has more entries".into()),
        (message(&[two_bytes(), only_version()], true), "unexpected HeaderMetadata frame after body phase".into()),
        (message(&[only_version(), metadata(PRECEDER, &longer_base)], true), "dangling PrecederMetadata".into()),
    ];
    for (bytes, text) in cases {
        let error = refused(&bytes).to_string();
        assert!(error.contains(&text), "{error}: {text}");
    }
    let new = upgrade_message(&whole, &UpgradeOptions::default()).unwrap();
    assert!(refused(&new).to_string().contains("message is of version 3"));
}

#[test]
fn of_messages_inside_each_other_the_outer_one_counts() {
    let new = upgrade_message(&message(&[only_version(), two_bytes()], true), &UpgradeOptions::default()).unwrap();
    let holding = |inner: &[u8]| {
        let shape = (Value::from("shape"), Value::Array(vec![(inner.len() as u64).into()]));
        object(&bytes_with(vec![shape]), inner, true)
    };
    for states_length in [false, true] {
        let old = message(&[only_version(), holding(&new)], states_length);
        let around = upgrade_message(&old, &UpgradeOptions::default()).unwrap();
        let inside = upgrade_message(&message(&[only_version(), holding(&old)], true), &UpgradeOptions::default());
        let file = [&old[..], b"junk", &around, &inside.unwrap(), &old].concat();
        let kinds: Vec<_> = scan(&file).iter().map(|segment| segment.kind).collect();
        assert_eq!(kinds, [Kind::V2, Kind::Junk, Kind::V3, Kind::V3, Kind::V2]);
    }
}

#[test]
fn a_torn_stream_of_version_3_hides_no_message_of_version_2() {
    let old = message(&[only_version(), two_bytes()], true);
    let mut torn = MAGIC.to_vec();
    torn.extend([0, 3, 0, 0, 0, 0, 0, 0]); // version, flags, reserved
    torn.extend([0; 40]); // total_length, and no frames
    let kinds: Vec<_> = scan(&[&torn[..], &old].concat()).iter().map(|segment| segment.kind).collect();
    assert_eq!(kinds, [Kind::Junk, Kind::V2]);
}

#[test]
fn a_torn_stream_of_version_2_hides_nothing_either() {
    let old = message(&[only_version(), two_bytes()], false);
    let torn = &old[..old.len() - 16];
    let kinds: Vec<_> = scan(&[torn, &old].concat()).iter().map(|segment| segment.kind).collect();
    assert_eq!(kinds, [Kind::Junk, Kind::V2]);
}
