//! `tgm salvage`: whole messages are kept, lost bytes are reported.

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::corpus::{data, files};
use crate::edits::{Folder, digests, digests_by_message, dump, sound, together, verdicts};
use crate::tool::{Run, tgm};

/// Runs `tgm salvage --json` and checks three facts: the parts cover the file, IN is unchanged, and the exit code tells
/// whether bytes were lost.
fn salvage(path: &str, out: &str, arguments: &[&str]) -> (Run, Vec<Json>) {
    let before = fs::read(path).unwrap();
    let run = tgm(["salvage", "--json", path, "-o", out].iter().chain(arguments));
    assert!(fs::read(path).unwrap() == before, "{path}");
    let parts = run.json()["parts"].as_array().unwrap().clone();
    let end = parts.iter().fold(0, |end, part| {
        assert_eq!(part["offset"], end, "{path}: {parts:?}");
        end + part["length"].as_u64().unwrap()
    });
    assert_eq!(end, before.len() as u64, "{path}");
    // An empty file gives no output.
    let is_lossless = !parts.is_empty() && parts.iter().all(|part| part["kind"] == "message");
    assert_eq!(run.code, Some(i32::from(!is_lossless)), "{path}: {}", run.stderr);
    (run, parts)
}

/// Kind, offset and length of parts.
fn extents(parts: &[Json]) -> Vec<(&str, u64, u64)> {
    let number = |value: &Json| value.as_u64().unwrap();
    parts.iter().map(|p| (p["kind"].as_str().unwrap(), number(&p["offset"]), number(&p["length"]))).collect()
}

#[test]
fn sound_files_are_copied() {
    let folder = Folder::new();
    let out = folder.path("out.tgm");
    let paths: Vec<_> = sound().collect();
    let verify = [PathBuf::from("verify"), "--json".into()];
    let document = tgm(verify.iter().chain(&paths)).json();
    let messages = document["messages"].as_array().unwrap();
    let hashed_in_part: Vec<_> =
        messages.iter().filter(|m| m["result"] == "digests missing").map(|m| m["file"].as_str().unwrap()).collect();
    let whole = paths.iter().filter(|path| !hashed_in_part.contains(&path.to_str().unwrap()));
    let path = folder.file("in.tgm", &together(whole));
    for arguments in [&[][..], &["--verify", "--objects"]] {
        let (run, parts) = salvage(&path, &out, arguments);
        run.good();
        assert!(parts.len() > 500 && fs::read(&out).unwrap() == fs::read(&path).unwrap(), "{arguments:?}");
    }
}

#[test]
fn garbage_and_torn_tails_are_left_out_and_reported() {
    let folder = Folder::new();
    let out = folder.path("out.tgm");
    let buffered = fs::read(data("masks/multi-object.tgm")).unwrap();
    let streamed = fs::read(data("streaming/plain-0.24.0.tgm")).unwrap();
    let torn = &buffered[..buffered.len() - 20];
    let path = folder.file("in.tgm", &[b"xyz", &buffered[..], &[0; 5], &streamed, b"TENSOGRM", torn].concat());
    let (_, parts) = salvage(&path, &out, &[]);
    let (b, s) = (buffered.len() as u64, streamed.len() as u64);
    let lost = torn.len() as u64;
    let expected =
        [("lost", 0, 3), ("message", 3, b), ("lost", 3 + b, 5), ("message", 8 + b, s), ("lost", 8 + b + s, 8 + lost)];
    assert_eq!(extents(&parts), expected);
    // The version number after the stray magic is too large, so the magic counts as chance.
    assert!(parts[0]["why"] == "belongs to no message" && parts[4]["why"] == "belongs to no message");
    assert!(fs::read(&out).unwrap() == [&buffered[..], &streamed].concat());
    // The objects of the torn message are whole.
    salvage(&path, &out, &["--objects"]);
    let objects = [digests(data("masks/multi-object.tgm")), digests(data("streaming/plain-0.24.0.tgm"))];
    assert_eq!(digests(&out), [&objects[0][..], &objects[1], &objects[0]].concat());
}

