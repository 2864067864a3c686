//! Several files in one file of NetCDF, or in one store of Zarr: dimensions of one name that are not the same.

use std::collections::BTreeMap;
use std::fs;

use ciborium::Value;
use tempfile::TempDir;
use tgm_convert::ArrayWriter as _;
use tgm_convert::netcdf::{NetcdfOptions, NetcdfWriter, ToNetcdfOptions};
use tgm_convert::zarr::{ToZarrOptions, ZarrOptions, ZarrWriter};
use tgm_convert::{netcdf, zarr};
use tgm_core::descriptor::Dtype;
use tgm_dataset::{Indices, OpenOptions, Profile, open};
use tgm_std::{MessageBuilder, ObjectBuilder};

const FORMATS: [&str; 2] = ["nc", "zarr"];

/// A variable: its name, its dimensions, its shape and its values.
type Variable<'v> = (&'v str, &'v [&'v str], &'v [u64], &'v [f64]);

/// An array of a store: its path, its dimensions, its shape and its first value.
type Stored<'s> = (&'s str, &'s [&'s str], &'s [u64], f64);

/// A message of variables, as a file has them. Times count from a day.
fn file(variables: &[Variable<'_>], day: &str) -> Vec<u8> {
    let mut message = MessageBuilder::new();
    for (name, dims, shape, values) in variables {
        let dims = Value::Array(dims.iter().map(|dim| (*dim).into()).collect());
        let mut object =
            ObjectBuilder::new(shape, values).unwrap().metadata("name", *name).metadata("dimensions", dims);
        if *name == "time" {
            object = object.metadata("attributes.units", format!("days since {day}"));
        }
        message = message.object(object);
    }
    message.encode().unwrap()
}

/// A variable as a reader finds it: its dimensions and its values.
type Found = BTreeMap<String, (Vec<String>, Vec<f64>)>;

/// Writes messages in this format, and reads the root of what was written. Also what was reported.
fn written(format: &str, messages: &[Vec<u8>]) -> (Found, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let (there, back) = (folder.path().join(format!("a.{format}")), folder.path().join("a.tgm"));
    let (mut notes, mut bytes) = (Vec::new(), Vec::new());
    let mut report = |note: tgm_convert::Note| notes.push(note.to_string());
    if format == "nc" {
        let mut writer = NetcdfWriter::create(&there, ToNetcdfOptions::default()).unwrap();
        for message in messages {
            writer.write(message, &mut report).unwrap();
        }
        writer.finish().unwrap();
        netcdf::to_tensogram(&there, &NetcdfOptions::default(), &mut bytes, &mut report).unwrap();
    } else {
        let mut writer = ZarrWriter::create(&there, ToZarrOptions::default()).unwrap();
        for message in messages {
            writer.write(message, &mut report).unwrap();
        }
        writer.finish().unwrap();
        zarr::to_tensogram(&there, &ZarrOptions::default(), &mut bytes, &mut report).unwrap();
    }
    fs::write(&back, bytes).unwrap();
    let dataset = open(&[back], &OpenOptions { profile: Profile::Cf, ..OpenOptions::default() }).unwrap();
    let mut found = Found::new();
    for variable in &dataset.variables {
        let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::List((0..*len).collect())).collect();
        let values = dataset.read::<f64>(&variable.name, &all).unwrap_or_default();
        found.insert(variable.name.clone(), (variable.dims.clone(), values));
    }
    for coordinate in &dataset.coordinates {
        found.insert(coordinate.name.clone(), (coordinate.dims.clone(), Vec::new()));
    }
    (found, notes)
}

fn dims<'f>(found: &'f Found, name: &str) -> Vec<&'f str> {
    found.get(name).unwrap_or_else(|| panic!("{name}: {found:?}")).0.iter().map(String::as_str).collect()
}

/// A month of two days at two latitudes.
fn month(name: &str, day: &str, latitudes: [f64; 2], start: f64) -> Vec<u8> {
    let values = [0.0, 1.0, 2.0, 3.0].map(|value| value + start);
    file(
        &[
            (name, &["time", "lat"], &[2, 2], &values),
            ("time", &["time"], &[2], &[0.0, 1.0]),
            ("lat", &["lat"], &[2], &latitudes),
        ],
        day,
    )
}

