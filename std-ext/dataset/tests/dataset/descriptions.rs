//! What messages say of the file that they were made of: chunks that are missing, and descriptions that are malformed.

use tgm_dataset::{Dataset, Indices, OpenOptions, Statistic, on_all_cores, open};
use tgm_std::deps::ciborium::Value;
use tgm_std::deps::half::f16;
use tgm_std::{MessageBuilder, ObjectBuilder, Result};

use crate::{Archive, map};

/// A message of an array of four elements in two chunks, of which the second one is missing.
fn half_of(object: ObjectBuilder<'_>, data_type: &str, fill: Option<Value>) -> Archive {
    let lens = |lens: &[i32]| Value::Array(lens.iter().map(|len| (*len).into()).collect());
    let grid = map(&[("name", "regular".into()), ("configuration", map(&[("chunk_shape", lens(&[2]))]))]);
    let mut array = vec![("shape", lens(&[4])), ("chunk_grid", grid), ("data_type", data_type.into())];
    array.extend(fill.map(|fill| ("fill_value", fill)));
    let object = object.metadata("name", "v").metadata("dimensions", Value::Array(vec!["x".into()]));
    let object = object.metadata("zarr", map(&[("origin", lens(&[0]))]));
    let zarr = map(&[("path", "v".into()), ("array", map(&array))]);
    Archive::new(&[MessageBuilder::new().allow_nan().extra("zarr", zarr).object(object).encode().unwrap()])
}

fn floats(dataset: &Dataset) -> Result<Vec<f64>> {
    let mut found = vec![0.0; 4];
    dataset.read_floats_into("v", &[Indices::all(4)], &on_all_cores(), &mut found).map(|()| found)
}

/// What is read, bit by bit: NaN differ from themselves.
fn bits(found: Result<Vec<f64>>) -> Vec<u64> {
    found.unwrap().into_iter().map(f64::to_bits).collect()
}

/// A saved dataset says no value for chunks that are missing: none was, and none but NaN differs from all values.
#[test]
fn integers_without_an_object_are_nan_or_an_error() {
    let nan = [1.0, 2.0, f64::NAN, f64::NAN].map(f64::to_bits);
    for fill in [None, Some(Value::Null)] {
        let short = half_of(ObjectBuilder::new(&[2], &[1_i16, 2]).unwrap(), "int16", fill.clone()).open().unwrap();
        assert_eq!(bits(floats(&short)), nan);
        let count = short.reduce("v", &[Indices::all(4)], &["x"], &[Statistic::Count], &on_all_cores()).unwrap();
        assert_eq!(count.values(Statistic::Count), [2.0]);
        let long = half_of(ObjectBuilder::new(&[2], &[1_i64, 2]).unwrap(), "int64", fill.clone());
        let truths = half_of(ObjectBuilder::bitmask(&[2], &[0b1000_0000]), "bool", fill.clone());
        for archive in [&long, &truths] {
            let dataset = archive.open().unwrap();
            let error = floats(&dataset).unwrap_err().to_string();
            assert!(error.contains("a place has no object"), "{error}");
            let all = [Indices::all(4)];
            assert!(dataset.reduce("v", &all, &["x"], &[Statistic::Count], &on_all_cores()).is_err());
            assert!(dataset.cut(&["v"], &[], &on_all_cores()).and_then(MessageBuilder::encode).is_err());
        }
        let options = OpenOptions { fill: vec![("v".into(), -1.0)], ..OpenOptions::default() };
        let dataset = open(&[long.path()], &options).unwrap();
        assert_eq!(dataset.read::<i64>("v", &[Indices::all(4)]).unwrap(), [1, 2, -1, -1]);
    }
    // Zarr says what stands for a chunk that is not stored.
    let zarr = half_of(ObjectBuilder::new(&[2], &[1_i16, 2]).unwrap(), "int16", Some(7.into())).open().unwrap();
    assert_eq!(zarr.read::<i16>("v", &[Indices::all(4)]).unwrap(), [1, 2, 7, 7]);
}

