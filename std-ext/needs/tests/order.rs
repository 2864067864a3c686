//! If cmake is missing, our build script reports it before the build script of a C library that needs it fails.
//!
//! The test takes c-blosc2. The build script of libaec waits for many more crates, and so comes later still.

use std::path::Path;
use std::process::Command;

/// Builds tgm-std with c-blosc2 and without cmake. Returns what cargo prints.
///
/// It builds in the folder of this test, where most dependencies are built already, so that the two build scripts start
/// close to each other.
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

/// Tries of each case: on a machine that is busy with other work, the two scripts may start in the other order.
const TRIES: usize = 4;

#[test]
#[ignore = "compiles: the deep check `features` runs it"]
fn a_missing_cmake_is_told_before_the_c_library_panics() {
    // The first build compiles the build scripts, and later builds only run them: both cases are tested.
    for jobs in ["2", "1"] {
        let mut said = String::new();
        let is_first = (0..TRIES).any(|_| {
            said = build_without_cmake(jobs);
            let first = said.lines().find(|line| line.starts_with("error: "));
            first.is_some_and(|first| first.contains("cmake is missing"))
        });
        assert!(is_first, "{jobs} jobs: {said}");
    }
}
