//! Files that the library writes, and what they become.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use ciborium::Value;
use proptest::prelude::*;
use tempfile::TempDir;
use tgm_core::descriptor::Dtype;
use tgm_std::file::MessageReader;
use tgm_std::{DecodeOptions, EncodeOptions, decode, decode_descriptors};

use super::*;
use crate::Chunks;
use crate::arrays::Arrays;
use crate::tree::ArrayWriter as _;

fn read(path: &Path, split: Split) -> (Vec<Vec<u8>>, Vec<String>) {
    let (mut tgm, mut notes) = (Vec::new(), Vec::new());
    let options = NetcdfOptions { split, ..NetcdfOptions::default() };
    let count = to_tensogram(path, &options, &mut tgm, &mut |note| notes.push(note.to_string())).unwrap();
    let (mut reader, mut messages) = (MessageReader::new(&tgm[..]), Vec::new());
    while let Some(message) = reader.next_message().unwrap() {
        messages.push(message.as_bytes().to_vec());
    }
    assert_eq!(messages.len() as u64, count);
    (messages, notes)
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect()
}

#[test]
fn variables_become_objects_with_dimensions_and_attributes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_attribute("title", "test").unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 3).unwrap();
    let mut x = file.add_variable::<f32>("x", &["x"]).unwrap();
    x.put_values(&[1.0_f32, -9999.0, 3.0], ..).unwrap();
    x.put_attribute("missing_value", -9999.0_f32).unwrap();
    let mut t = file.add_variable::<i16>("t", &["time", "x"]).unwrap();
    t.put_values(&[1_i16, -7, 3, 4, 5, 6], (0..2, 0..3)).unwrap();
    t.put_attribute("scale_factor", 0.25).unwrap();
    t.put_attribute("add_offset", 10.0).unwrap();
    t.put_attribute("missing_value", -7_i16).unwrap();
    let mut group = file.add_group("g").unwrap();
    group.add_attribute("n", vec![1_i32, 2]).unwrap();
    group.add_string_variable("s", &[]).unwrap();
    let mut u = group.add_variable::<u8>("u", &["x"]).unwrap();
    u.put_values(&[0_u8, 128, 255], ..).unwrap();
    u.put_attribute("scale_factor", 0.01).unwrap();
    file.close().unwrap();

    let (messages, notes) = read(&path, Split::File);
    assert_eq!(notes, [""; 0]);
    let (metadata, objects) = decode(&messages[0], &DecodeOptions::default()).unwrap();
    let text = |path: &str| metadata.get(path).and_then(|value| value.as_str().map(str::to_string));
    assert_eq!(text("extra.attributes.title").as_deref(), Some("test"));
    assert_eq!(metadata.get_at(1, "name").unwrap().as_str(), Some("t"));
    assert_eq!(metadata.get_at(1, "dimensions").unwrap().get_index(0).unwrap().as_str(), Some("time"));
    assert!(metadata.get_at(1, "attributes.add_offset").is_none());
    assert_eq!(metadata.get_at(1, "netcdf.packing.attributes.add_offset").unwrap().as_f64(), Some(10.0));
    assert_eq!(metadata.get_at(2, "name").unwrap().as_str(), Some("g/u"));
    assert_eq!(objects[1].0.encoding, "simple_packing");
    let values = floats(&objects[1].1);
    assert!(values[1].is_nan());
    assert_eq!([values[0], values[2], values[5]].map(f64::to_bits), [10.25, 10.75, 11.5].map(f64::to_bits));
    assert_eq!(floats(&objects[2].1), [0.0, 128.0 * 0.01, 255.0 * 0.01]);
    assert!(objects[0].0.masks.is_some());

    let (messages, _) = read(&path, Split::Record);
    assert_eq!(messages.len(), 3);
    let (metadata, objects) = decode(&messages[2], &DecodeOptions::default()).unwrap();
    assert_eq!(
        (metadata.get("extra.record").unwrap().as_u64(), floats(&objects[0].1)),
        (Some(1), vec![11.0, 11.25, 11.5])
    );
    assert_eq!(decode_descriptors(&messages[0]).unwrap().1.len(), 2);
}

/// The messages of a file whose packed integers stay.
fn kept(path: &Path, split: Split) -> Vec<u8> {
    let options = NetcdfOptions { split, keep_packed: true, ..NetcdfOptions::default() };
    let mut tgm = Vec::new();
    to_tensogram(path, &options, &mut tgm, &mut |note| panic!("{note}")).unwrap();
    tgm
}

