//! `tgm digest` gives the recorded digests.

use serde_json::{Value as Json, json};

use crate::corpus::{data, of_class};
use crate::tool::tgm;

/// Whether an object cannot be decoded only because this build lacks its codec.
fn is_not_compiled_in(object: &Json) -> bool {
    object["error"]["message"].as_str().is_some_and(|text| text.contains("not compiled in"))
}

/// The recorded objects of each message. `truth` replaces them where the reference is wrong.
fn recorded(sidecar: &Json) -> Vec<Vec<Json>> {
    if let Some(objects) = sidecar["truth"]["objects"].as_array() {
        return vec![objects.clone()];
    }
    sidecar["messages"].as_array().unwrap().iter().map(|m| m["objects"].as_array().unwrap().clone()).collect()
}

#[test]
fn digests_of_valid_files_are_the_recorded_ones() {
    let mut equal = 0;
    for (path, sidecar) in of_class("valid") {
        let run = tgm([&"digest".into(), &"--json".into(), &path]);
        let document = run.json();
        let messages = document["messages"].as_array().unwrap();
        let extents: Json = messages.iter().map(|m| json!([m["offset"], m["length"]])).collect();
        let truth = &sidecar["truth"]["scan"];
        assert_eq!(extents, if truth.is_null() { sidecar["scan"].clone() } else { truth.clone() }, "{path:?}");
        let mut failed = 0;
        for (message, recorded) in messages.iter().zip(recorded(&sidecar)) {
            let objects = message["objects"].as_array().unwrap_or_else(|| panic!("{path:?}: {message}"));
            assert_eq!(objects.len(), recorded.len(), "{path:?}");
            for (index, (object, recorded)) in objects.iter().zip(&recorded).enumerate() {
                assert_eq!(object["object"], index);
                assert_eq!(object["dtype"], recorded["descriptor"]["dtype"], "{path:?}");
                assert_eq!(object["shape"], recorded["descriptor"]["shape"], "{path:?}");
                if is_not_compiled_in(object) {
                    failed += 1;
                    continue;
                }
                assert_eq!(object["sha256"], recorded["decoded"]["sha256"], "{path:?}: {object}");
                assert_eq!(object["bytes"], recorded["decoded"]["nbytes"], "{path:?}: {object}");
                equal += 1;
            }
        }
        let has_junk = run.stderr.contains("belong to no message");
        assert_eq!(run.code, Some(i32::from(failed > 0 || has_junk)), "{path:?}: {}", run.stderr);
    }
    assert!(equal > 700, "only {equal} objects were compared");
}

#[test]
fn an_error_stands_in_the_place_of_the_message_and_the_others_are_there() {
    let run = tgm(["digest", "--json", &data("multi/corrupt-middle.tgm")]);
    assert_eq!(run.code, Some(1));
    let document = run.json();
    assert_eq!(document["schema"], "tgm.digest/1");
    let [first, second, third] = document["messages"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert!(first["objects"].is_array() && first.get("error").is_none());
    assert!(second.get("objects").is_none());
    assert_eq!(second["error"]["kind"], "metadata");
    assert!(second["error"]["message"].as_str().unwrap().contains("CBOR"));
    assert_eq!(third["objects"][0]["shape"], json!([6]));
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains("message 1: metadata error"), "{}", run.stderr);
}

#[test]
fn an_error_stands_in_the_place_of_the_object_and_dtype_and_shape_are_kept() {
    let run = tgm(["digest", "--json", &data("malformed/codec/zstd-garbage.tgm")]);
    let document = run.json();
    let object = &document["messages"][0]["objects"][0];
    assert_eq!(run.code, Some(1), "{document}");
    assert!(object["dtype"].is_string() && object["shape"].is_array(), "{object}");
    assert_eq!(object["error"]["kind"], "encoding");
    assert!(object.get("sha256").is_none() && object.get("bytes").is_none());
}

#[test]
fn a_file_without_messages_fails_unless_it_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, junk) = (folder.path().join("empty"), folder.path().join("junk"));
    std::fs::write(&empty, b"").unwrap();
    std::fs::write(&junk, b"no message in here").unwrap();
    let run = tgm([&"digest".into(), &"--json".into(), &empty]).good();
    assert_eq!(run.json(), json!({"schema": "tgm.digest/1", "messages": []}));
    let run = tgm([&"digest".into(), &"--json".into(), &junk]);
    assert_eq!(run.json()["messages"], json!([]));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no message found in 18 bytes"), "{}", run.stderr);
}

#[test]
fn the_text_form_has_the_same_digests() {
    let path = data("dtypes/all-in-one.tgm");
    let document = tgm(["digest", "--json", &path]).good().json();
    let text = tgm(["digest", &path]).good();
    for (object, line) in document["messages"][0]["objects"].as_array().unwrap().iter().zip(text.text().lines().skip(1))
    {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words.first(), Some(&"0"));
        assert_eq!(words.get(2), object["dtype"].as_str().as_ref());
        assert_eq!(words.last(), object["sha256"].as_str().as_ref());
    }
}
