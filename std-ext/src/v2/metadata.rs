//! Conversion of metadata from version 2 to version 3.

use ciborium::Value;
use tgm_core::ErrorKind;
use tgm_core::cbor;
use tgm_core::metadata::{BASE_KEY, EXTRA_KEY};
use tgm_core::wire::FrameType;

use super::WIRE_VERSION;
use super::frame::Frame;
use crate::base::error::{Result, TensogramError};
use crate::model::metadata::RESERVED_KEY;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::params::metadata;
use crate::model::to_owned::{self, Entries};
use crate::model::types::GlobalMetadata;

/// The key under which an upgraded message keeps the old provenance.
///
/// At message level, in `_extra_`: a map of `wire_version` (2) and `reserved`, the old `_reserved_` with `encoder`,
/// `time` and `uuid`, if there was one. In an object's entry of `base`: a map of `reserved`, the entries of the old
/// `_reserved_` except `tensor`, if there were any. If the writer used the key already, underscores are appended.
pub const UPGRADED_FROM: &str = "upgraded_from";

/// The key of the version. Only version 2 has it in its metadata.
const VERSION_KEY: &str = "version";
/// Keys of release 0.5: metadata of all objects, of each object, and of the library.
const COMMON_KEY: &str = "common";
const PAYLOAD_KEY: &str = "payload";
const OLD_RESERVED_KEY: &str = "reserved";
/// Limit on bytes of common metadata that are copied into the objects' entries.
const MOST_COPIED: usize = 16 << 20;

