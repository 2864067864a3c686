//! CBOR on its own: an item that is accepted is walked the same way every time, and the strict form implies the lax one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tgm_core::cbor::{Canonical, Cursor, Value, verify_canonical};
use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::Metadata;

fuzz_target!(|bytes: &[u8]| {
    let mut cursor = Cursor::new(bytes, 0);
    let skipped = cursor.skip();
    let read = Value::parse(bytes, 0);
    assert_eq!(skipped.is_ok(), read.is_ok());
    if let Ok(item) = read {
        assert_eq!(item.as_encoded().len(), bytes.len() - cursor.rest().len());
        every_item(&item);
    }
    if verify_canonical(bytes, Canonical::Strict).is_ok() {
        assert_eq!(verify_canonical(bytes, Canonical::KeyOrder), Ok(()));
    }
    let _ = Metadata::parse(bytes, 0).map(|metadata| metadata.extra_entries().count());
    let _ = Descriptor::parse(bytes, 0).map(|descriptor| (descriptor.packing(), descriptor.decoded_len()));
});

/// What was walked once is good everywhere.
fn every_item(item: &Value<'_>) {
    if let Ok(array) = item.as_array() {
        array.iter().for_each(|item| every_item(&item.expect("walked before")));
    } else if let Ok(map) = item.as_map() {
        map.iter().for_each(|entry| every_item(&entry.expect("walked before").1));
    } else if let Ok((_, tagged)) = item.as_tag() {
        every_item(&tagged);
    }
}
