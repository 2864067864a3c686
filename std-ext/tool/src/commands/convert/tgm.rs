//! Tensogram in and out.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::slice;

use tgm_convert::arrays::{Array, Arrays};
use tgm_std::core::wire::MAGIC;
use tgm_std::{EncodeOptions, TensogramError, decode_descriptors};

use super::Convert;
use super::format::{Format, Reads, Row, Writes, anywhere};
use super::item::{Item, Sink, Taken};
use super::losses::Losses;
use crate::args::object_numbers::ObjectNumbers;
use crate::change::exact::{coordinates, keeps_values};
use crate::change::rewrite::Rewriter;
use crate::read::candidates::Level;
use crate::read::cataloged::Asked;
use crate::read::choice::MessageChoice;
use crate::read::chosen::Chosen;
use crate::read::digests::Digests;
use crate::read::entry::{Entry, Place};
use crate::read::in_order::{Messages, Worked};
use crate::read::input::MessagePart;
use crate::read::select::Selection;
use crate::show::output::Out;
use crate::write::destination::Failure;
use crate::write::template::Appended;

/// The messages of this project.
pub(super) const TGM: Format = Format(&Row {
    suffixes: &["tgm"],
    find: |start| anywhere(start, MAGIC),
    reads: Reads::Messages,
    writes: Writes::Messages(Convert::write_messages),
    ..Row::new("tgm", "Tensogram")
});

/// Messages with more bytes of values are streamed to the output, so that they need no second copy in memory.
const STREAMED: u64 = 64 << 20;

/// Hands the messages of a file to `sink`. Messages with a wrong digest are reported and left out.
///
/// # Errors
/// The errors of `sink`.
pub(super) fn read<M: Send>(
    path: &PathBuf,
    (selection, digests, threads): (&Selection, Digests, usize),
    out: &mut Out,
    losses: &mut Losses,
    sink: &mut Sink<'_, '_, '_, M>,
) -> Result<(), Failure> {
    let (paths, asked) = (slice::from_ref(path), Asked::new(MessageChoice::default(), selection, Level::Messages));
    let messages = Messages { paths, asked, wanted: MessagePart::Whole, threads };
    let make = sink.make;
    let work = |threads: &mut u32, entry: &Entry<'_>| {
        digests.check_bytes(entry.bytes)?;
        let place = entry.place();
        Ok::<_, TensogramError>(make(Item {
            place: &place,
            message: entry.bytes.into(),
            number: entry.index,
            offset: entry.offset,
            threads: *threads,
        }))
    };
    let mut stopped = None;
    let done = messages.for_each(
        out,
        |means| means.threads,
        work,
        |out, worked| {
            let Worked::Message(entry, result) = worked else { return Ok(()) };
            match result {
                Ok(item) => (sink.take)(out, losses, &entry.place(), Taken::Made(item)).map_err(|failure| {
                    stopped = Some(failure);
                    io::Error::other("not written")
                }),
                Err(error) => {
                    out.report(&entry.place(), &error);
                    Ok(())
                }
            }
        },
    );
    match (stopped, done) {
        (Some(failure), _) => Err(failure),
        (None, done) => Ok(done?),
    }
}

impl Convert {
    /// Writes the messages of all that is read.
    ///
    /// # Errors
    /// The errors of encoding and writing.
    pub(super) fn write_messages(
        &self,
        out: &mut Out,
        losses: &mut Losses,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let make = |item: Item<'_>| self.restaged(item);
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| match taken {
            Taken::Made(message) => {
                let message: Vec<u8> = message?;
                Ok(sink.write_all(&message)?)
            }
            Taken::Arrays(arrays) => self.write_message(arrays, place, out, losses, sink),
        };
        self.read(TGM, out, losses, Sink { make: &make, take: &mut take })
    }

