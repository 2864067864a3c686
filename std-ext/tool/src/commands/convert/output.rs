//! The output: one file, or several.

use std::io::{self, Write};
use std::path::PathBuf;

use tgm_convert::arrays::{Arrays, Joined, NotKept};
use tgm_std::TensogramError;

use super::Convert;
use super::format::{Format, Holds, Writes};
use super::item::{Item, Sink, Taken};
use super::losses::Losses;
use crate::args::files::usage;
use crate::read::pipes;
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, OutputKind, Reads, report};
use crate::write::template::{Distinct, Template, ends_as_folder, numbered};
use tgm_std::file::SourceName;

/// The key that stands for the number in a name.
const INDEX: &str = "index";
/// The key that stands for the name of an object.
const NAME: &str = "name";
/// Digits of numbers, at least.
const DIGITS: usize = 4;

/// What is done with that which goes to one file.
type WithUnit<'w> = dyn FnMut(&mut Out, &Losses, &str, Unit<'_>) -> Result<(), Failure> + 'w;

impl Convert {
    /// Writes everything that is read.
    pub(super) fn write(&self, out: &mut Out, to: Format, losses: &mut Losses) {
        match self.pattern(to) {
            Some(pattern) => self.write_files(out, to, losses, &pattern),
            None => self.write_file(out, to, losses),
        }
    }

    /// The pattern for names of several files, if there is one.
    fn pattern(&self, to: Format) -> Option<PathBuf> {
        let path = self.output.path().filter(|_| to.holds() != Holds::Messages)?;
        if path.is_dir() || ends_as_folder(path) {
            return Some(path.join(format!("[{INDEX}].{}", to.suffix())));
        }
        let is_key = |text: &str| [INDEX, NAME].iter().any(|key| text.contains(&format!("[{key}]")));
        path.to_str().filter(|text| is_key(text)).map(PathBuf::from)
    }

    /// Writes one file.
    fn write_file(&self, out: &mut Out, to: Format, losses: &mut Losses) {
        let what = if to.holds() == Holds::Messages { OutputKind::Converted } else { OutputKind::Values };
        if let (true, Some(path)) = (self.append, self.output.path()) {
            if self.output.prepare(out, what, Reads::Only(&self.paths))
                && let Err(failure) = self.append_messages(path, out, losses)
            {
                report(&self.output, out, failure);
            }
            return;
        }
        self.output.write(out, what, Reads::Only(&self.paths), |out, sink| match to.0.writes {
            Writes::Messages(write) => write(self, out, losses, sink),
            _ if to.holds() == Holds::Message => self.write_joined(to, out, losses, sink),
            _ => self.write_one_unit(to, out, losses, sink),
        });
    }

    /// Writes the arrays of all messages to one file.
    fn write_joined(
        &self,
        to: Format,
        out: &mut Out,
        losses: &mut Losses,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (mut joined, mut is_written) = (Joined::default(), false);
        let make = |item: Item<'_>| item.arrays().map(Arrays::into_owned);
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| {
            if is_written {
                return Err(Failure::said(place, "the file has its only message already"));
            }
            let lost = match taken {
                Taken::Made(Ok(arrays)) => joined.add(place, arrays),
                Taken::Made(Err(error)) => {
                    let error: TensogramError = error;
                    out.report(place, &error);
                    return Ok(());
                }
                // The only file, which is one message: its values need no copy.
                Taken::Arrays(arrays) if self.paths.len() == 1 && joined.message_count() == 0 => {
                    is_written = true;
                    return self.write_unit(to, out, losses, place, Unit::new(0, arrays), sink);
                }
                Taken::Arrays(arrays) => joined.add(place, Arrays { not_kept: Vec::new(), ..arrays }),
            };
            losses.list(out, place, 0, &lost)
        };
        self.read(to, out, losses, Sink { make: &make, take: &mut take })?;
        if is_written {
            return Ok(());
        }
        let first = joined.place_of(0).ok_or_else(|| io::Error::other("there is no array to write"))?;
        let place = if joined.message_count() == 1 { first.0.to_string() } else { self.output.to_string() };
        let is_many = joined.message_count() > 1;
        let written = to.write_arrays(self, joined.arrays(), sink).map_err(|error| match error {
            error if is_many && !matches!(error, TensogramError::Io(_)) => {
                Failure::said(&place, format!("{error}: name a folder, or put [{INDEX}] into the name"))
            }
            error => failure_at(&place)(error),
        });
        written?.into_iter().try_for_each(|note| match note.object.and_then(|object| joined.place_of(object)) {
            Some((place, object)) => losses.list(out, place, 0, &[NotKept { object: Some(object), ..note }]),
            None => losses.list(out, &place, 0, &[note]),
        })
    }

