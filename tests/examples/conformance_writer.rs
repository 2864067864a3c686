//! The writer of `tests/conformance`: makes the message that a request describes.
//!
//! `conformance_writer REQUEST.json OUT.tgm`, or `conformance_writer --all FOLDER`, which makes `NAME.tgm` beside every
//! `NAME.json` of a folder. `tests/conformance/README.md` says what a request holds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a request that is wrong ends the program with a text")]

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::{env, fs};

use ciborium::Value;
use serde_json::Value as Json;
use tgm_std::{
    AggregateHashPolicy, DataObjectDescriptor, EncodeOptions, GlobalMetadata, MaskMethod, Provenance, StreamingEncoder,
    encode,
};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--all", folder] => {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "json") {
                    make(&path, &path.with_extension("tgm"));
                }
            }
        }
        [request, out] => make(Path::new(request), Path::new(out)),
        _ => panic!("usage: conformance_writer REQUEST.json OUT.tgm | --all FOLDER"),
    }
}

/// Reads a request and writes its message.
fn make(request: &Path, out: &Path) {
    let text = fs::read_to_string(request).unwrap_or_else(|error| panic!("{}: {error}", request.display()));
    let request: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", request.display()));
    let message = message(&request).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
    fs::write(out, message).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
}

/// The message of a request.
fn message(request: &Json) -> tgm_std::Result<Vec<u8>> {
    let options = options(request);
    let metadata: GlobalMetadata = cbor(&request["metadata"]).deserialized().unwrap();
    let objects: Vec<(DataObjectDescriptor, Vec<u8>)> =
        request["objects"].as_array().unwrap().iter().map(object).collect();
    let layout = request["layout"].as_str().unwrap();
    if layout == "buffered" {
        let objects: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, &**values)).collect();
        return encode(&metadata, &objects, &options);
    }
    let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options)?;
    for ((descriptor, values), request) in objects.iter().zip(request["objects"].as_array().unwrap()) {
        if let Some(preceder) = request.get("preceder") {
            encoder.write_preceder(cbor(preceder).deserialized::<BTreeMap<String, Value>>().unwrap())?;
        }
        encoder.write_object(descriptor, values)?;
    }
    let sink = match layout {
        "streamed" => encoder.finish()?,
        "streamed-backfilled" => encoder.finish_with_backfill()?,
        other => panic!("layout {other}"),
    };
    Ok(sink.into_inner())
}

/// The descriptor of an object, and the bytes of its values.
fn object(request: &Json) -> (DataObjectDescriptor, Vec<u8>) {
    (cbor(&request["descriptor"]).deserialized().unwrap(), bytes(request["values"].as_str().unwrap()))
}

/// The options of a request. All of them are given.
fn options(request: &Json) -> EncodeOptions {
    let given = &request["options"];
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let method = |kind: &str| MaskMethod::from_name(&text(&given["mask_methods"][kind])).unwrap();
    let provenance = &request["provenance"];
    EncodeOptions {
        hashing: given["hashing"].as_bool().unwrap(),
        aggregate_hash: match given["digest_list"].as_str().unwrap() {
            "none" => AggregateHashPolicy::None,
            "header" => AggregateHashPolicy::Header,
            "footer" => AggregateHashPolicy::Footer,
            "both" => AggregateHashPolicy::Both,
            other => panic!("digest_list {other}"),
        },
        allow_nan: given["allow_nan"].as_bool().unwrap(),
        allow_inf: given["allow_inf"].as_bool().unwrap(),
        nan_mask_method: method("nan"),
        pos_inf_mask_method: method("inf+"),
        neg_inf_mask_method: method("inf-"),
        small_mask_threshold_bytes: usize::try_from(given["small_mask_bytes"].as_u64().unwrap()).unwrap(),
        descriptor_first: given["descriptor_first"].as_bool().unwrap(),
        provenance: Some(Provenance {
            time: text(&provenance["time"]),
            uuid: text(&provenance["uuid"]),
            encoder_name: text(&provenance["encoder"]["name"]),
            encoder_version: text(&provenance["encoder"]["version"]),
        }),
        ..EncodeOptions::default()
    }
}

/// The bytes of hex digits.
fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// The CBOR item that a JSON value stands for.
fn cbor(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(cbor).collect()),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(unsigned), _) => Value::from(unsigned),
            (None, Some(signed)) => Value::from(signed),
            (None, None) => Value::Float(number.as_f64().unwrap()),
        },
        Json::Object(entries) => special(entries).unwrap_or_else(|| {
            Value::Map(entries.iter().map(|(key, value)| (key.as_str().into(), cbor(value))).collect())
        }),
    }
}

/// The item of a map whose only key begins with "$".
fn special(entries: &serde_json::Map<String, Json>) -> Option<Value> {
    if let Some(tag) = entries.get("$tag") {
        return Some(Value::Tag(tag.as_u64().unwrap(), Box::new(cbor(&entries["value"]))));
    }
    let (key, value) = entries.iter().next().filter(|_| entries.len() == 1)?;
    Some(match key.as_str() {
        "$bytes" => Value::Bytes(bytes(value.as_str().unwrap())),
        "$int" => Value::Integer(value.as_str().unwrap().parse::<i128>().unwrap().try_into().unwrap()),
        "$float" => Value::Float(match value.as_str().unwrap() {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            other => panic!("$float {other}"),
        }),
        "$pairs" => {
            let pair = |pair: &Json| (cbor(&pair[0]), cbor(&pair[1]));
            Value::Map(value.as_array().unwrap().iter().map(pair).collect())
        }
        _ => return None,
    })
}
