//! Standard output and error: written to by nothing else.

use std::error::Error;
use std::io::{self, BufWriter, IsTerminal, LineWriter, Stderr, StdoutLock, Write};
use std::process::ExitCode;

use crate::show::advice::in_our_words;
use crate::show::text::escape;

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
    /// Where text goes once standard output is taken by what the command makes.
    aside: Option<LineWriter<Stderr>>,
    /// Why standard output could not be written to.
    stdout_error: Option<io::Error>,
    problems: Vec<String>,
    failed: bool,
    colours: bool,
}

impl Out {
    /// The process's standard output.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let colours = colours(stdout.is_terminal());
        Self {
            stdout: BufWriter::new(stdout.lock()),
            aside: None,
            stdout_error: None,
            problems: Vec::new(),
            failed: false,
            colours,
        }
    }

    /// Writes `text` in `style`.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        if self.colours && style != Style::Plain {
            write!(self, "{}{text}\x1b[0m", style.code())
        } else {
            self.write_all(text.as_bytes())
        }
    }

    /// Writes `count` blanks, as many as there may be: widths of formats end at 65,535.
    pub(crate) fn blanks(&mut self, count: usize) -> io::Result<()> {
        const BLANKS: &str = "                                                                ";
        let mut left = count;
        while left > 0 {
            let some = BLANKS.get(..left).unwrap_or(BLANKS);
            self.write_all(some.as_bytes())?;
            left -= some.len();
        }
        Ok(())
    }

    /// Leaves standard output to what the command makes: from here on text goes to standard error.
    pub(crate) fn leave_stdout(&mut self) {
        if self.aside.is_none() {
            let stderr = io::stderr();
            self.colours = colours(stderr.is_terminal());
            self.aside = Some(LineWriter::new(stderr));
        }
    }

    /// Lets `produce` write to standard output, which text has left; what it writes has arrived if this succeeds.
    pub(crate) fn with_stdout<E: From<io::Error>>(
        &mut self,
        produce: impl FnOnce(&mut Self, &mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        self.leave_stdout();
        // The lock can be taken twice by the thread that has it.
        let mut stdout = BufWriter::new(io::stdout().lock());
        produce(self, &mut stdout)?;
        Ok(stdout.flush()?)
    }

    /// Notes why standard output could not be written to, which is told at the end; returns that not all went well.
    pub(crate) fn stdout_failed(&mut self, error: io::Error) -> bool {
        self.stdout_error = Some(error);
        false
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
        let _ = self.flush();
        // There is nobody left to tell.
        let _ = writeln!(io::stderr().lock(), "{}", escape(&in_our_words(text)));
    }

    /// The exit code will be 1; why was said elsewhere.
    pub(crate) const fn fail(&mut self) {
        self.failed = true;
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Columns of the terminal that standard output is; `None` if it is none, or does not tell.
    #[cfg(unix)]
    pub(crate) fn columns() -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(size.ws_col.into()).filter(|&columns| columns > 0)
    }

    /// Columns of the terminal: not known here.
    #[cfg(not(unix))]
    pub(crate) const fn columns() -> Option<usize> {
        None
    }

    /// Ends the program: `done` says whether all output could be written.
    pub(crate) fn finish(mut self, done: io::Result<()>) -> ExitCode {
        let done = self.stdout_error.take().map_or(done, Err);
        match done.and_then(|()| self.flush()) {
            Ok(()) => {}
            // Whoever read has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Err(error) => self.problem(&format!("cannot write to standard output: {error}")),
        }
        let mut stderr = io::stderr().lock();
        let mark = if colours(stderr.is_terminal()) { "\x1b[31merror:\x1b[0m" } else { "error:" };
        for problem in &self.problems {
            // There is nobody left to tell.
            let _ = writeln!(stderr, "{mark} {problem}");
        }
        if self.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.aside.as_mut().map_or(&mut self.stdout as &mut dyn Write, |aside| aside).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.aside.as_mut().map_or(Ok(()), LineWriter::flush)?;
        self.stdout.flush()
    }
}

/// Whether a stream gets colours: terminals do, unless `NO_COLOR` is set to anything.
fn colours(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
