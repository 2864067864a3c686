//! Damaged and hostile catalogues: errors, and never a wrong place that goes unnoticed.

use tgm_catalog::{Catalog, CatalogLimits, object_of_frame};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder};

use crate::{field, message, query, stored};

fn data() -> Vec<u8> {
    (0..40).flat_map(|step| field(if step % 3 == 0 { "2t" } else { "tp" }, step * 1000)).collect()
}

/// Asks a catalogue for everything.
fn exhaust(catalog: &Catalog) -> tgm_std::Result<Vec<(usize, usize)>> {
    let found = catalog.select(&query("mars.step>=1000 and not mars.param=tp"));
    for (message, _) in [(0, 0), (39, 0)] {
        let _ = catalog.message_range(message);
        let _ = catalog.object_range(message, 0);
    }
    let _ = catalog.select_messages(&query("mars.param?"));
    let _ = (catalog.distinct("mars.step"), catalog.group_by(&["mars.param"]), catalog.compact().map(drop));
    found
}

#[test]
fn every_damaged_byte_is_an_error_or_does_no_harm() {
    let bytes = stored(&data(), &["mars.step", "mars.param"]).to_bytes();
    let expected = exhaust(&Catalog::from_bytes(&bytes).unwrap()).unwrap();
    let facts = |catalog: &Catalog| catalog.facts().map(|facts| format!("{facts:?}"));
    let told = facts(&Catalog::from_bytes(&bytes).unwrap()).unwrap();
    assert_eq!(expected.len(), 13);
    let mut harmless = 0;
    for at in 0..bytes.len() {
        for flip in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            // Flags and markers of frames are not under a digest.
            let Ok(catalog) = Catalog::from_bytes(&damaged) else { continue };
            if let Ok(found) = exhaust(&catalog) {
                assert_eq!(found, expected, "byte {at}");
                harmless += 1;
            }
            if let Ok(found) = facts(&catalog) {
                assert_eq!(found, told, "byte {at}");
            }
        }
    }
    assert!(harmless < bytes.len(), "{harmless} of {}", bytes.len());
}

#[test]
fn every_cut_is_an_error() {
    let bytes = stored(&data(), &["mars.step"]).to_bytes();
    for len in 0..bytes.len() {
        assert!(Catalog::from_bytes(&bytes[..len]).is_err(), "{len}");
    }
}

#[test]
fn leaves_that_do_not_follow_each_other_are_errors() {
    let data = data();
    let one = stored(&data, &["mars.step"]).to_bytes();
    let error = |bytes: &[u8]| Catalog::from_bytes(bytes).unwrap_err().to_string();
    assert!(error(&[&one[..], &one].concat()).contains("does not follow"), "{}", error(&[&one[..], &one].concat()));
    assert!(error(&[&b"x"[..], &one].concat()).contains("belong to no leaf"));
    assert!(error(&data).contains("not a catalogue"));
    assert!(error(b"text").contains("no leaf"));
    let mut grown = stored(&data, &["mars.step"]);
    grown.extend(&[&data[..], &field("2t", 1)].concat()).unwrap();
    let second = &grown.to_bytes()[one.len()..];
    assert!(error(second).contains("does not follow"));
    let other = stored(&data, &["mars.param"]).to_bytes();
    assert!(error(&[&other[..], second].concat()).contains("other keys"));
}

/// A leaf that says what it likes, with digests that are right.
fn forged(covers: [u64; 5], count: &[u32], tail: &[u64], keys: Vec<Value>, more: &[u8]) -> Vec<u8> {
    forged_with(covers, (count, tail), keys, None, ObjectBuilder::new(&[more.len() as u64], more).unwrap())
}

fn forged_with(
    covers: [u64; 5],
    (count, tail): (&[u32], &[u64]),
    keys: Vec<Value>,
    facts: Option<Value>,
    more: ObjectBuilder<'_>,
) -> Vec<u8> {
    let map =
        |entries: Vec<(&str, Value)>| Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect());
    let names = ["first", "messages", "objects", "start", "end"];
    let covers = map(names.into_iter().zip(covers.map(Value::from)).collect());
    let proof = map(vec![
        ("head_length", 0.into()),
        ("head", 0x2d06_8005_38d3_94c2_u64.into()),
        ("tail", Value::Bytes(vec![])),
    ]);
    let mut about = vec![("format", 1.into()), ("covers", covers), ("data", proof), ("keys", Value::Array(keys))];
    about.extend(facts.map(|facts| ("facts", facts)));
    let about = map(about);
    let zero = [0_u8];
    let columns = [
        ObjectBuilder::new(&[1], &zero).unwrap().metadata("name", "message.gap"),
        ObjectBuilder::new(&[tail.len() as u64], tail).unwrap().metadata("name", "message.tail"),
        ObjectBuilder::new(&[count.len() as u64], count).unwrap().metadata("name", "object.count"),
        ObjectBuilder::new(&[1], &zero).unwrap().metadata("name", "object.lead"),
        ObjectBuilder::new(&[1], &zero).unwrap().metadata("name", "object.length"),
        more.metadata("name", "key.a"),
    ];
    columns.into_iter().fold(MessageBuilder::new().extra("catalog", about), MessageBuilder::object).encode().unwrap()
}

