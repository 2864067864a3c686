//! Progress on standard error: lines of JSON for programs, a bar on terminals.

use std::{fs, thread};

use serde_json::Value as Json;

use crate::corpus::data;
use crate::edits::Folder;
use crate::npy::npy;
use crate::terminal::in_terminal;
use crate::tool::{Run, tgm};

/// Every command that reads whole files, with `IN` and `OUT` for files.
const LINES: [&str; 23] = [
    "info IN",
    "ls IN",
    "get -p version IN",
    "dump IN",
    "cat IN",
    "stats IN",
    "digest IN",
    "compare IN IN",
    "scan IN",
    "verify IN",
    "validate IN",
    "validate --full IN",
    "copy IN OUT",
    "copy -w step>=0 IN OUT",
    "split IN -O OUT",
    "merge IN -O OUT",
    "set -s a=1 IN OUT",
    "repack --compression zstd IN -O OUT",
    "reshuffle IN -O OUT",
    "salvage IN -O OUT",
    "catalog IN -O OUT",
    "upgrade IN -O OUT",
    "convert IN -O OUT",
];

/// The command that reads the beginning of a file only.
const PARTIAL: &str = "cat";

/// The lines of JSON on standard error, which has nothing else.
fn lines(run: &Run) -> Vec<Json> {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_long_command_tells_its_progress_in_json() {
    let folder = Folder::new();
    let three = data("multi/three.tgm");
    for line in LINES {
        let input = match line.split(' ').next() {
            Some("convert") if !cfg!(feature = "grib") => continue,
            Some("convert") => data("../data-grib/simple-12.grib2"),
            _ => three.clone(),
        };
        let out = folder.path("out");
        let words = line.split(' ').map(|word| match word {
            "IN" => input.clone(),
            "OUT" => out.clone(),
            other => other.to_string(),
        });
        let words: Vec<_> = words.collect();
        let files = words.iter().filter(|word| **word == input).count() as u64;
        let quiet = tgm(words.iter().map(String::as_str).chain(["--progress", "none"])).good();
        let run = tgm(words.iter().map(String::as_str).chain(["--progress", "json"]));
        // Progress changes nothing else.
        assert_eq!(run.stdout, quiet.stdout, "{line}");
        let lines = lines(&run);
        let last = lines.last().unwrap();
        assert_eq!((&last["end"], &last["seconds_left"]), (&true.into(), &0.0.into()), "{line}: {last}");
        assert_eq!(last["progress"], words[0]);
        let length = fs::metadata(&input).unwrap().len();
        assert_eq!(last["total"], files * length, "{line}: {last}");
        if words[0] != PARTIAL {
            assert_eq!(last["bytes"], last["total"], "{line}: {last}");
            assert!(last["messages"].as_u64() > Some(0) && last["rate"].as_f64() > Some(0.0), "{line}: {last}");
        }
    }
    let values = folder.file("a.npy", &npy(1, "'<f8'", false, "(2,)", &[0; 16]));
    let length = fs::metadata(&values).unwrap().len();
    let run = tgm(["create", &values, &values, "-O", &folder.path("made"), "--progress", "json"]);
    let last = lines(&run).pop().unwrap();
    assert_eq!((last["bytes"].as_u64(), last["total"].as_u64()), (Some(2 * length), Some(2 * length)), "{last}");
}

#[test]
fn a_stream_has_no_total() {
    let three = data("multi/three.tgm");
    let script = format!("cat '{three}' | '{}' verify - --progress json", env!("CARGO_BIN_EXE_tgm"));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let last: Json = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["total"], &last["messages"], &last["bytes"]), (&Json::Null, &3.into(), &1712.into()), "{text}");
}

#[test]
fn nothing_is_shown_without_a_terminal_or_in_short_work() {
    let three = data("multi/three.tgm");
    tgm(["verify", &three]).good();
    let run = tgm(["verify", "--progress", "bar", &three]);
    assert!(run.code == Some(0) && !run.stderr.contains('\n'), "{:?}", run.stderr);
    assert_eq!(tgm(["verify", "--progress", "dots", &three]).code, Some(2));
    let Some(text) = in_terminal("\"$TOOL\" verify \"$IN\" >/dev/null", &three, 80, &[]) else { return };
    assert_eq!(text, "");
}

/// Arguments, the columns of the terminal, and variables.
type Call<'a> = (&'a str, usize, &'a [(&'a str, &'a str)]);

#[test]
fn a_terminal_shows_a_bar_which_fits_and_goes_away() {
    let three = data("multi/three.tgm");
    let slow = "(cat \"$IN\"; sleep 1.5; cat \"$IN\") | \"$TOOL\" verify - ARGS >/dev/null";
    let shown = |args: &str, columns, variables: &[(&str, &str)]| {
        in_terminal(&slow.replace("ARGS", args), &three, columns, variables)
    };
    // Each of them waits, so they run side by side.
    let [first, narrow, wide, quiet, dumb, none] = thread::scope(|scope| {
        let calls: [Call<'_>; 6] = [
            ("", 80, &[]),
            ("--progress bar", 12, &[]),
            ("--progress bar", 40, &[]),
            ("--quiet", 80, &[]),
            ("", 80, &[("TERM", "dumb")]),
            ("--progress none", 80, &[]),
        ];
        let shown = &shown;
        calls
            .map(|(args, columns, variables)| scope.spawn(move || shown(args, columns, variables)))
            .map(|run| run.join().unwrap())
    });
    let Some(text) = first else { return };
    let (bars, rest) = text.rsplit_once("\r\x1b[K").unwrap();
    assert!(bars.contains("\rverify 1.7 kB, ") && bars.contains("/s\x1b[K"), "{text:?}");
    assert_eq!(rest, "", "{text:?}");
    for (columns, text) in [(12, narrow), (40, wide)] {
        let text = text.unwrap();
        let lines = text.split('\r').map(|line| line.replace("\x1b[K", ""));
        assert!(lines.clone().any(|line| line.starts_with("verify")), "{text:?}");
        assert!(lines.clone().all(|line| line.chars().count() < columns), "{text:?}");
    }
    assert_eq!([quiet, dumb, none].map(Option::unwrap), [""; 3]);
}

#[test]
fn a_listing_on_the_terminal_has_no_bar_in_it() {
    let three = data("multi/three.tgm");
    let slow = "(cat \"$IN\"; sleep 0.5; cat \"$IN\"; sleep 0.5; cat \"$IN\") | \"$TOOL\" verify - --progress bar";
    let Some(text) = in_terminal(slow, &three, 80, &[]) else { return };
    // The bar goes before the first row.
    let (_, listing) = text.rsplit_once("\r\x1b[K").unwrap_or(("", &text));
    assert_eq!(listing.lines().filter(|line| !line.contains("verify ")).count(), 10, "{text:?}");
    assert!(!listing.contains("verify "), "{text:?}");
}
