//! What reaches NetCDF from other formats, and from older forms: texts, times, groups within groups.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use ciborium::Value;
use tempfile::TempDir;
use tgm_core::descriptor::Dtype;
use tgm_std::{ByteOrder, EncodeOptions};

use super::complex::Character;
use super::*;
use crate::arrays::{Array, Arrays, TIME, time};
use crate::tree::ArrayWriter as _;

/// Writes messages, and returns the notes: with `!` in front of failures.
fn write(path: &Path, messages: &[Vec<u8>]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut report = |note: crate::Note| notes.push(format!("{}{note}", if note.is_failure() { "!" } else { "" }));
    let mut writer = NetcdfWriter::create(path, ToNetcdfOptions::default()).unwrap();
    for message in messages {
        writer.write(message, &mut report).unwrap();
    }
    writer.finish().unwrap();
    notes
}

fn encoded(arrays: Vec<Array<'_>>) -> Vec<u8> {
    Arrays { arrays, ..Arrays::default() }.encode(&EncodeOptions::default()).unwrap()
}

fn read(path: &Path, split: Split) -> (Vec<Vec<u8>>, Vec<String>) {
    let (mut tgm, mut notes) = (Vec::new(), Vec::new());
    let options = NetcdfOptions { split, ..NetcdfOptions::default() };
    to_tensogram(path, &options, &mut tgm, &mut |note| notes.push(note.to_string())).unwrap();
    let (mut reader, mut messages) = (tgm_std::file::MessageReader::new(&tgm[..]), Vec::new());
    while let Some(message) = reader.next_message().unwrap() {
        messages.push(message.as_bytes().to_vec());
    }
    (messages, notes)
}

/// A name or text of a classic file: its length, its bytes, and zeros up to a multiple of four.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.len().next_multiple_of(4) - bytes.len();
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes, &vec![0; zeros]].concat()
}

/// A classic file with names of stations in characters.
fn classic(names: &[&str], len: u32) -> Vec<u8> {
    let number = |number: u32| number.to_be_bytes().to_vec();
    let count = u32::try_from(names.len()).unwrap();
    let text = |name: &str, value: &str| [padded(name.as_bytes()), number(2), padded(value.as_bytes())].concat();
    let attributes = [text("_Encoding", "utf-8"), text("cf_role", "timeseries_id")].concat();
    let mut parts = vec![b"CDF\x01".to_vec(), number(0), number(10), number(2)];
    parts.extend([padded(b"station"), number(count), padded(b"len"), number(len), number(0), number(0)]);
    parts.extend([number(11), number(1), padded(b"name"), number(2), number(0), number(1), number(12), number(2)]);
    parts.extend([attributes, number(2), number((count * len).next_multiple_of(4))]);
    let mut file = parts.concat();
    let start = u32::try_from(file.len()).unwrap() + 4;
    file.extend(start.to_be_bytes());
    for name in names {
        file.extend(name.bytes().chain(std::iter::repeat(0)).take(len as usize));
    }
    file.resize(file.len().next_multiple_of(4), 0);
    file
}

/// The bytes of a variable of characters, and the names of its dimensions with their lengths.
fn characters(path: &Path, name: &str) -> (Vec<u8>, Vec<(String, usize)>) {
    let file = netcdf::open(path).unwrap();
    let variable = file.variable(name).unwrap();
    assert_eq!(variable.vartype(), netcdf::types::NcVariableType::Char);
    let dimensions = variable.dimensions().iter().map(|it| (it.name(), it.len())).collect();
    (variable.get_raw_values(..).unwrap(), dimensions)
}

