//! Conversion from Tensogram to TENS.

use std::borrow::Cow;

use serde_json::{Value as Json, json};
use tgm_core::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Dtype, Key};
use tgm_std::internal::{CheckedMessage, Trusted, to_owned, trusted_values};
use tgm_std::metadata::RESERVED_KEY;
use tgm_std::metadata::json::from_cbor;
use tgm_std::{DataObjectDescriptor, DecodeOptions, GlobalMetadata, Result, TensogramError};

use super::entry::is_ours;
use super::reverse::{descending, reverse_axes};
use super::{BridgeOptions, Header, LABEL_BYTES, NotKept, PLAIN, TENSOGRAM, ZIO, foreign, has_stages};
use crate::dtype;
use crate::error::metadata;
use crate::label::{self, METADATA, Members};
use crate::parts::Parts;
use crate::tens::{Tens, rebuild};
use crate::tensor::{bools, permutation, stored_shape};
use crate::wire::{Coords, Form, Layout, Level, Message};

/// Reads the message.
pub(super) fn decode<'a>(bytes: &'a [u8], options: &BridgeOptions) -> Result<(Parts<'a>, Vec<NotKept>)> {
    let (opened, proof) = CheckedMessage::for_values(bytes, &options.decode, None)?;
    let mut global = to_owned::message_metadata(&opened.metadata, &opened.budget)?;
    global.base.iter_mut().for_each(|entry| drop(entry.remove(RESERVED_KEY)));
    let objects = opened.message.objects().collect::<tgm_core::Result<Vec<_>>>()?;
    let descriptors: Vec<_> =
        objects.iter().map(|o| to_owned::descriptor(o.descriptor(), &opened.budget)).collect::<Result<_>>()?;
    let objects: Vec<_> = objects.iter().map(|object| Trusted::proven(object, proof)).collect();
    let mut passed = vec![None; objects.len()];
    let mut label_bytes = None;
    let zio = match global.extra.get_mut(ZIO) {
        Some(zio) if is_ours(zio) => {
            label_bytes = take_label_bytes(zio);
            Some(members(from_cbor(zio, "_extra_.zio")?))
        }
        _ => None,
    };
    let is_marked = |zio: &Members, key| zio.get(key) == Some(&Json::Bool(true));
    let parts = match zio {
        Some(zio) if is_marked(&zio, PLAIN) => plain(&zio, label_bytes, &global, &descriptors, &objects, options)?,
        Some(zio) if !is_marked(&zio, TENSOGRAM) => ours(&zio, &global, &descriptors, &objects, options)?,
        zio => {
            let header = match zio {
                None => options.header,
                Some(zio) => {
                    global.extra.remove(ZIO);
                    header(&zio)?
                }
            };
            if options.pass_through {
                passed = descriptors.iter().map(foreign::passed).collect();
            }
            other(&global, &descriptors, &objects, &passed, header, options)?
        }
    };
    let not_kept = not_kept(&global, &descriptors, &passed);
    Ok((parts, not_kept))
}

/// Takes a label that is not text out of the entry, which is JSON then.
fn take_label_bytes(zio: &mut ciborium::Value) -> Option<Vec<u8>> {
    let map = zio.as_map_mut()?;
    let at = map.iter().position(|(key, value)| key.as_text() == Some(LABEL_BYTES) && value.is_bytes())?;
    map.remove(at).1.into_bytes().ok()
}

fn not_kept(global: &GlobalMetadata, descriptors: &[DataObjectDescriptor], passed: &[Option<Members>]) -> Vec<NotKept> {
    let mut list = Vec::new();
    if !global.reserved.is_empty() {
        list.push(NotKept::Provenance);
    }
    for (object, (descriptor, passed)) in descriptors.iter().zip(passed).enumerate() {
        if passed.is_some() {
            continue;
        }
        if has_stages(descriptor) {
            list.push(NotKept::Pipeline { object });
        }
        if descriptor.masks.is_some() {
            list.push(NotKept::Masks { object });
        }
        let unknown = descriptor.params.keys().filter(|key| Key::from_name(key).is_none());
        list.extend(unknown.map(|key| NotKept::Parameter { object, key: key.clone() }));
    }
    list
}

