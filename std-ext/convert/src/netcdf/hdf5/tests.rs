//! What becomes of each kind of thing that HDF5 knows.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::path::PathBuf;

use ciborium::Value;
use hdf5_metno::Dataset;
use hdf5_metno::plist::dataset_create::DatasetCreateBuilder;
use hdf5_metno::types::FixedAscii;
use tempfile::TempDir;
use tgm_core::descriptor::Dtype;
use tgm_std::{DataObjectDescriptor, DecodeOptions, GlobalMetadata, decode};

use super::super::{NetcdfOptions, to_tensogram};
use super::*;
use crate::Chunks;

/// Metadata, objects, and what was said: of failures and of others.
struct Converted {
    global: GlobalMetadata,
    objects: Vec<(DataObjectDescriptor, Vec<u8>)>,
    failures: Vec<String>,
    notes: Vec<String>,
}

fn convert(path: &Path) -> Converted {
    let (mut message, mut failures, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut report =
        |note: Note| if note.is_failure() { failures.push(note.to_string()) } else { notes.push(note.to_string()) };
    to_tensogram(path, &NetcdfOptions::default(), &mut message, &mut report).unwrap();
    let (global, objects) = decode(&message, &DecodeOptions::default()).unwrap();
    Converted { global, objects, failures, notes }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data-hdf5").join(name)
}

impl Converted {
    fn object(&self, name: &str) -> (Dtype, &[u8]) {
        let is_named = |entry: &BTreeMap<String, Value>| entry["name"].as_text() == Some(name);
        let place = self.global.base.iter().position(is_named).unwrap();
        (self.objects[place].0.dtype, &self.objects[place].1)
    }

    fn names(&self) -> Vec<&str> {
        self.global.base.iter().map(|entry| entry["name"].as_text().unwrap()).collect()
    }
}

#[test]
fn each_kind_of_thing_is_kept_or_told() {
    let found = convert(&data("kinds.h5"));
    let mut names = found.names();
    names.sort_unstable();
    let expected = [
        "big",
        "bool",
        "complex128",
        "complex64",
        "compound.a",
        "compound.b",
        "empty_shape",
        "enum",
        "float16",
        "g/v",
        "scalar",
        "v",
        "x",
    ];
    assert_eq!(names, expected);
    assert_eq!(found.object("bool"), (Dtype::Bitmask, &[0b1010_0000][..]));
    assert_eq!(found.object("complex64").0, Dtype::Complex64);
    let complex = [1.0_f64, 2.0, 3.0, -4.0].map(f64::to_ne_bytes).concat();
    assert_eq!(found.object("complex128"), (Dtype::Complex128, &complex[..]));
    assert_eq!(found.object("float16").0, Dtype::Float16);
    assert_eq!(found.object("big").1, [1_i32.to_ne_bytes(), 2_i32.to_ne_bytes()].concat());
    let get = |path: &str| found.global.get_value(path).map(|value| format!("{value:?}"));
    let entry = |name: &str| found.global.base.iter().find(|entry| entry["name"].as_text() == Some(name)).unwrap();
    let of_enum = entry("enum")["netcdf"].as_map().unwrap();
    assert_eq!(format!("{of_enum:?}").matches("low").count(), 1);
    assert!(get("extra.texts.text.values").unwrap().contains("hello"));
    assert!(get("extra.texts.utf8.values").unwrap().contains("ä"));
    assert_eq!(get("extra.links.soft").unwrap(), r#"Text("v")"#);
    assert!(found.global.extra["groups"].as_map().unwrap().iter().any(|(key, _)| key.as_text() == Some("g/empty")));
    let attributes = entry("v")["attributes"].as_map().unwrap();
    let mut attributes: Vec<&str> = attributes.iter().map(|(key, _)| key.as_text().unwrap()).collect();
    attributes.sort_unstable();
    assert_eq!(attributes, ["bool", "bytes", "empty", "float16", "list", "text", "texts"]);
    let place = |note: &String| note.split(':').next().unwrap().to_string();
    let failed: Vec<String> = found.failures.iter().map(place).collect();
    let mut told: Vec<String> = found.notes.iter().filter(|note| !note.contains("attribute")).map(place).collect();
    told.sort_unstable();
    assert_eq!(failed, ["array", "longdouble", "opaque", "ragged", "reference"]);
    assert_eq!(told, ["dangling", "null", "type"]);
    let of_attributes = found.notes.iter().filter(|note| note.contains("v: not kept: attribute")).count();
    assert_eq!(of_attributes, 5, "{:?}", found.notes);
}

/// Fields at odd places, of any numbers, within others, in big-endian order, and beside what is not kept.
#[test]
fn fields_of_compounds_are_objects() {
    use hdf5_metno::types::{FixedAscii, VarLenArray};

    #[derive(Clone, Copy, hdf5_metno::H5Type)]
    #[repr(C)]
    struct Place {
        x: f32,
        y: f64,
    }
    #[derive(hdf5_metno::H5Type)]
    #[repr(C)]
    struct Row {
        id: u8,
        place: Place,
        is_sea: bool,
        name: FixedAscii<4>,
        list: VarLenArray<i32>,
        value: num_complex::Complex64,
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    let row = |id: u8| Row {
        id,
        place: Place { x: f32::from(id) / 2.0, y: -f64::from(id) },
        is_sea: id == 2,
        name: FixedAscii::from_ascii("a").unwrap(),
        list: VarLenArray::from_slice(&[1]),
        value: num_complex::Complex64::new(f64::from(id), 0.5),
    };
    file.new_dataset_builder().with_data(&[row(1), row(2), row(3)]).create("t").unwrap();
    file.close().unwrap();
    let found = convert(&path);
    assert_eq!(found.names(), ["t.id", "t.place.x", "t.place.y", "t.is_sea", "t.value"]);
    assert_eq!(found.object("t.id"), (Dtype::Uint8, &[1, 2, 3][..]));
    assert_eq!(found.object("t.place.x").1, [0.5_f32, 1.0, 1.5].map(f32::to_ne_bytes).concat());
    assert_eq!(found.object("t.place.y").1, [-1.0_f64, -2.0, -3.0].map(f64::to_ne_bytes).concat());
    assert_eq!(found.object("t.is_sea"), (Dtype::Bitmask, &[0b0100_0000][..]));
    assert_eq!(found.object("t.value").1, [1.0_f64, 0.5, 2.0, 0.5, 3.0, 0.5].map(f64::to_ne_bytes).concat());
    assert_eq!(found.global.get_value("netcdf.compound").and_then(Value::as_text), Some("t"));
    assert_eq!(found.failures.len(), 2, "{:?}", found.failures);
    assert!(found.failures[0].starts_with("t.name: ") && found.failures[1].starts_with("t.list: "));
}

/// h5py compresses by it if it is asked for `compression="lzf"`.
#[test]
fn values_that_lzf_compressed_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.h5");
    let values: Vec<f64> = (0..1000).map(f64::from).collect();
    let file = File::create(&path).unwrap();
    let builder = file.new_dataset_builder().with_data(&values);
    builder.chunk(100).shuffle().lzf().fletcher32().create("v").unwrap();
    assert!(file.dataset("v").unwrap().storage_size() < 4000);
    file.close().unwrap();
    let found = convert(&path);
    assert_eq!(found.object("v").1, values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>());
}

#[test]
fn circles_end() {
    let found = convert(&data("cycle.h5"));
    assert_eq!(found.names(), ["v"]);
    assert_eq!(found.failures.len(), 1);
    assert!(found.failures[0].starts_with("g/up: ") && found.failures[0].contains("leads back to the root"));
}

#[test]
fn what_leads_out_of_the_file_is_told_and_not_read() {
    let folder = TempDir::new().unwrap();
    let (path, other) = (folder.path().join("a.h5"), folder.path().join("other.h5"));
    let file = File::create(&other).unwrap();
    file.new_dataset_builder().with_data(&[42.0_f64; 4]).create("v").unwrap();
    file.close().unwrap();
    std::fs::write(folder.path().join("raw"), [0x5a; 32]).unwrap();
    let file = File::create(&path).unwrap();
    file.new_dataset_builder().with_data(&[1.0_f64, 2.0]).create("v").unwrap();
    let (raw, other) = (folder.path().join("raw"), other.display().to_string());
    file.new_dataset::<f64>().shape(4).external(raw.to_str().unwrap(), 0, 32).create("raw").unwrap();
    let list = DatasetCreateBuilder::new().virtual_map(&other, "v", 4, .., 4, ..).finish().unwrap();
    file.new_dataset::<f64>().shape(4).set_dcpl(&list).create("virtual").unwrap();
    file.link_external(&other, "/v", "external").unwrap();
    file.link_soft("/external", "soft").unwrap();
    file.close().unwrap();
    let found = convert(&path);
    assert_eq!(found.names(), ["v"]);
    let mut failed: Vec<&str> = found.failures.iter().map(|failure| failure.split(':').next().unwrap()).collect();
    failed.sort_unstable();
    assert_eq!(failed, ["external", "raw", "soft", "virtual"], "{:?}", found.failures);
}

#[test]
fn a_dataset_that_is_shorter_than_its_unlimited_dimension_is_filled() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_variable::<f64>("long", &["time"]).unwrap().put_values(&[1.0_f64, 2.0, 3.0], (0..3,)).unwrap();
    let mut short = file.add_variable::<i16>("short", &["time"]).unwrap();
    short.put_attribute("_FillValue", -1_i16).unwrap();
    short.put_values(&[7_i16], (0..1,)).unwrap();
    file.close().unwrap();
    let found = convert(&path);
    assert_eq!(found.object("short").1, [7_i16, -1, -1].map(i16::to_ne_bytes).concat());
    let mut records = Vec::new();
    let options = NetcdfOptions { split: super::super::Split::Record, ..NetcdfOptions::default() };
    assert_eq!(to_tensogram(&path, &options, &mut records, &mut |_| {}).unwrap(), 4);
}

/// Each has its values, and dimensions without names.
#[test]
fn scales_that_cannot_be_read_are_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    let add = |name: &str| {
        let added = file.new_dataset::<f64>().shape(2).create(name).unwrap();
        added.write_raw(&[1.0, 2.0]).unwrap();
        added
    };
    let put = |added: &Dataset, name: &str, numbers: &[i32]| {
        added.new_attr::<i32>().shape(numbers.len()).create(name).unwrap().write_raw(numbers).unwrap();
    };
    put(&add("list"), "DIMENSION_LIST", &[1]);
    put(&add("numbers"), "_Netcdf4Coordinates", &[0, 1]);
    add("good");
    let scale = add("scale");
    let class = FixedAscii::<16>::from_ascii(b"DIMENSION_SCALE").unwrap();
    scale.new_attr::<FixedAscii<16>>().create("CLASS").unwrap().write_scalar(&class).unwrap();
    put(&scale, "_Netcdf4Dimid", &[0, 1]);
    file.close().unwrap();
    let found = convert(&path);
    let mut failed: Vec<&str> = found.failures.iter().map(|failure| failure.split(':').next().unwrap()).collect();
    failed.sort_unstable();
    assert_eq!(failed, ["list", "numbers", "scale"], "{:?}", found.failures);
    assert!(found.failures.iter().any(|it| it.ends_with("_Netcdf4Coordinates has 2 values, not 1")));
    assert_eq!(found.names().len(), 4);
}

