//! Metadata, descriptors, indexes and hash lists as the canonical CBOR of their frames, and back (FORMAT §3.3 to §3.6).
//!
//! Writing is a function of the content: the order in which keys were put in does not show in the bytes.

mod common;
mod path;

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::ErrorKind;
use tgm_core::cbor::{Canonical, verify_canonical};
use tgm_core::descriptor::{Descriptor, Key, MaskKind};
use tgm_core::index::{HashList, Index};
pub use tgm_core::metadata::RESERVED_KEY;
use tgm_core::metadata::{BASE_KEY, EXTRA_KEY, Metadata};

pub use crate::model::meta_access::{Borrowed, deserialize};
pub use common::compute_common;
pub use path::set_path;

pub use crate::model::query::{self, Query};

use crate::base::error::{Result, TensogramError};
use crate::model::cbor::{self, Item, Writer, head_len};
use crate::model::hash::HASH_ALGORITHM_NAME;
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, HashFrame, IndexFrame, MaskDescriptor, MasksMetadata};

/// The body of a metadata frame. Sections that are empty are left out, so that default metadata is the empty map.
///
/// # Errors
/// [`TensogramError::Metadata`] for values nested too deeply to be read again.
///
/// ```
/// use tgm_std::{GlobalMetadata, metadata};
///
/// assert_eq!(metadata::global_metadata_to_cbor(&GlobalMetadata::default())?, [0xa0]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Format: FORMAT §3.3.
pub fn global_metadata_to_cbor(metadata: &GlobalMetadata) -> Result<Vec<u8>> {
    let mut sections = Vec::new();
    if !metadata.base.is_empty() {
        sections.push((BASE_KEY, Item::Array(metadata.base.iter().map(Item::Entries).collect())));
    }
    sections.extend(non_empty(EXTRA_KEY, &metadata.extra));
    sections.extend(non_empty(RESERVED_KEY, &metadata.reserved));
    cbor::to_vec(&Item::Map(sections))
}

fn non_empty<'a>(key: &'a str, entries: &'a BTreeMap<String, Value>) -> Option<(&'a str, Item<'a>)> {
    (!entries.is_empty()).then_some((key, Item::Entries(entries)))
}

/// Metadata from the body of a metadata frame; bytes behind the CBOR item are ignored. Unknown top-level entries are read
/// into `extra`.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, sections of a wrong type, keys that are no text, and a key both at top
/// level and in `_extra_`.
///
/// Format: FORMAT §3.3.
pub fn cbor_to_global_metadata(bytes: &[u8]) -> Result<GlobalMetadata> {
    let view = Metadata::parse(bytes, 0).map_err(|error| TensogramError::cbor("global metadata", error))?;
    to_owned::frame_metadata(&view, &Room::by_default())
}

/// The key under which descriptors of version 2 have a digest of their payload. Version 3 gives it no meaning, and has
/// digests in its frames.
pub(crate) const HASH_KEY: &str = "hash";

/// The descriptor of a data object: its fields and its parameters in one flat map, the byte order always among them.
///
/// A parameter `hash` is left out. It is a digest of version 2: a descriptor that was read may still have it, and behind
/// new bytes it would state the wrong digest. Version 3 has digests in its frames.
///
/// # Errors
/// [`TensogramError::Metadata`] for a parameter that has the name of a field, and for values nested too deeply.
///
/// Format: FORMAT §3.5.
pub fn object_descriptor_to_cbor(descriptor: &DataObjectDescriptor) -> Result<Vec<u8>> {
    cbor::written(|writer| write_object_descriptor(descriptor, writer))
}

/// Entries of a descriptor that are always there.
const FIELDS: usize = 9;

