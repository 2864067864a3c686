//! `tgm verify`: digests of every frame.

use crate::corpus::{data, files, sidecar};
use crate::tool::tgm;

fn code(arguments: &[&str]) -> Option<i32> {
    tgm(["verify"].iter().chain(arguments)).code
}

#[test]
fn what_a_reader_must_reject_on_verification_is_found() {
    let wrong = files("malformed").into_iter().filter(|path| sidecar(path)["spec"]["verdict"] == "reject-verify");
    let mut count = 0;
    for path in wrong {
        let run = tgm([&"verify".into(), &"--strict".into(), &path]);
        assert_eq!(run.code, Some(1), "{path:?}: {}", run.text());
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn the_frame_that_is_wrong_is_named() {
    let run = tgm(["verify", "--json", &data("malformed/hash/single-payload-bitflip.tgm")]);
    let message = &run.json()["messages"][0];
    assert_eq!((message["ok"].clone(), message["result"].clone()), (false.into(), "mismatch".into()));
    let finding = &message["findings"][0];
    assert_eq!((finding["type"].clone(), finding["object"].clone()), ("NTensorFrame".into(), 0.into()));
    assert_eq!(finding["expected"], "1dcc4255fa0b7e89");
}

#[test]
fn missing_digests_fail_unless_allowed() {
    let path = data("hash/off-0.24.0.tgm");
    assert_eq!(code(&[&path]), Some(1));
    assert_eq!(code(&["--allow-missing", &path]), Some(0));
    let path = data("malformed/hash/one-object-unhashed.tgm");
    assert_eq!(code(&[&path]), Some(1));
    assert_eq!(code(&["--allow-missing", &path]), Some(0));
}

#[test]
fn digests_of_old_releases_count_unless_strict() {
    let path = data("hash/on-0.20.0.tgm");
    assert_eq!(code(&[&path]), Some(0));
    assert_eq!(code(&["--strict", &path]), Some(1));
    assert_eq!(code(&["--strict", &data("hash/on-0.24.0.tgm")]), Some(0));
}

#[test]
fn bytes_outside_of_messages_were_not_verified() {
    let run = tgm(["verify", &data("multi/garbage-between.tgm")]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.text().matches("ok").count(), 3);
    assert!(run.stderr.contains("37 bytes at offset 568 belong to no message"), "{}", run.stderr);
}
