//! Bytes that belong to no message: every command that reads messages reports them, and goes on with the others.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::corpus::data;
use crate::tool::{Run, subcommands, tgm};

/// A file with damage.
struct Damaged {
    what: &'static str,
    bytes: Vec<u8>,
    /// Offset and length of the lost bytes.
    lost: (usize, usize),
    /// What is left.
    whole: Vec<Vec<u8>>,
}

/// Positions of the messages in the file that is damaged here.
const MESSAGES: [(usize, usize); 3] = [(0, 568), (568, 568), (1136, 576)];
/// Offset of the length in a preamble.
const LENGTH: usize = 16;

fn damages() -> Vec<Damaged> {
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let [first, middle, last] = MESSAGES.map(|(offset, length)| good[offset..offset + length].to_vec());
    let (at, length) = MESSAGES[1];
    let with = |place: usize, bytes: &[u8]| {
        let mut damaged = good.clone();
        damaged[place..place + bytes.len()].copy_from_slice(bytes);
        damaged
    };
    let around = vec![first.clone(), last.clone()];
    let of_middle = |what, bytes| Damaged { what, bytes, lost: (at, length), whole: around.clone() };
    vec![
        of_middle("end magic of the middle message", with(at + length - 1, b"X")),
        of_middle("header length beyond the file", with(at + LENGTH, &1_000_000_u64.to_be_bytes())),
        of_middle("header length too small", with(at + LENGTH, &560_u64.to_be_bytes())),
        of_middle("header length that no memory has", with(at + LENGTH, &u64::MAX.to_be_bytes())),
        of_middle("magic of the middle message", with(at, b"X")),
        Damaged {
            what: "truncated tail",
            bytes: good[..MESSAGES[2].0 + 300].to_vec(),
            lost: (MESSAGES[2].0, 300),
            whole: vec![first.clone(), middle.clone()],
        },
        Damaged {
            what: "junk between",
            bytes: [&*first, &[7; 37], &*middle, &*last].concat(),
            lost: (at, 37),
            whole: vec![first, middle, last],
        },
    ]
}

