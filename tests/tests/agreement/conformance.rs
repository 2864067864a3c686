//! The conformance corpus is what its generator makes, our writer and the reader of the model pass it, and a broken writer does not.
//! The tool passes it in `std-ext/tool/tests/cli/conformance.rs`, the readers in other languages in the checks of these.
#![cfg(all(unix, target_pointer_width = "64", target_endian = "little"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use tgm_tests::stride;

/// The folder of the corpus.
fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// An example of this package; it is built now if a run of this test alone did not build it.
fn example(name: &str) -> String {
    let built = env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned();
    let example = built.join("examples").join(name);
    if !example.is_file() {
        let arguments = ["build", "--locked", "-p", "tgm-tests", "--example", name, "--target-dir"];
        let status = Command::new(env!("CARGO")).args(arguments).arg(built.parent().unwrap()).status();
        assert!(status.unwrap().success() && example.is_file(), "{} is not built", example.display());
    }
    example.to_str().unwrap().to_owned()
}

fn writer() -> String {
    example("conformance_writer")
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
fn our_writer_passes() {
    let run = python("run.py", &["--writer", &writer()]);
    assert!(run.status.success(), "{}", text(&run));
    assert_counts(&text(&run), "writer", 100);
}

/// That more than `least` cases of a level passed, and none failed.
fn assert_counts(table: &str, level: &str, least: usize) {
    let row = table.lines().find(|line| line.starts_with(level) && line.contains(" all ")).unwrap();
    let counts: Vec<usize> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(counts[0] > least && counts[1] == 0, "{row}");
}

#[test]
fn the_reader_of_the_model_passes() {
    let every = stride(6);
    let asked = ["--without", "metadata", "--every", &every.to_string()];
    let run = python("run.py", &[&[example("conformance_reader").as_str()], &asked[..]].concat());
    assert!(run.status.success(), "{}", text(&run));
    for level in ["minimal", "full", "hostile"] {
        assert_counts(&text(&run), level, 60 / every);
    }
}

#[test]
fn a_broken_writer_fails() {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!("'{}' \"$1\" \"$2\" && printf x >>\"$2\"", writer());
    let broken = folder.path().join("writer");
    fs::write(&broken, lines).unwrap();
    let run = python("run.py", &["--writer", &format!("sh {}", broken.display()), "--feature", "digests"]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
}
