//! `info`, `ls`, `dump`, `frames`: their output equals the recorded facts.

use serde_json::{Value as Json, json};
use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::corpus::{data, of_class};
use crate::tool::tgm;

/// Folders of readable files with many layouts of messages.
const READABLE: [&str; 6] = ["layout", "preceder", "metadata", "hash", "streaming", "many"];

/// Files of class `valid` in the readable folders, whose sidecar describes the first message.
fn readable() -> impl Iterator<Item = (std::path::PathBuf, Json)> {
    of_class("valid").filter(|(path, sidecar)| {
        let folder = path.parent().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
        folder.is_some_and(|folder| READABLE.contains(&folder)) && sidecar.get("truth").is_none()
    })
}

#[test]
fn frames_are_the_recorded_ones() {
    for (path, sidecar) in readable() {
        let document = tgm([&"frames".into(), &"--json".into(), &path]).good().json();
        let messages = document["messages"].as_array().unwrap();
        for (message, recorded) in messages.iter().zip(sidecar["messages"].as_array().unwrap()) {
            let pick = |frame: &Json| {
                json!([frame["type"], frame["offset"], frame["length"], frame["flags"], frame["hash_slot"]])
            };
            let frames: Vec<_> = message["frames"].as_array().unwrap().iter().map(pick).collect();
            let recorded: Vec<_> = recorded["wire"]["frames"].as_array().unwrap().iter().map(pick).collect();
            // The sidecar abridges long lists.
            if recorded.len() == frames.len() {
                assert_eq!(frames, recorded, "{path:?}");
            }
        }
    }
}

#[test]
fn dump_has_descriptors_metadata_and_frames_whole() {
    for (path, sidecar) in readable() {
        let document = tgm([&"dump".into(), &"--json".into(), &path]).good().json();
        let message = &document["messages"][0];
        let recorded = &sidecar["messages"][0];
        assert_eq!(message["preamble"]["flags"], recorded["wire"]["flags"], "{path:?}");
        let objects = message["objects"].as_array().unwrap();
        assert_eq!(objects.len(), recorded["objects"].as_array().unwrap().len(), "{path:?}");
        for (object, recorded) in objects.iter().zip(recorded["objects"].as_array().unwrap()) {
            for key in ["type", "dtype", "shape", "strides", "encoding", "filter", "compression"] {
                let recorded = &recorded["descriptor"][key];
                assert!(recorded.is_null() || object["descriptor"][key] == *recorded, "{path:?}: {key}");
            }
        }
        let extra = &recorded["metadata"]["extra"];
        // The binding reports values that JSON lacks in another way.
        if !path.ends_with("metadata-tags-undefined-bignum.tgm") && !path.ends_with("metadata-nested-nontext-keys.tgm")
        {
            assert_same_keys(&message["extra"], extra, &path.display().to_string());
        }
    }
}

/// The library's tests compare values. This test checks that none is missing.
fn assert_same_keys(found: &Json, recorded: &Json, place: &str) {
    let keys = |value: &Json| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(found), keys(recorded), "{place}");
}

