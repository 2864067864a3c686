//! The only code that writes to standard output and standard error.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, LineWriter, Stderr, StdoutLock, Write};

use crate::show::advice::in_our_words;
use crate::show::form::{Form, Notation};
use crate::show::progress;
use crate::show::quoted::without_secrets;
use crate::show::text::{blanks, escape};
use crate::show::wrap::Wrap;

/// Looks of a piece of text on terminals with colours.
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

/// Whether text has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colours {
    /// On terminals, unless `NO_COLOR` is set or TERM is "dumb"
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// How a command talks. The same flags set it for all commands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputFlags {
    /// Only errors are printed.
    pub(crate) quiet: bool,
    /// Standard error shows what is read and written.
    pub(crate) verbose: bool,
    /// Existing files are not replaced.
    pub(crate) no_clobber: bool,
    /// Whether text has colours.
    pub(crate) colours: Colours,
    /// How progress is shown.
    pub(crate) progress: progress::Form,
}

/// Buffered standard output, and the problems so far.
///
/// Problems are printed at the end of the command, after its output.
pub(crate) struct Out {
    stdout: BufWriter<StdoutLock<'static>>,
    /// Remarks for the program that calls the library, which are printed otherwise.
    remarks: Option<Vec<String>>,
    /// The destination of text after [`Self::leave_stdout`].
    aside: Option<LineWriter<Stderr>>,
    /// The file that takes the text instead.
    file: Option<BufWriter<File>>,
    /// What of the text is worth a file.
    worth: Worth,
    output_flags: OutputFlags,
    form: Form,
    /// Rows or items that were listed.
    listed: u64,
    /// The error of writing to standard output, if one happened.
    stdout_error: Option<io::Error>,
    problems: Vec<String>,
    failed: bool,
    /// The exit code if there were problems.
    code: u8,
    colours: bool,
    /// Whether the text goes to a terminal, where a bar would be in its way.
    is_on_terminal: bool,
    /// Breaks lines of listings where the terminal ends.
    wrap: Option<Wrap>,
}

/// What a command says.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// What the user should know, such as what a format could not take.
    pub remarks: Vec<String>,
    /// What failed. The command did the rest.
    pub problems: Vec<String>,
}

/// What of the text of a command that reports problems is worth a file.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Worth {
    /// Whether any text was written.
    has_text: bool,
    /// Whether it has rows or items.
    has_rows: bool,
    /// Whether one of them has what was asked for.
    has_content: bool,
    /// Whether nothing was found at all, whatever the text says of that.
    is_void: bool,
}

impl Worth {
    /// Whether there is any. Documents and CSV have a frame around their rows, which counts for nothing.
    const fn is_there(self, is_text: bool) -> bool {
        !self.is_void && if self.has_rows { self.has_content } else { is_text && self.has_text }
    }
}