    /// Writes the only unit that there is.
    fn write_one_unit(
        &self,
        to: Format,
        out: &mut Out,
        losses: &mut Losses,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut count = 0_usize;
        self.read_units(to, out, losses, &mut |out, losses, place, unit| {
            count += 1;
            if count > 1 {
                let text = format!("one file holds one array: name a folder, or put [{INDEX}] into the name");
                return Err(Failure::said(place, text));
            }
            self.write_unit(to, out, losses, place, unit, sink)
        })?;
        if count == 0 { Err(io::Error::other("there is no array to write").into()) } else { Ok(()) }
    }

    /// Writes a file for each unit. With `--strict` all are made once before, and written nowhere: a file that is in its place
    /// cannot be taken back.
    fn write_files(&self, out: &mut Out, to: Format, losses: &mut Losses, pattern: &std::path::Path) {
        if losses.is_strict() {
            if self.paths.iter().any(|path| pipes::is_once(path)) {
                usage("--strict reads twice to write several files, and a pipe can be read once: name a file");
            }
            let problems = out.problem_count();
            let tried = self.read_units(to, out, losses, &mut |out, losses, place, unit| {
                self.write_unit(to, out, losses, place, unit, &mut io::sink())
            });
            if let Err(failure) = tried.and_then(|()| losses.check(&self.output, out.problem_count() - problems)) {
                report(&self.output, out, failure);
                return;
            }
        }
        let (mut count, mut names) = (0_u64, Distinct::default());
        let done = self.read_units(to, out, losses, &mut |out, losses, place, unit| {
            let file = match name_of(pattern, count, unit.name.as_deref()) {
                Ok(path) => Destination::File(names.take(path)),
                Err(failure) => {
                    report(&self.output, out, failure);
                    return Ok(());
                }
            };
            count += 1;
            file.write(out, OutputKind::Values, Reads::Only(&self.paths), |out, sink| {
                self.write_unit(to, out, losses, place, unit, sink)
            });
            Ok(())
        });
        match done {
            Err(failure) => _ = report(&self.output, out, failure),
            Ok(()) if count == 0 => out.problem(&format!("{}: there is no array to write", self.output)),
            Ok(()) => {}
        }
    }

    /// Reads all files, and calls `with` for what goes to one file each. What cannot be decoded is reported.
    fn read_units(
        &self,
        to: Format,
        out: &mut Out,
        losses: &mut Losses,
        with: &mut WithUnit<'_>,
    ) -> Result<(), Failure> {
        let make = |item: Item<'_>| {
            let units = units(to, item.arrays()?).into_iter();
            Ok(units.map(|unit| unit.formed(to, self)).collect())
        };
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| {
            let units: Vec<Unit<'_>> = match taken {
                Taken::Made(Ok(units)) => units,
                Taken::Made(Err(error)) => {
                    let error: TensogramError = error;
                    out.report(place, &error);
                    return Ok(());
                }
                Taken::Arrays(arrays) => units(to, arrays),
            };
            units.into_iter().try_for_each(|unit| with(out, losses, place, unit))
        };
        self.read(to, out, losses, Sink { make: &make, take: &mut take })
    }

    /// Writes a unit to a file of its own, and says what is not kept.
    fn write_unit(
        &self,
        to: Format,
        out: &mut Out,
        losses: &Losses,
        place: &str,
        unit: Unit<'_>,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let written = match unit.content {
            Content::Formed(bytes, not_kept) => Ok(sink.write_all(&bytes).map(|()| not_kept)?),
            Content::Failed(error) => Err(error),
            Content::Arrays(arrays) => to.write_arrays(self, &arrays, sink),
        };
        let not_kept = written.map_err(failure_at(place))?;
        losses.list(out, place, unit.first, &not_kept)
    }
}

