//! The output: one file, or several.

use std::io::Write;
use std::path::PathBuf;

use tgm_convert::arrays::Arrays;

use super::Convert;
use super::formats::{Format, Holds};
#[cfg(feature = "grib")]
use super::grib2::GribWriter;
use super::item::Item;
use super::losses::Losses;
use crate::args::files::usage;
use crate::read::pipes;
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, OutputKind, Reads, report};
use crate::write::template::{Distinct, Template, numbered};
use tgm_std::file::SourceName;

/// The key that stands for the number in a name.
const INDEX: &str = "index";
/// The key that stands for the name of an object.
const NAME: &str = "name";
/// Digits of numbers, at least.
const DIGITS: usize = 4;

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
        let ends_as_folder = path.to_str().is_some_and(|text| text.ends_with(std::path::is_separator));
        if path.is_dir() || ends_as_folder {
            return Some(path.join(format!("[{INDEX}].{}", to.suffix())));
        }
        let is_key = |text: &str| [INDEX, NAME].iter().any(|key| text.contains(&format!("[{key}]")));
        path.to_str().filter(|text| is_key(text)).map(PathBuf::from)
    }

    /// Writes one file.
    fn write_file(&self, out: &mut Out, to: Format, losses: &mut Losses) {
        let what = if to.holds() == Holds::Messages { OutputKind::Converted } else { OutputKind::Values };
        self.output.write(out, what, Reads::Only(&self.paths), |out, sink| {
            #[cfg(feature = "grib")]
            let mut grib = GribWriter::default();
            let mut count = 0_usize;
            self.read(to, out, losses, &mut |out, losses, place, item| match (to, item) {
                (Format::Tgm, Item::Message(message)) if self.pipeline.is_empty() => Ok(sink.write_all(message)?),
                (Format::Tgm, Item::Message(message)) => Ok(sink.write_all(&self.restaged(message, place)?)?),
                (Format::Tgm, Item::Arrays(arrays)) => self.write_message(arrays, place, out, losses, sink),
                #[cfg(feature = "grib")]
                (Format::Grib2, item) => grib.write(&item, place, out, losses, sink),
                (_, item) => each_unit(to, out, place, item, |out, first, arrays| {
                    count += 1;
                    if count > 1 {
                        let text = format!(
                            "one file holds one {}: name a folder, or put [{INDEX}] into the name",
                            if to.holds() == Holds::Array { "array" } else { "message" }
                        );
                        return Err(Failure::said(place, text));
                    }
                    self.write_unit(to, out, losses, (place, first), arrays, sink)
                }),
            })?;
            match (what, count) {
                (OutputKind::Values, 0) => Err(std::io::Error::other("there is no array to write").into()),
                _ => Ok(()),
            }
        });
    }

    /// Writes a file for each unit. With `--strict` all are made once before, and written nowhere: a file that is in its place
    /// cannot be taken back.
    fn write_files(&self, out: &mut Out, to: Format, losses: &mut Losses, pattern: &std::path::Path) {
        if losses.is_strict() {
            if self.paths.iter().any(|path| pipes::is_once(path)) {
                usage("--strict reads twice to write several files, and a pipe can be read once: name a file");
            }
            let problems = out.problem_count();
            let tried = self.read(to, out, losses, &mut |out, losses, place, item| {
                each_unit(to, out, place, item, |out, first, arrays| {
                    self.write_unit(to, out, losses, (place, first), arrays, &mut std::io::sink())
                })
            });
            if let Err(failure) = tried.and_then(|()| losses.check(&self.output, out.problem_count() - problems)) {
                report(&self.output, out, failure);
                return;
            }
        }
        let (mut count, mut names) = (0_u64, Distinct::default());
        let done = self.read(to, out, losses, &mut |out, losses, place, item| {
            each_unit(to, out, place, item, |out, first, arrays| {
                let file = match name_of(pattern, count, arrays) {
                    Ok(path) => Destination::File(names.take(path)),
                    Err(failure) => {
                        report(&self.output, out, failure);
                        return Ok(());
                    }
                };
                count += 1;
                file.write(out, OutputKind::Values, Reads::Only(&self.paths), |out, sink| {
                    self.write_unit(to, out, losses, (place, first), arrays, sink)
                });
                Ok(())
            })
        });
        match done {
            Err(failure) => _ = report(&self.output, out, failure),
            Ok(()) if count == 0 => out.problem(&format!("{}: there is no array to write", self.output)),
            Ok(()) => {}
        }
    }

    /// Writes a unit to a file of its own, and tells what is not kept.
    fn write_unit(
        &self,
        to: Format,
        out: &mut Out,
        losses: &Losses,
        (place, first): (&str, usize),
        arrays: &Arrays<'_>,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let not_kept = self.arrays.write(to, arrays, sink).map_err(|error| match error {
            tgm_std::TensogramError::Io(error) => Failure::Output(error),
            other => Failure::At(place.to_string(), other),
        })?;
        losses.list(out, place, first, &not_kept)
    }
}

/// Calls `with` for what goes to one file each, with the number of the first object. What cannot be decoded is reported.
fn each_unit(
    to: Format,
    out: &mut Out,
    place: &str,
    item: Item<'_>,
    mut with: impl FnMut(&mut Out, usize, &Arrays<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Arrays { mut metadata, arrays, not_kept } = match item.into_arrays() {
        Ok(arrays) => arrays,
        Err(error) => {
            out.report(place, &error);
            return Ok(());
        }
    };
    if to.holds() != Holds::Array {
        return with(out, 0, &Arrays { metadata, arrays, not_kept });
    }
    for (index, array) in arrays.into_iter().enumerate() {
        // What is the message's is told once.
        let metadata = std::mem::take(&mut metadata);
        with(out, index, &Arrays { metadata, arrays: vec![array], not_kept: Vec::new() })?;
    }
    Ok(())
}

/// The name of file number `index`.
fn name_of(pattern: &std::path::Path, index: u64, arrays: &Arrays<'_>) -> Result<PathBuf, Failure> {
    let Some(template) = Template::of(pattern).filter(|template| template.has_key_beside(INDEX)) else {
        return Ok(numbered(pattern, INDEX, index, DIGITS));
    };
    let own = arrays.arrays.first().and_then(|array| array.name());
    let value = |key: &str| match key {
        INDEX => Some(format!("{index:0DIGITS$}")),
        NAME => Some(own.map_or_else(|| format!("object_{index}"), str::to_string)),
        _ => None,
    };
    template.fill_with(|key| Ok(value(key))).map_err(Failure::at(SourceName::of(pattern).to_string()))
}
