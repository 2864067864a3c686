//! Destinations of output: the only way to a file, which appears whole, or to standard output.
//!
//! An argument for an output is a [`Destination`], or [`FileNames`] if the command writes several files. To write, a
//! command must state which files it reads, so that no input is destroyed.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TryMapValueParser, TypedValueParser as _, ValueParserFactory};
use tgm_std::TensogramError;
use tgm_std::encode::PartError;

use crate::read::entry::Entry;
use crate::show::advice::in_our_words;
use crate::show::output::Out;
use crate::write::endings;
use crate::write::same_file::{Identity, is_stdio};
use crate::write::template::Template;
use tgm_std::file::SourceName;
use tgm_std::file::replace::{write_whole, write_whole_file};

/// The reason why writing stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error at this place.
    At(String, TensogramError),
    /// The output could not be written.
    Output(io::Error),
}

impl Failure {
    /// Turns an error into a failure at `place`.
    pub(crate) fn at<E: Into<TensogramError>>(place: impl Into<String>) -> impl FnOnce(E) -> Self {
        let place = place.into();
        move |error| Self::At(place, error.into())
    }

    /// A failure at a place, with a text.
    pub(crate) fn said(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self::At(place.into(), TensogramError::Metadata(text.into().into()))
    }

    /// A failure of checking digests, at the message or at one of its objects.
    pub(crate) fn of_hash(entry: &Entry<'_>) -> impl FnOnce(TensogramError) -> Self {
        let entry = *entry;
        move |error| {
            let object =
                if let TensogramError::HashMismatch { object_index, .. } = error { object_index } else { None };
            Self::At(object.map_or_else(|| entry.place(), |index| entry.object_place(index)), error)
        }
    }

    /// A failure of encoding, at the message or at one of its objects.
    pub(crate) fn of_part(entry: &Entry<'_>) -> impl FnOnce(PartError) -> Self {
        let entry = *entry;
        move |PartError { object_index, error }| {
            Self::At(object_index.map_or_else(|| entry.place(), |index| entry.object_place(index)), error)
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The files that a command reads, and whether it may replace them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads<'p> {
    /// One of them may be the output. It is replaced when the output is complete.
    AndReplaces(&'p [PathBuf]),
    /// None of them may be the output.
    Only(&'p [PathBuf]),
}

impl Reads<'_> {
    /// Whether the output is one of the files.
    fn has(self, target: &Destination) -> bool {
        let (Self::AndReplaces(paths) | Self::Only(paths)) = self;
        target.is_one_of(paths)
    }

    /// Whether writing to `target` leaves the inputs intact.
    fn allow(self, target: &Destination) -> bool {
        match self {
            // A device or a pipe as the target is written in place, before all input is read.
            Self::AndReplaces(_) if target.path().is_some_and(Path::is_file) => true,
            Self::AndReplaces(paths) | Self::Only(paths) => !target.is_one_of(paths),
        }
    }
}

/// The kind of output, for error texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// Messages. There must be at least one, so that an empty output never replaces a file. Its name must not be that of
    /// another format.
    Messages,
    /// Messages of another format, or under a name beside which the user said the format. There must be at least one.
    Converted,
    /// Values. There may be none, as a tensor can be empty.
    Values,
}

/// The destination of a command that writes one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// "-".
    Stdout,
    /// A file.
    File(PathBuf),
}

impl From<PathBuf> for Destination {
    fn from(path: PathBuf) -> Self {
        if is_stdio(&path) { Self::Stdout } else { Self::File(path) }
    }
}

impl ValueParserFactory for Destination {
    type Parser = TryMapValueParser<PathBufValueParser, fn(PathBuf) -> io::Result<Self>>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().try_map(|path| refuse_address(path).map(Self::from))
    }
}

/// A path that output can go to.
///
/// # Errors
/// Addresses are refused, and so are names that have a key in brackets and are not UTF-8: a key is only looked for in text.
pub(crate) fn refuse_address(path: PathBuf) -> io::Result<PathBuf> {
    SourceName::of(&path).to_write()?;
    if path.to_str().is_none() && Template::of(path.to_string_lossy().as_ref().as_ref()).is_some() {
        return Err(io::Error::other("a name with a key in brackets must be UTF-8"));
    }
    Ok(path)
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => SourceName::of(path).fmt(f),
        }
    }
}

