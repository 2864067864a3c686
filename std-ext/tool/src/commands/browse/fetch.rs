//! Reading what the screen shows, in threads.
//!
//! The screen's thread puts down what it misses at a [`Desk`], the whole list each time it changes. A thread takes the first
//! of it, so what scrolled out of sight is not read.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde_json::Map;
use tgm_core::Message;
use tgm_core::metadata::NAME_KEYS;
use tgm_core::object::DataObject;
use tgm_std::decode::Picks;
use tgm_std::metadata::query::codec;
use tgm_std::{DecodeOptions, MessageLayout, TensogramError};

use crate::args::object_numbers::ObjectNumbers;
use crate::commands::browse::source::Source;
use crate::commands::dump_contents::Contents;
use crate::commands::frame_list::FrameList;
use crate::commands::plot::object::{Selected, Wish};
use crate::read::about::ABOUT;
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::select::{Scope, annotations, text};
use crate::read::structure::Structure;
use crate::show::advice::in_our_words;
use crate::show::summary::{Summary, shape_text};
use crate::show::text::escape;
use crate::show::tree;
use tgm_plot::picture::{Drawn as Values, Picture};

/// Rows and columns of a picture that are kept. No terminal has more.
const PIXELS: usize = 600;
/// Decoded bytes of a slice that is drawn. Larger ones would take seconds and the machine's memory.
const LARGEST: u64 = 1 << 30;
/// The place of what has none.
const NOWHERE: MessageLayout = MessageLayout { offset: 0, length: 0 };
/// Bars of a histogram.
pub(super) const BARS: usize = 24;

/// What the screen misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Lines of the list.
    Rows(std::ops::Range<usize>),
    /// All about a message.
    Message(usize),
    /// A picture.
    Picture(PictureOf),
}

/// The part of an object that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PictureOf {
    pub(super) message: usize,
    pub(super) object: usize,
    /// Picks as `3, :, :`; empty for all of it.
    pub(super) picks: String,
}

/// What a thread has read.
#[derive(Debug)]
pub(super) enum Answer {
    /// A line of the list.
    Row(usize, Row),
    /// All about a message.
    Message(usize, Box<Detail>),
    /// A picture, or what is wrong.
    Picture(PictureOf, Result<Box<Drawn>, String>),
}

/// A line of the list of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) objects: String,
    /// The metadata of [`ABOUT`].
    pub(super) about: Vec<String>,
    /// Type, shape and stages of the first object.
    pub(super) first: [String; 3],
    pub(super) error: Option<String>,
}

/// A message in full.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    /// Lines of the metadata that all objects share.
    pub(super) metadata: Vec<String>,
    pub(super) objects: Vec<ObjectDetail>,
    /// Rows of the table of frames.
    pub(super) frames: Vec<[String; 8]>,
    pub(super) errors: Vec<String>,
}

/// An object of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectDetail {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) shape: Vec<u64>,
    pub(super) codec: String,
    pub(super) bytes: String,
    pub(super) stored: String,
    /// Lines of its metadata and descriptor.
    pub(super) metadata: Vec<String>,
    pub(super) error: Option<String>,
}

/// A picture and its numbers.
pub(super) struct Drawn {
    pub(super) picture: Picture,
    pub(super) mean: f64,
    pub(super) missing: usize,
    /// How many values lie in each of equal parts of the range.
    pub(super) histogram: [usize; BARS],
}

impl std::fmt::Debug for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drawn").field("mean", &self.mean).finish_non_exhaustive()
    }
}

/// How objects are read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) digests: Digests,
    pub(super) options: DecodeOptions,
}

/// Where the screen puts down what it misses.
#[derive(Debug, Default)]
pub(super) struct Desk {
    wanted: Mutex<RequestQueue>,
    changed: Condvar,
}

/// What lies on a desk.
#[derive(Debug, Default)]
struct RequestQueue {
    next: VecDeque<(usize, Request)>,
    /// The request that is being answered, which the screen misses until then.
    current: Option<(usize, Request)>,
}

