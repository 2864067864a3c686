//! Which build script speaks first when cmake is missing: ours, or the one of the C library that is built with it.
//!
//! c-blosc2 stands for libaec too, whose build script waits for many more crates.

use std::path::Path;
use std::process::Command;

/// Builds tgm-std with c-blosc2, without cmake; what cargo says.
///
/// In the folder where this test was built, so that most dependencies are there: the two build scripts then come close.
fn build_without_cmake(jobs: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--lib",
            "--no-default-features",
            "--features",
            "blosc2",
            "--jobs",
            jobs,
        ])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"), "--target-dir"])
        .arg(folder)
        .env("CMAKE", "/nonexistent/tool")
        .output()
        .unwrap();
    assert!(!output.status.success(), "it builds without cmake");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_missing_cmake_is_told_before_the_c_library_panics() {
    // The first build makes the build scripts, which later ones find: each order of events has its turn.
    for jobs in ["2", "2", "1", "8"] {
        let said = build_without_cmake(jobs);
        let first = said.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{said}"));
        assert!(first.contains("cmake is missing"), "{jobs} jobs: {said}");
    }
}
