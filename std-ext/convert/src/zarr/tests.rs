//! Stores there and back, and stores that are damaged.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ciborium::Value;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::file::MessageReader;
use tgm_std::{DataObjectDescriptor, DecodeOptions, EncodeOptions, MessageBuilder, ObjectBuilder, decode};

use super::*;
use crate::Chunks;
use crate::note::Note;
use crate::tree::ArrayWriter as _;

const DTYPES: [Dtype; 15] = [
    Dtype::Bitmask,
    Dtype::Int8,
    Dtype::Int16,
    Dtype::Int32,
    Dtype::Int64,
    Dtype::Uint8,
    Dtype::Uint16,
    Dtype::Uint32,
    Dtype::Uint64,
    Dtype::Float16,
    Dtype::Bfloat16,
    Dtype::Float32,
    Dtype::Float64,
    Dtype::Complex64,
    Dtype::Complex128,
];

/// Codecs of chunks of two dimensions, for elements of any type.
fn codecs(kind: usize) -> Json {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let turned = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    let sum = json!({"name": "crc32c"});
    let shards = |location: &str, inner: Json| {
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1, 2], "codecs": inner, "index_codecs": [big, sum], "index_location": location,
        }})
    };
    match kind {
        0 => json!([little]),
        1 => json!([big]),
        2 => json!([turned, little, zstd]),
        3 => json!([big, gzip, sum]),
        4 => json!([little, sum, gzip]),
        5 => json!([shards("end", json!([little, zstd])), sum]),
        _ => json!([turned, shards("start", json!([turned, big, sum]))]),
    }
}

/// All files of a directory.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn read(store: &Path, chunks: Chunks) -> (Vec<Vec<u8>>, Vec<String>) {
    let (mut tgm, mut notes) = (Vec::new(), Vec::new());
    let options = ZarrOptions { chunks, ..ZarrOptions::default() };
    to_tensogram(store, &options, &mut tgm, &mut |note| notes.push(note.to_string())).unwrap();
    let (mut reader, mut messages) = (MessageReader::new(&tgm[..]), Vec::new());
    while let Some(message) = reader.next_message().unwrap() {
        messages.push(message.as_bytes().to_vec());
    }
    (messages, notes)
}

fn write(root: &Path, messages: &[Vec<u8>], options: ToZarrOptions) -> Vec<String> {
    let mut notes = Vec::new();
    let mut writer = ZarrWriter::create(root, options).unwrap();
    for message in messages {
        writer.write(message, &mut |note: Note| notes.push(note.to_string())).unwrap();
    }
    writer.finish().unwrap();
    notes
}

