//! GRIB edition 2 in and out.

use std::io::Write;
use std::path::Path;

use clap::Args;

use tgm_convert::grib2::{Found, GribError, GribOptions, MessageReader, Note, from_tensogram_into, to_tensogram};
use tgm_std::{DecodeOptions, TensogramError};

use super::item::{Item, Sink};
use super::losses::Losses;
use super::source::stream;
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::write::destination::Failure;
use tgm_std::file::SourceName;

/// What becomes of GRIB.
#[derive(Args, Debug)]
pub(super) struct GribFlags {
    /// Keep no PNG and JPEG 2000 data of GRIB beside their values; they return as simple packing, with the same values
    #[arg(long)]
    drop_original: bool,
}

impl GribFlags {
    /// The options of the library. `strict` also checks data that are copied.
    pub(super) fn options(&self, strict: bool) -> GribOptions {
        GribOptions { keep_original: !self.drop_original, check_streams: strict, ..GribOptions::default() }
    }
}

/// Converts the GRIB messages of one file. What cannot be converted is reported.
///
/// # Errors
/// The errors of `sink`.
pub(super) fn read(
    path: &Path,
    options: &GribOptions,
    out: &mut Out,
    losses: &mut Losses,
    sink: &mut Sink<'_>,
) -> Result<(), Failure> {
    let name = SourceName::of(path).to_string();
    let source = match stream(path) {
        Ok(opened) => opened,
        Err(error) => {
            out.problem(&format!("cannot read {name}\n{error}"));
            return Ok(());
        }
    };
    let (mut reader, progress) = (MessageReader::new(source), Share::new(Some(0)));
    let (mut index, mut lost) = (0, Lost::default());
    loop {
        match reader.read_next() {
            Ok(Some(Found::Message { offset, bytes })) => {
                lost.report(&name, out);
                let place = format!("{name}: GRIB message {index} at {offset}");
                match to_tensogram(bytes, options) {
                    Ok(converted) => {
                        converted.notes.iter().try_for_each(|note| tell(note, &place, out, losses))?;
                        sink(out, losses, &place, Item::Message(&converted.message))?;
                    }
                    Err(error) => out.report(&place, &error),
                }
                index += 1;
                progress.come_to(0, index);
            }
            Ok(Some(Found::Other { offset, length, error })) => lost.add(offset, length, error),
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

/// Tells a note: what all fields may have is counted.
fn tell(note: &Note, place: &str, out: &mut Out, losses: &mut Losses) -> Result<(), Failure> {
    match note {
        Note::DecimalScale { bound, .. } => losses.scaled(place, *bound),
        Note::Repacked { .. } => losses.repacked(place),
        other => losses.not_kept(out, place, &other.to_string()),
    }
}

/// The way back to GRIB.
#[derive(Default)]
pub(super) struct GribWriter {
    message: Vec<u8>,
}

impl GribWriter {
    /// Writes the GRIB message of a message. What was not made from GRIB is reported and left out.
    ///
    /// # Errors
    /// The errors of writing, and what is not kept, if that is an error.
    pub(super) fn write(
        &mut self,
        item: &Item<'_>,
        place: &str,
        out: &mut Out,
        losses: &Losses,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let Item::Message(message) = item else {
            out.report(place, &TensogramError::Metadata("arrays cannot become GRIB: it was not made from GRIB".into()));
            return Ok(());
        };
        match from_tensogram_into(message, &DecodeOptions::default(), &mut self.message) {
            Ok(not_kept) => {
                not_kept.iter().try_for_each(|key| losses.not_kept(out, place, key))?;
                sink.write_all(&self.message)?;
            }
            Err(error) => out.report(place, &error),
        }
        Ok(())
    }
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
