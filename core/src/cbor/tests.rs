//! The walk and the values against `minicbor`, and the rules of FORMAT §3.2 and §3.7 by hand.

use std::vec;
use std::vec::Vec;

use minicbor::Encoder;
use proptest::prelude::*;

use super::utf8::Check;
use super::{Canonical, Cursor, Kind, MAX_NESTING, Step, Uints, Value, verify_canonical};
use crate::error::{ErrorKind, NonCanonical};

mod long;
/// Whether the plain walk is compiled in.
#[cfg(target_pointer_width = "64")]
mod plain;
#[cfg(target_pointer_width = "64")]
mod quick;
#[cfg(target_pointer_width = "64")]
mod siblings;
mod views;

fn skip(bytes: &[u8]) -> Result<usize, ErrorKind> {
    let mut cursor = Cursor::new(bytes, 0);
    cursor.skip().map_err(|error| error.kind())?;
    Ok(bytes.len() - cursor.rest().len())
}

fn value(bytes: &[u8]) -> Value<'_> {
    Value::parse(bytes, 0).unwrap()
}

/// Bytes that are often heads of containers, strings and breaks, so they often nest.
fn cbor_soup() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => any::<u8>(),
        1 => Just(0x9f), 1 => Just(0xbf), 1 => Just(0x5f), 1 => Just(0x7f), 2 => Just(0xff), 1 => Just(0xc1),
        2 => 0x80..0x84_u8, 2 => 0xa0..0xa3_u8, 2 => 0x60..0x64_u8, 3 => 0x00..0x18_u8,
    ];
    proptest::collection::vec(byte, 0..40)
}

/// Takes the steps of one item that was walked before. Returns whether it is a break instead.
fn take_steps(cursor: &mut Cursor<'_>) -> bool {
    let (count, is_tag) = match cursor.step().unwrap() {
        Step::Item(item) => {
            let is_big = item.kind() != Kind::Tag || item.as_tag().unwrap().1.kind() == Kind::Bytes;
            assert!(is_big && !matches!(item.kind(), Kind::Array | Kind::Map));
            return false;
        }
        Step::Break => return true,
        Step::Array(count) => (count, false),
        Step::Map(count) => (count.map(|entries| 2 * entries), false),
        Step::Tag(_) => (Some(1), true),
    };
    let mut taken = 0;
    while count != Some(taken) {
        if take_steps(cursor) {
            assert!(count.is_none() && !is_tag);
            break;
        }
        taken += 1;
    }
    false
}