/// The metadata of a message with `objects` objects, from its frames of types 1, 7 and 8. `_reserved_` is left out.
///
/// `preceders` come with the number of the object after each.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, sections of a wrong type, and if there is no metadata.
pub(super) fn global(
    frame: Option<&Frame<'_>>,
    preceders: &[(usize, Frame<'_>)],
    objects: usize,
    budget: &MetadataBudget,
) -> Result<GlobalMetadata> {
    let frame = frame.ok_or(ErrorKind::NoMetadata.at(0))?;
    let mut global = read(frame, objects, budget)?;
    if global.base.len() > objects {
        return Err(ErrorKind::BaseTooLong.at(frame.body_offset()).into());
    }
    if !preceders.is_empty() {
        global.base.resize_with(objects, Entries::new);
    }
    for (index, frame) in preceders {
        let [mut entries] = <[Entries; 1]>::try_from(read(frame, 1, budget)?.base).map_err(|base| {
            // The error has room for 32 bits.
            let count = u32::try_from(base.len()).unwrap_or(u32::MAX);
            TensogramError::from(ErrorKind::PrecederBase(count).at(frame.body_offset()))
        })?;
        entries.remove(RESERVED_KEY);
        if let Some(entry) = global.base.get_mut(*index) {
            entry.extend(entries);
        }
    }
    global.base.iter_mut().try_for_each(keep_reserved)?;
    let reserved = std::mem::take(&mut global.reserved);
    let record = [("wire_version", Some(Value::from(WIRE_VERSION))), ("reserved", non_empty(reserved))];
    insert_record(&mut global.extra, record);
    Ok(global)
}

/// The frame's metadata in the sections of version 3. `objects` is the number of objects that it covers.
fn read(frame: &Frame<'_>, objects: usize, budget: &MetadataBudget) -> Result<GlobalMetadata> {
    let item = cbor::Value::parse(frame.body, frame.body_offset())?;
    let mut top = to_owned::map_entries(&item, budget)?;
    top.remove(VERSION_KEY);
    let is_preceder = frame.frame_type == FrameType::PrecederMetadata;
    if is_of_0_5(&top) {
        // A preceder covers one object only.
        let copies = if is_preceder { 0 } else { objects };
        return read_0_5(top, copies, frame.body.len());
    }
    let base = match top.remove(BASE_KEY) {
        None => Vec::new(),
        Some(Value::Array(items)) => items.into_iter().map(|item| map(item, BASE_KEY)).collect::<Result<_>>()?,
        Some(_) => return Err(metadata("base is not an array")),
    };
    let mut section = |key: &str| top.remove(key).map_or_else(|| Ok(Entries::new()), |section| map(section, key));
    let (mut extra, reserved) = (section(EXTRA_KEY)?, section(RESERVED_KEY)?);
    // Readers of version 2 dropped unknown entries. So entries of the same name in `_extra_` counted.
    for (key, value) in top {
        extra.entry(key).or_insert(value);
    }
    Ok(GlobalMetadata { base, reserved, extra })
}

/// Whether these are the sections of release 0.5. Later releases have other sections, and at least one of them.
fn is_of_0_5(top: &Entries) -> bool {
    let has = |keys: [&str; 3]| keys.iter().any(|key| top.contains_key(*key));
    let is_map_or_absent = |key: &str| top.get(key).is_none_or(Value::is_map);
    has([COMMON_KEY, PAYLOAD_KEY, OLD_RESERVED_KEY])
        && !has([BASE_KEY, EXTRA_KEY, RESERVED_KEY])
        && is_map_or_absent(COMMON_KEY)
        && is_map_or_absent(OLD_RESERVED_KEY)
        && top.get(PAYLOAD_KEY).is_none_or(|list| list.as_array().is_some_and(|list| list.iter().all(Value::is_map)))
}

/// `payload` becomes `base`. Each of the `copies` entries gets the entries of `common` that it lacks. Without objects,
/// or above the limit on memory, `common` is kept as an annotation. `len` is the number of bytes that the metadata was
/// read from.
fn read_0_5(mut top: Entries, copies: usize, len: usize) -> Result<GlobalMetadata> {
    let mut section = |key: &str| top.remove(key).map_or_else(|| Ok(Entries::new()), |section| map(section, key));
    let (common, reserved) = (section(COMMON_KEY)?, section(OLD_RESERVED_KEY)?);
    let mut base = match top.remove(PAYLOAD_KEY) {
        Some(Value::Array(items)) => {
            items.into_iter().map(|item| map(item, PAYLOAD_KEY)).collect::<Result<Vec<_>>>()?
        }
        _ => Vec::new(),
    };
    // A product beyond a `usize` is beyond the limit.
    if copies == 0 || copies.saturating_mul(len) > MOST_COPIED {
        top.extend(non_empty(common).map(|common| (COMMON_KEY.to_string(), common)));
    } else if !common.is_empty() {
        base.resize_with(copies.max(base.len()), Entries::new);
        for entry in &mut base {
            for (key, value) in &common {
                entry.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    Ok(GlobalMetadata { base, reserved, extra: top })
}

/// Removes `_reserved_` from an object's entry, and keeps what version 3 does not write again.
fn keep_reserved(entry: &mut Entries) -> Result<()> {
    let Some(reserved) = entry.remove(RESERVED_KEY) else { return Ok(()) };
    let mut reserved = map(reserved, RESERVED_KEY)?;
    reserved.remove("tensor");
    if let Some(reserved) = non_empty(reserved) {
        insert_record(entry, [("reserved", Some(reserved))]);
    }
    Ok(())
}

/// Puts a map under [`UPGRADED_FROM`], or under a longer key if that one is taken.
fn insert_record<const N: usize>(entries: &mut Entries, record: [(&str, Option<Value>); N]) {
    let mut key = UPGRADED_FROM.to_string();
    while entries.contains_key(&key) {
        key.push('_');
    }
    let record = record.into_iter().filter_map(|(key, value)| Some((Value::from(key), value?)));
    entries.insert(key, Value::Map(record.collect()));
}

fn non_empty(entries: Entries) -> Option<Value> {
    if entries.is_empty() {
        return None;
    }
    Some(Value::Map(entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect()))
}

/// A map with text keys. The last of repeated keys counts.
fn map(value: Value, name: &str) -> Result<Entries> {
    let Value::Map(pairs) = value else { return Err(metadata(format!("{name} is not a map"))) };
    let text = |(key, value)| match key {
        Value::Text(key) => Ok((key, value)),
        _ => Err(metadata(format!("{name} has a key that is not text"))),
    };
    pairs.into_iter().map(text).collect()
}