#[test]
fn a_message_that_swallowed_others_does_not_hide_them() {
    let folder = Folder::new();
    let message = fs::read(data("masks/multi-object.tgm")).unwrap();
    let mut bytes = message.repeat(3);
    // The first message claims to reach to the end of the last one.
    bytes[16..24].copy_from_slice(&(3 * message.len() as u64).to_be_bytes());
    let path = folder.file("in.tgm", &bytes);
    let (_, parts) = salvage(&path, &folder.path("out.tgm"), &[]);
    let len = message.len() as u64;
    assert_eq!(extents(&parts), [("lost", 0, len), ("message", len, len), ("message", 2 * len, len)]);
    assert!(fs::read(folder.path("out.tgm")).unwrap() == message.repeat(2));
}

#[test]
fn a_flipped_byte_costs_the_object_it_is_in_and_no_other() {
    let folder = Folder::in_memory();
    let out = folder.path("out.tgm");
    for name in ["masks/multi-object.tgm", "preceder/every-object.tgm", "codecs/mixed-stream.tgm"] {
        let bytes = fs::read(data(name)).unwrap();
        let message = &dump(data(name))[0];
        let objects = digests(data(name));
        let frames = message["frames"].as_array().unwrap().iter().filter(|frame| frame["name"] == "NTensorFrame");
        let number = |value: &Json| usize::try_from(value.as_u64().unwrap()).unwrap();
        let ranges: Vec<_> =
            frames.map(|f| number(&f["offset"])..number(&f["offset"]) + number(&f["length"])).collect();
        assert_eq!(ranges.len(), objects.len());
        let edges = ranges.iter().flat_map(|range| {
            let [start, end] = [range.start, range.end];
            (start..start + 16).chain(end - 20..end)
        });
        let mut salvaged = Vec::new();
        for at in (0..bytes.len()).step_by(bytes.len() / 60).chain(edges) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x21;
            let path = folder.file("in.tgm", &flipped);
            salvage(&path, &out, &["--verify", "--objects"]);
            salvaged.push((at, fs::read(&out).unwrap()));
            fs::remove_file(&out).unwrap();
        }
        // What was kept of all of them is read together.
        let all = folder.file("all.tgm", &salvaged.iter().flat_map(|(_, bytes)| bytes).copied().collect::<Vec<_>>());
        assert!(verdicts(&all).iter().all(|verdict| verdict == "ok"), "{name}");
        let mut messages = digests_by_message(&all).into_iter();
        for (at, bytes) in salvaged {
            let kept = messages.by_ref().take(tgm_std::scan(&bytes).len()).collect::<Vec<_>>().concat();
            let expected: Vec<_> =
                objects.iter().zip(&ranges).filter(|(_, range)| !range.contains(&at)).map(|(o, _)| o).collect();
            assert!(expected.iter().all(|object| kept.contains(object)), "{name}: byte {at}");
            assert!(kept.iter().all(|object| objects.contains(object)), "{name}: byte {at}: {kept:?}");
        }
        assert!(messages.next().is_none(), "{name}");
    }
}

