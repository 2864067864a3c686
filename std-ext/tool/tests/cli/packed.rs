//! Integers that stay packed in their objects, as `convert --keep-packed` leaves them: each command that gives numbers gives values.

use std::fs;
use std::path::Path;

use tgm_std::deps::ciborium::Value;
use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::edits::Folder;
use crate::tool::tgm;

const STORED: [i16; 12] = [0, 1, -1, 3, 4, 100, -100, 7, 8, 32767, -32768, 11];
/// The number of a missing cell.
const FILL: i16 = -1;

/// Files with the stored numbers and their attributes, and with the values.
fn files(folder: &Folder) -> [String; 2] {
    let list = |texts: &[&str]| Value::Array(texts.iter().map(|text| Value::from(*text)).collect());
    let map = |entries: Vec<(&str, Value)>| Value::Map(entries.into_iter().map(|(key, it)| (key.into(), it)).collect());
    let named = |object: ObjectBuilder<'_>, attributes: Vec<(&str, Value)>| -> Vec<u8> {
        let object = object.metadata("name", "t").metadata("dimensions", list(&["y", "x"]));
        let object = object.metadata("attributes", map(attributes));
        let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
        MessageBuilder::new().options(options).object(object).encode().unwrap()
    };
    let values: Vec<f64> =
        STORED.iter().map(|stored| if *stored == FILL { f64::NAN } else { f64::from(*stored) * 0.1 + 250.0 }).collect();
    let own = vec![
        ("units", "K".into()),
        ("scale_factor", 0.1.into()),
        ("add_offset", 250.0.into()),
        ("_FillValue", FILL.into()),
    ];
    let packed = named(ObjectBuilder::new(&[3, 4], &STORED).unwrap(), own);
    let packed_path = folder.file("packed.tgm", &packed);
    let plain = named(ObjectBuilder::new(&[3, 4], &values).unwrap(), vec![("units", "K".into())]);
    [packed_path, folder.file("plain.tgm", &plain)]
}

#[test]
fn each_command_that_gives_numbers_gives_values() {
    // `F` is the file, and `OUT` the output.
    let mut routes = vec![
        "cat F",
        "cat F --csv",
        "cat F --slice 1,:",
        "cat F --format %.3f",
        "cat F --over y,x --cube t",
        "stats F --jsonl",
        "stats F --over y",
        "plot F --width 20",
        "plot F -O OUT.svg",
        "plot F --slice 1,:",
        "plot F --histogram=4",
        "extract F -O OUT.npy",
        "extract F -O OUT.bin",
        "extract F -O OUT.bin --byte-order big",
        "extract F -O OUT.npy --range 3:5",
        "extract F -O OUT.npy --slice :,2",
        "extract F --cube t -O OUT.npy",
        "convert F -o OUT.npy",
        "convert F -o OUT.csv",
        "convert F -o OUT.raw --to raw",
    ];
    if cfg!(feature = "npz") {
        routes.push("convert F -o OUT.npz");
    }
    if cfg!(feature = "safetensors") {
        routes.push("convert F -o OUT.safetensors");
    }
    let folder = Folder::new();
    let files = files(&folder);
    for route in routes {
        let found = files.each_ref().map(|file| {
            let ending = route.split_once("OUT").map(|(_, rest)| rest.split(' ').next().unwrap().to_string());
            let out = folder.path(&format!("out{}", ending.clone().unwrap_or_default()));
            let args = route.split(' ').map(|part| match part {
                "F" => file.clone(),
                part => part.replace("OUT", &folder.path("out")),
            });
            let run = tgm(args);
            assert_eq!(run.code, Some(0), "{route}: {}", run.stderr);
            let written = ending.map(|_| fs::read(&out).unwrap()).unwrap_or_default();
            if Path::new(&out).exists() {
                fs::remove_file(&out).unwrap();
            }
            let text = String::from_utf8(run.stdout).unwrap().replace("packed.tgm", "plain.tgm");
            (text, written)
        });
        assert!(found[0] == found[1], "{route}\n{}\n{}", found[0].0, found[1].0);
        assert!(!(found[0].0.is_empty() && found[0].1.is_empty()), "{route}");
    }
}

