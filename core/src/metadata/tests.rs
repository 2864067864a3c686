use std::format;
use std::string::String;
use std::vec::Vec;

use super::keys::{Keys, plain_text};
use super::{Metadata, ObjectMetadata};
use crate::cbor::Value;
use crate::error::{ErrorKind, Result};

/// A map of these keys, of at most 255 bytes each, to 0.
fn map(keys: &[String]) -> Vec<u8> {
    let count = u16::try_from(keys.len()).unwrap().to_be_bytes();
    let mut bytes = std::vec![0xb9, count[0], count[1]];
    for key in keys {
        bytes.extend([0x78, u8::try_from(key.len()).unwrap()]);
        bytes.extend(key.as_bytes());
        bytes.push(0);
    }
    bytes
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n:05}")).collect()
}

fn keys_of<'a>(base: &'a [u8], preceder: &'a [u8]) -> Result<Vec<&'a str>> {
    let view = |bytes: &'a [u8]| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
    let metadata = ObjectMetadata { base: Some(view(base)), preceder: Some(view(preceder)) };
    metadata.entries().map(|entry| Ok(plain_text(&entry?.0).unwrap())).collect()
}

#[test]
fn keys_in_order_are_looked_for_in_one_walk() {
    let (base, preceder) = (map(&names("b", 20_000)), map(&names("a", 20_000)));
    let behind = map(&names("c", 100));
    let view = |bytes| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
    let mut keys = Keys::new(view(&preceder), 0);
    let budget = keys.budget;
    for entry in view(&base).iter().chain(view(&behind).iter()) {
        assert!(!keys.has(&entry.unwrap().0).unwrap());
    }
    assert_eq!(keys.budget, budget, "no key was looked for in all of the map");
    assert_eq!(keys_of(&base, &preceder).unwrap().len(), 40_000);
    let odd: Vec<String> = names("b", 20_000).into_iter().skip(1).step_by(2).collect();
    assert_eq!(keys_of(&base, &map(&odd)).unwrap().len(), 20_000, "each key once");
}