/// Characters are bytes: two of them make one that is not ASCII, as the classic form has it too.
#[test]
fn characters_beyond_ascii_and_texts_that_are_shorter_than_their_dimension_are_whole() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_variable::<f64>("long", &["time"]).unwrap().put_values(&[1.0_f64, 2.0, 3.0], (0..3,)).unwrap();
    let mut short = file.add_string_variable("short", &["time"]).unwrap();
    short.put_string("one", 0).unwrap();
    file.close().unwrap();
    let file = File::append(&path).unwrap();
    // The crate writes ASCII alone, so other bytes stand in.
    let (written, wanted) = (b"Z\x01\x02rich\0\x03\x04rsted\0", "Zürich\0Ørsted\0".as_bytes());
    let bytes: Vec<_> = written.iter().map(|byte| FixedAscii::<1>::from_ascii(&[*byte]).unwrap_or_default()).collect();
    file.new_dataset::<FixedAscii<1>>().shape((2, 8)).create("names").unwrap().write_raw(&bytes).unwrap();
    file.close().unwrap();
    let mut stored = std::fs::read(&path).unwrap();
    let at = stored.windows(written.len()).position(|bytes| bytes == written).unwrap();
    stored[at..at + written.len()].copy_from_slice(wanted);
    std::fs::write(&path, stored).unwrap();
    let found = convert(&path);
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    let texts = |name: &str| {
        let values = found.global.get_value(&format!("extra.texts.{name}.values")).unwrap().as_array().unwrap();
        values.iter().map(|text| text.as_text().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(texts("names"), ["Zürich", "Ørsted"]);
    assert_eq!(texts("short"), ["one", "", ""]);
}

/// A dimension takes no bytes in the file, however long it says that it is.
#[test]
fn texts_along_a_dimension_that_claims_to_be_long_are_not_kept() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.nc");
    let mut file = netcdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    let mut long = file.add_variable::<i8>("long", &["time"]).unwrap();
    long.set_chunking(&[1 << 20]).unwrap();
    long.put_values(&[1_i8], (1_usize << 40..(1 << 40) + 1,)).unwrap();
    file.add_string_variable("short", &["time"]).unwrap().put_string("one", 0).unwrap();
    file.close().unwrap();
    let found = convert(&path);
    assert!(found.failures.iter().any(|failure| failure.starts_with("short: ")), "{:?}", found.failures);
}

