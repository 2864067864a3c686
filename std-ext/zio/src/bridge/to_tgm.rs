//! Conversion from TENS to Tensogram.

use std::borrow::Cow;

use ciborium::Value;
use serde_json::Value as Json;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::encode::{Part, encode_parts, encode_pre_encoded};
use tgm_std::metadata::json::to_cbor;
use tgm_std::{DataObjectDescriptor, GlobalMetadata, Result};

use super::entry::{Entries, Object, header_entry, under_zio};
use super::reverse::{descending, reverse_axes};
use super::{BridgeOptions, Header, LABEL_BYTES, PLAIN, foreign, from_tgm, has_stages};
use crate::error::metadata;
use crate::label::{self, METADATA, Members};
use crate::tens::Tens;
use crate::tensor::Tensor;
use crate::wire::{Layout, Message};

/// Converts the ZIO message to a Tensogram message, in the first way that fits:
///
/// ```text
/// no tensors                              each payload part is an object of bytes           plain
/// the label says it was Tensogram before  that message, restored                            foreign::restore
/// any other                               each tensor is an object                          mapped
/// ```
pub(super) fn encode<P: AsRef<[u8]>>(message: &Message<'_, P>, options: &BridgeOptions) -> Result<Vec<u8>> {
    let Some(tens) = Tens::find(message)? else { return write(&plain(message), options) };
    if let Some(restored) = foreign::restore(message, &tens) {
        if !restored.1.iter().any(|(descriptor, _)| has_stages(descriptor)) {
            return write(&restored, options);
        }
        // The label may claim stages that the bytes did not go through. Then the message does not convert back to itself,
        // and its tensors are mapped as if the label did not claim anything.
        if let Ok(written) = write_stored(&restored, options)
            && gives_back(&written, message)
        {
            return Ok(written);
        }
    }
    write(&mapped(message, &tens, options)?, options)
}

/// A message, before it is written.
type Whole<'a> = (GlobalMetadata, Vec<Object<'a>>);

/// Writes a message of objects without stages.
fn write((global, objects): &Whole<'_>, options: &BridgeOptions) -> Result<Vec<u8>> {
    let objects: Vec<_> = objects.iter().map(|(descriptor, bytes)| (descriptor, &**bytes)).collect();
    encode_pre_encoded(global, &objects, &options.encode)
}

/// Writes a message whose objects are encoded already: their bytes are their regions.
fn write_stored((global, objects): &Whole<'_>, options: &BridgeOptions) -> Result<Vec<u8>> {
    let objects: Vec<_> = objects.iter().map(|(descriptor, bytes)| Part::Region(descriptor, bytes)).collect();
    Ok(encode_parts(global, &objects, &options.encode)?)
}

/// Whether `written` converts back to `message`. Only the label and the lengths of the payload parts are compared.
fn gives_back<P: AsRef<[u8]>>(written: &[u8], message: &Message<'_, P>) -> bool {
    let options = BridgeOptions { pass_through: true, ..BridgeOptions::default() };
    let back = from_tgm::decode(written, &options);
    back.is_ok_and(|(parts, _)| {
        let payloads = parts.payloads().iter().map(|payload| payload.len());
        parts.label() == message.label() && payloads.eq(message.payloads().map(<[u8]>::len))
    })
}

/// The message of a ZIO message without tensors: each payload part is a vector of bytes.
///
/// If the label is a JSON object, its members are kept, and also its text if we would write them in another way. Any other
/// label is kept as text, or as bytes if it is not UTF-8.
fn plain<'a, P: AsRef<[u8]>>(message: &Message<'a, P>) -> Whole<'a> {
    let order = message.byte_order();
    let parts = message.payloads().enumerate();
    let (base, objects) = parts.map(|(part, bytes)| plain_part(part, bytes, order)).unzip();
    let header = Header { level: message.level(), form: message.form(), coords: message.coords() };
    let mut zio = header_entry(&header, message.payloads().len());
    if order == ByteOrder::Big {
        zio.push(("coord_order".into(), order.name().into()));
    }
    zio.push((PLAIN.into(), true.into()));
    let members = label::parse(message.label()).ok();
    zio.extend(members.as_ref().map(|members| ("label".into(), members_to_cbor(members))));
    if members.is_none_or(|members| label::write(members).as_bytes() != message.label()) {
        zio.push(match str::from_utf8(message.label()) {
            Ok(text) => ("label_text".into(), text.into()),
            Err(_) => (LABEL_BYTES.into(), Value::Bytes(message.label().to_vec())),
        });
    }
    (GlobalMetadata { base, extra: under_zio(zio), ..GlobalMetadata::default() }, objects)
}

/// The entry of `base` and the object for a payload part that is not a tensor.
fn plain_part(part: usize, bytes: &[u8], order: ByteOrder) -> (Entries, Object<'_>) {
    let descriptor = DataObjectDescriptor::new(Dtype::Uint8, order, &[bytes.len() as u64]);
    (under_zio(vec![("part".into(), (part as u64).into())]), (descriptor, bytes.into()))
}

