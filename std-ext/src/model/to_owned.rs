//! Owned copies of `tgm_core`'s borrowed views, made within the memory limit of a [`MetadataBudget`].

mod deferred;
mod plain;

use std::collections::BTreeMap;
use std::fmt::Display;

use ciborium::Value;
use tgm_core::ErrorKind;
use tgm_core::cbor::{self, Cursor, Step, Uints};
use tgm_core::descriptor::{self, Compression, Encoding, Filter, Key, MaskKind, MaskMethod, Named};
use tgm_core::metadata::{MessageMetadata, Metadata, ObjectMetadata, RESERVED_KEY};

use crate::base::error::Result;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, MaskDescriptor, MasksMetadata};
pub use deferred::{DeferredDescriptor, DeferredMetadata};

/// A map with text keys.
pub(crate) type Entries = BTreeMap<String, Value>;
/// An entry as the views of `tgm_core` yield it.
type EntryView<'a> = tgm_core::Result<(cbor::Value<'a>, cbor::Value<'a>)>;

/// The metadata of a message that counts: its last metadata frame, overridden by the objects' preceders.
///
/// # Errors
/// The errors of the CBOR, and of `budget`.
pub fn message_metadata(metadata: &MessageMetadata<'_>, budget: &MetadataBudget) -> Result<GlobalMetadata> {
    budget.take(metadata.frame().as_encoded())?;
    let base = metadata.objects().map(|object| object_entries(&object?, budget));
    with_base(metadata.frame(), gathered(metadata.object_count(), base)?)
}

/// [`message_metadata`] with the entry of object `index` alone.
///
/// # Errors
/// The errors of [`message_metadata`].
pub fn metadata_of_object(
    metadata: &MessageMetadata<'_>,
    index: usize,
    budget: &MetadataBudget,
) -> Result<GlobalMetadata> {
    budget.take(metadata.frame().as_encoded())?;
    let object = metadata.object(index)?;
    let base = object.iter().map(|object| object_entries(object, budget)).collect::<Result<_>>()?;
    with_base(metadata.frame(), base)
}

/// The entries of an object: entries of its preceder replace entries in `base`. Appending one sorted map to another
/// takes no search for each entry.
pub(crate) fn object_entries(object: &ObjectMetadata<'_>, budget: &MetadataBudget) -> Result<Entries> {
    let mut merged = object.base().map_or_else(|| Ok(Entries::new()), |base| of_map(&base))?;
    if let Some(preceder) = object.preceder() {
        override_by(&mut merged, &preceder, budget)?;
    }
    Ok(merged)
}

/// Replaces entries of an object by the entries of its preceder.
pub(crate) fn override_by(
    entries_of_base: &mut Entries,
    preceder: &cbor::Map<'_>,
    budget: &MetadataBudget,
) -> Result<()> {
    budget.take_map(preceder)?;
    let mut over = of_map(preceder)?;
    over.remove(RESERVED_KEY);
    entries_of_base.append(&mut over);
    Ok(())
}

/// The metadata of one frame.
pub(crate) fn frame_metadata(metadata: &Metadata<'_>, budget: &MetadataBudget) -> Result<GlobalMetadata> {
    budget.take(metadata.as_encoded())?;
    let base = metadata.base_entries().map(|entry| of_map(&entry?));
    with_base(metadata, gathered(metadata.base_len(), base)?)
}

/// The items in a list that is allocated once. There are `count` of them: each was seen before.
pub(crate) fn gathered<T>(count: usize, items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut all = Vec::with_capacity(count);
    for item in items {
        all.push(item?);
    }
    Ok(all)
}

fn with_base(metadata: &Metadata<'_>, base: Vec<Entries>) -> Result<GlobalMetadata> {
    let reserved = of_map(&metadata.reserved())?;
    Ok(GlobalMetadata { base, reserved, extra: entries(metadata.extra_entries())? })
}

/// The entries of a map with text keys.
pub(crate) fn map_entries(item: &cbor::Value<'_>, budget: &MetadataBudget) -> Result<Entries> {
    budget.take(item.as_encoded())?;
    of_map(&item.as_map()?)
}

/// The entries of a map, whose keys must be texts.
fn of_map(map: &cbor::Map<'_>) -> Result<Entries> {
    let (bytes, count) = map.entry_bytes();
    match count.and_then(|count| plain::entries(bytes, count)) {
        Some(entries) => Ok(entries),
        None => entries(map.iter()),
    }
}