/// Whether an archive has the stored numbers of a file on request, with the attributes that say what they mean.
fn has_stored_numbers(archive: &Path, file: &Path) {
    let stored = netcdf::open(file).unwrap();
    let options = tgm_dataset::OpenOptions { raw: tgm_dataset::Raw::Everything, ..Default::default() };
    let set = tgm_dataset::open(&[archive], &options).unwrap();
    for name in ["t", "s", "u"] {
        let (found, given) = (set.variable(name).unwrap(), stored.variable(name).unwrap());
        assert_eq!(found.dtype(), Some(if name == "u" { Dtype::Int8 } else { Dtype::Int16 }));
        let mut names: Vec<_> = found.attributes.iter().map(|(name, _)| name.clone()).collect();
        let mut expected: Vec<_> = given.attributes().map(|it| it.name().to_string()).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        let expected = given.get_raw_values(..).unwrap();
        let mut values = vec![0; expected.len()];
        let all: Vec<_> = found.shape.iter().map(|len| tgm_dataset::Indices::all(*len)).collect();
        set.read_into(name, &all, &DecodeOptions::default(), &mut values).unwrap();
        assert!(values == expected, "{name}");
    }
}

#[test]
fn packed_integers_that_are_kept_have_the_same_values_and_lead_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let numbers: Vec<i16> = (0..3000_i16).map(|number| number * 7).collect();
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 1500).unwrap();
    for (name, is_single) in [("t", false), ("s", true)] {
        let mut variable = file.add_variable::<i16>(name, &["time", "x"]).unwrap();
        let put = |variable: &mut netcdf::VariableMut<'_>, name: &str, value: f32| {
            // Both are exact in `float`, and a type decides in which one is calculated.
            if is_single {
                variable.put_attribute(name, value)
            } else {
                variable.put_attribute(name, f64::from(value) / 3.0)
            }
            .unwrap();
        };
        put(&mut variable, "scale_factor", 0.01);
        put(&mut variable, "add_offset", 273.15);
        variable.put_attribute("_FillValue", 21_i16).unwrap();
        variable.put_attribute("valid_range", vec![0_i16, 20_000]).unwrap();
        variable.put_attribute("units", "K").unwrap();
        variable.put_values(&numbers, (0..2, 0..1500)).unwrap();
    }
    let mut u = file.add_variable::<i8>("u", &["x"]).unwrap();
    u.put_values(&[-1_i8; 1500], ..).unwrap();
    u.put_attribute("_Unsigned", "true").unwrap();
    u.put_attribute("scale_factor", 2.5).unwrap();
    file.close().unwrap();
    for split in [Split::File, Split::Record] {
        let (messages, _) = read(&path, split);
        let kept = kept(&path, split);
        assert!(kept.len() < messages.concat().len());
        // Each object has the stored integers, and gives the values.
        let (mut reader, mut all_kept) = (MessageReader::new(&kept[..]), Vec::new());
        let options = DecodeOptions::default();
        for message in &messages {
            let own = reader.next_message().unwrap().unwrap();
            all_kept.push(own.as_bytes().to_vec());
            let stored = Arrays::decode(own.as_bytes(), &options).unwrap();
            let expected = Arrays::decode(message, &options).unwrap();
            for array in &stored.arrays {
                assert!(matches!(array.descriptor.dtype, Dtype::Int16 | Dtype::Int8), "{:?}", array.name());
            }
            for (found, expected) in stored.unpacked().unwrap().arrays.iter().zip(&expected.arrays) {
                assert_eq!(found.descriptor.dtype, expected.descriptor.dtype);
                assert!(found.values == expected.values, "{:?}", found.name());
            }
        }
        // As a dataset they are the same variables.
        let [kept_path, plain_path] =
            [("kept.tgm", kept.clone()), ("plain.tgm", messages.concat())].map(|(name, bytes)| {
                let path = folder.path().join(name);
                std::fs::write(&path, bytes).unwrap();
                path
            });
        let open = |path| tgm_dataset::open(&[path], &tgm_dataset::OpenOptions::default()).unwrap();
        for raw in [&kept_path, &plain_path] {
            has_stored_numbers(raw, &path);
        }
        let (kept_set, plain_set) = (open(kept_path), open(plain_path));
        assert_eq!(kept_set.variables.len(), 3);
        for (found, expected) in kept_set.variables.iter().zip(&plain_set.variables) {
            assert_eq!(
                (&found.name, found.dtype(), &found.attributes),
                (&expected.name, expected.dtype(), &expected.attributes)
            );
            assert!(found.is_packed() && !expected.is_packed());
            let count = usize::try_from(found.shape.iter().product::<u64>()).unwrap();
            let len = count * found.dtype().unwrap().byte_width();
            let [mut one, mut other] = [vec![0_u8; len], vec![0_u8; len]];
            let all: Vec<_> = found.shape.iter().map(|len| tgm_dataset::Indices::all(*len)).collect();
            kept_set.read_into(&found.name, &all, &options, &mut one).unwrap();
            plain_set.read_into(&found.name, &all, &options, &mut other).unwrap();
            assert!(one == other, "{}", found.name);
        }
        // And back.
        let back = folder.path().join("b.nc");
        let notes = write(&back, &all_kept);
        assert_eq!(notes, [""; 0]);
        let (given, found) = (netcdf::open(&path).unwrap(), netcdf::open(&back).unwrap());
        for name in ["t", "s", "u"] {
            let [given, found] = [&given, &found].map(|file| file.variable(name).unwrap());
            assert_eq!(given.get_raw_values(..).unwrap(), found.get_raw_values(..).unwrap());
            for attribute in given.attributes() {
                assert_eq!(
                    attribute.value().unwrap(),
                    found
                        .attribute_value(attribute.name())
                        .unwrap_or_else(|| panic!("{name} {}", attribute.name()))
                        .unwrap()
                );
            }
        }
    }
}

