//! The conformance corpus is what its generator makes, our tool and our writer pass it, and a broken reader does not.
#![cfg(all(unix, target_pointer_width = "64", target_endian = "little"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// The folder of the corpus.
fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// The folder of the profile in the target folder, which holds tools and `examples`.
fn built() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned()
}

/// A program that cargo builds; it is built now if a run of this test alone did not build it.
fn program(path: &str, build: &[&str]) -> String {
    let program = built().join(path);
    if !program.is_file() {
        let target = built().parent().unwrap().to_owned();
        let status =
            Command::new(env!("CARGO")).args(["build", "--locked", "--target-dir"]).arg(target).args(build).status();
        assert!(status.unwrap().success() && program.is_file(), "{} is not built", program.display());
    }
    program.to_str().unwrap().to_owned()
}

fn tool() -> String {
    program("tgm", &["-p", "tgm-std", "--bin", "tgm"])
}

fn writer() -> String {
    program("examples/conformance_writer", &["-p", "tgm-tests", "--example", "conformance_writer"])
}

/// Runs a script of the corpus.
fn python(script: &str, arguments: &[&str]) -> Output {
    // Without bytecode files beside the sources.
    Command::new("python3").arg("-B").arg(corpus().join(script)).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_corpus_is_what_the_generator_makes() {
    let run = python("generate.py", &["--check", "--writer", &writer()]);
    assert!(run.status.success(), "{}", text(&run));
}

#[test]
fn our_tool_and_our_writer_pass_all_levels() {
    let run = python("run.py", &[&tool(), "--writer", &writer()]);
    assert!(run.status.success(), "{}", text(&run));
    let table = text(&run);
    for level in ["minimal", "full", "hostile", "writer"] {
        let row = table.lines().find(|line| line.starts_with(level) && line.contains(" all ")).unwrap();
        let counts: Vec<usize> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(counts[0] > 100 && counts[1..] == [0, 0], "{row}");
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
    let tool = tool();
    let asked = ["--level", "minimal", "--feature", "dtypes"];
    let broken = [
        // One digit of each digest is another.
        ("digest", format!("'{tool}' \"$@\" | sed 's/\"sha256\":\"./\"sha256\":\"x/'"), "sha256"),
        ("metadata", format!("'{tool}' \"$@\" | sed 's/\"encoder\"/\"coder\"/'"), "reserved"),
        ("crash", "kill -SEGV $$".to_owned(), "crashed"),
        ("silent", "exit 0".to_owned(), "not JSON"),
        ("accepting", format!("'{tool}' \"$@\"; exit 0"), "is accepted"),
        ("refusing", "exit 1".to_owned(), "not read either"),
    ];
    for (name, lines, expected) in broken {
        let reader = script(folder.path(), name, &lines);
        let hostile = ["--level", "hostile", "--feature", "preamble"];
        let level = if matches!(name, "accepting" | "refusing") { hostile } else { asked };
        let run = python("run.py", &[&[reader.as_str()], &level[..]].concat());
        assert_eq!(run.status.code(), Some(1), "{name}: {}", text(&run));
        assert!(text(&run).contains(expected), "{name}: {}", text(&run));
    }
}

#[test]
fn a_broken_writer_fails() {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("'{}' \"$1\" \"$2\" && printf x >>\"$2\"", writer());
    let writer = script(folder.path(), "writer", &lines);
    let run = python("run.py", &["--writer", &writer, "--feature", "digests"]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
}

#[test]
fn what_a_reader_declares_to_lack_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let reader = script(folder.path(), "reader", &format!("case \"$*\" in *zstd*) exit 1;; esac; '{}' \"$@\"", tool()));
    let asked = [reader.as_str(), "--level", "full", "--feature", "zstd,lz4"];
    let run = python("run.py", &asked);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
    let run = python("run.py", &[&asked[..], &["--without", "zstd"]].concat());
    assert!(run.status.success(), "{}", text(&run));
}