impl Desk {
    /// Replaces what is wanted of the file with this number.
    pub(super) fn put(&self, file: usize, requests: impl IntoIterator<Item = Request>) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = requests.into_iter().map(|request| (file, request));
        let next = requests.filter(|request| wanted.current.as_ref() != Some(request)).collect();
        wanted.next = next;
        self.changed.notify_one();
    }

    /// Waits for the next request.
    fn take(&self) -> (usize, Request) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            wanted.current = wanted.next.pop_front();
            if let Some(next) = &wanted.current {
                return next.clone();
            }
            wanted = self.changed.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Answers requests for ever. Ends when `tell` returns false.
pub(super) fn work(
    desk: &Desk,
    sources: &[Arc<Source>],
    reading: &Reading,
    mut tell: impl FnMut(usize, Answer) -> bool,
) {
    loop {
        let (file, request) = desk.take();
        let Some(source) = sources.get(file) else { continue };
        let is_wanted = match request {
            Request::Rows(numbers) => {
                let mut is_wanted = true;
                let layouts = source.layouts(numbers.clone());
                source.read_each(&layouts, |number, bytes| {
                    let index = numbers.start + number;
                    let MessageLayout { offset, length } = layouts.get(number).copied().unwrap_or(NOWHERE);
                    let row = Row { offset, length, ..row(source, index, bytes, reading.digests) };
                    is_wanted = tell(file, Answer::Row(index, row));
                    is_wanted
                });
                is_wanted
            }
            Request::Message(index) => match source.layout(index) {
                Some(layout) => {
                    tell(file, Answer::Message(index, Box::new(detail(source, index, layout, reading.digests))))
                }
                None => true,
            },
            Request::Picture(of) => match source.layout(of.message) {
                Some(layout) => {
                    let drawn = draw(source, &of, layout, reading).map(Box::new).map_err(|error| words(&error));
                    tell(file, Answer::Picture(of, drawn))
                }
                None => true,
            },
        };
        if !is_wanted {
            return;
        }
    }
}

fn words(error: &TensogramError) -> String {
    escape(&in_our_words(error))
}

fn entry<'s>(source: &'s Source, index: usize, offset: u64, bytes: &'s [u8]) -> Entry<'s> {
    Entry { file: source.name(), index: index.into(), offset, bytes }
}

/// The line of a message.
fn row(source: &Source, index: usize, bytes: Result<&[u8], TensogramError>, digests: Digests) -> Row {
    let read = || -> Result<Row, TensogramError> {
        let bytes = bytes?;
        let message = Message::parse(bytes)?;
        let metadata = digests.metadata(&message)?;
        let scope = Scope::Message(&metadata, Structure::new(&message, &entry(source, index, 0, bytes)));
        let about = ABOUT.iter().map(|title| {
            let value = scope.get(title)?;
            Ok(value.map_or(String::new(), |value| escape(&text(&value))))
        });
        let about = about.collect::<tgm_core::Result<_>>()?;
        let first = match message.objects().next() {
            Some(object) => {
                let object = object?;
                let descriptor = object.descriptor();
                let shape: Vec<u64> = descriptor.shape().iter().collect();
                [descriptor.dtype().name().to_string(), shape_text(&shape), escape(&codec(descriptor))]
            }
            None => Default::default(),
        };
        Ok(Row { objects: metadata.object_count().to_string(), about, first, ..Row::default() })
    };
    read().unwrap_or_else(|error| Row { error: Some(words(&error)), ..Row::default() })
}

