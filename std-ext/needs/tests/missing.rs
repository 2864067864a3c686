//! What a build says when a tool is missing.

use std::path::Path;
use std::process::Command;

/// Builds this package with a feature and one environment variable. Returns the errors if that fails.
fn build(feature: &str, variable: &str, value: &str) -> Result<(), String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(feature);
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--features", feature, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .env(variable, value)
        .output()
        .unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8(output.stderr).unwrap()) }
}

/// Checks that a tool is reported missing, in one sentence, if its name leads nowhere, and not if it is present.
fn misses(feature: &str, variable: &str, there: &str, tool: &str, of: &str) {
    let errors = build(feature, variable, "/nonexistent/tool").unwrap_err();
    let mut sentences = errors.lines().filter(|line| line.starts_with("error: ") && line.contains("missing"));
    let sentence = sentences.next().unwrap_or_else(|| panic!("{errors}"));
    for part in [&format!("{tool} is missing"), of, "install", variable, "without"] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    assert_eq!(sentences.next(), None, "{errors}");
    assert_eq!(build(feature, variable, there), Ok(()));
}

#[test]
fn cmake_that_is_missing_is_named_with_its_features() {
    misses("cmake", "CMAKE", env!("CARGO"), "cmake", "features `blosc2` and `libaec` of tgm-std");
}

#[test]
fn libclang_that_is_missing_is_named_with_its_feature() {
    // Any file that the variable names passes for libclang.
    misses(
        "libclang",
        "LIBCLANG_PATH",
        concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs"),
        "libclang",
        "feature `libaec` of tgm-std",
    );
}

#[test]
fn a_compiler_that_is_missing_is_named_with_its_feature() {
    misses("cxx", "CXX", env!("CARGO"), "a C++ compiler", "feature `sz3` of tgm-std");
    assert_eq!(build("cxx", "CXX", &format!("wrapper {}", env!("CARGO"))), Ok(()));
}
