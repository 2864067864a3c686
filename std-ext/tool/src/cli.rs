//! The command line and its subcommands.

mod generate;
mod row;

use std::ffi::OsString;
use std::io;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use self::row::{Kind, Row, lists, waits, works};
use crate::args::common::Common;
use crate::args::files::set_usage;
use crate::args::listing::Listed;
#[cfg(feature = "browse")]
use crate::commands::browse;
#[cfg(feature = "plot")]
use crate::commands::plot;
#[cfg(feature = "serve")]
use crate::commands::serve;
#[cfg(feature = "zio")]
use crate::commands::zio;
use crate::commands::{
    Run, bench, cat, catalog, compare, convert, copy, create, cube, digest, doctor, dump, extract, frames, get, info,
    ls, merge, repack, reshuffle, salvage, scan, set, split, stats, tail, upgrade, validate, verify,
};
use crate::read::asked;
use crate::show::arguments;
use crate::show::output::Out;
use crate::show::progress;
use crate::write::destination::Reads;
use tgm_std::file::{SourceName, is_remote_url};

/// The registry of commands. A command is a file in `commands` and a row here. Its help is the documentation of its type.
const ROWS: &[Row] = &[
    lists::<ls::Ls>("ls").begins("Look at files"),
    works::<get::Get>("get").spelled("ls --values"),
    lists::<info::Info>("info").spelled("ls --summary"),
    lists::<frames::FramesOf>("frames").spelled("ls --frames"),
    lists::<scan::Scan>("scan").spelled("ls --scan"),
    lists::<dump::Dump>("dump"),
    lists::<cube::Cube>("cube"),
    #[cfg(feature = "browse")]
    waits::<browse::Browse>("browse"),
    #[cfg(feature = "serve")]
    waits::<serve::Serve>("serve"),
    waits::<tail::Tail>("tail"),
    works::<cat::Cat>("cat").begins("Look at values"),
    lists::<stats::Stats>("stats"),
    #[cfg(feature = "plot")]
    works::<plot::Plot>("plot"),
    lists::<compare::Compare>("compare"),
    works::<extract::Extract>("extract"),
    lists::<validate::Validate>("validate").begins("Check"),
    lists::<verify::Verify>("verify").spelled("validate --digests"),
    lists::<digest::Digest>("digest").spelled("validate --print"),
    lists::<salvage::Salvage>("salvage"),
    works::<create::Create>("create").begins("Write"),
    works::<copy::Copy>("copy"),
    works::<split::Split>("split").spelled("copy --split"),
    works::<merge::Merge>("merge").spelled("copy --merge"),
    works::<set::Set>("set"),
    works::<repack::Repack>("repack"),
    works::<reshuffle::Reshuffle>("reshuffle").spelled("repack --reshuffle"),
    works::<upgrade::Upgrade>("upgrade"),
    lists::<catalog::CatalogOf>("catalog").begins("Find fast, other formats"),
    works::<convert::Convert>("convert"),
    #[cfg(feature = "zio")]
    lists::<zio::Zio>("zio"),
    works::<doctor::Doctor>("doctor").begins("This tool"),
    waits::<bench::Bench>("bench").spelled("doctor --bench"),
    works::<generate::Completions>("completions"),
    works::<generate::ManPages>("man"),
];

/// List, check, extract, make and edit Tensogram messages in files
///
/// FILE may be "-" for standard input. Exit codes: 0 all went well, 1 something failed or is lost (the rest is done all
/// the same), 2 usage error.
#[derive(Debug, Parser)]
#[command(name = "tgm", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(help_template = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}")]
struct Top {
    #[command(flatten)]
    common: Common,
}

/// A command line that was read.
pub(crate) struct Cli {
    common: Common,
    row: &'static Row,
    command: Box<dyn Run>,
}

/// The command line of these commands.
fn command(rows: &'static [Row]) -> clap::Command {
    let command = row::add(rows, Top::command());
    let list = row::list(rows, &command);
    command.after_help(list)
}

impl Cli {
    /// The command line with all of its help: what is parsed, completed, and described in man pages.
    pub(crate) fn command() -> clap::Command {
        command(ROWS)
    }

    /// Reads the command line.
    ///
    /// # Errors
    /// A command line that is wrong, or that asks for help.
    pub(crate) fn read(arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        Self::read_as(ROWS, arguments)
    }

