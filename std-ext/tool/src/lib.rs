//! `tgm`: lists, checks, extracts, makes and edits Tensogram messages in files.
//!
//! [`run`] is the program. [`call`] is one command of it within another program, as the Python package converts files.
//!
//! Folders in layers. A folder imports only from folders in rows below its own. `.ci/layers` checks this.
//!
//! | layer | content |
//! |---|---|
//! | `cli` | the command line, which calls the commands |
//! | `commands` | each command, a file of its own |
//! | `change` | taking messages apart and putting them together, for commands that write |
//! | `args` | arguments that several commands share |
//! | `write` | `write::destination`, the only code that writes files |
//! | `read` | `read::input` reads files at positions, `read::messages` is the one iteration over messages, `read::lost` reports bytes of no message, `read::digests` checks what is handed out |
//! | `show` | `show::output`, the only code that writes to standard output and error; tables and JSON |
//!
//! A damaged message never hides the others. `show::output::Out` collects errors and turns them into the exit code: 0
//! without errors, 1 with errors, 2 for usage.

mod args;
mod change;
mod cli;
mod commands;
mod read;
mod show;
mod write;

use std::any::Any;
use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use args::files::{Ended, print};
use show::arguments;
use show::output::Out;
pub use show::output::Said;

/// Runs the command line `arguments`, of which the first is the name of the program, and gives its exit code.
///
/// This is for a process that does nothing else. Signals that end it remove its temporary files first, and the process may end
/// within.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    write::interrupt::remove_on_signals();
    match command(arguments, Out::new()) {
        Ok((done, out)) => out.finish(done),
        Err(error) => print(&error),
    }
}

/// Runs the command line `arguments`, of which the first is the name of the program, within a program that goes on.
///
/// What the command says comes back. Signals, standard input and the folder are the program's. One command runs at a time, with
/// threads of its own: another thread waits here.
///
/// # Errors
/// The text about a command line that is wrong, or that asks for help.
pub fn call(arguments: impl IntoIterator<Item = OsString>) -> Result<Said, String> {
    static ONE: Mutex<()> = Mutex::new(());
    // What the commands keep for the whole process is complete after a panic too.
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    match command(arguments, Out::kept()) {
        Ok((done, out)) => Ok(out.said(done)),
        Err(error) => Err(show::quoted::without_secrets(error.render().to_string())),
    }
}

/// Runs a command line. Gives the result of writing all output, and the output.
///
/// # Errors
/// A command line that is wrong, or that asks for help.
fn command(arguments: impl IntoIterator<Item = OsString>, mut out: Out) -> Result<(io::Result<()>, Out), clap::Error> {
    arguments::set(arguments);
    let cli = cli::Cli::read(arguments::all())?;
    let done = catch_unwind(AssertUnwindSafe(|| cli.run(&mut out))).map_err(ended)?;
    Ok((done, out))
}

/// The end of a command line that contradicts itself. Panics go on.
fn ended(panic: Box<dyn Any + Send>) -> clap::Error {
    match panic.downcast::<Ended>() {
        Ok(ended) => ended.0,
        Err(panic) => resume_unwind(panic),
    }
}
