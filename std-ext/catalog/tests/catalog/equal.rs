//! Answers from a catalogue equal the answers of a walk over the data.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tgm_catalog::{Catalog, object_of_frame};
use tgm_std::deps::ciborium::Value;
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, TensogramError, file};

use crate::{check_places, check_query, field, message, query, stored};

/// Files of the test data with messages of version 3 that can be read.
fn files() -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let folders = ["multi", "many", "metadata", "preceder", "streaming", "realistic", "layout", "shapes", "dtypes"];
    let paths = folders.into_iter().flat_map(|folder| fs::read_dir(format!("../../tests/data/{folder}")).unwrap());
    let paths =
        paths.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "tgm"));
    paths.map(|path| (path.clone(), fs::read(path).unwrap()))
}

#[test]
fn files_of_the_test_data_are_catalogued_as_they_are() {
    let mut catalogued = 0;
    for (path, data) in files() {
        let keys = Catalog::varying_keys(&data, &DecodeOptions::default());
        if matches!(keys, Err(TensogramError::HashMismatch { .. })) {
            assert!(Catalog::build(&data, &["a"]).unwrap_err().to_string().starts_with("hash mismatch"));
            continue;
        }
        let Ok(mut keys) = keys else {
            let error = Catalog::build(&data, &["a"]).unwrap_err().to_string();
            assert!(error.contains("message "), "{}: {error}", path.display());
            continue;
        };
        keys.extend(["dtype", "objects", "mars.param", "extra.run", "version", "_reserved_.x"].map(str::to_string));
        let catalog = Catalog::build(&data, &keys).unwrap();
        if catalog.message_count() == 0 {
            assert!(Catalog::from_bytes(&catalog.to_bytes()).unwrap_err().to_string().contains("no leaf"));
            continue;
        }
        let catalog = stored(&data, &keys);
        check_places(&catalog, &data);
        for text in ["dtype=float32", "objects>1 or mars.param?", "not version=2 and mars.param!=2t", "extra.run=7"] {
            check_query(&catalog, &data, text);
        }
        catalogued += 1;
    }
    assert!(catalogued > 50, "{catalogued}");
}

