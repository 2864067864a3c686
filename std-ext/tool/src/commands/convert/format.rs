//! What a format is. Its row stands in the file of its family, and [`formats`](super::formats) lists the rows.

use std::fmt;
use std::io::Write;
use std::path::Path;

use tgm_convert::arrays::{Arrays, NotKept};
#[cfg(any(feature = "netcdf", feature = "zarr"))]
use tgm_convert::{Note, ReadOptions};
use tgm_std::TensogramError;

use super::Convert;
use super::losses::Losses;
use crate::show::output::Out;
use crate::write::destination::Failure;

/// A format of files.
#[derive(Clone, Copy)]
pub(super) struct Format(pub(super) &'static Row);

/// What is known of a format.
pub(super) struct Row {
    /// The name that `--from` and `--to` take.
    pub(super) name: &'static str,
    /// Another name.
    pub(super) alias: Option<&'static str>,
    /// The line of the help.
    pub(super) about: &'static str,
    /// The ends of names, without the dot. The first one is that of new files.
    pub(super) suffixes: &'static [&'static str],
    /// The place of the format's first sign in the start of a file.
    pub(super) find: fn(&[u8]) -> Option<usize>,
    /// Whether a directory is one of this format.
    pub(super) is_folder: fn(&Path) -> bool,
    /// Whether `--from` or the name of a file has to say the format, however the file begins.
    pub(super) is_named: bool,
    /// Whether messages become this format, and files of this format are made of messages, where nothing says another.
    pub(super) is_usual: bool,
    pub(super) holds: Holds,
    pub(super) reads: Reads,
    pub(super) writes: Writes,
    /// Checks that a file is as long as its start says, before it is read.
    pub(super) check_len: fn(&[u8], u64) -> Result<(), TensogramError>,
    /// Why files are made of messages alone.
    pub(super) of_messages: Option<&'static str>,
}

/// What one file of a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Any number of messages.
    Messages,
    /// The arrays of one message.
    Message,
    /// One array.
    Array,
}

/// How files of a format are read.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    /// As messages.
    Messages,
    #[cfg(feature = "grib")]
    Grib,
    /// As the arrays of one message.
    Arrays(ReadArrays),
    /// Piece by piece, and written so as messages.
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    Pieces(ReadPieces),
    /// Not, and why.
    Not(&'static str),
}

/// How files of a format are written.
#[derive(Clone, Copy)]
pub(super) enum Writes {
    /// A message after the other to the output.
    Messages(fn(&Convert, &mut Out, &mut Losses, &mut dyn Write) -> Result<(), Failure>),
    /// The arrays of a message. Returns what the file lacks.
    Arrays(WriteArrays),
    /// All that is read, and the output is opened for it.
    Whole(fn(&Convert, &mut Out, &mut Losses)),
}

/// The arrays of the bytes of a file.
pub(super) type ReadArrays = for<'a> fn(&Convert, &'a [u8]) -> Result<Arrays<'a>, TensogramError>;
type WriteArrays = fn(&Convert, &Arrays<'_>, &mut dyn Write) -> Result<Vec<NotKept>, TensogramError>;
/// Writes the messages of a file, and reports what is left out.
#[cfg(any(feature = "netcdf", feature = "zarr"))]
pub(super) type ReadPieces =
    fn(&Path, &ReadOptions, &mut dyn Write, &mut dyn FnMut(Note)) -> Result<u64, TensogramError>;

impl Row {
    /// A format without suffixes and signs, whose files hold messages, and are neither read nor written.
    pub(super) const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            alias: None,
            about,
            suffixes: &[],
            find: |_| None,
            is_folder: |_| false,
            is_named: false,
            is_usual: false,
            holds: Holds::Messages,
            reads: Reads::Not("files of this format are not read"),
            writes: Writes::Whole(|_, out, _| out.problem("files of this format are not written")),
            check_len: |_, _| Ok(()),
            of_messages: None,
        }
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl Format {
    /// Whether its files are read piece by piece, and written so as messages.
    pub(super) const fn is_streamed(self) -> bool {
        matches!(self.0.writes, Writes::Whole(_)) && self.0.of_messages.is_none()
    }

    /// Whether it tells of whole files of messages.
    pub(super) const fn is_of_files(self) -> bool {
        matches!(self.0.writes, Writes::Whole(_)) && self.0.of_messages.is_some()
    }

    /// What one file holds.
    pub(super) const fn holds(self) -> Holds {
        self.0.holds
    }

    /// The end of the names of new files.
    pub(super) fn suffix(self) -> &'static str {
        self.0.suffixes.first().copied().unwrap_or_default()
    }

    /// Why files of this format do not become files of the format `to`. `None` if they do. The table of pairs in the
    /// documentation says the same.
    pub(super) fn refusal_of(self, to: Self) -> Option<&'static str> {
        if self == to {
            return Some("the input has the wanted format already: --to says another, and `tgm copy` copies messages");
        }
        if let Reads::Not(why) = self.0.reads {
            return Some(why);
        }
        to.0.of_messages.filter(|_| !matches!(self.0.reads, Reads::Messages))
    }

    /// Writes a file that holds the arrays. Returns what it lacks.
    ///
    /// # Errors
    /// The errors of writing, and for arrays that the format cannot hold.
    pub(super) fn write_arrays(
        self,
        convert: &Convert,
        arrays: &Arrays<'_>,
        sink: &mut dyn Write,
    ) -> Result<Vec<NotKept>, TensogramError> {
        match self.0.writes {
            Writes::Arrays(write) => write(convert, arrays, sink),
            _ => Err(TensogramError::Metadata("this format holds no arrays".into())),
        }
    }
}

/// The place of `sign` if bytes begin with it.
pub(super) fn at_start(start: &[u8], sign: &[u8]) -> Option<usize> {
    start.starts_with(sign).then_some(0)
}

/// The place of `sign`, wherever it is: these formats may have other bytes in front.
pub(super) fn anywhere(start: &[u8], sign: &[u8]) -> Option<usize> {
    start.windows(sign.len()).position(|window| window == sign)
}