#[test]
fn values_that_json_lacks_are_spelt_as_in_the_sidecars() {
    for name in ["metadata-tags-undefined-bignum", "metadata-nested-nontext-keys", "metadata-bytes-and-float-widths"] {
        let path = data(&format!("layout/{name}.tgm"));
        let message = tgm(["dump", "--json", &path]).good().json()["messages"][0].clone();
        let sidecar = crate::corpus::sidecar(path.as_ref());
        let frames = sidecar["messages"][0]["metadata_cbor"].as_object().unwrap();
        let recorded = frames.get("footer_metadata").unwrap_or(&frames["header_metadata"]);
        if let Some(extra) = recorded.get("_extra_") {
            assert_eq!(&message["extra"], extra, "{name}");
        }
        if let Some(base) = recorded.get("base") {
            let found: Json =
                message["objects"].as_array().unwrap().iter().map(|object| object["metadata"].clone()).collect();
            assert_eq!(&found, base, "{name}");
        }
    }
    let of = |name: &str| tgm(["dump", "--json", &data(name)]).good().text().to_string();
    assert!(of("layout/metadata-int-neg-2-64.tgm").contains(r#"{"$int":"-18446744073709551616"}"#));
    assert!(of("metadata/scalars.tgm").contains(r#""f_nan":{"$float":"nan"}"#));
}

#[test]
fn ls_shows_what_a_scientist_looks_for() {
    let run = tgm(["ls", &data("realistic/surface-181x360.tgm")]).good();
    let lines: Vec<Vec<_>> = run.text().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0].join(" "), "message object name date step dtype shape codec bytes stored ratio");
    assert_eq!(lines[1].join(" "), "0 0 2t 20260404 24 float64 181x360 simple_packing+szip 521280 93199 5.59");
    assert_eq!(lines[3].join(" "), "0 2 lsm 20260404 24 bitmask 181x360 roaring 8145 2263 3.60");
    // CSV has a column for each stage, and all that there are.
    let run = tgm(["ls", "--csv", &data("realistic/surface-181x360.tgm")]).good();
    let title =
        "message,object,name,level,date,step,number,dtype,shape,encoding,filter,compression,masks,bytes,stored,ratio";
    assert_eq!(run.text().lines().next(), Some(title));
    assert!(run.text().contains("0,0,2t,,20260404,24,,float64,181x360,simple_packing,none,szip,,521280,93199,5.59\n"));
    let run = tgm(["ls", &data("realistic/surface-181x360.tgm")]).good();
    assert!(run.text().lines().all(|line| line == line.trim_end()));
    // Numbers stand under the end of their titles, text under the beginning.
    let ends: Vec<_> = run.text().lines().map(str::len).collect();
    assert!(ends.iter().all(|&end| end == ends[0]), "{ends:?}");
}

/// What a column shows is found under its title: by filters, as a value, and to sort by.
#[test]
fn titles_of_columns_are_keys() {
    let folder = crate::edits::Folder::new();
    let path = folder.file("steps.tgm", &crate::datasets::steps());
    let run = tgm(["ls", &path]).good();
    let title = "message object name date step number dtype shape codec bytes stored ratio";
    assert_eq!(run.text().lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" "), title);
    let rows = |line: &[&str]| tgm([line, &[&path]].concat()).good().text().lines().count() - 1;
    for (filter, count) in [
        ("name=2t", 5),
        ("name=10u", 1),
        ("number=1", 2),
        ("number=1 and step=6", 1),
        ("step in 6..=12", 4),
        ("date=2024-02-29", 6),
        ("date<2024-02-29", 0),
        ("time=1200", 6),
        ("shortName=2t/10u and not step=0", 4),
        ("number!=0", 2),
        ("number?", 6),
    ] {
        assert_eq!(rows(&["ls", "--csv", "-w", filter]), count, "{filter}");
    }
    let run = tgm(["get", "-p", "name,step,number,date,time", "-n", "2", &path]).good();
    assert_eq!(run.text(), "2t 0 0 20240229 1200\n2t 6 0 20240229 1200\n");
    let run = tgm(["ls", "-p", "number,step", "-B", "number:desc,step:desc", &path]).good();
    assert!(run.text().lines().nth(1).unwrap().split_whitespace().eq(["4", "1", "6"]), "{}", run.text());
    // Sorted by a column, and by one that is hidden because all have the same number.
    for key in ["number", "step", "encoding", "codec"] {
        tgm(["ls", "-B", key, "-w", "number=0", &path]).good();
    }
    let run = tgm(["ls", "-w", "number=0", &path]).good();
    assert!(!run.text().contains("number"), "{}", run.text());
    // A catalogue has keys as objects have them.
    tgm(["catalog", "--auto", &path]).good();
    let catalog = format!("{path}.catalog");
    let run = tgm(["ls", "--catalog", &catalog, "-w", "number=1 and step=6", &path]).good();
    assert_eq!(run.text().lines().count(), 2, "{}", run.text());
}

/// Columns about sizes are left out where rows would be wider than 100 characters.
#[test]
fn rows_are_at_most_100_characters_wide() {
    let mars = [("param", "2t".into()), ("levelist", 1000.into()), ("date", 20_240_229.into()), ("step", 240.into())];
    let long = |name: &str, number: i32| {
        let mut entries: Vec<(Value, Value)> =
            mars.iter().map(|(key, value)| ((*key).into(), Value::clone(value))).collect();
        entries.push(("number".into(), number.into()));
        let values: Vec<f64> = (0..50_000).map(f64::from).collect();
        let object = ObjectBuilder::new(&[100, 500], &values).unwrap().metadata("name", name);
        let object = object.metadata("mars", Value::Map(entries)).simple_packing(24).szip();
        MessageBuilder::new().object(object).encode().unwrap()
    };
    let folder = crate::edits::Folder::new();
    let path = folder.file("wide.tgm", &[long("temperature", 1), long("relative_humidity", 12)].concat());
    let run = tgm(["ls", &path]).good();
    assert!(run.text().lines().all(|line| line.len() <= 100), "{}", run.text());
    let title = run.text().lines().next().unwrap().to_string();
    assert!(title.contains("number") && title.contains("shape") && !title.contains("ratio"), "{title}");
    assert!(tgm(["ls", "--csv", &path]).good().text().contains(",ratio\n"));
}

#[test]
fn ls_names_the_file_where_there_are_several_and_goes_on_after_damage() {
    let run = tgm(["ls", &data("multi/corrupt-middle.tgm"), &data("nowhere.tgm"), &data("shapes/scalar-f64.tgm")]);
    assert_eq!(run.code, Some(1));
    let text = run.text();
    assert!(text.contains("(unreadable)") && text.contains("no objects") && text.contains("scalar"), "{text}");
    let stderr: Vec<_> = run.stderr.lines().collect();
    assert!(stderr[0].contains("corrupt-middle.tgm: message 1: hash mismatch"), "{stderr:?}");
    assert!(
        stderr[1].starts_with("error: cannot read ") && stderr[2].starts_with("  caused by: io error: "),
        "{stderr:?}"
    );
}

#[test]
fn info_counts_messages_objects_and_junk() {
    let run = tgm(["info", "--json", &data("multi/garbage-between.tgm"), &data("multi/all-versions.tgm")]);
    assert_eq!((run.code, run.stderr.lines().count()), (Some(1), 2), "{}", run.stderr);
    let document = run.json();
    assert_eq!(document["schema"], "tgm.info/1");
    let [garbage, versions] = document["files"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!((&garbage["messages"], &garbage["junk"], &garbage["bytes"]), (&json!(3), &json!(53), &json!(1765)));
    assert_eq!(versions["encoders"].as_array().unwrap().len(), 6);
    assert_eq!(versions["encoders"][0], json!({"encoder": "tensogram 0.19.0", "messages": 1}));
    let text = tgm(["info", &data("multi/garbage-between.tgm")]);
    assert!(text.text().contains("  Messages: 3\n") && text.text().contains("  Size: 1765 bytes\n"), "{}", text.text());
}

#[test]
fn json_documents_have_schemas() {
    for command in ["info", "ls", "dump", "frames", "digest", "scan", "verify"] {
        let document = tgm([command, "--json", &data("dtypes/float32-little.tgm")]).good().json();
        assert_eq!(document["schema"], format!("tgm.{command}/1"));
    }
}