/// All about a message, as far as it can be read.
fn detail(source: &Source, index: usize, layout: MessageLayout, digests: Digests) -> Detail {
    let failed = |error: TensogramError| Detail { errors: vec![words(&error)], ..Detail::default() };
    let bytes = match source.read(layout, None) {
        Ok(bytes) => bytes,
        Err(error) => return failed(error),
    };
    let message = match Message::parse(&bytes) {
        Ok(message) => message,
        Err(error) => return failed(error.into()),
    };
    let contents = Contents::of(&message, &ObjectNumbers::default(), digests);
    let mut detail = Detail::default();
    for (title, section) in
        [("annotations (_extra_)", &contents.extra), ("written by the library (_reserved_)", &contents.reserved)]
    {
        detail.metadata.extend(section_lines(title, section.as_ref().and_then(|section| section.as_object())));
    }
    detail.metadata.extend(section_lines("preamble", Some(&contents.preamble)));
    detail.metadata.extend(section_lines("postamble", contents.postamble.as_ref()));
    detail.frames = contents.frames.as_ref().map(FrameList::rows).unwrap_or_default();
    detail.errors = contents
        .errors()
        .map(|(object, error)| {
            let place = object.map_or(String::new(), |object| format!("object {object}: "));
            format!("{place}{}", words(error))
        })
        .collect();
    let metadata = digests.metadata(&message).ok();
    let shared = metadata.as_ref().and_then(|metadata| annotations(metadata, NAME_KEYS).ok()).unwrap_or_default();
    let objects: Vec<_> = message.objects().collect();
    for (number, (_, shown)) in contents.shown().enumerate() {
        let object = objects.get(number);
        let mut one = object.map_or_else(ObjectDetail::default, |object| match object {
            Ok(object) => object_detail(object),
            Err(error) => ObjectDetail { error: Some(words(&(*error).into())), ..ObjectDetail::default() },
        });
        if let Some(about) = metadata.as_ref().and_then(|metadata| metadata.object(number).ok().flatten()) {
            let structure = Structure::new(&message, &entry(source, index, layout.offset, &bytes));
            let structure = structure.of_object(number, object.and_then(|object| object.as_ref().ok()));
            let name = Scope::Object(&about, &shared, structure).first(&NAME_KEYS);
            one.name = name.ok().flatten().map_or(String::new(), |name| escape(&text(&name)));
        }
        let map = |value: &Option<serde_json::Value>| value.as_ref().and_then(|value| value.as_object()).cloned();
        one.metadata.extend(section_lines("metadata", map(&shown.metadata).as_ref()));
        one.metadata.extend(section_lines("descriptor", map(&shown.descriptor).as_ref()));
        one.metadata.extend(section_lines("layout", Some(&shown.layout)));
        detail.objects.push(one);
    }
    detail
}

fn object_detail(object: &DataObject<'_>) -> ObjectDetail {
    let summary = Summary::of(object);
    ObjectDetail {
        dtype: summary.dtype.to_string(),
        codec: escape(&codec(object.descriptor())),
        bytes: summary.bytes.map_or("?".to_string(), |bytes| bytes.to_string()),
        stored: summary.stored.to_string(),
        shape: summary.shape,
        ..ObjectDetail::default()
    }
}

/// A map as a tree below its title; nothing of an empty one.
fn section_lines(title: &str, entries: Option<&Map<String, serde_json::Value>>) -> Vec<String> {
    let Some(entries) = entries.filter(|entries| !entries.is_empty()) else { return Vec::new() };
    [vec![title.to_string()], tree::lines(entries, 2)].concat()
}

/// The picture of a part of an object. Its digest is checked.
fn draw(source: &Source, of: &PictureOf, layout: MessageLayout, reading: &Reading) -> Result<Drawn, TensogramError> {
    let outline = source.read(layout, None)?;
    let descriptor_of = Message::parse(&outline)?;
    if let Some(object) = descriptor_of.objects().nth(of.object) {
        let object = object?;
        let descriptor = object.descriptor();
        let drawn: u64 = drawn_elements(descriptor.shape().iter().collect::<Vec<_>>().as_slice(), &of.picks);
        let bytes = drawn.saturating_mul(8);
        if bytes > LARGEST {
            let text = format!("{drawn} values are too many for a picture here: `tgm plot --slice` draws a part");
            return Err(TensogramError::Object(text.into()));
        }
    }
    drop(outline);
    let bytes = source.read(layout, Some(of.object))?;
    let entry = entry(source, of.message, layout.offset, &bytes);
    let picks = if of.picks.is_empty() { None } else { Some(Picks::parse(&of.picks).map_err(TensogramError::from)?) };
    let wish = Wish { object: of.object, slice: picks.as_ref(), ..Wish::default() };
    Drawn::of(wish.selected(&entry, reading.digests, &reading.options)?)
}

/// How many elements are drawn.
fn drawn_elements(shape: &[u64], picks: &str) -> u64 {
    if picks.is_empty() {
        return shape.iter().fold(1, |product, len| product.saturating_mul(*len));
    }
    let drawn = picks.split(", ").zip(shape).filter(|(pick, _)| *pick == ":");
    drawn.fold(1, |product, (_, len)| product.saturating_mul(*len))
}

