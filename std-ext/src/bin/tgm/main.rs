//! `tgm`: looks into Tensogram files, checks them, takes values out, makes messages and edits them.
//!
//! A folder uses folders below its own row only:
//!
//! | folder | what is there |
//! |---|---|
//! | [`cli`] | the command line, which calls the commands |
//! | [`commands`] | each command, a file of its own |
//! | [`change`] | messages taken apart and put together, for commands that write |
//! | [`args`] | arguments that several commands have |
//! | [`mod@write`] | [`write::destination`], the only door to files that are written |
//! | [`read`] | [`read::input`] reads files at positions, [`read::messages`] is the one iteration over messages, [`read::lost`] reports bytes of no message, [`read::digests`] checks what is handed out |
//! | [`show`] | [`show::output`], the only door to standard output and error; tables and JSON |
//!
//! A damaged message never hides the others. Errors are gathered in [`show::output::Out`] and become the exit code: 0 if
//! there were none, 1 otherwise, 2 for usage.

mod args;
mod change;
mod cli;
mod commands;
mod read;
mod show;
mod write;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let mut out = show::output::Out::new();
    let done = cli.run(&mut out);
    out.finish(done)
}