/// Descriptions as JSON, and the rest as bytes.
fn comparable(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, (Option<Json>, Vec<u8>)> {
    let parsed = |(name, bytes): (String, Vec<u8>)| {
        let mut json: Option<Json> = name.ends_with(DESCRIPTION).then(|| serde_json::from_slice(&bytes).unwrap());
        // It is made of the other descriptions.
        json.as_mut().and_then(Json::as_object_mut).map(|json| json.remove("consolidated_metadata"));
        let bytes = if json.is_some() { vec![] } else { bytes };
        (name, (json, bytes))
    };
    files.into_iter().map(parsed).collect()
}

/// A message with one object of `shape` and these bytes, in which no float is NaN.
fn message(dtype: Dtype, shape: &[u64], seed: u64) -> (Vec<u8>, Vec<u8>) {
    let count: u64 = shape.iter().product();
    let len = if dtype == Dtype::Bitmask { count.div_ceil(8) } else { count * dtype.byte_width() as u64 };
    let bytes = (0..len).map(|i| (seed.wrapping_mul(i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as u8 & 0x1f);
    let mut bytes: Vec<u8> = bytes.collect();
    if dtype == Dtype::Bitmask && !count.is_multiple_of(8) {
        *bytes.last_mut().unwrap() &= 0xff << (8 - count % 8);
    }
    let descriptor = DataObjectDescriptor::new(dtype, ByteOrder::Little, shape);
    let object = ObjectBuilder::from_parts(descriptor, &bytes[..]).metadata("name", "g/a").metadata("units", "K");
    (MessageBuilder::new().extra("run", 7).object(object).encode().unwrap(), bytes)
}

fn decoded(message: &[u8]) -> Vec<Vec<u8>> {
    let options = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    decode(message, &options).unwrap().1.into_iter().map(|(_, values)| values).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arrays_return_whatever_their_types_chunks_and_codecs(
        dtype in 0_usize..15, rows in 0_u64..7, columns in 1_u64..9, chunk in (1_u64..5, 1_u64..4), kind in 0_usize..7,
        seed in any::<u64>(), joined in any::<bool>(),
    ) {
        let (folder, shape) = (TempDir::new().unwrap(), [rows, columns]);
        let (first, second, third) = (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        // Stores with bfloat16 come from others: it is not written for objects of other formats.
        let is_foreign = DTYPES[dtype] == Dtype::Bfloat16;
        let (original, bytes) = message(if is_foreign { Dtype::Uint16 } else { DTYPES[dtype] }, &shape, seed);
        let chunk_shape = vec![2 * chunk.0, 2 * chunk.1];
        let options = ToZarrOptions { chunks: Some(chunk_shape.clone()), ..ToZarrOptions::default() };
        prop_assert!(write(&first, &[original], options).is_empty());
        let description = first.join("g/a").join(DESCRIPTION);
        if is_foreign {
            let mut json: Json = serde_json::from_slice(&fs::read(&description).unwrap()).unwrap();
            (json["data_type"], json["fill_value"]) = ("bfloat16".into(), 0.0.into());
            fs::write(&description, json.to_string()).unwrap();
        }
        // The same array with other codecs, by way of a message whose description says so.
        let (mut whole, notes) = read(&first, Chunks::Join);
        prop_assert!(notes.is_empty(), "{notes:?}");
        prop_assert_eq!(&decoded(&whole[0])[0], &bytes);
        let mut json: Json = serde_json::from_slice(&fs::read(&description).unwrap()).unwrap();
        prop_assert_eq!(&json["attributes"], &json!({"units": "K", "_extra_": {"run": 7}}));
        json["codecs"] = codecs(kind);
        json["chunk_grid"]["configuration"]["chunk_shape"] = json!(chunk_shape);
        json["dimension_names"] = json!(["y", null]);
        whole[0] = with_description(&whole[0], &json);
        let notes = write(&second, &whole, ToZarrOptions::default());
        prop_assert!(notes.is_empty(), "{notes:?}");
        let (messages, notes) = read(&second, if joined { Chunks::Join } else { Chunks::Keep });
        prop_assert!(notes.is_empty(), "{notes:?}");
        prop_assert!(write(&third, &messages, ToZarrOptions::default()).is_empty());
        prop_assert_eq!(comparable(files(&second)), comparable(files(&third)));
        let (joined, _) = read(&third, Chunks::Join);
        prop_assert_eq!(&decoded(&joined[0])[0], &bytes);
    }

    #[test]
    fn damage_is_an_error_or_other_values(kind in 0_usize..7, file in any::<usize>(), at in any::<usize>(), with in any::<u8>(), cut in any::<bool>()) {
        let folder = TempDir::new().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        let (original, _) = message(Dtype::Int16, &[4, 6], 3);
        write(&first, &[original], ToZarrOptions::default());
        let (mut whole, _) = read(&first, Chunks::Join);
        let mut json: Json = serde_json::from_slice(&fs::read(first.join("g/a").join(DESCRIPTION)).unwrap()).unwrap();
        json["codecs"] = codecs(kind);
        whole[0] = with_description(&whole[0], &json);
        write(&second, &whole, ToZarrOptions::default());
        let names: Vec<String> = files(&second).into_keys().collect();
        let path = second.join(&names[file % names.len()]);
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = with }
        fs::write(&path, &bytes).unwrap();
        for chunks in [Chunks::Keep, Chunks::Join] {
            let options = ZarrOptions { chunks, ..ZarrOptions::default() };
            let _ = to_tensogram(&second, &options, &mut Vec::new(), &mut |_| {});
        }
    }
}

/// The message with another description of its array.
fn with_description(message: &[u8], json: &Json) -> Vec<u8> {
    let (mut global, objects) = decode(message, &DecodeOptions::default()).unwrap();
    let entry = |key: &str, value| (Value::from(key), value);
    let zarr = vec![entry("path", "g/a".into()), entry("array", tgm_std::metadata::json::to_cbor(json))];
    global.extra.insert(ZARR.into(), Value::Map(zarr));
    global.reserved.clear();
    global.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
    let objects: Vec<_> = objects
        .iter()
        .map(|(descriptor, values)| {
            let dtype = descriptor.dtype;
            (DataObjectDescriptor::new(dtype, ByteOrder::NATIVE, &descriptor.shape), &values[..])
        })
        .collect();
    let objects: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, *values)).collect();
    tgm_std::encode(&global, &objects, &EncodeOptions::default()).unwrap()
}

/// A store of one array at its root.
fn store(json: &Json, chunks: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(DESCRIPTION), json.to_string()).unwrap();
    for (key, bytes) in chunks {
        let path = folder.path().join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[expect(clippy::needless_pass_by_value, reason = "callers make them there")]
fn array(data_type: &str, shape: &[u64], chunk: &[u64], fill: Json, codecs: Json) -> Json {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "codecs": codecs,
    })
}

