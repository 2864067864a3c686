//! Arguments of commands that read files, and the exit for contradictory command lines.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, Command};

use crate::read::cataloged::Cataloged;

/// Ends the program with a usage error. For command lines that contradict themselves.
pub(crate) fn usage(text: &str) -> ! {
    Command::new("tgm").override_usage("tgm <COMMAND>").error(ErrorKind::ArgumentConflict, text).exit()
}

/// The files that a command reads, and the form of its output.
#[derive(Args, Debug)]
pub(crate) struct Files {
    /// Files or addresses to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(short, long)]
    pub(crate) json: bool,
}

impl Files {
    /// Ends the program with a usage error if there is a catalogue and more than one file.
    pub(crate) fn check_catalog(&self, cataloged: &Cataloged) {
        if !cataloged.fits(&self.paths) {
            usage("--catalog is of one file");
        }
    }
}
