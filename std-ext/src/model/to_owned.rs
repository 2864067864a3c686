//! Owned copies of `tgm_core`'s borrowed views, made within the memory limit of a [`Room`].

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::ErrorKind;
use tgm_core::cbor::{self, Cursor, Step};
use tgm_core::descriptor::{self, Key, MaskKind};
use tgm_core::metadata::{MessageMetadata, Metadata, ObjectMetadata, RESERVED_KEY};

use crate::base::error::Result;
use crate::model::room::Room;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, MaskDescriptor, MasksMetadata};

/// A map with text keys.
pub(crate) type Entries = BTreeMap<String, Value>;
/// An entry as the views of `tgm_core` yield it.
type EntryView<'a> = tgm_core::Result<(cbor::Value<'a>, cbor::Value<'a>)>;

/// The metadata of a message that counts: its last metadata frame, overridden by the objects' preceders.
pub(crate) fn message_metadata(metadata: &MessageMetadata<'_>, room: &Room) -> Result<GlobalMetadata> {
    room.take(metadata.frame().as_encoded())?;
    let base = metadata.objects().map(|object| object_entries(&object?, room));
    with_base(metadata.frame(), base.collect::<Result<_>>()?)
}

/// The entries of an object: those of its preceder replace those in `base`. Appending one sorted map to another takes
/// no search for each entry.
pub(crate) fn object_entries(object: &ObjectMetadata<'_>, room: &Room) -> Result<Entries> {
    let mut merged = object.base().map_or_else(|| Ok(Entries::new()), |base| entries(base.iter()))?;
    if let Some(preceder) = object.preceder() {
        override_by(&mut merged, &preceder, room)?;
    }
    Ok(merged)
}

/// Replaces entries of an object by those of its preceder.
pub(crate) fn override_by(entries_of_base: &mut Entries, preceder: &cbor::Map<'_>, room: &Room) -> Result<()> {
    room.take_map(preceder)?;
    let mut over = entries(preceder.iter())?;
    over.remove(RESERVED_KEY);
    entries_of_base.append(&mut over);
    Ok(())
}

/// The metadata of one frame.
pub(crate) fn frame_metadata(metadata: &Metadata<'_>, room: &Room) -> Result<GlobalMetadata> {
    room.take(metadata.as_encoded())?;
    let base = metadata.base_entries().map(|entry| entries(entry?.iter()));
    with_base(metadata, base.collect::<Result<_>>()?)
}

fn with_base(metadata: &Metadata<'_>, base: Vec<Entries>) -> Result<GlobalMetadata> {
    let reserved = entries(metadata.reserved().iter())?;
    Ok(GlobalMetadata { base, reserved, extra: entries(metadata.extra_entries())? })
}

/// The entries of a map with text keys.
pub(crate) fn map_entries(item: &cbor::Value<'_>, room: &Room) -> Result<Entries> {
    room.take(item.as_encoded())?;
    entries(item.as_map()?.iter())
}

/// Entries with text keys. Of entries with the same key, the last one stays.
fn entries<'a>(entries: impl Iterator<Item = EntryView<'a>>) -> Result<Entries> {
    // Inserted one by one, because most maps fit into one node of the tree.
    let mut map = Entries::new();
    for entry in entries {
        let (key, item) = entry?;
        map.insert(text(&key)?, value(&item)?);
    }
    Ok(map)
}

