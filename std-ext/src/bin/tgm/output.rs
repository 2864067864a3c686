//! Standard output and error: written to by nothing else.

use std::error::Error;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;

use crate::advice::in_our_words;
use crate::text::escape;

/// How a piece of text is to look where colours are possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    #[default]
    Plain,
    /// All is well: green.
    Good,
    /// Something is wrong: red.
    Bad,
    /// A heading: bold.
    Heading,
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Heading => "\x1b[1m",
        }
    }
}

/// Standard output, buffered, and what went wrong so far.
///
/// Problems are printed when the command is done, behind its output.
pub(crate) struct Out {
    stdout: BufWriter<StdoutLock<'static>>,
    problems: Vec<String>,
    notes: Vec<String>,
    failed: bool,
    colours: bool,
}

impl Out {
    /// The process's standard output.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let colours = colours(stdout.is_terminal());
        Self { stdout: BufWriter::new(stdout.lock()), problems: Vec::new(), notes: Vec::new(), failed: false, colours }
    }

    /// Writes `text` in `style`.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if self.colours && style != Style::Plain {
            write!(self.stdout, "{}{text}\x1b[0m", style.code())
        } else {
            self.stdout.write_all(text.as_bytes())
        }
    }

    /// Reports that something at `place` failed, and why.
    pub(crate) fn report(&mut self, place: &str, error: &dyn Error) {
        let mut text = in_our_words(error);
        let mut problem = format!("{place}: {text}");
        let mut source = error.source();
        while let Some(cause) = source {
            let inner = in_our_words(cause);
            // Most errors of the library say what their cause says.
            if !text.ends_with(&inner) {
                problem = format!("{problem}\n{inner}");
            }
            text = inner;
            source = cause.source();
        }
        self.problem(&problem);
    }

    /// Reports a problem; further lines are its causes.
    pub(crate) fn problem(&mut self, text: &str) {
        self.failed = true;
        self.problems.push(in_our_words(text).lines().map(escape).collect::<Vec<_>>().join("\n  caused by: "));
    }

    /// Writes a line to standard error at once, behind what standard output has so far: a finding, not a failure of the
    /// command.
    pub(crate) fn remark(&mut self, text: &str) {
        // Whether that failed is found out at the end.
        let _ = self.stdout.flush();
        // There is nobody left to tell.
        let _ = writeln!(io::stderr().lock(), "{}", escape(&in_our_words(text)));
    }

    /// Says something on standard error, where standard output is taken by what the command makes.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(escape(&in_our_words(text)));
    }

    /// The exit code will be 1; why was said elsewhere.
    pub(crate) const fn fail(&mut self) {
        self.failed = true;
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Ends the program: `done` says whether all output could be written.
    pub(crate) fn finish(mut self, done: io::Result<()>) -> ExitCode {
        match done.and_then(|()| self.stdout.flush()) {
            Ok(()) => {}
            // Whoever read has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(error) => self.problem(&format!("cannot write to standard output: {error}")),
        }
        let mut stderr = io::stderr().lock();
        let mark = if colours(stderr.is_terminal()) { "\x1b[31merror:\x1b[0m" } else { "error:" };
        for note in &self.notes {
            let _ = writeln!(stderr, "{note}");
        }
        for problem in &self.problems {
            // There is nobody left to tell.
            let _ = writeln!(stderr, "{mark} {problem}");
        }
        if self.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdout.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Whether a stream gets colours: terminals do, unless `NO_COLOR` is set to anything.
fn colours(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
