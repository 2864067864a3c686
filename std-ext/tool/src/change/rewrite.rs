//! Messages encoded again: some objects get other stages, the others are copied.
//!
//! Digests are checked first. The new message gets new digests, which must not cover damaged bytes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use ciborium::Value;
use tgm_core::Message;
use tgm_core::descriptor::{Dtype, Encoding, Key};
use tgm_core::object::DataObject;
use tgm_dataset::reading::Reading;
use tgm_std::codec::threads::Threads;
use tgm_std::encode::{Part, PartError, encode_parts};
use tgm_std::pipeline::encode_pipeline;
use tgm_std::{DataObjectDescriptor, DecodeOptions, EncodeOptions, TensogramError, decode_descriptors, read};

use crate::args::encode_flags::EncodeFlags;
use crate::args::object_numbers::ObjectNumbers;
use crate::args::pipeline_flags::{PipelineFlags, is_lossy};
use crate::change::edit::without_reserved;
use crate::change::exact::{coordinates, keeps_values};
use crate::read::chosen::Chosen;
use crate::read::differ::{Tolerance, differences};
use crate::read::elements::Elements;
use crate::read::entry::Entry;
use crate::read::input::{Input, MessagePart};
use crate::read::lost;
use crate::read::objects::{find, no_object};
use crate::read::resting::Resting;
use crate::read::structure::Structure;
use crate::read::threads::{shared, thread_count};
use crate::read::values::as_stored;
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, OutputKind, Reads, report};
use tgm_std::file::SourceName;

/// Instructions for encoding messages again.
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct Rewriter<'a> {
    /// The stages for objects that are encoded.
    pub(crate) pipeline: &'a PipelineFlags,
    /// How objects and messages are encoded.
    pub(crate) encode: &'a EncodeFlags,
    /// The messages to encode, of which `-w` selects objects. Others are copied.
    pub(crate) chosen: &'a Chosen,
    /// Numbers of the objects to encode.
    pub(crate) objects: &'a ObjectNumbers,
    /// Whether encoded objects are decoded again and compared.
    pub(crate) verify: bool,
    /// Whether copied objects must decode.
    pub(crate) decode_all: bool,
    /// Whether descriptors come before payloads.
    pub(crate) descriptor_first: bool,
    /// Whether objects that cannot have the stages are copied.
    pub(crate) skip_unsuitable: bool,
}

/// Counts over messages that were encoded again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) messages: u64,
    pub(crate) objects: u64,
    /// Objects that were encoded.
    pub(crate) encoded: u64,
    /// Bytes before and after.
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// The greatest difference between old and new values.
    pub(crate) greatest_error: f64,
    /// Objects that cannot have the stages: where, and why.
    pub(crate) unsuitable: Vec<String>,
}

impl Tally {
    /// Adds the counts of other messages.
    pub(crate) fn add(&mut self, other: Self) {
        self.messages += other.messages;
        self.objects += other.objects;
        self.encoded += other.encoded;
        self.before += other.before;
        self.after += other.after;
        self.greatest_error = self.greatest_error.max(other.greatest_error);
        self.unsuitable.extend(other.unsuitable);
    }
}

/// Looks at files that must consist of messages only. Bytes that belong to no message are an error.
///
/// # Errors
/// For a file that cannot be read, and for such bytes.
fn open_whole(paths: &[PathBuf]) -> Result<Vec<Resting>, Failure> {
    paths.iter().map(|path| open_one(path).map(|input| Resting::new(path, input))).collect()
}

fn open_one(path: &Path) -> Result<Input, Failure> {
    let input =
        Input::open(path).map_err(|error| Failure::At(format!("cannot read {}", SourceName::of(path)), error))?;
    let stray = input.segments().iter().find(|segment| !segment.is_message());
    match stray {
        None => Ok(input),
        Some(stray) => {
            let text = format!("{}: they would be lost", lost::describe(&input, stray));
            Err(Failure::At(input.name().to_string(), TensogramError::Framing(text.into())))
        }
    }
}

