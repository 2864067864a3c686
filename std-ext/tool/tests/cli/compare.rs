//! `tgm compare` finds what differs, and nothing else.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::corpus::{data, of_class};
use crate::tool::{Run, tgm};

/// A message with one field for each of `fields`: a name, a step, and values.
fn message(fields: &[(&str, u64, &[f64])]) -> Vec<u8> {
    let mut builder = MessageBuilder::new().extra("run", "a");
    for (name, step, values) in fields {
        let object = ObjectBuilder::new(&[values.len() as u64 / 2, 2], values).unwrap();
        builder = builder.object(object.metadata("name", *name).metadata("mars.step", *step));
    }
    builder.encode().unwrap()
}

fn compare(folder: &Path, a: &[u8], b: &[u8], flags: &[&str]) -> Run {
    let [first, second] = [("a.tgm", a), ("b.tgm", b)].map(|(name, bytes)| {
        fs::write(folder.join(name), bytes).unwrap();
        folder.join(name).display().to_string()
    });
    tgm(["compare", &first, &second].into_iter().chain(flags.iter().copied()))
}

#[test]
fn every_valid_file_is_like_itself() {
    for (path, sidecar) in of_class("valid") {
        let run = tgm([&"compare".into(), &path, &path]);
        let is_whole = run.stderr.is_empty();
        assert_eq!((run.code, run.text()), (Some(if is_whole { 0 } else { 2 }), ""), "{path:?} {}", run.stderr);
        assert!(is_whole || run.stderr.contains("not compiled in") || run.stderr.contains("no message"), "{sidecar}");
    }
}

#[test]
fn the_greatest_difference_is_named_and_tolerances_allow_it() {
    let folder = tempfile::tempdir().unwrap();
    let a = message(&[("t", 0, &[1.0, 2.0, 3.0, 1.0])]);
    let b = message(&[("t", 0, &[1.0, 2.5, 3.0, 1.125])]);
    let run = compare(folder.path(), &a, &b, &[]);
    assert_eq!(run.code, Some(1));
    assert_eq!(run.text(), "message 0, object 0: values: 2 of 4 differ, most at [0, 1]: 2 and 2.5, by 5.000000e-1\n");
    let document = compare(folder.path(), &a, &b, &["--json"]).json();
    let expected = json!({
        "place": "message 0, object 0", "kind": "values", "count": 2, "of": 4, "at": [0, 1], "a": 2.0, "b": 2.5,
        "difference": 0.5,
    });
    assert_eq!(document, json!({"schema": "tgm.compare/1", "differences": [expected]}));
    for (flags, code) in [
        (&["--tolerance", "0.5"][..], 0),
        (&["--tolerance", "0.49"], 1),
        (&["--relative", "0.2"], 0),
        (&["--relative", "0.199"], 1),
        (&["--tolerance", "name=9"], 1),
        (&["--no-values"], 0),
        (&["--tolerance", "-1"], 2),
    ] {
        assert_eq!(compare(folder.path(), &a, &b, flags).code, Some(code), "{flags:?}");
    }
    let quiet = compare(folder.path(), &a, &b, &["--quiet"]);
    assert_eq!((quiet.code, quiet.text()), (Some(1), ""));
}

#[test]
fn metadata_types_shapes_and_missing_messages_differ() {
    let folder = tempfile::tempdir().unwrap();
    let values = [1.0, 2.0];
    let a = message(&[("t", 0, &values), ("u", 6, &values)]);
    let b = message(&[("t", 1, &values), ("u", 6, &[1.0, 2.0, 3.0, 4.0])]);
    let both = [&*a, &*a].concat();
    let run = compare(folder.path(), &both, &b, &[]);
    assert_eq!(
        run.text(),
        "message 0, object 0: mars.step: 0, 1\nmessage 0, object 1: shape: 1x2, 2x2\nmessage 1: only in the first file\n"
    );
    assert_eq!(run.code, Some(1));
    let flags = ["--tolerance", "mars.step=1", "--json"];
    let kinds: Vec<Json> = compare(folder.path(), &both, &b, &flags).json()["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|difference| difference["kind"].clone())
        .collect();
    assert_eq!(kinds, ["structure", "missing"]);
    assert!(!compare(folder.path(), &a, &b, &["--ignore", "mars"]).text().contains("step"));
    let other = MessageBuilder::new().extra("run", "b").encode().unwrap();
    let run = compare(folder.path(), &a, &other, &[]);
    assert_eq!(run.text(), "message 0: run: a, b\nmessage 0: 2 objects, 0 objects\n");
}

#[test]
fn objects_in_another_order_are_matched_by_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = ([1.0, 2.0], [3.0, 4.0]);
    let a = message(&[("t", 0, &one), ("u", 0, &two), ("v", 0, &one)]);
    let b = [message(&[("u", 0, &two)]), message(&[("t", 0, &one), ("w", 0, &one)])].concat();
    assert_eq!(compare(folder.path(), &a, &b, &[]).code, Some(1));
    let run = compare(folder.path(), &a, &b, &["--by", "name,mars.step"]);
    assert_eq!(
        run.text(),
        "message 0, object 2 (name=v, mars.step=0): only in the first file\n\
         message 1, object 1 (name=w, mars.step=0): only in the second file\n"
    );
    let b = [message(&[("u", 0, &two)]), message(&[("t", 0, &one)]), message(&[("v", 0, &one)])].concat();
    assert_eq!(compare(folder.path(), &a, &b, &["--by", "name"]).good().text(), "");
}

#[test]
fn storage_is_compared_only_if_asked_and_errors_exit_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<f64> = (0..64).map(f64::from).collect();
    let object = || ObjectBuilder::new(&[64], &values).unwrap();
    let a = MessageBuilder::new().object(object()).encode().unwrap();
    let b = MessageBuilder::new().object(object().simple_packing_within(1e-9).unwrap()).encode().unwrap();
    compare(folder.path(), &a, &b, &["--tolerance", "1e-8"]).good();
    let run = compare(folder.path(), &a, &b, &["--tolerance", "1e-8", "--storage"]);
    assert_eq!((run.code, run.text()), (Some(1), "message 0, object 0: encoding: none, simple_packing\n"));
    let run = tgm(["compare", &data("multi/three.tgm"), "/does/not/exist"]);
    assert_eq!((run.code, run.text()), (Some(2), ""));
    assert_eq!(tgm(["compare", &data("multi/three.tgm")]).code, Some(2));
}
