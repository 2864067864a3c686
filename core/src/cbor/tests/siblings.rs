//! Maps side by side, compared with each map on its own.

use std::format;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;

use super::plain::plain_item;
use crate::cbor::siblings::Siblings;
use crate::cbor::utf8::Check;
use crate::cbor::{Cursor, MAX_NESTING, Map, TextMaps, Value, plain};

/// An entry of `base`.
fn entry(param: &str, level: u32, unit: &str) -> Vec<u8> {
    let mut encoder = minicbor::Encoder::new(Vec::new());
    encoder.map(3).unwrap().str("mars").unwrap();
    encoder.map(4).unwrap().str("class").unwrap().str("od").unwrap().str("param").unwrap().str(param).unwrap();
    encoder.str("levelist").unwrap().u32(level).unwrap().str("number").unwrap().i32(-1).unwrap();
    encoder.str("name").unwrap().str("a name of more than twenty-three bytes").unwrap();
    encoder.str("unit").unwrap().str(unit).unwrap();
    encoder.into_writer()
}

fn skip<'a>(siblings: &mut Siblings<'a>, bytes: &'a [u8]) -> Option<&'a [u8]> {
    siblings.skip(bytes, Check::Utf8, MAX_NESTING)
}

fn alone(bytes: &[u8]) -> Option<&[u8]> {
    plain::skip_text_map(bytes, Check::Utf8, MAX_NESTING, &mut ())
}

#[test]
fn values_of_other_lengths_are_alike() {
    let long = "x".repeat(200);
    let others = [
        entry("2t", 500, "K"),
        entry("msl", 1000, "Pa"),
        entry("", 256, ""),
        entry("2t", 65_536, &long),
        entry("2t", 0xffff_ffff, "K"),
        entry(&long, 23, "a unit of more than twenty-three bytes"),
    ];
    for model in &others {
        for other in &others {
            // The last maps are too close to the end to be compared with a model.
            let (model, other) = ([&**model, &[0; 1000]].concat(), [&**other, &[0xff; 1000]].concat());
            let mut siblings = Siblings::new();
            assert_eq!(skip(&mut siblings, &model).map(<[u8]>::len), Some(1000));
            assert_eq!(siblings.skip_alike(&other).map(<[u8]>::len), Some(1000));
        }
    }
}

#[test]
fn maps_of_another_kind_are_not() {
    let model = [&*entry("2t", 500, "K"), &[0; 100]].concat();
    let is_alike = |at: usize, with: u8| {
        let mut other = model.clone();
        other[at] = with;
        let mut siblings = Siblings::new();
        skip(&mut siblings, &model).unwrap();
        assert_eq!(skip(&mut Siblings::new(), &other), alone(&other));
        siblings.skip_alike(&other).is_some()
    };
    let at = |text: &str| model.windows(text.len()).position(|bytes| bytes == text.as_bytes()).unwrap();
    let (map, key, value, number) = (at("mars") + 4, at("class") - 1, at("od"), at("levelist") + 8);
    assert!(is_alike(map, model[map]) && is_alike(value, b'a'));
    // One entry less; a key that is a number, a byte string, a text that is not ASCII; a float for an integer.
    assert!(!is_alike(map, model[map] - 1));
    assert!(!is_alike(key, 0x05) && !is_alike(key, 0x45) && !is_alike(value, 0x80));
    assert!(is_alike(number, 0x39) && !is_alike(number, 0xf9));
}

#[test]
fn a_value_of_another_length_has_to_be_ascii_and_of_the_same_type() {
    let model = [&*entry("2t", 500, "K"), &[0; 100]].concat();
    let is_alike = |other: &[u8]| {
        let (mut siblings, other) = (Siblings::new(), [other, &[0; 100]].concat());
        skip(&mut siblings, &model).unwrap();
        siblings.skip_alike(&other).is_some()
    };
    assert!(is_alike(&entry("2tt", 500, "K")) && !is_alike(&entry("2\u{e9}", 500, "K")));
    let other = entry("2t", 500, "K");
    let level = other.windows(3).position(|bytes| bytes == [0x19, 0x01, 0xf4]).unwrap();
    // A text in the place of an integer of the same length.
    assert!(!is_alike(&[&other[..level], b"\x62ab", &other[level + 3..]].concat()));
}

#[test]
fn a_map_as_long_as_the_model_is_compared_to_its_last_byte() {
    let model = [&*entry("2t", 500, "K"), &[0; 64]].concat();
    let mut siblings = Siblings::new();
    skip(&mut siblings, &model).unwrap();
    assert_eq!(siblings.skip_alike(&model).map(<[u8]>::len), Some(64));
    assert_eq!(siblings.skip_alike(&model[..model.len() - 1]), None);
}

#[test]
fn equal_differences_do_not_hide_each_other() {
    // Texts of eight bytes with their heads, which begin in the same place of different words.
    let model = [b"\xa1\x61k\x88", &b"\x67abcdefg".repeat(8)[..], &[0; 100]].concat();
    let mut other = model.clone();
    (other[4], other[12]) = (0x47, 0x47);
    let mut siblings = Siblings::new();
    skip(&mut siblings, &model).unwrap();
    assert_eq!(siblings.skip_alike(&other), None);
}