#[test]
fn characters_come_back_as_they_were() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    // In UTF-8, and in Latin-1, where one text alone tells.
    let utf8 = classic(&["Z\u{fc}rich", "Rom"], 8);
    let mut latin = classic(&["Zurich", "Rom"], 8);
    let place = latin.windows(6).position(|window| window == b"Zurich").unwrap();
    latin[place + 1] = 0xfc;
    for bytes in [utf8, latin] {
        std::fs::write(&path, bytes).unwrap();
        let (messages, notes) = read(&path, Split::File);
        assert!(notes.is_empty(), "{notes:?}");
        assert!(write(&back, &messages).is_empty());
        let dimensions = vec![("station".to_string(), 2), ("len".to_string(), 8)];
        assert_eq!(characters(&back, "name"), (characters(&path, "name").0, dimensions));
        let file = netcdf::open(&back).unwrap();
        let mut names: Vec<String> =
            file.variable("name").unwrap().attributes().map(|attribute| attribute.name().to_string()).collect();
        names.sort_unstable();
        assert_eq!(names, ["_Encoding", "cf_role"]);
    }
}

#[test]
fn characters_along_records_come_back() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("len", 3).unwrap();
    file.add_variable_with_type("name", &["time", "len"], &netcdf::types::NcVariableType::Char)
        .unwrap()
        .put_values(&b"RomUlm".map(Character), (0..2, 0..3))
        .unwrap();
    file.close().unwrap();
    let (messages, notes) = read(&path, Split::File);
    assert!(notes.is_empty(), "{notes:?}");
    assert!(write(&back, &messages).is_empty());
    assert_eq!(characters(&back, "name"), characters(&path, "name"));
    assert!(netcdf::open(&back).unwrap().dimension("time").unwrap().is_unlimited());
}

#[test]
fn characters_that_became_longer_are_strings_which_is_told() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    std::fs::write(&path, classic(&["Bern", "Rom"], 4)).unwrap();
    let (messages, _) = read(&path, Split::File);
    let (mut global, _) = tgm_std::decode_descriptors(&messages[0]).unwrap();
    let Some(Value::Map(texts)) = global.extra.get_mut("texts") else { panic!() };
    let Value::Map(name) = &mut texts[0].1 else { panic!() };
    let values = name.iter_mut().find(|(key, _)| key.as_text() == Some("values")).unwrap();
    values.1 = Value::Array(vec!["Bern-Belp".into(), "Rom".into()]);
    let message = Arrays { metadata: global.extra, ..Arrays::default() };
    let notes = write(&back, &[message.encode(&EncodeOptions::default()).unwrap()]);
    assert!(notes.len() == 1 && notes[0].contains("a text is longer than their dimension"), "{notes:?}");
    let file = netcdf::open(&back).unwrap();
    let variable = file.variable("name").unwrap();
    assert_eq!(variable.get_string(0).unwrap(), "Bern-Belp");
    // With `_Encoding`, xarray takes the variable for characters, and opens no variable of the file.
    let names: Vec<String> = variable.attributes().map(|attribute| attribute.name().to_string()).collect();
    assert_eq!(names, ["cf_role"]);
}

#[test]
fn texts_and_times_of_numpy_are_variables() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let texts = Array::of_texts(vec!["a".into(), "b".into()], &[1, 2]).unwrap().named("t");
    let int64 = |numbers: &[i64]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Array::new(Dtype::Int64, ByteOrder::NATIVE, &[numbers.len() as u64], bytes).unwrap()
    };
    let with = |mut array: Array<'static>, kind: &str, unit: &str, multiple| {
        array.metadata.insert(TIME.into(), time(kind, unit, multiple));
        array
    };
    let dates = with(int64(&[18_262, i64::MIN]).named("d"), "datetime64", "D", 1);
    let weeks = with(int64(&[1]).named("w"), "datetime64", "D", 7);
    let steps = with(int64(&[1]).named("s"), "timedelta64", "h", 1);
    let notes = write(&path, &[encoded(vec![texts, dates, weeks, steps])]);
    assert!(notes.is_empty(), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    assert_eq!(file.variable("t").unwrap().get_string([0, 1]).unwrap(), "b");
    let attribute = |name: &str, key: &str| file.variable(name).unwrap().attribute_value(key).map(Result::unwrap);
    let text = |text: &str| Some(netcdf::AttributeValue::Str(text.into()));
    assert_eq!(attribute("d", "units"), text("days since 1970-01-01"));
    assert_eq!(attribute("d", "_FillValue"), Some(netcdf::AttributeValue::Longlong(i64::MIN)));
    assert_eq!(attribute("d", "numpy.unit"), None);
    assert_eq!((attribute("s", "units"), attribute("s", "dtype")), (text("hours"), text("timedelta64[ns]")));
    assert_eq!((attribute("w", "units"), attribute("w", "numpy.unit")), (None, text("D")));
}

