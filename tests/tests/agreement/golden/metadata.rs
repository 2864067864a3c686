//! Metadata and descriptors: those recorded, owned and as views.

use std::collections::BTreeMap;
use std::fmt::Debug;

use ciborium::Value;
use serde_json::{Value as Json, json};
use tgm_core::descriptor::ByteOrder;
use tgm_core::wire::FrameType;
use tgm_core::{Message, cbor};
use tgm_std::{DataObjectDescriptor, DecodeOptions, GlobalMetadata, MasksMetadata};
use tgm_tests::naive;

use super::{Expected, Files, Findings, list, messages_of, readable};

/// A CBOR value in the notation of the sidecars.
fn json_of(value: &Value) -> Json {
    match value {
        Value::Integer(n) => {
            let n = i128::from(*n);
            // Where JSON readers have no integer as large, the sidecar's number was read as a float as well.
            let float = || json!(n as f64);
            i64::try_from(n).map(Json::from).or_else(|_| u64::try_from(n).map(Json::from)).unwrap_or_else(|_| float())
        }
        Value::Float(x) if x.is_nan() => json!({"$float": "nan"}),
        Value::Float(x) if x.is_infinite() => json!({"$float": if *x > 0.0 { "inf" } else { "-inf" }}),
        Value::Float(x) => json!(x),
        Value::Bytes(bytes) => json!({"$bytes": tgm_tests::hex(bytes)}),
        Value::Text(text) => json!(text),
        Value::Bool(bool) => json!(bool),
        Value::Tag(tag, value) => json!({"$tag": tag, "value": json_of(value)}),
        Value::Array(items) => items.iter().map(json_of).collect(),
        Value::Map(entries) => {
            let text: Option<serde_json::Map<String, Json>> =
                entries.iter().map(|(key, value)| Some((key.as_text()?.to_owned(), json_of(value)))).collect();
            let pairs = || entries.iter().map(|(key, value)| json!([json_of(key), json_of(value)]));
            text.map_or_else(|| json!({"$pairs": pairs().collect::<Vec<_>>()}), Json::Object)
        }
        _ => Json::Null,
    }
}

fn json_of_entries(entries: &BTreeMap<String, Value>) -> Json {
    Json::Object(entries.iter().map(|(key, value)| (key.clone(), json_of(value))).collect())
}

/// Whether what was found is what a sidecar says. `$undefined` is read as null; of `$pairs` the sidecar has lost some
/// keys (Python takes 1 and true for the same), so that only values are looked for; tags that the reference's binding
/// turned into text are compared with the sidecar's own parse instead.
fn agrees(found: &Json, expected: &Json) -> bool {
    match (found, expected) {
        (Json::Null, Json::Object(object)) if object.contains_key("$undefined") => true,
        (Json::Object(found), Json::Object(expected)) if expected.contains_key("$pairs") => {
            let values = |object: &serde_json::Map<String, Json>| -> Vec<Json> {
                list(&object["$pairs"]).iter().map(|pair| pair[1].clone()).collect()
            };
            found.contains_key("$pairs") && values(expected).iter().all(|value| values(found).contains(value))
        }
        (Json::Object(found), Json::Object(expected)) => {
            found.len() == expected.len()
                && found.iter().all(|(key, value)| expected.get(key).is_some_and(|other| agrees(value, other)))
        }
        (Json::Array(found), Json::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| agrees(a, b))
        }
        (Json::Number(a), Json::Number(b)) => a == b || (a.as_f64() == b.as_f64() && a.is_f64() && b.is_f64()),
        (Json::Object(tag), Json::String(text)) if text.starts_with("Tag(") => tag.contains_key("$tag"),
        _ => found == expected,
    }
}

