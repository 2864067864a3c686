//! GRIB in and out.

use std::io::{self, Read, Write};
use std::path::Path;

use clap::{Args, ValueEnum};

use tgm_convert::grib2::{
    Converted, Found, GribError, GribKeys, GribOptions, MessageReader, Note, Restored, from_tensogram, to_tensogram,
};
use tgm_std::{DecodeOptions, TensogramError};

use super::Convert;
use super::effects::Effect;
use super::format::{Format, Reads, Row, Writes, anywhere};
use super::item::{Item, Sink, Taken};
use super::losses::Losses;
use super::source::stream;
use crate::args::RARE;
use crate::read::entry::MessageNumber;
use crate::read::in_order::in_order;
use crate::read::threads::AHEAD;
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use crate::write::destination::Failure;
use crate::write::endings::GRIB;
use tgm_std::file::SourceName;

/// GRIB.
pub(super) const GRIB2: Format = Format(&Row {
    alias: Some("grib"),
    suffixes: GRIB,
    find: |start| anywhere(start, b"GRIB"),
    is_usual: true,
    of_messages: Some("GRIB is written of messages that were made from GRIB, and this input is of another format"),
    reads: Reads::Grib,
    writes: Writes::Messages(Convert::write_grib),
    ..Row::new("grib2", "GRIB, editions 1 and 2")
});

/// Bytes of messages that a thread takes at once, and the bytes that the smallest message counts as.
const TOGETHER: usize = 256 << 10;
const LEAST: usize = 4 << 10;

/// What becomes of GRIB.
#[derive(Args, Debug)]
pub(super) struct GribFlags {
    /// Keep no PNG and JPEG 2000 data of GRIB beside their values; they return as simple packing, with the same values
    #[arg(long, help_heading = RARE)]
    drop_original: bool,
    /// GRIB data in simple packing stay as they are, instead of becoming a stream of szip where that is shorter
    #[arg(long, help_heading = RARE)]
    keep_stages: bool,
    /// The keys that each field of GRIB gets: all numbers of its sections, or the few that tell fields apart; the others stand in
    /// the sections, which are kept
    #[arg(long, help_heading = RARE, value_name = "WHICH", default_value = "all")]
    grib_keys: Which,
}

/// Which keys a field gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    All,
    Few,
}

impl GribFlags {
    /// What the flags have an effect on.
    pub(super) fn effects(&self) -> [Effect; 3] {
        let of = |option, is_given| Effect::of_reading(option, is_given, |from| from == GRIB2);
        [
            of("--drop-original", self.drop_original),
            of("--keep-stages", self.keep_stages),
            of("--grib-keys", self.grib_keys == Which::Few),
        ]
    }

    /// The options of the library. `strict` also checks data that are copied.
    pub(super) fn options(&self, strict: bool) -> GribOptions {
        let keys = if self.grib_keys == Which::Few { GribKeys::Few } else { GribKeys::All };
        GribOptions {
            keep_original: !self.drop_original,
            keep_stages: self.keep_stages,
            check_streams: strict,
            keys,
            ..GribOptions::default()
        }
    }
}

