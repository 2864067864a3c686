use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};

use tgm_std::metadata::*;
use tgm_std::{DataObjectDescriptor, GlobalMetadata, HashFrame, IndexFrame, MaskDescriptor, MasksMetadata};

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

pub(crate) fn entries<const N: usize>(entries: [(&str, Value); N]) -> BTreeMap<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(crate) fn descriptor() -> DataObjectDescriptor {
    DataObjectDescriptor {
        obj_type: "ntensor".into(),
        ndim: 1,
        shape: vec![4],
        strides: vec![1],
        dtype: Dtype::Float32,
        byte_order: ByteOrder::Big,
        encoding: "none".into(),
        filter: "none".into(),
        compression: "none".into(),
        masks: None,
        params: BTreeMap::new(),
    }
}

#[test]
fn index_of_the_format_s_vector() {
    let index = IndexFrame { offsets: vec![400], lengths: vec![162] };
    let bytes = index_to_cbor(&index).unwrap();
    assert_eq!(hex(&bytes), "a2676c656e677468738118a2676f66667365747381190190");
    assert_eq!(cbor_to_index(&bytes).unwrap(), index);
    assert_eq!(cbor_to_index(&[0xa0]).unwrap(), IndexFrame::default());
}

#[test]
fn index_with_arrays_of_different_lengths_is_refused_both_ways() {
    let error = index_to_cbor(&IndexFrame { offsets: vec![1, 2], lengths: vec![1] }).unwrap_err();
    assert_eq!(error.to_string(), "metadata error: index offsets.len() (2) != lengths.len() (1)");
    let error = cbor_to_index(b"\xa1\x67lengths\x81\x01").unwrap_err().to_string();
    assert!(error.contains("offsets.len()"), "{error}");
}

#[test]
fn hash_list_of_the_format_s_vector() {
    let list = HashFrame { algorithm: "xxh3".into(), hashes: vec!["3aeac8603f519c1d".into()] };
    let bytes = hash_frame_to_cbor(&list).unwrap();
    let expected = "a26668617368657381703361656163383630336635313963316469616c676f726974686d6478786833";
    assert_eq!(hex(&bytes), expected);
    assert_eq!(cbor_to_hash_frame(&bytes).unwrap(), list);
    assert_eq!(cbor_to_hash_frame(&[0xa0]).unwrap(), HashFrame::default());
}

#[test]
fn descriptor_of_the_format_s_vector() {
    let bytes = object_descriptor_to_cbor(&descriptor()).unwrap();
    let expected = "a9646e64696d016474797065676e74656e736f7265647479706567666c6f6174333265736861706581046666696c746572\
                    646e6f6e656773747269646573810168656e636f64696e67646e6f6e656a627974655f6f72646572636269676b636f6d70\
                    72657373696f6e646e6f6e65";
    assert_eq!(hex(&bytes), expected);
    assert_eq!(cbor_to_object_descriptor(&bytes).unwrap(), descriptor());
}

