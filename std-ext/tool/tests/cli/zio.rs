//! `tgm zio`: listings, and conversion to Tensogram files and back.

use std::fs;

use serde_json::json;

use crate::tool::tgm;

fn data(id: &str) -> String {
    format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data-zio/encoded/{}.zio"), id)
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
fn a_tensogram_file_is_one_mistake_and_not_many_broken_messages() {
    let dir = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/realistic/surface-181x360.tgm");
    let out = dir.path().join("out.tgm").display().to_string();
    for words in [vec!["ls"], vec!["dump"], vec!["to-tgm", "-O", &out]] {
        let run = tgm(["zio"].into_iter().chain(words).chain([file]));
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(
            run.stderr.starts_with(&format!("error: {file}: a Tensogram file: `tgm ls` lists it")),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains(": message "), "{}", run.stderr);
    }
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

/// A row of messages that are not tensors: their parts.
fn others() -> Vec<Vec<Vec<u8>>> {
    let coords = |seqno: u8| [vec![0; 16], vec![seqno], vec![0; 7]].concat();
    [
        (&b"ZIO4TEXTa greeting, which is not JSON"[..], vec![b"hello".to_vec(), Vec::new()]),
        (br#"ZIO0FLOW{"flow": "BOT", "direction": "extract", "credit": 7}"#, vec![]),
        (br#"ZIO0FLOW{"credit":3,"flow":"PAY"}"#, vec![b"mine".to_vec()]),
        (br"ZIO0JSON[1, 2.50]", vec![]),
        (b"ZIO2BUFF\xFF\x00", vec![vec![1, 2, 3]]),
        (b"ZIO0    ", vec![vec![9]]),
        (br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[9],"word":4,"dtype":"f","packing":"csr"},{"shape":[2],"word":1,"dtype":"u"}]}}"#,
         vec![vec![1, 2, 3, 4, 5], vec![6, 7]]),
    ]
    .into_iter()
    .enumerate()
    .map(|(seqno, (prefix, payload))| [vec![prefix.to_vec(), coords(u8::try_from(seqno).unwrap())], payload].concat())
    .collect()
}

/// Bytes with their size in front.
fn sized(bytes: &[u8]) -> Vec<u8> {
    match u8::try_from(bytes.len()) {
        Ok(len) if len < 255 => [&[len], bytes].concat(),
        _ => [&[0xFF][..], &u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat(),
    }
}

#[test]
fn other_forms_are_messages_and_come_back_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (zio_file, tgm_file, again) = (path("a.zio"), path("b.tgm"), path("c.zio"));
    let row: Vec<u8> =
        others().iter().flat_map(|parts| sized(&parts.iter().flat_map(|p| sized(p)).collect::<Vec<_>>())).collect();
    fs::write(&zio_file, &row).unwrap();

    let run = tgm(["zio", "ls", &zio_file]).good();
    let lines: Vec<_> = run.text().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for (number, expected) in [
        (1, "0 info TEXT 0 2 payload parts, 5 bytes"),
        (2, "1 undefined FLOW 1 BOT extract, credit 7"),
        (3, "2 undefined FLOW 2 PAY 3"),
        (4, "3 undefined JSON 3 0 payload parts, 0 bytes"),
        (7, "6 undefined TENS 6 0 f4 csr 9 0 5"),
        (8, "6 undefined TENS 6 1 uint8 2 1 2"),
    ] {
        assert_eq!(lines[number], expected);
    }
    let dump = tgm(["zio", "dump", "--json", &zio_file]).good().json();
    assert_eq!(dump["messages"][0]["label_text"], "a greeting, which is not JSON");
    assert_eq!(dump["messages"][1]["label"], json!({"flow": "BOT", "direction": "extract", "credit": 7}));
    assert_eq!(dump["messages"][4]["label_text"], json!({"$bytes": "ff00"}));
    assert!(dump["messages"][0].get("error").is_none());

    tgm(["zio", "to-tgm", &zio_file, "-O", &tgm_file]).good();
    tgm(["validate", &tgm_file]).good();
    tgm(["zio", "from-tgm", &tgm_file, "-O", &again]).good();
    assert_eq!(fs::read(&again).unwrap(), row);
}

#[test]
fn stored_objects_pass_through_and_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (csv, tgm_file, zio_file, again) = (path("a.csv"), path("b.tgm"), path("c.zio"), path("d.tgm"));
    let rows: Vec<String> = (0..5000).map(|row| row.to_string()).collect();
    fs::write(&csv, format!("value\n{}\n", rows.join("\n"))).unwrap();
    tgm(["convert", &csv, "-o", &tgm_file, "--compression", "zstd"]).good();
    tgm(["zio", "from-tgm", "--pass-through", &tgm_file, "-O", &zio_file]).good();
    assert!(fs::metadata(&zio_file).unwrap().len() < 20_000);
    tgm(["zio", "to-tgm", &zio_file, "-O", &again]).good();
    assert!(fs::metadata(&again).unwrap().len() < 20_000);
    tgm(["compare", &tgm_file, &again]).good();
}
