//! `tgm set` changes the keys that it is given, and nothing else.

use std::fs;

use serde_json::{Value as Json, json};

use crate::corpus::{data, files};
use crate::edits::{Folder, contents, digests, dump, has_junk, sound, together, verdicts};
use crate::tool::tgm;

#[test]
fn an_annotation_is_set_and_all_else_stays() {
    // Every message is changed by itself, so all files can be one.
    let folder = Folder::new();
    let (path, out) = (folder.file("in.tgm", &together(sound())), folder.path("out.tgm"));
    tgm(["set", "-s", "extra.probe.inner=a b", &path, &out]).good();
    let (before, after) = (dump(&path), dump(&out));
    assert!(before.len() > 500 && before.len() == after.len(), "{} and {} messages", before.len(), after.len());
    for (index, (before, after)) in before.iter().zip(&after).enumerate() {
        let mut expected = contents(before);
        expected["extra"]["probe"] = json!({"inner": "a b"});
        assert_eq!(contents(after), with_null(expected), "message {index}");
        let lengths = |message: &Json| {
            let objects = message["objects"].as_array().unwrap().iter();
            objects.map(|object| object["layout"]["payload_length"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(before), lengths(after), "message {index}");
        assert_eq!(after["preamble"]["total_length"], after["length"], "message {index}");
    }
    for (index, (before, after)) in digests(&path).iter().zip(digests(&out)).enumerate() {
        assert_eq!(before, &after, "object {index}");
    }
    // A message in which only some frames have digests gets digests for all.
    let expected = verdicts(&path).into_iter().map(|verdict| verdict.replace("digests missing", "ok"));
    assert_eq!(verdicts(&out), expected.collect::<Vec<_>>());
}

/// `undefined` is written as null.
fn with_null(value: Json) -> Json {
    match value {
        Json::Object(entries) if entries.contains_key("$undefined") => Json::Null,
        Json::Object(entries) => entries.into_iter().map(|(key, value)| (key, with_null(value))).collect(),
        Json::Array(items) => items.into_iter().map(with_null).collect(),
        other => other,
    }
}

#[test]
fn keys_lead_into_every_object_into_annotations_and_into_one_descriptor() {
    let folder = Folder::new();
    let (path, out) = (data("masks/multi-object.tgm"), folder.path("out.tgm"));
    let set = "mars.step=6,name=a=b,_extra_.note=,objects.1.remark.by=me,objects.1.x=y";
    tgm(["set", "-s", set, "-s", "mars.step=12", &path, &out]).good();
    let mut expected = contents(&dump(&path)[0]);
    for object in expected["objects"].as_array_mut().unwrap() {
        object["metadata"]["mars"]["step"] = json!(12);
        object["metadata"]["name"] = json!("a=b");
    }
    expected["objects"][1]["descriptor"]["remark"] = json!({"by": "me"});
    expected["objects"][1]["descriptor"]["x"] = json!("y");
    expected["extra"]["note"] = json!("");
    let after = &dump(&out)[0];
    expected.sort_all_objects();
    let mut found = contents(after);
    found.sort_all_objects();
    assert_eq!(found, expected);
    assert_eq!(digests(&path), digests(&out));
    assert_eq!(verdicts(&out), ["ok"]);
}

#[test]
fn json_values_keep_their_types() {
    let folder = Folder::new();
    let (path, out) = (data("dtypes/float32-little.tgm"), folder.path("out.tgm"));
    let set = r#"a=1,b=-2.5,c=[1, {"d": null}],e="x,y=z",f=true,g=18446744073709551615,h={"i":"j"}"#;
    tgm(["set", "--json-values", "-s", set, &path, &out]).good();
    let metadata = &dump(&out)[0]["objects"][0]["metadata"];
    let of = |key: &str| metadata[key].clone();
    assert_eq!(json!([of("a"), of("b"), of("c")]), json!([1, -2.5, [1, {"d": null}]]));
    assert_eq!(json!([of("e"), of("f"), of("g")]), json!(["x,y=z", true, u64::MAX]));
    assert_eq!(of("h"), json!({"i": "j"}));
    for wrong in ["a=", "a=1 2", "a={", "a=1,", "a=01", "a=x", "=1"] {
        assert_eq!(tgm(["set", "--json-values", "-s", wrong, &path, &out]).code, Some(2), "{wrong}");
    }
}

#[test]
fn keys_that_describe_payloads_or_are_the_librarys_are_refused() {
    let folder = Folder::new();
    let (path, out) = (data("dtypes/float32-little.tgm"), folder.path("out.tgm"));
    for key in [
        "shape",
        "mars.strides",
        "extra.dtype",
        "objects.0.ndim",
        "type",
        "encoding",
        "filter",
        "objects.0.compression",
        "hash",
        "szip_rsi",
        "szip_block_size",
        "szip_flags",
        "szip_block_offsets",
        "sp_reference_value",
        "sp_binary_scale_factor",
        "sp_decimal_scale_factor",
        "sp_bits_per_value",
        "shuffle_element_size",
        "_reserved_.uuid",
        "_reserved_",
        "objects.0._reserved_.x",
        "objects.0.byte_order",
        "objects.0.masks.nan",
        "objects.0.zfp_rate",
        "objects.0.reference_value",
        "objects.0.zstd_level",
    ] {
        let run = tgm(["set", "-s", &format!("a=b,{key}=1"), &path, &out]);
        assert_eq!(run.code, Some(2), "{key}");
        assert!(run.stderr.contains("cannot modify immutable key"), "{key}: {}", run.stderr);
    }
    for wrong in ["a", "=b", "a..b=c", ".a=c", "extra=1", "objects=1", "objects.0=1", "objects.x.y=1", "a=b,"] {
        assert_eq!(tgm(["set", "-s", wrong, &path, &out]).code, Some(2), "{wrong}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn what_cannot_be_set_leaves_the_message_as_it_was() {
    let folder = Folder::new();
    let (path, out) = (data("metadata/mars.tgm"), folder.path("out.tgm"));
    for (set, text) in [
        ("objects.9.a=b", "cannot set objects.9.a: there is no object 9 (2 objects)"),
        ("mars.param.x.y=b", "cannot set mars.param.x.y: mars.param is not a map"),
        ("mars=5", "cannot set mars: it is a map; write mars.KEY to set one of its keys, or give a map"),
    ] {
        tgm(["set", "-s", set, &path, &out]).failed(text);
        assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap());
    }
    let path = data("many/zero-objects.tgm");
    tgm(["set", "-s", "a=b", &path, &out]).failed("there is no object");
    assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap());
}

#[test]
fn a_map_is_replaced_by_a_map() {
    let folder = Folder::new();
    let (path, out) = (data("metadata/mars.tgm"), folder.path("out.tgm"));
    tgm(["set", "--json-values", "-s", r#"mars={"a":1},mars.b=2"#, &path, &out]).good();
    assert_eq!(dump(&out)[0]["objects"][1]["metadata"]["mars"], json!({"a": 1, "b": 2}));
    tgm(["set", "--json-values", "-s", "mars=null", &path, &out]).failed("cannot set mars: it is a map");
    assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap());
}

#[test]
fn one_object_of_one_message_is_set() {
    let folder = Folder::new();
    let (path, out, both) = (data("metadata/mars.tgm"), folder.path("out.tgm"), folder.path("both.tgm"));
    tgm(["set", "--object", "1", "-s", "mars.probe=x,note=y", &path, &out]).good();
    let mut expected = contents(&dump(&path)[0]);
    expected["objects"][1]["metadata"]["mars"]["probe"] = json!("x");
    expected["objects"][1]["metadata"]["note"] = json!("y");
    assert_eq!(contents(&dump(&out)[0]), expected);
    assert_eq!(digests(&path), digests(&out));
    // The message has these two objects only.
    tgm(["set", "--object", "0", "--object", "1", "-s", "note=z", &path, &out]).good();
    tgm(["set", "-s", "note=z", &path, &both]).good();
    assert_eq!(contents(&dump(&out)[0]), contents(&dump(&both)[0]));

    fs::write(&both, [fs::read(&path).unwrap(), fs::read(&path).unwrap()].concat()).unwrap();
    tgm(["set", "-m", "1", "--object", "0", "-s", "note=w", &both, &out]).good();
    let (before, after) = (dump(&both), dump(&out));
    let mut expected = contents(&before[1]);
    expected["objects"][0]["metadata"]["note"] = json!("w");
    assert_eq!((contents(&after[0]), contents(&after[1])), (contents(&before[0]), expected));

    let before = fs::read(&out).unwrap();
    tgm(["set", "-m", "2", "-s", "note=w", &both, &out]).failed("there is no message 2 (2 messages)");
    assert!(fs::read(&out).unwrap() == before, "a message that is not there replaces nothing");
    tgm(["set", "--object", "2", "-s", "a=b", &path, &out]).failed("cannot set a: there is no object 2 (2 objects)");
    assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap());
}

#[test]
fn keys_that_nobody_would_find_are_refused_with_what_to_write() {
    let folder = Folder::new();
    let (path, out) = (data("metadata/mars.tgm"), folder.path("out.tgm"));
    for (set, text) in [
        ("base.1.mars.param=x", "write --object 1 -s mars.param=... to set it in object 1 alone"),
        ("base[0].x=1", "write --object 0 -s x=... to set it in object 0 alone, x=... for all objects"),
        ("extra=1", "write extra.KEY"),
    ] {
        let run = tgm(["set", "-s", set, &path, &out]);
        assert!(run.code == Some(2) && run.stderr.contains(text), "{set}: {}", run.stderr);
    }
    for set in ["extra.a=b", "objects.1.a=b", "x=1,_extra_.a=b"] {
        let run = tgm(["set", "--object", "1", "-s", set, &path, &out]);
        assert!(run.code == Some(2) && run.stderr.contains("--object chooses whose metadata is set"), "{set}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn only_selected_messages_are_changed_and_the_rest_is_verbatim() {
    let folder = Folder::new();
    let (path, out) = (data("multi/garbage-between.tgm"), folder.path("out.tgm"));
    let bytes = fs::read(&path).unwrap();
    let lost = "belong to no message";
    tgm(["set", "-w", "no.such=key", "-s", "a=b", &path, &out]).failed(lost);
    assert!(fs::read(&out).unwrap() == bytes);
    tgm(["set", "-s", "a=b", &path, &out]).failed(lost);
    assert!(has_junk(out.as_ref()) && digests(&out) == digests(&path));
    let changed = fs::read(&out).unwrap();
    // The value is already set.
    let again = folder.path("again.tgm");
    tgm(["set", "-s", "a=b", &out, &again]).failed(lost);
    assert!(fs::read(&again).unwrap() == changed);
    tgm(["set", "-w", "a=b", "-s", "a=c", &out, &out]).failed(lost);
    assert_eq!(tgm(["get", "-p", "a", &out]).failed(lost).text(), "c\nc\nc\n");
}

#[test]
fn a_message_that_cannot_be_read_is_copied_and_reported() {
    let folder = Folder::new();
    let (path, out) = (data("multi/corrupt-middle.tgm"), folder.path("out.tgm"));
    tgm(["set", "-s", "extra.a=b", &path, &out]).failed("message 1: metadata error");
    let before = fs::read(&path).unwrap();
    let after = fs::read(&out).unwrap();
    assert!(after.windows(608).any(|window| window == &before[216..824]));
    let values = tgm(["get", "-p", "extra.a", &out]);
    assert_eq!((values.code, values.text()), (Some(1), "b\nb\n"));
}

#[test]
fn digests_and_their_lists_are_kept_as_they_were() {
    let folder = Folder::new();
    let out = folder.path("out.tgm");
    for path in files("hash") {
        tgm(["set", "-s", "extra.a=b", path.to_str().unwrap(), &out]).good();
        let lists = |message: &Json| {
            let frames = message["frames"].as_array().unwrap().iter();
            frames.filter_map(|frame| frame["name"].as_str()).filter(|name| name.ends_with("Hash")).count()
        };
        assert_eq!(lists(&dump(&path)[0]), lists(&dump(&out)[0]), "{path:?}");
        assert_eq!(verdicts(&path), verdicts(&out), "{path:?}");
    }
}

#[test]
fn values_have_types_and_keys_can_be_deleted() {
    let folder = Folder::new();
    let (path, out, again) = (data("metadata/mars.tgm"), folder.path("out.tgm"), folder.path("again.tgm"));
    tgm(["set", "-s", "x.a=5,x.b:s=5,x.c:d=5,x.e=2t,x.f:i=-7,extra.note=[1,2]", &path, &out]).good();
    let message = &dump(&out)[0];
    assert_eq!(message["objects"][1]["metadata"]["x"], json!({"a": 5, "b": "5", "c": 5.0, "e": "2t", "f": -7}));
    assert_eq!(message["extra"]["note"], json!([1, 2]));
    tgm(["set", "-d", "x.a,x.e,extra.note,no.such.key", "--delete", "x.f", &out, &again]).good();
    let message = &dump(&again)[0];
    assert_eq!(message["objects"][1]["metadata"]["x"], json!({"b": "5", "c": 5.0}));
    assert_eq!(message["extra"].get("note"), None);
    // What is below a key goes with it, and then another value can stand there.
    tgm(["set", "-d", "mars", "-s", "mars=none", "--object", "0", &out, &again]).good();
    let objects = &dump(&again)[0]["objects"];
    assert_eq!((&objects[0]["metadata"]["mars"], objects[1]["metadata"]["mars"].is_object()), (&json!("none"), true));
    for wrong in [["-d", "shape"], ["-d", "_reserved_"], ["-s", "a:i=x"], ["-s", "a:d=x"]] {
        assert_eq!(tgm(["set", wrong[0], wrong[1], &path, &out]).code, Some(2), "{wrong:?}");
    }
    assert_eq!(tgm(["set", &path, &out]).code, Some(2));
}

#[test]
fn a_filter_can_choose_the_objects_whose_metadata_is_set() {
    let folder = Folder::new();
    let (path, out) = (data("realistic/surface-181x360.tgm"), folder.path("out.tgm"));
    tgm(["set", "--objects", "-w", "mars.param=tp", "-s", "probe=1", &path, &out]).good();
    let objects = dump(&out)[0]["objects"].clone();
    let probes: Vec<_> = objects.as_array().unwrap().iter().map(|object| object["metadata"]["probe"].clone()).collect();
    assert_eq!(probes, [Json::Null, json!(1), Json::Null]);
    tgm(["set", "--objects", "-w", "mars.param=none", "-s", "probe=1", &path, &out]).good();
    assert!(fs::read(&out).unwrap() == fs::read(&path).unwrap());
}
