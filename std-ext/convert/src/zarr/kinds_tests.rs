//! Stores as other writers make them: of version 2, packed by the convention CF, with links and with what is not Zarr.
#![allow(clippy::unwrap_used, reason = "tests may panic")]
#![allow(clippy::float_cmp, reason = "what is asked is whether they are the same")]

use std::fs;
use std::path::Path;

use ciborium::Value;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tgm_core::descriptor::Dtype;
use tgm_std::file::MessageReader;
use tgm_std::{DecodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, decode};

use super::*;
use crate::Chunks;
use crate::note::Note;
use crate::tree::ArrayWriter as _;

/// A store of these files.
pub(super) fn store(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// The messages of a store with whole arrays, and the notes: with `!` in front of failures.
pub(super) fn read(store: &Path, chunks: Chunks) -> (Vec<Vec<u8>>, Vec<String>) {
    let (mut tgm, mut notes) = (Vec::new(), Vec::new());
    let options = ZarrOptions { chunks, ..ZarrOptions::default() };
    let mut report = |note: Note| notes.push(format!("{}{note}", if note.is_failure() { "!" } else { "" }));
    to_tensogram(store, &options, &mut tgm, &mut report).unwrap();
    let (mut reader, mut messages) = (MessageReader::new(&tgm[..]), Vec::new());
    while let Some(message) = reader.next_message().unwrap() {
        messages.push(message.as_bytes().to_vec());
    }
    (messages, notes)
}

/// The metadata, the types, and the values as floats.
fn values(message: &[u8]) -> (GlobalMetadata, Vec<(Dtype, Vec<f64>)>) {
    let (global, objects) = decode(message, &DecodeOptions::default()).unwrap();
    let floats = |dtype: Dtype, bytes: &[u8]| -> Vec<f64> {
        match dtype {
            Dtype::Float64 => bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
            Dtype::Float32 => bytes.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes).into()).collect(),
            Dtype::Int32 => bytes.as_chunks().0.iter().map(|bytes| i32::from_ne_bytes(*bytes).into()).collect(),
            Dtype::Int16 => bytes.as_chunks().0.iter().map(|bytes| i16::from_ne_bytes(*bytes).into()).collect(),
            #[expect(clippy::cast_precision_loss, reason = "the numbers of these tests are small")]
            Dtype::Int64 => bytes.as_chunks().0.iter().map(|bytes| i64::from_ne_bytes(*bytes) as f64).collect(),
            _ => bytes.iter().map(|byte| f64::from(*byte)).collect(),
        }
    };
    let objects =
        objects.iter().map(|(descriptor, bytes)| (descriptor.dtype, floats(descriptor.dtype, bytes))).collect();
    (global, objects)
}

/// NaN as a number that is equal to itself.
fn plain(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| if value.is_nan() { f64::MAX } else { *value }).collect()
}

pub(super) fn of_version_2(dtype: &str, shape: &[u64], chunks: &[u64], more: &Json) -> Vec<u8> {
    let mut json = json!({
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "order": "C", "fill_value": null,
        "filters": null, "compressor": null,
    });
    for (key, value) in more.as_object().unwrap() {
        json[key] = value.clone();
    }
    json.to_string().into_bytes()
}

pub(super) fn of_version_3(data_type: &str, shape: &[u64], chunks: &[u64], more: &str) -> Vec<u8> {
    let codec =
        if matches!(data_type, "int8" | "uint8" | "bool") { "" } else { r#","configuration":{"endian":"little"}"# };
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":"{data_type}","fill_value":0,
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunks:?}}}}},
        "chunk_key_encoding":{{"name":"default"}},"codecs":[{{"name":"bytes"{codec}}}]{more}}}"#
    )
    .into_bytes()
}

