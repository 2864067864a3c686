//! Tensogram messages that were not made from TENS: their label, and the way back from it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use serde_json::{Value as Json, json};
use tgm_core::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::metadata::RESERVED_KEY;
use tgm_std::metadata::json::{from_cbor, to_cbor};
use tgm_std::{DataObjectDescriptor, GlobalMetadata, Result};

use super::entry::{Object, cbor_members, header_entry, is_ours, under_zio};
use super::{Header, MAPPING, TENSOGRAM, ZIO, has_stages};
use crate::dtype;
use crate::label::{METADATA, Members};
use crate::tens::{Tens, rebuild};
use crate::tensor::Tensor;
use crate::wire::{Message, dtype_of};

/// The key of an object's entry for the whole descriptor, when it is sent as it is stored.
const STORED: &str = "stored";

/// The whole descriptor as JSON, of an object that can be sent as it is stored: one with stages and without masks.
pub(super) fn passed(descriptor: &DataObjectDescriptor) -> Option<Members> {
    // An encoder leaves `hash` out, so the descriptor would not come back.
    if !has_stages(descriptor) || descriptor.masks.is_some() || descriptor.params.contains_key("hash") {
        return None;
    }
    match from_cbor(&Value::serialized(descriptor).ok()?, "descriptor").ok()? {
        Json::Object(members) => Some(members),
        _ => None,
    }
}

/// The label of a message with these objects. `passed` has the descriptor of an object that passes as it is stored, and
/// the stored size of all.
///
/// # Errors
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) with the path of what JSON has no words for.
pub(super) fn label(
    global: &GlobalMetadata,
    descriptors: &[DataObjectDescriptor],
    passed: &[(&Option<Members>, u64)],
) -> Result<String> {
    let mut base = Vec::with_capacity(descriptors.len());
    for index in 0..descriptors.len() {
        let entry = global.base.get(index).map(|entry| entry_json(entry, &format!("base[{index}]"))).transpose()?;
        base.push(entry.unwrap_or_default());
    }
    let flat: Vec<Members> = base.iter().map(flatten).collect();
    let is_lossless = base.iter().zip(&flat).all(|(entry, flat)| unflatten(flat).as_ref() == Some(entry));

    let mut tensors = Vec::with_capacity(descriptors.len());
    for (part, ((descriptor, metadata), (passed, len))) in descriptors.iter().zip(flat).zip(passed).enumerate() {
        let (kind, word) = dtype::to_tens(descriptor.dtype);
        let mut tensor = match passed {
            None => json!({"shape": sent_shape(descriptor)?, "word": word, "dtype": kind, "part": part}),
            Some(_) => json!({"shape": [len], "word": 1, "dtype": "u", "part": part}),
        };
        if !metadata.is_empty()
            && let Some(members) = tensor.as_object_mut()
        {
            members.insert(METADATA.into(), metadata.into());
        }
        tensors.push(tensor);
    }
    let mut ours = Members::from_iter([("v".to_string(), MAPPING.into())]);
    if !is_lossless {
        ours.insert("base".into(), base.into_iter().map(Json::Object).collect());
    }
    let objects = descriptors.iter().zip(passed).map(|(descriptor, (passed, _))| match passed {
        None => differences(descriptor),
        Some(members) => Members::from_iter([(STORED.to_string(), members.clone().into())]),
    });
    let objects: Vec<Members> = objects.collect();
    if objects.iter().any(|members| !members.is_empty()) {
        ours.insert("objects".into(), objects.into_iter().map(Json::Object).collect());
    }
    let mut tens = Members::from_iter([(TENSOGRAM.to_string(), ours.into())]);
    if !global.extra.is_empty() {
        tens.insert(METADATA.into(), entry_json(&global.extra, "_extra_")?.into());
    }
    Ok(rebuild(tensors, tens, Members::new()))
}

