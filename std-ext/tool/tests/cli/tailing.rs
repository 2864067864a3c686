//! `tgm tail` follows a growing file, and `tgm bench` measures one.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::corpus::data;
use crate::edits::Folder;
use crate::tool::{command, tgm};

#[test]
fn messages_are_handed_on_when_their_last_byte_is_there() {
    let folder = Folder::new();
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let path = folder.file("in.tgm", &good[..600]);
    let mut tail = command(["tail", "-v", "-n", "2", "-p", "step", "--idle", "20", &path]);
    let mut child = tail.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What is appended from here on is new to it.
    let told = BufReader::new(child.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    assert!(told.ends_with("1 messages, 600 bytes"), "{told}");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let append = |bytes: &[u8]| OpenOptions::new().append(true).open(&path).unwrap().write_all(bytes).unwrap();
    append(&good[600..1136]);
    let mut next = || serde_json::from_str::<Json>(&lines.next().unwrap().unwrap()).unwrap();
    let expected =
        json!({"file": path, "message": 1, "offset": 568, "length": 568, "objects": 1, "values": {"step": 1}});
    assert_eq!(next(), expected);
    append(&good[1136..1200]);
    append(&good[1200..]);
    assert_eq!((&next()["message"], child.wait().unwrap().code()), (&json!(2), Some(0)));
}

#[test]
fn what_is_there_can_be_shown_and_a_quiet_time_ends_it() {
    let path = data("multi/three.tgm");
    assert_eq!(tgm(["tail", "--idle", "0", &path]).good().text(), "");
    let run = tgm(["tail", "--idle", "0", "--from-start", "-w", "step>=1", &path]).good();
    assert_eq!(run.text().lines().count(), 2);
    assert_eq!(tgm(["tail", "--idle", "x", &path]).code, Some(2));
    assert_eq!(tgm(["tail", "--idle", "0", "/does/not/exist"]).code, Some(1));
}

#[cfg(unix)]
#[test]
fn a_command_gets_each_message_and_its_failure_is_told() {
    let path = data("multi/three.tgm");
    let tail = |exec: &str| tgm(["tail", "--idle", "0", "--from-start", "--exec", exec, &path]);
    let run = tail("echo $TGM_MESSAGE $TGM_OFFSET $(wc -c)").good();
    assert_eq!(run.text(), "0 0 568\n1 568 568\n2 1136 576\n");
    let run = tail("test $TGM_MESSAGE != 1");
    assert!(
        run.code == Some(1) && run.stderr.contains("message 1: the command ended with exit status: 1"),
        "{}",
        run.stderr
    );
}

#[test]
fn stages_are_measured_beside_memcpy() {
    let path = data("realistic/surface-181x360.tgm");
    let document = tgm(["bench", "--json", "--seconds", "0", &path]).good().json();
    let stages = document["stages"].as_array().unwrap();
    let names: Vec<_> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(names[..4], ["memcpy", "read", "metadata", "digests"]);
    let of_codec = |codec: &str, stages: &[&str]| -> Vec<String> {
        let of = |way: &'static str| {
            let whole = std::iter::once(format!("{way} {codec}"));
            whole.chain(stages.iter().map(move |stage| format!("{way} {codec}: {stage}"))).collect::<Vec<_>>()
        };
        let mut encode = of("encode");
        encode[1..].reverse();
        [of("decode"), encode].concat()
    };
    let expected =
        [of_codec("roaring", &["compression"]), of_codec("simple_packing+szip", &["compression", "encoding"])];
    assert_eq!(names[4..], expected.concat());
    assert_eq!((&stages[0]["of_memcpy"], &stages[8]["bytes"]), (&json!(1.0), &json!(2 * 521_280)));
    assert_eq!((&stages[0]["bytes"], &stages[8]["count"]), (&json!(fs::metadata(&path).unwrap().len()), &json!(2)));
    // All stages at once, in all forms.
    let path = data("masks/with-shuffle-zstd.tgm");
    let rows = tgm(["bench", "--csv", "--seconds", "0", &path]).good();
    let names: Vec<_> = rows.text().lines().skip(5).map(|row| row.split(',').next().unwrap()).collect();
    let stages = ["compression", "filter", "masks"];
    assert_eq!(names[..4], of_codec("shuffle+zstd", &stages)[..4]);
    assert_eq!(names[4..], ["", ": masks", ": filter", ": compression"].map(|s| format!("encode shuffle+zstd{s}")));
    assert!(tgm(["bench", "--seconds", "0", &path]).good().text().contains("encode shuffle+zstd: filter"));
    let stages = document["stages"].as_array().unwrap();
    assert!(stages.iter().all(|stage| stage["gb_per_s"].as_f64().unwrap() > 0.0), "{document}");
    assert_eq!(tgm(["bench", "--seconds", "-1", &path]).code, Some(2));
}
