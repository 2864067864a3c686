//! Global metadata, indexes and hash lists: the view and the owned form agree, and the owned form reads back the same
//! after it is written.

use std::collections::BTreeMap;

use tgm_core::cbor::{Cursor, Map};
use tgm_core::metadata::Metadata;
use tgm_std::GlobalMetadata;
use tgm_std::metadata as owned;

use crate::repeats::has_repeats;

/// Checks `bytes` as the body of each kind of frame.
pub fn check(bytes: &[u8]) {
    global(bytes);
    if let Ok(index) = owned::cbor_to_index(bytes) {
        let written = owned::index_to_cbor(&index).expect("integers");
        assert_eq!(owned::cbor_to_index(&written).expect("just written"), index);
        assert!(index.offsets.len() == index.lengths.len() && index.offsets.len() <= bytes.len());
    }
    if let Ok(list) = owned::cbor_to_hash_frame(bytes) {
        let written = owned::hash_frame_to_cbor(&list).expect("texts");
        assert_eq!(owned::cbor_to_hash_frame(&written).expect("just written"), list);
    }
}

fn global(bytes: &[u8]) {
    let view = Metadata::parse(bytes, 0);
    let read = owned::cbor_to_global_metadata(bytes);
    let (Ok(view), Ok(read)) = (&view, &read) else {
        assert!(read.is_err(), "owned metadata was read, but no view");
        return;
    };
    assert_eq!(view.base_len(), read.base.len());
    entries(view, read);
    // Metadata that is well-formed entry by entry is well-formed as one item.
    let mut cursor = Cursor::new(bytes, 0);
    cursor.skip().expect("read before");
    assert_eq!(cursor.offset(), view.as_encoded().len() as u64);
    for key in read.extra.keys() {
        assert!(matches!(view.extra(key), Ok(Some(_))), "{key}");
    }
    for key in view.extra_entries().map(|entry| entry.expect("read before").0) {
        let key: String = key.as_text().expect("read before").chunks().collect();
        assert!(read.extra.contains_key(&key), "{key}");
    }
    // Unknown entries at the top are written into `_extra_`, one level deeper: the deepest nesting is then refused.
    let Ok(written) = owned::global_metadata_to_cbor(read) else {
        assert!(bytes.len() >= usize::from(tgm_core::cbor::MAX_NESTING), "nested no deeper than it was");
        return;
    };
    let values = || read.base.iter().chain([&read.extra, &read.reserved]).flat_map(BTreeMap::values);
    assert!(values().any(has_repeats) || owned::verify_canonical_cbor(&written).is_ok(), "the writer's order");
    let again = owned::cbor_to_global_metadata(&written).expect("just written");
    assert_eq!(owned::global_metadata_to_cbor(&again).expect("again"), written);
}

/// The entries of `base` are the same whether one is looked up or all are read in order, and have the keys of the owned
/// form.
fn entries(view: &Metadata<'_>, read: &GlobalMetadata) {
    let encoded = |map: Map<'_>| -> Vec<u8> {
        let entries = map.iter().map(|entry| entry.expect("read before"));
        entries.flat_map(|(key, value)| [key.as_encoded(), value.as_encoded()].concat()).collect()
    };
    for (index, (entry, owned)) in view.base_entries().zip(&read.base).enumerate() {
        let entry = entry.expect("read before");
        let found = view.base_entry(index).expect("read before").expect("the index is in range");
        assert_eq!(encoded(entry), encoded(found));
        for key in owned.keys() {
            assert!(entry.get(key).expect("read before").is_some(), "{key}");
        }
    }
}
