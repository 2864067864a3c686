//! Flags that every command has.

use clap::Args;

use crate::show::output::{Colours, OutputFlags};
use crate::show::progress::Form;

/// What a command tells about its work, and whether it may replace files.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "All commands")]
pub(crate) struct Common {
    /// Print errors only; the exit code says the rest
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Report on standard error what is read and written
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true,
        help = "Colours: auto (on terminals), always, never"
    )]
    color: Colours,
    /// Progress on standard error
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        value_enum,
        default_value_t,
        hide_possible_values = true,
        hide_default_value = true,
        help = "Progress on standard error: auto (a bar on terminals, after a second), bar, json (a line each second), \
                none"
    )]
    progress: Form,
    /// Leave existing files as they are: writing to one is an error
    #[arg(long, global = true)]
    no_clobber: bool,
}

impl Common {
    /// What the flags ask for.
    pub(crate) const fn output_flags(self) -> OutputFlags {
        let Self { quiet, verbose, color: colours, progress, no_clobber } = self;
        OutputFlags { quiet, verbose, no_clobber, colours, progress }
    }
}
