//! The program prints with our crate what it printed with the reference.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::process::Command;

#[test]
fn a_program_for_the_reference_crate_does_the_same_with_ours() {
    let run = Command::new(env!("CARGO_BIN_EXE_tgm-compat")).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    assert!(run.status.success(), "{stdout}{stderr}");
    let expected = include_str!("../expected.txt");
    for (i, (line, expected)) in stdout.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "line {}", i + 1);
    }
    assert_eq!(stdout.lines().count(), expected.lines().count());
}
