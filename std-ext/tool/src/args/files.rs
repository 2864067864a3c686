//! Arguments of commands that read files, and the exit for contradictory command lines.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::{Args, Command};

use crate::args::listing::{ListFlags, Listed};
use crate::read::cataloged::Cataloged;

/// The usage of the command that runs. It is made only if the command line is wrong.
static USAGE: OnceLock<Box<dyn Fn() -> String + Send + Sync>> = OnceLock::new();

/// Ends the program with a usage error. For command lines that contradict themselves.
pub(crate) fn usage(text: &str) -> ! {
    let usage = USAGE.get().map(|usage| usage()).unwrap_or_default();
    let usage = usage.strip_prefix("Usage: ").map_or("tgm <COMMAND>".to_string(), str::to_string);
    Command::new("tgm").override_usage(usage).error(ErrorKind::ArgumentConflict, text).exit()
}

/// Says how the usage of the command that runs is found.
pub(crate) fn set_usage(usage: impl Fn() -> String + Send + Sync + 'static) {
    // It is set once.
    let _ = USAGE.set(Box::new(usage));
}

/// The files that a command reads, and the form of its listing.
#[derive(Args, Debug)]
pub(crate) struct Files {
    /// Files or addresses to read; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) listing: ListFlags,
}

impl Files {
    /// Whether JSON is asked for.
    pub(crate) fn json(&self) -> bool {
        self.listing.json()
    }

    /// The listing of the command.
    pub(crate) fn listed(&self) -> Listed<'_> {
        self.listing.listed(&self.paths)
    }

    /// Ends the program with a usage error if there is a catalogue and more than one file.
    pub(crate) fn check_catalog(&self, cataloged: &Cataloged) {
        if !cataloged.fits(&self.paths) {
            usage("--catalog is of one file");
        }
    }
}