/// A data object's descriptor.
pub(crate) fn descriptor(view: &descriptor::Descriptor<'_>, room: &Room) -> Result<DataObjectDescriptor> {
    room.take(view.as_encoded())?;
    let is_parameter = |entry: &EntryView<'_>| {
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

/// The descriptor's `masks`. An empty map gives masks without entries.
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

/// The value of one CBOR item. The caller has taken room for it. The cost is O(its bytes) for any nesting. Recursion is
/// bounded, because `tgm_core` limits the nesting.
pub(crate) fn value(item: &cbor::Value<'_>) -> Result<Value> {
    match item.kind() {
        cbor::Kind::Array | cbor::Kind::Map | cbor::Kind::Tag => {
            let mut cursor = Cursor::new(item.as_encoded(), item.offset());
            let step = cursor.step()?;
            stepped(step, &mut cursor)
        }
        _ => flat(item),
    }
}

/// The value that begins with `step`. `cursor` is at the byte after that step.
fn stepped<'a>(step: Step<'a>, cursor: &mut Cursor<'a>) -> Result<Value> {
    Ok(match step {
        Step::Item(item) => flat(&item)?,
        Step::Array(count) => Value::Array(items(count, cursor, stepped)?),
        Step::Map(count) => Value::Map(items(count, cursor, |key, cursor| {
            let key = stepped(key, cursor)?;
            let step = cursor.step()?;
            Ok((key, stepped(step, cursor)?))
        })?),
        Step::Tag(tag) => {
            let step = cursor.step()?;
            Value::Tag(tag, Box::new(stepped(step, cursor)?))
        }
        Step::Break => return Err(ErrorKind::CborBreak.at(cursor.offset()).into()),
    })
}

/// Containers of up to this many items get their memory at once. For more, the stated count alone must not reserve
/// memory.
const FEW: u64 = 64;

/// The items of a container: as many as it states, or up to its end.
fn items<'a, T>(
    count: Option<u64>,
    cursor: &mut Cursor<'a>,
    mut read: impl FnMut(Step<'a>, &mut Cursor<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let few = count.filter(|count| *count <= FEW).and_then(|count| usize::try_from(count).ok());
    let mut items = Vec::with_capacity(few.unwrap_or(0));
    while count.is_none_or(|count| (items.len() as u64) < count) {
        match cursor.step()? {
            Step::Break if count.is_none() => break,
            step => items.push(read(step, cursor)?),
        }
    }
    Ok(items)
}

/// The value of an item without items in it. A big number, which is a tag around bytes, counts as such an item.
fn flat(item: &cbor::Value<'_>) -> Result<Value> {
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
        cbor::Kind::Bytes => bytes(item)?,
        cbor::Kind::Tag => {
            let (tag, tagged) = item.as_tag()?;
            Value::Tag(tag, Box::new(bytes(&tagged)?))
        }
        _ => Value::Text(text(item)?),
    })
}

fn bytes(item: &cbor::Value<'_>) -> Result<Value> {
    Ok(Value::Bytes(item.as_bytes()?.chunks().flatten().copied().collect()))
}

/// A text. Most texts have one piece, which is copied directly.
fn text(item: &cbor::Value<'_>) -> Result<String> {
    let text = item.as_text()?;
    Ok(text.as_str().map_or_else(|| text.to_string(), ToString::to_string))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn owned(bytes: &[u8]) -> Value {
        value(&cbor::Value::parse(bytes, 0).unwrap()).unwrap()
    }

    #[test]
    fn values_are_what_the_bytes_say() {
        let text = |text: &str| Value::Text(text.into());
        // {_ "a": [_ 1, -2], 3: (_ "b" "c")}
        let bytes = [0xbf, 0x61, b'a', 0x9f, 1, 0x21, 0xff, 3, 0x7f, 0x61, b'b', 0x61, b'c', 0xff, 0xff];
        let array = Value::Array(vec![1.into(), (-2).into()]);
        assert_eq!(owned(&bytes), Value::Map(vec![(text("a"), array), (3.into(), text("bc"))]));
        // A big number becomes an integer if it fits one. Other tagged items keep their tag.
        assert_eq!(owned(&[0xc2, 0x42, 1, 0]), 256.into());
        assert_eq!(owned(&[0xc3, 0x41, 4]), (-5).into());
        let long = [[0xc2, 0x51].as_slice(), &[1; 17]].concat();
        assert_eq!(owned(&long), Value::Tag(2, Box::new(Value::Bytes(vec![1; 17]))));
        assert_eq!(owned(&[0xc2, 0x81, 0xf6]), Value::Tag(2, Box::new(Value::Array(vec![Value::Null]))));
        assert_eq!(owned(&[0xc9, 0xc2, 0x41, 4]), Value::Tag(9, Box::new(4.into())));
        assert_eq!(owned(&[0x80]), Value::Array(vec![]));
        assert_eq!(owned(&[0xa0]), Value::Map(vec![]));
    }
}
