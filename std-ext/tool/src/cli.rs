//! The command line and its subcommands.

mod generate;
mod help;

use std::ffi::OsString;
use std::io;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::args::common::Common;
use crate::args::files::set_usage;
use crate::args::listing::Listed;
#[cfg(feature = "browse")]
use crate::commands::browse;
use crate::commands::convert;
#[cfg(feature = "plot")]
use crate::commands::plot;
#[cfg(feature = "serve")]
use crate::commands::serve;
#[cfg(feature = "zio")]
use crate::commands::zio;
use crate::commands::{
    Run, bench, cat, catalog, compare, copy, create, cube, digest, doctor, dump, extract, frames, get, info, ls, merge,
    repack, reshuffle, salvage, scan, set, split, stats, tail, upgrade, validate, verify,
};
use crate::read::asked;
use crate::show::arguments;
use crate::show::output::Out;
use crate::show::progress;
use crate::write::destination::Reads;
use tgm_std::file::{SourceName, is_remote_url};

/// List, check, extract, make and edit Tensogram messages in files
///
/// FILE may be "-" for standard input. Exit codes: 0 all went well, 1 something failed or is lost (the rest is done all
/// the same), 2 usage error.
#[derive(Debug, Parser)]
#[command(name = "tgm", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
    /// The name of the subcommand
    #[arg(skip)]
    name: String,
}

/// Commands that list. On a terminal no line of theirs is longer than the terminal.
const LISTS: [&str; 14] = [
    "info", "cube", "ls", "dump", "frames", "scan", "stats", "digest", "verify", "validate", "compare", "catalog",
    "salvage", "zio",
];

/// Commands without progress: they wait, or they measure.
const WITHOUT_PROGRESS: [&str; 4] = ["tail", "bench", "browse", "serve"];

/// The subcommands.
#[derive(Debug, Subcommand)]
enum Command {
    Info(info::Info),
    Ls(ls::Ls),
    Dump(dump::Dump),
    Frames(frames::FramesOf),
    Get(get::Get),
    Cat(cat::Cat),
    Cube(cube::Cube),
    Stats(stats::Stats),
    Compare(compare::Compare),
    Digest(digest::Digest),
    #[cfg(feature = "plot")]
    Plot(plot::Plot),
    #[cfg(feature = "browse")]
    Browse(browse::Browse),
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    Tail(tail::Tail),
    Bench(bench::Bench),
    Extract(extract::Extract),
    Scan(scan::Scan),
    Catalog(catalog::CatalogOf),
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
    Convert(convert::Convert),
    #[cfg(feature = "zio")]
    Zio(zio::Zio),
    Doctor(doctor::Doctor),
    Completions(generate::Completions),
    Man(generate::ManPages),
}

/// The command line with all of its help: what is parsed, completed, and described in man pages.
fn command() -> clap::Command {
    help::extend(Cli::command())
}

impl Cli {
    /// Reads the command line.
    ///
    /// # Errors
    /// A command line that is wrong, or that asks for help.
    pub(crate) fn read(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(arguments)?;
        let name = matches.subcommand_name().map(str::to_string);
        let name_of_command = name.clone().unwrap_or_default();
        set_usage(move || {
            let mut command = command();
            command.build();
            let inner = name.as_deref().and_then(|name| command.find_subcommand_mut(name));
            inner.map_or_else(String::new, |inner| inner.render_usage().to_string())
        });
        Ok(Self { name: name_of_command, ..Self::from_arg_matches(&matches)? })
    }