#[test]
fn steps_are_what_stands_there() {
    // [_ {1: h'02'}, 2(h'07'), 2(1), 9("x")]
    let bytes = [0x9f, 0xa1, 1, 0x41, 2, 0xc2, 0x41, 7, 0xc2, 1, 0xc9, 0x61, b'x', 0xff];
    let mut cursor = Cursor::new(&bytes, 100);
    assert!(matches!(cursor.step(), Ok(Step::Array(None))));
    assert!(matches!(cursor.step(), Ok(Step::Map(Some(1)))));
    assert!(matches!(cursor.step(), Ok(Step::Item(item)) if item.as_u64() == Ok(1) && item.offset() == 102));
    assert!(matches!(cursor.step(), Ok(Step::Item(item)) if item.as_bytes().unwrap().as_slice() == Some(&[2])));
    assert!(matches!(cursor.step(), Ok(Step::Item(item)) if item.as_integer() == Ok(7)));
    assert!(matches!(cursor.step(), Ok(Step::Tag(2))));
    assert!(matches!(cursor.step(), Ok(Step::Item(_))));
    assert!(matches!(cursor.step(), Ok(Step::Tag(9))));
    assert!(matches!(cursor.step(), Ok(Step::Item(item)) if item.as_str() == Ok("x")));
    assert!(matches!(cursor.step(), Ok(Step::Break)));
    assert_eq!(
        cursor.step().map(drop).map_err(|error| (error.kind(), error.offset())),
        Err((ErrorKind::Truncated, 114))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn steps_end_where_the_item_ends(bytes in cbor_soup()) {
        if let Ok(end) = skip(&bytes) {
            let mut cursor = Cursor::new(&bytes, 0);
            take_steps(&mut cursor);
            prop_assert_eq!(bytes.len() - cursor.rest().len(), end);
        }
        // And at some place inside the bytes, which was never walked.
        let mut cursor = Cursor::new(&bytes, 0);
        while cursor.step().is_ok() {}
    }

    #[test]
    fn an_item_ends_where_minicbor_says(bytes in cbor_soup()) {
        let mut other = minicbor::Decoder::new(&bytes);
        let other_end = other.skip().map(|()| other.position());
        match (skip(&bytes), other_end) {
            (Ok(end), Ok(other_end)) => prop_assert_eq!(end, other_end),
            (Ok(_), Err(error)) => prop_assert!(false, "minicbor refuses what is accepted here: {error}"),
            // minicbor steps over these without checking them.
            (Err(ErrorKind::CborUtf8 | ErrorKind::CborSimple(_) | ErrorKind::CborBreak | ErrorKind::CborHead(_)), _)
            | (Err(_), Err(_)) => {}
            // Inside an item of indefinite length, minicbor accepts a break as the end of a definite one too.
            (Err(_), Ok(_)) if bytes.contains(&0xff) => {}
            (Err(kind), Ok(_)) => prop_assert!(false, "refused here and accepted by minicbor: {kind}"),
        }
    }

    #[test]
    fn integers_floats_and_strings_read_as_minicbor_writes_them(
        unsigned: u64, signed: i64, float: f64, text: std::string::String, bytes: Vec<u8>,
    ) {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out);
        encoder.map(5).unwrap();
        encoder.str("u").unwrap().u64(unsigned).unwrap().str("i").unwrap().i64(signed).unwrap();
        encoder.str("f").unwrap().f64(float).unwrap().str("t").unwrap().str(&text).unwrap();
        encoder.str("b").unwrap().bytes(&bytes).unwrap();
        let map = value(&out).as_map().unwrap();
        let get = |key| map.get(key).unwrap().unwrap();
        prop_assert_eq!(get("u").as_u64(), Ok(unsigned));
        prop_assert_eq!(get("i").as_i64(), Ok(signed));
        prop_assert_eq!(get("f").as_f64().unwrap().to_bits(), float.to_bits());
        prop_assert_eq!(get("t").as_str(), Ok(text.as_str()));
        prop_assert_eq!(get("b").as_bytes().unwrap().as_slice(), Some(bytes.as_slice()));
        prop_assert!(map.get("x").unwrap().is_none());
    }

    #[test]
    fn canonical_order_is_the_order_of_encoded_keys(keys in proptest::collection::vec("[a-c]{0,3}", 0..5)) {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out);
        encoder.map(keys.len() as u64).unwrap();
        for key in &keys {
            encoder.str(key).unwrap().null().unwrap();
        }
        let sorted = keys.windows(2).all(|pair| (pair[0].len(), &pair[0]) < (pair[1].len(), &pair[1]));
        prop_assert_eq!(verify_canonical(&out, Canonical::KeyOrder).is_ok(), sorted);
        prop_assert_eq!(verify_canonical(&out, Canonical::Strict).is_ok(), sorted);
    }
}

#[test]
fn nesting_is_bounded_where_the_reference_bounds_it() {
    for (head, tail) in [(0x81, 0x00), (0x9f, 0x00), (0xc6, 0x00), (0xa1, 0x00)] {
        let nested = |depth: u16| {
            let mut bytes = vec![];
            for _ in 0..depth {
                bytes.push(head);
                if head == 0xa1 {
                    bytes.push(0x00);
                }
            }
            bytes.push(tail);
            if head == 0x9f {
                bytes.extend(std::iter::repeat_n(0xff, usize::from(depth)));
            }
            bytes
        };
        let deepest = nested(MAX_NESTING);
        assert_eq!(skip(&deepest), Ok(deepest.len()));
        assert_eq!(skip(&nested(MAX_NESTING + 1)), Err(ErrorKind::CborNesting));
        assert_eq!(skip(&nested(10_000)), Err(ErrorKind::CborNesting));
    }
}