    /// [`Self::read`] with these commands.
    fn read_as(rows: &'static [Row], mut arguments: Vec<OsString>) -> Result<Self, clap::Error> {
        let called = row::called(rows, &mut arguments);
        let one = called.and_then(|(row, name)| {
            let command = row::add_one(rows, row, name, Top::command());
            let matches = command.try_get_matches_from(&arguments).ok()?;
            (matches.subcommand_name() == Some(name)).then_some(matches)
        });
        // The command line of one command has neither the help nor the suggestions of the others.
        let command = move || {
            let spelled = called.filter(|(row, name)| row.name != *name);
            command(rows).subcommands(spelled.map(|(row, name)| row.command(name)))
        };
        let matches = one.map_or_else(|| command().try_get_matches_from(&arguments), Ok)?;
        let name = matches.subcommand_name().unwrap_or_default().to_string();
        let row = called.filter(|(_, called)| *called == name).map(|(row, _)| row);
        let row = row.or_else(|| rows.iter().find(|row| row.name == name));
        let (Some(row), Some(inner)) = (row, matches.subcommand_matches(&name)) else {
            return Err(command().error(ErrorKind::MissingSubcommand, "no command"));
        };
        set_usage(move || {
            let mut command = command();
            command.build();
            command.find_subcommand_mut(&name).map_or_else(String::new, |inner| inner.render_usage().to_string())
        });
        Ok(Self { common: Top::from_arg_matches(&matches)?.common, row, command: (row.read)(inner)? })
    }

    /// Runs the subcommand.
    pub(crate) fn run(&self, out: &mut Out) -> io::Result<()> {
        let Listed { form, output, reads } = self.command.listed();
        out.set(self.common.output_flags(), form);
        if self.row.kind == Kind::Lists {
            out.wrap_lines();
        }
        if self.row.kind != Kind::Waits {
            let output_flags = self.common.output_flags();
            progress::begin(self.row.name, output_flags.progress, output_flags.quiet);
        }
        Self::tell_of_instances(out);
        let run = |out: &mut Out| {
            self.command.run(out)?;
            asked::report(out);
            Ok(())
        };
        match output {
            Some(output) => output.write_text(out, Reads::Only(reads), run),
            None => run(out),
        }
    }

    /// Says that a cloud is asked for credentials, before that takes its time.
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
    use std::ffi::OsString;
    use std::io;
    use std::path::PathBuf;

    use clap::{Arg, Args, Command};
    use clap_complete::Shell;

    use super::{Cli, Row, generate, ls, works};
    use crate::commands::{Run, examples};
    use crate::show::output::Out;
    use crate::write::destination::{Destination, FileNames};

    /// Print a word
    #[derive(Args, Debug)]
    #[command(after_help = examples(&[("tgm planted --loud", "a word")]))]
    struct Planted {
        /// In large letters
        #[arg(long)]
        loud: bool,
    }

    impl Run for Planted {
        fn run(&self, out: &mut Out) -> io::Result<()> {
            out.problem(if self.loud { "WORD" } else { "word" });
            Ok(())
        }
    }

    /// A row is all that a command needs.
    #[test]
    fn a_planted_row_is_a_command_with_help_completions_and_a_page() {
        const ROWS: &[Row] = &[
            works::<ls::Ls>("ls").begins("Look at files"),
            works::<Planted>("planted").begins("Plant"),
            works::<Planted>("rooted").spelled("planted --root"),
        ];
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let said = |line: &str| {
            let mut out = Out::kept();
            let done = Cli::read_as(ROWS, words(line)).map(|cli| cli.run(&mut out));
            done.map_or_else(|error| error.render().to_string(), |done| out.said(done).problems.concat())
        };
        for line in ["planted --loud", "rooted --loud", "planted --loud --root", "--color never planted --root --loud"]
        {
            assert_eq!(said(&format!("tgm {line}")), "WORD", "{line}");
        }
        let help = said("tgm help");
        assert!(
            help.contains("\nPlant:\n  planted      Print a word\n\n`tgm help") && !help.contains("rooted"),
            "{help}"
        );
        let help = said("tgm planted --help");
        assert!(help.contains("\n  tgm planted --loud") && help.contains("--root"), "{help}");
        assert!(said("tgm planted --root --help").contains("Usage: tgm planted --root [OPTIONS]"));
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = String::from_utf8(generate::script(shell, super::command(ROWS))).unwrap();
            assert!(script.contains("planted") && script.contains("loud") && script.contains("root"), "{shell}");
        }
        let pages = generate::pages(super::command(ROWS)).unwrap();
        let page = pages
            .iter()
            .find(|(name, _)| name == "tgm-planted")
            .map(|(_, page)| String::from_utf8_lossy(page))
            .unwrap();
        assert!(page.contains("Print a word") && page.contains("a word"), "{page}");
    }

    /// The list of commands is not wrapped.
    #[test]
    fn every_command_has_examples_and_a_short_line() {
        for command in Cli::command().get_subcommands() {
            let has_examples = |command: &Command| command.get_after_help().is_some();
            assert!(has_examples(command) || command.get_subcommands().all(has_examples), "{}", command.get_name());
            assert!(command.get_about().unwrap().to_string().len() < 85, "{}", command.get_name());
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
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
        arguments(&Cli::command(), "", &mut found);
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