/// Objects of several messages in one, as `tgm merge` makes it. Some become objects of another type, by their names.
fn merged(messages: &[Vec<u8>], types: &BTreeMap<&str, Dtype>) -> Vec<u8> {
    let mut whole = MessageBuilder::new();
    for message in messages {
        let (global, objects) = tgm_std::decode(message, &tgm_std::DecodeOptions::default()).unwrap();
        for (key, value) in global.extra {
            whole = whole.extra(&key, value);
        }
        for (entry, (mut descriptor, values)) in global.base.into_iter().zip(objects) {
            let name = entry.get("name").and_then(Value::as_text).unwrap_or_default();
            descriptor.dtype = types.get(name).copied().unwrap_or(descriptor.dtype);
            let mut object = ObjectBuilder::from_parts(descriptor, values);
            for (key, value) in entry.into_iter().filter(|(key, _)| key != "_reserved_") {
                object = object.metadata(&key, value);
            }
            whole = whole.object(object);
        }
    }
    whole.encode().unwrap()
}

#[test]
fn dimensions_with_other_labels_are_others_and_those_with_the_same_are_shared() {
    let (january, march) = ("2024-01-01", "2024-03-01");
    let months = [month("t", january, [1.0, 2.0], 0.0), month("t", march, [1.0, 2.0], 10.0)];
    for format in FORMATS {
        for messages in [months.to_vec(), vec![merged(&months, &BTreeMap::new())]] {
            let (found, notes) = written(format, &messages);
            assert_eq!(
                (dims(&found, "t"), dims(&found, "t_1")),
                (vec!["time", "lat"], vec!["time_1", "lat"]),
                "{format}"
            );
            assert_eq!((dims(&found, "time"), dims(&found, "time_1")), (vec!["time"], vec!["time_1"]), "{format}");
            assert_eq!(found["t_1"].1, [10.0, 11.0, 12.0, 13.0]);
            assert_eq!(dims(&found, "lat_1"), ["lat"], "{format}");
            let told = "dimension time: it becomes time_1, as time has other labels";
            assert!(notes.iter().any(|note| note.contains(told)), "{format}: {notes:?}");
        }
        // The copy of equal labels has the name that another dimension would get.
        let third = month("u", march, [5.0, 6.0], 20.0);
        let (found, _) = written(format, &[months.to_vec(), vec![third]].concat());
        assert_eq!((dims(&found, "u"), dims(&found, "lat_2")), (vec!["time_1", "lat_2"], vec!["lat_2"]), "{format}");
    }
}

#[test]
fn an_object_between_two_files_is_told() {
    let day = "2024-01-01";
    let message = file(
        &[
            ("t", &["x"], &[2], &[1.0, 2.0]),
            ("x", &["x"], &[2], &[0.0, 1.0]),
            ("u", &["x"], &[2], &[3.0, 4.0]),
            ("x", &["x"], &[2], &[5.0, 6.0]),
        ],
        day,
    );
    for format in FORMATS {
        let (_, notes) = written(format, std::slice::from_ref(&message));
        let told = "message 0, object 2: not kept: which labels x has: the message has labels of several files";
        assert!(notes.iter().any(|note| note == told), "{format}: {notes:?}");
    }
}

#[test]
fn dimensions_of_other_lengths_are_others_in_each_format() {
    let day = "2024-01-01";
    let messages = [
        file(&[("a", &["x"], &[2], &[1.0, 2.0]), ("x", &["x"], &[2], &[0.0, 1.0])], day),
        file(&[("b", &["x"], &[3], &[1.0, 2.0, 3.0]), ("x", &["x"], &[3], &[0.0, 1.0, 2.0])], day),
        // Without labels.
        file(&[("c", &["x", "y"], &[4, 2], &[0.0; 8]), ("d", &["y"], &[3], &[0.0; 3])], day),
    ];
    for format in FORMATS {
        let (found, notes) = written(format, &messages);
        assert_eq!((dims(&found, "a"), dims(&found, "b")), (vec!["x"], vec!["x_1"]), "{format}");
        assert_eq!((dims(&found, "x"), dims(&found, "x_1")), (vec!["x"], vec!["x_1"]), "{format}");
        assert_eq!((dims(&found, "c"), dims(&found, "d")), (vec!["x_2", "y"], vec!["y_1"]), "{format}");
        let told = "dimension x: it becomes x_1, as x has another length";
        assert!(notes.iter().any(|note| note.contains(told)), "{format}: {notes:?}");
    }
}