#[test]
fn chunks_that_are_not_stored_stay_so_and_nan_is_masked() {
    let json =
        array("float32", &[5], &[2], json!("NaN"), json!([{"name": "bytes", "configuration": {"endian": "big"}}]));
    let edge = [4.0_f32.to_be_bytes(), [0x7f, 0xc0, 0, 0]].concat();
    let folder = store(&json, &[("c/0", &[2.0_f32.to_be_bytes(), f32::NAN.to_be_bytes()].concat()), ("c/2", &edge)]);
    let (kept, notes) = read(folder.path(), Chunks::Keep);
    assert!(notes.is_empty());
    let (metadata, objects) = decode(&kept[0], &DecodeOptions::default()).unwrap();
    assert_eq!(objects.iter().map(|(descriptor, _)| descriptor.shape[0]).collect::<Vec<_>>(), [2, 1]);
    assert!(objects[0].0.masks.is_some() && objects[1].0.masks.is_none());
    assert_eq!(metadata.get_at(1, "zarr.origin").and_then(|list| list.get_index(0)?.as_u64()), Some(4));
    let back = TempDir::new().unwrap();
    write(&back.path().join("z"), &kept, ToZarrOptions::default());
    assert_eq!(comparable(files(&back.path().join("z"))), comparable(files(folder.path())));
    let (joined, _) = read(folder.path(), Chunks::Join);
    let values = &decoded(&joined[0])[0];
    let values: Vec<f32> = values.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    assert_eq!(values.iter().map(|value| value.is_nan()).collect::<Vec<_>>(), [false, true, true, true, false]);
}