/// An object that is ready to be written.
enum Prepared<'f> {
    Kept(DataObjectDescriptor, &'f [u8]),
    Encoded(DataObjectDescriptor, Cow<'f, [u8]>, EncodeOptions),
    /// Encoded beside other objects: the descriptor and the values before, which are compared, and what became of them.
    Made((DataObjectDescriptor, Cow<'f, [u8]>), Box<(DataObjectDescriptor, Vec<u8>)>),
}

/// The error of an object that is to be encoded.
struct Unfit {
    error: TensogramError,
    /// Whether the object is sound and only cannot have the stages.
    is_of_stages: bool,
}

impl Prepared<'_> {
    /// The object, unless a scale beside its integers, which were of type `before`, says what they mean and they are floats now.
    fn keeps_meaning(self, before: Dtype, about: Option<&BTreeMap<String, Value>>) -> Result<Self, Unfit> {
        let is_other = matches!(&self, Self::Encoded(staged, ..) if staged.dtype != before);
        if !is_other || about.and_then(|about| Reading::of_entry(before, about)).is_none() {
            return Ok(self);
        }
        let text = "scale_factor and add_offset say what its integers mean, and float64 would lose that: \
                    `tgm convert` to another format gives the values";
        Err(Unfit { error: TensogramError::Encoding(text.into()), is_of_stages: true })
    }
}

impl<E: Into<TensogramError>> From<E> for Unfit {
    fn from(error: E) -> Self {
        Self { error: error.into(), is_of_stages: false }
    }
}

/// Object `index` of a message as it is there.
fn kept<'f>(entry: &Entry<'f>, index: usize) -> Result<Prepared<'f>, TensogramError> {
    let object = find(&Message::parse(entry.bytes)?, index)?;
    let (_, descriptors) = decode_descriptors(entry.bytes)?;
    let descriptor = descriptors.into_iter().nth(index).ok_or_else(|| no_object(index))?;
    Ok(Prepared::Kept(with_present_names(&object, descriptor)?, object.region()))
}

impl Prepared<'_> {
    fn part(&self) -> Part<'_> {
        match self {
            Self::Kept(descriptor, region) => Part::Region(descriptor, region),
            Self::Encoded(descriptor, data, options) => Part::Values(descriptor, data, options),
            Self::Made(_, made) => Part::Region(&made.0, &made.1),
        }
    }

    /// Encodes it now, on this thread, as [`encode_parts`] encodes one of several objects. Its values stay if they are
    /// `compared`.
    fn made(self, compared: bool) -> Result<Self, Unfit> {
        let Self::Encoded(descriptor, data, options) = self else { return Ok(self) };
        // Codecs have one thread there too, however few bytes the object has.
        let options = EncodeOptions { threads: options.threads.min(1), parallel_threshold_bytes: Some(0), ..options };
        let made = encode_pipeline(&descriptor, &data, &options);
        let made = made.map_err(|error| Unfit { error, is_of_stages: true })?;
        Ok(Self::Made((descriptor, if compared { data } else { Cow::Borrowed(&[]) }), Box::new(made)))
    }

    /// The descriptor and the values that it is encoded from.
    fn source(&self) -> Option<(&DataObjectDescriptor, &[u8])> {
        match self {
            Self::Kept(..) => None,
            Self::Encoded(descriptor, data, _) | Self::Made((descriptor, data), _) => Some((descriptor, data)),
        }
    }
}