fn check_metadata(findings: &mut Findings, found: &GlobalMetadata, expected: &Json, name: &str) {
    // A sidecar that was cut short has the first entries and their number.
    let base: Vec<Json> = found.base.iter().map(json_of_entries).collect();
    let base_len = expected.get("base_len").and_then(Json::as_u64).unwrap_or(list(&expected["base"]).len() as u64);
    findings.equal(&(base.len() as u64), &base_len, &format!("{name}: base entries"));
    for (index, (found, expected)) in base.iter().zip(list(&expected["base"])).enumerate() {
        findings.check(agrees(found, expected), || format!("{name} base[{index}]:\n  {found}\n  {expected}"));
    }
    for (section, found) in [("extra", &found.extra), ("reserved", &found.reserved)] {
        let (found, expected) = (json_of_entries(found), &expected[section]);
        findings.check(agrees(&found, expected), || format!("{name} {section}:\n  {found}\n  {expected}"));
    }
    findings.count("metadata checked");
}

/// What the sidecar's own parse of a lone metadata frame says about base, extra and reserved.
fn own_parse(message: &Expected<'_>) -> Option<Json> {
    let cbor = message.json.get("metadata_cbor")?;
    let frame = cbor.get("footer_metadata").or_else(|| cbor.get("header_metadata"))?.as_object()?;
    if cbor.get("preceders").is_some() {
        return None;
    }
    let mut extra = frame.get("_extra_").and_then(Json::as_object).cloned().unwrap_or_default();
    for (key, value) in frame.iter().filter(|(key, _)| !["base", "_extra_", "_reserved_"].contains(&key.as_str())) {
        extra.entry(key).or_insert_with(|| value.clone());
    }
    let section = |key: &str, default: Json| frame.get(key).cloned().unwrap_or(default);
    let mut base = section("base", json!([]));
    let count = message.objects.len().max(list(&base).len());
    base.as_array_mut()?.resize(count, json!({}));
    Some(json!({"base": base, "extra": extra, "reserved": section("_reserved_", json!({}))}))
}

#[test]
fn metadata_is_that_recorded_and_the_views_agree() {
    let mut findings = Findings::default();
    for sample in readable() {
        let files = Files::open(&sample);
        for message in messages_of(&sample) {
            let name = &message.name;
            let (found, _) = match tgm_std::decode_descriptors(message.bytes) {
                Ok(found) => found,
                Err(error) => {
                    findings.check(!message.must_decode(), || format!("{name}: {error}"));
                    continue;
                }
            };
            if let Some(expected) = message.metadata() {
                check_metadata(&mut findings, &found, expected, name);
            }
            if let Some(expected) = own_parse(&message).filter(|_| !message.is_delimited_otherwise) {
                findings.count("compared with the sidecar's own parse");
                check_metadata(&mut findings, &found, &expected, &format!("{name} own parse"));
            }
            let naive = naive::decode(message.bytes).unwrap();
            findings.equal(&text(&found.base), &text(&naive.base), &format!("{name}: naive base"));
            findings.equal(&text(&found.extra), &text(&naive.extra), &format!("{name}: naive extra"));
            findings.equal(&text(&found.reserved), &text(&naive.reserved), &format!("{name}: naive reserved"));
            for (route, decoded) in [
                ("file", files.positioned.decode_descriptors(message.index)),
                ("map", files.mapped.decode_descriptors(message.index)),
            ] {
                findings.equal(&text(&decoded.unwrap().0), &text(&found), &format!("{name} by {route}"));
            }
            if let Ok((decoded, _)) = tgm_std::decode(message.bytes, &DecodeOptions::default()) {
                findings.equal(&text(&decoded), &text(&found), &format!("{name} by decode"));
            }
            check_lookups(&mut findings, &message, &naive);
        }
    }
    findings.finish("metadata");
    assert!(findings.of("metadata checked") >= 1000, "only {}", findings.of("metadata checked"));
    assert!(findings.of("lookups") >= 5000, "only {}", findings.of("lookups"));
    assert!(findings.of("lookups in one frame") >= 1000, "only {}", findings.of("lookups in one frame"));
}

/// Equal where NaN is equal to itself.
fn text(value: &impl Debug) -> String {
    format!("{value:?}")
}