#[test]
fn what_cannot_be_read_is_listed_with_its_place() {
    let little = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let zstd = json!([{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}]);
    let huge = u64::MAX;
    // A frame that states 2^62 bytes of content.
    let lying = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0];
    let shards = |index: Json| {
        json!([{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [1], "codecs": [{"name": "bytes"}], "index_codecs": index,
        }}])
    };
    let far = [[0xff_u8, 0, 0, 0, 0, 0, 0, 0].as_slice(), &[1, 0, 0, 0, 0, 0, 0, 0]].concat();
    // The sum of offset and length wraps to 8.
    let around = [(u64::MAX - 7).to_le_bytes(), 16_u64.to_le_bytes()].concat();
    let regular = |text: &str| {
        let mut json = array("uint8", &[2], &[2], json!(0), json!([{"name": "bytes"}]));
        json["chunk_grid"]["name"] = text.into();
        json
    };
    let cases: [(Json, &[u8], &str); 20] = [
        (regular("rectilinear"), &[], "chunk grid rectilinear is not supported"),
        (
            array("uint8", &[2], &[2], json!(0), json!([{"name": "numcodecs.delta"}, {"name": "bytes"}])),
            &[],
            "codec numcodecs.delta has no dtype that is known",
        ),
        (
            array("uint8", &[1], &[1], json!(0), shards(little.clone())),
            &around,
            "16 bytes at offset 18446744073709551608 is not within its shard",
        ),
        (array("r16", &[2], &[2], json!(0), json!([{"name": "bytes"}])), &[], "data type r16 is not supported"),
        (
            array("uint8", &[2], &[2], json!(0), json!([{"name": "numcodecs.lzma"}])),
            &[],
            "codec numcodecs.lzma is not supported",
        ),
        (array("uint8", &[2], &[2], json!(300), little.clone()), &[], "fill value 300 is not of type uint8"),
        (array("int32", &[2], &[2], json!(0), json!([{"name": "bytes"}])), &[], "codec bytes has no endian"),
        (array("uint8", &[2], &[0], json!(0), little.clone()), &[], "the chunk grid: "),
        (array("uint8", &[huge], &[1], json!(0), little.clone()), &[], "chunks, which exceed the limit max_objects"),
        (array("uint8", &[huge, huge], &[1, 1], json!(0), little.clone()), &[], "more elements than there are numbers"),
        (array("uint8", &[huge], &[huge], json!(0), little.clone()), &[1, 2], "more than --max-decoded"),
        (array("uint8", &[2], &[2], json!(0), little.clone()), &[1], "chunk c/0: encoding error: "),
        (array("uint8", &[2], &[2], json!(0), zstd), &lying, "chunk c/0: encoding error: zstd"),
        (
            array("uint8", &[2], &[2], json!(0), json!([{"name": "crc32c"}])),
            &[],
            "codec crc32c stands before one that makes bytes",
        ),
        (array("uint8", &[2], &[2], json!(0), json!([])), &[], "no codec makes bytes"),
        (
            array(
                "uint8",
                &[2, 2],
                &[2, 2],
                json!(0),
                json!([{"name": "transpose", "configuration": {"order": [0, 0]}}]),
            ),
            &[],
            "codec transpose: ",
        ),
        (
            array("uint8", &[1], &[1], json!(0), shards(little.clone())),
            &far,
            "1 bytes at offset 255 is not within its shard",
        ),
        (
            array("uint8", &[1], &[1], json!(0), shards(little.clone())),
            &far[1..],
            "shard is smaller than the expected size of its index",
        ),
        (array("uint8", &[1 << 40], &[1 << 40], json!(0), shards(little)), &far, "more than"),
        (
            array("uint8", &[2], &[2], json!(0), json!([{"name": "bytes"}, {"name": "blosc"}])),
            &[2, 1, 1, 1, 2, 0, 0, 0],
            "blosc",
        ),
    ];
    for (json, chunk, expected) in cases {
        let folder = store(&json, &[("c/0", chunk)]);
        let (messages, notes) = read(folder.path(), Chunks::Keep);
        assert!(
            notes.len() == 1 && (notes[0].contains(expected) || expected.starts_with("more than")),
            "{notes:?}, not {expected}"
        );
        assert!(messages.iter().all(|message| decoded(message).is_empty()));
    }
    let (folder, mut tgm) = (TempDir::new().unwrap(), Vec::new());
    let read = |tgm: &mut Vec<u8>| to_tensogram(folder.path(), &ZarrOptions::default(), tgm, &mut |_| {});
    assert!(read(&mut tgm).unwrap_err().to_string().contains("is not a Zarr store"));
    fs::write(folder.path().join(".zgroup"), "{}").unwrap();
    assert!(read(&mut tgm).unwrap_err().to_string().contains("the store holds no arrays"));
    fs::write(folder.path().join(DESCRIPTION), "{").unwrap();
    assert!(read(&mut tgm).unwrap_err().to_string().contains("is not JSON"));
}

/// The kind of an error, its offset, and whether it has a source.
type Told = (&'static str, Option<u64>, bool);

/// What is wrong with a store is an error of its kind, with the byte where that is known, and with the error of the library that
/// found it.
#[test]
fn errors_keep_their_kind_their_offset_and_their_source() {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    let shards = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [2], "codecs": [little, gzip], "index_codecs": [little], "index_location": "end",
    }});
    let of_codecs = |codecs: Json| array("int32", &[2], &[2], json!(0), codecs).to_string();
    // One inner chunk of 4 bytes at offset 0; one that lies after the shard.
    let shard = |offset: u8| [&[1, 2, 3, 4, offset][..], &[0; 7], &[4], &[0; 7]].concat();
    let short = [[0; 16].as_slice(), &[9]].concat();
    let cases: [(&str, String, &[u8], Told); 10] = [
        ("JSON", "{\"node_type\": x}".into(), &[], ("metadata", Some(14), true)),
        ("UTF-8", "[]".into(), &[], ("metadata", None, false)),
        (
            "fill value",
            array("int32", &[2], &[2], json!("x"), json!([little])).to_string(),
            &[],
            ("metadata", None, true),
        ),
        (
            "level",
            of_codecs(json!([little, {"name": "gzip", "configuration": {"level": "x"}}])),
            &[],
            ("metadata", None, true),
        ),
        ("codec", of_codecs(json!([little, {"name": "x"}])), &[], ("metadata", None, false)),
        ("gzip", of_codecs(json!([little, gzip])), &short, ("encoding", None, true)),
        ("zstd", of_codecs(json!([little, zstd])), &short, ("encoding", None, false)),
        ("length", of_codecs(json!([little])), &short, ("encoding", None, true)),
        ("gzip in a shard", of_codecs(json!([shards])), &shard(0), ("encoding", None, true)),
        ("shard", of_codecs(json!([shards])), &shard(99), ("encoding", None, false)),
    ];
    for (name, description, chunk, expected) in cases {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("c")).unwrap();
        fs::write(folder.path().join(DESCRIPTION), description).unwrap();
        fs::write(folder.path().join("c/0"), chunk).unwrap();
        for chunks in [Chunks::Keep, Chunks::Join] {
            let (mut errors, options) = (Vec::new(), ZarrOptions { chunks, ..ZarrOptions::default() });
            let read = to_tensogram(folder.path(), &options, &mut Vec::new(), &mut |note| {
                if let Note::Failed { error, .. } = note {
                    errors.push(error);
                }
            });
            errors.extend(read.err());
            let error = &errors[0];
            let found = (error.kind_name(), error.offset(), std::error::Error::source(error).is_some());
            assert_eq!(found, expected, "{name}: {error}");
        }
    }
}

