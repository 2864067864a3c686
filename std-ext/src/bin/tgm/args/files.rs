//! Arguments of commands that read files, and the end for command lines that contradict themselves.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Command};

/// Ends the program because of a command line that contradicts itself.
pub(crate) fn usage(text: &str) -> ! {
    Command::new("tgm").override_usage("tgm <COMMAND>").error(ErrorKind::ArgumentConflict, text).exit()
}

/// The files of a command, and the form of what it prints.
#[derive(Args, Debug)]
pub(crate) struct Files {
    /// Files to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(short, long)]
    pub(crate) json: bool,
}
