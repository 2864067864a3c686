//! What cannot be meant is reported, and what fails leaves files as they were.

use std::fs;

use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::corpus::data;
use crate::edits::Folder;
use crate::npy::npy;
use crate::tool::{subcommands, tgm};

const FIELDS: &str = "realistic/surface-181x360.tgm";

#[test]
fn filters_of_a_key_that_is_nowhere_are_told() {
    let path = data(FIELDS);
    for command in ["ls", "get -p mars.param", "stats", "cat", "extract"] {
        for (filter, hint) in
            [("mars.parm=2t", "; did you mean mars.param?"), ("Date=20260404", "; did you mean mars.date?")]
        {
            let run = tgm(command.split(' ').chain(["-w", filter, &path]));
            assert_eq!(run.code, Some(1), "{command} {filter}");
            let key = filter.split('=').next().unwrap();
            assert!(
                run.stderr.contains(&format!("none has the key {key}{hint}")),
                "{command} {filter}: {}",
                run.stderr
            );
        }
    }
    // A key that is there, and a value that is not, is an answer.
    assert_eq!(tgm(["ls", "-w", "mars.param=none", &path]).code, Some(0));
    assert_eq!(tgm(["ls", "-w", "nosuch!=3", &path]).code, Some(0));
    for filter in ["a==1", "a=1 && b=2", "a=1 AND b=2", "a=t,b=500", "shape=10x20"] {
        assert_eq!(tgm(["ls", "-w", filter, &path]).code, Some(2), "{filter}");
    }
    let run = tgm(["ls", "-B", "nosuch", &path]);
    assert!(run.code == Some(1) && run.stderr.contains("cannot sort by nosuch: 0 of 3 have it"), "{}", run.stderr);
}

/// As `ls --objects` does.
#[test]
fn a_filter_picks_the_object() {
    let path = data(FIELDS);
    let of = |command: &str, more: [&str; 2]| tgm([command, more[0], more[1], &path]).good().stdout;
    for command in ["cat", "extract"] {
        assert!(of(command, ["-w", "mars.param=tp"]) == of(command, ["--object", "1"]), "{command}");
        assert!(of(command, ["-w", "mars.param=2t"]) == of(command, ["--object", "0"]), "{command}");
    }
    #[cfg(feature = "plot")]
    assert!(tgm(["plot", "-w", "mars.param=tp", &path]).good().text().contains("message 0, object 1"));
}

/// The name of the command of a line.
fn name_of(words: &[&str]) -> String {
    words[..if words[0] == "zio" { 2 } else { 1 }].join(" ")
}

