//! Where commands write what they make: the one way to a file, which appears whole, or to standard output.
//!
//! An argument that names an output is a [`Destination`], or [`FileNames`] if the command writes several files. Both can be
//! written to only by saying which files are read: a file that is read is never destroyed.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{MapValueParser, PathBufValueParser, TryMapValueParser, TypedValueParser as _, ValueParserFactory};
use tgm_std::TensogramError;
use tgm_std::encode::PartError;

use crate::read::input::Entry;
use crate::show::output::Out;
use crate::write::replace::write_whole;
use crate::write::same_file::Identity;

/// Why nothing, or no more, is written.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong with what is at this place.
    At(String, TensogramError),
    /// What was made could not be written.
    Output(io::Error),
}

impl Failure {
    /// A failure at a place that an error happened at.
    pub(crate) fn at<E: Into<TensogramError>>(place: impl Into<String>) -> impl FnOnce(E) -> Self {
        let place = place.into();
        move |error| Self::At(place, error.into())
    }

    /// A failure at a place, in words.
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

/// Whether `path` stands for a standard stream.
pub(crate) fn is_stdio(path: &Path) -> bool {
    path == Path::new("-")
}

/// The files that a command reads, and what it may do to them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reads<'p> {
    /// One of them may be the output: it is replaced when what takes its place is complete.
    AndReplaces(&'p [PathBuf]),
    /// None of them may be the output, which is no other version of it.
    Only(&'p [PathBuf]),
}

impl Reads<'_> {
    /// Whether what a command writes to `target` leaves what it reads alone.
    fn allow(self, target: &Destination) -> bool {
        match self {
            // What is not a regular file is written to in place, before all is read.
            Self::AndReplaces(_) if target.path().is_some_and(Path::is_file) => true,
            Self::AndReplaces(paths) | Self::Only(paths) => !target.is_one_of(paths),
        }
    }
}

/// What is written, in the words of a complaint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Messages: there is at least one, a file is not replaced by nothing.
    Messages,
    /// Values: a tensor may have none.
    Values,
}

/// Where a command writes its one stream.
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
    type Parser = MapValueParser<PathBufValueParser, fn(PathBuf) -> Self>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().map(Self::from)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => path.display().fmt(f),
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

    /// Whether the file is one of `inputs`, by whatever name; standard output too may be one.
    pub(crate) fn is_one_of(&self, inputs: &[PathBuf]) -> bool {
        let identity = self.path().map_or_else(Identity::of_stdout, Identity::of);
        identity.is_some() && inputs.iter().any(|input| Identity::of_input(input) == identity)
    }

    /// Makes sure that it can be written to without harm; if not, that is reported. What a command prints beside it goes to
    /// standard error from here on, if this is standard output. Needed only where a command prints before it writes.
    pub(crate) fn prepare(&self, out: &mut Out, what: What, reads: Reads<'_>) -> bool {
        if !reads.allow(self) {
            out.problem(&format!("{self} is a file that is read: nothing was written, write to another"));
            return false;
        }
        if self.is_stdout() {
            if Out::is_terminal() {
                let what = if what == What::Messages { "messages" } else { "values" };
                out.problem(&format!("{what} are not written to a terminal: name a file, or redirect standard output"));
                return false;
            }
            out.leave_stdout();
        }
        true
    }

    /// Writes what `produce` makes. A file is replaced when all of it is there, and stays as it was if anything fails, which
    /// is reported. Returns whether all went well.
    pub(crate) fn write(
        &self,
        out: &mut Out,
        what: What,
        reads: Reads<'_>,
        produce: impl FnOnce(&mut Out, &mut dyn Write) -> Result<(), Failure>,
    ) -> bool {
        if !self.prepare(out, what, reads) {
            return false;
        }
        let produce = |out: &mut Out, sink: &mut dyn Write| {
            let mut counted = Counted { sink, is_empty: true };
            produce(out, &mut counted)?;
            if counted.is_empty && what == What::Messages {
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
            Ok(()) => true,
            Err(error) => report(self, out, cause.unwrap_or(Failure::Output(error))),
        }
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

/// Reports a failure; returns that not all went well.
pub(crate) fn report(destination: &Destination, out: &mut Out, failure: Failure) -> bool {
    match failure {
        Failure::At(place, error) => out.report(&place, &error),
        Failure::Output(error) => out.problem(&format!("cannot write {destination}\n{error}")),
    }
    false
}

/// The names of several files, by a pattern. Standard output is no such pattern.
#[derive(Clone, Debug)]
pub(crate) struct FileNames(PathBuf);

impl ValueParserFactory for FileNames {
    type Parser = TryMapValueParser<PathBufValueParser, fn(PathBuf) -> Result<Self, &'static str>>;

    fn value_parser() -> Self::Parser {
        PathBufValueParser::new().try_map(|path| {
            if is_stdio(&path) {
                Err("several files are written, standard output is one stream")
            } else {
                Ok(Self(path))
            }
        })
    }
}

impl FileNames {
    /// The pattern.
    pub(crate) fn pattern(&self) -> &Path {
        &self.0
    }
}
