//! Variables of files: dimensions, records, groups and texts.

use tgm_dataset::{Attribute, Indices, OpenOptions, groups, open, open_all};
use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::{Archive, map};

fn names(names: &[&str]) -> Value {
    Value::Array(names.iter().map(|name| Value::from(*name)).collect())
}

const UNCOUNTED: &str = "it would have more than 2^64 elements";

#[test]
fn variables_keep_their_dimensions_and_groups() {
    let v = ObjectBuilder::new(&[2, 3], &[1_i16, 2, 3, 4, 5, 6]).unwrap();
    let v = v.metadata("name", "v").metadata("dimensions", names(&["y", "x"]));
    let v = v
        .metadata("attributes", map(&[("units", "m".into()), ("valid_range", Value::Array(vec![0.into(), 9.into()]))]));
    let w = ObjectBuilder::new(&[3], &[1.5_f32, 2.5, 3.5]).unwrap();
    let w = w.metadata("name", "g/w").metadata("dimensions", names(&["x"]));
    let text = map(&[
        ("dimensions", names(&["x"])),
        ("shape", Value::Array(vec![3.into()])),
        ("values", names(&["a", "", "ü"])),
    ]);
    let message = MessageBuilder::new().extra("texts", map(&[("station", text)]));
    let message = message.extra("attributes", map(&[("title", "all".into())])).object(v).object(w);
    let message = message.extra("unlimited", names(&["y", "g/x"]));
    let archive = Archive::new(&[message.encode().unwrap()]);
    let dataset = archive.open().unwrap();
    assert_eq!(dataset.attributes, [("title".into(), Attribute::Text("all".into()))]);
    assert_eq!(dataset.unlimited, ["y"]);
    let v = dataset.variable("v").unwrap();
    assert_eq!((v.dims.join(" "), &v.shape[..]), ("y x".into(), &[2, 3][..]));
    assert_eq!(v.attributes[1], ("valid_range".into(), Attribute::Integers(vec![0, 9])));
    assert_eq!(dataset.variable("station").unwrap().texts().unwrap(), ["a", "", "ü"]);
    assert_eq!(dataset.read::<i16>("v", &[Indices::Index(1), Indices::List(vec![2, 0])]).unwrap(), [6, 4]);
    assert_eq!(groups(&[archive.path()], &OpenOptions::default()).unwrap(), ["g"]);
    let options = OpenOptions { group: Some("/g".into()), ..OpenOptions::default() };
    let group = open(&[archive.path()], &options).unwrap();
    assert_eq!(group.variables.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["w"]);
    assert_eq!(group.unlimited, ["x"]);
    assert_eq!(group.read::<f32>("w", &[Indices::Index(2)]).unwrap(), [3.5]);
    let of_group = |group: &str| {
        let options = OpenOptions { group: Some(group.into()), ..OpenOptions::default() };
        open(&[archive.path()], &options).map(|dataset| dataset.variables.len()).map_err(|error| error.to_string())
    };
    assert_eq!(of_group("/"), of_group(""));
    assert!(of_group("h").unwrap_err().ends_with(r#"group "h" is not there: the archive has "g""#));
}

#[test]
fn parts_that_were_appended_are_datasets_of_their_own() {
    let part = |number: u64, values: &[i16]| {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
        let message =
            MessageBuilder::new().object(object.metadata("name", "v").metadata("dimensions", names(&["time"])));
        let place = map(&[("number", number.into()), ("dimension", "time".into())]);
        if number == 0 { message } else { message.extra("part", place) }.encode().unwrap()
    };
    let archive = Archive::new(&[part(0, &[1, 2]), part(2, &[5]), part(1, &[3, 4])]);
    let found = open_all(&[archive.path()], &OpenOptions::default()).unwrap();
    let values = found.iter().map(|it| {
        let all = Indices::List((0..it.variable("v").unwrap().shape[0]).collect());
        (it.along.as_deref(), it.read::<i16>("v", &[all]).unwrap())
    });
    let expected = [(None, vec![1, 2]), (Some("time"), vec![3, 4]), (Some("time"), vec![5])];
    assert_eq!(values.collect::<Vec<_>>(), expected);
    let told: Vec<String> = archive.open().unwrap().left_out.iter().map(ToString::to_string).collect();
    assert!(told.len() == 2 && told[0].starts_with("part 1, 1 object: it was appended along time"), "{told:?}");
}

/// Each chunk of such an array would have the same place.
#[test]
fn an_array_of_more_places_than_64_bits_count_is_left_out() {
    let numbers = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| Value::from(*number)).collect());
    let opened = |shape: &[u64]| {
        let chunk = numbers(&vec![1; shape.len()]);
        let grid = map(&[("name", "regular".into()), ("configuration", map(&[("chunk_shape", chunk)]))]);
        let array = map(&[("shape", numbers(shape)), ("chunk_grid", grid)]);
        let mut message = MessageBuilder::new().extra("zarr", map(&[("path", "t".into()), ("array", array)]));
        for at in [1, 2] {
            let origin: Vec<u64> = shape.iter().map(|len| len - at).collect();
            let object = ObjectBuilder::new(&vec![1; shape.len()], &[1.5_f32]).unwrap().metadata("name", "t");
            message = message.object(object.metadata("zarr", map(&[("origin", numbers(&origin))])));
        }
        Archive::new(&[message.encode().unwrap()]).open().unwrap()
    };
    let most = opened(&[1 << 32, (1 << 32) - 1]);
    assert_eq!(most.variables[0].object_count(), 2, "{:?}", most.left_out);
    let last = [Indices::Index((1 << 32) - 1), Indices::Index((1 << 32) - 2)];
    assert_eq!(most.read::<f32>("t", &last).unwrap(), [1.5]);
    for shape in [[1 << 32, 1 << 32], [u64::MAX, u64::MAX]] {
        let beyond = opened(&shape);
        assert_eq!((beyond.variables.len(), beyond.left_out[0].why.as_str()), (0, UNCOUNTED));
    }
}

