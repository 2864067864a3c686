//! `tgm tail`: the messages that are appended to a file, when they are whole.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use tgm_core::Message;
use tgm_std::TensogramError;

use crate::commands::{Run, examples};
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::opening::open_unreported;
use crate::read::select::{Scope, Selection};
use crate::read::streamed::{Next, Streamed, is_stream};
use crate::read::structure::Structure;
use crate::show::json::{compact, object};
use crate::show::output::Out;

/// Follow a growing file: a line of JSON, or a command, for each message
///
/// A message is handed on when its last byte is there, and when its digests are right. Messages that are there already are
/// left out without --from-start; numbers and offsets count them all the same. This goes on until it is interrupted, or
/// until -n or --idle end it. A file that becomes shorter is an error; one that takes the place of FILE is not noticed.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm tail --idle 0.1 --from-start -p step three.tgm", "a line for each message, as they come"),
    ("tgm tail --idle 0.1 --exec 'tgm ls -' three.tgm", "a command for each"),
]))]
pub(crate) struct Tail {
    /// File to follow; "-" is standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Begin with the messages that are there already
    #[arg(long)]
    from_start: bool,
    /// End after N messages
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// End when no byte was appended for so long
    #[arg(long, value_name = "SECONDS")]
    idle: Option<Seconds>,
    #[command(flatten)]
    selection: Selection,
    /// Print the values of these keys too; missing ones are left out
    #[arg(short = 'p', long = "keys", value_name = "KEY,...", value_delimiter = ',')]
    keys: Vec<String>,
    /// Instead of printing, run this shell command for each message, which is on its standard input; `TGM_FILE`,
    /// `TGM_MESSAGE`, `TGM_OFFSET` and `TGM_LENGTH` say where it is
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
    #[command(flatten)]
    digests: Digests,
}

/// A time.
#[derive(Clone, Copy, Debug)]
struct Seconds(Duration);

impl FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        seconds.map(Self).ok_or("expected a number of seconds")
    }
}

impl Run for Tail {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let Some(mut stream) = self.open(out) else { return Ok(()) };
        let mut left = self.limit.unwrap_or(u64::MAX);
        while left > 0
            && let Some(next) = stream.next_or_report(out)
        {
            let Next::Message(entry) = next else {
                out.flush()?;
                continue;
            };
            if !self.selection.picks(out, &entry, self.digests) {
                continue;
            }
            left -= 1;
            match self.digests.check_bytes(entry.bytes).and_then(|()| self.line(&entry)) {
                Ok(line) => match &self.exec {
                    Some(command) => execute(command, &entry, out),
                    None => writeln!(out, "{line}")?,
                },
                Err(error) => out.report(&entry.place(), &error),
            }
        }
        Ok(())
    }
}

impl Tail {
    fn open(&self, out: &mut Out) -> Option<Streamed> {
        if is_stream(&self.path) {
            return Streamed::open_or_report(&self.path, out);
        }
        let mut from = (0, 0);
        if !self.from_start {
            let input = open_unreported(&self.path, out)?;
            let last = input.all().last();
            from = last.map_or(from, |last| (last.index + 1, last.end()));
        }
        Streamed::follow_or_report(&self.path, from, self.idle.map(|Seconds(idle)| idle), out)
    }

    /// The message as a line of JSON.
    fn line(&self, entry: &Entry<'_>) -> Result<String, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = self.digests.metadata(&message)?;
        let scope = Scope::Message(&metadata, Structure::new(&message, entry));
        let values = self.keys.iter().map(|key| Ok((key.as_str(), scope.get(key)?)));
        let values = object(values.collect::<Result<Vec<_>, tgm_core::Error>>()?);
        Ok(compact(&object([
            ("file", Some(entry.file.into())),
            ("message", Some(entry.index.into())),
            ("offset", Some(entry.offset.into())),
            ("length", Some(entry.length().into())),
            ("objects", Some(metadata.object_count().into())),
            ("values", (!self.keys.is_empty()).then_some(values)),
        ])))
    }
}

/// Runs a command for a message. Its failure is reported.
fn execute(command: &str, entry: &Entry<'_>, out: &mut Out) {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut process = Command::new(shell);
    process.args([flag, command]).stdin(Stdio::piped());
    process.env("TGM_FILE", entry.file).env("TGM_MESSAGE", entry.index.to_string());
    process.env("TGM_OFFSET", entry.offset.to_string()).env("TGM_LENGTH", entry.length().to_string());
    let done = out.flush().and_then(|()| process.spawn()).and_then(|mut child| {
        // A command may leave its input unread. That is not a failure.
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(entry.bytes));
        let written =
            written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) });
        let status = child.wait()?;
        written.map(|()| status)
    });
    match done {
        Ok(status) if status.success() => {}
        Ok(status) => out.problem(&format!("{}: the command ended with {status}", entry.place())),
        Err(error) => out.report(&format!("{}: cannot run the command", entry.place()), &error),
    }
}