#[test]
fn claims_that_the_bytes_cannot_hold_are_refused_at_once() {
    for head in [0x9b, 0xbb, 0x5b, 0x7b] {
        let bytes = [head, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x00];
        assert_eq!(skip(&bytes), Err(ErrorKind::Truncated));
    }
}

#[test]
fn malformed_heads_are_told_apart() {
    assert_eq!(skip(&[0x1c]), Err(ErrorKind::CborHead(28)));
    assert_eq!(skip(&[0x1f]), Err(ErrorKind::CborHead(31)));
    assert_eq!(skip(&[0xff]), Err(ErrorKind::CborBreak));
    assert_eq!(skip(&[0x81, 0xff]), Err(ErrorKind::CborBreak));
    assert_eq!(skip(&[0xbf, 0x00, 0xff]), Err(ErrorKind::CborBreak));
    assert_eq!(skip(&[0xf8, 0x20]), Err(ErrorKind::CborSimple(32)));
    assert_eq!(skip(&[0xe0]), Err(ErrorKind::CborSimple(0)));
    assert_eq!(skip(&[0x62, 0xc3, 0x28]), Err(ErrorKind::CborUtf8));
    assert_eq!(skip(&[0x7f, 0x41, b'a', 0xff]), Err(ErrorKind::CborHead(1)));
}

#[test]
fn simple_values_may_take_a_byte_more_unless_the_form_is_canonical() {
    for (simple, kind) in [(20, Kind::Bool), (21, Kind::Bool), (22, Kind::Null), (23, Kind::Null)] {
        let long = [0xf8, simple];
        assert_eq!((value(&long).kind(), value(&long).as_bool().ok()), (kind, (simple < 22).then_some(simple == 21)));
        let strict = verify_canonical(&long, Canonical::Strict).map_err(|error| error.kind());
        assert_eq!(strict, Err(ErrorKind::NonCanonical(NonCanonical::LongHead)));
    }
    for simple in (0..20).chain(24..=255) {
        assert_eq!(skip(&[0xf8, simple]), Err(ErrorKind::CborSimple(simple)));
    }
}

#[test]
fn an_error_says_where_in_the_callers_slice() {
    let bytes = [0x83, 0x00, 0x00, 0x62, b'a', 0xff];
    assert_eq!(Cursor::new(&bytes, 1000).skip(), Err(ErrorKind::CborUtf8.at(1005)));
    assert_eq!(Cursor::new(&bytes[..5], 1000).skip(), Err(ErrorKind::Truncated.at(1005)));
}

#[test]
fn strings_of_several_chunks_read_as_one() {
    let bytes = [0xa1, 0x7f, 0x62, b'b', b'a', 0x62, b's', b'e', 0xff, 0x5f, 0x41, 1, 0x42, 2, 3, 0xff];
    let found = value(&bytes).as_map().unwrap().get("base").unwrap().unwrap();
    assert!(found.as_bytes().unwrap().eq_bytes(&[1, 2, 3]));
    assert_eq!(found.as_bytes().unwrap().as_slice(), None);
    assert_eq!(found.as_bytes().unwrap().len(), 3);
}

