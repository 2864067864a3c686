//! Arguments of commands that read files, and the exit for contradictory command lines.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::{Args, Command};

use crate::args::listing::{ListFlags, Listed};
use crate::read::cataloged::Cataloged;
use crate::show::quoted::without_secrets;

/// The usage of the command that runs. It is made only if the command line is wrong.
static USAGE: OnceLock<Box<dyn Fn() -> String + Send + Sync>> = OnceLock::new();

/// Ends the program with a usage error. For command lines that contradict themselves.
pub(crate) fn usage(text: &str) -> ! {
    let usage = USAGE.get().map(|usage| usage()).unwrap_or_default();
    let usage = usage.strip_prefix("Usage: ").map_or("tgm <COMMAND>".to_string(), str::to_string);
    Command::new("tgm").override_usage(usage).error(ErrorKind::ArgumentConflict, text).exit_without_secrets()
}

/// The end of the program after a wrong command line.
pub(crate) trait ExitWithoutSecrets {
    /// Prints the error as `clap` does, addresses of the command line without what may be secret. Ends the program.
    fn exit_without_secrets(self) -> !;
}

impl ExitWithoutSecrets for clap::Error {
    fn exit_without_secrets(self) -> ! {
        let text = self.render().to_string();
        let shown = without_secrets(text.clone());
        // The help has no part of the command line.
        if shown == text || !self.use_stderr() {
            self.exit();
        }
        // There is nobody left to tell.
        let _ = write!(io::stderr().lock(), "{shown}");
        std::process::exit(self.exit_code())
    }
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
            usage("--catalog is of one file, and a tree leads to its own");
        }
    }
}
