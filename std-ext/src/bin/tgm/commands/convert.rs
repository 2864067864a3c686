//! `tgm convert`: GRIB files become Tensogram files, and those become GRIB again.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tgm_std::DecodeOptions;
use tgm_std::convert::grib2::{Found, GribError, GribOptions, MessageReader, Note, from_tensogram_into, to_tensogram};
use tgm_std::core::wire::MAGIC;

use crate::args::files::usage;
use crate::commands::Run;
use crate::read::digests::Digests;
use crate::read::input::{Wanted, for_each_message};
use crate::read::messages::Which;
use crate::show::output::Out;
use crate::show::progress::Progress;
use crate::write::destination::{Destination, Failure, Reads, What};

/// Bytes at the start of a file that are searched for a message.
const SEARCHED: u64 = 64 << 10;

/// Make GRIB files Tensogram files, and those GRIB again
///
/// Each GRIB message of edition 2 becomes one message, and each field one object. Encoded values stay as they are, where
/// the format has their packing. Back, each message gets its original bytes, if it was not edited. What cannot be
/// converted is reported and left out.
#[derive(Args, Debug)]
pub(crate) struct Convert {
    /// Files to read; "-" is standard input
    #[arg(value_name = "IN", required = true)]
    paths: Vec<PathBuf>,
    /// The file to write; appears when it is complete; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT")]
    output: Destination,
    /// The format of all files; found by content if it is not given
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// The format to write; if it is not given, tgm for other formats, and grib2 for tgm
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    digests: Digests,
}

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tensogram
    Tgm,
    /// GRIB edition 2
    Grib2,
}

impl Format {
    /// The other format.
    const fn other(self) -> Self {
        match self {
            Self::Tgm => Self::Grib2,
            Self::Grib2 => Self::Tgm,
        }
    }

    /// The format of a file's first message. Only regular files are looked into, because others cannot be read twice.
    fn of_content(path: &Path) -> Option<Self> {
        let is_regular = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let mut start = Vec::new();
        File::open(path).ok().filter(|_| is_regular)?.take(SEARCHED).read_to_end(&mut start).ok()?;
        let place = |magic: &[u8]| start.windows(magic.len()).position(|window| window == magic);
        match (place(MAGIC), place(b"GRIB")) {
            (None, None) => None,
            (Some(tgm), Some(grib)) if grib < tgm => Some(Self::Grib2),
            (None, Some(_)) => Some(Self::Grib2),
            (Some(_), _) => Some(Self::Tgm),
        }
    }

    /// The format that a file's name ends with.
    fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "tgm" => Some(Self::Tgm),
            "grib" | "grib2" | "grb" | "grb2" => Some(Self::Grib2),
            _ => None,
        }
    }
}

impl Run for Convert {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let to = self.to.or_else(|| self.output.path().and_then(Format::of_name));
        let first = self.paths.first();
        let from = self.from.or_else(|| first.and_then(|path| Format::of_content(path)));
        let from = from.or_else(|| first.and_then(|path| Format::of_name(path)));
        let from = from.or_else(|| to.map(Format::other));
        let Some(from) = from else { usage("the format of the input is not known: say --from") };
        let mut remarks = Remarks::default();
        match (from, self.to.unwrap_or_else(|| from.other())) {
            (Format::Grib2, Format::Tgm) => self.write_tgm(out, &mut remarks),
            (Format::Tgm, Format::Grib2) => self.write_grib(out),
            _ => usage("the input has the wanted format already: `tgm copy` copies messages"),
        }
        remarks.print(out);
        Ok(())
    }
}

/// What differs between input and output.
#[derive(Default)]
struct Remarks {
    /// Fields with a decimal scale, and the greatest bound of their differences.
    scaled: usize,
    bound: f64,
}

impl Remarks {
    /// Counts what all fields may have, and tells the rest at once.
    fn note(&mut self, note: &Note, out: &mut Out) {
        match note {
            Note::DecimalScale { bound, .. } => {
                self.scaled += 1;
                self.bound = self.bound.max(*bound);
            }
            other => out.remark(&other.to_string()),
        }
    }