#[test]
fn version_2_is_read() {
    use std::io::Write as _;
    let zlib = |bytes: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(1));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let turned: Vec<u8> = [0_i16, 3, 1, 4, 2, 5].iter().flat_map(|value| value.to_be_bytes()).collect();
    let shuffled: Vec<u8> = (0..2).flat_map(|byte| [1_i16, 2].map(|value| value.to_le_bytes()[byte])).collect();
    let lz4 = [&4_u32.to_le_bytes()[..], &[0x40], &shuffled].concat();
    let floats: Vec<u8> = [1.5_f64, f64::NAN].iter().flat_map(|value| value.to_le_bytes()).collect();
    let folder = store(&[
        (".zgroup", br#"{"zarr_format":2}"#),
        (".zattrs", br#"{"title":"all"}"#),
        (
            "a/.zarray",
            &of_version_2(">i2", &[2, 3], &[2, 3], &json!({"order": "F", "compressor": {"id": "zlib", "level": 1}})),
        ),
        ("a/.zattrs", br#"{"_ARRAY_DIMENSIONS":["y","x"],"units":"K","range":[NaN,Infinity]}"#),
        ("a/0.0", &zlib(&turned)),
        (
            "g/.zarray",
            &of_version_2(
                "<i2",
                &[4],
                &[2],
                &json!({"filters": [{"id": "shuffle", "elementsize": 2}], "compressor": {"id": "lz4"}}),
            ),
        ),
        ("g/0", &lz4),
        ("h/.zarray", &of_version_2("<f8", &[3], &[2], &json!({"fill_value": "NaN", "dimension_separator": "/"}))),
        ("h/0", &floats),
        ("t/.zarray", &of_version_2("<M8[25s]", &[1], &[1], &json!({"fill_value": 0}))),
        ("t/0", &7_i64.to_le_bytes()),
        ("z/.zarray", &of_version_2("|b1", &[], &[], &json!({"fill_value": false}))),
        ("z/0", &[1]),
    ]);
    let (messages, notes) = read(folder.path(), Chunks::Join);
    assert!(notes.is_empty(), "{notes:?}");
    let found: Vec<_> = messages.iter().map(|message| values(message)).collect();
    assert_eq!(found[0].1, [(Dtype::Int16, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0])]);
    assert_eq!(found[0].0.get_at(0, "attributes.units").unwrap().as_str(), Some("K"));
    assert_eq!(found[0].0.get_at(0, "dimensions").unwrap().get_index(1).unwrap().as_str(), Some("x"));
    assert_eq!(found[0].0.get_value("extra.attributes.title"), Some(&Value::from("all")));
    let range =
        found[0].0.base[0]["attributes"].as_map().unwrap().iter().find(|(key, _)| key.as_text() == Some("range"));
    assert!(range.unwrap().1.as_array().unwrap()[0].as_float().unwrap().is_nan());
    assert_eq!(found[1].1, [(Dtype::Int16, vec![1.0, 2.0, 0.0, 0.0])]);
    assert_eq!(plain(&found[2].1[0].1), [1.5, f64::MAX, f64::MAX]);
    assert_eq!(found[3].1, [(Dtype::Int64, vec![7.0])]);
    assert_eq!(found[3].0.get_at(0, "numpy.multiple").and_then(|value| value.as_u64()), Some(25));
    assert_eq!(found[4].1, [(Dtype::Bitmask, vec![128.0])]);
    // And it becomes version 3.
    let back = TempDir::new().unwrap();
    let mut writer = ZarrWriter::create(&back.path().join("z"), ToZarrOptions::default()).unwrap();
    let mut notes = Vec::new();
    for message in &messages {
        writer.write(message, &mut |note| notes.push(note.to_string())).unwrap();
    }
    writer.finish().unwrap();
    for told in ["numcodecs.zlib: zstd", "numcodecs.shuffle, numcodecs.lz4: zstd", "attribute range"] {
        assert_eq!(notes.iter().filter(|note| note.contains(told)).count(), 1, "{told}: {notes:?}");
    }
    let (again, notes) = read(&back.path().join("z"), Chunks::Join);
    assert!(again.len() == 5 && notes.is_empty(), "{notes:?}");
    for (message, again) in messages.iter().zip(&again) {
        assert_eq!(plain(&values(message).1[0].1), plain(&values(again).1[0].1));
    }
}

#[test]
fn packed_numbers_are_unpacked_as_elsewhere() {
    let numbers = |numbers: &[i16]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let folder = store(&[
        ("zarr.json", br#"{"zarr_format":3,"node_type":"group"}"#),
        (
            "v/zarr.json",
            &of_version_3(
                "int16",
                &[6],
                &[2],
                r#","attributes":{"scale_factor":0.5,"add_offset":250,"_FillValue":-1,"valid_range":[0,100],"units":"K"}"#,
            ),
        ),
        ("v/c/0", &numbers(&[0, 100])),
        ("v/c/1", &numbers(&[-1, 101])),
        ("w/.zarray", &of_version_2("<i4", &[4], &[2], &json!({"fill_value": 0}))),
        ("w/0", &[0, 0, 0, 0, 7, 0, 0, 0]),
        ("f/zarr.json", &of_version_3("float32", &[2], &[2], r#","attributes":{"_FillValue":"AAAAAAA4j8A="}"#)),
        ("f/c/0", &[1.0_f32, -999.0].map(f32::to_le_bytes).concat()),
    ]);
    for chunks in [Chunks::Join, Chunks::Keep] {
        let (messages, notes) = read(folder.path(), chunks);
        assert!(notes.is_empty(), "{notes:?}");
        let found: Vec<_> = messages.iter().map(|message| values(message)).collect();
        let joined =
            |index: usize| -> Vec<f64> { found[index].1.iter().flat_map(|(_, values)| plain(values)).collect() };
        assert_eq!(joined(0), [1.0, f64::MAX]);
        // An absent chunk holds what the fill value of the store stands for, which is not missing.
        assert_eq!(joined(1)[..4], [250.0, 300.0, f64::MAX, 300.5]);
        assert!(joined(1)[4..].iter().all(|value| *value == 250.0));
        assert_eq!(found[1].1[0].0, Dtype::Float64);
        let attributes = found[1].0.base[0]["attributes"].as_map().unwrap();
        let names: Vec<_> = attributes.iter().map(|(name, _)| name.as_text().unwrap()).collect();
        // Maps of metadata are in the order of CBOR.
        assert_eq!(names, ["units", "valid_range"]);
        assert_eq!(attributes[1].1, Value::Array(vec![250.0.into(), 300.0.into()]));
        // The number of a missing integer stays, and is said.
        assert_eq!(joined(2)[..2], [0.0, 7.0]);
        assert_eq!(found[2].0.get_at(0, "attributes._FillValue").and_then(|value| value.as_u64()), Some(0));
        let back = TempDir::new().unwrap();
        let mut writer = ZarrWriter::create(&back.path().join("z"), ToZarrOptions::default()).unwrap();
        for message in &messages {
            writer.write(message, &mut |note| panic!("{note}")).unwrap();
        }
        writer.finish().unwrap();
        let json: Json = serde_json::from_slice(&fs::read(back.path().join("z/v/zarr.json")).unwrap()).unwrap();
        assert_eq!((&json["data_type"], &json["fill_value"]), (&json!("float64"), &json!(250.0)));
        assert_eq!(json["attributes"], json!({"valid_range": [250.0, 300.0], "units": "K"}));
    }
}

#[test]
fn packed_integers_that_are_kept_say_so_in_each_chunk() {
    let numbers = |numbers: &[i16]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let long = "x".repeat(1 << 20);
    let more = format!(r#","attributes":{{"scale_factor":0.5,"add_offset":250,"_FillValue":-1,"history":"{long}"}}"#);
    let folder = store(&[
        ("v/zarr.json", &of_version_3("int16", &[4], &[2], &more)),
        ("v/c/0", &numbers(&[0, 100])),
        ("v/c/1", &numbers(&[-1, 101])),
        ("zarr.json", br#"{"zarr_format":3,"node_type":"group"}"#),
    ]);
    for chunks in [Chunks::Join, Chunks::Keep] {
        let options = ZarrOptions { chunks, keep_packed: true, ..ZarrOptions::default() };
        let mut tgm = Vec::new();
        to_tensogram(folder.path(), &options, &mut tgm, &mut |note| panic!("{note}")).unwrap();
        let arrays = crate::arrays::Arrays::decode(&tgm, &DecodeOptions::default()).unwrap();
        assert!(arrays.arrays.iter().all(|array| array.descriptor.dtype == Dtype::Int16));
        let arrays = arrays.unpacked().unwrap().arrays;
        let floats =
            |bytes: &[u8]| -> Vec<f64> { bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect() };
        let all: Vec<f64> = arrays.iter().flat_map(|array| floats(&array.values)).collect();
        assert_eq!(plain(&all), [250.0, 300.0, f64::MAX, 300.5]);
        let path = folder.path().join("v.tgm");
        fs::write(&path, &tgm).unwrap();
        let dataset = tgm_dataset::open(&[&path], &tgm_dataset::OpenOptions::default()).unwrap();
        let read: Vec<f64> = dataset.read("v", &[tgm_dataset::Indices::all(4)]).unwrap();
        assert_eq!(plain(&read), plain(&all));
        fs::remove_file(&path).unwrap();
        // Back, they are the same integers.
        let back = TempDir::new().unwrap();
        let mut writer = ZarrWriter::create(&back.path().join("z"), ToZarrOptions::default()).unwrap();
        writer.write(&tgm, &mut |note| panic!("{note}")).unwrap();
        writer.finish().unwrap();
        let json: Json = serde_json::from_slice(&fs::read(back.path().join("z/v/zarr.json")).unwrap()).unwrap();
        assert_eq!((&json["data_type"], &json["attributes"]["scale_factor"]), (&json!("int16"), &json!(0.5)));
    }
}

#[test]
fn each_file_of_a_store_is_a_chunk_or_listed() {
    let json = of_version_3("uint8", &[4], &[2], "");
    let folder = store(&[
        ("zarr.json", br#"{"zarr_format":3,"node_type":"group","attributes":{"a":1}}"#),
        ("README.md", b"x"),
        ("a/zarr.json", &json),
        ("a/c/0", &[1, 2]),
        ("a/c/2", &[1, 2]),
        ("a/c/00", &[1, 2]),
        ("a/notes.txt", b"x"),
        ("empty/zarr.json", br#"{"zarr_format":3,"node_type":"group"}"#),
        ("folder/x", b"x"),
        ("folder/b/.zarray", &of_version_2("|u1", &[1], &[1], &json!({}))),
        ("folder/b/0", &[5]),
        ("text/.zarray", &of_version_2("|O", &[1], &[1], &json!({}))),
        ("wrong/zarr.json", b"{"),
    ]);
    let (messages, notes) = read(folder.path(), Chunks::Keep);
    assert_eq!(messages.len(), 2);
    for place in ["README.md", "a/c/2", "a/c/00", "a/notes.txt", "empty", "folder/x", "!text", "!wrong"] {
        assert_eq!(notes.iter().filter(|note| note.starts_with(&format!("{place}:"))).count(), 1, "{place}: {notes:?}");
    }
    assert_eq!(notes.len(), 8, "{notes:?}");
}

#[cfg(unix)]
#[test]
fn only_regular_files_within_the_store_are_read() {
    use std::os::unix::fs::symlink;
    let outside = store(&[("secret", &[1, 2]), ("zarr.json", &of_version_3("uint8", &[2], &[2], ""))]);
    let json = of_version_3("uint8", &[4], &[2], "");
    let files: [(&str, &[u8]); 7] = [
        ("zarr.json", br#"{"zarr_format":3,"node_type":"group"}"#),
        ("chunk/zarr.json", &json),
        ("inside/zarr.json", &json),
        ("inside/c/0", &[3, 4]),
        ("device/zarr.json", &json),
        ("long/zarr.json", &json),
        ("socket/zarr.json", &json),
    ];
    let folder = store(&files);
    let root = folder.path();
    for name in ["chunk/c", "device/c", "long/c", "described"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    symlink(outside.path().join("secret"), root.join("chunk/c/0")).unwrap();
    symlink(root.join("inside/c/0"), root.join("inside/c/1")).unwrap();
    symlink("/dev/zero", root.join("device/c/0")).unwrap();
    symlink(outside.path(), root.join("linked")).unwrap();
    symlink(outside.path().join("zarr.json"), root.join("described/zarr.json")).unwrap();
    fs::File::create(root.join("long/c/0")).unwrap().set_len(1 << 40).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket/pipe")).unwrap();
    for chunks in [Chunks::Keep, Chunks::Join] {
        let (messages, notes) = read(root, chunks);
        let all = notes.join("\n");
        for (place, what) in [
            ("chunk", "leads out of the store"),
            ("device", "leads out of the store"),
            ("described", "leads out of the store"),
            ("linked", "a link to a directory"),
            ("long", "are the most that it can have"),
            ("socket", "not a regular file"),
        ] {
            let is_told = |note: &&String| note.starts_with(&format!("!{place}")) && note.contains(what);
            assert_eq!(notes.iter().filter(is_told).count(), 1, "{place}: {all}");
        }
        let inside =
            messages.iter().map(|message| values(message)).find(|(global, _)| global.get_at(0, "name").is_some());
        let joined: Vec<f64> = inside.unwrap().1.into_iter().flat_map(|(_, values)| values).collect();
        assert_eq!(joined, [3.0, 4.0, 3.0, 4.0]);
    }
}

#[test]
fn attributes_of_groups_are_not_copied_without_bound() {
    let long = "x".repeat(100_000);
    let group = format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{{"history":"{long}"}}}}"#);
    let folder = store(&[("zarr.json", group.as_bytes())]);
    for index in 0..20 {
        let path = folder.path().join(format!("a{index}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("zarr.json"), of_version_3("uint8", &[1], &[1], "")).unwrap();
    }
    let (messages, notes) = read(folder.path(), Chunks::Keep);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(messages.len(), 20);
    assert!(messages.concat().len() < 3 * long.len());
    let back = TempDir::new().unwrap();
    let mut writer = ZarrWriter::create(&back.path().join("z"), ToZarrOptions::default()).unwrap();
    for message in &messages {
        writer.write(message, &mut |note| panic!("{note}")).unwrap();
    }
    writer.finish().unwrap();
    assert!(fs::read_to_string(back.path().join("z/zarr.json")).unwrap().contains(&long));
}

#[test]
fn what_netcdf_called_attributes_stands_where_xarray_looks() {
    let map = |entries: &[(&str, Value)]| {
        Value::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
    };
    let object = |name: &str| ObjectBuilder::new(&[2], &[1.0_f32, 2.0]).unwrap().metadata("name", name);
    let long = "n".repeat(3000);
    let attributes = map(&[("units", "K".into()), ("_FillValue", (-999.0).into()), ("odd", f64::NAN.into())]);
    let packed = map(&[("scale_factor", 0.5.into()), ("_FillValue", (-1).into()), ("long_name", "t".into())]);
    let message = MessageBuilder::new()
        .extra("attributes", map(&[("title", "all".into())]))
        .extra("groups", map(&[("g", map(&[("level", 1.into())])), ("../x", map(&[("a", 1.into())]))]))
        .extra("unlimited", Value::Array(vec!["time".into()]))
        .object(object(&long))
        .object(object("g/a").metadata("attributes", attributes))
        .object(object("b").metadata("attributes", packed).metadata("netcdf", map(&[("type", "short".into())])))
        .encode()
        .unwrap();
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("z");
    let mut notes = Vec::new();
    let mut writer = ZarrWriter::create(&root, ToZarrOptions::default()).unwrap();
    writer.write(&message, &mut |note| notes.push(note.to_string())).unwrap();
    writer.finish().unwrap();
    let json = |path: &str| -> Json { serde_json::from_slice(&fs::read(root.join(path)).unwrap()).unwrap() };
    assert_eq!(json("zarr.json")["attributes"], json!({"title": "all"}));
    assert_eq!(json("g/zarr.json")["attributes"], json!({"level": 1}));
    let expected = json!({"units": "K", "_FillValue": "AAAAAAA4j8A=", "odd": "NaN"});
    assert_eq!(json("g/a/zarr.json")["attributes"], expected);
    assert_eq!(json("b/zarr.json")["attributes"], json!({"long_name": "t"}));
    assert!(root.join(&long[..220]).join("c/0").is_file());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn many_arrays_of_one_name_take_no_search_each() {
    let mut names = crate::names::Names::new(names::safe);
    let mut last = String::new();
    for _ in 0..20_000 {
        last = names.take("2t");
    }
    assert_eq!(last, "2t_19999");
    let deep = "a/".repeat(100_000);
    assert!(names.take(&deep).len() < 1000);
}

/// zarr-python and xarray refuse a store of which one array has a type that they do not know.
#[test]
fn bfloat16_of_other_formats_becomes_a_type_that_every_reader_knows() {
    let given = [1.5_f32, -0.25, 1e30].map(half::bf16::from_f32);
    let object = ObjectBuilder::new(&[3], &given).unwrap().metadata("name", "w");
    let message = MessageBuilder::new().object(object).encode().unwrap();
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("a.zarr");
    let mut notes = Vec::new();
    let mut writer = ZarrWriter::create(&out, ToZarrOptions::default()).unwrap();
    writer.write(&message, &mut |note| notes.push(note.to_string())).unwrap();
    writer.finish().unwrap();
    let described: Json = serde_json::from_slice(&fs::read(out.join("w/zarr.json")).unwrap()).unwrap();
    assert_eq!(described["data_type"], "float32");
    assert_eq!(notes.iter().filter(|note| note.contains("bfloat16 becomes float32")).count(), 1, "{notes:?}");
    let (messages, _) = read(&out, Chunks::Join);
    let expected = given.map(half::bf16::to_f64).to_vec();
    assert_eq!(values(&messages[0]).1, [(Dtype::Float32, expected)]);
}
