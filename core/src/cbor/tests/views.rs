//! What the views of arrays, maps and strings say, whether a head announces their length or a break ends them.

use std::format;
use std::vec::Vec;

use super::{kind_of_order, value, wrong};
use crate::cbor::{Cursor, Kind, MAX_NESTING, Uints, Value};
use crate::error::{ErrorKind, NonCanonical};

fn integers<'a>(items: impl Iterator<Item = crate::Result<Value<'a>>>) -> Vec<u64> {
    items.map(|item| item.unwrap().as_u64().unwrap()).collect()
}

#[test]
fn arrays_with_a_count_and_with_a_break_have_the_same_items() {
    for bytes in [&[0x83, 7, 8, 9][..], &[0x9f, 7, 8, 9, 0xff]] {
        let array = value(bytes).as_array().unwrap();
        assert_eq!((array.len(), array.is_empty()), (3, false));
        assert_eq!(integers(array.into_iter()), [7, 8, 9]);
        assert_eq!(integers((&array).into_iter()), [7, 8, 9]);
        assert_eq!(array.get(2).unwrap().unwrap().as_u64(), Ok(9));
        assert!(array.get(3).unwrap().is_none());
    }
    for bytes in [&[0x80][..], &[0x9f, 0xff]] {
        let array = value(bytes).as_array().unwrap();
        assert_eq!((array.len(), array.is_empty(), array.iter().count()), (0, true, 0));
    }
}

#[test]
fn an_array_is_over_for_good_after_its_last_item() {
    // The item after the array must not be taken for one of the array's.
    let bytes = [0x82, 0x9f, 1, 0xff, 2];
    let inner = value(&bytes).as_array().unwrap().get(0).unwrap().unwrap().as_array().unwrap();
    let mut items = inner.iter();
    assert!(items.next().is_some());
    assert!((0..3).all(|_| items.next().is_none()));
}

#[test]
fn maps_with_a_count_and_with_a_break_have_the_same_entries() {
    for bytes in [&[0xa2, 1, 7, 2, 8][..], &[0xbf, 1, 7, 2, 8, 0xff]] {
        let map = value(bytes).as_map().unwrap();
        assert_eq!((map.len(), map.is_empty()), (2, false));
        let entries: Vec<_> = map.into_iter().map(|entry| entry.unwrap()).collect();
        assert_eq!(entries.len(), (&map).into_iter().count());
        assert!(entries.iter().map(|(key, _)| key.as_u64().unwrap()).eq([1, 2]));
        assert!(entries.iter().map(|(_, value)| value.as_u64().unwrap()).eq([7, 8]));
    }
    for bytes in [&[0xa0][..], &[0xbf, 0xff]] {
        let map = value(bytes).as_map().unwrap();
        assert_eq!((map.len(), map.is_empty(), map.iter().count()), (0, true, 0));
    }
    let mut entries = value(&[0xbf, 0xff]).as_map().unwrap().iter();
    assert!((0..3).all(|_| entries.next().is_none()));
}

#[test]
fn a_map_tells_the_bytes_and_the_count_of_its_entries() {
    let counted = value(&[0xa1, 1, 7]).as_map().unwrap();
    assert_eq!(counted.entry_bytes(), (&[1, 7][..], Some(1)));
    let ended = value(&[0xbf, 1, 7, 0xff]).as_map().unwrap();
    assert_eq!(ended.entry_bytes(), (&[1, 7, 0xff][..], None));
}

#[test]
fn keys_are_found_whatever_the_form_of_their_text() {
    // {"k": 1}, with the key's length in one byte more, in two pieces, and after a key that is not a text.
    for bytes in [
        &[0xa1, 0x78, 2, b'k', b'l', 1][..],
        &[0xa1, 0x7f, 0x61, b'k', 0x61, b'l', 0xff, 1],
        &[0xa2, 9, 2, 0x62, b'k', b'l', 1],
        &[0xa2, 0x41, b'k', 0x61, b'v', 0x62, b'k', b'l', 1],
    ] {
        let map = value(bytes).as_map().unwrap();
        assert_eq!(map.get("kl").unwrap().unwrap().as_u64(), Ok(1));
        assert!(
            map.get("k").unwrap().is_none() && map.get("kk").unwrap().is_none() && map.get("klm").unwrap().is_none()
        );
    }
}

#[test]
fn strings_in_pieces_equal_their_joined_bytes_and_no_others() {
    for bytes in [&[0x43, 1, 2, 3][..], &[0x5f, 0x41, 1, 0x42, 2, 3, 0xff]] {
        let string = value(bytes).as_bytes().unwrap();
        assert_eq!((string.len(), string.is_empty()), (3, false));
        assert_eq!(string.into_iter().flatten().copied().collect::<Vec<_>>(), [1, 2, 3]);
        assert!(string.eq_bytes(&[1, 2, 3]));
        for other in [&[][..], &[1], &[1, 2], &[1, 2, 4], &[9, 2, 3], &[1, 2, 3, 4]] {
            assert!(!string.eq_bytes(other), "{other:?}");
        }
    }
    for bytes in [&[0x40][..], &[0x5f, 0xff], &[0x5f, 0x40, 0x40, 0xff]] {
        let string = value(bytes).as_bytes().unwrap();
        assert!(string.is_empty() && string.eq_bytes(&[]) && !string.eq_bytes(&[0]));
    }
}