/// The behaviour of a command on a damaged file.
enum Reads {
    /// No messages.
    No,
    /// It reports the loss, and outputs the rest. The fields are a call with IN and OUT in place of paths, and a check
    /// of the rest.
    Rest(&'static str, fn(&Run, &Path, &Damaged) -> bool),
    /// It reports the loss and writes nothing, because its output must be complete.
    Refuses(&'static str),
}

/// Good entries of a list.
fn listed(list: &Json) -> usize {
    list.as_array().unwrap().iter().filter(|item| item.get("message").is_some() && item.get("error").is_none()).count()
}

fn lists_all(run: &Run, _: &Path, damaged: &Damaged) -> bool {
    listed(&run.json()["messages"]) == damaged.whole.len()
}

fn copies_all(_: &Run, out: &Path, damaged: &Damaged) -> bool {
    fs::read(out).unwrap() == damaged.whole.concat()
}

fn digests(path: &Path) -> Vec<String> {
    let run = tgm([Path::new("digest"), Path::new("--json"), path]);
    let document = run.json();
    let objects = document["messages"].as_array().unwrap().iter().flat_map(|m| m["objects"].as_array().unwrap());
    objects.map(|object| object["sha256"].as_str().unwrap().to_string()).collect()
}

fn has_all_values(_: &Run, out: &Path, damaged: &Damaged) -> bool {
    let whole = out.with_extension("whole");
    fs::write(&whole, damaged.whole.concat()).unwrap();
    digests(out) == digests(&whole)
}

/// The behaviour of each subcommand. A subcommand that is missing here fails the test.
fn commands() -> BTreeMap<&'static str, Reads> {
    use Reads::{No, Refuses, Rest};
    [
        ("info", Rest("info --json IN", |run, _, d| run.json()["files"][0]["messages"] == d.whole.len())),
        ("ls", Rest("ls --json IN", lists_all)),
        ("dump", Rest("dump --json IN", lists_all)),
        ("frames", Rest("frames --json IN", lists_all)),
        ("get", Rest("get --json -p version IN", lists_all)),
        ("digest", Rest("digest --json IN", lists_all)),
        ("plot", Rest("plot IN", |run, _, _| run.text().contains("message 0, object 0, 3"))),
        ("cat", Rest("cat IN", |run, _, _| run.text() == "0 1 2\n")),
        ("stats", Rest("stats --json IN", lists_all)),
        ("tail", Rest("tail --from-start --idle 0.01 IN", |run, _, d| run.text().lines().count() == d.whole.len())),
        ("bench", Rest("bench --json --seconds 0 IN", |run, _, d| run.json()["stages"][0]["count"] == d.whole.len())),
        ("compare", Rest("compare --json IN IN", |run, _, _| run.json()["differences"] == Json::Array(Vec::new()))),
        (
            "extract",
            Rest("extract IN -O OUT", |_, out, _| {
                let good = out.with_extension("good");
                tgm([&"extract".into(), &data("multi/three.tgm"), &"-O".into(), &good.display().to_string()]).good();
                fs::read(out).unwrap() == fs::read(good).unwrap()
            }),
        ),
        ("scan", Rest("scan --json IN", |run, _, d| listed(&run.json()["segments"]) == d.whole.len())),
        (
            "catalog",
            Rest("catalog --auto IN -o OUT", |_, out, d| {
                tgm_catalog::Catalog::open(out).unwrap().message_count() == d.whole.len()
            }),
        ),
        (
            "cube",
            Rest("cube --json --all IN", |run, _, d| {
                let sets = run.json()["datasets"].as_array().unwrap().clone();
                sets.iter().map(|it| it["variables"].as_array().unwrap().len()).sum::<usize>() == d.whole.len()
            }),
        ),
        ("upgrade", Rest("upgrade IN -o OUT", copies_all)),
        ("verify", Rest("verify --json IN", lists_all)),
        ("validate", Rest("validate --json IN", |run, _, d| run.json()[0]["messages"] == d.whole.len())),
        ("repack", Refuses("repack IN -o OUT --compression none")),
        ("reshuffle", Refuses("reshuffle IN -o OUT")),
        ("merge", Refuses("merge IN -o OUT")),
        ("copy", Rest("copy IN OUT", copies_all)),
        (
            "split",
            Rest("split IN -o OUT", |_, out, d| {
                (0..d.whole.len()).all(|n| {
                    let part = out.with_file_name(format!("out_{n:04}"));
                    fs::read(part).unwrap() == d.whole[n]
                })
            }),
        ),
        ("set", Rest("set -s a=1 IN OUT", has_all_values)),
        ("salvage", Rest("salvage --json IN -o OUT", copies_all)),
        (
            "zio from-tgm",
            Rest("zio from-tgm IN -O OUT", |_, out, d| {
                let run = tgm(["zio", "ls", "--json", &out.display().to_string()]);
                run.json()["messages"].as_array().unwrap().len() == d.whole.len()
            }),
        ),
        ("create", No),
        (
            "convert",
            Rest("convert IN -o OUT_[index].csv --to csv", |_, out, d| {
                (0..=d.whole.len()).all(|n| {
                    let part = out.with_file_name(format!("out_{n:04}.csv"));
                    fs::exists(part).unwrap() == (n < d.whole.len())
                })
            }),
        ),
        // It needs a terminal: `browse.sh` looks at its title.
        ("browse", No),
        // It goes on until it is interrupted.
        ("serve", No),
        ("doctor", No),
        ("completions", No),
        ("man", No),
        ("zio ls", No),
        ("zio dump", No),
        ("zio to-tgm", No),
    ]
    .into_iter()
    .collect()
}

fn call(line: &str, input: &Path, out: &Path) -> Run {
    tgm(line.split(' ').map(|word| match word {
        "IN" => input.display().to_string(),
        other => other.replace("OUT", &out.display().to_string()),
    }))
}

#[test]
fn every_command_that_reads_messages_tells_what_is_lost_and_shows_the_rest() {
    let commands = commands();
    let folder = tempfile::tempdir().unwrap();
    for name in subcommands() {
        let reads = commands.get(&*name).unwrap_or_else(|| panic!("tgm {name}: say here what it does with lost bytes"));
        let (Reads::Rest(line, _) | Reads::Refuses(line)) = reads else { continue };
        for (number, damaged) in damages().into_iter().enumerate() {
            let folder = folder.path().join(format!("{name}{number}"));
            fs::create_dir(&folder).unwrap();
            let (input, out): (PathBuf, PathBuf) = (folder.join("in"), folder.join("out"));
            fs::write(&input, &damaged.bytes).unwrap();
            let run = call(line, &input, &out);
            let place = format!("tgm {name}, {}: {}", damaged.what, run.stderr);
            assert_eq!(run.code, Some(if name == "compare" { 2 } else { 1 }), "{place}");
            let is_report = matches!(&*name, "salvage" | "validate");
            // The output of these commands is about damage.
            let told = if is_report { run.text().replace(['{', '}', '"', ':', ','], " ") } else { run.stderr.clone() };
            let words: Vec<_> = told.split([' ', ';', '(', '\n']).collect();
            let (offset, length) = (damaged.lost.0.to_string(), damaged.lost.1.to_string());
            assert!(words.contains(&&*offset) && words.contains(&&*length), "{place}");
            assert!(is_report || told.contains("tgm salvage"), "{place}");
            match reads {
                Reads::Rest(_, is_there) => assert!(is_there(&run, &out, &damaged), "{place} {}", run.text()),
                _ => assert!(!out.exists(), "{place}"),
            }
        }
    }
}

#[test]
fn numbers_shift_and_that_is_told_and_offsets_stay() {
    let folder = tempfile::tempdir().unwrap();
    let good = data("multi/three.tgm");
    let damaged = folder.path().join("damaged.tgm").display().to_string();
    fs::write(&damaged, &damages()[0].bytes).unwrap();
    let expected = tgm(["extract", &good, "-m", "2"]).good().stdout;
    let run = tgm(["extract", &damaged, "--at", "1136"]);
    assert_eq!((run.code, &run.stdout), (Some(1), &expected));
    let run = tgm(["extract", &damaged, "-m", "1"]);
    assert_eq!((run.code, &run.stdout), (Some(1), &expected));
    assert!(run.stderr.contains("message 1 is the one at 1136"), "{}", run.stderr);
    let run = tgm(["extract", &damaged, "-m", "2"]);
    assert_eq!((run.code, run.stdout.len()), (Some(1), 0));
    assert!(run.stderr.contains("there is no message 2 (2 messages)"), "{}", run.stderr);
    let run = tgm(["extract", &damaged, "--at", "568"]);
    assert_eq!((run.code, run.stdout.len()), (Some(1), 0));
    assert!(
        run.stderr.contains("no message begins at byte 568 (near: message 0 at 0, message 1 at 1136)"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_message_is_named_by_its_number_or_its_offset_everywhere() {
    let path = data("multi/three.tgm");
    for line in ["ls", "dump", "frames", "get -p version", "digest", "verify", "stats"] {
        let run = |more: &[&str]| tgm(line.split(' ').chain(["--json", &path]).chain(more.iter().copied()));
        let all = run(&[]).good().json();
        for (index, (offset, _)) in MESSAGES.iter().enumerate() {
            let (index, offset) = (index.to_string(), offset.to_string());
            let by_number = run(&["-m", &index]).good().json();
            let by_offset = run(&["--at", &offset]).good().json();
            assert_eq!(by_number, by_offset, "{line}");
            assert_eq!(by_number["messages"].as_array().unwrap().len(), 1, "{line}");
            assert_eq!(by_number["messages"][0], all["messages"][index.parse::<usize>().unwrap()], "{line}");
        }
        for (flag, value) in [("-m", "3"), ("--at", "1"), ("--at", "99999")] {
            let run = run(&[flag, value]);
            assert_eq!((run.code, run.json()["messages"].as_array().unwrap().len()), (Some(1), 0), "{line}");
            assert!(run.stderr.contains("no message"), "{}", run.stderr);
        }
        assert_eq!(run(&["-m", "0", "--at", "0"]).code, Some(2), "{line}");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    tgm(["copy", "--at", "568", &path, &out]).good();
    assert_eq!(fs::read(&out).unwrap(), fs::read(&path).unwrap()[568..1136]);
    assert_eq!(tgm(["copy", "--at", "569", &path, &out]).code, Some(1));
    assert_eq!(fs::read(&out).unwrap().len(), 568, "a message that is not there replaces nothing");
}

#[test]
fn frames_of_a_damaged_message_are_shown_by_its_offset() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.tgm").display().to_string();
    fs::write(&path, &damages()[0].bytes).unwrap();
    let run = tgm(["frames", "--json", "--at", "568", &path]);
    let messages = run.json()["messages"].clone();
    assert_eq!((run.code, messages.as_array().unwrap().len(), &messages[0]["offset"]), (Some(1), 1, &568.into()));
    let run = tgm(["frames", "--json", "--at", "569", &path]);
    assert!(run.stderr.contains("no message begins at byte 569"), "{}", run.stderr);
}

#[test]
fn a_file_without_a_whole_message_says_what_it_holds_instead() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let good = fs::read(data("multi/three.tgm")).unwrap();
    let mut version_4 = good[..568].to_vec();
    version_4[9] = 4;
    let v2 = fs::read(data("v2/0.14.0-two-messages.tgm")).unwrap();
    let zio = fs::read(data("../data-zio/encoded/cpp-blank-form.zio")).unwrap();
    let cases: [(&[u8], &[&str]); 9] = [
        (
            &good[..300],
            &["300 bytes at offset 0", "a message of 568 bytes that is cut short: 300 are there", "tgm salvage"],
        ),
        (&version_4, &["version 4", "reads version 3"]),
        (&v2, &["2 messages of version 2", "tgm upgrade"]),
        (&[1; 500], &["no message found in 500 bytes"]),
        (&good[..7], &["no message found in 7 bytes"]),
        (&zio, &["no message found in 113 bytes; it begins like a message of ZIO: `tgm zio ls` reads that"]),
        (b"GRIB but no more", &["no message found in 16 bytes; it begins like GRIB: `tgm convert` reads that"]),
        (b"\x93NUMPY", &["it begins like an array of numpy: `tgm convert` reads that"]),
        (b"\x89HDF\r\n\x1a\n", &["it begins like HDF5 or NetCDF: `tgm convert`"]),
    ];
    for (bytes, texts) in cases {
        fs::write(&path, bytes).unwrap();
        for command in ["ls", "info", "digest", "verify", "scan", "frames", "extract"] {
            let run = tgm([Path::new(command), &path]);
            assert_eq!(run.code, Some(1), "{command}");
            for text in texts {
                assert!(run.stderr.contains(text), "tgm {command}: {}", run.stderr);
            }
        }
    }
}

#[test]
fn a_zarr_store_is_told_by_its_name_and_the_command_that_reads_it() {
    const LINES: [&str; 25] = [
        "ls IN",
        "info IN",
        "dump IN",
        "frames IN",
        "cat IN",
        "stats IN",
        "digest IN",
        "verify IN",
        "validate IN",
        "bench IN",
        "scan IN",
        "extract IN",
        "cube IN",
        "get -p a IN",
        "compare IN IN",
        "create IN -O OUT",
        "create IN --raw f32,4 -O OUT",
        "merge IN IN -O OUT",
        "copy IN OUT",
        "split IN -O OUT_[index]",
        "repack IN -O OUT --compression lz4",
        "reshuffle IN -O OUT",
        "upgrade IN -O OUT",
        "salvage IN -O OUT",
        "catalog IN",
    ];
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    for sign in ["zarr.json", ".zgroup", ".zarray"] {
        let path = folder.path().join(sign.trim_start_matches('.'));
        let run = |line: &str| {
            tgm(line.split(' ').map(|word| word.replace("IN", path.to_str().unwrap()).replace("OUT", &out)))
        };
        fs::create_dir(&path).unwrap();
        for line in LINES {
            assert!(!run(line).stderr.contains("Zarr"), "{line}");
        }
        fs::write(path.join(sign), "{}").unwrap();
        for line in LINES {
            let run = run(line);
            assert!(matches!(run.code, Some(1 | 2)), "{line}");
            let told = run.stderr.contains("it is a Zarr store: `tgm convert`");
            assert!(told, "tgm {line}: {}", run.stderr);
        }
    }
}
