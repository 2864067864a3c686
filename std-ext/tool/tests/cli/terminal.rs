//! Running the tool in a pseudo terminal, with `script` of util-linux.

use std::process::{Command, Stdio};

/// What a shell command shows on a terminal of this width. `$TOOL` in it is the tool, and `$IN` a file. `None`, and a word
/// about it, if there is no `script` that understands the flags.
pub(crate) fn in_terminal(line: &str, input: &str, columns: usize, variables: &[(&str, &str)]) -> Option<String> {
    let version = Command::new("script").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        eprintln!("skipped: there is no `script` of util-linux");
        return None;
    }
    let line = format!("stty cols {columns} rows 24; {line}");
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("TOOL", env!("CARGO_BIN_EXE_tgm"))
        .env("IN", input)
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Some(String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n"))
}