/// [`object_descriptor_to_cbor`], behind what has been written.
///
/// # Errors
/// As there.
pub(crate) fn write_object_descriptor(descriptor: &DataObjectDescriptor, writer: &mut Writer<'_>) -> Result<()> {
    let (params, masks) = (&descriptor.params, descriptor.masks.as_ref());
    let count = params.len() - usize::from(params.contains_key(HASH_KEY));
    if let Some(name) = params.keys().find(|name| is_field(name)) {
        let text = format!("parameter {name} has the name of a descriptor field");
        return Err(TensogramError::Metadata(text.into()));
    }
    let uints = |writer: &mut Writer<'_>, key: Key, numbers: &[u64]| {
        writer.entry(key.name(), |writer| writer.uints(numbers.iter().copied()))
    };
    // In the order of their names.
    let write_fields = |writer: &mut Writer<'_>| {
        writer.uint_entry(Key::Ndim.name(), descriptor.ndim);
        writer.text_entry(Key::Type.name(), &descriptor.obj_type);
        writer.text_entry(Key::Dtype.name(), descriptor.dtype.name());
        uints(writer, Key::Shape, &descriptor.shape)?;
        writer.text_entry(Key::Filter.name(), &descriptor.filter);
        uints(writer, Key::Strides, &descriptor.strides)?;
        writer.text_entry(Key::Encoding.name(), &descriptor.encoding);
        writer.text_entry(Key::ByteOrder.name(), descriptor.byte_order.name());
        writer.text_entry(Key::Compression.name(), &descriptor.compression);
        Ok(())
    };
    if masks.is_none() && count == 0 {
        return writer.map(FIELDS, write_fields);
    }
    writer.unsorted_map(FIELDS + usize::from(masks.is_some()) + count, |writer| {
        write_fields(writer)?;
        if let Some(masks) = masks {
            writer.entry(Key::Masks.name(), |writer| writer.item(&masks_item(masks)))?;
        }
        let mut written = params.iter().filter(|(name, _)| *name != HASH_KEY);
        written.try_for_each(|(name, value)| writer.entry(name, |writer| writer.value(value)))
    })
}

/// Whether a descriptor's entry of that name is one of its fields, and no parameter.
fn is_field(name: &str) -> bool {
    Key::from_name(name).is_some_and(Key::is_field)
}

fn masks_item(masks: &MasksMetadata) -> Item<'_> {
    let kinds = [(MaskKind::Nan, &masks.nan), (MaskKind::PosInf, &masks.pos_inf), (MaskKind::NegInf, &masks.neg_inf)];
    Item::Map(kinds.into_iter().filter_map(|(kind, mask)| Some((kind.name(), mask_item(mask.as_ref()?)))).collect())
}

fn mask_item(mask: &MaskDescriptor) -> Item<'_> {
    let mut entries = vec![
        (Key::Length.name(), Item::Uint(mask.length)),
        (Key::Method.name(), Item::Text(&mask.method)),
        (Key::Offset.name(), Item::Uint(mask.offset)),
    ];
    entries.extend(non_empty(Key::Params.name(), &mask.params));
    Item::Map(entries)
}

/// The descriptor that `bytes` begin with; what follows its CBOR item is ignored. Without a byte order it has this
/// machine's.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, and for fields that are missing, repeated, of a wrong type or in
/// contradiction to each other.
///
/// Format: FORMAT §3.5.
pub fn cbor_to_object_descriptor(bytes: &[u8]) -> Result<DataObjectDescriptor> {
    let view = Descriptor::parse(bytes, 0).map_err(|error| TensogramError::cbor("descriptor", error))?;
    to_owned::descriptor(&view, &Room::by_default())
}

/// The body of an index frame.
///
/// # Errors
/// [`TensogramError::Metadata`] if there are not as many offsets as lengths, which no reader would accept.
///
/// Format: FORMAT §3.6.
pub fn index_to_cbor(index: &IndexFrame) -> Result<Vec<u8>> {
    let (offsets, lengths) = (index.offsets.len(), index.lengths.len());
    if offsets != lengths {
        let text = format!("index offsets.len() ({offsets}) != lengths.len() ({lengths})");
        return Err(TensogramError::Metadata(text.into()));
    }
    cbor::written(|writer| write_index(index.offsets.iter().copied(), index.lengths.iter().copied(), writer))
}

