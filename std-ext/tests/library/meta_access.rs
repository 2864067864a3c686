//! Values of metadata by their paths.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::{GlobalMetadata, MetaType};

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

fn entries<const N: usize>(entries: [(&str, Value); N]) -> BTreeMap<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn metadata() -> GlobalMetadata {
    GlobalMetadata {
        base: vec![
            entries([("mars", map([("param", "2t".into()), ("level", 0.into())])), ("scalar", 1.into())]),
            entries([
                ("mars", map([("param", "msl".into()), ("step", map([("end", 6.into())]))])),
                ("scalar", map([("x", 2.into())])),
                ("_reserved_", map([("tensor", map([("ndim", 1.into())]))])),
            ]),
        ],
        reserved: entries([("uuid", "u".into())]),
        extra: entries([
            ("owner", "me".into()),
            ("mars", map([("class", "od".into())])),
            ("extra", "itself".into()),
            ("_reserved_", map([("hidden", 1.into())])),
        ]),
    }
}

#[test]
fn the_first_object_in_which_the_whole_path_resolves_counts() {
    let metadata = metadata();
    assert_eq!(metadata.get("mars.param").unwrap().as_str(), Some("2t"));
    assert_eq!(metadata.get("mars.step.end").unwrap().as_i64(), Some(6));
    // A scalar before the path's end is a miss, and the next object is tried.
    assert_eq!(metadata.get("scalar.x").unwrap().as_u64(), Some(2));
    assert_eq!(metadata.get("mars.class").unwrap().as_str(), Some("od"));
    assert_eq!(metadata.get("owner").unwrap().as_str(), Some("me"));
    assert!(metadata.contains("mars.level") && !metadata.contains("mars.nothing"));
}

#[test]
fn annotations_are_asked_for_by_either_prefix() {
    let metadata = metadata();
    for prefix in ["extra", "_extra_"] {
        assert_eq!(metadata.get_value(&format!("{prefix}.mars.class")), Some(&"od".into()));
        assert_eq!(metadata.get_value(&format!("{prefix}.mars.param")), None);
        assert_eq!(metadata.get_value(&format!("{prefix}.extra")), Some(&"itself".into()));
        assert_eq!(metadata.get_value(prefix), None);
    }
}

#[test]
fn empty_segments_and_what_the_library_wrote_are_not_found() {
    let metadata = metadata();
    for path in ["", ".", ".mars", "mars.", "mars..param", "_reserved_.tensor", "_reserved_.uuid", "uuid", "extra."] {
        assert_eq!(metadata.get_value(path), None, "{path:?}");
    }
    assert!(!metadata.contains_at(1, "_reserved_.tensor.ndim"));
    // An annotation of that name is the writer's own.
    assert_eq!(metadata.get("_reserved_.hidden").unwrap().as_i64(), Some(1));
}

#[test]
fn an_object_s_own_lookup_sees_that_object_only() {
    let metadata = metadata();
    assert_eq!(metadata.get_at(1, "mars.param").unwrap().as_str(), Some("msl"));
    assert_eq!(metadata.get_value_at(0, "mars.step.end"), None);
    assert!(!metadata.contains_at(0, "owner") && !metadata.contains_at(0, "extra.owner"));
    assert!(!metadata.contains_at(2, "mars"));
}

#[test]
fn sections_are_maps() {
    let metadata = metadata();
    let object = metadata.object(1).unwrap();
    assert_eq!((object.value_type(), object.len()), (MetaType::Map, 3));
    assert_eq!(object.get_key("_reserved_").unwrap().key_at(0), Some("tensor"));
    assert_eq!((object.key_at(0), object.key_at(3)), (Some("_reserved_"), None));
    assert_eq!(object.value_at(1).unwrap().get_key("param").unwrap().as_str(), Some("msl"));
    assert!(metadata.object(2).is_none());
    assert_eq!(metadata.extra_view().get_key("owner").unwrap().as_str(), Some("me"));
    assert!(metadata.reserved_view().contains_key("uuid"));
    assert!(GlobalMetadata::default().extra_view().is_empty());
}

/// Metadata with one annotation `v`.
fn alone(value: &Value) -> GlobalMetadata {
    GlobalMetadata { extra: entries([("v", value.clone())]), ..GlobalMetadata::default() }
}

#[test]
fn values_are_of_one_type_and_converted_no_further_than_to_floats() {
    let tag = Value::Tag(1, Box::new(1.into()));
    let all = [
        (Value::Null, MetaType::Null),
        (true.into(), MetaType::Bool),
        (3.into(), MetaType::Int),
        (2.5.into(), MetaType::Float),
        ("t".into(), MetaType::String),
        (Value::Bytes(vec![1]), MetaType::Bytes),
        (Value::Array(vec![Value::Null, 7.into()]), MetaType::Array),
        (map([("k", 1.into())]), MetaType::Map),
        (tag, MetaType::Null),
    ];
    for (value, kind) in &all {
        let metadata = alone(value);
        let found = metadata.get("v").unwrap();
        assert_eq!(found.value_type(), *kind);
        assert_eq!(found.is_null(), *kind == MetaType::Null);
        assert_eq!(found.as_bool(), (*kind == MetaType::Bool).then_some(true));
        assert_eq!(found.as_i64(), (*kind == MetaType::Int).then_some(3));
        assert_eq!(found.as_str(), (*kind == MetaType::String).then_some("t"));
        assert_eq!(found.as_bytes(), (*kind == MetaType::Bytes).then_some(&[1][..]));
        let float = [(MetaType::Int, 3.0), (MetaType::Float, 2.5)].into_iter().find(|(of, _)| of == kind);
        assert_eq!(found.as_f64(), float.map(|(_, x)| x));
        let len = [(MetaType::Array, 2), (MetaType::Map, 1)].into_iter().find(|(of, _)| of == kind);
        assert_eq!(found.len(), len.map_or(0, |(_, len)| len));
        assert_eq!(found.get_index(1).is_some(), *kind == MetaType::Array);
        assert_eq!(found.contains_key("k"), *kind == MetaType::Map);
        assert_eq!(found.key_at(0).is_some() && found.value_at(0).is_some(), *kind == MetaType::Map);
    }
}

#[test]
fn integers_that_do_not_fit_are_absent() {
    let (large, small) = (alone(&Value::from(u64::MAX)), alone(&Value::from(-(1_i128 << 64))));
    let (large, small) = (large.get("v").unwrap(), small.get("v").unwrap());
    assert_eq!((large.as_i64(), large.as_u64()), (None, Some(u64::MAX)));
    assert_eq!((small.as_i64(), small.as_u64()), (None, None));
    assert_eq!(small.as_f64(), Some(-18_446_744_073_709_551_616.0));
}