#[test]
fn the_first_metadata_frame_is_that_recorded() {
    let mut findings = Findings::default();
    for sample in readable().into_iter().filter(|sample| sample.class != "quirk") {
        for message in messages_of(&sample).iter().filter(|message| !message.is_delimited_otherwise) {
            let name = &message.name;
            let of_its_own = message.json.pointer("/decode_metadata/value");
            let Some(expected) = of_its_own.or_else(|| message.json.get("metadata")) else { continue };
            let Ok(found) = tgm_std::decode_metadata(message.bytes) else {
                findings.check(!message.must_decode(), || format!("{name}: no metadata"));
                continue;
            };
            check_metadata(&mut findings, &found, expected, name);
        }
    }
    findings.finish("decode_metadata");
    assert!(findings.of("metadata checked") >= 500);
}

/// Every leaf is found by its path, message-wide and per object, as the naive decoder finds it.
fn check_lookups(findings: &mut Findings, message: &Expected<'_>, naive: &naive::Message) {
    let name = &message.name;
    let view = Message::parse(message.bytes).unwrap();
    let metadata = view.metadata().unwrap();
    // The first metadata frame answers for the message if no other frame of metadata follows it.
    let is_metadata = |frame_type| {
        matches!(frame_type, FrameType::HeaderMetadata | FrameType::FooterMetadata | FrameType::PrecederMetadata)
    };
    let frames = view.frames().flatten().filter(|frame| is_metadata(frame.frame_type())).count();
    let first = view.first_metadata().ok().filter(|_| frames == 1);
    let mut paths = Vec::new();
    for entry in naive.base.iter().chain([&naive.extra]) {
        paths_of("", &Value::Map(entry.iter().map(|(k, v)| (Value::from(k.clone()), v.clone())).collect()), &mut paths);
    }
    let more = ["", ".", "_reserved_", "extra", "_extra_", "no.such", "mars.", "mars..param"].map(str::to_owned);
    let in_extra: Vec<String> = paths.iter().map(|path| format!("extra.{path}")).collect();
    for path in paths.iter().chain(&in_extra).chain(&more) {
        let found = metadata.get(path).unwrap().map(|value| json_of_view(&value));
        let expected = naive.get(path).map(json_of);
        findings.equal(&found, &expected, &format!("{name} {path:?}"));
        findings.count("lookups");
        if let Some(first) = first {
            let found = first.get(path).unwrap().map(|value| json_of_view(&value));
            findings.equal(&found, &expected, &format!("{name}, first frame, {path:?}"));
            findings.count("lookups in one frame");
        }
        for index in 0..naive.base.len().min(8) {
            let found = metadata.get_at(index, path).unwrap().map(|value| json_of_view(&value));
            let expected = naive.get_at(index, path).map(json_of);
            findings.equal(&found, &expected, &format!("{name} object {index} {path:?}"));
            findings.count("lookups");
            if let Some(first) = first {
                let found = first.get_at(index, path).unwrap().map(|value| json_of_view(&value));
                findings.equal(&found, &expected, &format!("{name}, first frame, object {index} {path:?}"));
            }
        }
    }
    findings.check(metadata.get_at(naive.base.len(), "mars").unwrap().is_none(), || format!("{name}: no such object"));
}

/// The dotted path of every value below `value`, inner ones included.
fn paths_of(prefix: &str, value: &Value, paths: &mut Vec<String>) {
    for (key, value) in value.as_map().into_iter().flatten() {
        let Some(key) = key.as_text().filter(|key| !key.contains('.')) else { continue };
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        paths_of(&path, value, paths);
        if paths.len() < 400 {
            paths.push(path);
        }
    }
}

/// A borrowed value in the notation of the sidecars.
fn json_of_view(value: &cbor::Value<'_>) -> Json {
    let owned: Value = ciborium::from_reader(value.as_encoded()).unwrap();
    check_getters(value, &owned);
    json_of(&owned)
}