impl Rewriter<'_> {
    /// Encodes all messages of files again and writes them, or nothing if there is no `output`. `told` gets the name of each file and
    /// its counts. Returns whether all went well; what did not is reported.
    pub(crate) fn write(
        &self,
        paths: &[PathBuf],
        output: Option<&Destination>,
        out: &mut Out,
        mut told: impl FnMut(&str, Tally),
    ) -> bool {
        let mut produce = |sink: &mut dyn io::Write, inputs: Vec<Resting>| {
            inputs.into_iter().try_for_each(|input| {
                let name = input.name().to_string();
                let input = input.wake().map_err(Failure::at(name))?;
                told(input.name(), self.file(&input, |bytes| Ok(sink.write_all(bytes)?))?);
                Ok(())
            })
        };
        let done = match (open_whole(paths), output) {
            (Ok(inputs), Some(output)) => {
                let reads = Reads::AndReplaces(paths);
                return output.write(out, OutputKind::Messages, reads, |_, sink| produce(sink, inputs));
            }
            (Ok(inputs), None) => produce(&mut io::sink(), inputs),
            (Err(failure), _) => Err(failure),
        };
        done.map_or_else(|failure| report(output.unwrap_or(&Destination::Stdout), out, failure), |()| true)
    }

    /// Encodes all messages of a file again, and hands each to `sink`.
    ///
    /// # Errors
    /// The first error, with its place.
    fn file(&self, input: &Input, mut sink: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        let numbers = self.chosen.choice.find(input).map_err(|text| Failure::said(input.name(), text))?;
        let (messages, threads) = shared(thread_count(self.encode.threads()), input.message_count());
        let coordinates = self.coordinates(input, messages)?;
        let work = |(): &mut (), entry: &Entry<'_>| {
            let is_meant = entry.index.0.is_some_and(|index| numbers.contains(&index));
            let message = self.message(entry, is_meant, &coordinates, threads);
            message.map(|(bytes, tally)| (bytes.into_owned(), tally))
        };
        input.in_order(
            (input.all(), MessagePart::Whole, messages),
            || (),
            work,
            |place, done| {
                let done = done.map_err(Failure::at(format!("{}: message {}", input.name(), place.index)))?;
                let (bytes, of_message) = done?;
                sink(&bytes)?;
                tally.add(of_message);
                Ok::<_, Failure>(())
            },
        )?;
        Ok(tally)
    }

    /// The names of coordinates in a file, if lossy stages must know them: a message of one variable does not say which others
    /// name it.
    fn coordinates(&self, input: &Input, threads: usize) -> Result<BTreeSet<String>, Failure> {
        let mut names = BTreeSet::new();
        if self.are_chosen() || !self.pipeline.is_lossy() {
            return Ok(names);
        }
        // What cannot be read is an error when it is encoded.
        let of_message = |(): &mut (), entry: &Entry<'_>| {
            decode_descriptors(entry.bytes).map_or_else(|_| BTreeSet::new(), |(all, _)| coordinates(&all.base))
        };
        input.in_order(
            (input.all(), MessagePart::Outline, threads),
            || (),
            of_message,
            |_, found| {
                names.extend(found.unwrap_or_default());
                Ok::<_, Failure>(())
            },
        )?;
        Ok(names)
    }

    /// Whether flags name objects.
    fn are_chosen(&self) -> bool {
        !self.objects.numbers().is_empty() || !self.chosen.selection.is_empty()
    }

    /// The message anew, if it is meant. Coordinates have these names. So many threads work on its objects.
    ///
    /// # Errors
    /// The first error, with its place.
    pub(crate) fn message<'f>(
        &self,
        entry: &Entry<'f>,
        is_meant: bool,
        coordinates: &BTreeSet<String>,
        threads: u32,
    ) -> Result<(Cow<'f, [u8]>, Tally), Failure> {
        let at = || Failure::at(entry.place());
        let (metadata, descriptors) = decode_descriptors(entry.bytes).map_err(at())?;
        let message = Message::parse(entry.bytes).map_err(Failure::at(entry.place()))?;
        self.chosen.digests.check_all(&message).map_err(Failure::of_hash(entry))?;
        if !self.chosen.digests.are_ignored() {
            // What is anew would hide what was wrong.
            message.verify_contents().map_err(Failure::at(entry.place()))?;
        }
        let is_wanted =
            if is_meant { self.select(&message, entry).map_err(at())? } else { vec![false; descriptors.len()] };
        let mut tally =
            Tally { messages: 1, objects: descriptors.len() as u64, before: entry.length(), ..Tally::default() };
        let is_changed = is_wanted.contains(&true) || (is_wanted.is_empty() && is_meant);
        if !is_changed {
            return Ok((Cow::Borrowed(entry.bytes), Tally { after: entry.length(), ..tally }));
        }
        let threads = Threads::resolve(threads, entry.length(), None).map_err(Failure::at(entry.place()))?;
        let objects: Vec<_> = message.objects().zip(descriptors).zip(is_wanted).enumerate().collect();
        let prepared = threads.map(&objects, |(index, ((object, descriptor), is_wanted))| {
            let place = || entry.object_place(*index);
            let object = object.as_ref().map_err(|error| Failure::At(place(), (*error).into()))?;
            let is_exact = !self.are_chosen() && keeps_values(descriptor.dtype, metadata.base.get(*index), coordinates);
            let prepared = self.prepare(object, descriptor.clone(), *is_wanted, is_exact);
            let prepared = prepared.and_then(|it| it.keeps_meaning(descriptor.dtype, metadata.base.get(*index)));
            // On one thread it is encoded where it is written.
            let prepared = prepared.and_then(|it| if threads.is_one() { Ok(it) } else { it.made(self.verify) });
            match prepared {
                Ok(object) => Ok((object, None)),
                Err(Unfit { error, is_of_stages: true }) if self.skip_unsuitable => {
                    let kept = kept(entry, *index).map_err(Failure::at(place()))?;
                    Ok((kept, Some(format!("{}: {error}", place()))))
                }
                Err(Unfit { error, .. }) => Err(Failure::At(place(), error)),
            }
        })?;
        let (mut prepared, unsuitable): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        tally.unsuitable.extend(unsuitable.into_iter().flatten());
        let options = EncodeOptions { descriptor_first: self.descriptor_first, ..self.encode.options() };
        let metadata = without_reserved(metadata);
        let bytes = loop {
            let parts: Vec<_> = prepared.iter().map(Prepared::part).collect();
            match encode_parts(&metadata, &parts, &options) {
                Ok(bytes) => break bytes,
                Err(PartError { object_index: Some(index), error }) if self.skip_unsuitable => {
                    let place = entry.object_place(index);
                    // Values can be unsuitable too: NaN, say. Each object is given up at most once.
                    match prepared.get_mut(index) {
                        Some(object) if object.source().is_some() => {
                            tally.unsuitable.push(format!("{place}: {error}"));
                            *object = kept(entry, index).map_err(Failure::at(place))?;
                        }
                        _ => return Err(Failure::At(place, error)),
                    }
                }
                Err(error) => return Err(Failure::of_part(entry)(error)),
            }
        };
        let encoded = prepared.iter().filter(|object| object.source().is_some()).count() as u64;
        let greatest_error = if self.verify { self.compare(entry, &bytes, &prepared)? } else { 0.0 };
        let after = bytes.len() as u64;
        Ok((Cow::Owned(bytes), Tally { encoded, after, greatest_error, ..tally }))
    }

    /// For each object, whether it is to be encoded.
    fn select(&self, message: &Message<'_>, entry: &Entry<'_>) -> Result<Vec<bool>, TensogramError> {
        let structure = Structure::new(message, entry);
        let metadata = self.chosen.digests.metadata(message)?;
        self.objects.check(metadata.object_count())?;
        let selection = self.chosen.selection.of_objects(&metadata)?;
        let mut wanted = Vec::new();
        for (index, (object, data)) in metadata.objects().zip(message.objects()).enumerate() {
            let object = object?;
            let data = data.ok();
            let structure = structure.of_object(index, data.as_ref());
            wanted.push(self.objects.has(index) && selection.has(&object, structure)?);
        }
        Ok(wanted)
    }

    fn prepare<'f>(
        &self,
        object: &DataObject<'f>,
        descriptor: DataObjectDescriptor,
        is_wanted: bool,
        is_exact: bool,
    ) -> Result<Prepared<'f>, Unfit> {
        let descriptor = with_present_names(object, descriptor)?;
        let has_new_masks = (descriptor.masks.is_some() && self.encode.changes_masks())
            || (is_wanted && self.has_bare_non_finite(object, &descriptor)?);
        if !is_wanted || (self.pipeline.is_empty() && !has_new_masks) {
            if self.decode_all {
                read(object).options(&self.decode_options()).bytes()?;
            }
            return Ok(Prepared::Kept(descriptor, object.region()));
        }
        let options = self.encode.options_keeping(descriptor.masks.as_ref());
        let data = read(object).options(&self.decode_options()).bytes()?;
        let staged = self.pipeline.apply_to(is_exact, descriptor.clone(), data, &options);
        let (staged, data) = staged.map_err(|error| Unfit { error, is_of_stages: true })?;
        if !has_new_masks && is_as_before(&descriptor, &staged) {
            return Ok(Prepared::Kept(descriptor, object.region()));
        }
        Ok(Prepared::Encoded(staged, data, options))
    }

    /// Whether the object has NaN or infinities without a mask, and a flag asks for masks of them. Lossy stages that take them
    /// may have changed them, so they stay.
    fn has_bare_non_finite(
        &self,
        object: &DataObject<'_>,
        descriptor: &DataObjectDescriptor,
    ) -> Result<bool, TensogramError> {
        let (nan, infinities) = self.encode.asks_for_masks();
        if !(nan || infinities) || is_lossy(descriptor) {
            return Ok(false);
        }
        let options = DecodeOptions { restore_non_finite: false, ..self.decode_options() };
        let bytes = read(object).options(&options).bytes()?;
        let mut found = false;
        Elements::of(object.descriptor(), &bytes)
            .for_each(|value| found |= (nan && value.is_nan()) || (infinities && value.is_infinite()));
        Ok(found)
    }

    fn decode_options(&self) -> DecodeOptions {
        DecodeOptions { threads: self.encode.threads(), ..as_stored() }
    }

    /// Decodes the encoded objects and returns the greatest difference to the old values.
    fn compare(&self, entry: &Entry<'_>, bytes: &[u8], prepared: &[Prepared<'_>]) -> Result<f64, Failure> {
        let message = Message::parse(bytes).map_err(Failure::at(entry.place()))?;
        let mut greatest = 0.0_f64;
        for (index, (object, written)) in prepared.iter().zip(message.objects()).enumerate() {
            let Some((descriptor, before)) = object.source() else { continue };
            let place = || entry.object_place(index);
            let object = written.map_err(Failure::at(place()))?;
            let after = read(&object).options(&self.decode_options()).bytes().map_err(Failure::at(place()))?;
            if *after == *before {
                continue;
            }
            let (old, new) = (Elements::of(object.descriptor(), before), Elements::of(object.descriptor(), &after));
            let found = differences(&old, &new, Tolerance::default(), false).greatest;
            match found.map_or(0.0, |greatest| greatest.difference) {
                difference if after.len() == before.len() && (is_lossy(descriptor) || difference == 0.0) => {
                    greatest = greatest.max(difference);
                }
                _ => return Err(Failure::said(place(), "what was encoded decodes to other values")),
            }
        }
        Ok(greatest)
    }
}

