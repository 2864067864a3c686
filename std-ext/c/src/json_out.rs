//! Metadata and descriptors as JSON: compact, with sorted keys.

use std::collections::BTreeMap;
use std::ffi::CString;

use serde::Serialize;
use serde_json::Value as Json;
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::json::hex;
use tgm_std::{DataObjectDescriptor, GlobalMetadata};

use crate::error::c_string;

/// All metadata of a message.
pub(crate) fn metadata(metadata: &GlobalMetadata) -> CString {
    let mut sections = serde_json::Map::new();
    if !metadata.extra.is_empty() {
        sections.insert("_extra_".into(), section(&metadata.extra));
    }
    if !metadata.reserved.is_empty() {
        sections.insert("_reserved_".into(), section(&metadata.reserved));
    }
    if !metadata.base.is_empty() {
        sections.insert("base".into(), metadata.base.iter().map(section).collect());
    }
    c_string(Json::Object(sections).to_string())
}

/// The metadata of one object.
pub(crate) fn entries(entries: &BTreeMap<String, Value>) -> CString {
    c_string(section(entries).to_string())
}

/// A descriptor with the keys that it has in a message.
pub(crate) fn descriptor(descriptor: &DataObjectDescriptor) -> Option<CString> {
    let json = serde_json::to_value(descriptor).ok()?;
    let mut sorted: BTreeMap<String, Json> = json.as_object()?.clone().into_iter().collect();
    // Parameters are written by the rules of metadata: serde would write bytes as arrays.
    sorted.extend(descriptor.params.iter().map(|(key, value)| (key.clone(), to_json(value))));
    serde_json::to_string(&sorted).ok().map(c_string)
}

/// A report as JSON bytes.
pub(crate) fn report(report: &impl Serialize) -> Option<Vec<u8>> {
    serde_json::to_vec(report).ok()
}

fn section(entries: &BTreeMap<String, Value>) -> Json {
    Json::Object(entries.iter().map(|(key, value)| (key.clone(), to_json(value))).collect())
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(*value),
        Value::Integer(integer) => {
            let integer = i128::from(*integer);
            match (i64::try_from(integer), u64::try_from(integer)) {
                (Ok(integer), _) => integer.into(),
                (_, Ok(integer)) => integer.into(),
                _ => integer.to_string().into(),
            }
        }
        // Without a number in JSON, NaN and infinities become null.
        Value::Float(float) => Json::from(*float),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => hex(bytes).into(),
        Value::Array(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => {
            let sorted: BTreeMap<_, _> =
                entries.iter().filter_map(|(k, value)| Some((key(k)?, to_json(value)))).collect();
            Json::Object(sorted.into_iter().collect())
        }
        // Tags have no form in JSON either.
        _ => Json::Null,
    }
}

/// The key of a map in JSON. Keys that are neither text nor integers have none.
fn key(key: &Value) -> Option<String> {
    match key {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(integer) => Some(i128::from(*integer).to_string()),
        _ => None,
    }
}