#[test]
fn rescued_objects_keep_the_metadata_that_is_theirs() {
    let folder = Folder::new();
    let source = folder.path("source.tgm");
    tgm(["merge", &data("multi/three.tgm"), &data("metadata/mars.tgm"), "-o", &source]).good();
    tgm(["set", "-s", "extra.note=kept", &source, &source]).good();
    let message = &dump(&source)[0];
    let mut bytes = fs::read(&source).unwrap();
    // The payload of the first object is damaged.
    let at = message["objects"][0]["layout"]["payload_offset"].as_u64().unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    let path = folder.file("in.tgm", &bytes);
    let (_, parts) = salvage(&path, &folder.path("out.tgm"), &["--verify", "--objects"]);
    assert!(parts[0]["why"].as_str().unwrap().contains("hash mismatch on object 0"), "{parts:?}");
    let rescued = parts[0]["rescued"].as_array().unwrap();
    let left = message["objects"].as_array().unwrap().len() - 1;
    assert!(rescued.len() == left && rescued.iter().all(|object| object["metadata"] == true));
    let after = &dump(folder.path("out.tgm"))[0];
    assert_eq!(after["extra"], message["extra"]);
    for index in 0..left {
        let user = |message: &Json, index: usize| {
            let mut metadata = message["objects"][index]["metadata"].as_object().unwrap().clone();
            metadata.shift_remove("_reserved_");
            metadata
        };
        assert_eq!(user(after, index), user(message, index + 1));
    }
    // Without --verify nothing is wrong with it.
    let (run, _) = salvage(&path, &folder.path("out.tgm"), &[]);
    run.good();
}

#[test]
fn whatever_the_bytes_are_what_is_written_is_whole() {
    let folder = Folder::in_memory();
    let mut written = Vec::new();
    for path in files("malformed").into_iter().chain(files("multi")) {
        let out = folder.path("out.tgm");
        let (_, parts) = salvage(path.to_str().unwrap(), &out, &["--verify", "--objects"]);
        let is_something = |part: &Json| part["kind"] == "message" || part["rescued"] != serde_json::json!([]);
        if parts.iter().any(is_something) {
            written.push((path.clone(), fs::read(&out).unwrap()));
            fs::remove_file(&out).unwrap();
        }
        assert!(!folder.names().contains(&"out.tgm".to_string()), "{path:?}");
    }
    // Every message is whole. Where one is not, its file is found by its number.
    let places = written.iter().flat_map(|(path, bytes)| tgm_std::scan(bytes).into_iter().map(move |_| path));
    let all = folder.file("all.tgm", &written.iter().flat_map(|(_, bytes)| bytes).copied().collect::<Vec<_>>());
    let verdicts = verdicts(&all);
    assert_eq!(verdicts.len(), places.clone().count());
    for (path, verdict) in places.zip(verdicts) {
        assert!(verdict == "ok" || verdict == "no digests", "{path:?}: {verdict}");
    }
    salvage(&all, &folder.path("again.tgm"), &["--verify"]).0.good();
}

#[test]
fn the_damaged_file_is_not_written_to() {
    let folder = Folder::new();
    let path = folder.path("in.tgm");
    fs::copy(data("multi/garbage-between.tgm"), &path).unwrap();
    tgm(["salvage", &path, "-o", &path]).failed("write to another");
    assert!(fs::read(&path).unwrap() == fs::read(data("multi/garbage-between.tgm")).unwrap());
}

#[test]
fn a_file_is_salvaged_in_place_and_stays_beside_it() {
    let folder = Folder::new();
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let torn = [&good[..568], b"junk", &good[568..]].concat();
    let path = folder.file("in.tgm", &torn);
    assert_eq!(tgm(["salvage", "--in-place", &path]).code, Some(1));
    assert!(fs::read(&path).unwrap() == good && fs::read(folder.path("in.tgm.bak")).unwrap() == torn);
    // Nothing is lost now, so nothing is done.
    tgm(["salvage", "--in-place", &path]).good();
    // A backup is not replaced.
    fs::write(&path, &torn[4..]).unwrap();
    let run = tgm(["salvage", "--in-place", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("in.tgm.bak: nothing was written"), "{}", run.stderr);
    assert!(fs::read(&path).unwrap() == torn[4..] && fs::read(folder.path("in.tgm.bak")).unwrap() == torn);
    assert_eq!(tgm(["salvage", "--in-place", "-"]).code, Some(2));
    assert_eq!(folder.names(), ["in.tgm", "in.tgm.bak"]);
}
