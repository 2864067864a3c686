//! Long files of small messages are found and read in one pass. They give what a search gives that looks for messages first.

use std::fs;

use serde_json::Value as Json;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::corpus::data;
use crate::tool::tgm;

/// Messages in front of what ends the row, and after it.
const AROUND: usize = 160;

/// A message of some more bytes than its values.
fn message(len: usize) -> Vec<u8> {
    let values = vec![0x5a; len];
    let object = ObjectBuilder::new(&[len as u64], &values).unwrap();
    MessageBuilder::new().object(object).encode().unwrap()
}

/// Files, with what is in the midst of their messages.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let good = message(20_000);
    let with = |place: usize, bytes: &[u8]| {
        let mut damaged = good.clone();
        damaged.splice(place..place + bytes.len(), bytes.iter().copied());
        damaged
    };
    let streamed = fs::read(data("streaming/aggregate-footer.tgm")).unwrap();
    let between = [
        ("nothing", vec![]),
        ("junk", vec![7; 37]),
        ("zeros", vec![0; 8]),
        ("no magic", with(0, b"X")),
        ("no end magic", with(good.len() - 1, b"X")),
        ("a length beyond the file", with(16, &u64::MAX.to_be_bytes())),
        ("a length that is too small", with(16, &20_000_u64.to_be_bytes())),
        ("a message without its length", streamed),
        ("a message inside of junk", [&[1; 9], &*good, &[2; 9]].concat()),
        ("a large message", message(1 << 20)),
        ("half of a message", good.get(..9_000).unwrap().to_vec()),
    ];
    let around = good.repeat(AROUND);
    let ends = between.clone().map(|(what, bytes)| (what, [&around, &*around, &*bytes].concat()));
    let starts = between.clone().map(|(what, bytes)| (what, [&*bytes, &around, &around].concat()));
    let middles = between.map(|(what, bytes)| (what, [&around, &*bytes, &around].concat()));
    middles.into_iter().chain(ends).chain(starts).collect()
}

#[test]
fn a_row_gives_the_messages_that_a_search_finds_and_reports_what_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.tgm");
    let places = |list: &Json, kind: &str| -> Vec<_> {
        let list = list[kind].as_array().unwrap().iter().filter(|each| each["message"].is_number());
        list.map(|each| (each["message"].as_u64(), each["offset"].as_u64())).collect()
    };
    for (what, bytes) in files() {
        fs::write(&path, &bytes).unwrap();
        let [searched, read] =
            ["scan", "verify"].map(|command| tgm([command.as_ref(), "--json".as_ref(), path.as_os_str()]));
        let found = places(&searched.json(), "segments");
        assert!(found.len() >= 2 * AROUND, "{what}");
        assert_eq!(places(&read.json(), "messages"), found, "{what}");
        assert_eq!((read.code, read.stderr), (searched.code, searched.stderr), "{what}");
        let listed = tgm(["ls".as_ref(), "--csv".as_ref(), path.as_os_str()]);
        let first = |line: &str| line.split(',').next().and_then(|text| text.parse().ok());
        let mut numbers: Vec<Option<u64>> = listed.text().lines().skip(1).map(first).collect();
        // A message of several objects has a line for each.
        numbers.dedup();
        assert_eq!(numbers, found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), "{what}");
    }
}

#[test]
fn a_row_is_told_as_other_files_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.tgm");
    let good = message(20_000);
    fs::write(&path, good.repeat(2 * AROUND)).unwrap();
    let run = tgm(["verify".as_ref(), "-v".as_ref(), path.as_os_str()]);
    let told = format!("{} messages, {} bytes", 2 * AROUND, good.len() * 2 * AROUND);
    assert!(run.stderr.contains(&told), "{}", run.stderr);
}