    fn print(self, out: &mut Out) {
        let Self { scaled, bound } = self;
        if scaled > 0 {
            out.remark(&format!(
                "{scaled} fields have a decimal scale: values may differ by rounding, at most {bound:e}"
            ));
        }
    }
}

impl Convert {
    fn write_tgm(&self, out: &mut Out, remarks: &mut Remarks) {
        self.output.write(out, What::Messages, Reads::Only(&self.paths), |out, sink| {
            self.paths.iter().try_for_each(|path| convert_file(path, out, sink, remarks))
        });
    }

    fn write_grib(&self, out: &mut Out) {
        let (options, mut message) = (DecodeOptions::default(), Vec::new());
        self.output.write(out, What::Messages, Reads::Only(&self.paths), |out, sink| {
            Ok(for_each_message(&self.paths, Which::default(), Wanted::Whole, out, |out, entry| {
                let checked = self.digests.check_bytes(entry.bytes);
                match checked.and_then(|()| from_tensogram_into(entry.bytes, &options, &mut message)) {
                    Ok(not_kept) => {
                        let lost = not_kept.iter();
                        lost.for_each(|key| out.remark(&format!("{}: not kept: {key}", entry.place())));
                        sink.write_all(&message)
                    }
                    Err(error) => {
                        out.report(&entry.place(), &error);
                        Ok(())
                    }
                }
            })?)
        });
    }
}

/// Converts the GRIB messages of one file. What cannot be converted is reported.
fn convert_file(path: &Path, out: &mut Out, sink: &mut dyn Write, remarks: &mut Remarks) -> Result<(), Failure> {
    let name = path.display().to_string();
    let (source, length) = match open(path) {
        Ok(opened) => opened,
        Err(error) => {
            out.problem(&format!("cannot read {name}\n{error}"));
            return Ok(());
        }
    };
    let (mut reader, mut progress) = (MessageReader::new(source), Progress::new(&name, length, out.manner()));
    let (mut index, mut lost) = (0, Lost::default());
    loop {
        match reader.read_next() {
            Ok(Some(Found::Message { offset, bytes })) => {
                lost.report(&name, out);
                match to_tensogram(bytes, &GribOptions::default()) {
                    Ok(converted) => {
                        converted.notes.iter().for_each(|note| remarks.note(note, out));
                        sink.write_all(&converted.message)?;
                    }
                    Err(error) => out.report(&format!("{name}: GRIB message {index} at {offset}"), &error),
                }
                index += 1;
                progress.advance(bytes.len() as u64);
            }
            Ok(Some(Found::Other { offset, length, error })) => {
                lost.add(offset, length, error);
                progress.advance(length);
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => {
                out.problem(&format!("cannot read {name}\n{error}"));
                break;
            }
        }
    }
    lost.report(&name, out);
    Ok(())
}

/// The source, and its bytes if it is a regular file.
fn open(path: &Path) -> io::Result<(Box<dyn Read>, u64)> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), 0));
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((Box::new(file), length))
}

/// Bytes between two messages.
#[derive(Default)]
struct Lost {
    offset: u64,
    length: u64,
    error: Option<GribError>,
}

impl Lost {
    fn add(&mut self, offset: u64, length: u64, error: Option<GribError>) {
        if self.length == 0 {
            self.offset = offset;
        }
        self.length += length;
        self.error = self.error.or(error);
    }

    /// Reports the bytes, if there are any, and forgets them.
    fn report(&mut self, name: &str, out: &mut Out) {
        let Self { offset, length, error } = std::mem::take(self);
        if length == 0 {
            return;
        }
        let cause = error.map_or(String::new(), |error| format!("\n{error}"));
        out.problem(&format!("{name}: {length} bytes at offset {offset} belong to no GRIB message{cause}"));
    }
}