#[test]
fn other_texts_of_one_name_and_lost_objects_are_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let texts = |text: &str| encoded(vec![Array::of_texts(vec![text.into()], &[1]).unwrap().named("t")]);
    // NetCDF has 1,024 dimensions at most.
    let deep = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[1; 1025], vec![0]).unwrap();
    let notes = write(&path, &[texts("a"), texts("a"), texts("b"), encoded(vec![deep])]);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("the name \"t\": it becomes \"t_1\""), "{notes:?}");
    assert!(notes[1].starts_with("!message 3, object 0: ") && notes[1].contains("NC_MAX_DIMS"), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    assert_eq!(file.variable("t_1").unwrap().get_string(0).unwrap(), "b");
}

#[test]
fn nul_within_a_text_is_told_and_all_else_is_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let texts = Array::of_texts(vec!["Oslo\0\0xx".into(), "Rome".into()], &[2]).unwrap().named("name");
    let numbers = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[2], vec![3, 4]).unwrap().named("n");
    let notes = write(&path, &[encoded(vec![texts, numbers])]);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("name: not kept: NUL within 1 of its texts: a space takes its place"), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    let name = file.variable("name").unwrap();
    assert_eq!([0, 1].map(|at| name.get_string(at).unwrap()), ["Oslo  xx", "Rome"]);
    assert_eq!(file.variable("n").unwrap().get_values::<u8, _>(..).unwrap(), [3, 4]);
}

#[test]
fn groups_within_groups_are_made() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let attributes = |title: &str| Value::Map(vec![("title".into(), title.into())]);
    let groups = Value::Map(vec![("a/b/c".into(), attributes("inner")), ("a".into(), attributes("outer"))]);
    let metadata = [("groups".to_string(), groups), ("attributes".to_string(), attributes_of_nan())].into();
    let message = Arrays { metadata, ..Arrays::default() }.encode(&EncodeOptions::default()).unwrap();
    // A file says the same in each of its messages, NaN too.
    let notes = write(&path, &[message.clone(), message]);
    assert!(notes.is_empty(), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    let title = file.group("a/b/c").unwrap().unwrap().attribute("title").unwrap().value().unwrap();
    assert_eq!(title, netcdf::AttributeValue::Str("inner".into()));
}

fn attributes_of_nan() -> Value {
    Value::Map(vec![("nan".into(), Value::Array(vec![f64::NAN.into(), 1.0.into()]))])
}

#[test]
fn variables_without_records_and_lists_without_numbers_stay() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_unlimited_dimension("later").unwrap();
    file.add_variable::<i16>("v", &["time"]).unwrap().put_values(&[1_i16, 2], (0..2,)).unwrap();
    let mut empty = file.add_variable::<f32>("empty", &["later"]).unwrap();
    empty.put_attribute("none", Vec::<f32>::new()).unwrap();
    file.close().unwrap();
    let (messages, notes) = read(&path, Split::Record);
    assert!(notes.is_empty() && messages.len() == 3, "{notes:?}");
    assert!(write(&back, &messages).is_empty());
    let file = netcdf::open(&back).unwrap();
    let found = file.variable("empty").unwrap();
    assert_eq!((found.len(), found.attribute("none").is_some()), (0, true));
    assert_eq!(file.variable("v").unwrap().get_values::<i16, _>(..).unwrap(), [1, 2]);
}