/// The failure of writing arrays: of the output, or of the arrays at `place`.
fn failure_at(place: &str) -> impl FnOnce(TensogramError) -> Failure {
    move |error| match error {
        TensogramError::Io(error) => Failure::Output(error),
        other => Failure::At(place.to_string(), other),
    }
}

/// Units with more bytes of values are formed where they are written, so that they need no second copy in memory.
const FORMED: usize = 16 << 20;

/// What goes to one file.
struct Unit<'a> {
    /// The number of its first object in the message.
    first: usize,
    /// The name of its first array.
    name: Option<String>,
    content: Content<'a>,
}

enum Content<'a> {
    Arrays(Arrays<'a>),
    /// The bytes of the file, and what they lack.
    Formed(Vec<u8>, Vec<NotKept>),
    Failed(TensogramError),
}

/// What goes to one file each.
fn units(to: Format, arrays: Arrays<'_>) -> Vec<Unit<'_>> {
    if to.holds() != Holds::Array {
        return vec![Unit::new(0, arrays)];
    }
    let Arrays { mut metadata, arrays, .. } = arrays;
    let unit = |(index, array)| {
        // What is the message's is said once.
        let metadata = std::mem::take(&mut metadata);
        Unit::new(index, Arrays { metadata, arrays: vec![array], not_kept: Vec::new() })
    };
    arrays.into_iter().enumerate().map(unit).collect()
}

impl<'a> Unit<'a> {
    fn new(first: usize, arrays: Arrays<'a>) -> Self {
        let name = arrays.arrays.first().and_then(|array| array.name()).map(str::to_string);
        Self { first, name, content: Content::Arrays(arrays) }
    }

    /// The unit as the bytes of its file, unless they are many.
    fn formed(self, to: Format, convert: &Convert) -> Unit<'static> {
        let content = match self.content {
            Content::Arrays(arrays) if arrays.arrays.iter().map(|array| array.values.len()).sum::<usize>() > FORMED => {
                Content::Arrays(arrays.into_owned())
            }
            Content::Arrays(arrays) => {
                let mut bytes = Vec::new();
                match to.write_arrays(convert, &arrays, &mut bytes) {
                    Ok(not_kept) => Content::Formed(bytes, not_kept),
                    Err(error) => Content::Failed(error),
                }
            }
            Content::Formed(bytes, not_kept) => Content::Formed(bytes, not_kept),
            Content::Failed(error) => Content::Failed(error),
        };
        Unit { first: self.first, name: self.name, content }
    }
}

/// The name of file number `index`.
fn name_of(pattern: &std::path::Path, index: u64, own: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(template) = Template::of(pattern).filter(|template| template.has_key_beside(INDEX)) else {
        return Ok(numbered(pattern, INDEX, index, DIGITS));
    };
    let value = |key: &str| match key {
        INDEX => Some(format!("{index:0DIGITS$}")),
        NAME => Some(own.map_or_else(|| format!("object_{index}"), str::to_string)),
        _ => None,
    };
    template.fill_with(|key| Ok(value(key))).map_err(Failure::at(SourceName::of(pattern).to_string()))
}
