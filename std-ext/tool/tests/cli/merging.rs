//! `tgm merge` and `tgm split`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::hash::HashPresence;

use crate::corpus::{data, files};
use crate::edits::{Folder, contents, digests, dump, has_junk, sound, together, verdicts};
use crate::tool::tgm;

#[test]
fn splitting_and_merging_change_no_value_no_descriptor_and_no_metadata() {
    // Files with digests together, and those without.
    let is_hashed = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        let presence = |(offset, length): (usize, usize)| {
            Message::parse(&bytes[offset..offset + length]).unwrap().hash_presence().unwrap()
        };
        tgm_std::scan(&bytes).into_iter().any(|place| presence(place) != HashPresence::Absent)
    };
    let (hashed, bare): (Vec<_>, Vec<_>) = sound().partition(is_hashed);
    let mut objects = 0;
    for (paths, verdict) in [(hashed, "ok"), (bare, "no digests")] {
        let (source, parts) = (Folder::in_memory(), Folder::in_memory());
        let path = source.file("in.tgm", &together(&paths));
        let (before, expected) = (dump(&path), digests(&path));
        tgm(["split", &path, "-o", &parts.path("part[index].tgm")]).good();
        let parts: Vec<String> = parts.names().iter().map(|name| parts.path(name)).collect();
        assert!(parts.len() > 20, "{} parts", parts.len());
        let found = digests(source.file("parts.tgm", &together(&parts)));
        first_difference(&found, &expected);
        let whole = source.path("whole.tgm");
        tgm(["merge", "-s", "first", "-o", &whole].into_iter().chain(parts.iter().map(String::as_str))).good();
        first_difference(&digests(&whole), &expected);
        let merged = contents(&dump(&whole)[0]);
        let all = before.iter().flat_map(|message| contents(message)["objects"].as_array().unwrap().clone());
        first_difference(merged["objects"].as_array().unwrap(), &all.collect::<Vec<_>>());
        assert_eq!(verdicts(&whole), [verdict]);
        objects += expected.len();
    }
    assert!(objects > 700, "only {objects} objects were compared");
}

/// Asserts that lists are equal. Only the first difference is shown.
fn first_difference(found: &[Json], expected: &[Json]) {
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "object {index}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn parts_are_numbered_over_the_file_and_inherit_what_is_the_messages() {
    let folder = Folder::new();
    let path = folder.path("in.tgm");
    tgm(["set", "-s", "extra.run:s=7", &data("multi/all-versions.tgm"), &path]).good();
    let two = folder.path("two.tgm");
    tgm(["merge", &path, &path, "-o", &two]).good();
    tgm(["split", &two, "-o", &folder.path("[index]-of.tgm")]).good();
    let count = digests(&two).len();
    let names: Vec<_> = (0..count).map(|index| format!("{index:04}-of.tgm")).collect();
    assert_eq!(folder.names()[..count], names);
    for (index, name) in names.iter().enumerate() {
        let part = &dump(folder.path(name))[0];
        assert_eq!((&part["extra"]["run"], part["objects"].as_array().unwrap().len()), (&json!("7"), 1));
        assert_eq!(contents(part)["objects"][0], contents(&dump(&two)[0])["objects"][index]);
    }
}

#[test]
fn messages_with_at_most_one_object_are_split_off_verbatim() {
    let folder = Folder::new();
    let path = data("multi/mixed-kinds.tgm");
    let bytes = fs::read(&path).unwrap();
    tgm(["split", &path, "-o", &folder.path("part")]).good();
    let mut next = 0;
    for message in dump(&path) {
        let objects = message["objects"].as_array().unwrap().len();
        let part = fs::read(folder.path(&format!("part_{next:04}"))).unwrap();
        let offset = usize::try_from(message["offset"].as_u64().unwrap()).unwrap();
        assert_eq!(bytes[offset..].starts_with(&part), objects <= 1);
        next += objects.max(1);
    }
    assert_eq!(folder.names().len(), next);
}

#[test]
fn strategies_decide_about_annotations_that_differ() {
    let folder = Folder::new();
    let source = data("dtypes/float32-little.tgm");
    let inputs = ["a", "b"].map(|value| {
        let path = folder.path(value);
        tgm(["set", "-s", &format!("extra.name={value},extra.same:s=1,extra.{value}:s=2"), &source, &path]).good();
        path
    });
    let out = folder.path("out.tgm");
    let merge = |strategy: &[&str]| {
        let arguments = ["merge", &inputs[0], &inputs[1], "-o", &out];
        tgm(arguments.into_iter().chain(strategy.iter().copied()))
    };
    for (strategy, expected) in [(&[][..], "a"), (&["-s", "first"], "a"), (&["-s", "last"], "b")] {
        let run = merge(strategy);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        // Who chooses knows it.
        assert_eq!(run.stderr.contains("messages differ in name: the first"), strategy.is_empty(), "{}", run.stderr);
        let message = &dump(&out)[0];
        assert_eq!(message["extra"], json!({"a": "2", "b": "2", "name": expected, "same": "1"}));
    }
    let before = fs::read(&out).unwrap();
    merge(&["-s", "error"]).failed("conflicting values for key name");
    assert!(fs::read(&out).unwrap() == before);
    assert_eq!(merge(&["-s", "none"]).code, Some(2));
}

