//! Digests: no command shows or writes values of a damaged payload.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tgm_std::{EncodeOptions, MessageBuilder, ObjectBuilder};

use crate::tool::{Run, subcommands, tgm};

/// Values that are stored as they are, different in each message.
fn values(message: u32) -> Vec<u32> {
    (0..16).map(|i| message * 1000 + i).collect()
}

/// A file of three messages with two objects each. One bit in a payload of the middle one is wrong.
fn damaged_file(hashing: bool) -> Vec<u8> {
    let options = EncodeOptions { hashing, ..EncodeOptions::default() };
    let message = |n| {
        let [one, other] = [values(n), values(n + 10)];
        let objects = [&one, &other].map(|values| ObjectBuilder::new(&[16], values).unwrap());
        let message = objects.into_iter().fold(MessageBuilder::new(), MessageBuilder::object);
        message.options(options.clone()).encode().unwrap()
    };
    let mut bytes = [message(1), message(2), message(3)].concat();
    let place = find(&bytes, &payload(12)).unwrap();
    bytes[place..place + 64].copy_from_slice(&damaged_payload());
    bytes
}

fn payload(n: u32) -> Vec<u8> {
    values(n).into_iter().flat_map(u32::to_ne_bytes).collect()
}

fn damaged_payload() -> Vec<u8> {
    let mut damaged = payload(12);
    damaged[33] ^= 0x10;
    damaged
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

enum Takes {
    /// The command uses neither values nor payloads.
    Nothing,
    /// It reports the wrong digest, and leaves the damaged message out. The text is a call with IN and OUT in place of
    /// paths.
    Values(&'static str),
    /// As `Values`, without a flag to accept damage, because the command's purpose is to report it.
    Tells(&'static str),
    /// It reports the wrong digest and keeps the message with it.
    Keeps(&'static str),
}

/// The behaviour of each subcommand. A subcommand that is missing here fails the test.
fn commands() -> BTreeMap<&'static str, Takes> {
    use Takes::{Keeps, Nothing, Tells, Values};
    [
        ("info", Nothing),
        ("ls", Nothing),
        ("dump", Nothing),
        ("frames", Nothing),
        ("get", Nothing),
        ("scan", Nothing),
        ("catalog", Nothing),
        ("cube", Nothing),
        ("create", Nothing),
        ("convert", Values("convert IN -o OUT_[index].raw")),
        // It needs a terminal: `browse.sh` looks at its pane.
        ("browse", Nothing),
        // It goes on until it is interrupted: `serve.rs` asks it. Files are given as they are, and values as `cube` has them.
        ("serve", Nothing),
        ("doctor", Nothing),
        ("completions", Nothing),
        ("man", Nothing),
        ("zio ls", Nothing),
        ("zio dump", Nothing),
        ("zio to-tgm", Nothing),
        ("digest", Values("digest IN")),
        ("plot", Values("plot IN -m 1 --object 1")),
        ("cat", Values("cat IN -m 1 --object 1")),
        ("stats", Values("stats IN")),
        ("tail", Values("tail --from-start --idle 0.01 IN")),
        // It measures checks, and shows no values.
        ("bench", Tells("bench --seconds 0 IN")),
        ("compare", Values("compare IN IN")),
        ("extract", Values("extract IN -m 1 -o 1 -O OUT")),
        ("upgrade", Values("upgrade IN -o OUT")),
        ("verify", Tells("verify IN")),
        ("validate", Tells("validate IN")),
        // Only the first object of each message is encoded again, and it is not damaged.
        ("repack", Values("repack IN -o OUT --object 0 --filter shuffle")),
        ("reshuffle", Values("reshuffle IN -o OUT")),
        ("copy", Values("copy IN OUT")),
        ("merge", Values("merge IN -o OUT")),
        ("split", Values("split IN -o OUT")),
        ("set", Keeps("set -s a=1 IN OUT")),
        ("salvage", Tells("salvage --verify IN -o OUT")),
        ("zio from-tgm", Values("zio from-tgm IN -O OUT")),
    ]
    .into_iter()
    .collect()
}

fn call(line: &str, folder: &Path, more: Option<&str>) -> Run {
    let words = line.split(' ').chain(more).map(|word| match word {
        word if word == "IN" || word.starts_with("OUT") => folder.join(word).display().to_string(),
        other => other.to_string(),
    });
    tgm(words)
}

/// The bytes of everything that was written.
fn written(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| !path.ends_with("IN")).flat_map(|path| fs::read(path).unwrap()).collect()
}

fn folder_with(hashing: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("IN"), damaged_file(hashing)).unwrap();
    folder
}

#[test]
fn every_command_that_takes_values_checks_digests_and_one_flag_lets_them_pass() {
    let commands = commands();
    for name in subcommands() {
        let takes = commands.get(&*name).unwrap_or_else(|| panic!("tgm {name}: say here what it does with digests"));
        let (Takes::Values(line) | Takes::Tells(line) | Takes::Keeps(line)) = takes else { continue };
        let folder = folder_with(true);
        let run = call(line, folder.path(), None);
        let told = format!("{}{}", run.text(), run.stderr);
        assert_eq!(run.code, Some(if name == "compare" { 2 } else { 1 }), "tgm {name}: {told}");
        assert!(told.contains("mismatch"), "tgm {name}: {told}");
        let has_damaged = find(&written(folder.path()), &damaged_payload()).is_some();
        if matches!(takes, Takes::Keeps(_)) {
            let verified = tgm([Path::new("verify"), &folder.path().join("OUT")]);
            assert!(has_damaged && verified.text().contains("mismatch"), "tgm {name}: {}", verified.text());
        } else {
            assert!(!has_damaged, "tgm {name} writes damaged values: {told}");
        }
        if !matches!(takes, Takes::Tells(_)) {
            assert!(told.contains("message 1") || told.contains("message at"), "tgm {name}: {told}");
            let folder = folder_with(true);
            let run = call(line, folder.path(), Some("--ignore-hash"));
            assert_eq!((run.code, &*run.stderr), (Some(0), ""), "tgm {name} --ignore-hash");
            let written = written(folder.path());
            let only_prints = matches!(&*name, "digest" | "stats" | "compare" | "cat" | "tail" | "plot");
            assert!(only_prints || find(&written, &damaged_payload()).is_some(), "tgm {name}");
        }
    }
}

#[test]
fn messages_without_digests_are_read_without_complaint() {
    for takes in commands().into_values() {
        let (Takes::Values(line) | Takes::Keeps(line)) = takes else { continue };
        let folder = folder_with(false);
        let run = call(line, folder.path(), None);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""), "tgm {line}");
    }
}