#[test]
fn what_fails_leaves_the_file() {
    let (folder, path) = (Folder::new(), data("dtypes/float32-little.tgm"));
    let mut damaged = fs::read(&path).unwrap();
    // A byte of the object.
    let middle = damaged.len() / 4 * 3;
    damaged[middle] ^= 1;
    let damaged = folder.file("damaged.tgm", &damaged);
    // Each reports an error, and finds nothing of what is asked for.
    let rows = [
        "get -p no FILE | get -p no FILE --csv | get -p no FILE --json | get -p no FILE --jsonl --objects",
        "get -p no -B no FILE | get -p mars.param -m 7 FILE | get -p mars.param --object 9 FILE",
        "ls -m 7 FILE | ls no-such-file | ls --object 9 --objects FILE | ls --object 9 --json FILE | ls -w no=1 FILE",
        "info no-such-file | info -w no=1 FILE | dump --object 9 FILE | dump --object 9 --json FILE",
        "frames -m 7 FILE | scan no-such-file | cube no-such-file | stats -m 7 FILE | stats --object 9 FILE",
        "cat -w no=1 FILE | cat -m 7 FILE | cat DAMAGED | compare -m 7 FILE FILE | compare FILE no-such-file",
        "digest --object 9 FILE | digest --object 9 --csv FILE | digest no-such-file | bench -m 7 FILE",
        "verify -m 7 FILE | validate no-such-file | extract -m 7 FILE | extract DAMAGED",
        "plot --format png -w no=1 FILE | plot --format svg DAMAGED | plot -m 7 FILE",
        "salvage no-such-file | create no-such-file | copy -w no=1 FILE | merge no-such-file | set -d no no-such-file",
        "repack DAMAGED | reshuffle no-such-file | upgrade no-such-file | catalog --auto no-such-file",
        "convert no-such-file | zio ls FILE | zio dump FILE | zio to-tgm FILE | zio from-tgm DAMAGED",
    ];
    let there = subcommands();
    let commands = rows.iter().flat_map(|row| row.split(" | ")).map(|row| row.split(' ').collect::<Vec<_>>());
    let commands: Vec<Vec<&str>> = commands.filter(|words| there.contains(&name_of(words))).collect();
    let commands = commands.into_iter().map(|words| {
        let file = |word| match word {
            "FILE" => path.as_str(),
            "DAMAGED" => damaged.as_str(),
            word => word,
        };
        words.into_iter().map(file).collect::<Vec<_>>()
    });
    let commands: Vec<_> = commands.collect();
    // `split` names its files itself, and `doctor` does not fail.
    for name in there.iter().filter(|name| !["split", "doctor"].contains(&name.as_str())) {
        let has_output = tgm(name.split(' ').chain(["--help"])).good().text().contains("--output");
        assert_eq!(commands.iter().any(|words| name_of(words) == *name), has_output, "{name}");
    }
    let (old, absent) = (folder.file("old", b"what was here before"), folder.path("new"));
    let check = |command: &[&str], target: &str| {
        let run = tgm(command.iter().copied().chain(["-O", target]));
        assert_ne!(run.code, Some(0), "{command:?} {target}");
        assert!(!run.stderr.is_empty(), "{command:?} {target}");
        assert!(fs::read(&old).unwrap() == b"what was here before", "{command:?}");
        assert!(fs::metadata(&absent).is_err(), "{command:?}");
    };
    for command in &commands {
        check(command, &old);
    }
    // Also in the forms that other names ask for.
    for name in ["old.json", "old.csv", "old.txt"] {
        let named = folder.file(name, b"what was here before");
        for command in commands.iter().filter(|command| ["get", "ls", "stats", "digest"].contains(&command[0])) {
            check(command, &named);
            assert!(fs::read(&named).unwrap() == b"what was here before", "{command:?} {name}");
        }
    }
    check(&commands[0], &absent);
    check(&["cat", "-m", "7", &path], &absent);
}

/// What was found is written, although other things were not.
#[test]
fn a_listing_of_a_part_is_written() {
    let (folder, path) = (Folder::new(), data("multi/three.tgm"));
    let mut damaged = fs::read(&path).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = folder.file("damaged.tgm", &damaged);
    for name in ["out", "out.json", "out.csv"] {
        for command in [
            "ls no-such-file FILE",
            "get -p step no-such-file FILE",
            "get -p step DAMAGED",
            "digest DAMAGED",
            "info no FILE",
        ] {
            let out = folder.file(name, b"");
            let word = |word: &str| word.replace("FILE", &path).replace("DAMAGED", &damaged);
            let words = command.split(' ').map(word).chain(["-O".to_string(), out.clone()]);
            let run = tgm(words);
            assert_eq!(run.code, Some(1), "{command}");
            assert!(fs::metadata(&out).unwrap().len() > 0, "{command} {name}: {}", run.stderr);
        }
    }
}

#[test]
fn the_form_follows_the_name() {
    let (folder, path) = (Folder::new(), data(FIELDS));
    let written = |command: &str, name: &str| {
        let out = folder.path(name);
        tgm([command, &path, "-O", &out]).good();
        fs::read(out).unwrap()
    };
    assert!(written("extract", "x.npy").starts_with(b"\x93NUMPY"));
    assert_eq!(written("extract", "x.raw").len(), 521_280);
    assert!(written("ls", "x.json").starts_with(b"{\"schema\""));
    assert!(written("ls", "x.csv").starts_with(b"message,object"));
    assert!(written("cat", "x.csv").starts_with(b"dim0,dim1"));
    #[cfg(feature = "plot")]
    assert!(written("plot", "x.png").starts_with(b"\x89PNG"));
    for (command, name) in [("extract", "y.nc"), ("extract", "y.npz"), ("convert", "y.json"), ("convert", "y.tgm.gz")] {
        let flag = if command == "convert" { "-o" } else { "-O" };
        assert_eq!(tgm([command, &path, flag, &folder.path(name)]).code, Some(2), "{command} {name}");
        assert!(fs::metadata(folder.path(name)).is_err());
    }
}