#[test]
fn a_file_and_a_map_give_what_bytes_give() {
    let data: Vec<u8> = (0..3000).flat_map(|step| field("2t", step % 7)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.tgm");
    fs::write(&path, &data).unwrap();
    let file = tgm_std::TensogramFile::open(&path).unwrap();
    let many = DecodeOptions { threads: 3, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() };
    let wanted = query("mars.step in 2..4 or mars.param=tp");
    let expected = file::query(&data, &wanted, &DecodeOptions::default()).unwrap();
    assert!(expected.len() > 800 && expected[0] == (2, 0));
    assert_eq!(file.query(&wanted, &many).unwrap(), expected);
    let catalog = Catalog::build_with(&file, &["mars.step", "mars.param"], &many).unwrap();
    check_places(&catalog, &data);
    assert_eq!(catalog.select(&wanted).unwrap(), expected);
    {
        let file = tgm_std::TensogramFile::open_mmap(&path).unwrap();
        assert_eq!(file.query(&wanted, &many).unwrap(), expected);
        let mapped = Catalog::build(&file, &["mars.step", "mars.param"]).unwrap();
        assert_eq!(mapped.select(&wanted).unwrap(), expected);
    }
}

#[test]
fn large_messages_are_not_read_whole_and_found_all_the_same() {
    let values = vec![7_u8; 400_000];
    let large = |step: i64| {
        let object = tgm_std::ObjectBuilder::new(&[400_000], &values).unwrap().metadata("mars.step", step);
        tgm_std::MessageBuilder::new().object(object.clone()).object(object).encode().unwrap()
    };
    let data = [field("2t", 1), large(2), field("2t", 3), large(4)].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.tgm");
    fs::write(&path, &data).unwrap();
    let catalog = Catalog::build(&tgm_std::TensogramFile::open(&path).unwrap(), &["mars.step", "dtype"]).unwrap();
    check_places(&catalog, &data);
    assert_eq!(catalog.select(&query("mars.step>=3 and dtype=uint8")).unwrap(), [(3, 0), (3, 1)]);
}

#[test]
fn keys_with_many_numbers_have_columns_of_numbers() {
    let number = |i: i64| if i % 97 == 0 { vec![] } else { vec![("id", Value::from(i * 1_000_003 - 700_000_000))] };
    let data: Vec<u8> =
        (0..1500).flat_map(|i| message(&[number(i)], &[("time", Value::Float(f64::from(i as i32) / 7.0))])).collect();
    let catalog = stored(&data, &["id", "time"]);
    let text = String::from_utf8_lossy(&catalog.to_bytes()).into_owned();
    assert!(text.contains("integers") && text.contains("floats"));
    for text in [
        "id>0",
        "id<=-700000000",
        "not id?",
        "id=300002*",
        "id!=1/300",
        "time in 3..4.5",
        "time=1* and id<0",
        "id=5*/7",
    ] {
        check_query(&catalog, &data, text);
        check_query(&catalog.compact().unwrap(), &data, text);
    }
    assert_eq!(catalog.distinct("id").unwrap().len(), 1500 - 16);
}

#[test]
fn distinct_values_and_groups() {
    let data = [
        message(&[vec![("a", "x".into()), ("n", 2.into())], vec![("n", 10.into())]], &[]),
        message(&[vec![("a", "x".into()), ("n", 2.0.into())]], &[]),
        message(&[], &[("a", "y".into())]),
        message(&[vec![("n", 2.into())]], &[("a", "w".into())]),
    ]
    .concat();
    let catalog = stored(&data, &["a", "n"]);
    assert_eq!(catalog.distinct("a").unwrap(), ["w", "x"].map(Value::from));
    assert_eq!(catalog.distinct("n").unwrap(), [Value::from(2), Value::from(2.0), Value::from(10)]);
    let groups = catalog.group_by(&["a"]).unwrap();
    let groups: Vec<_> = groups.into_iter().map(|group| (group.values, group.objects)).collect();
    assert_eq!(
        groups,
        [
            (vec![Some("w".into())], vec![(3, 0)]),
            (vec![Some("x".into())], vec![(0, 0), (1, 0)]),
            (vec![None], vec![(0, 1)]),
        ]
    );
    let error = catalog.distinct("b").unwrap_err().to_string();
    assert_eq!(error, "metadata error: catalogue: it has no key b; its keys: a, n");
    assert!(catalog.select(&query("a=x or b=1")).unwrap_err().to_string().contains("no key b"));
}

/// Sorting demands an order of all values, and NaN has no place among numbers.
#[test]
fn nan_comes_between_numbers_and_texts() {
    let numbers = (0..200).map(|i| i * 83 % 200);
    let values = numbers.flat_map(|i| {
        let number = if i % 2 == 0 { Value::from(i) } else { Value::from(f64::from(i)) };
        let [nan, list] = [Value::from(f64::NAN), Value::Array(vec![f64::NAN.into(), i.into()])];
        [number, nan, list, Value::from(format!("text {i:03}"))]
    });
    let data: Vec<u8> = values.flat_map(|value| message(&[vec![("n", value)]], &[])).collect();
    let catalog = stored(&data, &["n"]);
    let found = catalog.distinct("n").unwrap();
    let (numbers, others) = found.split_at(200);
    let number =
        |value: &Value| value.as_float().unwrap_or_else(|| i64::try_from(value.as_integer().unwrap()).unwrap() as f64);
    assert!(numbers.iter().map(number).eq((0..200).map(f64::from)));
    assert!(others[0].as_float().unwrap().is_nan());
    assert!(others[1..201].iter().map(|text| text.as_text().unwrap()).is_sorted());
    assert_eq!((others.len(), others[201..].iter().all(Value::is_array)), (401, true));
    let groups = catalog.group_by(&["n"]).unwrap();
    assert!(
        groups.iter().zip(&found).all(|(group, value)| format!("{:?}", group.values) == format!("{:?}", [Some(value)]))
    );
}

#[test]
fn keys_that_vary_are_found() {
    let data = [
        message(
            &[vec![("a.b", 1.into()), ("same", 1.into())], vec![("a.b", 2.into()), ("same", 1.into())]],
            &[("run", 1.into())],
        ),
        message(
            &[vec![("same", 1.into()), ("list", Value::Array(vec![]))]],
            &[("run", 2.into()), ("c.d.e", "x".into())],
        ),
    ]
    .concat();
    let keys = Catalog::varying_keys(&data, &DecodeOptions::default()).unwrap();
    assert_eq!(keys, ["a.b", "c.d.e", "ndim", "objects", "run", "shape"]);
}

const KEYS: [&str; 6] = ["a", "b.c", "d", "dtype", "ndim", "extra.a"];

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-2..4_i32).prop_map(Value::from),
        (-2..4_i32).prop_map(|halves| Value::Float(f64::from(halves) / 2.0)),
        "[ab1-3]{1,2}".prop_map(Value::Text),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(Value::Float(f64::NAN)),
        Just(Value::Array(vec![1.into(), "a".into()])),
        Just(Value::Bytes(vec![1, 255])),
        Just(Value::Tag(24, Box::new(Value::Bytes(vec![0x01])))),
    ]
}