impl Out {
    /// The process's standard output.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout();
        let colours = Colours::Auto.of(stdout.is_terminal());
        Self {
            stdout: BufWriter::new(stdout.lock()),
            remarks: None,
            aside: None,
            file: None,
            worth: Worth::default(),
            output_flags: OutputFlags::default(),
            form: Form::default(),
            listed: 0,
            stdout_error: None,
            problems: Vec::new(),
            failed: false,
            code: 1,
            colours,
            is_on_terminal: stdout.is_terminal(),
            wrap: None,
        }
    }

    /// As [`Self::new`], and what is said is kept for [`Self::said`].
    pub(crate) fn kept() -> Self {
        Self { remarks: Some(Vec::new()), ..Self::new() }
    }

    /// Sets how the command talks, and how it lists.
    pub(crate) fn set(&mut self, output_flags: OutputFlags, form: Form) {
        self.output_flags = output_flags;
        self.form = form;
        self.colours = output_flags.colours.of(io::stdout().is_terminal());
    }

    /// Breaks lines where the terminal ends, if the text goes to one. For listings, not for values.
    pub(crate) fn wrap_lines(&mut self) {
        self.wrap = Self::columns().filter(|_| self.form.notation == Notation::Text).map(Wrap::new);
    }

    /// Whether the text goes to a terminal whose width is kept.
    pub(crate) const fn breaks_lines(&self) -> bool {
        self.wrap.is_some() && self.file.is_none()
    }

    /// How the command talks.
    pub(crate) const fn output_flags(&self) -> OutputFlags {
        self.output_flags
    }

    /// How the command lists.
    pub(crate) const fn form(&self) -> &Form {
        &self.form
    }

    /// Whether rows are printed as CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.form.notation == Notation::Csv
    }

    /// Whether there is room for another row or item, which is counted.
    pub(crate) fn admits_one(&mut self) -> bool {
        let has_room = self.form.limit.is_none_or(|limit| self.listed < limit);
        self.listed += u64::from(has_room);
        has_room
    }

    /// Counts a row or item that is listed in order.
    pub(crate) const fn count_one(&mut self) {
        self.listed += 1;
    }

    /// Whether no further row will be listed. Rows that are to be sorted are all needed.
    pub(crate) fn is_full(&self) -> bool {
        self.form.sort.is_empty() && self.form.limit.is_some_and(|limit| self.listed >= limit)
    }

    /// Takes note of a row or item, and whether it has more than its place and what is missing.
    pub(crate) const fn note_row(&mut self, has_content: bool) {
        self.worth.has_rows = true;
        self.worth.has_content |= has_content;
    }

    /// Takes note that nothing is what was asked for, so that no file is worth the text. The problem is reported too.
    pub(crate) const fn note_void(&mut self) {
        self.worth.is_void = true;
    }

    /// Lets `print` write its text to `file`, which is flushed before this succeeds. Returns whether there is something to
    /// keep: not if problems were reported, and no row or item, or other text, has what was asked for.
    pub(crate) fn print_to(&mut self, file: File, print: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<bool> {
        self.colours = self.output_flags.colours == Colours::Always;
        self.file = Some(BufWriter::new(file));
        let problems = self.problems.len();
        self.worth = Worth::default();
        let done = print(self).and_then(|()| self.flush());
        self.file = None;
        let worth = self.worth.is_there(self.form.notation == Notation::Text);
        done.map(|()| worth || self.problems.len() == problems)
    }

    /// Whether text has colours.
    #[cfg(feature = "plot")]
    pub(crate) const fn has_colours(&self) -> bool {
        self.colours
    }

    /// Tells on standard error what is done, if the user wants to know.
    pub(crate) fn detail(&mut self, text: &str) {
        if self.output_flags.verbose {
            self.tell(text);
        }
    }

    /// Writes a line that a quiet command writes too: the answer without which it is of no use.
    #[cfg(feature = "serve")]
    pub(crate) fn answer(&mut self, text: &str) -> io::Result<()> {
        let is_quiet = std::mem::take(&mut self.output_flags.quiet);
        let done = writeln!(self, "{text}").and_then(|()| self.flush());
        self.output_flags.quiet = is_quiet;
        done
    }

    /// Writes `text` in `style`.
    pub(crate) fn styled(&mut self, style: Style, text: &str) -> io::Result<()> {
        let (begin, end) = self.codes(style);
        write!(self, "{begin}{text}{end}")
    }

    /// What stands before and after text in `style`. Nothing without colours.
    pub(crate) const fn codes(&self, style: Style) -> (&'static str, &'static str) {
        match style {
            Style::Good | Style::Bad | Style::Heading if self.colours => (style.code(), "\x1b[0m"),
            _ => ("", ""),
        }
    }

    /// Writes any number of blanks.
    pub(crate) fn blanks(&mut self, count: usize) -> io::Result<()> {
        blanks(count).try_for_each(|some| self.write_all(some.as_bytes()))
    }

    /// Reserves standard output for the command's product. From here on text goes to standard error.
    pub(crate) fn leave_stdout(&mut self) {
        if self.aside.is_none() {
            self.wrap = None;
            let stderr = io::stderr();
            self.colours = self.output_flags.colours.of(stderr.is_terminal());
            self.is_on_terminal = stderr.is_terminal();
            self.aside = Some(LineWriter::new(stderr));
        }
    }

    /// Lets `produce` write to standard output, which is flushed before this succeeds.
    pub(crate) fn with_stdout<E: From<io::Error>>(
        &mut self,
        produce: impl FnOnce(&mut Self, &mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        self.leave_stdout();
        // A thread may take this lock twice.
        let mut stdout = BufWriter::new(io::stdout().lock());
        produce(self, &mut stdout)?;
        Ok(stdout.flush()?)
    }

    /// Records an error of standard output, which is printed at the end. Returns false.
    pub(crate) fn stdout_failed(&mut self, error: io::Error) -> bool {
        self.stdout_error = Some(error);
        false
    }

    /// Reports an error at `place` with its causes.
    pub(crate) fn report(&mut self, place: &str, error: &dyn Error) {
        let mut text = in_our_words(error);
        let mut problem = format!("{place}: {text}");
        let mut source = error.source();
        while let Some(cause) = source {
            let inner = in_our_words(cause);
            // Most errors of the library repeat their cause.
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
        let text = without_secrets(in_our_words(text));
        self.problems.push(text.lines().map(escape).collect::<Vec<_>>().join("\n  caused by: "));
    }

    /// How many problems were reported.
    pub(crate) const fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// Writes a line to standard error at once, after all standard output so far. For findings, which are not failures
    /// of the command.
    pub(crate) fn remark(&mut self, text: &str) {
        if !self.output_flags.quiet {
            self.tell(text);
        }
    }

    /// As [`Self::remark`], of what was done as it was asked for: a program that calls the library is not told.
    pub(crate) fn note(&mut self, text: &str) {
        if self.remarks.is_none() {
            self.remark(text);
        }
    }

    fn tell(&mut self, text: &str) {
        if let Some(remarks) = &mut self.remarks {
            remarks.push(without_secrets(in_our_words(text)));
            return;
        }
        // A failure shows up again at the end.
        let _ = self.flush();
        // There is nobody left to tell.
        let _ = progress::aside(|| writeln!(io::stderr().lock(), "{}", escape(&without_secrets(in_our_words(text)))));
    }

    /// Sets the exit code to 1, for a failure that is shown elsewhere.
    pub(crate) const fn fail(&mut self) {
        self.failed = true;
    }

    /// Makes 2 the exit code of problems, for commands whose 1 is an answer.
    pub(crate) const fn exit_with_2_for_problems(&mut self) {
        self.code = 2;
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Width of the terminal at standard output. `None` if it is not a terminal, or has no known width.
    #[cfg(unix)]
    pub(crate) fn columns() -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(size.ws_col.into()).filter(|&columns| columns > 0)
    }

    /// Width of the terminal: unknown on this system.
    #[cfg(not(unix))]
    pub(crate) const fn columns() -> Option<usize> {
        None
    }

    /// What was said. `done` is the result of writing all output.
    pub(crate) fn said(mut self, done: io::Result<()>) -> Said {
        let done = self.stdout_error.take().map_or(done, Err);
        progress::end();
        if let Err(error) = done.and_then(|()| self.flush()) {
            self.problem(&cannot_write(&error));
        }
        Said { remarks: self.remarks.take().unwrap_or_default(), problems: std::mem::take(&mut self.problems) }
    }

    /// Prints the problems and returns the exit code. `done` is the result of writing all output.
    pub(crate) fn finish(mut self, done: io::Result<()>) -> u8 {
        let done = self.stdout_error.take().map_or(done, Err);
        progress::end();
        match done.and_then(|()| self.flush()) {
            Ok(()) => {}
            // The reader closed the pipe because it needs no more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return 0,
            Err(error) => self.problem(&cannot_write(&error)),
        }
        let mut stderr = io::stderr().lock();
        let mark = if self.output_flags.colours.of(stderr.is_terminal()) { "\x1b[31merror:\x1b[0m" } else { "error:" };
        for problem in &self.problems {
            // There is nobody left to tell.
            let _ = writeln!(stderr, "{mark} {problem}");
        }
        match (self.problems.is_empty(), self.failed) {
            (false, _) => self.code,
            (true, true) => 1,
            (true, false) => 0,
        }
    }
}

fn cannot_write(error: &io::Error) -> String {
    format!("cannot write to standard output: {error}")
}

/// Prints a problem while another thread works, which will not come to its end.
#[cfg(feature = "netcdf")]
pub(crate) fn last_words(problem: &str) {
    // There is nobody left to tell.
    let _ =
        progress::aside(|| writeln!(io::stderr().lock(), "error: {}", escape(&without_secrets(problem.to_string()))));
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.file {
            self.worth.has_text |= !bytes.is_empty();
            return file.write(bytes);
        }
        if self.output_flags.quiet {
            return Ok(bytes.len());
        }
        if self.is_on_terminal {
            progress::make_room();
        }
        if let Some(wrap) = &mut self.wrap {
            return wrap.write(bytes, &mut self.stdout).map(|()| bytes.len());
        }
        self.aside.as_mut().map_or(&mut self.stdout as &mut dyn Write, |aside| aside).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)?;
        self.aside.as_mut().map_or(Ok(()), LineWriter::flush)?;
        if let Some(wrap) = &mut self.wrap {
            wrap.flush(&mut self.stdout)?;
        }
        self.stdout.flush()
    }
}

impl Colours {
    /// Whether a stream gets colours.
    fn of(self, is_terminal: bool) -> bool {
        let is_set = |name, wanted: fn(&std::ffi::OsStr) -> bool| std::env::var_os(name).is_some_and(|v| wanted(&v));
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                is_terminal
                    && !is_set("NO_COLOR", |value| !value.is_empty())
                    && !is_set("TERM", |value| value == "dumb")
            }
        }
    }
}