#[test]
fn keys_in_no_order_are_found_until_that_costs_too_much() {
    let reversed = |prefix, count| map(&names(prefix, count).into_iter().rev().collect::<Vec<_>>());
    for (base, preceder) in [("a", "b"), ("b", "a"), ("a", "a")] {
        let expected = if base == preceder { 60 } else { 120 };
        assert_eq!(keys_of(&reversed(base, 60), &reversed(preceder, 60)).unwrap().len(), expected);
    }
    let error = keys_of(&reversed("b", 5000), &reversed("a", 5000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyKeys);
    // As many as there are bytes for, then one error, then nothing.
    let (base, preceder) = (reversed("b", 5000), reversed("a", 5000));
    let view = |bytes| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
    let metadata = ObjectMetadata { base: Some(view(&base)), preceder: Some(view(&preceder)) };
    assert!(metadata.entries().count() < 5000 + 200);
}

#[test]
fn a_path_is_looked_up_in_one_object_and_bytes_behind_the_item_are_not_its_own() {
    let bytes = b"\xa1\x64base\x82\xa1\x61a\x01\xa1\x61a\x02\xff";
    let metadata = Metadata::parse(bytes, 0).unwrap();
    assert_eq!(metadata.as_encoded(), &bytes[..bytes.len() - 1]);
    let at = |index| metadata.get_at(index, "a").unwrap().map(|value| value.as_u64());
    assert_eq!((at(0), at(1), at(2)), (Some(Ok(1)), Some(Ok(2)), None));
}

#[test]
fn a_path_under_reserved_leads_to_annotations_and_never_into_objects() {
    let annotated = b"\xa2\x64base\x81\xa1\x6a_reserved_\xa1\x61a\x01\x67_extra_\xa1\x6a_reserved_\xa1\x61b\x02";
    let metadata = Metadata::parse(annotated, 0).unwrap();
    assert_eq!(metadata.get_u64("_reserved_.b").unwrap(), Some(2));
    assert_eq!(metadata.get_u64("_extra_._reserved_.b").unwrap(), Some(2));
    assert!(metadata.get("_reserved_.a").unwrap().is_none());
    assert!(metadata.get_at(0, "_reserved_").unwrap().is_none());
    assert!(metadata.get_at(0, "_reserved_.a").unwrap().is_none());
}

#[test]
fn keys_are_found_whichever_of_the_two_maps_is_in_order() {
    let letters = |text: &str| map(&text.chars().map(String::from).collect::<Vec<_>>());
    for preceder in ["abc", "bac", "cba"] {
        for base in ["abc", "cab", "bca", "cba"] {
            assert_eq!(keys_of(&letters(base), &letters(preceder)).unwrap().len(), 3, "{base} in {preceder}");
        }
        assert_eq!(keys_of(&letters("dacb"), &letters(preceder)).unwrap().len(), 4, "{preceder}");
    }
}

/// FORMAT §3.3: a key at top level must not be a key of `_extra_` too. Release 0.17 wrote its version in both.
#[test]
fn the_version_of_old_writers_may_stand_twice_if_it_is_a_number() {
    let version = Metadata::parse(b"\xa2\x67version\x03\x67_extra_\xa1\x67version\x04", 0).unwrap();
    assert_eq!(version.get_u64("version").unwrap(), Some(4));
    for bytes in [
        &b"\xa2\x67version\x61a\x67_extra_\xa1\x67version\x04"[..],
        b"\xa2\x67versiom\x03\x67_extra_\xa1\x67versiom\x04",
    ] {
        assert_eq!(Metadata::parse(bytes, 0).unwrap_err().kind(), ErrorKind::AmbiguousKey);
    }
}

#[test]
fn names_of_sections_may_come_in_pieces() {
    let bytes = b"\xa3\x7f\x62ba\x62se\xff\x81\xa1\x61a\x01\x7f\x67_extra_\xff\xa1\x61b\x02\
        \x7f\x65_rese\x65rved_\xff\xa1\x61c\x03";
    let metadata = Metadata::parse(bytes, 0).unwrap();
    assert_eq!(metadata.base_len(), 1);
    assert_eq!(metadata.get_u64("b").unwrap(), Some(2));
    assert_eq!(metadata.reserved().get("c").unwrap().unwrap().as_u64().unwrap(), 3);
}

#[test]
fn one_walk_finds_what_lookups_of_each_path_find() {
    // Keys that are repeated, empty, reserved, long, in pieces and no text; maps in maps; a preceder that replaces some.
    let base: &[u8] = b"\xab\x61a\x01\x60\x02\x61m\xa3\x61x\x03\x60\x04\x61y\xa1\x61z\x05\x61m\xa2\x61x\x06\x61y\xa1\x61z\x07\
        \x6a_reserved_\xa1\x61x\x08\x78\x18aaaaaaaaaaaaaaaaaaaaaaaa\x09\x7f\x61p\x61q\xff\x0a\x61n\xa1\x61x\x0b\x61o\x0c\
        \x61r\xa1\x61s\xa1\x61t\xa1\x61u\x0d\x05\x0e";
    let preceders: [&[u8]; 4] =
        [b"\xa0", b"\xa2\x61m\x01\x61a\xa1\x61x\x02", b"\xa1\x61n\xa1\x61y\x03", b"\xa1\x6a_reserved_\x01"];
    let paths = [
        "a",
        "a.x",
        "",
        ".",
        ".x",
        "m",
        "m.x",
        "m.",
        "m.y",
        "m.y.z",
        "m.y.q",
        "m.x.y",
        "_reserved_",
        "_reserved_.x",
        "aaaaaaaaaaaaaaaaaaaaaaaa",
        "pq",
        "pq.x",
        "n.x",
        "n.y",
        "o",
        "o.x",
        "r.s.t.u",
        "r.s.t",
        "r.s.q",
        "5",
        "b",
    ];
    let view = |bytes| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
    for preceder in preceders.map(|bytes| Some(view(bytes))).into_iter().chain([None]) {
        for base in [Some(view(base)), None] {
            let metadata = ObjectMetadata { base, preceder };
            let found = metadata.get_many(paths).unwrap();
            for (path, found) in paths.into_iter().zip(found) {
                let alone = metadata.get(path).unwrap();
                assert_eq!(found.map(|v| v.offset()), alone.map(|v| v.offset()), "{path} {}", preceder.is_some());
                assert_eq!(found.map(|v| v.as_encoded()), alone.map(|v| v.as_encoded()), "{path}");
            }
        }
    }
}