fn entries() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    proptest::collection::vec(proptest::option::weighted(0.6, value()), 4).prop_map(|values| {
        let keys = ["a", "b.c", "d", "dtype"];
        keys.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))).collect()
    })
}

fn asked() -> impl Strategy<Value = String> {
    let literal = || {
        prop_oneof!["[ab1-3]{1,2}", "-?[0-3](\\.5)?", Just("null".into()), Just("[1,*".into()), Just("\"1\"".into())]
    };
    let key = || proptest::sample::select(&KEYS[..]);
    let condition = prop_oneof![
        (key(), prop_oneof![Just("="), Just("!=")], literal(), literal())
            .prop_map(|(k, op, a, b)| format!("{k}{op}{a}/{b}")),
        (key(), prop_oneof![Just("<"), Just(">=")], literal()).prop_map(|(k, op, a)| format!("{k}{op}{a}")),
        (key(), -2..2_i32, 0..4_i32).prop_map(|(k, a, b)| format!("{k} in {a}..={b}")),
        key().prop_map(|key| format!("{key}?")),
    ];
    // Names of dtypes that another program has (`b1`) are refused.
    let condition = condition.prop_filter("a query", |text| text.parse::<Query>().is_ok());
    condition.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|text| format!("not ({text})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) and ({b})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("({a}) or ({b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_catalogue_selects_what_a_walk_selects(
        messages in proptest::collection::vec((proptest::collection::vec(entries(), 0..4), entries()), 1..12),
        junk in proptest::collection::vec(0..20_usize, 12),
        split in 0..12_usize,
        queries in proptest::collection::vec(asked(), 1..6),
    ) {
        let mut data = Vec::new();
        let mut places = Vec::new();
        for ((objects, annotations), junk) in messages.iter().zip(junk) {
            data.extend(vec![7; junk]);
            data.extend(message(objects, annotations));
            places.push(data.len());
        }
        let whole = stored(&data, &KEYS);
        check_places(&whole, &data);
        // The same in two leaves, and joined again.
        let first = places.get(split).copied().unwrap_or(data.len());
        let mut grown = stored(&data[..first], &KEYS);
        let new = grown.extend(&data).unwrap();
        prop_assert_eq!(new, messages.len().saturating_sub(split + 1));
        let grown = Catalog::from_bytes(&grown.to_bytes()).unwrap();
        let compact = grown.compact().unwrap();
        prop_assert_eq!(compact.leaf_count(), 1);
        for catalog in [&whole, &grown, &compact] {
            check_places(catalog, &data);
            for text in &queries {
                check_query(catalog, &data, text);
            }
        }
    }
}

#[test]
fn columns_have_the_value_and_the_place_of_each_object() {
    for (path, data) in files() {
        // Some files are damaged.
        let Ok(catalog) = Catalog::build(&data, &["dtype", "mars.step"]) else { continue };
        let (objects, dtypes) = (catalog.objects().unwrap(), catalog.column("dtype").unwrap());
        assert_eq!((objects.len(), dtypes.codes.len()), (catalog.object_count(), catalog.object_count()), "{path:?}");
        for (place, code) in objects.iter().zip(&dtypes.codes) {
            let range = catalog.object_range(place.message, place.object).unwrap();
            assert_eq!(range, place.offset..place.offset + place.length);
            let object = object_of_frame(&data[range.start as usize..range.end as usize]).unwrap();
            let value = dtypes.values[code.unwrap() as usize].as_text();
            assert_eq!(value, Some(object.descriptor().dtype().name()), "{path:?}");
        }
        // A value that is missing has no number.
        let steps = catalog.column("mars.step").unwrap();
        let known: usize = catalog
            .group_by(&["mars.step"])
            .unwrap()
            .iter()
            .filter(|it| it.values[0].is_some())
            .map(|it| it.objects.len())
            .sum();
        assert_eq!(steps.codes.iter().flatten().count(), known, "{path:?}");
        assert!(catalog.column("param").is_err());
    }
}