/// The message of a TENS message: an object for each tensor, then one of bytes for each payload part that no tensor names.
fn mapped<'a, P: AsRef<[u8]>>(message: &Message<'a, P>, tens: &Tens<'a>, options: &BridgeOptions) -> Result<Whole<'a>> {
    let order = message.byte_order();
    let (mut base, mut objects) = (Vec::new(), Vec::new());
    for (index, tensor) in tens.tensors().iter().enumerate() {
        let (descriptor, needs_shape) = descriptor(tensor, order);
        base.push(under_zio(tensor_entry(index, tensor, needs_shape)));
        objects.push((descriptor, elements(index, tensor, options)?));
    }
    for part in tens.extra_parts() {
        let bytes = tens.payloads().get(part).copied().unwrap_or_default();
        let (entry, object) = plain_part(part, bytes, order);
        base.push(entry);
        objects.push(object);
    }
    let header = Header { level: message.level(), form: message.form(), coords: message.coords() };
    let mut zio = header_entry(&header, tens.payloads().len());
    if order == ByteOrder::Big {
        zio.push(("coord_order".into(), order.name().into()));
    }
    let mut tens_keys = tens.tens_keys().clone();
    let said = tens_keys.shift_remove(METADATA);
    zio.extend(said.map(|json| (METADATA.into(), to_cbor(&json))));
    for (key, members) in [("tens", &tens_keys), ("label", tens.label_keys())] {
        zio.extend((!members.is_empty()).then(|| (key.into(), members_to_cbor(members))));
    }
    if tens.to_label().as_bytes() != message.label() {
        // The label was parsed, so it is valid UTF-8.
        zio.push(("label_text".into(), String::from_utf8_lossy(message.label()).into_owned().into()));
    }
    Ok((GlobalMetadata { base, extra: under_zio(zio), ..GlobalMetadata::default() }, objects))
}

fn members_to_cbor(members: &Members) -> Value {
    to_cbor(&Json::Object(members.clone()))
}

/// The object's descriptor, and whether the entry needs the tensor's shape, because it cannot be derived from the
/// descriptor.
fn descriptor(tensor: &Tensor<'_>, order: ByteOrder) -> (DataObjectDescriptor, bool) {
    if !tensor.is_dense() {
        return (DataObjectDescriptor::new(Dtype::Uint8, order, &[tensor.bytes().len() as u64]), true);
    }
    let mut shape = tensor.stored_shape().to_vec();
    if tensor.dtype().is_none() {
        shape.push(tensor.word().into());
    }
    let mut needs_shape = !Layout::from_checked(tensor.shape(), tensor.order(), None).is_row_major();
    if shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim)).is_none() {
        // The tensor has no elements, but the product of its dimensions overflows before it comes to the 0. No descriptor
        // may have such a shape.
        shape = vec![0];
        needs_shape = true;
    }
    (DataObjectDescriptor::new(tensor.dtype().unwrap_or(Dtype::Uint8), order, &shape), needs_shape)
}

/// The entries of `base[index].zio` for a tensor, with its shape only if `needs_shape`.
fn tensor_entry(index: usize, tensor: &Tensor<'_>, needs_shape: bool) -> Vec<(Value, Value)> {
    let uints = |list: &mut dyn Iterator<Item = u64>| Value::Array(list.map(Value::from).collect());
    let entries = [
        ("tensor", Some((index as u64).into())),
        ("part", Some((tensor.part() as u64).into())),
        ("dtype", Some(tensor.kind().into())),
        ("word", Some(tensor.word().into())),
        ("shape", needs_shape.then(|| uints(&mut tensor.shape().iter().copied()))),
        ("order", tensor.order().map(|order| uints(&mut order.iter().map(|d| *d as u64)))),
        ("ascend", tensor.ascend().map(|ascend| Value::Array(ascend.iter().copied().map(Value::from).collect()))),
        ("packing", tensor.packing().map(Value::from)),
        (METADATA, tensor.metadata().map(to_cbor)),
        ("ext", (!tensor.ext().is_empty()).then(|| members_to_cbor(tensor.ext()))),
    ];
    entries.into_iter().filter_map(|(key, value)| Some((key.into(), value?))).collect()
}

/// The elements with every axis ascending. They are copied only if an axis descends. The bytes of a tensor that is not dense
/// stay as they are.
fn elements<'a>(index: usize, tensor: &Tensor<'a>, options: &BridgeOptions) -> Result<Cow<'a, [u8]>> {
    let layout = tensor.layout();
    if layout.ascends() || !tensor.is_dense() {
        return Ok(tensor.bytes().into());
    }
    if !options.copy_descending {
        return Err(metadata(format!("tensor {index} has descending dimensions, and copying was not allowed")));
    }
    let mut bytes = tensor.bytes().to_vec();
    let axes = descending(&layout, tensor.ascend());
    reverse_axes(&mut bytes, tensor.stored_shape(), tensor.word() as usize, &axes);
    Ok(bytes.into())
}
