//! Commands within a program that goes on.

use std::ffi::OsString;
use std::path::Path;

use tgm_tool::{Said, call};

fn words(words: &[&str]) -> Vec<OsString> {
    ["tgm"].iter().chain(words).map(OsString::from).collect()
}

/// `tgm convert` with numpy's format, which every build has.
fn convert(input: &Path, output: &Path, flags: &[&str]) -> Result<Said, String> {
    let paths = ["convert", input.to_str().unwrap(), "-o", output.to_str().unwrap()];
    call(words(&[&paths, flags].concat()))
}

#[test]
fn what_a_command_says_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, array, missing] = ["a.tgm", "a.npy", "none.tgm"].map(|name| folder.path().join(name));
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/realistic/surface-181x360.tgm");
    std::fs::copy(data, &archive).unwrap();

    let said = convert(&archive, &array, &["--strict"]).unwrap();
    assert!(!said.problems.is_empty() && !array.exists(), "{said:?}");
    let said = convert(&missing, &array, &[]).unwrap();
    assert!(said.problems[0].starts_with("cannot read") && said.remarks.is_empty(), "{said:?}");
}

#[test]
fn a_wrong_command_line_leaves_the_program_alone() {
    let folder = tempfile::tempdir().unwrap();
    let [archive, array] = ["a.tgm", "a.npy"].map(|name| folder.path().join(name));
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/realistic/surface-181x360.tgm");
    std::fs::copy(data, &archive).unwrap();

    assert!(call(words(&["convert", "--nosuch"])).unwrap_err().contains("'--nosuch'"));
    assert!(call(words(&["--help"])).unwrap_err().contains("Usage: tgm"));
    // Found while the command runs.
    for _ in 0..2 {
        let error = convert(&archive, &array, &["--compression", "zstd"]).unwrap_err();
        assert!(
            error.contains("stages are for output in the format tgm") && error.contains("Usage: tgm convert"),
            "{error}"
        );
    }
    let error = call(words(&["ls", "--nosuch=s3://user:SECRET@bucket/x?SECRET"])).unwrap_err();
    assert!(!error.contains("SECRET"), "{error}");
}