#[test]
fn texts_are_shown_in_full_and_know_when_they_are_empty() {
    for bytes in [&[0x63, b'a', b'b', b'c'][..], &[0x7f, 0x61, b'a', 0x62, b'b', b'c', 0xff]] {
        let text = value(bytes).as_text().unwrap();
        assert_eq!((format!("{text}"), format!("{text:?}")), ("abc".into(), "\"abc\"".into()));
        assert!(!text.is_empty() && text == *"abc" && text != *"abd" && text != *"ab");
    }
    for bytes in [&[0x60][..], &[0x7f, 0xff], &[0x7f, 0x60, 0xff]] {
        assert!(value(bytes).as_text().unwrap().is_empty());
    }
    assert_eq!(value(&[0x7f, 0x61, b'a', 0xff]).as_str().unwrap_err().kind(), wrong(Kind::Text, Kind::Text));
}

#[test]
fn values_are_shown_by_what_they_are() {
    let shown = |bytes: &[u8]| format!("{:?}", value(bytes));
    assert_eq!(shown(&[0xf6]), "null");
    assert_eq!(shown(&[0xf5]), "true");
    assert_eq!(shown(&[0x39, 1, 0]), "Ok(-257)");
    assert_eq!(shown(&[0xf9, 0x3e, 0]), "1.5");
    assert_eq!(shown(&[0x61, b'a']), "Ok(\"a\")");
    assert_eq!(shown(&[0x82, 1, 2]), "array of 3 bytes");
    let array = [0x82, 1, 2];
    assert_eq!(format!("{:?}", Uints::parse(&value(&array)).unwrap()), "[1, 2]");
    let cursor = format!("{:?}", Cursor::new(&array, 100));
    assert!(cursor.contains("100"), "{cursor}");
}

#[test]
fn every_kind_is_named_when_another_was_expected() {
    let found = |bytes: &[u8]| value(bytes).as_bool().unwrap_err().kind();
    let kinds: [(&[u8], Kind); 8] = [
        (&[1], Kind::Integer),
        (&[0x20], Kind::Integer),
        (&[0x40], Kind::Bytes),
        (&[0x60], Kind::Text),
        (&[0x80], Kind::Array),
        (&[0xa0], Kind::Map),
        (&[0xc9, 1], Kind::Tag),
        (&[0xf6], Kind::Null),
    ];
    for (bytes, kind) in kinds {
        assert_eq!(found(bytes), wrong(Kind::Bool, kind));
    }
    let one = value(&[1]);
    let expected = [
        (one.as_text().map(drop), Kind::Text),
        (one.as_bytes().map(drop), Kind::Bytes),
        (one.as_array().map(drop), Kind::Array),
        (one.as_map().map(drop), Kind::Map),
        (one.as_tag().map(drop), Kind::Tag),
    ];
    for (result, kind) in expected {
        assert_eq!(result.unwrap_err().kind(), wrong(kind, Kind::Integer));
    }
    assert_eq!(value(&[0x60]).as_u64().unwrap_err().kind(), wrong(Kind::Integer, Kind::Text));
    assert_eq!(value(&[0xc9, 0x41, 1]).as_u64().unwrap_err().kind(), wrong(Kind::Integer, Kind::Tag));
}

