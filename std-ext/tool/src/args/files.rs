//! Arguments of commands that read files, and the exit for contradictory command lines.

use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::error::ErrorKind;
use clap::{Args, Command};

use crate::args::listing::{ListFlags, Listed};
use crate::read::cataloged::Cataloged;
use crate::show::quoted::without_secrets;

/// The usage of the command that runs. It is made only if the command line is wrong.
static USAGE: Mutex<Option<Usage>> = Mutex::new(None);

type Usage = Box<dyn Fn() -> String + Send>;

fn usage_of_command() -> MutexGuard<'static, Option<Usage>> {
    USAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the command with a usage error. For command lines that contradict themselves.
pub(crate) fn usage(text: &str) -> ! {
    let usage = usage_of_command().as_ref().map(|usage| usage()).unwrap_or_default();
    let usage = usage.strip_prefix("Usage: ").map_or("tgm <COMMAND>".to_string(), str::to_string);
    let error = Command::new("tgm").override_usage(usage).error(ErrorKind::ArgumentConflict, text);
    // What is begun is undone, as in a panic, but nothing is printed: a program that calls this library goes on.
    resume_unwind(Box::new(Ended(error)))
}

/// How a command ends whose command line contradicts itself.
pub(crate) struct Ended(pub(crate) clap::Error);

/// Prints an error of the command line as `clap` does, addresses without what may be secret. Gives the exit code.
pub(crate) fn print(error: &clap::Error) -> u8 {
    let text = error.render().to_string();
    let shown = without_secrets(text.clone());
    // The error cannot be reported anywhere. The help has no part of the command line.
    let _ = if shown == text || !error.use_stderr() { error.print() } else { write!(io::stderr().lock(), "{shown}") };
    u8::try_from(error.exit_code()).unwrap_or(1)
}

/// Says how the usage of the command that runs is found.
pub(crate) fn set_usage(usage: impl Fn() -> String + Send + 'static) {
    *usage_of_command() = Some(Box::new(usage));
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