/// Maps in maps with few keys, many of them repeated, of definite and of indefinite length.
fn few_keys() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![Just(vec![0x01]), Just(vec![0x61, b'a']), Just(vec![0x7f, 0x61, b'a', 0xff])];
    let key = prop_oneof![3 => Just(vec![0x61, b'a']), 2 => Just(vec![0x61, b'b']), 1 => leaf.clone()];
    leaf.prop_recursive(3, 30, 5, move |inner| {
        let entries = proptest::collection::vec((key.clone(), inner), 0..5);
        (entries, any::<bool>()).prop_map(|(entries, is_definite)| {
            let count = u8::try_from(entries.len()).unwrap();
            let entries: Vec<u8> = entries.into_iter().flat_map(|(key, value)| [key, value].concat()).collect();
            if is_definite { [&[0xa0 + count], &*entries].concat() } else { [&[0xbf], &*entries, &[0xff]].concat() }
        })
    })
}

proptest! {
    #[test]
    fn a_key_is_found_as_among_all_entries(map in few_keys()) {
        let Ok(map) = value(&map).as_map() else { return Ok(()) };
        let encoded = |value: Option<Value<'_>>| value.map(|value| (value.offset(), value.as_encoded().to_vec()));
        for wanted in ["a", "b"] {
            let with_key = map.iter().map(Result::unwrap).filter(|(key, _)| key.as_text().is_ok_and(|key| key == *wanted));
            let last = with_key.last().map(|(_, value)| value);
            prop_assert_eq!(encoded(map.get(wanted).unwrap()), encoded(last));
        }
    }
}

#[test]
fn the_last_of_several_equal_keys_counts() {
    let bytes = [0xa2, 0x61, b'k', 0x01, 0x61, b'k', 0x02];
    assert_eq!(value(&bytes).as_map().unwrap().get("k").unwrap().unwrap().as_u64(), Ok(2));
}