#[test]
fn an_array_without_dimensions_has_one_chunk() {
    let little = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let folder = store(&array("int16", &[], &[], json!(0), little), &[("c", &[1, 2])]);
    for chunks in [Chunks::Keep, Chunks::Join] {
        let (messages, notes) = read(folder.path(), chunks);
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(decoded(&messages[0]), [[1, 2]]);
        let back = TempDir::new().unwrap();
        assert!(write(&back.path().join("z"), &messages, ToZarrOptions::default()).is_empty());
        assert_eq!(comparable(files(&back.path().join("z"))), comparable(files(folder.path())));
    }
}

#[test]
fn groups_keep_their_attributes_and_arrays_their_paths() {
    let (folder, back) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let root = folder.path();
    let little = json!([{"name": "bytes"}]);
    for (path, json) in [
        ("", json!({"zarr_format": 3, "node_type": "group", "attributes": {"title": "all"}})),
        ("g", json!({"zarr_format": 3, "node_type": "group", "attributes": {"level": [1, 2.0, null]}})),
        ("g/a", array("uint8", &[1], &[1], json!(0), little.clone())),
        ("g/c", array("uint8", &[1], &[1], json!(0), little)),
    ] {
        fs::create_dir_all(root.join(path)).unwrap();
        fs::write(root.join(path).join(DESCRIPTION), json.to_string()).unwrap();
    }
    let (messages, notes) = read(root, Chunks::Keep);
    assert!(notes.is_empty() && messages.len() == 2);
    assert!(write(&back.path().join("z"), &messages, ToZarrOptions::default()).is_empty());
    assert_eq!(comparable(files(&back.path().join("z"))), comparable(files(root)));
    // The description of the root has all others.
    let description = |path: &str| -> Json {
        serde_json::from_slice(&fs::read(back.path().join("z").join(path).join(DESCRIPTION)).unwrap()).unwrap()
    };
    let all = &description("")["consolidated_metadata"];
    assert_eq!((&all["kind"], &all["must_understand"]), (&json!("inline"), &json!(false)));
    let expected: BTreeMap<&str, Json> = ["g", "g/a", "g/c"].map(|path| (path, description(path))).into();
    assert_eq!(all["metadata"], json!(expected));
}

#[test]
fn attributes_and_groups_that_are_malformed_are_told() {
    let odd = || Value::Map(vec![(1.into(), 2.into())]);
    for (key, value, told) in [
        ("attributes", odd(), "an attribute whose name is not text"),
        ("attributes", 1.into(), "attributes of the message, which are not a map"),
        ("groups", 1.into(), "groups of the message, which are not a map"),
        ("groups", odd(), "a group whose path is not text, or whose attributes are not a map"),
    ] {
        let folder = TempDir::new().unwrap();
        let message = MessageBuilder::new().extra(key, value).encode().unwrap();
        let notes = write(&folder.path().join("z"), &[message], ToZarrOptions::default());
        assert!(matches!(notes.as_slice(), [note] if note.contains(told)), "{notes:?}");
    }
    let folder = TempDir::new().unwrap();
    let object = ObjectBuilder::new(&[1], &[1_u8]).unwrap().metadata("name", "v").metadata("attributes", odd());
    let message = MessageBuilder::new().object(object).encode().unwrap();
    let notes = write(&folder.path().join("z"), &[message], ToZarrOptions::default());
    assert!(matches!(notes.as_slice(), [note] if note.contains("an attribute whose name is not text")), "{notes:?}");
}

