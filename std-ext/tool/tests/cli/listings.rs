//! `info`, `ls`, `dump`, `frames`: their output equals the recorded facts.

use serde_json::{Value as Json, json};

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
    let title = "message object name date step dtype shape encoding filter compression bytes stored ratio";
    assert_eq!(lines[0].join(" "), title);
    assert_eq!(lines[1].join(" "), "0 0 2t 20260404 24 float64 181x360 simple_packing none szip 521280 93199 5.59");
    assert_eq!(lines[3].join(" "), "0 2 lsm 20260404 24 bitmask 181x360 none none roaring 8145 2263 3.60");
    assert!(run.text().lines().all(|line| line == line.trim_end()));
    // Numbers stand under the end of their titles, text under the beginning.
    let ends: Vec<_> = run.text().lines().map(str::len).collect();
    assert!(ends.iter().all(|&end| end == ends[0]), "{ends:?}");
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