#[test]
fn fill_values_of_every_type_are_read_or_the_variable_is_left_out_with_the_reason() {
    let of_16 = ObjectBuilder::new(&[2], &[f16::ONE, f16::ONE]).unwrap();
    let cases = [
        (of_16, "float16", Value::from(0.5), 0.5),
        (
            ObjectBuilder::new(&[2], &[1.0_f32, 1.0]).unwrap(),
            "float32",
            "0x40490fdb".into(),
            f64::from(std::f32::consts::PI),
        ),
        (ObjectBuilder::new(&[2], &[1.0, 1.0]).unwrap(), "float64", 3.into(), 3.0),
        (ObjectBuilder::new(&[2], &[1.0, 1.0]).unwrap(), "float64", "-Infinity".into(), f64::NEG_INFINITY),
    ];
    for (object, data_type, fill, expected) in cases {
        let dataset = half_of(object, data_type, Some(fill)).open().unwrap();
        assert_eq!(floats(&dataset).unwrap(), [1.0, 1.0, expected, expected], "{data_type}");
    }
    for (object, data_type, fill) in [
        (ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap(), "uint8", Value::from(300)),
        (ObjectBuilder::new(&[2], &[1.0, 1.0]).unwrap(), "float64", "zero".into()),
        (ObjectBuilder::new(&[2], &[1.0, 1.0]).unwrap(), "float64", "0x12".into()),
    ] {
        let dataset = half_of(object, data_type, Some(fill)).open().unwrap();
        let left_out = dataset.left_out.iter().map(ToString::to_string).collect::<String>();
        assert!(left_out.contains("its fill value is not an element of type"), "{data_type} {left_out}");
    }
}

#[test]
fn descriptions_that_are_malformed_are_noted_once() {
    let text = |values: &[&str]| {
        let values: Vec<Value> = values.iter().map(|text| (*text).into()).collect();
        let shape = Value::Array(vec![(values.len() as u64).into()]);
        map(&[("shape", shape), ("values", Value::Array(values)), ("dimensions", Value::Array(vec!["n".into()]))])
    };
    let named = |number: i32| {
        let numbers = [number];
        let object = ObjectBuilder::new(&[1], &numbers).unwrap().metadata("name", format!("v{number}"));
        object.metadata("dimensions", Value::Array(vec!["x".into()])).into_owned().unwrap()
    };
    for (key, value, why) in [
        ("zarr", map(&[("path", "a".into())]), "it lacks the path or the description"),
        ("unlimited", "time".into(), "it is not a list of names"),
        ("unlimited", Value::Array(vec![1.into()]), "it is not a list of names"),
        ("attributes", 1.into(), "it is not a map"),
        ("part", map(&[("number", "one".into())]), "it lacks a number and a dimension"),
    ] {
        let message = |number| MessageBuilder::new().extra(key, value.clone()).object(named(number)).encode().unwrap();
        let dataset = Archive::new(&[message(1), message(2)]).open().unwrap();
        let found: Vec<&String> = dataset.notes.iter().filter(|note| note.contains(why)).collect();
        assert!(matches!(found.as_slice(), [one] if one.contains(key)), "{key}: {:?}", dataset.notes);
        assert_eq!(dataset.variables.len(), 2, "{key}");
    }
    let message = |number| MessageBuilder::new().object(named(number).metadata("attributes", 1)).encode().unwrap();
    let dataset = Archive::new(&[message(1), message(2)]).open().unwrap();
    assert!(matches!(dataset.notes.as_slice(), [one] if one.contains("attributes")), "{:?}", dataset.notes);
    let message = |number: i32, texts: Value| {
        MessageBuilder::new().extra("texts", map(&[("t", texts)])).object(named(number)).encode().unwrap()
    };
    let archive = Archive::new(&[message(1, text(&["a", "b"])), message(2, text(&["a", "b"]))]);
    assert!(archive.open().unwrap().left_out.is_empty());
    let archive = Archive::new(&[message(1, text(&["a", "b"])), message(2, text(&["a", "c"]))]);
    let left_out = archive.open().unwrap().left_out.iter().map(ToString::to_string).collect::<String>();
    assert!(left_out.contains("another message has other texts under this name"), "{left_out}");
}