#[test]
fn undamaged_objects_of_a_damaged_message_have_values() {
    let folder = folder_with(true);
    let good = call("extract IN -m 1 -o 0", folder.path(), None).good();
    assert_eq!(good.stdout, payload(2));
    let run = call("extract IN -m 1 -o 1 --range 0:1", folder.path(), None);
    assert_eq!((run.code, run.stdout.len()), (Some(1), 0));
    assert!(run.stderr.contains("message 1, object 1: hash mismatch on object 1: expected "), "{}", run.stderr);
    let document = call("digest --json IN", folder.path(), None).json();
    let objects = document["messages"][1]["objects"].clone();
    assert!(objects[0]["sha256"].is_string() && objects[1].get("sha256").is_none(), "{objects}");
    assert_eq!(objects[1]["error"]["kind"], "hash_mismatch");
}

#[cfg(feature = "zio")]
#[test]
fn a_damaged_file_does_not_become_good_by_way_of_zio() {
    let folder = folder_with(true);
    let run = call("zio from-tgm IN -O OUT", folder.path(), None);
    assert_eq!(run.code, Some(1));
    fs::rename(folder.path().join("OUT"), folder.path().join("IN")).unwrap();
    call("zio to-tgm IN -O OUT", folder.path(), None).good();
    let bytes = fs::read(folder.path().join("OUT")).unwrap();
    assert!(find(&bytes, &damaged_payload()).is_none() && find(&bytes, &payload(1)).is_some());
}

#[test]
fn a_damaged_file_is_not_replaced_by_its_rest() {
    let folder = folder_with(true);
    let bytes = fs::read(folder.path().join("IN")).unwrap();
    for line in ["copy IN IN", "repack IN -o IN --filter shuffle", "reshuffle IN -o IN", "upgrade --in-place IN"] {
        let run = call(line, folder.path(), None);
        assert_eq!(run.code, Some(1), "{line}");
        assert!(fs::read(folder.path().join("IN")).unwrap() == bytes, "{line}: {}", run.stderr);
    }
}