#[test]
fn integers_that_do_not_fit_are_refused_and_their_neighbours_are_not() {
    let most = [0x1b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    let least = [0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert_eq!((value(&most).as_i64(), value(&least).as_i64()), (Ok(i64::MAX), Ok(i64::MIN)));
    for bytes in [[0x1b, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x3b, 0x80, 0, 0, 0, 0, 0, 0, 0]] {
        assert_eq!(value(&bytes).as_i64().unwrap_err().kind(), ErrorKind::IntegerRange);
    }
    assert_eq!(value(&[0x20]).as_u64().unwrap_err().kind(), ErrorKind::IntegerRange);
    assert_eq!(value(&[0xc3, 0x41, 0]).as_u64().unwrap_err().kind(), ErrorKind::IntegerRange);
    // −2⁶⁴ is the least integer of a head.
    let lowest = [0x3b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(value(&lowest).as_integer(), Ok(-(1 << 64)));
    assert_eq!(value(&lowest).as_f64(), Ok(-18_446_744_073_709_551_616.0));
    assert_eq!((value(&[0x20]).as_f64(), value(&[5]).as_f64()), (Ok(-1.0), Ok(5.0)));
}

#[test]
fn exact_floats_end_at_two_to_the_53_on_both_sides() {
    // −2⁵³ is −1 − (2⁵³ − 1).
    let least = [0x3b, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    assert_eq!(value(&least).as_exact_f64(), Ok(-9_007_199_254_740_992.0));
    assert_eq!(value(&[0x3b, 0, 0x20, 0, 0, 0, 0, 0, 0]).as_exact_f64().unwrap_err().kind(), ErrorKind::IntegerRange);
    assert_eq!(value(&[0xfa, 0x3f, 0x80, 0, 0]).as_exact_f64(), Ok(1.0));
    assert_eq!(value(&[0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 1]).as_exact_f64(), Ok(1.0 + f64::EPSILON));
}

#[test]
fn bignums_as_keys_sort_like_the_integers_they_are() {
    let unsorted = Err(ErrorKind::NonCanonical(NonCanonical::KeyOrder));
    // 1, 2 as a bignum, 3.
    assert_eq!(kind_of_order(&[0xa3, 1, 0, 0xc2, 0x41, 2, 0, 3, 0]), Ok(()));
    // 2 as a bignum before 1, and before 2.
    assert_eq!(kind_of_order(&[0xa2, 0xc2, 0x41, 2, 0, 1, 0]), unsorted);
    assert_eq!(kind_of_order(&[0xa2, 0xc2, 0x41, 2, 0, 2, 0]), unsorted);
    // −1, −2 as a bignum, −3; and −6 as a bignum before −1.
    assert_eq!(kind_of_order(&[0xa3, 0x20, 0, 0xc3, 0x41, 1, 0, 0x22, 0]), Ok(()));
    assert_eq!(kind_of_order(&[0xa2, 0xc3, 0x41, 5, 0, 0x20, 0]), unsorted);
    // 0 is of the unsigned integers, as a bignum too: before all negative ones.
    assert_eq!(kind_of_order(&[0xa2, 0xc2, 0x41, 0, 0, 0x20, 0]), Ok(()));
    assert_eq!(kind_of_order(&[0xa2, 0x20, 0, 0xc2, 0x41, 0, 0]), unsorted);
    // 2⁶⁴ and 2⁶⁴ + 1 are tags, which sort by what is in them.
    let big = |last| [0xc2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, last, 0];
    assert_eq!(kind_of_order(&[&[0xa2][..], &big(0), &big(1)].concat()), Ok(()));
    assert_eq!(kind_of_order(&[&[0xa2][..], &big(1), &big(0)].concat()), unsorted);
}

#[test]
fn maps_floats_and_byte_strings_as_keys_sort_by_their_encoding() {
    let unsorted = Err(ErrorKind::NonCanonical(NonCanonical::KeyOrder));
    let cases: [[&[u8]; 2]; 5] = [
        // Fewer entries first, with a break or without.
        [&[0xa1, 1, 1], &[0xbf, 1, 1, 2, 2, 0xff]],
        // One item is the start of the other.
        [&[0x81, 0x80], &[0x81, 0x81, 0]],
        [&[0x41, 9], &[0x42, 0, 0]],
        [&[0x41, 1], &[0x41, 2]],
        // 1.0 is half wide however it is written; 1.1 takes a double.
        [&[0xfb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0], &[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]],
    ];
    for [less, more] in cases {
        assert_eq!(kind_of_order(&[&[0xa2][..], less, &[0], more, &[0]].concat()), Ok(()), "{less:?} {more:?}");
        assert_eq!(kind_of_order(&[&[0xa2][..], more, &[0], less, &[0]].concat()), unsorted, "{less:?} {more:?}");
        assert_eq!(kind_of_order(&[&[0xa2][..], less, &[0], less, &[0]].concat()), unsorted, "{less:?} twice");
    }
}

#[test]
fn the_nesting_that_a_caller_allows_counts_containers_and_tags() {
    let skip = |bytes: &[u8], nesting| Cursor::new(bytes, 0).skip_limited(nesting).map_err(|error| error.kind());
    for (bytes, depth) in [(&[1][..], 0), (&[0x81, 1], 1), (&[0x81, 0xc9, 1], 2), (&[0xbf, 1, 0x9f, 0xff, 0xff], 2)] {
        assert_eq!(skip(bytes, depth), Ok(()));
        assert_eq!(skip(bytes, MAX_NESTING), Ok(()));
        assert_eq!(skip(bytes, u16::MAX), Ok(()));
        if let Some(less) = depth.checked_sub(1) {
            assert_eq!(skip(bytes, less), Err(ErrorKind::CborNesting), "{bytes:?}");
        }
    }
    // Long arrays of integers are walked in another way.
    let many = [&[0x98, 40][..], &[1; 40]].concat();
    assert_eq!((skip(&many, 1), skip(&many, 0)), (Ok(()), Err(ErrorKind::CborNesting)));
}