    /// Runs the subcommand.
    pub(crate) fn run(&self, out: &mut Out) -> io::Result<()> {
        let command: &dyn Run = match &self.command {
            Command::Info(command) => command,
            Command::Ls(command) => command,
            Command::Dump(command) => command,
            Command::Frames(command) => command,
            Command::Get(command) => command,
            Command::Cat(command) => command,
            Command::Cube(command) => command,
            Command::Stats(command) => command,
            Command::Compare(command) => command,
            Command::Digest(command) => command,
            #[cfg(feature = "plot")]
            Command::Plot(command) => command,
            #[cfg(feature = "browse")]
            Command::Browse(command) => command,
            #[cfg(feature = "serve")]
            Command::Serve(command) => command,
            Command::Tail(command) => command,
            Command::Bench(command) => command,
            Command::Extract(command) => command,
            Command::Scan(command) => command,
            Command::Catalog(command) => command,
            Command::Upgrade(command) => command,
            Command::Verify(command) => command,
            Command::Validate(command) => command,
            Command::Create(command) => command,
            Command::Repack(command) => command,
            Command::Reshuffle(command) => command,
            Command::Copy(command) => command,
            Command::Merge(command) => command,
            Command::Split(command) => command,
            Command::Set(command) => command,
            Command::Salvage(command) => command,
            Command::Convert(command) => command,
            #[cfg(feature = "zio")]
            Command::Zio(command) => command,
            Command::Doctor(command) => command,
            Command::Completions(command) => command,
            Command::Man(command) => command,
        };
        let Listed { form, output, reads } = command.listed();
        out.set(self.common.output_flags(), form);
        if LISTS.contains(&&*self.name) {
            out.wrap_lines();
        }
        if !WITHOUT_PROGRESS.contains(&&*self.name) {
            let output_flags = self.common.output_flags();
            progress::begin(&self.name, output_flags.progress, output_flags.quiet);
        }
        Self::tell_of_instances(out);
        let run = |out: &mut Out| {
            command.run(out)?;
            asked::report(out);
            Ok(())
        };
        match output {
            Some(output) => output.write_text(out, Reads::Only(reads), run),
            None => run(out),
        }
    }
}

impl Cli {
    /// Tells that a cloud is asked for credentials, before that takes its time.
    fn tell_of_instances(out: &mut Out) {
        // The arguments of all commands are looked at, as any of them may be an address that is read.
        let asked = arguments::all()
            .into_iter()
            .skip(1)
            .find(|word| word.to_str().is_some_and(|word| is_remote_url(word) && asks_instance(word)));
        if let Some(address) = asked {
            out.remark(&format!(
                "note: {}: no credentials are in the environment, so the cloud instance is asked for its own, for up to 5 s \
                 (TGM_INSTANCE_CREDENTIALS=false switches that off)",
                SourceName::of(&address)
            ));
        }
    }
}

/// Whether reading this address asks the cloud instance for credentials, as neither the options nor the environment have any.
fn asks_instance(source: &str) -> bool {
    #[cfg(feature = "remote")]
    return tgm_std::remote::open(source, &tgm_std::remote::RemoteOptions::default())
        .is_ok_and(|source| source.credentials() == tgm_std::remote::Credentials::Instance);
    #[cfg(not(feature = "remote"))]
    {
        let _ = source;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::path::PathBuf;

    use clap::{Arg, Command, CommandFactory};

    use crate::write::destination::{Destination, FileNames};

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }

    /// The arguments of all commands, each with its command's name.
    fn arguments(command: &Command, name: &str, found: &mut Vec<(String, Arg)>) {
        found.extend(command.get_arguments().map(|argument| (name.to_string(), argument.clone())));
        for inner in command.get_subcommands() {
            arguments(inner, format!("{name} {}", inner.get_name()).trim(), found);
        }
    }

    /// A [`Destination`] knows what "-" means and which files are read. A plain path is an input.
    #[test]
    fn every_output_is_a_destination_and_every_other_path_an_input() {
        let mut found = Vec::new();
        arguments(&super::Cli::command(), "", &mut found);
        let mut writers = Vec::new();
        for (command, argument) in found {
            let parsed = argument.get_value_parser().type_id();
            let names = argument.get_value_names().unwrap_or_default();
            let is_called = |wanted: &[&str]| names.iter().any(|name| wanted.contains(&name.as_str()));
            if parsed == TypeId::of::<PathBuf>() {
                assert!(
                    is_called(&["FILE", "IN", "INPUT", "FILE.json", "DIR", "CATALOG"]),
                    "{command} {argument}: an output is a Destination"
                );
            } else if parsed == TypeId::of::<Destination>() || parsed == TypeId::of::<FileNames>() {
                assert!(is_called(&["OUT", "TEMPLATE", "LISTING"]), "{command} {argument}");
                // Listings are text beside what the command is for.
                if !is_called(&["LISTING"]) {
                    writers.push(command);
                }
            } else {
                assert!(!is_called(&["OUT", "TEMPLATE"]), "{command} {argument}: an output is a Destination");
            }
        }
        writers.sort();
        writers.dedup();
        // The tests in `tests/cli` try each of these commands.
        let tried = include_str!("../tests/cli/writers.txt").lines();
        let is_in = |name: &str| cfg!(feature = "zio") || !name.starts_with("zio ");
        let tried: Vec<_> = tried.filter(|name| is_in(name)).collect();
        assert_eq!(writers, tried);
    }
}