/// A map of metadata as JSON.
pub(super) fn entry_json(entry: &BTreeMap<String, Value>, path: &str) -> Result<Members> {
    entry.iter().map(|(key, value)| Ok((key.clone(), from_cbor(value, &format!("{path}.{key}"))?))).collect()
}

/// The shape of the sent tensor: the object's, or a number of bytes.
fn sent_shape(descriptor: &DataObjectDescriptor) -> Result<Vec<u64>> {
    if descriptor.dtype != Dtype::Bitmask {
        return Ok(descriptor.shape.clone());
    }
    Ok(vec![(descriptor.num_elements()? as u64).div_ceil(8)])
}

/// The entries of a descriptor that its tensor does not express.
fn differences(descriptor: &DataObjectDescriptor) -> Members {
    let plain = DataObjectDescriptor::new(descriptor.dtype, descriptor.byte_order, &descriptor.shape);
    let (kind, word) = dtype::to_tens(descriptor.dtype);
    let is_bitmask = descriptor.dtype == Dtype::Bitmask;
    let entries = [
        ("dtype", (dtype_of(kind, word) != Some(descriptor.dtype)).then(|| descriptor.dtype.name().into())),
        ("shape", is_bitmask.then(|| descriptor.shape.clone().into())),
        ("strides", (plain.strides != descriptor.strides).then(|| descriptor.strides.clone().into())),
        ("type", (plain.obj_type != descriptor.obj_type).then(|| descriptor.obj_type.clone().into())),
        ("byte_order", (descriptor.byte_order == ByteOrder::Big).then(|| descriptor.byte_order.name().into())),
    ];
    entries.into_iter().filter_map(|(key, value): (_, Option<Json>)| Some((key.to_string(), value?))).collect()
}

/// The entries as one level of scalars. Keys of nested maps are joined by dots, arrays are left out.
fn flatten(entry: &Members) -> Members {
    fn walk(members: &Members, prefix: &str, flat: &mut Members) {
        for (key, value) in members {
            let key = format!("{prefix}{key}");
            match value {
                Json::Array(_) => {}
                Json::Object(members) => walk(members, &format!("{key}."), flat),
                scalar => drop(flat.insert(key, scalar.clone())),
            }
        }
    }
    let mut flat = Members::new();
    walk(entry, "", &mut flat);
    flat
}

/// Nested maps from dotted keys.
fn unflatten(flat: &Members) -> Option<Members> {
    let mut entry = Members::new();
    for (path, value) in flat {
        let mut keys = path.split('.');
        let last = keys.next_back()?;
        let mut members = &mut entry;
        for key in keys {
            members = members.entry(key).or_insert_with(|| Members::new().into()).as_object_mut()?;
        }
        if members.insert(last.to_string(), value.clone()).is_some() {
            return None;
        }
    }
    Some(entry)
}