/// Entries with text keys. The last entry with a key stays.
fn entries<'a>(entries: impl Iterator<Item = EntryView<'a>>) -> Result<Entries> {
    // Inserted one by one, because most maps fit into one node of the tree.
    let mut map = Entries::new();
    for entry in entries {
        let (key, item) = entry?;
        map.insert(text(&key)?, value(&item)?);
    }
    Ok(map)
}

/// The fields that every descriptor has.
const REQUIRED_FIELDS: usize = 8;

/// A data object's descriptor.
///
/// # Errors
/// The errors of the CBOR, and of `budget`.
pub fn descriptor(view: &descriptor::Descriptor<'_>, budget: &MetadataBudget) -> Result<DataObjectDescriptor> {
    budget.take(view.as_encoded())?;
    // One walk for the masks and the parameters: the offsets of szip alone can be many.
    let (mut params, mut stated_masks) = (Entries::new(), None);
    let fields = REQUIRED_FIELDS + usize::from(view.declared_byte_order().is_some());
    // A field is there once at most, so a map of as many entries has nothing else.
    let beyond_fields = Some(view.as_map()).filter(|map| map.entry_bytes().1 != Some(fields));
    for entry in beyond_fields.iter().flatten() {
        let (key, item) = entry?;
        match key.as_text().ok().and_then(Option::<Key>::from) {
            Some(Key::Masks) => stated_masks = Some(item),
            Some(key) if key.is_field() => {}
            _ => _ = params.insert(text(&key)?, value(&item)?),
        }
    }
    Ok(DataObjectDescriptor {
        obj_type: whole(view.object_type()),
        ndim: view.shape().len() as u64,
        shape: view.shape().iter().collect(),
        strides: view.strides().iter().collect(),
        dtype: view.dtype(),
        byte_order: view.byte_order(),
        encoding: name(view.encoding(), Encoding::name),
        filter: name(view.filter(), Filter::name),
        compression: name(view.compression(), Compression::name),
        masks: stated_masks.map_or(Ok(None), |stated| masks(view, &stated))?,
        params,
    })
}

/// The descriptor's `masks`, which are `stated` there. An empty map gives masks without entries.
fn masks(view: &descriptor::Descriptor<'_>, stated: &cbor::Value<'_>) -> Result<Option<MasksMetadata>> {
    if stated.is_null() {
        return Ok(None);
    }
    let mut masks = MasksMetadata::default();
    for (kind, entry) in view.masks().iter() {
        let params =
            stated.as_map()?.get(kind.name())?.map_or(Ok(None), |entry| entry.as_map()?.get(Key::Params.name()))?;
        let mask = MaskDescriptor {
            method: name(entry.method(), MaskMethod::name),
            offset: entry.offset(),
            length: entry.length(),
            params: params.map_or_else(|| Ok(Entries::new()), |params| of_map(&params.as_map()?))?,
        };
        match kind {
            MaskKind::Nan => masks.nan = Some(mask),
            MaskKind::PosInf => masks.pos_inf = Some(mask),
            MaskKind::NegInf => masks.neg_inf = Some(mask),
        }
    }
    Ok(Some(masks))
}

/// The value of one CBOR item. The caller has taken memory for it. The cost is O(its bytes) for any nesting. Recursion is
/// bounded, because `tgm_core` limits the nesting.
///
/// # Errors
/// The errors of the CBOR.
pub fn value(item: &cbor::Value<'_>) -> Result<Value> {
    if item.kind() == cbor::Kind::Array
        && let Some(numbers) = many_uints(item)
    {
        return Ok(Value::Array(numbers));
    }
    if let Some(value) = plain::value(&mut item.as_encoded()) {
        return Ok(value);
    }
    match item.kind() {
        cbor::Kind::Array | cbor::Kind::Map | cbor::Kind::Tag => {
            let mut cursor = Cursor::new(item.as_encoded(), item.offset());
            let step = cursor.step()?;
            stepped(step, &mut cursor)
        }
        _ => flat(item),
    }
}