impl Destination {
    /// Whether it is standard output.
    pub(crate) const fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// The file's path; `None` is standard output.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path) => Some(path),
        }
    }

    /// Whether the file is one of `inputs`, under any name. Standard output can be one too.
    pub(crate) fn is_one_of(&self, inputs: &[PathBuf]) -> bool {
        let identity = self.path().map_or_else(Identity::of_stdout, Identity::of);
        identity.is_some() && inputs.iter().any(|input| Identity::of_input(input) == identity)
    }

    /// Checks that writing harms no input, and reports it otherwise. If this is standard output, text goes to standard
    /// error from here on. Only needed by commands that print before they write.
    pub(crate) fn prepare(&self, out: &mut Out, what: OutputKind, reads: Reads<'_>) -> bool {
        if !reads.allow(self) {
            out.problem(&format!("{self} is a file that is read: nothing was written, write to another"));
            return false;
        }
        if what == OutputKind::Messages
            && let Some(text) = self.path().and_then(endings::refusal)
            && !reads.has(self)
        {
            out.problem(&text);
            return false;
        }
        if out.output_flags().no_clobber && self.path().is_some_and(Path::is_file) {
            out.problem(&format!("{self} exists: --no-clobber leaves it as it is"));
            return false;
        }
        if self.is_stdout() {
            if Out::is_terminal() {
                let what = if what == OutputKind::Values { "values" } else { "messages" };
                out.problem(&format!("{what} are not written to a terminal: name a file, or redirect standard output"));
                return false;
            }
            out.leave_stdout();
        }
        true
    }

    /// Writes the output of `produce`. A file is replaced when the output is complete. On an error it stays as it was,
    /// and the error is reported. Returns whether all went well.
    pub(crate) fn write(
        &self,
        out: &mut Out,
        what: OutputKind,
        reads: Reads<'_>,
        produce: impl FnOnce(&mut Out, &mut dyn Write) -> Result<(), Failure>,
    ) -> bool {
        if !self.prepare(out, what, reads) {
            return false;
        }
        let produce = |out: &mut Out, sink: &mut dyn Write| {
            let mut counted = Counted { sink, is_empty: true };
            produce(out, &mut counted)?;
            if counted.is_empty && what != OutputKind::Values {
                return Err(io::Error::other("there is no message to write").into());
            }
            Ok(())
        };
        let Self::File(path) = self else {
            return match out.with_stdout(produce) {
                Ok(()) => true,
                Err(Failure::Output(error)) => out.stdout_failed(error),
                Err(failure) => report(self, out, failure),
            };
        };
        let mut cause = None;
        let written = write_whole(path, |file| {
            produce(out, file).map_err(|failure| match failure {
                Failure::Output(error) => error,
                Failure::At(..) => {
                    cause = Some(failure);
                    io::Error::other("not written")
                }
            })
        });
        match written {
            Ok(()) => {
                out.detail(&format!("{self}: written"));
                true
            }
            Err(error) => report(self, out, cause.unwrap_or(Failure::Output(error))),
        }
    }
}

impl Destination {
    /// Writes the text that `list` prints. A file is replaced when all is printed. If `list` reports a problem and has
    /// nothing to print beside it, the file stays as it was. Commands print text where this is not called.
    ///
    /// # Errors
    /// The errors of `list`, if the text goes to standard output.
    pub(crate) fn write_text(
        &self,
        out: &mut Out,
        reads: Reads<'_>,
        list: impl FnOnce(&mut Out) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self::File(path) = self else { return list(out) };
        if let Some(text) = endings::refusal_of_text(path) {
            out.problem(&text);
            return Ok(());
        }
        if !self.prepare(out, OutputKind::Values, reads) {
            return Ok(());
        }
        let mut is_nothing = false;
        let written = write_whole_file(path, |file| {
            is_nothing = !out.print_to(file.try_clone()?, list)?;
            if is_nothing { Err(io::Error::other("not written")) } else { Ok(()) }
        });
        if let Err(error) = written
            && !is_nothing
        {
            report(self, out, Failure::Output(error));
        }
        Ok(())
    }
}

/// A writer that knows whether anything was written.
struct Counted<'w> {
    sink: &'w mut dyn Write,
    is_empty: bool,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_empty &= bytes.is_empty();
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// Reports a failure. Returns false.
pub(crate) fn report(destination: &Destination, out: &mut Out, failure: Failure) -> bool {
    match failure {
        Failure::At(place, error) => out.report(&place, &error),
        Failure::Output(error) => out.problem(&format!("cannot write {destination}\n{error}")),
    }
    false
}

/// A pattern for the names of several files. Standard output is not allowed.
#[derive(Clone, Debug)]
pub(crate) struct FileNames(PathBuf);

impl ValueParserFactory for FileNames {
    type Parser = TryMapValueParser<PathBufValueParser, fn(PathBuf) -> Result<Self, String>>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().try_map(|path| {
            if is_stdio(&path) {
                return Err("several files are written, standard output is one stream".to_string());
            }
            endings::refusal(&path).map_or_else(|| refuse_address(path).map(Self).map_err(in_our_words), Err)
        })
    }
}

impl FileNames {
    /// The pattern.
    pub(crate) fn pattern(&self) -> &Path {
        &self.0
    }
}