/// The descriptor with the parameter names of `simple_packing` since release 0.19.
fn with_present_names(
    object: &DataObject<'_>,
    mut descriptor: DataObjectDescriptor,
) -> Result<DataObjectDescriptor, TensogramError> {
    let is_packed = descriptor.encoding == Encoding::SimplePacking.name();
    if !is_packed || descriptor.params.contains_key(Key::SpBitsPerValue.name()) {
        return Ok(descriptor);
    }
    let packing = object.descriptor().packing()?;
    let params: [(Key, Key, Value); 4] = [
        (Key::ReferenceValue, Key::SpReferenceValue, packing.reference_value.into()),
        (Key::BinaryScaleFactor, Key::SpBinaryScaleFactor, packing.binary_scale_factor.into()),
        (Key::DecimalScaleFactor, Key::SpDecimalScaleFactor, packing.decimal_scale_factor.into()),
        (Key::BitsPerValue, Key::SpBitsPerValue, packing.bits_per_value.into()),
    ];
    for (old, new, value) in params {
        descriptor.params.remove(old.name());
        descriptor.params.insert(new.name().to_string(), value);
    }
    Ok(descriptor)
}

/// Whether the stages equal the old ones.
fn is_as_before(before: &DataObjectDescriptor, staged: &DataObjectDescriptor) -> bool {
    let mut before = DataObjectDescriptor { masks: None, ..before.clone() };
    before.params.remove(Key::SzipBlockOffsets.name());
    before == *staged
}
