//! Files that the library writes, and what they become.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::base::options::DecodeOptions;
use crate::decode::{decode, decode_descriptors};
use crate::file::MessageReader;

fn read(path: &std::path::Path, split: Split) -> (Vec<Vec<u8>>, Vec<String>) {
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
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("g/s: not kept: the variable: its type is text")), "{notes:?}");
    assert!(notes.iter().any(|note| note.contains("g/u: not kept: its packing")), "{notes:?}");
    let (metadata, objects) = decode(&messages[0], &DecodeOptions::default()).unwrap();
    let text = |path: &str| metadata.get(path).and_then(|value| value.as_str().map(str::to_string));
    assert_eq!(text("extra.attributes.title").as_deref(), Some("test"));
    assert_eq!(metadata.get_at(1, "name").unwrap().as_str(), Some("t"));
    assert_eq!(metadata.get_at(1, "dimensions").unwrap().get_index(0).unwrap().as_str(), Some("time"));
    assert_eq!(metadata.get_at(1, "attributes.add_offset").unwrap().as_f64(), Some(10.0));
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
        prop_assert_eq!(objects[0].0.encoding == "simple_packing", notes.is_empty());
        let expected: Vec<u64> = integers.iter().map(|integer| (f64::from(*integer) * scale + offset).to_bits()).collect();
        let found: Vec<u64> = floats(&objects[0].1).into_iter().map(f64::to_bits).collect();
        prop_assert_eq!(found, expected);
    }
}