impl Drawn {
    /// The numbers of a picture, and the picture as large as a terminal may show it.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few bars"
    )]
    fn of(selected: Selected<'_>) -> Result<Self, TensogramError> {
        let (low, high) = selected.range().unwrap_or_default();
        let (mut sum, mut count, mut histogram) = (0.0, 0_usize, [0; BARS]);
        let width = (high / 2.0 - low / 2.0) * 2.0 / BARS as f64;
        for value in selected.values.iter().copied().filter(|value| value.is_finite()) {
            // Each value has its share, so that the sum of large ones does not overflow.
            count += 1;
            sum += (value - sum) / count as f64;
            let bar = if width > 0.0 { ((value - low) / width) as usize } else { 0 };
            if let Some(bar) = histogram.get_mut(bar.min(BARS - 1)) {
                *bar += 1;
            }
        }
        let missing = selected.values.len() - count;
        let picture = selected.picture()?;
        let drawn = match picture.drawn {
            Values::Field(sheet) if sheet.field.rows().max(sheet.field.columns()) > PIXELS => {
                Values::Field(sheet.resized(sheet.field.rows().min(PIXELS), sheet.field.columns().min(PIXELS)))
            }
            Values::Line(line, axis) if line.columns() > PIXELS => Values::Line(line.resized(1, PIXELS), axis),
            other => other,
        };
        Ok(Self { picture: Picture { drawn, ..picture }, mean: sum, missing, histogram })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_answered_is_not_taken_again() {
        let desk = Desk::default();
        desk.put(0, [Request::Message(1), Request::Message(2)]);
        assert_eq!(desk.take(), (0, Request::Message(1)));
        desk.put(0, [Request::Message(1), Request::Message(3)]);
        assert_eq!(desk.take(), (0, Request::Message(3)));
        desk.put(1, [Request::Message(3)]);
        assert_eq!(desk.take(), (1, Request::Message(3)));
    }

    #[test]
    fn a_damaged_object_says_what_is_wrong() {
        let mut bytes = std::fs::read("../../tests/data/realistic/surface-181x360.tgm").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let read = |bytes: &[u8], is_ignored: bool| {
            let path = folder.path().join("in.tgm");
            std::fs::write(&path, bytes).unwrap();
            let source = Arc::new(Source::open(&path).unwrap());
            source.scan(|| true);
            let desk = Desk::default();
            let mut answers = Vec::new();
            let requests = [0, 1].map(|object| PictureOf { message: 0, object, picks: String::new() });
            let requests = requests.map(Request::Picture);
            desk.put(0, [Request::Rows(0..1), Request::Message(0)].into_iter().chain(requests));
            let reading = Reading { digests: Digests::ignored(is_ignored), options: DecodeOptions::default() };
            work(&desk, &[source], &reading, |_, answer| {
                answers.push(answer);
                answers.len() < 4
            });
            answers
        };
        let [Answer::Row(0, row), Answer::Message(0, detail), Answer::Picture(_, Ok(drawn)), Answer::Picture(_, Ok(_))] =
            &read(&bytes, false)[..]
        else {
            panic!("not all was read")
        };
        assert_eq!((row.objects.as_str(), row.about[0].as_str(), &row.error), ("3", "2t", &None));
        assert_eq!((detail.objects.len(), detail.frames.len(), detail.errors.len()), (3, 6, 0));
        assert!(detail.objects[0].metadata.iter().any(|line| line.contains("2t")), "{:?}", detail.objects[0].metadata);
        assert!((270.0..290.0).contains(&drawn.mean) && drawn.missing == 0);
        assert_eq!(drawn.histogram.iter().sum::<usize>(), 181 * 360);
        bytes[20_000] ^= 0xff;
        let damaged = read(&bytes, false);
        let [.., Answer::Picture(_, Err(error)), Answer::Picture(_, Ok(_))] = &damaged[..] else {
            panic!("{damaged:?}")
        };
        assert!(error.contains("hash mismatch"), "{error}");
        assert!(matches!(&read(&bytes, true)[..], [.., Answer::Picture(_, _), Answer::Picture(_, Ok(_))]));
        // A message that is cut, and one whose bytes are nonsense: something is said, and nothing crashes.
        for place in (0..bytes.len()).step_by(997) {
            let mut wrong = bytes.clone();
            wrong[place..].iter_mut().take(40).for_each(|byte| *byte ^= 0x5a);
            wrong.extend_from_slice(&std::fs::read("../../tests/data/multi/three.tgm").unwrap());
            read(&wrong, true);
        }
    }
}