#[test]
fn flags_with_a_scale_of_one_come_back() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    let mut file = netcdf::create(&path).unwrap();
    file.add_dimension("x", 2).unwrap();
    let mut flags = file.add_variable::<i8>("f", &["x"]).unwrap();
    flags.put_attribute("flag_values", vec![0_i8, 1]).unwrap();
    flags.put_attribute("scale_factor", 1.0).unwrap();
    flags.put_values(&[0_i8, 1], ..).unwrap();
    file.close().unwrap();
    let (messages, _) = read(&path, Split::File);
    assert_eq!(write(&back, &messages), [""; 0]);
    let file = netcdf::open(&back).unwrap();
    let names: Vec<_> = file.variable("f").unwrap().attributes().map(|it| it.name().to_string()).collect();
    assert_eq!(names, ["flag_values", "scale_factor"]);
}

/// Zarr and Python do not say which type an attribute had.
#[test]
fn flags_and_limits_without_a_type_have_that_of_the_values() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let attributes: Vec<(Value, Value)> = vec![
        ("flag_values".into(), vec![Value::from(0), 1.into()].into()),
        ("valid_max".into(), 3.into()),
        ("valid_min".into(), Value::from(-300)),
        ("level".into(), 3.into()),
    ];
    let object = tgm_std::ObjectBuilder::new(&[2], &[0_i8, 1]).unwrap().metadata("attributes", Value::Map(attributes));
    let message = tgm_std::MessageBuilder::new().object(object.metadata("name", "f")).encode().unwrap();
    assert_eq!(write(&path, &[message]), [""; 0]);
    let file = netcdf::open(&path).unwrap();
    let value = |name: &str| file.variable("f").unwrap().attribute_value(name).unwrap().unwrap();
    assert_eq!(value("flag_values"), netcdf::AttributeValue::Schars(vec![0, 1]));
    assert_eq!(value("valid_max"), netcdf::AttributeValue::Schar(3));
    // The type of the values does not hold the one, and is not asked of the other.
    assert_eq!([value("valid_min"), value("level")], [-300, 3].map(netcdf::AttributeValue::Int));
}