#[test]
fn packed_values_have_the_bits_that_are_asked_for() {
    let folder = Folder::new();
    let values: Vec<u8> = (0..64).flat_map(|value| f64::from(value).to_le_bytes()).collect();
    let (npy, szip, out) =
        (folder.file("v.npy", &npy(1, "'<f8'", false, "(64,)", &values)), folder.path("s"), folder.path("o"));
    tgm(["create", &npy, "-o", &szip, "--bits", "16", "--compression", "szip"]).good();
    let run = tgm(["repack", "--bits", "12", &szip, "-o", &out]);
    assert!(run.code == Some(1) && run.stderr.contains("szip takes packed values of 8, 16"), "{}", run.stderr);
    for (more, bits) in
        [(["--bits", "12", "--compression", "none"], "12"), (["--bits", "24", "--filter", "none"], "24")]
    {
        assert_eq!(tgm(["repack"].iter().chain(&more).chain(&[szip.as_str(), "-o", out.as_str()])).code, Some(0));
        let dumped = tgm(["dump", &out]).good().text().to_string();
        let line = dumped.lines().find(|line| line.contains("sp_bits_per_value")).unwrap();
        assert!(line.ends_with(bits), "{line}");
    }
}

#[test]
fn inputs_are_what_they_are_and_not_what_they_are_called() {
    let folder = Folder::new();
    let array = npy(1, "'<f8'", false, "(2,)", &[0; 16]);
    let out = folder.path("out.tgm");
    for (name, content, said) in [
        ("a.npy", &b"\x1f\x8b\x08\0\0"[..], "compressed by gzip"),
        ("b.npy", b"BZh91AY", "compressed by bzip2"),
        ("c.npy", b"\xfd7zXZ\0\0", "compressed by xz"),
        ("d.npy", b"\x28\xb5\x2f\xfd\0", "compressed by zstd"),
        ("e.csv", b"<!DOCTYPE html>\n<html>", "an HTML page"),
        ("f.npy", b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
    ] {
        let run = tgm(["convert", &folder.file(name, content), "-o", &out]);
        assert!(run.code == Some(1) && run.stderr.contains(said), "{name}: {}", run.stderr);
        assert!(fs::metadata(&out).is_err(), "{name}");
    }
    tgm(["convert", &folder.file("x.csv", &array), "-o", &out]).good();
    #[cfg(unix)]
    {
        let script = "exec \"$0\" convert <(cat \"$1\") -o \"$2\"";
        let input = folder.file("y", &array);
        let shell = std::process::Command::new("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_tgm"), &input, &folder.path("piped.tgm")])
            .status();
        if let Ok(status) = shell {
            assert!(status.success());
            tgm(["ls", &folder.path("piped.tgm")]).good();
        }
    }
}