#[test]
fn damaged_messages_are_not_appended_to_files_that_metadata_names() {
    let folder = folder_with(true);
    let out = folder.path().join("part3");
    let template = folder.path().join("part[version]").display().to_string();
    let run = call("copy IN", folder.path(), Some(&template));
    assert_eq!((run.code, run.stderr.contains("message 1: hash mismatch")), (Some(1), true), "{}", run.stderr);
    let messages =
        |path: &Path| tgm([Path::new("info"), Path::new("--json"), path]).json()["files"][0]["messages"].clone();
    assert_eq!(messages(&out), 2);
    fs::remove_file(&out).unwrap();
    // A message is named by its number. A message that is not there makes no file.
    call("copy -m 2 IN", folder.path(), Some(&template)).good();
    assert_eq!(messages(&out), 1);
    fs::remove_file(&out).unwrap();
    call("copy --at 1 IN", folder.path(), Some(&template)).failed("no message begins at byte 1");
    assert!(!out.exists());
    call("copy --ignore-hash IN", folder.path(), Some(&template)).good();
    assert!(fs::read(&out).unwrap() == fs::read(folder.path().join("IN")).unwrap());
}

/// What each subcommand is asked for that it reads metadata for. `None`: it reads none, or it reads them to show the bytes as
/// they are. A subcommand that is missing here fails the test.
fn metadata_commands() -> BTreeMap<&'static str, Option<&'static [&'static str]>> {
    [
        ("info", Some(&["info IN", "info --json IN", "info --csv IN", "info -w name=* IN"][..])),
        ("ls", Some(&["ls IN", "ls --json -p name IN", "ls --objects -w name=* IN"])),
        ("dump", Some(&["dump IN", "dump -p name IN", "dump --json -w name=* IN"])),
        ("frames", Some(&["frames -w name=* IN"])),
        ("get", Some(&["get -p name IN", "get --objects -p name IN"])),
        ("scan", None),
        ("catalog", Some(&["catalog IN -o OUT -k name", "catalog IN -o OUT --auto"])),
        ("cube", Some(&["cube IN"])),
        ("create", None),
        ("convert", Some(&["convert IN -o OUT_[index].raw"])),
        ("browse", None),
        ("serve", None),
        ("doctor", None),
        ("completions", None),
        ("man", None),
        ("zio ls", None),
        ("zio dump", None),
        ("zio to-tgm", None),
        ("digest", Some(&["digest -p name IN"])),
        ("plot", Some(&["plot IN -m 1"])),
        ("cat", Some(&["cat IN -m 1", "cat -w name=* -m 1 IN"])),
        ("stats", Some(&["stats IN"])),
        ("tail", Some(&["tail --from-start --idle 0.01 -p name IN"])),
        ("bench", None),
        ("compare", Some(&["compare --by name IN IN"])),
        ("extract", Some(&["extract -w name=* IN -m 1 -O OUT"])),
        ("upgrade", Some(&["upgrade IN -o OUT"])),
        ("verify", None),
        ("validate", None),
        ("repack", Some(&["repack IN -o OUT --filter shuffle"])),
        ("reshuffle", Some(&["reshuffle IN -o OUT"])),
        ("copy", Some(&["copy -w name=* IN OUT", "copy IN OUT[name]"])),
        ("merge", Some(&["merge -w name=* IN -o OUT"])),
        ("split", Some(&["split -w name=* IN -o OUT[index]", "split IN -o OUT[name]"])),
        ("set", Some(&["set -w name=* -s a=1 IN OUT"])),
        ("salvage", None),
        ("zio from-tgm", Some(&["zio from-tgm IN -O OUT"])),
    ]
    .into_iter()
    .collect()
}

#[test]
fn every_command_that_reads_metadata_checks_their_digests_and_one_flag_lets_them_pass() {
    let message = |n: u32| {
        let values = values(n);
        let object = ObjectBuilder::new(&[16], &values).unwrap().metadata("name", format!("temperature {n}"));
        MessageBuilder::new().object(object).encode().unwrap()
    };
    let mut bytes = [message(1), message(2), message(3)].concat();
    let place = find(&bytes, b"temperature 2").unwrap();
    bytes[place] ^= 1;
    let commands = metadata_commands();
    for name in subcommands() {
        let lines = commands.get(&*name).unwrap_or_else(|| panic!("tgm {name}: say here what it does with metadata"));
        for line in lines.iter().copied().flatten() {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("IN"), &bytes).unwrap();
            let run = call(line, folder.path(), None);
            let told = format!("{}{}", run.text(), run.stderr);
            assert!(matches!(run.code, Some(1 | 2)), "tgm {line}: {told}");
            assert!(told.contains("mismatch"), "tgm {line}: {told}");
            assert!(!run.text().contains("uemperature"), "tgm {line}: {told}");
            if !line.contains("convert") {
                let run = call(line, folder.path(), Some("--ignore-hash"));
                assert!(
                    run.code == Some(0) && !run.stderr.contains("mismatch"),
                    "tgm {line} --ignore-hash: {}",
                    run.stderr
                );
            }
        }
    }
}