#[test]
fn records_are_one_variable() {
    let record = |number: u64| {
        let values = [number.wrapping_mul(2), number.wrapping_mul(2) | 1];
        let v = ObjectBuilder::new(&[2], &values).unwrap();
        let v = v.metadata("name", "v").metadata("dimensions", names(&["x"]));
        let v = v.metadata("netcdf", map(&[("record", "time".into())]));
        MessageBuilder::new().extra("record", number).object(v).encode().unwrap()
    };
    let archive = Archive::new(&[record(2), record(0), record(1)]);
    let dataset = archive.open().unwrap();
    let v = dataset.variable("v").unwrap();
    assert_eq!((v.dims.join(" "), &v.shape[..]), ("time x".into(), &[3, 2][..]));
    let all = [Indices::List(vec![0, 1, 2]), Indices::Index(1)];
    assert_eq!(dataset.read::<u64>("v", &all).unwrap(), [1, 3, 5]);
    // Files of one variable do not say how they follow each other.
    let both = open(&[archive.path(), archive.path()], &OpenOptions::default()).unwrap();
    assert!(
        both.variables.is_empty() && both.left_out[0].why.starts_with("several files have it"),
        "{:?}",
        both.left_out
    );
    // Numbers of places beyond 64 bits: two records would be at one place.
    for (number, why) in [(u64::MAX, "the number of its last record is too large"), (1 << 63, UNCOUNTED)] {
        let beyond = Archive::new(&[record(0), record(number)]).open().unwrap();
        assert_eq!((beyond.variables.len(), beyond.left_out[0].why.as_str()), (0, why));
    }
    // A record that is there twice is told, and not taken.
    let twice = Archive::new(&[record(0), record(0)]).open().unwrap();
    assert_eq!((twice.variables.len(), twice.left_out[0].why.as_str()), (0, "two messages have one record"));
}

#[test]
fn a_file_of_another_format_is_an_error_and_not_left_out() {
    let archive =
        Archive::new(&[MessageBuilder::new().object(ObjectBuilder::new(&[1], &[1_u8]).unwrap()).encode().unwrap()]);
    let other = archive.folder.path().join("b.nc");
    let opened = |sources: &[String]| open_all(sources, &OpenOptions::default()).map(|found| found.len());
    for (bytes, words) in [
        (&b"\x89HDF\r\n\x1a\n and more"[..], "looks like HDF5 or NetCDF"),
        (b"<html>gone</html>", "looks like an HTML page"),
        (b"nothing of that kind", "no message was found"),
    ] {
        std::fs::write(&other, bytes).unwrap();
        let other = other.display().to_string();
        for sources in [vec![other.clone()], vec![archive.path(), other.clone()]] {
            let error = opened(&sources).unwrap_err().to_string();
            assert!(error.contains("b.nc") && error.contains(words), "{error}");
        }
    }
    // An empty file is an archive without messages.
    std::fs::write(&other, b"").unwrap();
    assert_eq!(opened(&[archive.path(), other.display().to_string()]).unwrap(), 1);
}
