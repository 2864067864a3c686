//! Running the tool.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// What a run left behind.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Run {
    /// Standard output as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Standard output as one JSON document.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Standard output, of a run in which nothing went wrong.
    pub(crate) fn good(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", String::from_utf8_lossy(&self.stdout));
        self
    }
}

/// The tool, with nothing on standard input.
pub(crate) fn command(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tgm"));
    command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR");
    command
}

/// Runs the tool to its end.
pub(crate) fn tgm(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    let output = command(args).output().unwrap();
    Run { code: output.status.code(), stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}