/// The Tensogram message that [`label`] made a TENS message from. `None` if the label is not exactly the one that
/// [`label`] writes.
pub(super) fn restore<'a, P: AsRef<[u8]>>(
    message: &Message<'a, P>,
    tens: &Tens<'a>,
) -> Option<(GlobalMetadata, Vec<Object<'a>>)> {
    let ours = tens.tens_keys().get(TENSOGRAM)?.as_object()?;
    if message.byte_order() != ByteOrder::Little || tens.payloads().len() != tens.tensors().len() {
        return None;
    }
    let objects = ours.get("objects").map_or(Some(&[][..]), |list| list.as_array().map(Vec::as_slice))?;
    let is_passed = |index| objects.get(index).is_some_and(|said: &Json| said.get(STORED).is_some());
    let is_passed: Vec<bool> = (0..tens.tensors().len()).map(is_passed).collect();
    let tensors = tens.tensors().iter().enumerate();
    let objects: Vec<_> = tensors.map(|(index, tensor)| object(tensor, objects.get(index))).collect::<Option<_>>()?;
    let base: Vec<Members> = match ours.get("base") {
        Some(list) => list.as_array()?.iter().map(|entry| entry.as_object().cloned()).collect::<Option<_>>()?,
        None => tens.tensors().iter().map(flat_metadata).collect::<Option<_>>()?,
    };
    let extra = match tens.metadata() {
        None => BTreeMap::new(),
        Some(metadata) => cbor_members(metadata.as_object()?),
    };
    let base: Vec<_> = base.iter().map(cbor_members).collect();
    if base.len() != objects.len() || base.iter().any(|entry| entry.contains_key(RESERVED_KEY)) {
        return None;
    }
    let mut global = GlobalMetadata { base, extra, ..GlobalMetadata::default() };
    let descriptors: Vec<_> = objects.iter().map(|(descriptor, _)| descriptor.clone()).collect();
    let passed = objects.iter().zip(&is_passed).map(|((descriptor, _), is)| passed(descriptor).filter(|_| *is));
    let passed: Vec<_> = passed.collect();
    let sizes = objects.iter().map(|(_, bytes)| bytes.len() as u64);
    let sizes: Vec<_> = passed.iter().zip(sizes).collect();
    if label(&global, &descriptors, &sizes).ok()?.as_bytes() != message.label()
        || global.extra.get(ZIO).is_some_and(is_ours)
    {
        return None;
    }
    let header = Header { level: message.level(), form: message.form(), coords: message.coords() };
    if header != Header::default() {
        if global.extra.contains_key(ZIO) {
            return None;
        }
        let mut zio = header_entry(&header, objects.len());
        zio.push((TENSOGRAM.into(), true.into()));
        global.extra.extend(under_zio(zio));
    }
    Some((global, objects))
}

fn flat_metadata(tensor: &Tensor<'_>) -> Option<Members> {
    tensor.metadata().map_or(Some(Members::new()), |metadata| unflatten(metadata.as_object()?))
}

/// The object of a tensor, with the entries that the label keeps for it.
fn object<'a>(tensor: &Tensor<'a>, said: Option<&Json>) -> Option<Object<'a>> {
    let said = said.map_or(Some(Members::new()), |said| said.as_object().cloned())?;
    if let Some(stored) = said.get(STORED) {
        let descriptor = to_cbor(stored).deserialized::<DataObjectDescriptor>().ok()?;
        return Some((descriptor, tensor.bytes().into()));
    }
    let text = |key: &str| said.get(key).map(|value| value.as_str().ok_or(()));
    let uints = |key: &str| -> Option<Option<Vec<u64>>> {
        said.get(key)
            .map(|list| list.as_array()?.iter().map(Json::as_u64).collect::<Option<Vec<_>>>())
            .map_or(Some(None), |list| list.map(Some))
    };
    let dtype = match text("dtype").transpose().ok()? {
        Some(name) => Dtype::from_name(name)?,
        None => tensor.dtype()?,
    };
    let order = match text("byte_order").transpose().ok()? {
        Some(name) => ByteOrder::from_name(name)?,
        None => ByteOrder::Little,
    };
    let shape = uints("shape")?.unwrap_or_else(|| tensor.shape().to_vec());
    let mut descriptor = DataObjectDescriptor::new(dtype, order, &shape);
    if let Some(strides) = uints("strides")? {
        descriptor.strides = strides;
    }
    if let Some(name) = text("type").transpose().ok()? {
        descriptor.obj_type = name.to_string();
    }
    let is_whole = dtype.byte_len(descriptor.num_elements().ok()? as u64) == Some(tensor.bytes().len() as u64);
    if !is_whole || descriptor.strides.len() != shape.len() || descriptor.obj_type.is_empty() {
        return None;
    }
    let mut bytes = Cow::Borrowed(tensor.bytes());
    if order == ByteOrder::Big && dtype.swap_unit_size() > 1 {
        swap_in_place(bytes.to_mut(), dtype.swap_unit_size()).ok()?;
    }
    Some((descriptor, bytes))
}