/// The body of an index frame of as many offsets as lengths.
///
/// # Errors
/// None: every list can be written.
pub(crate) fn write_index(
    offsets: impl ExactSizeIterator<Item = u64>,
    lengths: impl ExactSizeIterator<Item = u64>,
    writer: &mut Writer<'_>,
) -> Result<()> {
    writer.map(2, |writer| {
        writer.entry("lengths", |writer| writer.uints(lengths))?;
        writer.entry("offsets", |writer| writer.uints(offsets))
    })
}

/// An index from the body of an index frame; absent arrays are empty, unknown keys are ignored.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, keys that are no text, entries that are no unsigned integers, and arrays
/// of different lengths.
///
/// Format: FORMAT §3.6.
pub fn cbor_to_index(bytes: &[u8]) -> Result<IndexFrame> {
    let index = Index::from_body(bytes, 0).map_err(|error| TensogramError::cbor("index", error))?;
    Ok(IndexFrame { offsets: index.offsets().iter().collect(), lengths: index.lengths().iter().collect() })
}

/// The body of a hash frame.
///
/// # Errors
/// None: every list of digests can be written.
///
/// Format: FORMAT §3.6.
pub fn hash_frame_to_cbor(list: &HashFrame) -> Result<Vec<u8>> {
    cbor::to_vec(&Item::Map(vec![("hashes", Item::Texts(&list.hashes)), ("algorithm", Item::Text(&list.algorithm))]))
}

/// The body of a hash frame that lists `digests` made with the format's algorithm.
///
/// # Errors
/// None: every list of digests can be written.
pub(crate) fn write_hash_list(digests: impl ExactSizeIterator<Item = u64>, writer: &mut Writer<'_>) -> Result<()> {
    writer.map(2, |writer| {
        writer.entry("hashes", |writer| {
            writer.array(digests.len(), |writer| {
                digests.for_each(|digest| writer.hexadecimal(digest));
                Ok(())
            })
        })?;
        writer.text_entry("algorithm", HASH_ALGORITHM_NAME);
        Ok(())
    })
}

/// Bytes of what [`write_hash_list`] writes of `count` digests.
pub(crate) const fn hash_list_len(count: usize) -> u64 {
    let (count, digest) = (count as u64, 17);
    let name = HASH_ALGORITHM_NAME.len() as u64;
    1 + 7 + head_len(count) + count * digest + 10 + head_len(name) + name
}

/// A list of digests from the body of a hash frame; what is absent is empty, unknown keys are ignored.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, keys that are no text, and an algorithm or digests that are no text.
///
/// Format: FORMAT §3.6.
pub fn cbor_to_hash_frame(bytes: &[u8]) -> Result<HashFrame> {
    let list = HashList::from_body(bytes, 0).map_err(|error| TensogramError::cbor("hash frame", error))?;
    Ok(HashFrame {
        algorithm: list.algorithm().map(|name| name.to_string()).unwrap_or_default(),
        hashes: list.texts().map(|digest| Ok(digest?.to_string())).collect::<Result<_>>()?,
    })
}

/// Whether the keys of every map in the item that `bytes` begin with sort strictly by the bytes that encode them.
///
/// That is what the reference looks at. Lengths of heads and floats, indefinite lengths and trailing bytes are checked by
/// [`tgm_core::cbor::verify_canonical`] on demand.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR and for keys that are repeated or out of order.
///
/// Format: FORMAT §3.7.
pub fn verify_canonical_cbor(bytes: &[u8]) -> Result<()> {
    verify_canonical(bytes, Canonical::KeyOrder).map_err(|error| match error.kind() {
        ErrorKind::NonCanonical(_) => error.into(),
        _ => TensogramError::cbor("canonical", error),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;
