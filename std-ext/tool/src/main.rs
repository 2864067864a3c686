//! `tgm`: lists, checks, extracts, makes and edits Tensogram messages in files.
//!
//! Folders in layers. A folder imports only from folders in rows below its own. `.ci/layers` checks this.
//!
//! | layer | content |
//! |---|---|
//! | [`cli`] | the command line, which calls the commands |
//! | [`commands`] | each command, a file of its own |
//! | [`change`] | taking messages apart and putting them together, for commands that write |
//! | [`args`] | arguments that several commands share |
//! | [`mod@write`] | [`write::destination`], the only code that writes files |
//! | [`read`] | [`read::input`] reads files at positions, [`read::messages`] is the one iteration over messages, [`read::lost`] reports bytes of no message, [`read::digests`] checks what is handed out |
//! | [`show`] | [`show::output`], the only code that writes to standard output and error; tables and JSON |
//!
//! A damaged message never hides the others. [`show::output::Out`] collects errors and turns them into the exit code: 0
//! without errors, 1 with errors, 2 for usage.

mod args;
mod change;
mod cli;
mod commands;
mod read;
mod show;
mod write;

use std::process::ExitCode;

fn main() -> ExitCode {
    write::interrupt::remove_on_signals();
    let cli = cli::Cli::read();
    let mut out = show::output::Out::new();
    let done = cli.run(&mut out);
    out.finish(done)
}