#[test]
fn parameters_and_masks_stand_in_one_sorted_map() {
    let mask = |offset, params| MaskDescriptor { method: "zstd".into(), offset, length: 3, params };
    let masks = MasksMetadata {
        nan: Some(mask(16, entries([("level", 3.into())]))),
        pos_inf: Some(mask(19, BTreeMap::new())),
        neg_inf: None,
    };
    let params = entries([("zstd_level", 5.into()), ("a", 1.5.into()), ("note", "x".into())]);
    let descriptor = DataObjectDescriptor { masks: Some(masks), params, ..descriptor() };
    let bytes = object_descriptor_to_cbor(&descriptor).unwrap();
    assert_eq!(cbor_to_object_descriptor(&bytes).unwrap(), descriptor);
    let view = tgm_core::cbor::Value::parse(&bytes, 0).unwrap().as_map().unwrap();
    let keys: Vec<_> = view.iter().map(|entry| entry.unwrap().0.as_str().unwrap()).collect();
    let expected = [
        "a",
        "ndim",
        "note",
        "type",
        "dtype",
        "masks",
        "shape",
        "filter",
        "strides",
        "encoding",
        "byte_order",
        "zstd_level",
        "compression",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn a_digest_of_version_2_is_read_and_not_written() {
    let plain = object_descriptor_to_cbor(&descriptor()).unwrap();
    let hashed = |params| DataObjectDescriptor { params, ..descriptor() };
    assert_eq!(object_descriptor_to_cbor(&hashed(entries([("hash", "x".into())]))).unwrap(), plain);
    let noted = object_descriptor_to_cbor(&hashed(entries([("note", 1.into())]))).unwrap();
    assert_eq!(
        object_descriptor_to_cbor(&hashed(entries([("hash", Value::Null), ("note", 1.into())]))).unwrap(),
        noted
    );
    // A map of ten entries: the nine of the descriptor, and the digest.
    assert_eq!(plain[0], 0xa9);
    let read = cbor_to_object_descriptor(&[&[0xaa], &plain[1..], b"\x64hash\x61x"].concat()).unwrap();
    assert_eq!(read, hashed(entries([("hash", "x".into())])));
    assert_eq!(object_descriptor_to_cbor(&read).unwrap(), plain);
}

#[test]
fn an_empty_masks_map_stays_one() {
    let descriptor = DataObjectDescriptor { masks: Some(MasksMetadata::default()), ..descriptor() };
    let bytes = object_descriptor_to_cbor(&descriptor).unwrap();
    assert_eq!(cbor_to_object_descriptor(&bytes).unwrap(), descriptor);
}

#[test]
fn a_parameter_with_the_name_of_a_field_is_refused() {
    for name in
        ["ndim", "type", "dtype", "masks", "shape", "filter", "strides", "encoding", "byte_order", "compression"]
    {
        let descriptor = DataObjectDescriptor { params: entries([(name, 1.into())]), ..descriptor() };
        let error = object_descriptor_to_cbor(&descriptor).unwrap_err();
        assert_eq!(error.to_string(), format!("metadata error: parameter {name} has the name of a descriptor field"));
    }
}

#[test]
fn sections_stand_in_the_format_s_order_and_empty_ones_are_left_out() {
    let one = |n: i32| entries([("k", n.into())]);
    let metadata = GlobalMetadata { base: vec![one(1), BTreeMap::new()], reserved: one(2), extra: one(3) };
    let bytes = global_metadata_to_cbor(&metadata).unwrap();
    assert_eq!(hex(&bytes), "a3646261736582a1616b01a0675f65787472615fa1616b036a5f72657365727665645fa1616b02");
    assert_eq!(cbor_to_global_metadata(&bytes).unwrap(), metadata);
    let extra = GlobalMetadata { extra: one(3), ..GlobalMetadata::default() };
    assert_eq!(hex(&global_metadata_to_cbor(&extra).unwrap()), "a1675f65787472615fa1616b03");
}

#[test]
fn an_unknown_top_level_key_becomes_an_annotation() {
    let metadata = cbor_to_global_metadata(b"\xa1\x67version\x03").unwrap();
    assert_eq!(metadata.extra, entries([("version", 3.into())]));
    assert_eq!(hex(&global_metadata_to_cbor(&metadata).unwrap()), "a1675f65787472615fa16776657273696f6e03");
}

#[test]
fn the_check_of_canonical_form_looks_at_the_order_of_keys() {
    assert!(verify_canonical_cbor(b"\xa2\x61a\x01\x61b\x02").is_ok());
    assert!(verify_canonical_cbor(b"\xa1\x78\x01a\x1b\0\0\0\0\0\0\0\x01\xff").is_ok());
    for bytes in [&b"\xa2\x61b\x01\x61a\x02"[..], b"\x81\xa2\x61a\x01\x61a\x02"] {
        let error = verify_canonical_cbor(bytes).unwrap_err();
        assert!(error.to_string().contains("metadata error: CBOR map keys not in canonical order"), "{error}");
    }
    let error = verify_canonical_cbor(b"\xa1\x61a").unwrap_err();
    assert!(error.to_string().starts_with("metadata error: failed to parse"), "{error}");
}

#[test]
fn what_cannot_be_read_is_a_metadata_error_that_says_what_it_was() {
    let text = |bytes: &[u8]| {
        [
            cbor_to_global_metadata(bytes).unwrap_err().to_string(),
            cbor_to_object_descriptor(bytes).unwrap_err().to_string(),
            cbor_to_index(bytes).unwrap_err().to_string(),
            cbor_to_hash_frame(bytes).unwrap_err().to_string(),
        ]
    };
    let names = ["global metadata", "descriptor", "index", "hash frame"];
    let not_a_map = |name| {
        format!(
            "metadata error: failed to deserialize {name}: {name} CBOR is not a map: expected map, got integer at byte 0"
        )
    };
    assert_eq!(text(&[0x00]), names.map(not_a_map));
    for (bytes, what) in [(&[0xa1][..], "the bytes end too early"), (&[0xa1, 0x61, 0xff, 0x00], "not UTF-8")] {
        for (text, name) in text(bytes).iter().zip(names) {
            assert!(text.starts_with(&format!("metadata error: failed to parse {name} CBOR: ")), "{text}");
            assert!(text.contains(what), "{text}");
        }
    }
    for text in text(&[0xa1, 0x00, 0x01]) {
        assert!(text.starts_with("metadata error: failed to deserialize ") && text.contains("non-text"), "{text}");
    }
    let error = cbor_to_object_descriptor(&[0xa0]).unwrap_err();
    assert!(error.to_string().contains("missing field") && error.cause().is_some(), "{error}");
}

#[test]
fn keys_with_equal_values_in_all_objects_are_common() {
    let base = [
        entries([("class", "od".into()), ("param", "2t".into()), ("first", 1.into()), ("_reserved_", 1.into())]),
        entries([("class", "od".into()), ("param", "msl".into()), ("second", 1.into()), ("_reserved_", 1.into())]),
    ];
    let (common, remaining) = compute_common(&base);
    assert_eq!(common, entries([("class", "od".into())]));
    let left = [[("param", "2t".into()), ("first", 1.into())], [("param", "msl".into()), ("second", 1.into())]];
    assert_eq!(remaining, left.map(entries));
}

#[test]
fn floats_are_compared_by_their_bits() {
    let entry = |x: f64| entries([("array", Value::Array(vec![x.into()])), ("x", x.into())]);
    assert_eq!(compute_common(&[entry(f64::NAN), entry(f64::NAN)]).0.len(), 2);
    assert_eq!(compute_common(&[entry(0.0), entry(-0.0)]).0.len(), 0);
    assert_eq!(compute_common(&[entries([("x", 1.into())]), entries([("x", 1.0.into())])]).0.len(), 0);
}

#[test]
fn one_object_shares_everything_with_itself() {
    let (common, remaining) = compute_common(&[entries([("a", 1.into()), ("_reserved_", 2.into())])]);
    assert_eq!((common, remaining), (entries([("a", 1.into())]), vec![BTreeMap::new()]));
    assert_eq!(compute_common(&[]), (BTreeMap::new(), vec![]));
}