    /// Adds the messages of all that is read to a file.
    ///
    /// # Errors
    /// The errors of encoding and writing.
    pub(super) fn append_messages(&self, path: &Path, out: &mut Out, losses: &mut Losses) -> Result<(), Failure> {
        let (mut appended, mut is_empty) = (Appended::default(), true);
        let make = |item: Item<'_>| self.restaged(item);
        let mut take = |out: &mut Out, losses: &mut Losses, place: &str, taken: Taken<'_, _>| {
            let mut message = Vec::new();
            match taken {
                Taken::Made(encoded) => message = encoded?,
                Taken::Arrays(arrays) => self.write_message(arrays, place, out, losses, &mut message)?,
            }
            is_empty = false;
            appended.append(path, &message, false).map_err(Failure::at(path.display().to_string()))
        };
        self.read(TGM, out, losses, Sink { make: &make, take: &mut take })?;
        if is_empty { Err(io::Error::other("there is no message to write").into()) } else { Ok(()) }
    }

    /// Writes a message that holds the arrays, with the stages that the flags name.
    ///
    /// # Errors
    /// The errors of encoding and writing.
    fn write_message(
        &self,
        arrays: Arrays<'_>,
        place: &str,
        out: &mut Out,
        losses: &Losses,
        sink: &mut dyn Write,
    ) -> Result<(), Failure> {
        let options = self.encode.options_with_masks();
        if options.allow_nan || options.allow_inf {
            losses.list(out, place, 0, &arrays.not_kept_by_masks())?;
        }
        let len: u64 = arrays.arrays.iter().map(|array| array.values.len() as u64).sum();
        let staged = self
            .staged(arrays, &options)
            .map_err(|(object, error)| Failure::At(format!("{place}, object {object}"), error))?;
        if len <= STREAMED {
            let message = staged.encode(&options).map_err(Failure::at(place))?;
            return Ok(sink.write_all(&message)?);
        }
        staged.write_to(sink, &options).map_err(Failure::at(place))?;
        Ok(())
    }

    /// The message with the stages of the flags. Stages without a flag stay, as of `repack`.
    ///
    /// # Errors
    /// The errors of decoding and encoding.
    fn restaged(&self, Item { place, message, threads, .. }: Item<'_>) -> Result<Vec<u8>, Failure> {
        if self.pipeline.is_empty() {
            return Ok(message.into_owned());
        }
        let chosen = Chosen { digests: Digests::ignored(true), ..Chosen::default() };
        let objects = ObjectNumbers::default();
        let rewriter = Rewriter {
            pipeline: &self.pipeline,
            encode: &self.encode,
            chosen: &chosen,
            objects: &objects,
            verify: false,
            decode_all: false,
            descriptor_first: false,
            skip_unsuitable: false,
        };
        let made = Place { index: 0, offset: 0, length: message.len() as u64 };
        let coordinates =
            decode_descriptors(&message).map_or_else(|_| BTreeSet::new(), |(all, _)| coordinates(&all.base));
        let (message, _) = rewriter.message(&Entry::new(place, made, &message), true, &coordinates, threads)?;
        Ok(message.into_owned())
    }

    /// The arrays with the stages of the flags.
    fn staged<'a>(
        &self,
        mut arrays: Arrays<'a>,
        options: &EncodeOptions,
    ) -> Result<Arrays<'a>, (usize, TensogramError)> {
        if self.pipeline.is_empty() {
            return Ok(arrays);
        }
        let coordinates = coordinates(arrays.arrays.iter().map(|array| &array.metadata));
        for (index, array) in arrays.arrays.iter_mut().enumerate() {
            let Array { descriptor, values, metadata, .. } = array;
            let is_exact = keeps_values(descriptor.dtype, Some(metadata), &coordinates);
            let values_before = std::mem::replace(values, Cow::Borrowed(&[]));
            let staged = self.pipeline.apply_to(is_exact, descriptor.clone(), values_before, options);
            (*descriptor, *values) = staged.map_err(|error| (index, error))?;
        }
        Ok(arrays)
    }
}