#[test]
fn an_array_whose_object_got_another_name_has_that() {
    let json = array("uint8", &[2], &[2], json!(0), json!([{"name": "bytes"}]));
    let stored = store(&json, &[("c/0", &[1, 2])]);
    let (folder, whole) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::create_dir(whole.path().join("z")).unwrap();
    fs::rename(stored.path(), whole.path().join("z/t")).unwrap();
    fs::write(whole.path().join("z").join(DESCRIPTION), json!({"zarr_format": 3, "node_type": "group"}).to_string())
        .unwrap();
    let (messages, _) = read(&whole.path().join("z"), Chunks::Fit);
    let (mut global, objects) = decode(&messages[0], &DecodeOptions::default()).unwrap();
    global.reserved.clear();
    global.base[0].remove("_reserved_");
    global.base[0].insert("name".into(), "tas".into());
    let objects: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, &values[..])).collect();
    let message = tgm_std::encode(&global, &objects, &EncodeOptions::default()).unwrap();
    assert_eq!(write(&folder.path().join("a"), &[message], ToZarrOptions::default()), [""; 0]);
    assert_eq!(fs::read(folder.path().join("a/tas/c/0")).unwrap(), [1, 2]);
    assert!(!folder.path().join("a/t").exists());
}

#[test]
fn messages_cannot_leave_the_directory() {
    let (mut message, _) = message(Dtype::Uint8, &[2], 1);
    let json = array("uint8", &[2], &[2], json!(0), json!([{"name": "bytes"}]));
    let (mut global, objects) = decode(&message, &DecodeOptions::default()).unwrap();
    global.reserved.clear();
    global.base[0].remove("_reserved_");
    global.base[0].insert("name".into(), "../../x".into());
    let zarr = vec![("path".into(), "../../x".into()), ("array".into(), tgm_std::metadata::json::to_cbor(&json))];
    global.extra.insert(ZARR.into(), Value::Map(zarr));
    let objects: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, &values[..])).collect();
    message = tgm_std::encode(&global, &objects, &EncodeOptions::default()).unwrap();
    let folder = TempDir::new().unwrap();
    let notes = write(&folder.path().join("a"), &[message.clone(), message], ToZarrOptions::default());
    assert!(notes[0].contains("becomes \"_/_/x\"") && notes[1].contains("becomes \"_/_/x_1\""), "{notes:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn digests_of_metadata_count_too_when_they_are_asked_for() {
    let object = ObjectBuilder::new(&[3], &[1.0_f32, 2.0, 3.0]).unwrap().metadata("name", "wind");
    let mut message = MessageBuilder::new().object(object).encode().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, message: &[u8]| {
        let decode = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
        let options = ToZarrOptions { decode, ..ToZarrOptions::default() };
        ZarrWriter::create(&folder.path().join(name), options).unwrap().write(message, &mut |_| {})
    };
    write("intact", &message).unwrap();
    let place = message.windows(4).position(|window| window == b"wind").unwrap();
    message[place] ^= 1;
    let error = write("damaged", &message).unwrap_err();
    assert!(matches!(error, tgm_std::TensogramError::HashMismatch { .. }), "{error}");
}

#[test]
fn addresses_are_not_created_as_directories() {
    let error = ZarrWriter::create(Path::new("s3://bucket/a.zarr"), ToZarrOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "io error: s3://bucket/a.zarr: addresses are read, and not written");
}

/// Only systems other than Windows and macOS allow such names.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_text_is_told_and_the_others_are_read() {
    use std::os::unix::ffi::OsStrExt as _;
    let codecs = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("zarr.json"), json!({"zarr_format": 3, "node_type": "group"}).to_string()).unwrap();
    fs::create_dir(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
    for (name, odd) in [("v", &b"a"[..]), ("w", b"a\xff")] {
        let place = folder.path().join(name);
        fs::create_dir_all(place.join("c")).unwrap();
        fs::write(place.join("zarr.json"), array("uint8", &[4], &[4], json!(0), codecs.clone()).to_string()).unwrap();
        fs::write(place.join("c/0"), [1, 2, 3, 4]).unwrap();
        fs::write(place.join(std::ffi::OsStr::from_bytes(odd)), [0]).unwrap();
    }
    let (messages, notes) = read(folder.path(), Chunks::Join);
    assert_eq!(messages.len(), 1, "{notes:?}");
    assert_eq!(notes.iter().filter(|note| note.contains("UTF-8")).count(), 2, "{notes:?}");
}
