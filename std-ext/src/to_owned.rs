//! From the borrowed views of `tgm_core` to values that own what they hold.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::cbor;
use tgm_core::descriptor::{self, Key, MaskKind};
use tgm_core::metadata::{MessageMetadata, Metadata};

use crate::error::Result;
use crate::types::{DataObjectDescriptor, GlobalMetadata, MaskDescriptor, MasksMetadata};

/// A map with text keys.
pub(crate) type Entries = BTreeMap<String, Value>;
/// What the views of `tgm_core` iterate over.
type Entry<'a> = tgm_core::Result<(cbor::Value<'a>, cbor::Value<'a>)>;

/// The metadata of a message as it counts: the last frame, under the objects' preceders.
pub(crate) fn message_metadata(metadata: &MessageMetadata<'_>) -> Result<GlobalMetadata> {
    let base = metadata.objects().map(|object| entries(object?.entries()));
    with_base(metadata.frame(), base.collect::<Result<_>>()?)
}

/// The metadata of one frame.
pub(crate) fn frame_metadata(metadata: &Metadata<'_>) -> Result<GlobalMetadata> {
    let base = metadata.base_entries().map(|entry| entries(entry?.iter()));
    with_base(metadata, base.collect::<Result<_>>()?)
}

fn with_base(metadata: &Metadata<'_>, base: Vec<Entries>) -> Result<GlobalMetadata> {
    let reserved = entries(metadata.reserved().iter())?;
    Ok(GlobalMetadata { base, reserved, extra: entries(metadata.extra_entries())? })
}

/// Entries with text keys; of those with the same key the last stays.
pub(crate) fn entries<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Result<Entries> {
    entries
        .map(|entry| {
            let (key, item) = entry?;
            Ok((text(&key)?, value(&item)?))
        })
        .collect()
}

/// A data object's descriptor.
pub(crate) fn descriptor(view: &descriptor::Descriptor<'_>) -> Result<DataObjectDescriptor> {
    let is_parameter = |entry: &Entry<'_>| {
        let field = |key: &cbor::Value<'_>| key.as_text().ok().and_then(Option::<Key>::from).is_some_and(Key::is_field);
        !matches!(entry, Ok((key, _)) if field(key))
    };
    Ok(DataObjectDescriptor {
        obj_type: view.object_type().to_string(),
        ndim: view.shape().len() as u64,
        shape: view.shape().iter().collect(),
        strides: view.strides().iter().collect(),
        dtype: view.dtype(),
        byte_order: view.byte_order(),
        encoding: view.encoding().to_string(),
        filter: view.filter().to_string(),
        compression: view.compression().to_string(),
        masks: masks(view)?,
        params: entries(view.as_map().iter().filter(is_parameter))?,
    })
}

/// The descriptor's `masks`; an empty map is no mask.
fn masks(view: &descriptor::Descriptor<'_>) -> Result<Option<MasksMetadata>> {
    let Some(map) = view.as_map().get(Key::Masks.name())?.filter(|value| !value.is_null()) else { return Ok(None) };
    let mut masks = MasksMetadata::default();
    for (kind, entry) in view.masks().iter() {
        let params =
            map.as_map()?.get(kind.name())?.map_or(Ok(None), |entry| entry.as_map()?.get(Key::Params.name()))?;
        let mask = MaskDescriptor {
            method: entry.method().to_string(),
            offset: entry.offset(),
            length: entry.length(),
            params: params.map_or_else(|| Ok(Entries::new()), |params| entries(params.as_map()?.iter()))?,
        };
        match kind {
            MaskKind::Nan => masks.nan = Some(mask),
            MaskKind::PosInf => masks.pos_inf = Some(mask),
            MaskKind::NegInf => masks.neg_inf = Some(mask),
        }
    }
    Ok(Some(masks))
}

/// One CBOR item. Recursion is bounded by the nesting that `tgm_core` lets pass.
pub(crate) fn value(item: &cbor::Value<'_>) -> Result<Value> {
    let kind = item.kind();
    if matches!(kind, cbor::Kind::Integer | cbor::Kind::Tag)
        && let Ok(integer) = item.as_integer()
        && let Ok(integer) = integer.try_into()
    {
        return Ok(Value::Integer(integer));
    }
    Ok(match kind {
        cbor::Kind::Null => Value::Null,
        cbor::Kind::Bool => Value::Bool(item.as_bool()?),
        cbor::Kind::Float | cbor::Kind::Integer => Value::Float(item.as_f64()?),
        cbor::Kind::Bytes => Value::Bytes(item.as_bytes()?.chunks().flatten().copied().collect()),
        cbor::Kind::Text => Value::Text(text(item)?),
        cbor::Kind::Array => Value::Array(item.as_array()?.iter().map(|item| value(&item?)).collect::<Result<_>>()?),
        cbor::Kind::Map => Value::Map(item.as_map()?.iter().map(pair).collect::<Result<_>>()?),
        cbor::Kind::Tag => {
            let (tag, tagged) = item.as_tag()?;
            Value::Tag(tag, Box::new(value(&tagged)?))
        }
    })
}

/// A text, of which there mostly is one piece.
fn text(item: &cbor::Value<'_>) -> Result<String> {
    let text = item.as_text()?;
    Ok(text.as_str().map_or_else(|| text.to_string(), ToString::to_string))
}

fn pair(entry: Entry<'_>) -> Result<(Value, Value)> {
    let (key, item) = entry?;
    Ok((value(&key)?, value(&item)?))
}