#[test]
fn small_bignums_are_integers_and_large_ones_are_not() {
    assert_eq!(value(&[0xc2, 0x43, 1, 0, 0]).as_u64(), Ok(65_536));
    assert_eq!(value(&[0xc3, 0x43, 1, 0, 0]).as_i64(), Ok(-65_537));
    let large = [0xc2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(value(&large).as_u64().unwrap_err().kind(), ErrorKind::IntegerRange);
    assert_eq!(value(&large).kind(), Kind::Tag);
}

#[test]
fn undefined_is_null() {
    assert!(value(&[0xf7]).is_null() && value(&[0xf6]).is_null());
    assert!(!value(&[0xf5]).is_null() && !value(&[0]).is_null());
    assert_eq!(value(&[0xf5]).as_bool(), Ok(true));
    assert_eq!(value(&[0xf4]).as_bool(), Ok(false));
}

#[test]
fn float_parameters_take_integers_that_are_exact() {
    assert_eq!(value(&[0x1b, 0, 0x20, 0, 0, 0, 0, 0, 0]).as_exact_f64(), Ok(9_007_199_254_740_992.0));
    let one_more = [0x1b, 0, 0x20, 0, 0, 0, 0, 0, 1];
    assert_eq!(value(&one_more).as_exact_f64().unwrap_err().kind(), ErrorKind::IntegerRange);
    assert_eq!(value(&[0xf9, 0x3c, 0]).as_exact_f64(), Ok(1.0));
    assert_eq!(value(&[0x61, b'1']).as_exact_f64().unwrap_err().kind(), wrong(Kind::Float, Kind::Text));
}

const fn wrong(expected: Kind, found: Kind) -> ErrorKind {
    ErrorKind::WrongType { expected, found }
}

#[test]
fn arrays_of_unsigned_integers_check_every_item() {
    let parse = |bytes: &[u8]| Uints::parse(&value(bytes)).map(|u| u.iter().collect::<Vec<_>>());
    assert_eq!(parse(&[0x83, 1, 0x18, 0xff, 0x19, 1, 0]), Ok(vec![1, 255, 256]));
    assert_eq!(parse(&[0x9f, 1, 2, 0xff]), Ok(vec![1, 2]));
    assert_eq!(parse(&[0x82, 1, 0x20]).unwrap_err(), ErrorKind::IntegerRange.at(2));
    assert_eq!(parse(&[0x82, 1, 0xf6]).unwrap_err(), wrong(Kind::Integer, Kind::Null).at(2));
}

/// `number` with a head of this width, or of the smallest width that holds it.
fn uint(number: u64, width: usize) -> Vec<u8> {
    let needed = [0x18, 0x100, 0x1_0000, 0x1_0000_0000].into_iter().filter(|&limit| number >= limit).count();
    let bytes = number.to_be_bytes();
    match width.max(needed) {
        0 => vec![bytes[7]],
        1 => [&[0x18], &bytes[7..]].concat(),
        2 => [&[0x19], &bytes[6..]].concat(),
        3 => [&[0x1a], &bytes[4..]].concat(),
        _ => [&[0x1b], &bytes[..]].concat(),
    }
}

proptest! {
    /// Runs of integers of one width, interrupted by others, by an item of another type, or by the end of the bytes.
    #[test]
    fn arrays_of_unsigned_integers_are_read_alike_in_runs_and_one_by_one(
        runs in proptest::collection::vec((0..5_usize, 0..40_usize, any::<u64>(), 0..64_u32), 0..6),
        is_indefinite in any::<bool>(),
        index in 0..300_usize,
        damage in proptest::option::of((any::<u16>(), any::<u8>())),
    ) {
        let numbers: Vec<(u64, usize)> = runs
            .into_iter()
            .flat_map(|(width, len, seed, shift)| (0..len as u64).map(move |i| (seed.wrapping_add(i) >> shift, width)))
            .collect();
        let items: Vec<u8> = numbers.iter().flat_map(|&(number, width)| uint(number, width)).collect();
        let mut head = uint(numbers.len() as u64, 0);
        head[0] = if is_indefinite { 0x9f } else { head[0] | 0x80 };
        head.truncate(if is_indefinite { 1 } else { head.len() });
        let mut bytes = [head, items, vec![0xff; is_indefinite.into()]].concat();

        let array = Uints::parse(&value(&bytes)).unwrap();
        prop_assert_eq!(array.len(), numbers.len());
        prop_assert!(array.iter().eq(numbers.iter().map(|&(number, _)| number)));
        let folded = array.iter().fold(Vec::new(), |all, number| [all, vec![number]].concat());
        prop_assert!(folded.into_iter().eq(numbers.iter().map(|&(number, _)| number)));
        prop_assert_eq!(array.get(index), numbers.get(index).map(|&(number, _)| number));
        prop_assert_eq!(array.is_ascending(), numbers.iter().is_sorted_by(|(a, _), (b, _)| a < b));
        let mut after = array.iter();
        after.nth(index);
        prop_assert!(after.eq(numbers.iter().skip(index + 1).map(|&(number, _)| number)));

        if let Some((at, with)) = damage {
            let at = usize::from(at) % bytes.len();
            bytes[at] = with;
            let one_by_one = Value::parse(&bytes, 0).and_then(|array| array.as_array()).and_then(|array| {
                array.iter().map(|item| item?.as_u64()).collect::<Result<Vec<_>, _>>()
            });
            let mut cursor = Cursor::new(&bytes, 0);
            prop_assert_eq!(Uints::read(&mut cursor).map(|array| array.iter().collect::<Vec<_>>()).ok(), one_by_one.ok());
        }
        // Stepped over in runs and one by one, with room for the array and without.
        for nesting in [0, 1, MAX_NESTING] {
            let (mut in_runs, mut general) = (Cursor::new(&bytes, 0), Cursor::new(&bytes, 0));
            let in_runs = in_runs.skip_limited(nesting).map(|()| in_runs.rest());
            prop_assert_eq!(in_runs, general.skip_nested(Check::Utf8, nesting).map(|()| general.rest()));
        }
    }
}

#[test]
fn ascending_means_strictly_and_across_widths() {
    let array = |numbers: &[u64], width| {
        let items: Vec<u8> = numbers.iter().flat_map(|&number| uint(number, width)).collect();
        let bytes = [uint(numbers.len() as u64, 0), items].concat();
        let head = bytes[0] | 0x80;
        Uints::parse(&value(&[&[head], &bytes[1..]].concat())).unwrap().is_ascending()
    };
    let numbers: Vec<u64> = (0..100_000).step_by(501).collect();
    for width in 0..5 {
        assert!(array(&numbers, width) && array(&[], width) && array(&[7], width));
        for at in 1..numbers.len() {
            let mut wrong = numbers.clone();
            wrong[at] = wrong[at - 1];
            assert!(!array(&wrong, width), "{at}");
        }
    }
}

#[test]
fn the_strict_form_is_stricter_than_key_order() {
    let cases: [(&[u8], NonCanonical); 7] = [
        (&[0x18, 0x17], NonCanonical::LongHead),
        (&[0x19, 0x00, 0xff], NonCanonical::LongHead),
        (&[0xc2, 0x41, 0x05], NonCanonical::LongHead),
        (&[0xfa, 0x3f, 0x80, 0, 0], NonCanonical::WideFloat),
        (&[0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0], NonCanonical::WideFloat),
        (&[0x9f, 0xff], NonCanonical::IndefiniteLength),
        (&[0x00, 0x00], NonCanonical::TrailingBytes),
    ];
    for (bytes, why) in cases {
        assert_eq!(verify_canonical(bytes, Canonical::KeyOrder), Ok(()));
        assert_eq!(verify_canonical(bytes, Canonical::Strict).unwrap_err().kind(), ErrorKind::NonCanonical(why));
    }
    for canonical in [&[0xfb, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a][..], &[0xf9, 0x7e, 0x00], &[0x18, 0x18]] {
        assert_eq!(verify_canonical(canonical, Canonical::Strict), Ok(()));
    }
}

/// Whether the keys of maps are in order.
fn kind_of_order(bytes: &[u8]) -> Result<(), ErrorKind> {
    verify_canonical(bytes, Canonical::KeyOrder).map_err(|error| error.kind())
}

#[test]
fn key_order_looks_through_lengths_nesting_and_other_types_of_keys() {
    let order = |bytes: &[u8]| verify_canonical(bytes, Canonical::KeyOrder);
    let unsorted = Err(ErrorKind::NonCanonical(NonCanonical::KeyOrder));
    let kind = kind_of_order;
    // {"b": 0, "aa": 0} with a long head on "b" sorts; {"aa": 0, "b": 0} does not.
    assert_eq!(order(&[0xa2, 0x78, 1, b'b', 0, 0x62, b'a', b'a', 0]), Ok(()));
    assert_eq!(kind(&[0xa2, 0x62, b'a', b'a', 0, 0x61, b'b', 0]), unsorted);
    // Inside an array inside a map, and with an equal key.
    assert_eq!(kind(&[0xa1, 0x61, b'k', 0x81, 0xa2, 0x61, b'b', 0, 0x61, b'b', 0]), unsorted);
    // {-1: 0, 10: 0}: encoded, 10 sorts first.
    assert_eq!(kind(&[0xa2, 0x20, 0, 0x0a, 0]), unsorted);
    // {[1]: 0, [_ 1, 2]: 0}: the shorter array sorts first, even if it has a break.
    assert_eq!(order(&[0xa2, 0x81, 1, 0, 0x9f, 1, 2, 0xff, 0]), Ok(()));
    assert_eq!(kind(&[0xa2, 0x9f, 1, 2, 0xff, 0, 0x81, 1, 0]), unsorted);
    // A chunked text sorts like its joined text.
    assert_eq!(order(&[0xa2, 0x61, b'a', 0, 0x7f, 0x61, b'b', 0xff, 0]), Ok(()));
    assert_eq!(kind(&[0xa2, 0x61, b'b', 0, 0x7f, 0x61, b'a', 0xff, 0]), unsorted);
}
