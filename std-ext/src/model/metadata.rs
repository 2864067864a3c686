//! Metadata, descriptors, indexes and hash lists: to the canonical CBOR of their frames, and back (FORMAT §3.3 to
//! §3.6).
//!
//! The bytes depend only on the content, and not on the order in which keys were inserted.

mod common;
mod lists;
pub(super) mod path;

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::ErrorKind;
use tgm_core::cbor::{Canonical, verify_canonical};
use tgm_core::descriptor::{Descriptor, Key, MaskKind};
pub use tgm_core::metadata::RESERVED_KEY;
use tgm_core::metadata::{BASE_KEY, EXTRA_KEY, Metadata};

pub use crate::model::meta_access::{Borrowed, deserialize};
pub use common::compute_common;
pub use lists::{cbor_to_hash_frame, cbor_to_index, hash_frame_to_cbor, index_to_cbor};
pub(crate) use lists::{hash_list_len, index_len_without_numbers, write_hash_list, write_index};
pub use path::{PathOwner, path_owner, remove_path, segment, segments, set_path};

#[cfg(feature = "json")]
pub use crate::model::json;
pub use crate::model::query::{self, Query};

use crate::base::error::{CborOf, Result, TensogramError};
use crate::model::cbor::{self, Item, Writer};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, MaskDescriptor, MasksMetadata};

/// The body of a metadata frame. Empty sections are left out, so default metadata is the empty map.
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
    cbor::written(|writer| write_global_metadata(metadata, writer))
}

/// Appends what [`global_metadata_to_cbor`] returns.
///
/// # Errors
/// The errors of [`global_metadata_to_cbor`].
pub(crate) fn write_global_metadata(metadata: &GlobalMetadata, writer: &mut Writer<'_>) -> Result<()> {
    let mut sections = Vec::new();
    if !metadata.base.is_empty() {
        sections.push((BASE_KEY, Item::Array(metadata.base.iter().map(Item::Entries).collect())));
    }
    sections.extend(non_empty(EXTRA_KEY, &metadata.extra));
    sections.extend(non_empty(RESERVED_KEY, &metadata.reserved));
    writer.item(&Item::Map(sections))
}

fn non_empty<'a>(key: &'a str, entries: &'a BTreeMap<String, Value>) -> Option<(&'a str, Item<'a>)> {
    (!entries.is_empty()).then_some((key, Item::Entries(entries)))
}

/// Metadata from the body of a metadata frame. Bytes after the CBOR item are ignored. Unknown top-level entries go into
/// `extra`.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, sections of a wrong type, keys that are not text, and a key that
/// stands both at top level and in `_extra_`.
///
/// Format: FORMAT §3.3.
pub fn cbor_to_global_metadata(bytes: &[u8]) -> Result<GlobalMetadata> {
    let view = Metadata::parse(bytes, 0).map_err(|error| TensogramError::cbor(CborOf::Metadata, bytes, 0, error))?;
    to_owned::frame_metadata(&view, &MetadataBudget::by_default())
}

/// The key of the payload's digest in descriptors of version 2. Version 3 has digests in its frames, and the key means
/// nothing there.
pub(crate) const HASH_KEY: &str = "hash";

/// The descriptor of a data object: one flat map of its fields and parameters. The byte order is always written.
///
/// A parameter `hash` is left out. It is a digest of version 2, which a descriptor that was read may still have. With
/// new bytes it would be wrong. Version 3 has digests in its frames.
///
/// # Errors
/// [`TensogramError::Metadata`] for a parameter that has the name of a field, and for values nested too deeply.
///
/// Format: FORMAT §3.5.
pub fn object_descriptor_to_cbor(descriptor: &DataObjectDescriptor) -> Result<Vec<u8>> {
    cbor::written(|writer| write_object_descriptor(descriptor, writer))
}

/// The number of fields that every descriptor has.
const FIELDS: usize = 9;

/// Appends what [`object_descriptor_to_cbor`] returns.
///
/// # Errors
/// The errors of [`object_descriptor_to_cbor`].
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
    // In canonical order, so that a descriptor without parameters needs no sorting.
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

/// Whether that name belongs to a field of descriptors. Parameters cannot have it.
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

/// The descriptor that `bytes` begin with. Bytes after the CBOR item are ignored. A descriptor without a byte order
/// gets this machine's.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, and for fields that are missing, repeated, of a wrong type or
/// inconsistent.
///
/// Format: FORMAT §3.5.
pub fn cbor_to_object_descriptor(bytes: &[u8]) -> Result<DataObjectDescriptor> {
    let view =
        Descriptor::parse(bytes, 0).map_err(|error| TensogramError::cbor(CborOf::Descriptor, bytes, 0, error))?;
    to_owned::descriptor(&view, &MetadataBudget::by_default())
}

/// Checks that the keys of every map in the first CBOR item are strictly sorted by their encoded bytes.
///
/// The reference checks the same. [`tgm_core::cbor::verify_canonical`] can also check lengths of heads and floats,
/// indefinite lengths and trailing bytes.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR and for keys that are repeated or out of order.
///
/// Format: FORMAT §3.7.
pub fn verify_canonical_cbor(bytes: &[u8]) -> Result<()> {
    verify_canonical(bytes, Canonical::KeyOrder).map_err(|error| match error.kind() {
        ErrorKind::NonCanonical(_) => error.into(),
        _ => TensogramError::cbor(CborOf::Canonical, bytes, 0, error),
    })
}
