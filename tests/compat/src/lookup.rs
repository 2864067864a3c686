//! Metadata that is looked up, compared, and written as CBOR and JSON.

use std::error::Error;

use ciborium::Value;
use tensogram::metadata::{
    cbor_to_global_metadata, cbor_to_hash_frame, cbor_to_index, cbor_to_object_descriptor, global_metadata_to_cbor,
    hash_frame_to_cbor, index_to_cbor, object_descriptor_to_cbor,
};
use tensogram::{
    DataObjectDescriptor, Dtype, GlobalMetadata, HashFrame, IndexFrame, MetaType, MetaValue, compute_common,
    compute_hash, parse_hash_name, verify_canonical_cbor,
};

use crate::fields::descriptor;

fn entry(param: &str, level: i64) -> std::collections::BTreeMap<String, Value> {
    let mars = vec![(Value::from("param"), Value::from(param)), (Value::from("class"), Value::from("od"))];
    [
        ("mars".to_string(), Value::Map(mars)),
        ("level".to_string(), Value::from(level)),
        ("date".to_string(), Value::from(20_260_101)),
    ]
    .into_iter()
    .collect()
}

fn kind(value: MetaValue<'_>) -> &'static str {
    match value.value_type() {
        MetaType::Null => "null",
        MetaType::Bool => "bool",
        MetaType::Int => "int",
        MetaType::Float => "float",
        MetaType::String => "string",
        MetaType::Bytes => "bytes",
        MetaType::Array => "array",
        MetaType::Map => "map",
    }
}

pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    println!("== lookup");
    let mut metadata = GlobalMetadata { base: vec![entry("2t", 2), entry("msl", 0)], ..Default::default() };
    for (key, value) in [
        ("list", Value::Array(vec![Value::from(1), Value::from(2.5), Value::Null, Value::from(true)])),
        ("bytes", Value::Bytes(vec![1, 2])),
        ("level", Value::from(-1)),
    ] {
        metadata.extra.insert(key.to_string(), value);
    }
    for path in
        ["mars.param", "mars", "level", "extra.level", "_extra_.level", "list", "bytes", "none", "", "mars.x", "list.0"]
    {
        let found = metadata.get(path);
        println!("{path:?}: {:?} {:?}", found.map(kind), found.and_then(|value| value.as_i64()));
    }
    println!("{:?} {:?}", metadata.get_value_at(1, "mars.param"), metadata.get_at(2, "level").is_some());
    println!("{} {}", metadata.contains("date"), metadata.contains_at(0, "bytes"));
    let inner = Value::Map(vec![(Value::from("class"), Value::from("od"))]);
    let mut shadowed = metadata.clone();
    shadowed.base[0].insert("_reserved_".to_string(), inner.clone());
    println!("{:?} {:?}", shadowed.get_value("_reserved_.class"), shadowed.get_value_at(0, "_reserved_.class"));
    shadowed.extra.insert("_reserved_".to_string(), inner);
    println!("{:?} {:?}", shadowed.get_value("_reserved_.class"), shadowed.get_value("_reserved_").is_some());
    println!("{} {}", shadowed.contains("extra._reserved_.class"), shadowed.contains_at(0, "_reserved_"));
    let list = metadata.get("list").ok_or("no list")?;
    println!("{} {:?} {:?}", list.len(), list.get_index(1).and_then(|x| x.as_f64()), list.get_index(9).is_none());
    println!("{:?} {:?}", list.get_index(2).map(|x| x.is_null()), list.get_index(3).and_then(|x| x.as_bool()));
    let object = metadata.object(0).ok_or("no object")?;
    println!(
        "{:?} {:?} {}",
        object.key_at(0),
        object.value_at(1).and_then(|x| x.as_u64()),
        object.contains_key("mars")
    );
    println!("{:?}", object.get_key("mars").and_then(|mars| mars.get_key("class")).and_then(|class| class.as_str()));
    println!("{:?}", metadata.extra_view().get_key("bytes").and_then(|bytes| bytes.as_bytes()));
    println!("{} {}", metadata.reserved_view().is_empty(), metadata.num_objects());

    let (common, rest) = compute_common(&metadata.base);
    println!("{:?} {:?}", common.keys().collect::<Vec<_>>(), rest.iter().map(|entry| entry.len()).collect::<Vec<_>>());
    let cbor = global_metadata_to_cbor(&metadata)?;
    println!("{} {:?}", compute_hash(&cbor), verify_canonical_cbor(&cbor).is_ok());
    println!("{:?}", cbor_to_global_metadata(&cbor)?.base == metadata.base);
    println!(
        "{}",
        serde_json::to_string(&GlobalMetadata { extra: metadata.extra.clone(), ..Default::default() })?.len() > 30
    );

    let described = descriptor(Dtype::Complex64, &[2, 3]);
    let cbor = object_descriptor_to_cbor(&described)?;
    let read: DataObjectDescriptor = cbor_to_object_descriptor(&cbor)?;
    println!("{} {:?} {:?}", compute_hash(&cbor), read.shape, read.strides);
    let json = serde_json::to_value(&read)?;
    println!("{} {} {}", json["type"], json["dtype"], json["shape"]);
    println!("{:?}", serde_json::from_value::<DataObjectDescriptor>(json)?.dtype);
    println!("{} {:?}", serde_json::to_string(&Dtype::Bfloat16)?, serde_json::from_str::<Dtype>("\"uint64\"")?);
    for dtype in [Dtype::Float16, Dtype::Complex128, Dtype::Bitmask, Dtype::Int8] {
        println!("{dtype} {} {}", dtype.byte_width(), dtype.swap_unit_size());
    }
    let index = cbor_to_index(&index_to_cbor(&IndexFrame { offsets: vec![400, 1 << 40], lengths: vec![160, 3] })?)?;
    println!("{:?} {:?}", index.offsets, index.lengths);
    let list = HashFrame { algorithm: "xxh3".into(), hashes: vec!["3aeac8603f519c1d".into()] };
    let list = cbor_to_hash_frame(&hash_frame_to_cbor(&list)?)?;
    println!("{} {:?}", list.algorithm, list.hashes);
    println!("{} {} {}", parse_hash_name(None)?, parse_hash_name(Some("none"))?, parse_hash_name(Some("md5")).is_err());
    Ok(())
}
