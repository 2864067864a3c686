//! Commands as rows of a registry. The command line with its help, completions and man pages follows from the rows.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error};

use crate::args::RARE;
use crate::commands::Run;

/// A command. The help lists rows in their order.
pub(super) struct Row {
    /// What people do with this command and the next ones.
    task: Option<&'static str>,
    /// Its name.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The command and the flag that stand for it, as `ls --summary`. The help lists no such command by its own name.
    spelling: Option<&'static str>,
    augment: fn(Command) -> Command,
    /// Reads its arguments.
    pub(super) read: fn(&ArgMatches) -> Result<Box<dyn Run>, Error>,
}

/// The title of flags that stand for other commands.
const INSTEAD: &str = "Instead (--help after one of these lists its options)";

/// What a command shows of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows. On a terminal no line is longer than the terminal.
    Lists,
    /// Progress.
    Works,
    /// No progress: it waits, or it measures.
    Waits,
}

/// A command that lists.
pub(super) const fn lists<C: Args + Run + 'static>(name: &'static str) -> Row {
    Row { kind: Kind::Lists, ..works::<C>(name) }
}

/// A command without progress.
pub(super) const fn waits<C: Args + Run + 'static>(name: &'static str) -> Row {
    Row { kind: Kind::Waits, ..works::<C>(name) }
}

/// Another command.
pub(super) const fn works<C: Args + Run + 'static>(name: &'static str) -> Row {
    let read = |matches: &ArgMatches| Ok(Box::new(C::from_arg_matches(matches)?) as Box<dyn Run>);
    Row { task: None, name, kind: Kind::Works, spelling: None, augment: C::augment_args, read }
}

impl Row {
    /// The same as the first one of a task.
    pub(super) const fn begins(self, task: &'static str) -> Self {
        Self { task: Some(task), ..self }
    }

    /// The same, which a flag of another command stands for, as `ls --summary`.
    pub(super) const fn spelled(self, spelling: &'static str) -> Self {
        Self { spelling: Some(spelling), ..self }
    }

    /// The flag that stands for it, after the command that has it.
    fn flag(&self) -> Option<(&'static str, &'static str)> {
        self.spelling?.split_once(" --")
    }

    /// The command line of the command, of this name. [`RARE`] options come last.
    pub(super) fn command(&self, name: &'static str) -> Command {
        let made = (self.augment)(Command::new(name)).hide(self.spelling.is_some());
        let is_rare = |arg: &&Arg| arg.get_help_heading() == Some(RARE);
        if made.has_subcommands() || !made.get_arguments().any(|arg| is_rare(&arg)) {
            return made;
        }
        let usual = made.get_arguments().filter(|arg| !is_rare(arg)).cloned();
        let rare = made.get_arguments().filter(is_rare).cloned();
        let text = |text: Option<&StyledStr>| Resettable::from(text.cloned());
        let described = Command::new(name).about(text(made.get_about())).long_about(text(made.get_long_about()));
        let described = described.after_help(text(made.get_after_help())).hide(made.is_hide_set());
        described.groups(made.get_groups().cloned()).args(usual).args(rare)
    }
}

/// Adds the commands, and the flags that stand for some of them, to the command line.
pub(super) fn add(rows: &[Row], to: Command) -> Command {
    let command = to.subcommands(rows.iter().map(|row| row.command(row.name)));
    let flags = rows.iter().filter_map(|row| Some((row.name, row.flag()?)));
    flags.fold(command, |command, (name, (of, flag))| {
        let flag = Arg::new(flag).long(flag).action(ArgAction::SetTrue).help(about(&command, name));
        command.mut_subcommand(of, |inner| inner.arg(flag.help_heading(INSTEAD)))
    })
}

/// Adds the commands to the command line, by name alone but for the one of this row, which is called `name` there. A
/// command line with the arguments and the help of all takes longer to make than a small file to list.
pub(super) fn add_one(rows: &[Row], row: &Row, name: &'static str, to: Command) -> Command {
    let others = rows.iter().filter(|other| other.name != name);
    to.subcommands(others.map(|other| Command::new(other.name))).subcommand((row.augment)(Command::new(name)))
}

/// The row that these words call, with the name that it has there: the spelling, if a flag stands for the command. The
/// flag is removed then, and the spelling takes the place of the first name. Words after options that take a value may
/// look like names, so that a row is a guess.
pub(super) fn called(rows: &'static [Row], words: &mut Vec<OsString>) -> Option<(&'static Row, &'static str)> {
    let named = |word: &OsString| rows.iter().find(|row| *word == *row.name);
    let (place, first) = words.iter().enumerate().skip(1).find_map(|(at, word)| Some((at, named(word)?)))?;
    let of = first.flag().map_or(first.name, |(of, _)| of);
    let meant = |word: &OsString| {
        let word = word.to_str()?.strip_prefix("--")?;
        rows.iter().find(|row| row.flag() == Some((of, word)))
    };
    let after = words.iter().enumerate().skip(place).take_while(|(_, word)| *word != "--");
    let flag = { after }.find_map(|(at, word)| Some((at, meant(word)?)));
    let Some((flag, row, spelling)) = flag.and_then(|(at, row)| Some((at, row, row.spelling?))) else {
        return Some((first, first.name));
    };
    words.remove(flag);
    *words.get_mut(place)? = spelling.into();
    Some((row, spelling))
}

/// The list of commands by task.
pub(super) fn list(rows: &[Row], command: &Command) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.spelling.is_none()) {
        if let Some(task) = row.task {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{task}:");
        }
        let _ = writeln!(text, "  {:<12} {}", row.name, about(command, row.name));
    }
    text + "\n`tgm help COMMAND` has examples."
}

fn about(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}