#[cfg(feature = "npz")]
#[test]
fn names_of_files_are_used_once_and_stay_in_their_folder() {
    let folder = Folder::new();
    let array = folder.file("a.npy", &npy(1, "'<f8'", false, "(2,)", &[0; 16]));
    let named = folder.path("named.tgm");
    let one = folder.path("one.tgm");
    tgm(["convert", &array, "-o", &one]).good();
    tgm(["set", "-s", "name=same", &one, &named]).good();
    for ending in ["npy", "raw", "csv", "npz"] {
        let target = folder.path(&format!("{ending}_[name].{ending}"));
        assert_eq!(tgm(["convert", &named, &named, &named, "-o", &target]).code, Some(0), "{ending}");
        let made =
            folder.names().into_iter().filter(|name| name.starts_with(&format!("{ending}_"))).collect::<Vec<_>>();
        assert_eq!(made, ["same", "same_0001", "same_0002"].map(|name| format!("{ending}_{name}.{ending}")));
    }
    for value in ["", "..", "a/b", "-rf", "a\u{1b}b"] {
        let odd = folder.path("odd.tgm");
        tgm(["set", "-s", &format!("name:s={value}"), &one, &odd]).good();
        let before = folder.names();
        for (command, name) in [("convert", "[name].npy"), ("split", "[name].tgm")] {
            let target = folder.path(name);
            assert_eq!(tgm([command, &odd, "-o", &target]).code, Some(1), "{command} {value:?}");
        }
        assert_eq!(folder.names(), before, "{value:?}");
    }
}

#[cfg(all(feature = "plot", feature = "grib"))]
#[test]
fn pictures_know_the_scanning_mode() {
    let folder = Folder::new();
    let sample = fs::read(data("../data-grib/simple-8.grib2")).unwrap();
    let picture = |bytes: &[u8], name: &str| {
        let (grib, made) = (folder.file("in.grib2", bytes), folder.path(name));
        tgm(["convert", &grib, "-o", &made]);
        tgm(["plot", "--width", "20", &made])
            .good()
            .text()
            .lines()
            .skip_while(|it| !it.contains("31x16"))
            .skip(1)
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let north = picture(&sample, "n.tgm");
    // Section 3 follows sections 0 and 1; its octets 47 to 50 and 56 to 59 are the first and the last latitude.
    let start = sample.windows(2).position(|pair| pair == [0, 3]).map_or(37, |_| 37);
    let mut south = sample.clone();
    for octet in 0..4 {
        south.swap(start + 46 + octet, start + 55 + octet);
    }
    south[start + 71] ^= 0x40;
    let mut south = picture(&south, "s.tgm");
    let bar = south.pop();
    south.reverse();
    south.extend(bar);
    assert_eq!(south, north);
}

/// Dates and numbers are found as people write them, and what cannot be one of them is reported.
#[test]
fn dates_and_numbers_are_found_as_they_are_written() {
    let folder = Folder::new();
    let message = |date: i64, step: i64, day: &str| {
        let mars = [("date", Value::from(date)), ("step", Value::from(step)), ("day", Value::from(day))];
        let mars = Value::Map(mars.into_iter().map(|(key, value)| (key.into(), value)).collect());
        let object = ObjectBuilder::new(&[1], &[0_f32]).unwrap().metadata("mars", mars);
        MessageBuilder::new().object(object).encode().unwrap()
    };
    let messages = [message(20_260_115, 23, "2026-01-15"), message(20_251_231, 6, "2025-12-31")].concat();
    let path = folder.file("dates.tgm", &messages);
    let catalog = folder.path("dates.tgm.catalog");
    tgm(["catalog", &path, "--auto"]).good();
    for flags in [&[][..], &["--catalog", &catalog]] {
        let found = |filter: &str| tgm(["get", "-p", "mars.step", "-w", filter, &path].iter().chain(flags));
        for filter in [
            "mars.date=2026-01-15",
            "mars.date=2026-1-15",
            "mars.date>=2026-01-01",
            "mars.date in 2026-01-01..2026-02-01",
            "mars.step=023",
            "mars.step=23.0",
            "mars.day=20260115",
            "mars.day>20260101",
            "mars.day>2026-01-01",
        ] {
            assert_eq!(found(filter).good().text(), "23\n", "{filter} {flags:?}");
        }
        for (filter, why) in [
            ("mars.date=January", "mars.date is 20260115, and January is not of this form"),
            ("mars.date>=2026-13-01", "mars.date is 20260115, and 2026-13-01 is not of this form"),
        ] {
            let run = found(filter);
            assert!(
                run.code == Some(1) && run.stderr.contains(&format!("0 of 2 match the filter: {why}")),
                "{filter} {flags:?}: {}",
                run.stderr
            );
        }
    }
}