/// The records of a file become what the file is.
#[test]
fn records_are_joined_in_each_format() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let mut whole = netcdf_file(&path);
    let mut records = Vec::new();
    let options = NetcdfOptions { split: netcdf::Split::Record, ..NetcdfOptions::default() };
    netcdf::to_tensogram(&path, &options, &mut records, &mut |note| panic!("{note}")).unwrap();
    let mut reader = tgm_std::file::MessageReader::new(&records[..]);
    while let Some(message) = reader.next_message().unwrap() {
        whole.push(message.as_bytes().to_vec());
    }
    let (first, records) = (whole.remove(0), whole);
    for format in FORMATS {
        let (expected, _) = written(format, std::slice::from_ref(&first));
        assert_eq!(dims(&expected, "u"), ["time", "lat"], "{format}");
        let (found, notes) = written(format, &records);
        assert_eq!((&found, &notes[..]), (&expected, &[][..]), "{format}");
        // Each of two files has its own dimension.
        let (found, _) = written(format, &[records.clone(), records.clone()].concat());
        assert_eq!([dims(&found, "u_1"), dims(&found, "t_1")], [["time_1", "lat"], ["lat", "time_1"]], "{format}");
        assert_eq!((dims(&found, "time_1"), &found["u_1"].1), (vec!["time_1"], &expected["u"].1), "{format}");
        // What has no record is missing.
        let (found, _) = written(format, &[records[0].clone(), records[1].clone(), records[3].clone()]);
        assert_eq!(found["u"].1.len(), 6, "{format}");
        assert_eq!((found["u"].1[0], found["u"].1[5]), (expected["u"].1[0], expected["u"].1[5]), "{format}");
        // A record that is there already is reported.
        let (_, notes) = written(format, &[records.clone(), records[2..3].to_vec()].concat());
        assert!(notes.iter().any(|note| note.contains("u has a record 1 already")), "{format}: {notes:?}");
        // A record of another type of the same width has no place among its bits.
        let integers = merged(&records[2..3], &BTreeMap::from([("u", Dtype::Int64)]));
        let (found, notes) = written(format, &[records[0].clone(), records[1].clone(), integers]);
        assert!(notes.iter().any(|note| note.contains("u: its type or shape differs")), "{format}: {notes:?}");
        assert_eq!(found["u"].1.get(..2), expected["u"].1.get(..2), "{format}");
        // A message without records ends them.
        let between = [&records[..2], &[file(&[("v", &["x"], &[1], &[9.0])], "")], &records[2..]].concat();
        let (found, _) = written(format, &between);
        assert_eq!((dims(&found, "u"), dims(&found, "u_1")), (vec!["time", "lat"], vec!["time_1", "lat"]), "{format}");
    }
}

