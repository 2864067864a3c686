//! Arrays of texts, of all forms and with filters, there and back.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use ciborium::Value;
use serde_json::json;
use tempfile::TempDir;
use tgm_std::decode_descriptors;

use super::kinds_tests::{of_version_2, of_version_3, read, store};
use super::*;
use crate::Chunks;
use crate::texts::Texts;
use crate::tree::ArrayWriter as _;
use tgm_dataset::zarr_form::{TEXTS as VLEN, joined};

/// The texts of messages by name, and their shapes.
fn found(messages: &[Vec<u8>]) -> Vec<(String, Vec<String>, Vec<u64>)> {
    let of = |message: &Vec<u8>| {
        let (global, objects) = decode_descriptors(message).unwrap();
        assert!(objects.is_empty(), "texts are metadata");
        let (name, texts) = Texts::of_message(&global).next().unwrap();
        let texts = texts.unwrap();
        let values = texts.values.iter().map(ToString::to_string).collect();
        (name.unwrap().to_string(), values, texts.shape)
    };
    messages.iter().map(of).collect()
}

fn wide(text: &str, len: usize, to_bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let characters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(len);
    characters.flat_map(to_bytes).collect()
}

/// A description of version 3 with this data type and these codecs.
fn described(data_type: &serde_json::Value, shape: &[u64], chunks: &[u64], codecs: &serde_json::Value) -> Vec<u8> {
    let mut json: serde_json::Value = serde_json::from_slice(&of_version_3("int8", shape, chunks, "")).unwrap();
    json["data_type"] = data_type.clone();
    json["codecs"] = codecs.clone();
    json["fill_value"] = "".into();
    json.to_string().into_bytes()
}

