//! Malformed input: every command ends by itself, with an exit code and without a panic.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::corpus::{data, files, sidecar};
use crate::scale::stride;
use crate::tool::{Run, tgm};

const LISTING: [&str; 7] = ["info", "ls", "dump", "frames", "scan", "verify", "digest"];

fn assert_ends_well(run: &Run, what: &str, path: &Path) {
    assert!(matches!(run.code, Some(0..=2)), "tgm {what} {path:?}: {:?} {}", run.code, run.stderr);
    assert!(!run.stderr.contains("panicked"), "tgm {what} {path:?}: {}", run.stderr);
    assert_eq!(run.code == Some(0) || what.starts_with("verify"), run.stderr.is_empty() || what.starts_with("verify"));
    assert!(run.stderr.is_empty() || run.stderr.starts_with("error: "), "tgm {what} {path:?}: {}", run.stderr);
}

#[test]
fn every_command_ends_on_every_malformed_file() {
    let paths = files("malformed");
    // Commands that take several files read them all in one run. It says which ones it opens, so none is left out.
    for line in ["info", "ls", "dump", "frames", "scan", "verify", "get -p version", "stats"] {
        let words = line.split(' ').chain(["-v"]).map(PathBuf::from);
        let run = tgm(words.chain(paths.clone()));
        assert!(matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"), "{line}: {}", run.stderr);
        for path in &paths {
            assert!(run.stderr.contains(&format!("{}: ", path.display())), "{line} {path:?}: {}", run.stderr);
        }
    }
    // Commands that take one file: the checks of every run start a ninth of them for each file, the deep ones all.
    let one_file = [
        "digest",
        "extract",
        "cat",
        "plot",
        "convert --quiet --to csv -o -",
        "bench --seconds 0",
        "tail --from-start --idle 0",
        "extract --range 0:1",
        "compare",
    ];
    let stride = stride(9);
    for (number, path) in paths.iter().enumerate() {
        for line in one_file.iter().skip(number % stride).step_by(stride) {
            let words = line.split(' ').map(PathBuf::from).chain([path.clone()]);
            if *line == "compare" {
                let run = tgm(words.chain([path.clone()]));
                assert!(matches!(run.code, Some(0 | 2)), "{path:?}: {:?} {}", run.code, run.text());
                continue;
            }
            assert_ends_well(&tgm(words), line, path);
        }
    }
}

#[test]
fn json_of_malformed_files_is_one_document_with_a_schema() {
    let paths = files("malformed");
    for command in LISTING.into_iter().chain(["get"]).filter(|&command| command != "digest") {
        let mut args: Vec<PathBuf> = vec![command.into(), "--json".into()];
        if command == "get" {
            args.extend(["-p".into(), "version,mars.param".into()]);
        }
        let run = tgm(args.iter().chain(&paths));
        assert_ends_well(&run, command, Path::new("malformed"));
        assert_eq!(run.json()["schema"], format!("tgm.{command}/1"));
    }
}

/// Files that are accepted although their sidecars say otherwise: of repeated keys the last counts (FORMAT §3.2), and
/// an empty file has no messages.
const NOT_REJECTED: [&str; 3] = ["duplicate-base.tgm", "duplicate-top.tgm", "single-00000.tgm"];

#[test]
fn what_must_be_rejected_is_an_error_in_the_digests() {
    let mut wrong_digests = 0;
    for path in files("malformed") {
        let verdict = sidecar(&path)["spec"]["verdict"].clone();
        let run = tgm([&"digest".into(), &"--json".into(), &path]);
        let document: Json = run.json();
        let text = document.to_string();
        match verdict.as_str().unwrap() {
            "reject" if NOT_REJECTED.iter().any(|name| path.ends_with(name)) => {}
            "reject" => assert_eq!(run.code, Some(1), "{path:?}: {text}"),
            // Without flags for digests none are checked. `verify` reports that they are missing.
            "reject-verify" => {
                assert!(run.code == Some(0) || text.contains("hash mismatch"), "{path:?}: {text}");
                wrong_digests += u32::from(run.code == Some(1));
            }
            "accept" => {
                assert!(run.code == Some(0) || text.contains("not compiled in"), "{path:?}: {text}");
            }
            _ => {}
        }
    }
    assert!(wrong_digests > 5, "{wrong_digests}");
}

#[test]
fn junk_and_other_versions_are_reported_and_do_not_hide_messages() {
    let run = tgm(["scan", "--json", &data("multi/v2-between-v3.tgm")]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("700 bytes at offset 608 belong to no message"), "{}", run.stderr);
    let document = run.json();
    let kinds: Vec<_> = document["segments"].as_array().unwrap().iter().map(|s| s["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "junk", "message"]);
    assert!(document["segments"][1]["note"].as_str().unwrap().contains("a message of version 2"));
    let end = document["segments"].as_array().unwrap().iter().fold(0, |end, segment| {
        assert_eq!(segment["offset"], end);
        end + segment["length"].as_u64().unwrap()
    });
    assert_eq!(end, std::fs::metadata(data("multi/v2-between-v3.tgm")).unwrap().len());
}

#[test]
fn frames_of_a_torn_message_are_listed_up_to_the_tear() {
    let run = tgm(["frames", "--json", &data("multi/truncated-tail-0304.tgm")]);
    assert_eq!(run.code, Some(1));
    let torn = &run.json()["messages"][1];
    assert_eq!(torn["frames"][0]["name"], "HeaderMetadata");
    assert_eq!(torn["offset"], 216);
    assert!(torn.get("message").is_none());
    assert!(torn["error"]["message"].as_str().unwrap().contains("exceeds buffer size"));
}

/// The bytes of output, on both streams, for each byte of the files.
fn output_per_byte(run: &Run, path: &str) -> u64 {
    (run.stdout.len() + run.stderr.len()) as u64 / std::fs::metadata(path).unwrap().len()
}

#[test]
fn what_is_printed_is_bounded_by_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| crate::npy::write(folder.path(), name, bytes);
    let frame = std::fs::read(data("dtypes/float32-little.tgm")).unwrap();
    let values = file("v", &[0]);
    // Metadata of maps, lists, tags and one-byte values, nested as deeply as allowed.
    let nested = |open: &str, close: &str| format!("{}0{}", open.repeat(100), close.repeat(100));
    let described = |name: &str, value: &str| {
        let extra = (0..300).map(|i| format!("\"{i}\": {value}")).collect::<Vec<_>>().join(",");
        let json = file("m.json", format!("{{\"extra\": {{{extra}}}}}").as_bytes());
        let path = folder.path().join(name).display().to_string();
        tgm(["create", "-o", &path, "--raw", "u8,1", "--metadata", &json, &values]).good();
        path
    };
    let paths = [
        file("magics.tgm", &b"TENSOGRM".repeat(1 << 14)),
        // Every second message has a frame, but none is whole.
        file("frames.tgm", &[b"TENSOGRM", &frame[..frame.len() / 2]].concat().repeat(400)),
        described("maps.tgm", &nested("{\"a\":", "}")),
        described("lists.tgm", &nested("[", "]")),
        described("controls.tgm", &format!("\"{}\"", "\\u0001".repeat(1000))),
    ];
    for path in &paths {
        for arguments in [
            &["dump"][..],
            &["dump", "--json"],
            &["frames"],
            &["frames", "--json"],
            &["ls"],
            &["ls", "--json"],
            &["scan"],
            &["scan", "--json"],
            &["info"],
            &["get", "-p", "0"],
            &["verify"],
            &["digest", "--json"],
            &["validate", "--json"],
        ] {
            let run = tgm(arguments.iter().copied().chain([path.as_str()]));
            let found = output_per_byte(&run, path);
            assert!(found <= 12, "{arguments:?} {path}: {found} bytes for each that is read");
        }
    }
    let frames = tgm(["frames", "--json", &paths[0]]).json();
    assert_eq!(frames["messages"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&frames["messages"][0]["beginnings"], &frames["messages"][0]["length"]),
        (&(1 << 14).into(), &(1 << 17).into())
    );
}

#[test]
fn wide_cells_are_cut_for_people_and_whole_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let values = crate::npy::write(folder.path(), "v", &[0]);
    let path = folder.path().join("out.tgm").display().to_string();
    let name = format!("begin{}end", "x".repeat(70_000));
    let json = format!("{{\"base\": {{\"name\": \"{name}\"}}, \"extra\": {{\"{name}\": {{\"a\": \"{name}\"}}}}}}");
    let json = crate::npy::write(folder.path(), "m.json", json.as_bytes());
    let shape = vec!["1"; 40_000].join("x");
    tgm(["create", "-o", &path, "--raw", &format!("u8,{shape}"), "--metadata", &json, &values]).good();
    let long = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    let ls = tgm(["ls", &path]).good();
    assert!(long(ls.text()) < 400, "{}", long(ls.text()));
    assert!(ls.text().contains("begin") && ls.text().contains("1x1x1") && ls.text().contains('…'));
    for arguments in
        [&["frames"][..], &["scan"], &["dump"], &["info"], &["verify"], &["digest"], &["ls", "--objects", "-p", &name]]
    {
        let run = tgm(arguments.iter().copied().chain([path.as_str()])).good();
        assert!(long(run.text()) < 1000 || arguments == ["digest"], "{arguments:?}: {}", long(run.text()));
    }
    // Empty cells also take their width.
    let keys = vec!["empty"; 1500].join(",");
    let set = folder.path().join("set.tgm").display().to_string();
    tgm(["set", "-s", "empty=", &path, &set]).good();
    tgm(["ls", "-p", &format!("{keys},name"), &set]).good();
    let whole = tgm(["ls", "--json", "-p", "name", "--objects", &path]).good().json();
    assert_eq!(whole["messages"][0]["objects"][0]["values"]["name"], name);
    assert_eq!(whole["messages"][0]["objects"][0]["shape"].as_array().unwrap().len(), 40_000);
    // Salvaged objects are listed too, and damaged names appear in errors.
    let bytes = std::fs::read(&path).unwrap();
    let torn = crate::npy::write(folder.path(), "torn.tgm", &bytes[..bytes.len() - 30]);
    let out = folder.path().join("salvaged.tgm").display().to_string();
    let run = tgm(["salvage", "--objects", &torn, "-o", &out]);
    assert!(run.code == Some(1) && long(run.text()) < 1000, "{:?} {}", run.code, long(run.text()));
}

/// A descriptor may contain unknown stage names of any length.
#[test]
fn a_long_name_of_a_stage_is_cut_in_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = crate::npy::write(folder.path(), "out.tgm", &with_encoding(&"q".repeat(70_000)));
    let run = tgm(["ls", &path]);
    assert_ends_well(&run, "ls", Path::new(&path));
    assert!(run.text().lines().all(|line| line.len() < 1000));
    let json = tgm(["ls", "--json", &path]).json();
    assert_eq!(json["messages"][0]["objects"][0]["encoding"].as_str().map(str::len), Some(70_000));
}

/// A message with one object whose first stage has this name.
fn with_encoding(name: &str) -> Vec<u8> {
    let whole = std::fs::read(data("dtypes/float32-little.tgm")).unwrap();
    let (before, object, postamble) = (&whole[..408], &whole[408..408 + 177], &whole[whole.len() - 24..]);
    let key = b"\x68encoding";
    let at = object.windows(key.len()).position(|window| window == key).unwrap() + key.len();
    let length = u32::try_from(name.len()).unwrap().to_be_bytes();
    // The value was a text of four letters.
    let mut frame = [&object[..at], &[0x7a], &length, name.as_bytes(), &object[at + 5..]].concat();
    let length = (frame.len() as u64).to_be_bytes();
    frame[8..16].copy_from_slice(&length);
    frame.resize(frame.len().next_multiple_of(8), 0);
    let mut message = [before, &frame, postamble].concat();
    let total = message.len();
    message[16..24].copy_from_slice(&(total as u64).to_be_bytes());
    message[total - 24..total - 16].copy_from_slice(&(total as u64 - 24).to_be_bytes());
    message[total - 16..total - 8].copy_from_slice(&(total as u64).to_be_bytes());
    message
}