#[test]
fn what_is_no_file_of_the_format_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    for bytes in [&b""[..], b"CDF\x01", b"\x89HDF\r\n\x1a\n", b"no file"] {
        std::fs::write(&path, bytes).unwrap();
        let done = to_tensogram(&path, &NetcdfOptions::default(), &mut Vec::new(), &mut |_| {});
        assert!(done.unwrap_err().to_string().contains("a.nc"));
    }
    assert!(
        to_tensogram(&folder.path().join("none"), &NetcdfOptions::default(), &mut Vec::new(), &mut |_| {}).is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packed_integers_give_the_values_of_the_convention(
        integers in proptest::collection::vec(any::<i16>(), 1..40), exponent in -30_i32..30, offset in any::<i32>(),
    ) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.nc");
        let (scale, offset) = (2_f64.powi(exponent), f64::from(offset) / 8.0);
        let mut file = netcdf::create(&path).unwrap();
        file.add_dimension("x", integers.len()).unwrap();
        let mut t = file.add_variable::<i16>("t", &["x"]).unwrap();
        t.put_values(&integers, ..).unwrap();
        t.put_attribute("scale_factor", scale).unwrap();
        t.put_attribute("add_offset", offset).unwrap();
        file.close().unwrap();
        let (messages, notes) = read(&path, Split::File);
        let (_, objects) = decode(&messages[0], &DecodeOptions::default()).unwrap();
        prop_assert!(notes.is_empty());
        let expected: Vec<u64> = integers.iter().map(|integer| (f64::from(*integer) * scale + offset).to_bits()).collect();
        let found: Vec<u64> = floats(&objects[0].1).into_iter().map(f64::to_bits).collect();
        prop_assert_eq!(found, expected);
    }
}

/// Writes messages to a file.
fn write(path: &Path, messages: &[Vec<u8>]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut writer = NetcdfWriter::create(path, ToNetcdfOptions::default()).unwrap();
    for message in messages {
        writer.write(message, &mut |note| notes.push(note.to_string())).unwrap();
    }
    writer.finish().unwrap();
    notes
}

/// A file of most things that are kept.
fn various(path: &Path, records: u8) {
    let mut file = netcdf::create(path).unwrap();
    file.add_attribute("title", "test").unwrap();
    file.add_attribute("version", 3_i16).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 3).unwrap();
    let mut x = file.add_variable::<f32>("x", &["x"]).unwrap();
    x.put_attribute("_FillValue", -9999.0_f32).unwrap();
    x.put_values(&[1.0_f32, -9999.0, 3.0], ..).unwrap();
    let mut t = file.add_variable::<i16>("t", &["time", "x"]).unwrap();
    t.put_attribute("_FillValue", -7_i16).unwrap();
    t.put_attribute("scale_factor", 0.25).unwrap();
    t.put_attribute("add_offset", 10.0).unwrap();
    t.put_attribute("flags", vec![1_u8, 2]).unwrap();
    t.put_attribute("names", vec!["a".to_string(), "b".to_string()]).unwrap();
    let integers: Vec<i16> = (0..3 * i16::from(records)).map(|i| if i == 4 { -7 } else { 100 * i - 300 }).collect();
    t.put_values(&integers, (0..records.into(), 0..3)).unwrap();
    let mut when = file.add_variable::<f64>("time", &["time"]).unwrap();
    when.put_values(&(0..records).map(f64::from).collect::<Vec<_>>(), (0..records.into(),)).unwrap();
    let mut group = file.add_group("g").unwrap();
    group.add_attribute("n", vec![1_i32, 2]).unwrap();
    group.add_dimension("x", 2).unwrap();
    let mut u = group.add_variable::<u8>("u", &["x"]).unwrap();
    u.put_attribute("scale_factor", 0.01).unwrap();
    u.put_values(&[0_u8, 255], ..).unwrap();
    // A dimension of the root.
    let mut w = group.add_variable::<u16>("w", &["time"]).unwrap();
    w.put_values(&(0..records).map(u16::from).collect::<Vec<_>>(), (0..records.into(),)).unwrap();
    let mut scalar = group.add_variable::<i64>("s", &[]).unwrap();
    scalar.put_values(&[-5_i64], ()).unwrap();
    file.close().unwrap();
}