/// A message that was not made from TENS: decoded values, little-endian, or for `passed` objects what is stored.
fn other<'a>(
    global: &GlobalMetadata,
    descriptors: &[DataObjectDescriptor],
    objects: &[Trusted<'_, 'a>],
    passed: &[Option<Members>],
    header: Header,
    options: &BridgeOptions,
) -> Result<Parts<'a>> {
    let sizes = objects.iter().map(|object| object.payload().len() as u64);
    let label = foreign::label(global, descriptors, &passed.iter().zip(sizes).collect::<Vec<_>>())?;
    label::parse(label.as_bytes()).map_err(|_| metadata("metadata is nested too deeply for a label"))?;
    let payloads = objects.iter().zip(passed).map(|(object, passed)| match passed {
        Some(_) => Ok(Cow::Borrowed(object.payload())),
        None => elements(*object, ByteOrder::Little, options),
    });
    let payloads = payloads.collect::<Result<Vec<_>>>()?;
    Ok(Parts::new(header.level, header.form, label.as_bytes(), header.coords, ByteOrder::Little, payloads))
}

/// The values of an object in that byte order.
fn elements<'a>(object: Trusted<'_, 'a>, order: ByteOrder, options: &BridgeOptions) -> Result<Cow<'a, [u8]>> {
    let stored = DecodeOptions { native_byte_order: false, ..options.decode.clone() };
    let mut values = trusted_values(object, &stored)?;
    let unit = object.descriptor().dtype().swap_unit_size();
    if unit > 1 && object.descriptor().byte_order() != order {
        swap_in_place(values.to_mut(), unit)?;
    }
    Ok(values)
}

/// A message that had no tensors.
fn plain<'a>(
    zio: &Members,
    label_bytes: Option<Vec<u8>>,
    global: &GlobalMetadata,
    descriptors: &[DataObjectDescriptor],
    objects: &[Trusted<'_, 'a>],
    options: &BridgeOptions,
) -> Result<Parts<'a>> {
    let Content { order, entries, payloads } = content(zio, global, descriptors, objects, options)?;
    if !entries.is_empty() {
        return Err(metadata("a ZIO message without tensors was given one, which its form does not allow"));
    }
    let text = zio.get("label_text").and_then(Json::as_str);
    let label = if zio.contains_key("label") {
        let label = label::write(object_at(zio, "label")?);
        let is_same = |text: &&str| label::parse(text.as_bytes()).is_ok_and(|found| label::write(found) == label);
        text.filter(is_same).map_or_else(|| label.clone(), str::to_string).into_bytes()
    } else {
        let text = || text.map(|text| text.as_bytes().to_vec());
        label_bytes.or_else(text).ok_or_else(|| bad("_extra_.zio.label"))?
    };
    let Header { level, form, coords } = header(zio)?;
    Ok(Parts::new(level, form, &label, coords, order, payloads))
}

/// What a message holds that was made from ZIO.
struct Content<'a> {
    order: ByteOrder,
    /// The entries of its tensors.
    entries: Vec<Json>,
    payloads: Vec<Cow<'a, [u8]>>,
}

/// A message that was made from TENS.
fn ours<'a>(
    zio: &Members,
    global: &GlobalMetadata,
    descriptors: &[DataObjectDescriptor],
    objects: &[Trusted<'_, 'a>],
    options: &BridgeOptions,
) -> Result<Parts<'a>> {
    let Content { order, entries, payloads } = content(zio, global, descriptors, objects, options)?;
    let label = rebuild(entries, tens_keys(zio)?, object_at(zio, "label")?);
    with_label(zio, &label, order, payloads)
}

