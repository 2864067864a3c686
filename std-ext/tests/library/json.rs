//! Descriptors and metadata as JSON, by serde.

use std::collections::BTreeMap;

use ciborium::Value;
use serde_json::json;
use tgm_std::{ByteOrder, DataObjectDescriptor, GlobalMetadata, HashFrame, IndexFrame, MaskDescriptor, MasksMetadata};

use crate::metadata::entries;

fn descriptor() -> DataObjectDescriptor {
    let mask = MaskDescriptor { method: "rle".into(), offset: 16, length: 3, params: BTreeMap::new() };
    DataObjectDescriptor {
        compression: "zstd".into(),
        masks: Some(MasksMetadata { pos_inf: Some(mask), ..MasksMetadata::default() }),
        params: entries([("zstd_level", 3.into()), ("note", vec![Value::from(1.5), "a".into()].into())]),
        ..crate::metadata::descriptor()
    }
}

#[test]
fn a_descriptor_has_its_wire_keys_in_json() {
    let json = serde_json::to_value(descriptor()).unwrap();
    let expected = json!({
        "type": "ntensor", "ndim": 1, "shape": [4], "strides": [1], "dtype": "float32", "byte_order": "big",
        "encoding": "none", "filter": "none", "compression": "zstd",
        "masks": {"inf+": {"method": "rle", "offset": 16, "length": 3}},
        "zstd_level": 3, "note": [1.5, "a"],
    });
    assert_eq!(json, expected);
    assert_eq!(serde_json::from_value::<DataObjectDescriptor>(json).unwrap(), descriptor());
}

#[test]
fn what_a_descriptor_may_leave_out_may_be_absent() {
    let mut json = serde_json::to_value(descriptor()).unwrap();
    for key in ["byte_order", "masks", "zstd_level", "note"] {
        json.as_object_mut().unwrap().remove(key);
    }
    let read: DataObjectDescriptor = serde_json::from_value(json.clone()).unwrap();
    assert_eq!((read.byte_order, read.masks, read.params), (ByteOrder::native(), None, BTreeMap::new()));
    json.as_object_mut().unwrap().remove("shape");
    let error = serde_json::from_value::<DataObjectDescriptor>(json).unwrap_err();
    assert!(error.to_string().contains("missing field `shape`"), "{error}");
}

#[test]
fn names_that_the_format_does_not_have_are_refused() {
    for (key, text) in [("dtype", "unknown dtype Float32"), ("byte_order", "unknown byte_order Float32")] {
        let mut json = serde_json::to_value(descriptor()).unwrap();
        json[key] = "Float32".into();
        let error = serde_json::from_value::<DataObjectDescriptor>(json).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn metadata_has_its_wire_keys_in_json_and_no_empty_section() {
    let metadata = GlobalMetadata {
        base: vec![entries([("mars", Value::Map(vec![("param".into(), "2t".into())]))]), BTreeMap::new()],
        reserved: entries([("uuid", "u".into())]),
        extra: entries([("n", (-3).into())]),
    };
    let json = serde_json::to_value(&metadata).unwrap();
    let expected = json!({"base": [{"mars": {"param": "2t"}}, {}], "_reserved_": {"uuid": "u"}, "_extra_": {"n": -3}});
    assert_eq!(json, expected);
    assert_eq!(serde_json::from_value::<GlobalMetadata>(json).unwrap(), metadata);
    assert_eq!(serde_json::to_value(GlobalMetadata::default()).unwrap(), json!({}));
    assert_eq!(serde_json::from_value::<GlobalMetadata>(json!({})).unwrap(), GlobalMetadata::default());
}

#[test]
fn index_and_hash_lists_round_trip_through_json() {
    let index = IndexFrame { offsets: vec![400, u64::MAX], lengths: vec![162, 1] };
    let json = serde_json::to_string(&index).unwrap();
    assert_eq!(serde_json::from_str::<IndexFrame>(&json).unwrap(), index);
    let list = HashFrame { algorithm: "xxh3".into(), hashes: vec!["3aeac8603f519c1d".into()] };
    let json = serde_json::to_string(&list).unwrap();
    assert_eq!(serde_json::from_str::<HashFrame>(&json).unwrap(), list);
}
