//! Bad bytes: every command ends by itself, with an exit code of its own and nothing of a panic.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::corpus::{data, files, sidecar};
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
    for path in files("malformed") {
        for command in LISTING {
            assert_ends_well(&tgm([&command.into(), &path]), command, &path);
        }
        assert_ends_well(&tgm([&"get".into(), &"-p".into(), &"version".into(), &path]), "get", &path);
        assert_ends_well(&tgm([&"extract".into(), &path]), "extract", &path);
        assert_ends_well(&tgm([&"extract".into(), &path, &"--range".into(), &"0:1".into()]), "extract", &path);
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

/// Files that are not rejected although their sidecars would have it: of repeated keys the last counts (FORMAT §3.2), and an
/// empty file has no messages.
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
            // Where nothing says that there are digests, none are checked; `verify` misses them.
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
