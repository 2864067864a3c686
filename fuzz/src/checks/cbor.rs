//! CBOR on its own: an item that is accepted is walked the same way every time, and the strict form implies the lax
//! one.

use tgm_core::ErrorKind;
use tgm_core::cbor::{Canonical, Cursor, MAX_NESTING, Value, verify_canonical};

/// Checks the item at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let mut cursor = Cursor::new(bytes, 0);
    let skipped = cursor.skip();
    let read = Value::parse(bytes, 0);
    assert_eq!(skipped.is_ok(), read.is_ok());
    assert_eq!(Cursor::new(bytes, 0).skip_limited(MAX_NESTING), skipped);
    if let Err(error) = skipped {
        assert!(error.offset() <= bytes.len() as u64);
        let moved = Value::parse(bytes, 1000).map(|_| ()).expect_err("an error at any offset");
        assert_eq!((moved.kind(), moved.offset()), (error.kind(), error.offset() + 1000));
    }
    if let Ok(item) = read {
        let len = item.as_encoded().len();
        assert_eq!(len, bytes.len() - cursor.rest().len());
        assert_eq!(Value::parse(&bytes[..len], 0).map(|item| item.as_encoded().len()), Ok(len));
        assert!(Value::parse(&bytes[..len - 1], 0).is_err(), "an item without its last byte");
        assert!(every_item(&item) <= len);
    }
    // We read all that ciborium reads. One exception: RFC 8949 §3.2.3 forbids chunks of a string that are themselves of
    // indefinite length. The reverse does not hold: ciborium refuses bignums beyond 128 bits, and undefined.
    if skipped.is_err_and(|error| error.kind() != ErrorKind::CborHead(31))
        && let Ok(theirs) = ciborium::from_reader::<ciborium::Value, _>(bytes)
    {
        panic!("refused, but it is {theirs:?}: {skipped:?}");
    }
    if verify_canonical(bytes, Canonical::Strict).is_ok() {
        assert_eq!(verify_canonical(bytes, Canonical::KeyOrder), Ok(()));
    }
}

/// Walks all items again and returns their number. Each item takes at least one byte.
fn every_item(item: &Value<'_>) -> usize {
    if let Ok(array) = item.as_array() {
        assert_eq!(array.iter().count(), array.len());
        1 + array.iter().map(|item| every_item(&item.expect("walked before"))).sum::<usize>()
    } else if let Ok(map) = item.as_map() {
        assert_eq!(map.iter().count(), map.len());
        let entries = map.iter().map(|entry| entry.expect("walked before"));
        1 + entries.map(|(key, value)| every_item(&key) + every_item(&value)).sum::<usize>()
    } else if let Ok((_, tagged)) = item.as_tag() {
        1 + every_item(&tagged)
    } else {
        1
    }
}
