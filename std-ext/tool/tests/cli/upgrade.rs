//! `tgm upgrade`: written messages, messages that are left out, and files that would be replaced.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::corpus::{data, sha256, sidecar};
use crate::tool::tgm;

/// The digests of all objects' values, as `tgm digest` finds them.
fn digests(path: &Path) -> Vec<Json> {
    let document = tgm([Path::new("digest"), Path::new("--json"), path]).good().json();
    sha256s(&document["messages"])
}

fn recorded(path: &str) -> Vec<Json> {
    sha256s(&sidecar(Path::new(path))["decoded_by_producer"])
}

fn sha256s(messages: &Json) -> Vec<Json> {
    let objects = messages.as_array().unwrap().iter().flat_map(|message| message["objects"].as_array().unwrap());
    objects.map(|object| object["sha256"].clone()).collect()
}

#[test]
fn all_messages_of_all_files_go_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new.tgm");
    let inputs = [data("v2/0.14.0-two-messages.tgm"), data("v2/0.16.1-stream.tgm"), data("dtypes/float32-big.tgm")];
    let mut arguments = vec!["upgrade".to_string()];
    arguments.extend(inputs.iter().cloned());
    arguments.extend(["-o".to_string(), output.display().to_string()]);
    let run = tgm(&arguments).good();
    assert!(run.text().contains("two-messages.tgm: 2 upgraded, 0 of version 3 already, 0 left out"), "{}", run.text());
    let mut expected = [recorded(&inputs[0]), recorded(&inputs[1])].concat();
    expected.extend(digests(Path::new(&inputs[2])));
    assert_eq!(digests(&output), expected);
    assert!(fs::read(&output).unwrap().ends_with(&fs::read(&inputs[2]).unwrap()));
    tgm([Path::new("verify"), Path::new("--strict"), &output]).good();
}

#[test]
fn messages_of_version_3_pass_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mixed.tgm");
    fs::copy(data("multi/v2-between-v3.tgm"), &path).unwrap();
    let run = tgm([Path::new("upgrade"), Path::new("--json"), Path::new("--in-place"), &path]).good();
    let parts = run.json()["messages"].clone();
    let outcomes: Vec<_> = parts.as_array().unwrap().iter().map(|part| part["outcome"].clone()).collect();
    assert_eq!(outcomes, ["copied", "upgraded", "copied"]);
    let (old, new) = (fs::read(data("multi/v2-between-v3.tgm")).unwrap(), fs::read(&path).unwrap());
    for part in parts.as_array().unwrap() {
        let slice = |bytes: &[u8], offset: &str, length: &str| {
            let start = usize::try_from(part[offset].as_u64().unwrap()).unwrap();
            sha256(&bytes[start..start + usize::try_from(part[length].as_u64().unwrap()).unwrap()])
        };
        let is_same = slice(&old, "offset", "length") == slice(&new, "output_offset", "output_length");
        assert_eq!(is_same, part["version"] == 3);
    }
    tgm([Path::new("verify"), &path]).good();
}

#[test]
fn what_is_left_out_is_reported_and_never_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("old.tgm"), folder.path().join("new.tgm"));
    let sound = fs::read(data("v2/0.16.1-f32.tgm")).unwrap();
    let mut damaged = sound.clone();
    let payload = damaged.windows(4).position(|window| window == [0, 4, 0, 1]).unwrap() + 14;
    damaged[payload] ^= 1;
    let bytes = [&damaged[..], b"junk", &sound].concat();
    fs::write(&input, &bytes).unwrap();

    for into in [["--in-place".as_ref(), input.as_os_str()], ["-o".as_ref(), input.as_os_str()]] {
        let mut arguments = vec!["upgrade".as_ref()];
        arguments.extend((into[0] == "-o").then_some(input.as_os_str()));
        arguments.extend(into);
        let run = tgm(&arguments);
        assert_eq!(run.code, Some(1));
        assert!(run.stderr.contains("hash mismatch on object 0"), "{}", run.stderr);
        assert!(run.stderr.contains("4 bytes at offset 700 belong to no message"), "{}", run.stderr);
        assert!(run.stderr.contains("the file stays as it is"), "{}", run.stderr);
        assert_eq!(fs::read(&input).unwrap(), bytes);
    }
    let upgrade = |more: &[&str]| {
        let arguments = ["upgrade".as_ref(), input.as_os_str(), "-o".as_ref(), output.as_os_str()];
        tgm(arguments.into_iter().chain(more.iter().map(AsRef::as_ref)))
    };
    assert_eq!(upgrade(&[]).code, Some(1));
    assert_eq!(digests(&output), recorded(&data("v2/0.16.1-f32.tgm")));
    assert_eq!(upgrade(&["--ignore-hash"]).code, Some(1));
    assert_eq!(digests(&output).len(), 2);
}

#[test]
fn nothing_is_written_where_there_is_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new.tgm");
    fs::write(&output, "precious").unwrap();
    let run = tgm(["upgrade", &data("README.md"), "-o", output.to_str().unwrap()]);
    assert_eq!(run.code, Some(1));
    let run = tgm(["upgrade", &data("no such file"), "-o", output.to_str().unwrap()]);
    assert_eq!(run.code, Some(1));
    assert_eq!(fs::read(&output).unwrap(), b"precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(tgm(["upgrade", &data("README.md")]).code, Some(2));
}

#[test]
fn masks_are_stored_if_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("new.tgm");
    let masks = |more: &[&str]| {
        let arguments = ["upgrade", &data("v2/0.16.1-non-finite.tgm"), "-o", output.to_str().unwrap()];
        tgm(arguments.iter().chain(more)).good();
        let document = tgm([Path::new("ls"), Path::new("--json"), &output]).good().json();
        let objects = document["messages"][0]["objects"].clone();
        objects.as_array().unwrap().iter().map(|object| object["masks"] != json!([])).collect::<Vec<_>>()
    };
    assert_eq!(masks(&[]), [false; 5]);
    assert_eq!(masks(&["--masks"]), [true, true, true, true, false]);
}

#[test]
fn other_commands_say_what_to_do_with_files_of_version_2() {
    let path = data("v2/0.14.0-two-messages.tgm");
    for command in ["info", "ls", "dump", "verify"] {
        let run = tgm([command, &path]);
        assert_eq!(run.code, Some(1), "{command}");
        assert!(run.stderr.contains("2 messages of version 2: `tgm upgrade` makes them"), "{command}: {}", run.stderr);
    }
    assert!(tgm(["info", &data("v2/0.16.1-stream.tgm")]).stderr.contains("1 message of version 2: `tgm upgrade`"));
    let scan = tgm(["scan", &path]);
    assert_eq!(scan.code, Some(1));
    assert!(scan.text().contains("a message of version 2") && scan.text().contains("`tgm upgrade`"));
}
