//! `tgm validate`: lines for people, an array for programs, exit codes.

use std::io::Write;
use std::process::Stdio;

use crate::corpus::{data, files};
use crate::tool::{command, tgm};

#[test]
fn a_good_file_is_one_line_on_standard_output() {
    let path = data("multi/three.tgm");
    for depth in [None, Some("--quick"), Some("--checksum"), Some("--full"), Some("--canonical")] {
        let run = tgm(["validate", &path].into_iter().chain(depth)).good();
        let verified = if depth == Some("--quick") { "" } else { ", hash verified" };
        assert_eq!(run.text(), format!("{path}: OK (3 messages, 3 objects{verified})\n"));
    }
}

#[test]
fn what_is_wrong_goes_to_standard_error_with_places_counted_from_zero() {
    let path = data("malformed/hash/single-payload-bitflip.tgm");
    let run = tgm(["validate", &path]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    let expected = format!(
        "{path}: FAILED — message 0, object 0: hash mismatch: expected 1dcc4255fa0b7e89, got 3a16b99ed43792f9 \
         (at byte 408)\n{path}: FAILED (1 errors, 1 messages, 1 objects)\n"
    );
    assert_eq!(run.stderr, expected);
}

#[test]
fn warnings_are_no_failure() {
    let path = data("multi/stream-stream.tgm");
    let good = format!("{path}: OK (2 messages, 2 objects, hash verified)\n");
    // A stream announces preceders, and need not have one.
    assert_eq!(tgm(["validate", &path]).good().text(), good);
    let run = tgm(["validate", "--like-reference", &path]);
    assert_eq!((run.code, run.text()), (Some(0), &*good));
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 2);
    let warning = format!("{path}: WARNING — message 1: PRECEDER_METADATA flag mismatch");
    assert!(lines[1].starts_with(&warning) && lines[1].ends_with("(at byte 10)"), "{lines:?}");
    assert_eq!(tgm(["validate", "--checksum", &path]).good().code, Some(0));
}

#[test]
fn bytes_between_messages_fail_a_file() {
    let path = data("multi/garbage-between.tgm");
    let run = tgm(["validate", &path]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(run.stderr.contains(&format!("{path}: WARNING — 37 unrecognized bytes at offset 568\n")), "{}", run.stderr);
    assert!(run.stderr.ends_with(&format!("{path}: FAILED (2 errors, 3 messages, 3 objects)\n")), "{}", run.stderr);
}

#[test]
fn json_is_an_array_with_an_item_for_each_file() {
    let (good, bad) = (data("multi/three.tgm"), data("malformed/hash/single-payload-bitflip.tgm"));
    let run = tgm(["validate", "--json", &good, &bad]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    let items = run.json();
    let keys = ["file", "status", "messages", "objects", "hash_verified", "file_issues", "message_reports"];
    for item in items.as_array().unwrap() {
        assert_eq!(item.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
    }
    assert_eq!((&items[0]["file"], &items[0]["status"]), (&good.into(), &"ok".into()));
    assert_eq!((&items[0]["messages"], &items[0]["hash_verified"]), (&3.into(), &true.into()));
    assert_eq!((&items[1]["status"], &items[1]["objects"]), (&"failed".into(), &1.into()));
    assert_eq!(items[1]["message_reports"][0]["issues"][0]["code"], "hash_mismatch");
    assert_eq!(tgm(["validate", "--json", "/no/such.tgm"]).text(), "[]\n");
}

#[test]
fn depths_find_more_and_more() {
    let path = data("malformed/metadata/key-order.tgm");
    assert_eq!(tgm(["validate", &path]).good().stderr, "");
    assert!(tgm(["validate", "--canonical", &path]).stderr.contains("not in canonical order"));
    let path = data("malformed/hash/metadata-slot-wrong.tgm");
    assert_eq!(tgm(["validate", "--quick", &path]).good().code, Some(0));
    assert_eq!(tgm(["validate", "--checksum", &path]).code, Some(1));
    assert_eq!(tgm(["validate", "--like-reference", &path]).good().code, Some(0));
    let path = data("malformed/cbor_offset/single-flag-cleared.tgm");
    assert!(tgm(["validate", &path]).stderr.is_empty());
    assert!(tgm(["validate", "--full", &path]).stderr.contains("FAILED — message 0, object 0: "));
}

#[test]
fn exit_codes_tell_wrong_files_from_wrong_command_lines() {
    let path = data("multi/three.tgm");
    assert_eq!(tgm(["validate"]).code, Some(2));
    assert_eq!(tgm(["validate", "--quick", "--full", &path]).code, Some(2));
    let run = tgm(["validate", "/no/such.tgm", &path]);
    assert_eq!(run.code, Some(1));
    assert!(
        run.text().contains(": OK (") && run.stderr.starts_with("error: cannot read /no/such.tgm"),
        "{}",
        run.stderr
    );
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let mut child = command(["validate", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(data("multi/three.tgm")).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(r#""file":"-","status":"ok","messages":3"#), "{text}");
}

#[test]
fn malformed_files_end_with_an_exit_code_and_one_document() {
    let paths = files("malformed");
    for path in &paths {
        let run = tgm([&"validate".into(), &"--full".into(), path]);
        assert!(matches!(run.code, Some(0 | 1)) && !run.stderr.contains("panicked"), "{path:?}: {}", run.stderr);
        assert_eq!(run.code == Some(0), run.text().contains(": OK ("), "{path:?}");
    }
    let args = ["validate".into(), "--json".into()].into_iter().chain(paths.clone());
    let run = tgm(args);
    assert_eq!((run.code, run.json().as_array().unwrap().len()), (Some(1), paths.len()));
}

#[test]
fn limits_bound_what_is_decoded() {
    let path = data("codecs/szip-high-ratio.tgm");
    for command in ["validate", "digest"] {
        tgm([command, &path]).good();
        for flag in ["--max-object-bytes", "--max-message-bytes", "--max-file-bytes"] {
            assert_eq!(tgm([command, &path, flag, "1G"]).good().code, Some(0), "{command} {flag}");
            let run = tgm([command, &path, flag, "100"]);
            assert_eq!(run.code, Some(1), "{command} {flag}");
            assert!(run.stderr.contains("100"), "{command} {flag}: {}", run.stderr);
            assert_eq!(tgm([command, &path, flag, "much"]).code, Some(2));
        }
    }
}

#[test]
fn files_of_other_versions_say_so_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let of_version = |version: u8| {
        let mut bytes = std::fs::read(data("dtypes/float32-little.tgm")).unwrap();
        bytes[9] = version;
        let path = folder.path().join(format!("v{version}.tgm"));
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let run = tgm([&"validate".into(), &of_version(4)]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("a message of version 4: "), "{}", run.stderr);
    let run = tgm(["validate", &data("multi/v2-between-v3.tgm")]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("1 message of version 2: `tgm upgrade`"), "{}", run.stderr);
}