#[test]
fn a_length_that_looks_like_a_head_is_none() {
    let model = [&[0xa1, 0x61, b'k', 0x78, 0x78], &[b'a'; 0x78][..], &[0; 100]].concat();
    // Not UTF-8. If its length were a head, it would begin a longer text.
    let mut other = model.clone();
    other[5] = 0x80;
    let mut siblings = Siblings::new();
    assert_eq!(skip(&mut siblings, &model).map(<[u8]>::len), Some(100));
    assert_eq!(siblings.skip_alike(&other), None);
    assert_eq!(skip(&mut siblings, &other), None);
    assert_eq!(siblings.skip(&other, Check::Done, MAX_NESTING).map(<[u8]>::len), Some(100));
}

#[test]
fn what_could_not_be_a_model_leaves_nothing_behind() {
    let text = |first: u8| [&[0xa1, 0x61, b'k', 0x69, first], &[b'a'; 8][..], &[0; 100]].concat();
    let (model, other) = (text(b'a'), text(b'b'));
    // Heads where the others have text, and then a break.
    let broken = [0xa1, 0x61, b'k', 0x83, 0x61, b'a', 0x61, b'a', 0xff];
    let mut siblings = Siblings::new();
    assert_eq!(skip(&mut siblings, &broken), None);
    for bytes in [&model, &other] {
        assert_eq!(skip(&mut siblings, bytes).map(<[u8]>::len), Some(100));
    }
}

#[test]
fn a_map_of_any_length_is_stepped_over() {
    let text = |len: usize| minicbor::to_vec("x".repeat(len)).unwrap();
    for len in (0..250).chain(900..1100) {
        let texts = [text(len / 4), text(len / 4), text(len / 4), text(len - len / 4 * 3)].concat();
        let map = [&[0xa1, 0x61, b'k', 0x84], &*texts].concat();
        let bytes = [&*map, &*map, &*map, &[0x61; 100]].concat();
        let (mut siblings, mut rest) = (Siblings::new(), bytes.as_slice());
        for left in [2, 1, 0] {
            let behind = skip(&mut siblings, rest);
            assert_eq!(behind, alone(rest));
            // Texts of more than 255 bytes are not plain.
            let Some(behind) = behind else { break };
            assert_eq!(behind.len(), left * map.len() + 100);
            rest = behind;
        }
    }
}

/// A map with a map in it, and maps that differ from it only in values.
fn siblings() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let text = prop_oneof![4 => "[a-z0-9]{0,30}", 1 => "[a-zé]{0,30}"];
    let level = (any::<u32>(), 0..32_u32).prop_map(|(level, shift)| level >> shift);
    let one = (text.clone(), level, text).prop_map(|(param, level, unit)| entry(&param, level, &unit));
    proptest::collection::vec(one, 1..6)
}

proptest! {
    #[test]
    fn each_map_of_an_array_is_found(
        items in siblings(), more in proptest::collection::vec(any::<Index>(), 0..12), is_definite: bool,
    ) {
        let items: Vec<_> = more.iter().map(|index| index.get(&items)).chain(&items).collect();
        let (head, end) = if is_definite { (0x80 + u8::try_from(items.len()).unwrap(), [0; 1]) } else { (0x9f, [0xff]) };
        let inside = items.iter().flat_map(|item| item.iter().copied());
        let array: Vec<u8> = [head].into_iter().chain(inside).chain(end).collect();
        let maps = TextMaps::read(&mut Cursor::new(&array, 0), 0).unwrap();
        prop_assert_eq!(maps.len(), items.len());
        for (index, item) in items.iter().enumerate() {
            let entries = |map: Map<'_>| -> Vec<_> {
                map.iter().map(|entry| entry.map(|(k, v)| [k.as_encoded(), v.as_encoded()].concat()).unwrap()).collect()
            };
            let found = maps.get(index).unwrap().unwrap();
            prop_assert_eq!(entries(found), entries(Value::parse(item, 0).unwrap().as_map().unwrap()));
        }
        prop_assert!(maps.get(items.len()).unwrap().is_none());
    }

    #[test]
    fn among_siblings_a_map_ends_where_it_ends_alone(
        items in prop_oneof![siblings(), proptest::collection::vec(plain_item(), 1..4)],
        order in proptest::collection::vec((any::<Index>(), any::<Option<(Index, u8)>>()), 1..12),
        behind in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let bytes = order.iter().map(|(item, damage)| {
            let mut bytes = [item.get(&items).as_slice(), &behind].concat();
            if let Some((at, with)) = damage {
                *at.get_mut(&mut bytes) = *with;
            }
            bytes
        });
        let bytes: Vec<_> = bytes.collect();
        let mut siblings = Siblings::new();
        for bytes in &bytes {
            prop_assert_eq!(skip(&mut siblings, bytes), alone(bytes), "{}", format!("{bytes:02x?}"));
        }
    }
}