/// Variables that were never written take no bytes in the file, and together no more values than the limits allow.
#[test]
fn variables_that_were_never_written_share_the_limits() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.h5");
    let file = File::create(&path).unwrap();
    for number in 0..9 {
        file.new_dataset::<f64>().shape(1 << 10).chunk(1 << 8).create(format!("v{number}").as_str()).unwrap();
    }
    file.close().unwrap();
    // Four of them and a half.
    let limits = DecodeLimits { free_bytes: 9 << 12, max_expansion: 0, ..DecodeLimits::default() };
    for (split, chunks, each) in [
        (super::super::Split::File, Chunks::Fit, 1),
        (super::super::Split::Record, Chunks::Fit, 1),
        (super::super::Split::File, Chunks::Keep, 4),
    ] {
        let options = NetcdfOptions { split, chunks, limits, ..NetcdfOptions::default() };
        let (mut message, mut failures) = (Vec::new(), Vec::new());
        to_tensogram(&path, &options, &mut message, &mut |note| failures.push(note.to_string())).unwrap();
        let (_, objects) = decode(&message, &DecodeOptions::default()).unwrap();
        // All pieces of a variable are there, or none and one error.
        assert_eq!((objects.len(), failures.len()), (4 * each, 5), "{failures:?}");
        assert!(failures[0].starts_with("v4: ") && failures[0].contains("the variables so far"), "{failures:?}");
    }
}