/// What readers of the format see: attributes with their types, dimensions, and the stored values.
fn seen(path: &Path) -> Vec<String> {
    let file = netcdf::open(path).unwrap();
    let mut all: Vec<String> = file.attributes().map(|it| format!("{} {:?}", it.name(), it.value())).collect();
    all.extend(file.dimensions().map(|dim| format!("{} {} {}", dim.name(), dim.len(), dim.is_unlimited())));
    let group = file.group("g").unwrap().unwrap();
    all.extend(group.attributes().map(|it| format!("g {} {:?}", it.name(), it.value())));
    for variable in file.variables().chain(group.variables()) {
        let dims = variable.dimensions().iter().map(|dim| (dim.name(), dim.len()));
        let dims: Vec<_> = dims.collect();
        let size = variable.len() * variable.vartype().size();
        let mut bytes = vec![0; size];
        variable.get_raw_values_into(&mut bytes, ..).unwrap();
        all.push(format!("{} {:?} {dims:?} {bytes:?}", variable.name(), variable.vartype()));
        let mut attributes: Vec<String> =
            variable.attributes().map(|it| format!("{} {:?}", it.name(), it.value())).collect();
        attributes.sort();
        all.extend(attributes);
    }
    all
}

#[test]
fn files_come_back_whole_and_by_records() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    for records in [0, 1, 3] {
        various(&path, records);
        for split in [Split::File, Split::Record] {
            let (messages, _) = read(&path, split);
            assert_eq!(write(&back, &messages), [""; 0], "{split:?}");
            if split == Split::File || records > 0 {
                let (mut given, mut found) = (seen(&path), seen(&back));
                // Variables with records come after the others.
                given.sort();
                found.sort();
                assert_eq!(given, found, "{split:?} of {records} records");
            }
        }
    }
}

#[test]
fn records_of_two_files_are_two_variables() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    various(&path, 2);
    let (mut messages, _) = read(&path, Split::Record);
    messages.extend(messages.clone());
    let notes = write(&back, &messages);
    assert!(notes.iter().any(|note| note.contains(r#"the name "t": it becomes "t_1""#)), "{notes:?}");
    let file = netcdf::open(&back).unwrap();
    let [first, second] = ["t", "t_1"].map(|name| file.variable(name).unwrap());
    assert_eq!(first.get_raw_values(..).unwrap(), second.get_raw_values(..).unwrap());
    assert_eq!([first.dimensions()[0].name(), second.dimensions()[0].name()], ["time", "time_1"]);
    // A record that is there already is reported.
    let twice = [messages[1].clone(), messages[2].clone(), messages[2].clone()];
    let notes = write(&folder.path().join("c.nc"), &twice);
    assert!(notes.iter().any(|note| note.contains("t has a record 1 already")), "{notes:?}");
}

#[test]
fn records_have_the_unlimited_dimension_that_other_variables_have_further_in() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("lat", 2).unwrap();
    file.add_variable::<f64>("time", &["time"]).unwrap().put_values(&[0.0, 1.0, 2.0], (0..3,)).unwrap();
    file.add_variable::<f32>("t", &["lat", "time"]).unwrap().put_values(&[1_f32; 6], (0..2, 0..3)).unwrap();
    file.add_variable::<f32>("u", &["time", "lat"]).unwrap().put_values(&[2_f32; 6], (0..3, 0..2)).unwrap();
    file.close().unwrap();
    let (records, _) = read(&path, Split::Record);
    assert_eq!(write(&back, &records), [""; 0]);
    let dims = |name: &str| -> Vec<String> {
        let file = netcdf::open(&back).unwrap();
        file.variable(name).unwrap().dimensions().iter().map(netcdf::Dimension::name).collect()
    };
    assert_eq!([dims("t"), dims("u")], [["lat", "time"], ["time", "lat"]]);
    assert_eq!(dims("time"), ["time"]);
    // Another file has its own, whether it is whole or in records, and whichever comes first.
    let (whole, _) = read(&path, Split::File);
    write(&back, &[records.clone(), records.clone()].concat());
    assert_eq!([dims("t_1"), dims("u_1")], [["lat", "time_1"], ["time_1", "lat"]]);
    assert_eq!(dims("time_1"), ["time_1"]);
    write(&back, &[whole.clone(), records.clone()].concat());
    assert_eq!((dims("u_1"), dims("time_1")), (vec!["time_1".into(), "lat".into()], vec!["time_1".to_string()]));
    // Records alone, whose beginning is not there.
    write(&back, &[whole, records.get(1..).unwrap().to_vec()].concat());
    assert_eq!((dims("u"), dims("u_1")), (vec!["time".into(), "lat".into()], vec!["time_1".to_string(), "lat".into()]));
}

#[test]
fn values_that_no_longer_fit_their_packing_are_stored() {
    let folder = TempDir::new().unwrap();
    let (path, back) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
    various(&path, 1);
    let (messages, _) = read(&path, Split::File);
    let (mut global, mut objects) = decode(&messages[0], &DecodeOptions::default()).unwrap();
    let place = global.base.iter().position(|entry| entry["name"].as_text() == Some("t")).unwrap();
    let (descriptor, values) = &mut objects[place];
    *descriptor = tgm_std::DataObjectDescriptor::new(descriptor.dtype, descriptor.byte_order, &[1, 3]);
    *values = [0.3_f64, f64::NAN, 5.0].into_iter().flat_map(f64::to_ne_bytes).collect();
    // The encoder writes these anew.
    global.reserved.clear();
    global.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
    let pairs: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, values.as_slice())).collect();
    let options = EncodeOptions { allow_nan: true, ..Default::default() };
    let message = tgm_std::encode(&global, &pairs, &options).unwrap();
    let notes = write(&back, &[message]);
    assert!(notes.iter().any(|note| note.contains("its packing: the values are stored")), "{notes:?}");
    let file = netcdf::open(&back).unwrap();
    let t = file.variable("t").unwrap();
    let values: Vec<f64> = t.get_values(..).unwrap();
    assert_eq!(format!("{values:?}"), "[0.3, NaN, 5.0]");
    assert!(t.attribute("scale_factor").is_none() && t.attribute("_FillValue").is_none());
    assert!(t.attribute("names").is_some());
}

