//! The plain walk compared with the general one.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::cbor_soup;
use crate::cbor::utf8::Check;
use crate::cbor::{Cursor, MAX_NESTING, MapReader, plain};

/// Where the general walk ends.
fn general_end(bytes: &[u8], check: Check) -> Option<usize> {
    let mut cursor = Cursor::new(bytes, 0);
    cursor.skip_nested(check, MAX_NESTING).ok()?;
    Some(bytes.len() - cursor.rest().len())
}

/// Where a map ends, if it is read entry by entry.
fn end_of_entries(bytes: &[u8]) -> Option<usize> {
    let mut entries = MapReader::open(Cursor::new(bytes, 0), 0).ok()?;
    while entries.next_key().ok()?.is_some() {
        entries.skip().ok()?;
    }
    Some(bytes.len() - entries.position().rest().len())
}

fn skip_text_map(bytes: &[u8], nesting: u16) -> Option<&[u8]> {
    plain::skip_text_map(bytes, Check::Utf8, nesting, &mut ())
}

/// Items of every kind, as writers leave them.
pub(super) fn plain_item() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        4 => "[a-zA-Z0-9_ ]{0,23}".prop_map(|text| minicbor::to_vec(text).unwrap()),
        1 => "[a-z]{24,200}".prop_map(|text| minicbor::to_vec(text).unwrap()),
        1 => any::<u64>().prop_flat_map(|n| (0..64_u32).prop_map(move |shift| minicbor::to_vec(n >> shift).unwrap())),
        1 => any::<i64>().prop_map(|n| minicbor::to_vec(n).unwrap()),
        1 => any::<f64>().prop_map(|n| minicbor::to_vec(n).unwrap()),
        1 => any::<f32>().prop_map(|n| minicbor::to_vec(n).unwrap()),
        1 => any::<bool>().prop_map(|n| minicbor::to_vec(n).unwrap()),
        1 => Just(vec![0xf6]),
        1 => proptest::collection::vec(any::<u8>(), 0..300)
            .prop_map(|bytes| minicbor::to_vec(minicbor::bytes::ByteVec::from(bytes)).unwrap()),
    ];
    leaf.prop_recursive(6, 200, 20, |inner| {
        let key = "[a-z_]{0,23}".prop_map(|text| minicbor::to_vec(text).unwrap());
        let entry = (key, inner.clone()).prop_map(|(key, value)| [key, value].concat());
        let of = |head: u8| {
            move |items: Vec<Vec<u8>>| {
                let count = u8::try_from(items.len()).unwrap();
                let head = if count < 24 { vec![head + count] } else { vec![head + 24, count] };
                [head, items.concat()].concat()
            }
        };
        let items = |one: BoxedStrategy<Vec<u8>>| proptest::collection::vec(one, 0..20);
        let many = proptest::collection::vec(entry.clone(), 20..200);
        prop_oneof![
            4 => items(inner.boxed()).prop_map(of(0x80)),
            4 => items(entry.boxed()).prop_map(of(0xa0)),
            1 => many.prop_map(of(0xa0)),
        ]
    })
}

proptest! {
    #[test]
    fn plain_items_are_walked_the_plain_way(item in plain_item(), behind: Vec<u8>) {
        let bytes = [item.clone(), behind.clone()].concat();
        let text_keys = end_of_entries(&bytes);
        for check in [Check::Utf8, Check::Done] {
            prop_assert_eq!(plain::skip(&bytes, check, MAX_NESTING), Some(behind.as_slice()));
        }
        prop_assert_eq!(skip_text_map(&bytes, MAX_NESTING).is_some(), text_keys.is_some());
    }

    #[test]
    fn what_is_walked_the_plain_way_ends_where_the_general_walk_ends(
        item in plain_item(), soup in cbor_soup(), damage: Vec<(u16, u8)>, nesting: u16,
    ) {
        let mut damaged = item;
        for (at, with) in damage {
            let at = usize::from(at) % damaged.len();
            damaged[at] = with;
        }
        for bytes in [damaged, soup] {
            if let Some(rest) = plain::skip(&bytes, Check::Utf8, nesting) {
                prop_assert_eq!(general_end(&bytes, Check::Utf8), Some(bytes.len() - rest.len()));
            }
            if let Some(rest) = skip_text_map(&bytes, nesting) {
                prop_assert_eq!(end_of_entries(&bytes), Some(bytes.len() - rest.len()));
            }
            // The crate never walks unchecked bytes in this way. It must end nevertheless.
            plain::skip(&bytes, Check::Done, nesting);
        }
    }
}
