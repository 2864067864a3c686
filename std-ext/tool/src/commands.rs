//! The subcommands, one file each. [`ROWS`](crate::cli) has a row for each.

use std::io;

use crate::args::listing::Listed;
use crate::show::output::Out;

pub(crate) mod asked_keys;
pub(crate) mod bench;
pub(crate) mod boxes;
#[cfg(feature = "browse")]
pub(crate) mod browse;
pub(crate) mod cat;
pub(crate) mod catalog;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod create;
pub(crate) mod cube;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod dump;
pub(crate) mod dump_contents;
pub(crate) mod dump_text;
pub(crate) mod extract;
pub(crate) mod frame_list;
pub(crate) mod frames;
pub(crate) mod get;
pub(crate) mod info;
pub(crate) mod key_columns;
pub(crate) mod ls;
pub(crate) mod merge;
#[cfg(feature = "plot")]
pub(crate) mod plot;
pub(crate) mod repack;
pub(crate) mod reshuffle;
pub(crate) mod salvage;
pub(crate) mod scan;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod set;
pub(crate) mod split;
pub(crate) mod stats;
pub(crate) mod tail;
pub(crate) mod upgrade;
pub(crate) mod validate;
pub(crate) mod verify;
#[cfg(feature = "zio")]
pub(crate) mod zio;

/// Examples at the end of a command's help: lines, each with a note. A test runs them.
pub(crate) fn examples(lines: &[(&str, &str)]) -> String {
    lines.iter().fold("Examples:".to_string(), |text, (line, note)| format!("{text}\n  # {note}\n  {line}"))
}

/// A subcommand with its arguments.
pub(crate) trait Run {
    /// Runs the command. Problems are reported to `out`.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    fn run(&self, out: &mut Out) -> io::Result<()>;

    /// The listing that the command prints.
    fn listed(&self) -> Listed<'_> {
        Listed::default()
    }
}