fn content<'a>(
    zio: &Members,
    global: &GlobalMetadata,
    descriptors: &[DataObjectDescriptor],
    objects: &[Trusted<'_, 'a>],
    options: &BridgeOptions,
) -> Result<Content<'a>> {
    let order = match zio.get("coord_order") {
        None => ByteOrder::Little,
        Some(name) => name.as_str().and_then(ByteOrder::from_name).ok_or_else(|| bad("_extra_.zio.coord_order"))?,
    };
    let count = zio.get("parts").and_then(Json::as_u64).and_then(|count| usize::try_from(count).ok());
    // Each part has an object, so the number of objects limits the memory.
    let count = count.filter(|count| *count <= objects.len()).ok_or_else(|| bad("_extra_.zio.parts"))?;
    let mut payloads: Vec<Option<Cow<'a, [u8]>>> = vec![None; count];
    let (mut tensors, mut added) = (Vec::new(), Vec::new());
    for (index, (&object, descriptor)) in objects.iter().zip(descriptors).enumerate() {
        let entry = global.base.get(index);
        let Some(zio) = entry.and_then(|entry| entry.get(ZIO)) else {
            added.push((index, elements(object, order, options)?));
            continue;
        };
        let zio = members(from_cbor(zio, &format!("base[{index}].zio"))?);
        let mut bytes = elements(object, order, options)?;
        let part = number(&zio, "part").filter(|part| *part < count).ok_or_else(|| bad_object(index, "part"))?;
        if let Some(tensor) = zio.get("tensor") {
            let position = tensor.as_u64().ok_or_else(|| bad_object(index, "tensor"))?;
            let (json, axes) = restored(index, &zio, part, descriptor)?;
            if axes.contains(&true) {
                let width = zio.get("word").and_then(Json::as_u64).and_then(|word| usize::try_from(word).ok());
                reverse_axes(bytes.to_mut(), &descriptor.shape, width.unwrap_or(1), &axes);
            }
            tensors.push((position, index, json));
        }
        match payloads.get_mut(part) {
            Some(Some(there)) if *there != bytes => {
                return Err(metadata(format!("object {index} and another are both payload part {part}, and differ")));
            }
            Some(slot) => *slot = Some(bytes),
            None => return Err(bad_object(index, "part")),
        }
    }
    tensors.sort_by_key(|(position, ..)| *position);
    let mut pairs = tensors.array_windows();
    let repeated =
        pairs.find_map(|[(before, ..), (position, index, _)]| (before == position).then_some((position, index)));
    if let Some((position, index)) = repeated {
        return Err(metadata(format!("object {index} is tensor {position}, which another object is too")));
    }
    let payloads = payloads.into_iter().enumerate();
    let payloads =
        payloads.map(|(part, bytes)| bytes.ok_or_else(|| metadata(format!("payload part {part} has no object"))));
    let mut payloads = payloads.collect::<Result<Vec<_>>>()?;
    let mut entries: Vec<Json> = tensors.into_iter().map(|(.., json)| json).collect();
    for (index, bytes) in added {
        entries.push(new_tensor(index, global, descriptors, payloads.len(), bytes.len())?);
        payloads.push(bytes);
    }
    Ok(Content { order, entries, payloads })
}

/// The message, with the label's old text if that has the same content.
fn with_label<'a>(zio: &Members, label: &str, order: ByteOrder, payloads: Vec<Cow<'a, [u8]>>) -> Result<Parts<'a>> {
    let Header { level, form, coords } = header(zio)?;
    let parsed = |parts: &Parts<'_>| -> Result<String> {
        let slices = parts.as_slices();
        Ok(Tens::parse(&Message::from_parts(&slices, order)?)?.to_label())
    };
    let mut parts = Parts::new(level, form, label.as_bytes(), coords, order, payloads);
    parsed(&parts)?;
    if let Some(text) = zio.get("label_text").and_then(Json::as_str) {
        parts.set_label(text.as_bytes());
        if !parsed(&parts).is_ok_and(|found| found == label) {
            parts.set_label(label.as_bytes());
        }
    }
    Ok(parts)
}

fn tens_keys(zio: &Members) -> Result<Members> {
    let mut keys = object_at(zio, "tens")?;
    keys.extend(zio.get(METADATA).map(|json| (METADATA.to_string(), json.clone())));
    Ok(keys)
}

fn object_at(zio: &Members, key: &str) -> Result<Members> {
    match zio.get(key) {
        None => Ok(Members::new()),
        Some(Json::Object(members)) => Ok(members.clone()),
        Some(_) => Err(bad(&format!("_extra_.zio.{key}"))),
    }
}