#[test]
fn objects_of_other_messages_become_variables() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mars = std::fs::read(data.join("metadata/mars.tgm")).unwrap();
    let mut types: Vec<Vec<u8>> = std::fs::read_dir(data.join("dtypes"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "tgm"))
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    types.push(mars);
    let notes = write(&path, &types);
    assert!(!notes.iter().any(|note| note.starts_with('!')), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    let is_pair = |name: &str| file.types().unwrap().any(|kind| format!("{kind:?}").contains(name));
    assert!(is_pair("_PFNC_FLOAT_COMPLEX_TYPE") && is_pair("_PFNC_DOUBLE_COMPLEX_TYPE"));
    let two_metres = file.variable("2t").unwrap();
    assert!(matches!(two_metres.attribute_value("mars.param").unwrap().unwrap(),
        netcdf::AttributeValue::Str(text) if text == "2t"));
    assert!(file.variables().count() > 8);
}

#[cfg(feature = "grib")]
#[test]
fn fields_from_grib_have_their_grids() {
    use crate::grib2::{GribOptions, to_tensogram};
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data-grib");
    let converted =
        |name: &str| to_tensogram(&std::fs::read(data.join(name)).unwrap(), &GribOptions::default()).unwrap().message;
    let names = ["mercator.grib2", "mercator.grib2", "reduced_gg_pl_32.grib2"];
    let notes = write(&path, &names.map(converted));
    assert!(notes.iter().all(|note| note.contains("grib.sections") || note.contains("becomes")), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    let dims = |name: &str| -> Vec<String> {
        file.variable(name).unwrap().dimensions().iter().map(netcdf::Dimension::name).collect()
    };
    assert_eq!((dims("t"), dims("t_1")), (dims("t_1"), vec!["latitude".to_string(), "longitude".to_string()]));
    let latitudes: Vec<f64> = file.variable("latitude").unwrap().get_values(..).unwrap();
    assert_eq!((latitudes.len(), latitudes[0]), (9, -19.0));
    let reduced =
        file.variables().find(|variable| variable.dimensions().iter().any(|dim| dim.name() == "point")).unwrap();
    assert!(matches!(file.variables().find(|it| it.attribute("coordinates").is_some()).unwrap()
        .attribute_value("coordinates").unwrap().unwrap(),
        netcdf::AttributeValue::Str(text) if text == "latitude_1 longitude_1"));
    assert_eq!(reduced.len(), 6114);
    assert!(file.variable("t").unwrap().attribute("units").is_some());
}

#[cfg(feature = "grib")]
#[test]
fn coordinates_of_the_object_stay_and_those_of_its_grid_are_told() {
    use ciborium::Value;

    use crate::grib2::{GribOptions, to_tensogram};

    let field = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data-grib/reduced_gg_pl_32.grib2");
    let message = to_tensogram(&std::fs::read(field).unwrap(), &GribOptions::default()).unwrap().message;
    let (mut global, objects) = decode(&message, &DecodeOptions::default()).unwrap();
    let coordinates = (Value::Text("coordinates".into()), Value::Text("mine".into()));
    global.reserved.clear();
    global.base[0].remove("_reserved_");
    global.base[0].insert("attributes".into(), Value::Map(vec![coordinates]));
    let objects: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, &values[..])).collect();
    let message = tgm_std::encode(&global, &objects, &EncodeOptions::default()).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let notes = write(&path, &[message]);
    let told = "attribute coordinates \"latitude longitude\": there is one of this name already";
    assert_eq!(notes.iter().filter(|note| note.contains(told)).count(), 1, "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    let found = file.variables().find_map(|variable| variable.attribute_value("coordinates")).unwrap().unwrap();
    assert!(matches!(&found, netcdf::AttributeValue::Str(text) if text == "mine"), "{found:?}");
}