fn key(values: &[&str], absent: u64) -> Value {
    let values = values.iter().map(|value| Value::from(*value)).collect();
    let entries: [(&str, Value); 5] = [
        ("path", "a".into()),
        ("kind", "codes".into()),
        ("object", 5.into()),
        ("values", Value::Array(values)),
        ("absent", absent.into()),
    ];
    Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

#[test]
fn what_a_leaf_claims_is_checked() {
    let open = |bytes: &[u8]| Catalog::from_bytes(bytes).map_err(|error| error.to_string());
    let good = forged([0, 4, 4, 0, 40], &[1], &[10], vec![key(&["x", "y"], 255)], &[0, 1, 255, 0]);
    let catalog = open(&good).unwrap();
    assert_eq!(catalog.select(&query("a=x")).unwrap(), [(0, 0), (3, 0)]);
    assert_eq!(catalog.message_range(3).unwrap(), 30..40);

    let error = |bytes: &[u8]| match open(bytes) {
        Err(error) => error,
        Ok(catalog) => {
            let selected = catalog.select(&query("a=x")).err().map(|error| error.to_string());
            let placed = catalog.message_range(0).err().map(|error| error.to_string());
            selected.or(placed).unwrap_or_default()
        }
    };
    let keys = || vec![key(&["x", "y"], 255)];
    for (bytes, text) in [
        (forged([0, 4, 4, 0, 40], &[1], &[10], keys(), &[0, 1, 2, 0]), "a code without a value"),
        (forged([0, 4, 4, 0, 40], &[1], &[10], vec![key(&["x", "y"], 1)], &[0; 4]), "the code of a missing value"),
        (forged([0, 4, 4, 0, 40], &[1], &[10], keys(), &[0; 3]), "3 rows instead of 4"),
        (forged([0, 4, 4, 0, 41], &[1], &[10], keys(), &[0; 4]), "do not add up"),
        (forged([0, 4, 4, 0, 39], &[1], &[10], keys(), &[0; 4]), "outside of the covered bytes"),
        (forged([0, 4, 4, 0, 40], &[1], &[u64::MAX], keys(), &[0; 4]), "outside of the covered bytes"),
        (forged([0, 4, 5, 0, 40], &[1], &[10], keys(), &[0; 5]), "objects do not add up"),
        (forged([0, 4, 3, 0, 40], &[u32::MAX], &[10], keys(), &[0; 3]), "objects do not add up"),
        (forged([0, 4, 4, 0, 40], &[0, 1, 1, u32::MAX], &[10], keys(), &[0; 4]), "objects do not add up"),
        (forged([1, 4, 4, 0, 40], &[1], &[10], keys(), &[0; 4]), "does not follow"),
        (forged([u64::MAX, 4, 4, 0, 40], &[1], &[10], keys(), &[0; 4]), "does not follow"),
        (forged([0, 4, 4, u64::MAX - 1, u64::MAX], &[1], &[10], keys(), &[0; 4]), "does not follow"),
        (forged([0, 0, 0, 0, 40], &[1], &[10], keys(), &[0; 4]), "covers nothing"),
        (forged([0, u64::MAX, 4, 0, 40], &[1], &[10], keys(), &[0; 4]), "more than the limit"),
        (forged([0, 4, 1 << 40, 0, 40], &[1], &[10], keys(), &[0; 4]), "more than the limit"),
        (forged([0, 4, 4, 0, 40], &[1], &[10], vec![Value::from(1)], &[0; 4]), "expected"),
        (message(&[], &[("catalog", Value::from(1))]), "not a catalogue"),
    ] {
        let found = error(&bytes);
        assert!(found.contains(text), "{text}: {found}");
    }
    let limits = CatalogLimits { max_messages: 3, ..CatalogLimits::default() };
    let limited = Catalog::from_bytes_with(&good, &limits, &DecodeOptions::default());
    assert!(limited.unwrap_err().to_string().contains("limit of 3"));
    let limits = CatalogLimits { max_bytes: 100, ..CatalogLimits::default() };
    let limited = Catalog::from_bytes_with(&good, &limits, &DecodeOptions::default());
    assert!(limited.unwrap_err().to_string().contains("more than the limit of 100"));
}

#[test]
fn what_a_leaf_claims_of_facts_is_checked() {
    let fact = |object: u64, values: u8, absent: u64| {
        let values = (0..values).map(|value| Value::Bytes(vec![value])).collect();
        let entries: [(&str, Value); 4] = [
            ("path", "a".into()),
            ("object", object.into()),
            ("values", Value::Array(values)),
            ("absent", absent.into()),
        ];
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    };
    let open = |facts: Option<Value>, more: &[u8]| {
        let more = ObjectBuilder::new(&[more.len() as u64], more).unwrap();
        Catalog::from_bytes(&forged_with([0, 4, 4, 0, 40], (&[1], &[10]), Vec::new(), facts, more))
    };
    let codes = [0, 1, 255, 0];
    let good = open(Some(Value::Array(vec![fact(5, 2, 255)])), &codes).unwrap();
    let column = &good.facts().unwrap()[0].columns[0];
    let found: Vec<Option<usize>> = (0..5).map(|object| column.code(object)).collect();
    assert_eq!((found, good.has_facts()), (vec![Some(0), Some(1), None, Some(0), None], true));
    // From an older release; and from messages that say something of themselves. Leaves that are joined stay what they are.
    for (facts, lacks) in [(None, true), (Some(Value::Null), false)] {
        let catalog = open(facts, &codes).unwrap();
        for catalog in [catalog.compact().unwrap(), catalog] {
            assert_eq!((catalog.has_facts(), catalog.lacks_facts()), (false, lacks));
            assert_eq!(catalog.facts().unwrap_err().to_string().contains("older release"), lacks);
        }
    }
    for (facts, more, text) in [
        (vec![fact(5, 1, 255)], &codes[..], "a code without a value"),
        (vec![fact(5, 2, 1)], &codes, "the code of a missing fact"),
        (vec![fact(5, 2, 255)], &codes[..3], "3 rows instead of 4"),
        (vec![fact(6, 2, 255)], &codes, "object"),
        (vec![fact(u64::MAX, 2, 255)], &codes, "object"),
        (vec![fact(5, 2, 255); 11], &codes, "more than the data have bytes"),
        (vec![fact(5, 2, 255); 1025], &codes, "more than 1024 facts"),
        (vec![1.into()], &codes, "expected"),
    ] {
        let error = open(Some(Value::Array(facts)), more).and_then(|catalog| catalog.facts()).unwrap_err().to_string();
        assert!(error.contains(text), "{text}: {error}");
    }
}

/// No float stands for a missing value, so a leaf of floats has nothing to say of a message without objects.
#[test]
fn a_message_without_objects_has_no_float() {
    let values = [1.5, 2.5];
    let entries = [("path", "a".into()), ("kind", "floats".into()), ("object", 5.into())];
    let keys =
        || vec![Value::Map(entries.iter().map(|(key, value): &(_, Value)| ((*key).into(), value.clone())).collect())];
    let leaf = |messages, count: &[u32]| {
        let column = ObjectBuilder::new(&[2], &values).unwrap();
        Catalog::from_bytes(&forged_with([0, messages, 2, 0, 10 * messages], (count, &[10]), keys(), None, column))
            .unwrap()
    };
    assert_eq!(leaf(2, &[1]).select_messages(&query("a=2.5")).unwrap(), [1]);
    let error = leaf(3, &[1, 0, 1]).select_messages(&query("a=0")).unwrap_err().to_string();
    assert!(error.contains("key a has no value for a message"), "{error}");
    assert_eq!(leaf(3, &[1, 0, 1]).select(&query("a=2.5")).unwrap(), [(2, 0)]);
    // A message that is not there has no objects either.
    assert!(leaf(3, &[1, 0, 1]).objects_of(3).is_err() && leaf(2, &[1]).objects_of(2).is_err());
}

#[test]
fn a_place_that_is_wrong_is_noticed_by_the_frame() {
    let data = data();
    let catalog = stored(&data, &["mars.step"]);
    let range = catalog.object_range(5, 0).unwrap();
    let (start, end) = (usize::try_from(range.start).unwrap(), usize::try_from(range.end).unwrap());
    assert!(object_of_frame(&data[start..end]).is_ok());
    for (start, end) in [(start + 8, end), (start, end - 8), (start, end + 8), (start - 8, end)] {
        assert!(object_of_frame(&data[start..end]).is_err());
    }
}
