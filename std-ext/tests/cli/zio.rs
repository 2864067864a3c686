//! `tgm zio`: listings, and conversion to Tensogram files and back.

use std::fs;

use serde_json::json;

use crate::tool::tgm;

fn data(id: &str) -> String {
    format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data-zio/encoded/{}.zio"), id)
}

#[test]
fn listings_name_tensors() {
    let run = tgm(["zio", "ls", &data("cpp-flow-three")]).good();
    let lines: Vec<_> = run.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines[0], "message level form seqno tensor dtype shape part bytes");
    assert_eq!(lines.len(), 4, "{lines:?}");
    for (line, expected) in lines.iter().skip(1).zip(["0 uint8", "1 int16", "2 complex64"]) {
        assert!(line.starts_with(&format!("0 undefined FLOW 3 {expected} ")), "{line}");
    }
    let document = tgm(["zio", "dump", "--json", &data("cpp-one-f8-meta")]).good().json();
    let message = &document["messages"][0];
    assert_eq!((&message["level"], &message["granule"]), (&json!("info"), &json!(1_580_828_219_000_000_u64)));
    assert_eq!(message["tensors"][0]["metadata"], json!({"gain": 14.5, "n": 3, "plane": "U", "tag": "gauss"}));
    let text = tgm(["zio", "dump", &data("py-order-201")]).good();
    assert!(text.text().contains("strides"), "{}", text.text());
}

#[test]
fn files_go_to_tensogram_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (tgm_file, zio_file, again) = (path("a.tgm"), path("b.zio"), path("c.tgm"));
    let ids = ["cpp-one-f8-meta", "py-extra-parts", "py-order-and-ascend"];
    let mut args = vec!["zio".to_string(), "to-tgm".into(), "-O".into(), tgm_file.clone()];
    args.extend(ids.map(data));
    tgm(args).good();
    assert_eq!(tgm(["zio", "from-tgm", &tgm_file, "-O", &zio_file]).code, Some(0));
    let mut row = fs::read(&zio_file).unwrap();
    for id in ids.iter().rev() {
        let message = fs::read(data(id)).unwrap();
        assert!(row.ends_with(&message), "{id}");
        row.truncate(row.len() - message.len() - if message.len() > 254 { 5 } else { 1 });
    }
    assert!(row.is_empty());
    tgm(["zio", "to-tgm", &zio_file, "-O", &again]).good();
    assert_eq!(tgm(["ls", "--json", &again]).good().json()["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_broken_message_does_not_hide_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("row.zio");
    let message = fs::read(data("cpp-scalar")).unwrap();
    let mut row = vec![3, 1, b'x', 0];
    row.push(u8::try_from(message.len()).unwrap());
    row.extend(&message);
    row.extend([9, 9]);
    fs::write(&path, row).unwrap();
    let run = tgm(["zio", "ls", path.to_str().unwrap()]);
    assert_eq!(run.code, Some(1));
    assert!(run.text().contains("uint64") && run.text().contains("(unreadable)"), "{}", run.text());
    assert!(run.stderr.contains("message 0") && run.stderr.contains("exceeds the buffer"), "{}", run.stderr);
}