/// Writes a file with an unlimited dimension of three records, and returns its message.
fn netcdf_file(path: &std::path::Path) -> Vec<Vec<u8>> {
    let of_time = Value::Array(vec!["time".into()]);
    let mut message = MessageBuilder::new().extra("unlimited", of_time);
    let variables: [Variable<'_>; 3] = [
        ("time", &["time"], &[3], &[0.0, 1.0, 2.0]),
        ("t", &["lat", "time"], &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ("u", &["time", "lat"], &[3, 2], &[1.5, 2.5, 3.5, 4.5, 5.5, 6.5]),
    ];
    for (name, dims, shape, values) in variables {
        let dims = Value::Array(dims.iter().map(|dim| (*dim).into()).collect());
        let object = ObjectBuilder::new(shape, values).unwrap().metadata("name", name).metadata("dimensions", dims);
        message = message.object(object);
    }
    let message = message.encode().unwrap();
    let mut writer = NetcdfWriter::create(path, ToNetcdfOptions::default()).unwrap();
    writer.write(&message, &mut |note| panic!("{note}")).unwrap();
    writer.finish().unwrap();
    vec![message]
}

/// A store with an array for each path, with these dimensions and this shape.
fn store(arrays: &[Stored<'_>]) -> Vec<Vec<u8>> {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("a.zarr");
    let mut writer = ZarrWriter::create(&root, ToZarrOptions::default()).unwrap();
    for (path, dims, shape, first) in arrays {
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
        let values: Vec<f64> = std::iter::successors(Some(*first), |value| Some(value + 1.0)).take(count).collect();
        writer.write(&file(&[(path, dims, shape, &values)], ""), &mut |_| {}).unwrap();
    }
    writer.finish().unwrap();
    let mut bytes = Vec::new();
    zarr::to_tensogram(&root, &ZarrOptions::default(), &mut bytes, &mut |note| panic!("{note}")).unwrap();
    let mut reader = tgm_std::file::MessageReader::new(&bytes[..]);
    let mut messages = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        messages.push(message.as_bytes().to_vec());
    }
    messages
}

#[test]
fn stores_whose_dimensions_have_other_labels_stay_apart() {
    let one = store(&[("t", &["x"], &[2], 1.0), ("x", &["x"], &[2], 5.0)]);
    let other = store(&[("t", &["x"], &[2], 3.0), ("x", &["x"], &[2], 7.0)]);
    for format in FORMATS {
        let (found, _) = written(format, &[one.clone(), other.clone()].concat());
        assert_eq!((dims(&found, "t"), dims(&found, "x")), (vec!["x"], vec!["x"]), "{format}");
        assert_eq!((dims(&found, "t_1"), dims(&found, "x_1")), (vec!["x_1"], vec!["x_1"]), "{format}");
        assert_eq!(found["t_1"].1, [3.0, 4.0]);
    }
}

/// A reader looks for the name of a dimension from the group of a variable upwards.
#[test]
fn variables_in_groups_see_their_own_dimensions() {
    let cases: [&[Stored<'_>]; 3] = [
        &[("t", &["x"], &[4], 0.0), ("g/t", &["x"], &[3], 0.0), ("g/h/t", &["x"], &[4], 0.0)],
        &[("a/v", &["x"], &[3], 0.0), ("a/b/w", &["x"], &[2], 0.0), ("c/u", &["x"], &[2], 0.0)],
        &[
            ("fine/t", &["y", "x"], &[4, 6], 0.0),
            ("coarse/t", &["y", "x"], &[2, 3], 0.0),
            ("fine/sub/q", &["y", "x"], &[2, 3], 0.0),
        ],
    ];
    for arrays in cases {
        let plain: Vec<Vec<u8>> = arrays
            .iter()
            .map(|(path, dims, shape, _)| {
                let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
                file(&[(path, dims, shape, &vec![0.0; count])], "")
            })
            .collect();
        let mut backwards = plain.clone();
        backwards.reverse();
        for (is_of_zarr, messages) in [(true, store(arrays)), (false, plain), (false, backwards)] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("a.nc");
            let mut writer = NetcdfWriter::create(&path, ToNetcdfOptions::default()).unwrap();
            for message in &messages {
                writer.write(message, &mut |_| {}).unwrap();
            }
            writer.finish().unwrap();
            // Netcdf-C resolves names as readers do.
            let header = std::process::Command::new("ncdump").arg("-h").arg(&path).output();
            let Ok(header) = header else { continue };
            let header = String::from_utf8(header.stdout).unwrap();
            // It writes the path of a dimension whose name leads elsewhere.
            assert!(!header.contains("(/") && !header.contains(", /"), "{header}");
            assert!(!is_of_zarr || !header.contains("_1"), "{header}");
        }
    }
}
