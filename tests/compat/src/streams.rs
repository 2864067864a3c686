//! Messages that are written object by object, with metadata before each object.

use std::collections::BTreeMap;
use std::io::Cursor;

use ciborium::Value;
use tensogram::streaming::StreamingEncoder;
use tensogram::{DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, Result, decode, decode_metadata};

use crate::fields::{bytes, descriptor, values};

fn mars_entry(param: &str) -> BTreeMap<String, Value> {
    let mars = Value::Map(vec![(Value::from("param"), Value::from(param)), (Value::from("step"), Value::from(6))]);
    BTreeMap::from([("mars".to_string(), mars)])
}

pub(crate) fn run() -> Result<()> {
    println!("== streams");
    let mut global = GlobalMetadata::default();
    global.extra.insert("source".to_string(), Value::Text("model".to_string()));
    let mut encoder = StreamingEncoder::new(Vec::new(), &global, &EncodeOptions::default())?;
    encoder.write_preceder(mars_entry("2t"))?;
    let mut field = descriptor(Dtype::Float64, &[2]);
    field.compression = "zstd".into();
    encoder.write_object(&field, &bytes(&[1.5, 2.5]))?;
    let raw = descriptor(Dtype::Uint16, &[1]);
    encoder.write_object_pre_encoded(&raw, &[7, 0])?;
    println!("{} objects, {}", encoder.object_count(), encoder.bytes_written() > 200);
    let message: Vec<u8> = encoder.finish()?;
    let (metadata, objects) = decode(&message, &DecodeOptions { verify_hash: true, ..Default::default() })?;
    println!("{:?} {:?}", values(&objects[0].1), objects[1].1);
    println!("{:?}", metadata.get("mars.param").and_then(|value| value.as_str()));
    println!("{:?} {:?}", metadata.get_value("source"), metadata.get_value("extra.source"));
    println!("known at the start: {} entries", decode_metadata(&message)?.base.len());

    let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &global, &EncodeOptions::default())?;
    let mut all = Vec::new();
    for byte in 0..3 {
        encoder.write_object(&raw, &[byte, 0])?;
        all.extend(if byte == 1 { encoder.finish_and_reset()? } else { encoder.finish_and_reset_with_backfill()? });
    }
    for message in tensogram::messages(&all) {
        let preamble = tensogram::wire::Preamble::read_from(message)?;
        let (_, objects) = decode(message, &DecodeOptions::default())?;
        println!("{:?} {}", objects[0].1, preamble.total_length == message.len() as u64);
    }
    encoder.write_object(&raw, &[9, 0])?;
    let sink = encoder.finish_with_backfill()?.into_inner();
    println!("{:?}", tensogram::scan(&sink) == [(0, sink.len())]);
    Ok(())
}