#[test]
fn texts_of_each_form_return() {
    let utf32 = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}});
    let little = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let turned = json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": VLEN}, {"name": "zstd",
        "configuration": {"level": 1, "checksum": false}}]);
    let packed = |texts: &[&str]| bounded::Bounded::Zstd(1).compress(&joined(texts).unwrap()).unwrap();
    let folder = store(&[
        (".zgroup", br#"{"zarr_format":2}"#),
        (".zattrs", br#"{"title":"all"}"#),
        ("a/.zarray", &of_version_2(">U3", &[3], &[2], &json!({"fill_value": ""}))),
        ("a/.zattrs", br#"{"_ARRAY_DIMENSIONS":["station"],"long_name":"n"}"#),
        ("a/0", &[wide("Rom", 3, u32::to_be_bytes), wide("\u{e9}", 3, u32::to_be_bytes)].concat()),
        ("b/.zarray", &of_version_2("|S2", &[2], &[2], &json!({"fill_value": ""}))),
        ("b/0", b"ab\xc3\xa9"),
        ("c/.zarray", &of_version_2("|O", &[3], &[2], &json!({"fill_value": "", "filters": [{"id": "vlen-utf8"}]}))),
        ("c/0", &joined(&["long", ""]).unwrap()),
        ("d/zarr.json", &described(&json!("string"), &[2, 3], &[2, 2], &turned)),
        ("d/c/0/0", &packed(&["00", "10", "01", "11"])),
        ("d/c/0/1", &packed(&["02", "12", "beyond", "beyond"])),
        ("e/zarr.json", &described(&utf32, &[], &[], &little)),
        ("e/c", &wide("xy", 2, u32::to_le_bytes)),
    ]);
    let (messages, notes) = read(folder.path(), Chunks::Fit);
    assert!(notes.is_empty(), "{notes:?}");
    let all = found(&messages);
    let expected: [(&str, &[&str], &[u64]); 5] = [
        ("a", &["Rom", "\u{e9}", ""], &[3]),
        ("b", &["ab", "\u{e9}"], &[2]),
        ("c", &["long", "", ""], &[3]),
        ("d", &["00", "01", "02", "10", "11", "12"], &[2, 3]),
        ("e", &["xy"], &[]),
    ];
    assert_eq!(all.len(), expected.len());
    for ((name, values, shape), (wanted, texts, dims)) in all.iter().zip(expected) {
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        assert_eq!((name.as_str(), values, shape.as_slice()), (wanted, &texts, dims));
    }
    let (global, _) = decode_descriptors(&messages[0]).unwrap();
    assert_eq!(global.get_value("extra.texts.a.attributes.long_name"), Some(&Value::from("n")));
    assert_eq!(global.get_value("extra.texts.a.dimensions"), Some(&Value::Array(vec!["station".into()])));
    assert_eq!(global.get_value("extra.attributes.title"), Some(&Value::from("all")));
    // As version 3, written once although each message may repeat the same texts.
    let back = TempDir::new().unwrap();
    let mut writer = ZarrWriter::create(&back.path().join("z"), ToZarrOptions::default()).unwrap();
    for message in messages.iter().chain(&messages) {
        writer.write(message, &mut |note| panic!("{note}")).unwrap();
    }
    writer.finish().unwrap();
    let (again, notes) = read(&back.path().join("z"), Chunks::Fit);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(found(&again), all);
}

#[test]
fn texts_that_cannot_be_read_are_errors() {
    let vlen = json!([{"name": VLEN}]);
    let zstd = json!([{"name": VLEN}, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]);
    let lying = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0];
    let with_fill = |fill: &str| of_version_2("<U2", &[4], &[2], &json!({"fill_value": fill}));
    let string = |codecs| described(&json!("string"), &[2], &[2], codecs);
    let cases: [(&str, Vec<u8>, &[u8], &str); 10] = [
        ("zarr.json", string(&vlen), &[3, 0, 0, 0], "a chunk has 3 texts, and 2 fit it"),
        ("zarr.json", string(&vlen), &[2, 0, 0, 0, 9, 0, 0, 0, 1], "the list of texts is cut short"),
        ("zarr.json", string(&vlen), &[2, 0, 0, 0, 1, 0, 0, 0, 0xff, 0, 0, 0, 0], "text 0 is not Unicode"),
        ("zarr.json", string(&zstd), &lying, "more than"),
        ("zarr.json", string(&json!([{"name": "bytes"}])), &[], "codec bytes of texts is not supported"),
        ("zarr.json", described(&json!("string"), &[70_000], &[70_000], &vlen), &[], "70000 texts"),
        (".zarray", with_fill("ab"), &wide("xyuv", 4, u32::to_le_bytes), "fill value \"ab\" of chunks"),
        (".zarray", with_fill(""), &[0xff; 16], "text 0 is not Unicode"),
        (".zarray", of_version_2("|O", &[2], &[2], &json!({"filters": [{"id": "pickle"}]})), &[], "pickle"),
        (".zarray", of_version_2("<U0", &[2], &[2], &json!({})), &[], "without a length"),
    ];
    for (file, description, chunk, expected) in cases {
        let key = if file == "zarr.json" { "t/c/0" } else { "t/0" };
        let path = format!("t/{file}");
        let folder = store(&[(".zgroup", br#"{"zarr_format":2}"#), (&path, &description[..]), (key, chunk)]);
        let (_, notes) = read(folder.path(), Chunks::Fit);
        assert!(notes.iter().any(|note| note.starts_with("!t: ") && note.contains(expected)), "{expected}: {notes:?}");
    }
}

#[test]
fn filters_of_numcodecs_are_read() {
    let delta = json!({"id": "delta", "dtype": "<i4", "astype": "|i1"});
    let scaled = json!({"id": "fixedscaleoffset", "dtype": "<f8", "astype": "<u2", "scale": 10, "offset": 1});
    let zlib = |bytes: &[u8]| {
        use std::io::Write as _;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(1));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let of_version_3 = |codecs: &serde_json::Value| {
        let mut json: serde_json::Value = serde_json::from_slice(&of_version_3("int32", &[3], &[3], "")).unwrap();
        json["codecs"] = codecs.clone();
        json.to_string().into_bytes()
    };
    let in_version_3 = json!([{"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}},
        {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "numcodecs.crc32", "configuration": {}}]);
    let differences = [5_i32, -2, 120].map(i32::to_le_bytes).concat();
    let mut crc = flate2::Crc::new();
    crc.update(&differences);
    let folder = store(&[
        (".zgroup", br#"{"zarr_format":2}"#),
        ("a/.zarray", &of_version_2("<i4", &[3], &[3], &json!({"filters": [delta], "compressor": {"id": "zlib"}}))),
        ("a/0", &zlib(&[5, 254, 120])),
        ("b/.zarray", &of_version_2("<f8", &[2], &[2], &json!({"filters": [scaled]}))),
        ("b/0", &[0, 0, 25, 1]),
        ("c/zarr.json", &of_version_3(&in_version_3)),
        ("c/c/0", &[&crc.sum().to_le_bytes()[..], &differences].concat()),
    ]);
    let (messages, notes) = read(folder.path(), Chunks::Fit);
    assert!(notes.is_empty(), "{notes:?}");
    let bytes =
        |index: usize| tgm_std::decode(&messages[index], &tgm_std::DecodeOptions::default()).unwrap().1[0].1.clone();
    assert_eq!(bytes(0), [5_i32, 3, 123].map(i32::to_ne_bytes).concat());
    assert_eq!(bytes(1), [1.0_f64, 281.0 / 10.0 + 1.0].map(f64::to_ne_bytes).concat());
    assert_eq!(bytes(2), [5_i32, 3, 123].map(i32::to_ne_bytes).concat());
}