/// Arrays of texts are annotations, and each is one of its own.
#[test]
fn texts_of_all_messages_stand_side_by_side() {
    let folder = Folder::new();
    let source = data("dtypes/float32-little.tgm");
    let inputs = [("a", "name", "Oslo"), ("b", "land", "NO"), ("c", "name", "Bergen")].map(|(file, name, text)| {
        let texts = json!({name: {"dimensions": ["x"], "shape": [1], "values": [text]}});
        let path = folder.path(file);
        tgm(["set", "-s", &format!("extra.texts={texts}"), &source, &path]).good();
        path
    });
    let out = folder.path("out.tgm");
    let run = tgm(["merge", "-o", &out].into_iter().chain(inputs.iter().map(String::as_str)));
    assert!(run.code == Some(0) && run.stderr.contains("differ in texts.name:"), "{}", run.stderr);
    let texts = dump(&out)[0]["extra"]["texts"].clone();
    assert_eq!((&texts["name"]["values"], &texts["land"]["values"]), (&json!(["Oslo"]), &json!(["NO"])));
    let run = tgm(["merge", "-s", "error", "-o", &out].into_iter().chain(inputs.iter().map(String::as_str)));
    run.failed("conflicting values for key texts.name");
    tgm(["merge", "-s", "error", "-o", &out, &inputs[0], &inputs[1]]).good();
}

#[test]
fn what_cannot_be_read_is_not_merged_and_does_not_stop_a_split() {
    let folder = Folder::new();
    let path = data("multi/corrupt-middle.tgm");
    let out = folder.file("out.tgm", b"what was here before");
    let run = tgm(["merge", &path, "-o", &out]).failed("message 1: metadata error");
    assert!(run.stderr.contains("nothing was written"), "{}", run.stderr);
    tgm(["merge", &data("multi/garbage-between.tgm"), "-o", &out])
        .failed("37 bytes at offset 568 belong to no message");
    tgm(["merge", &folder.path("missing.tgm"), &data("multi/three.tgm"), "-o", &out]).failed("cannot read");
    assert_eq!(fs::read(&out).unwrap(), b"what was here before");
    tgm(["split", &path, "-o", &folder.path("part.tgm")]).failed("message 1: metadata error");
    assert_eq!(folder.names(), ["out.tgm", "part_0000.tgm", "part_0001.tgm"]);
    assert!(has_junk(data("multi/garbage-between.tgm").as_ref()));
}

#[test]
fn wrong_digests_are_not_replaced_by_right_ones() {
    for path in files("malformed/hash").iter().filter(|path| verdicts(path).contains(&"mismatch".to_string())) {
        let folder = Folder::new();
        let (path, out) = (path.to_str().unwrap(), folder.path("out.tgm"));
        tgm(["merge", path, "-o", &out]).failed("hash mismatch");
        tgm(["split", path, "-o", &out]).failed("hash mismatch");
        assert_eq!(folder.names(), [""; 0], "{path}");
        tgm(["set", "-s", "extra.a=b", path, &out]).failed("hash mismatch");
        assert!(fs::read(&out).unwrap() == fs::read(path).unwrap(), "{path}");
    }
}

#[test]
fn inputs_may_be_written_over() {
    let folder = Folder::new();
    let path = folder.path("a_0001.tgm");
    fs::copy(data("multi/three.tgm"), &path).unwrap();
    let expected = digests(&path);
    tgm(["merge", &path, "-o", &path]).good();
    assert_eq!((digests(&path), dump(&path).len()), (expected.clone(), 1));
    // One object of several cannot replace the whole file.
    tgm(["split", &path, "-o", &folder.path("a.tgm")]).failed("the file that is read");
    assert_eq!((digests(&path), folder.names()), (expected, vec!["a_0001.tgm".to_string()]));
}

/// A command that takes files one after the other holds no descriptor of the others.
#[cfg(target_os = "linux")]
#[test]
fn more_files_than_descriptors_are_merged_and_repacked() {
    let folder = Folder::in_memory();
    let file = folder.file("one.tgm", &fs::read(data("dtypes/float32-little.tgm")).unwrap());
    let files: Vec<_> = std::iter::repeat_n(file.as_str(), 300).collect();
    let limited = |args: &[&str]| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tgm")]).args(args).args(&files);
        let output = shell.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {}", stderr.lines().take(3).collect::<Vec<_>>().join("; "));
    };
    let out = folder.path("out.tgm");
    let objects = || tgm(["info", "--json", &out]).good().json()["files"][0]["objects"].clone();
    limited(&["merge", "-o", &out]);
    assert_eq!(objects(), 300);
    limited(&["repack", "--compression", "none", "-o", &out]);
    assert_eq!(objects(), 300);
    // The other commands that take any number of files.
    limited(&["upgrade", "-o", &out]);
    for command in ["ls", "info", "validate", "verify", "stats", "get", "dump", "scan", "frames"] {
        let more: &[&str] = if command == "get" { &["-p", "dtype"] } else { &[] };
        limited(&[&[command], more].concat());
    }
}
