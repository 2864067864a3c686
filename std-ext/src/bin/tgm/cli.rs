//! The command line: subcommands and the arguments that several of them have.

use std::io;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::output::Out;
#[cfg(feature = "zio")]
use crate::zio;
use crate::{
    copy, create, digest, doctor, dump, extract, frames, get, info, ls, merge, repack, reshuffle, salvage, scan, set,
    split, upgrade, validate, verify,
};

/// Look into Tensogram files, check them, take values out, make messages and edit them.
///
/// FILE may be "-" for standard input. Exit codes: 0 fine, 1 something failed or is lost (the rest is done all the same),
/// 2 usage.
#[derive(Debug, Parser)]
#[command(name = "tgm", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    Info(info::Info),
    Ls(ls::Ls),
    Dump(dump::Dump),
    Frames(frames::FramesOf),
    Get(get::Get),
    Digest(digest::Digest),
    Extract(extract::Extract),
    Scan(scan::Scan),
    Upgrade(upgrade::Upgrade),
    Verify(verify::Verify),
    Validate(validate::Validate),
    Create(create::Create),
    Repack(repack::Repack),
    Reshuffle(reshuffle::Reshuffle),
    Copy(copy::Copy),
    Merge(merge::Merge),
    Split(split::Split),
    Set(set::Set),
    Salvage(salvage::Salvage),
    #[cfg(feature = "zio")]
    Zio(zio::Zio),
    Doctor(doctor::Doctor),
}

impl Cli {
    /// Does what was asked.
    pub(crate) fn run(&self, out: &mut Out) -> io::Result<()> {
        match &self.command {
            Command::Info(command) => command.run(out),
            Command::Ls(command) => command.run(out),
            Command::Dump(command) => command.run(out),
            Command::Frames(command) => command.run(out),
            Command::Get(command) => command.run(out),
            Command::Digest(command) => command.run(out),
            Command::Extract(command) => command.run(out),
            Command::Scan(command) => command.run(out),
            Command::Upgrade(command) => command.run(out),
            Command::Verify(command) => command.run(out),
            Command::Validate(command) => command.run(out),
            Command::Create(command) => command.run(out),
            Command::Repack(command) => command.run(out),
            Command::Reshuffle(command) => command.run(out),
            Command::Copy(command) => {
                command.run(out);
                Ok(())
            }
            Command::Merge(command) => {
                command.run(out);
                Ok(())
            }
            Command::Split(command) => {
                command.run(out);
                Ok(())
            }
            Command::Set(command) => {
                command.run(out);
                Ok(())
            }
            Command::Salvage(command) => command.run(out),
            #[cfg(feature = "zio")]
            Command::Zio(command) => command.run(out),
            Command::Doctor(command) => command.run(out),
        }
    }
}

/// Ends the program because of a command line that contradicts itself.
pub(crate) fn usage(text: &str) -> ! {
    Cli::command().error(ErrorKind::ArgumentConflict, text).exit()
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
