//! `tgm completions` and `tgm man`: texts that follow from the command line.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::cli::Cli;
use crate::commands::{Run, examples};
use crate::show::output::Out;
use crate::write::destination::{Destination, OutputKind, Reads, refuse_address};
use tgm_std::file::SourceName;

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm completions bash", "for ~/.local/share/bash-completion/completions/tgm")]))]
pub(super) struct Completions {
    /// The shell: bash, zsh or fish
    #[arg(value_enum)]
    shell: KnownShell,
}

/// The shells.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum KnownShell {
    Bash,
    Zsh,
    Fish,
}

/// Write man pages: one of the tool, one of each command
///
/// Without DIR, the page of the tool is printed.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm man pages", "a page for each command, into a folder")]))]
pub(super) struct ManPages {
    /// Directory for the pages, which is made if it is missing
    #[arg(value_name = "DIR", value_parser = PathBufValueParser::new().try_map(refuse_address))]
    directory: Option<PathBuf>,
}

impl Run for Completions {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let shell = match self.shell {
            KnownShell::Bash => Shell::Bash,
            KnownShell::Zsh => Shell::Zsh,
            KnownShell::Fish => Shell::Fish,
        };
        out.write_all(&script(shell, Cli::command()))
    }
}

impl Run for ManPages {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let pages = pages(Cli::command())?;
        let Some(directory) = &self.directory else {
            return pages.first().map_or(Ok(()), |(_, page)| out.write_all(page));
        };
        if let Err(error) = std::fs::create_dir_all(directory) {
            out.problem(&format!("cannot make {}\n{error}", SourceName::of(directory)));
            return Ok(());
        }
        for (name, page) in pages {
            let file = Destination::File(directory.join(format!("{name}.1")));
            if !file.write(out, OutputKind::Values, Reads::Only(&[]), |_, sink| Ok(sink.write_all(&page)?)) {
                break;
            }
        }
        Ok(())
    }
}

/// The completions for a shell.
pub(super) fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    // Writing to memory cannot fail, where `generate` would panic.
    let mut text = Vec::new();
    generate(shell, &mut command, "tgm", &mut text);
    text
}

/// The page of the tool, and a page of each command, with their names.
pub(super) fn pages(mut command: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    // Names, usage and shared options of the subcommands are known from here on.
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    Ok(pages)
}

/// The pages of a command and of its subcommands, each with its name, such as `tgm-ls`.
fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_string();
    let mut page = Vec::new();
    Man::new(command.clone()).title(&name).render(&mut page)?;
    pages.push((name, page));
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    inner.into_iter().try_for_each(|inner| collect(inner, pages))
}