/// Converts the GRIB messages of one file. What cannot be converted is reported.
///
/// # Errors
/// The errors of `sink`.
pub(super) fn read<M: Send>(
    path: &Path,
    (options, threads): (&GribOptions, usize),
    out: &mut Out,
    losses: &mut Losses,
    sink: &mut Sink<'_, '_, '_, M>,
) -> Result<(), Failure> {
    let name = SourceName::of(path).to_string();
    let source = match stream(path) {
        Ok(opened) => opened,
        Err(error) => {
            out.problem(&format!("cannot read {name}\n{error}"));
            return Ok(());
        }
    };
    let (mut lost, progress) = (Lost::default(), Share::new(Some(0)));
    let make = sink.make;
    let work = |(): &mut (), pieces: Vec<Piece>| -> Vec<Done<M>> {
        let done = |piece| match piece {
            Piece::Message { index, offset, bytes } => {
                let place = format!("{name}: GRIB message {index} at {offset}");
                let result = to_tensogram(&bytes, options).map(|Converted { message, notes }| {
                    (
                        notes,
                        make(Item {
                            place: &place,
                            message: message.into(),
                            number: MessageNumber(None),
                            offset: 0,
                            threads: 1,
                        }),
                    )
                });
                Done::Message { index, place, result }
            }
            Piece::Lost { offset, length, error } => Done::Lost { offset, length, error },
            Piece::Failed(error) => Done::Failed(error),
        };
        pieces.into_iter().map(done).collect()
    };
    in_order(
        (threads, AHEAD),
        Pieces { reader: MessageReader::new(source), index: 0, is_done: false },
        || (),
        work,
        |done| {
            done.into_iter().try_for_each(|done| {
                match done {
                    Done::Message { index, place, result } => {
                        lost.report(&name, out);
                        match result {
                            Ok((notes, item)) => {
                                notes.iter().try_for_each(|note| tell(note, &place, out, losses))?;
                                (sink.take)(out, losses, &place, Taken::Made(item))?;
                            }
                            Err(error) => out.report(&place, &error),
                        }
                        progress.come_to(0, index + 1);
                    }
                    Done::Lost { offset, length, error } => lost.add(offset, length, error),
                    Done::Failed(error) => out.problem(&format!("cannot read {name}\n{error}")),
                }
                Ok::<_, Failure>(())
            })
        },
    )?;
    lost.report(&name, out);
    Ok(())
}

/// What a source holds, apart from it.
enum Piece {
    Message { index: usize, offset: u64, bytes: Vec<u8> },
    Lost { offset: u64, length: u64, error: Option<GribError> },
    Failed(io::Error),
}

/// What became of a piece.
enum Done<M> {
    Message { index: usize, place: String, result: Result<(Vec<Note>, M), TensogramError> },
    Lost { offset: u64, length: u64, error: Option<GribError> },
    Failed(io::Error),
}

/// The pieces of a source. Small ones come together.
struct Pieces<R> {
    reader: MessageReader<R>,
    /// The number of the next message.
    index: usize,
    is_done: bool,
}

impl<R: Read> Iterator for Pieces<R> {
    type Item = Vec<Piece>;

    fn next(&mut self) -> Option<Vec<Piece>> {
        let (mut pieces, mut len) = (Vec::new(), 0);
        while !self.is_done && len < TOGETHER {
            match self.reader.read_next() {
                Ok(Some(Found::Message { offset, bytes })) => {
                    len += bytes.len().max(LEAST);
                    pieces.push(Piece::Message { index: self.index, offset, bytes: bytes.to_vec() });
                    self.index += 1;
                }
                Ok(Some(Found::Other { offset, length, error })) => pieces.push(Piece::Lost { offset, length, error }),
                Ok(Some(_)) => {}
                Ok(None) => self.is_done = true,
                Err(error) => {
                    self.is_done = true;
                    pieces.push(Piece::Failed(error));
                }
            }
        }
        (!pieces.is_empty()).then_some(pieces)
    }
}

/// Tells a note: what all fields may have is counted.
fn tell(note: &Note, place: &str, out: &mut Out, losses: &mut Losses) -> Result<(), Failure> {
    match note {
        Note::DecimalScale { bound, .. } => losses.scaled(place, *bound),
        Note::Repacked { .. } => losses.repacked(place),
        other => losses.not_kept(out, place, &other.to_string()),
    }
}

impl Convert {
    /// Writes the GRIB messages of all messages. What was not made from GRIB is reported and left out.
    ///
    /// # Errors
    /// The errors of writing, and what is not kept, if that is an error.
    pub(super) fn write_grib(&self, out: &mut Out, losses: &mut Losses, sink: &mut dyn Write) -> Result<(), Failure> {
        let make = |item: Item<'_>| from_tensogram(&item.message, &DecodeOptions::default());
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| {
            let restored = match taken {
                Taken::Made(restored) => restored,
                Taken::Arrays(_) => {
                    Err(TensogramError::Metadata("arrays cannot become GRIB: it was not made from GRIB".into()))
                }
            };
            match restored {
                Ok(Restored { message, not_kept }) => {
                    not_kept.iter().try_for_each(|key| losses.not_kept(out, place, key))?;
                    sink.write_all(&message)?;
                }
                Err(error) => out.report(place, &error),
            }
            Ok(())
        };
        self.read(GRIB2, out, losses, Sink { make: &make, take: &mut take })
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