#[test]
fn digests_of_metadata_count_too_when_they_are_asked_for() {
    let object = tgm_std::ObjectBuilder::new(&[3], &[1.0_f32, 2.0, 3.0]).unwrap().metadata("name", "wind");
    let mut message = tgm_std::MessageBuilder::new().object(object).encode().unwrap();
    let folder = TempDir::new().unwrap();
    let write = |name: &str, message: &[u8]| {
        let decode = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
        let options = ToNetcdfOptions { decode, ..ToNetcdfOptions::default() };
        NetcdfWriter::create(&folder.path().join(name), options).unwrap().write(message, &mut |_| {})
    };
    write("intact", &message).unwrap();
    let place = message.windows(4).position(|window| window == b"wind").unwrap();
    message[place] ^= 1;
    let error = write("damaged", &message).unwrap_err();
    assert!(matches!(error, TensogramError::HashMismatch { .. }), "{error}");
}

/// Attributes that were read from a file and keys of the object may have one name.
#[test]
fn the_first_attribute_of_a_name_is_kept_and_the_others_are_told() {
    let object = tgm_std::ObjectBuilder::new(&[3], &[1.0_f32, 2.0, 3.0]).unwrap().metadata("name", "t");
    let object = object.metadata("attributes.units", "K").metadata("units", "degC").metadata("a/b", 1);
    let message = tgm_std::MessageBuilder::new().object(object).encode().unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let notes = write(&path, &[message]);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("attribute units: there is one of this name already"), "{notes:?}");
    let file = netcdf::open(&path).unwrap();
    let units = file.variable("t").unwrap().attribute_value("units").unwrap().unwrap();
    assert!(matches!(&units, netcdf::AttributeValue::Str(text) if text == "K"), "{units:?}");
}