/// Statistics and pictures are of amounts, and a number that stands for missing cells is none.
#[test]
fn integers_that_stand_for_missing_cells_are_no_amounts() {
    let folder = Folder::new();
    let file = |name: &str, object: ObjectBuilder<'_>, attributes: Vec<(Value, Value)>| {
        let object = object.metadata("name", "t").metadata("dimensions", Value::Array(vec!["y".into(), "x".into()]));
        let object = object.metadata("attributes", Value::Map(attributes));
        let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
        folder.file(name, &MessageBuilder::new().options(options).object(object).encode().unwrap())
    };
    for (name, missing) in [("_FillValue", -9999_i64), ("missing_value", i64::MIN)] {
        let stored = [3, missing, 5, 8, missing, 13];
        let values = [3.0, f64::NAN, 5.0, 8.0, f64::NAN, 13.0];
        let told = || vec![(name.into(), missing.into())];
        let whole = file("whole.tgm", ObjectBuilder::new(&[2, 3], &stored).unwrap(), told());
        let big: Vec<u8> = stored.iter().flat_map(|number| number.to_be_bytes()).collect();
        let descriptor = DataObjectDescriptor::new(Dtype::Int64, ByteOrder::Big, &[2, 3]);
        let swapped = file("swapped.tgm", ObjectBuilder::from_parts(descriptor, big), told());
        let plain = file("plain.tgm", ObjectBuilder::new(&[2, 3], &values).unwrap(), vec![]);
        // Every route that computes, draws, or lists a box of a dataset.
        for command in [
            &["stats", "--jsonl"][..],
            &["stats", "--over", "y"],
            &["stats", "--over", "y,x", "--cube", "t"],
            &["plot", "--width", "20"],
            &["plot", "--cube", "t", "--width", "20"],
            &["plot", "--cube", "t", "--over", "x", "--sel", "y=1"],
            &["cat", "--over", "y,x", "--cube", "t"],
        ] {
            let [found, swapped, expected] = [&whole, &swapped, &plain].map(|path| {
                let run = tgm(command.iter().copied().chain([path.as_str()]));
                assert_eq!(run.code, Some(0), "{}", run.stderr);
                run.text().replace("swapped.tgm", "plain.tgm").replace("whole.tgm", "plain.tgm")
            });
            assert_eq!((&found, &swapped), (&expected, &expected), "{command:?}");
        }
        // Elsewhere the number stays.
        assert!(tgm(["cat", &whole]).good().text().contains(&missing.to_string()));
    }
}

#[test]
fn integers_that_mean_values_are_not_made_floats() {
    let folder = Folder::new();
    let [packed, plain] = files(&folder);
    let out = folder.path("out.tgm");
    for stages in [&["--bits", "12", "--convert"][..], &["--zfp", "rate=32", "--convert"]] {
        let run = tgm(["repack", &packed, "-o", &out].iter().chain(stages));
        assert!(run.code == Some(1) && run.stderr.contains("scale_factor"), "{stages:?}: {}", run.stderr);
    }
    // Other stages keep what they mean.
    tgm(["repack", &packed, "-o", &out, "--compression", "szip", "--quiet"]).good();
    let [found, expected] = [out, plain].map(|path| tgm(["cat", &path]).good().stdout);
    assert_eq!(found, expected);
}

#[test]
fn a_dataset_of_packed_integers_has_values_and_their_attributes() {
    let folder = Folder::new();
    let [packed, plain] = files(&folder);
    let json = |path: &str| tgm(["cube", "--json", path]).good().json()["datasets"][0]["variables"].clone();
    assert_eq!(json(&packed), json(&plain));
    // What lists objects says what is stored.
    assert!(tgm(["ls", &packed]).good().text().contains("int16"));
}
