//! Metadata as attributes of Zarr.

use ciborium::Value;
use serde_json::{Map, Value as Json};
use tgm_core::descriptor::Dtype;
use tgm_std::metadata::json::from_cbor;
use tgm_std::{GlobalMetadata, RESERVED_KEY};

use super::ZARR;
use super::fill::to_base64;
use crate::texts::TEXTS;
use tgm_dataset::reading::{FILL, Fate, MISSING, OFFSET, Reading, SCALE, UNSIGNED};
use tgm_dataset::zarr_form::word;

/// The attribute for the metadata of the message.
const MESSAGE: &str = "_extra_";
/// What `base` has for NetCDF: how the file stored values. It is not an attribute.
const NETCDF: &str = "netcdf";
/// The attributes of a packed variable, which must not stay beside its values.
const PACKED: [&str; 5] = [SCALE, OFFSET, UNSIGNED, FILL, MISSING];

/// The attributes of an object with values of type `dtype`, which are `packed` in it: its metadata, and the metadata of the message under a separate key.
/// What a reader of NetCDF or Zarr called attributes are attributes again.
pub(super) fn of_object(
    global: &GlobalMetadata,
    index: usize,
    (dtype, packed): (Dtype, Option<&Reading>),
    tell: &mut dyn FnMut(String),
) -> Map<String, Json> {
    let mut attributes = Map::new();
    let base = global.base.get(index);
    let is_unpacked = dtype.is_float() && base.is_some_and(was_packed);
    for (key, value) in base.into_iter().flatten() {
        match (key.as_str(), value) {
            (RESERVED_KEY | NETCDF | "dimensions" | ZARR, _) => {}
            ("attributes", Value::Map(entries)) => {
                let stays = |key: &str| {
                    let is_left_out = is_unpacked && PACKED.contains(&key);
                    !is_left_out && packed.is_none_or(|reading| *reading.fate(key) == Fate::Stays)
                };
                let kept = entries.iter().filter(|(key, _)| key.as_text().is_none_or(stays));
                insert_all(&mut attributes, kept, dtype, tell);
            }
            _ => insert(&mut attributes, (key, value), dtype, tell),
        }
    }
    let mut message = Map::new();
    let is_own = |key: &str| {
        ![ZARR, NETCDF, "attributes", "dimensions", "groups", "links", "record", "unlimited", TEXTS].contains(&key)
    };
    for (key, value) in global.extra.iter().filter(|(key, _)| is_own(key)) {
        insert(&mut message, (key, value), Dtype::Uint8, tell);
    }
    if !message.is_empty() {
        attributes.insert(MESSAGE.to_string(), message.into());
    }
    attributes
}

/// Whether the values of an object were integers of another type: its metadata says so.
fn was_packed(base: &std::collections::BTreeMap<String, Value>) -> bool {
    let netcdf = base.get(NETCDF).and_then(Value::as_map).into_iter().flatten();
    netcdf.into_iter().any(|(key, _)| matches!(key.as_text(), Some("type" | "packing")))
}

/// The attributes of groups by path, that of the root being empty. A reader of Zarr of older versions has them below its own key.
pub(super) fn of_groups(global: &GlobalMetadata, tell: &mut dyn FnMut(String)) -> Vec<(String, Map<String, Json>)> {
    let older = global.get_value(&format!("extra.{ZARR}.groups"));
    let [own, groups] = ["attributes", "groups"].map(|key| (key, global.extra.get(key)));
    let [own, groups, older] = [own, groups, ("groups", older)].map(|(key, value)| match value {
        Some(Value::Map(entries)) => entries.clone(),
        None => Vec::new(),
        Some(_) => {
            tell(format!("{key} of the message, which are not a map"));
            Vec::new()
        }
    });
    let mut all = vec![(String::new(), own)];
    for group in groups.into_iter().chain(older) {
        match group {
            (Value::Text(path), Value::Map(attributes)) => all.push((path, attributes)),
            _ => tell("a group whose path is not text, or whose attributes are not a map".into()),
        }
    }
    let json = |(path, entries): (String, Vec<(Value, Value)>)| {
        let attributes = of_map(&entries, Dtype::Uint8, &mut |what| tell(format!("group {path:?}: {what}")));
        (path, attributes)
    };
    all.into_iter().filter(|(_, entries)| !entries.is_empty()).map(json).collect()
}

/// A map of attributes beside values of this type.
pub(super) fn of_map(entries: &[(Value, Value)], dtype: Dtype, tell: &mut dyn FnMut(String)) -> Map<String, Json> {
    let mut attributes = Map::new();
    insert_all(&mut attributes, entries, dtype, tell);
    attributes
}

fn insert_all<'v>(
    map: &mut Map<String, Json>,
    entries: impl IntoIterator<Item = &'v (Value, Value)>,
    dtype: Dtype,
    tell: &mut dyn FnMut(String),
) {
    for (key, value) in entries {
        match key.as_text() {
            Some(key) => insert(map, (key, value), dtype, tell),
            None => tell("an attribute whose name is not text".into()),
        }
    }
}

fn insert(map: &mut Map<String, Json>, (key, value): (&str, &Value), dtype: Dtype, tell: &mut dyn FnMut(String)) {
    if key == FILL
        && let Some(fill) = fill(value, dtype)
    {
        map.insert(key.to_string(), fill);
        return;
    }
    let mut words = 0;
    let value = with_words(value, &mut words);
    match from_cbor(&value, key) {
        Ok(json) => drop(map.insert(key.to_string(), json)),
        Err(error) => tell(error.to_string()),
    }
    if words > 0 {
        tell(format!("NaN and infinities of attribute {key}: they are text"));
    }
}

/// The fill value as xarray reads it: one number, of floats in base64.
fn fill(value: &Value, dtype: Dtype) -> Option<Json> {
    let one = match value {
        Value::Array(items) => match items.as_slice() {
            [one] => one,
            _ => return None,
        },
        one => one,
    };
    #[expect(clippy::cast_precision_loss, reason = "fill values of floats are floats")]
    match one {
        Value::Integer(integer) if dtype.is_float() => Some(to_base64(i128::from(*integer) as f64).into()),
        Value::Float(float) if dtype.is_float() => Some(to_base64(*float).into()),
        Value::Integer(_) => from_cbor(one, FILL).ok(),
        _ => None,
    }
}

/// The same with words in place of floats that JSON lacks, and how many there are.
pub(super) fn with_words(value: &Value, count: &mut usize) -> Value {
    match value {
        Value::Float(float) if !float.is_finite() => {
            *count += 1;
            word(*float).into()
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| with_words(item, count)).collect()),
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| (key.clone(), with_words(value, count));
            Value::Map(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    }
}
