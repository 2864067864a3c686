//! The conformance corpus: the tool passes it, and a broken reader does not.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::scale::stride;

const TOOL: &str = env!("CARGO_BIN_EXE_tgm");

/// Runs the corpus.
fn corpus(arguments: &[&str]) -> Output {
    let runner = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/run.py");
    // Without bytecode files beside the sources.
    Command::new("python3").args(["-B", runner]).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_tool_passes_all_levels() {
    let every = stride(3);
    let run = corpus(&[TOOL, "--every", &every.to_string()]);
    assert!(run.status.success(), "{}", text(&run));
    let table = text(&run);
    for level in ["minimal", "full", "hostile"] {
        let row = table.lines().find(|line| line.starts_with(level) && line.contains(" all ")).unwrap();
        let counts: Vec<usize> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(counts[0] > 100 / every && counts[1..] == [0, 0], "{row}");
    }
}

/// Writes a program for the shell.
fn script(folder: &Path, name: &str, lines: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, lines).unwrap();
    format!("sh {}", path.display())
}

#[test]
fn a_broken_reader_fails() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["--level", "minimal", "--feature", "dtypes"];
    let broken = [
        // One digit of each digest is another.
        ("digest", format!("'{TOOL}' \"$@\" | sed 's/\"sha256\":\"./\"sha256\":\"x/'"), "sha256"),
        ("metadata", format!("'{TOOL}' \"$@\" | sed 's/\"encoder\"/\"coder\"/'"), "reserved"),
        ("crash", "kill -SEGV $$".to_owned(), "crashed"),
        ("silent", "exit 0".to_owned(), "not JSON"),
        ("accepting", format!("'{TOOL}' \"$@\"; exit 0"), "is accepted"),
        ("refusing", "exit 1".to_owned(), "not read either"),
    ];
    for (name, lines, expected) in broken {
        let reader = script(folder.path(), name, &lines);
        let hostile = ["--level", "hostile", "--feature", "preamble"];
        let level = if matches!(name, "accepting" | "refusing") { hostile } else { asked };
        let run = corpus(&[&[reader.as_str()], &level[..]].concat());
        assert_eq!(run.status.code(), Some(1), "{name}: {}", text(&run));
        assert!(text(&run).contains(expected), "{name}: {}", text(&run));
    }
}

#[test]
fn what_a_reader_declares_to_lack_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let reader = script(folder.path(), "reader", &format!("case \"$*\" in *zstd*) exit 1;; esac; '{TOOL}' \"$@\""));
    let asked = [reader.as_str(), "--level", "full", "--feature", "zstd,lz4"];
    let run = corpus(&asked);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
    let run = corpus(&[&asked[..], &["--without", "zstd"]].concat());
    assert!(run.status.success(), "{}", text(&run));
}