/// The items of an array of more than [`FEW`] unsigned integers, such as the offsets of szip. `None` for any other array.
fn many_uints(array: &cbor::Value<'_>) -> Option<Vec<Value>> {
    if array.as_array().ok()?.len() as u64 <= FEW {
        return None;
    }
    let numbers = Uints::parse(array).ok()?;
    // Each integer takes a byte at least, so the array has as many items as it states.
    let mut items = Vec::with_capacity(numbers.len());
    numbers.iter().for_each(|number| items.push(number.into()));
    Some(items)
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

fn text(item: &cbor::Value<'_>) -> Result<String> {
    Ok(whole(item.as_text()?))
}

/// A text. Most texts have one piece, which is copied directly.
fn whole(text: cbor::Text<'_>) -> String {
    text.as_str().map_or_else(|| text.to_string(), ToString::to_string)
}

/// A name. Names that the format defines are copied directly.
fn name<K: Copy + Display>(name: Named<'_, K>, known: impl Fn(K) -> &'static str) -> String {
    name.known().map_or_else(|| name.to_string(), |choice| known(choice).to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;

    fn owned(bytes: &[u8]) -> Value {
        value(&cbor::Value::parse(bytes, 0).unwrap()).unwrap()
    }

    /// The value of an item, with a view of each item inside.
    fn general(bytes: &[u8]) -> Value {
        let mut cursor = Cursor::new(bytes, 0);
        let step = cursor.step().unwrap();
        stepped(step, &mut cursor).unwrap()
    }

    #[test]
    fn the_plain_way_gives_the_values_of_the_general_way_or_none() {
        let mut items: Vec<Vec<u8>> = vec![
            vec![0xf4],
            vec![0xf5],
            vec![0xf6],
            vec![0xf7],
            vec![0xf9, 0x3c, 1],
            vec![0xf9, 0x7e, 0],
            [&[0xfa], &1.5e-40_f32.to_be_bytes()[..]].concat(),
            [&[0xfb], &f64::NEG_INFINITY.to_be_bytes()[..]].concat(),
            vec![0x43, 1, 0xff, 2],
            [&[0x78, 26][..], "abcdefghijklmnopqrstuvwxyz".as_bytes()].concat(),
            vec![0x62, 0xc3, 0xa9],
        ];
        for sign in [0, 0x20] {
            items.extend([vec![sign], vec![sign | 0x17], vec![sign | 0x18, 0xff], vec![sign | 0x19, 1, 0]]);
            items.extend([vec![sign | 0x1a, 0xff, 0, 0, 1], [&[sign | 0x1b], &[0xff; 8][..]].concat()]);
        }
        let entries: Vec<u8> = items.iter().flat_map(|item| [&[0x61, b'k'], &item[..]].concat()).collect();
        let count = u8::try_from(items.len()).unwrap();
        items.push([&[0x98, count][..], &items.concat()].concat());
        items.push([&[0xb8, count][..], &entries].concat());
        items.push([&[0x82, 0x80][..], &items[items.len() - 1]].concat());
        for item in &items {
            let (mut rest, expected) = (&item[..], format!("{:?}", general(item)));
            assert_eq!(plain::value(&mut rest).map(|value| format!("{value:?}")), Some(expected.clone()));
            assert!(rest.is_empty());
            assert_eq!(format!("{:?}", owned(item)), expected);
            assert!((0..item.len()).all(|cut| plain::value(&mut &item[..cut]).is_none()));
        }
        // Lengths that are not stated, tags, reserved heads, and text that is not UTF-8.
        for odd in [
            &[0x9f, 1, 0xff][..],
            &[0xbf, 0xff],
            &[0x7f, 0xff],
            &[0xc2, 0x41, 1],
            &[0x1c],
            &[0xf8, 0x20],
            &[0x61, 0xff],
        ] {
            assert_eq!(plain::value(&mut &*odd), None);
        }
        assert_eq!(plain::entries(&[1, 1], 1), None);
        assert_eq!(plain::entries(&entries, usize::from(count)).map(|entries| entries.len()), Some(1));
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

    #[test]
    fn long_arrays_are_what_the_bytes_say_whether_all_items_are_integers_or_not() {
        for odd in [None, Some(0), Some(150), Some(299)] {
            let (mut bytes, mut expected) = (vec![0x99, 0x01, 0x2c], Vec::new());
            for i in 0..300_u32 {
                let number = i * i * 1000;
                match i {
                    _ if odd == Some(i) => bytes.extend([0x61, b'x']),
                    ..4 => bytes.extend([0x1b].into_iter().chain(u64::from(number).to_be_bytes())),
                    _ => bytes.extend([0x1a].into_iter().chain(number.to_be_bytes())),
                }
                expected.push(if odd == Some(i) { Value::from("x") } else { number.into() });
            }
            assert_eq!(owned(&bytes), Value::Array(expected));
        }
    }
}
