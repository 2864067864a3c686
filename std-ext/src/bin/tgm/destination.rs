//! Where commands that make messages write them: a file that appears whole, or standard output.

use std::io::{self, Write};
use std::path::Path;

use tgm_std::TensogramError;
use tgm_std::encode::PartError;

use crate::input::Entry;
use crate::output::Out;
use crate::replace::write_whole;

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

/// Whether `path` stands for standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes what `produce` makes to `path`; "-" is standard output. A file is replaced when all of it is there, and stays as
/// it was if anything fails, which is reported. Returns whether all went well.
pub(crate) fn write_to(
    path: &Path,
    out: &mut Out,
    produce: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> io::Result<bool> {
    if is_stdout(path) {
        if Out::is_terminal() {
            out.problem("messages are not written to a terminal: use -o OUT, or redirect standard output");
            return Ok(false);
        }
        return match produce(out) {
            Ok(()) => Ok(true),
            Err(Failure::Output(error)) => Err(error),
            Err(failure) => Ok(report(path, out, failure)),
        };
    }
    let mut cause = None;
    let written = write_whole(path, |file| {
        produce(file).map_err(|failure| match failure {
            Failure::Output(error) => error,
            Failure::At(..) => {
                cause = Some(failure);
                io::Error::other("not written")
            }
        })
    });
    Ok(match written {
        Ok(()) => true,
        Err(error) => report(path, out, cause.unwrap_or(Failure::Output(error))),
    })
}

/// Reports a failure; returns that not all went well.
pub(crate) fn report(path: &Path, out: &mut Out, failure: Failure) -> bool {
    match failure {
        Failure::At(place, error) => out.report(&place, &error),
        Failure::Output(error) => out.problem(&format!("cannot write {}\n{error}", path.display())),
    }
    false
}