/// The entry of a tensor, and the axes of the object that must be reversed.
fn restored(index: usize, zio: &Members, part: usize, descriptor: &DataObjectDescriptor) -> Result<(Json, Vec<bool>)> {
    let kind = zio.get("dtype").and_then(Json::as_str).ok_or_else(|| bad_object(index, "dtype"))?;
    let word = zio.get("word").and_then(Json::as_u64).and_then(|word| u32::try_from(word).ok());
    let word = word.ok_or_else(|| bad_object(index, "word"))?;
    let is_dense = zio.get("packing").is_none_or(|packing| packing == "dense");
    let dtype = dtype::from_tens(kind, word).filter(|_| is_dense);
    if dtype.unwrap_or(Dtype::Uint8) != descriptor.dtype {
        let found = descriptor.dtype;
        return Err(metadata(format!("object {index} is {found}, which is not dtype \"{kind}\" of word {word}")));
    }
    let mut stored = descriptor.shape.as_slice();
    if is_dense && dtype.is_none() {
        match stored.split_last() {
            Some((last, before)) if *last == u64::from(word) => stored = before,
            // The original shape has a 0, and its product overflows without it.
            _ if stored == [0] => {}
            _ => return Err(bad_object(index, "word")),
        }
    }
    let shape = match zio.get("shape") {
        None => stored.to_vec(),
        Some(list) => list
            .as_array()
            .and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>())
            .ok_or_else(|| bad_object(index, "shape"))?,
    };
    let order = zio.get("order").map(|order| permutation(order, shape.len()).ok_or_else(|| bad_object(index, "order")));
    let order = order.transpose()?;
    let ascend = zio.get("ascend").map(|ascend| bools(ascend, shape.len()).ok_or_else(|| bad_object(index, "ascend")));
    let ascend = ascend.transpose()?;
    let layout = Layout::from_checked(&shape, order.as_deref(), ascend.as_deref());
    let expected = stored_shape(&layout, &shape);
    if is_dense && expected != stored && !(stored == [0] && shape.contains(&0)) {
        return Err(metadata(format!("object {index} has shape {stored:?} where its zio entry implies {expected:?}")));
    }
    let axes = if is_dense { descending(&layout, ascend.as_deref()) } else { Vec::new() };
    let mut json = object_at(zio, "ext")?;
    json.extend(members(json!({"shape": shape, "word": word, "dtype": kind, "part": part})));
    for key in ["order", "ascend", "packing", METADATA] {
        json.extend(zio.get(key).map(|value| (key.to_string(), value.clone())));
    }
    Ok((json.into(), axes))
}

/// The entry of an object that was added to a message from TENS.
fn new_tensor(
    index: usize,
    global: &GlobalMetadata,
    descriptors: &[DataObjectDescriptor],
    part: usize,
    len: usize,
) -> Result<Json> {
    let descriptor = descriptors.get(index).ok_or_else(|| bad_object(index, "descriptor"))?;
    let (kind, word) = dtype::to_tens(descriptor.dtype);
    let shape = if descriptor.dtype == Dtype::Bitmask { vec![len as u64] } else { descriptor.shape.clone() };
    let mut json = members(json!({"shape": shape, "word": word, "dtype": kind, "part": part}));
    if let Some(entry) = global.base.get(index).filter(|entry| !entry.is_empty()) {
        json.insert(METADATA.into(), foreign::entry_json(entry, &format!("base[{index}]"))?.into());
    }
    Ok(json.into())
}

/// Level, form and coordinates from `_extra_.zio`.
fn header(zio: &Members) -> Result<Header> {
    let level = number(zio, "level").and_then(|level| Level::from_number(u8::try_from(level).ok()?));
    let form = match (zio.get("form"), zio.get("form_hex")) {
        (Some(text), None) => text.as_str().and_then(|text| Some(Form(text.as_bytes().try_into().ok()?))),
        (None, Some(hex)) => hex
            .as_str()
            .filter(|hex| hex.len() == 8)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok().map(|form| Form(form.to_be_bytes()))),
        _ => None,
    };
    let coordinate = |key: &str| zio.get(key).and_then(Json::as_u64).ok_or_else(|| bad(&format!("_extra_.zio.{key}")));
    Ok(Header {
        level: level.ok_or_else(|| bad("_extra_.zio.level"))?,
        form: form.ok_or_else(|| bad("_extra_.zio.form"))?,
        coords: Coords { origin: coordinate("origin")?, granule: coordinate("granule")?, seqno: coordinate("seqno")? },
    })
}

fn number(members: &Members, key: &str) -> Option<usize> {
    usize::try_from(members.get(key)?.as_u64()?).ok()
}

fn members(json: Json) -> Members {
    if let Json::Object(members) = json { members } else { Members::new() }
}

fn bad(what: &str) -> TensogramError {
    metadata(format!("{what} is missing or makes no sense"))
}

fn bad_object(index: usize, key: &str) -> TensogramError {
    bad(&format!("base[{index}].zio.{key} of object {index}"))
}