/// A file with a packed variable of 5 × 4 in chunks of 2 × 3, and its message with an object for each chunk.
fn in_pieces(folder: &TempDir) -> (std::path::PathBuf, Vec<u8>, Vec<String>) {
    let path = folder.path().join("a.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_dimension("y", 5).unwrap();
    file.add_dimension("x", 4).unwrap();
    let mut t = file.add_variable::<i16>("t", &["y", "x"]).unwrap();
    t.set_chunking(&[2, 3]).unwrap();
    t.put_attribute("scale_factor", 0.5).unwrap();
    t.put_attribute("units", "K").unwrap();
    let rows: Vec<i16> = (0..20).map(|number| if number < 18 { number } else { i16::MIN + 1 }).collect();
    t.put_values(&rows, ..).unwrap();
    file.close().unwrap();
    let (mut message, mut notes) = (Vec::new(), Vec::new());
    let options = NetcdfOptions { chunks: Chunks::Keep, ..NetcdfOptions::default() };
    to_tensogram(&path, &options, &mut message, &mut |note| notes.push(note.to_string())).unwrap();
    (path, message, notes)
}

fn stored(path: &Path) -> (Vec<f64>, String) {
    let file = netcdf::open(path).unwrap();
    let t = file.variable("t").unwrap();
    (t.get_values::<f64, _>(..).unwrap(), format!("{:?}", t.vartype()))
}

#[test]
fn pieces_of_variables_come_back_as_one() {
    let folder = TempDir::new().unwrap();
    let (path, message, notes) = in_pieces(&folder);
    let shapes: Vec<_> = decode_descriptors(&message).unwrap().1.into_iter().map(|it| it.shape).collect();
    assert_eq!(shapes, [[2, 3], [2, 1], [2, 3], [2, 1], [1, 3], [1, 1]]);
    // Told once, of the variable and not of each piece.
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("2 cells hold the number"), "{notes:?}");
    let back = folder.path().join("back.nc");
    let write = |message: &[u8]| {
        let mut writer = NetcdfWriter::create(&back, ToNetcdfOptions::default()).unwrap();
        let mut notes = Vec::new();
        writer.write(message, &mut |note| notes.push(note.to_string())).unwrap();
        writer.finish().unwrap();
        notes
    };
    assert_eq!(write(&message), [""; 0]);
    assert_eq!(stored(&back), stored(&path));

    let tgm = folder.path().join("a.tgm");
    std::fs::write(&tgm, &message).unwrap();
    let dataset = tgm_dataset::open(&[&tgm], &tgm_dataset::OpenOptions::default()).unwrap();
    let t = dataset.variable("t").unwrap();
    assert_eq!((&t.shape[..], &t.dims[..]), (&[5, 4][..], &["y".to_string(), "x".to_string()][..]));
    let all = [tgm_dataset::Indices::List((0..5).collect()), tgm_dataset::Indices::List((0..4).collect())];
    assert_eq!(
        dataset.read::<f64>("t", &all).unwrap()[..18],
        stored(&path).0[..18].iter().map(|it| it / 2.0).collect::<Vec<_>>()
    );

    // A value that packed integers cannot be, in one piece: all are numbers then.
    let mut arrays = Arrays::decode(&message, &DecodeOptions::default()).unwrap();
    assert_eq!(arrays.clone().whole().unwrap().arrays[0].descriptor.shape, [5, 4]);
    arrays.arrays[2].values.to_mut()[..8].copy_from_slice(&0.123_f64.to_ne_bytes());
    let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let notes = write(&arrays.encode(&options).unwrap());
    assert!(notes[0].contains("its packing: the values are stored"), "{notes:?}");
    let (values, kind) = stored(&back);
    assert_eq!((values[8], values[0], values[17], kind.as_str()), (0.123, 0.0, 8.5, "Float(F64)"));

    // Without one of them there is no whole array.
    arrays.arrays.remove(4);
    let whole = arrays.whole().unwrap();
    assert!(whole.arrays.len() == 5 && whole.not_kept.len() == 1, "{:?}", whole.not_kept);
    assert_eq!(write(&whole.encode(&options).unwrap()).len(), 10);
}

/// The stages of the first piece serve the others, on any number of threads.
#[test]
fn pieces_of_a_variable_have_the_stages_of_the_first() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_dimension("y", 9).unwrap();
    file.add_dimension("x", 4096).unwrap();
    let mut t = file.add_variable::<i32>("t", &["y", "x"]).unwrap();
    t.set_chunking(&[1, 4096]).unwrap();
    t.put_attribute("scale_factor", 0.0016).unwrap();
    t.put_attribute("add_offset", 265.0).unwrap();
    // A rough slope, which suits szip, and then 512 numbers that come again and again, which suit zstd.
    let mixed = |at: i32| {
        let bits = at.cast_unsigned().wrapping_mul(0x9e37_79b9);
        let bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
        ((bits ^ bits >> 13) >> 2).cast_signed()
    };
    let number = |at: i32| if at < 4096 { 1000 * at + mixed(at) % 1024 } else { mixed(at % 512) };
    t.put_values(&(0..9 * 4096).map(number).collect::<Vec<i32>>(), ..).unwrap();
    file.close().unwrap();
    let stages = |chunks, threads| {
        let options = NetcdfOptions { chunks, threads, keep_packed: true, ..NetcdfOptions::default() };
        let mut message = Vec::new();
        to_tensogram(&path, &options, &mut message, &mut |note| panic!("{note}")).unwrap();
        let described = decode_descriptors(&message).unwrap().1;
        described.into_iter().map(|it| it.compression).collect::<Vec<_>>()
    };
    let pieces = stages(Chunks::Keep, 1);
    assert!(pieces.len() == 9 && pieces.iter().all(|piece| *piece == pieces[0]), "{pieces:?}");
    assert_ne!(pieces[0], stages(Chunks::Join, 1)[0]);
    assert_eq!(pieces, stages(Chunks::Keep, 3));
}