/// The typed getters of a view say what the owned value is.
fn check_getters(view: &cbor::Value<'_>, owned: &Value) {
    let integer = owned.as_integer().map(i128::from);
    assert_eq!(view.as_integer().ok(), integer);
    assert_eq!(view.as_u64().ok(), integer.and_then(|n| u64::try_from(n).ok()));
    assert_eq!(view.as_i64().ok(), integer.and_then(|n| i64::try_from(n).ok()));
    assert_eq!(view.as_text().ok().map(|text| text.to_string()).as_deref(), owned.as_text());
    assert_eq!(view.as_bool().ok(), owned.as_bool());
    assert_eq!(view.is_null(), owned.is_null());
    assert_eq!(view.as_array().ok().map(|array| array.len()), owned.as_array().map(Vec::len));
    assert_eq!(view.as_map().ok().map(|map| map.len()), owned.as_map().map(Vec::len));
    assert_eq!(view.as_bytes().ok().map(|bytes| bytes.len()), owned.as_bytes().map(Vec::len));
    if let Some(float) = owned.as_float() {
        assert_eq!(view.as_f64().unwrap().to_bits(), float.to_bits());
    }
}

#[test]
fn descriptors_are_those_recorded() {
    let mut findings = Findings::default();
    for sample in readable() {
        for message in messages_of(&sample) {
            let Ok((_, descriptors)) = tgm_std::decode_descriptors(message.bytes) else {
                findings.check(!message.must_decode(), || format!("{}: no descriptors", message.name));
                continue;
            };
            let is_recorded = message.json["decode"]["result"] == "ok" || message.truth.is_some();
            let count = if is_recorded { message.objects.len() } else { descriptors.len() };
            findings.equal(&descriptors.len(), &count, &format!("{}: objects", message.name));
            let streamed: Vec<_> = tgm_std::objects_metadata(message.bytes).unwrap().collect();
            findings.equal(&text(&streamed), &text(&descriptors), &format!("{}: objects_metadata", message.name));
            for (index, (found, object)) in descriptors.iter().zip(message.objects).enumerate() {
                check_descriptor(&mut findings, found, object, &message, index);
            }
        }
    }
    findings.finish("descriptors");
    assert!(findings.of("descriptors checked") >= 700);
}

fn check_descriptor(
    findings: &mut Findings,
    found: &DataObjectDescriptor,
    object: &Json,
    message: &Expected<'_>,
    index: usize,
) {
    findings.count("descriptors checked");
    let name = format!("{} object {index}", message.name);
    let ours = json!({
        "type": found.obj_type, "ndim": found.ndim, "shape": found.shape, "strides": found.strides,
        "dtype": found.dtype.name(), "byte_order": found.byte_order.name(), "encoding": found.encoding,
        "filter": found.filter, "compression": found.compression, "params": json_of_entries(&found.params),
    });
    let view = Message::parse(message.bytes).and_then(|view| view.objects().nth(index).unwrap()).unwrap();
    let has_order = view.descriptor().declared_byte_order().is_some();
    for (key, expected) in object["descriptor"].as_object().unwrap() {
        if key == "byte_order" && !has_order {
            findings.equal(&found.byte_order, &ByteOrder::NATIVE, &format!("{name}: no byte order is the machine's"));
            continue;
        }
        // Old messages have the packing parameters under their old names; the truth has the new ones.
        let is_renamed = message.class == "legacy" && key == "params";
        let is_ours = ours.get(key).is_some();
        findings.check(is_ours || key == "masks" || key == "hash", || format!("{name}: {key} is nowhere of ours"));
        let agree = ours.get(key).is_none_or(|found| agrees(found, expected));
        findings.check(agree || is_renamed, || format!("{name} {key}: {} instead of {expected}", ours[key]));
    }
    let MasksMetadata { nan, pos_inf, neg_inf } = found.masks.clone().unwrap_or_default();
    for (kind, found) in [("nan", nan), ("inf+", pos_inf), ("inf-", neg_inf)] {
        let expected = object.pointer(&format!("/masks_cbor/{kind}"));
        if object["descriptor"].get("type").is_none() {
            continue;
        }
        let ours = found.map(|mask| {
            let mut ours = json!({"length": mask.length, "method": mask.method, "offset": mask.offset});
            if !mask.params.is_empty() {
                ours["params"] = json_of_entries(&mask.params);
            }
            ours
        });
        findings.equal(&ours.as_ref(), &expected, &format!("{name}: mask {kind}"));
    }
}
