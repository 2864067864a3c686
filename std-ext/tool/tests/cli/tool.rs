//! Running the tool.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// The result of a run.
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

    /// The run, which must have succeeded without a word on standard error, but for how far packed values are from what they were.
    pub(crate) fn good(self) -> Self {
        let told: Vec<&str> = self.stderr.lines().filter(|line| !line.starts_with("packed ")).collect();
        assert_eq!((self.code, told), (Some(0), Vec::new()), "{}", String::from_utf8_lossy(&self.stdout));
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

/// Names that the help does not list, each with what stands for it.
pub(crate) const SPELLINGS: [(&str, &str); 10] = [
    ("get", "ls --values"),
    ("info", "ls --summary"),
    ("frames", "ls --frames"),
    ("scan", "ls --scan"),
    ("verify", "validate --digests"),
    ("digest", "validate --print"),
    ("split", "copy --split"),
    ("merge", "copy --merge"),
    ("reshuffle", "repack --reshuffle"),
    ("bench", "doctor --bench"),
];

/// The names of all subcommands from the tool's help, and those that it does not list. A subcommand of a group has the group's name in
/// front.
pub(crate) fn subcommands() -> Vec<String> {
    listed().into_iter().chain(SPELLINGS.map(|(name, _)| name.to_string())).collect()
}

/// The names of the subcommands that the tool's help lists.
pub(crate) fn listed() -> Vec<String> {
    let names = |group: &[&str]| -> Vec<String> {
        let run = tgm(group.iter().copied().chain(["help"])).good();
        let listed = run.text().lines().take_while(|line| *line != "Options:");
        let names =
            listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()));
        names.filter(|name| *name != "help").map(str::to_string).collect()
    };
    let all: Vec<String> = names(&[]);
    assert!(all.len() > 15, "{all:?}");
    let expand = |name: String| match &*name {
        "zio" => names(&["zio"]).into_iter().map(|inner| format!("zio {inner}")).collect(),
        _ => vec![name],
    };
    all.into_iter().flat_map(expand).collect()
}
