//! The iteration over messages that every command uses.

use std::fs;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::slice;

use tgm_std::scan::Window;
use tgm_std::{MessageLayout, TensogramError};

use crate::read::candidates::Level;
use crate::read::cataloged::{Asked, Source};
use crate::read::choice::{MessageChoice, no_number, none_at};
use crate::read::chosen::Chosen;
use crate::read::digests::Digests;
use crate::read::distant::{Distant, Found, is_distant};
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::select::Selection;
use crate::read::streamed::{Next, Streamed, is_stream};
use crate::show::output::Out;
use crate::show::progress::meter;

/// Bytes that are read at a time for small messages. A larger message is read alone.
pub(crate) const WINDOW: u64 = 256 << 10;

/// The most messages that a thread takes at once. Small ones lie side by side and are read together.
pub(crate) const BATCH: usize = 64;

/// The bytes of a message of at most [`WINDOW`] bytes in a file that ends at `end`. One read serves several messages that are
/// much smaller. `None` if the file is shorter by now.
///
/// # Errors
/// The errors of `read_at`.
pub(crate) fn small(
    window: &mut Window,
    message: MessageLayout,
    end: u64,
    read_at: impl FnOnce(u64, &mut [u8]) -> Result<usize, TensogramError>,
) -> Result<Option<&[u8]>, TensogramError> {
    let MessageLayout { offset, length } = message;
    let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
    let has_room = length < WINDOW / 4;
    // A window is a hint: what it does not hold is read by itself.
    let size = || if has_room { len(WINDOW.min(end.saturating_sub(offset))) } else { 0 };
    window.get(offset, len(length), size, read_at)
}

/// A reader of messages. It keeps the last message in memory, with its neighbours if they are small.
#[derive(Debug)]
pub(crate) struct Reader<'i> {
    input: &'i Input,
    window: Window,
    /// The last message, if it is too large for the window.
    large: Vec<u8>,
    /// The place of the last message.
    last: Option<Place>,
}

/// The last message is done with when its reader goes.
impl Drop for Reader<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.last {
            self.input.progress.come_to(place.end(), place.index + 1);
        }
    }
}

impl<'i> Reader<'i> {
    /// A reader of this input.
    pub(crate) fn new(input: &'i Input) -> Self {
        Self { input, window: Window::default(), large: Vec::new(), last: None }
    }

    /// The wanted parts of the message at a place.
    ///
    /// # Errors
    /// The errors of reading; [`io::ErrorKind::UnexpectedEof`] if the file is shorter by now.
    pub(crate) fn entry(&mut self, place: Place, wanted: MessagePart) -> Result<Entry<'_>, TensogramError> {
        let input = self.input;
        self.input.progress.take_up(place.offset, place.length, place.index);
        self.last = Some(place);
        let bytes = match input.borrowed(place.offset, place.length) {
            Some(bytes) => bytes,
            None => self.read(place, wanted)?,
        };
        Ok(Entry::new(input.name(), place, bytes))
    }

    fn read(&mut self, place: Place, wanted: MessagePart) -> Result<&[u8], TensogramError> {
        // At an address the parts that are not wanted cost time.
        if place.length > WINDOW || (wanted != MessagePart::Whole && self.input.is_distant()) {
            self.window = Window::default();
            if wanted == MessagePart::Whole {
                // The memory of the message before serves again.
                self.input.read_into(place.offset, place.length, &mut self.large)?;
            } else {
                self.large = Vec::new();
                self.large = self.input.message(place, wanted)?;
            }
            return Ok(&self.large);
        }
        self.large = Vec::new();
        let bytes =
            small(&mut self.window, place.layout(), self.input.len(), |offset, out| self.input.read_at(offset, out))?;
        bytes.ok_or_else(|| self.input.shorter(place.end()))
    }
}

impl Input {
    /// A reader for the messages.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader::new(self)
    }

    /// Calls `with` for the message at each of these places. Unreadable messages are reported. Returns whether all could be read.
    ///
    /// # Errors
    /// The errors of `with`.
    pub(crate) fn for_each(
        &self,
        out: &mut Out,
        places: Vec<Place>,
        wanted: MessagePart,
        mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let (mut reader, mut is_complete, mut left) = (self.reader(), true, places.len());
        for place in places {
            if out.is_full() {
                break;
            }
            left -= 1;
            match reader.entry(place, wanted) {
                Ok(entry) => with(out, &entry)?,
                Err(error) => {
                    is_complete = false;
                    if self.report_unread(out, place, left, &error) {
                        break;
                    }
                }
            }
        }
        Ok(is_complete)
    }

    /// Reports that a message cannot be read, with `left` messages after it. Returns whether those cannot be read
    /// either, because the error concerns the whole file.
    pub(crate) fn report_unread(&self, out: &mut Out, place: Place, left: usize, error: &TensogramError) -> bool {
        out.report(&format!("{}: message {}", self.name(), place.index), error);
        let is_last = matches!(error, TensogramError::Io(_));
        if is_last && left > 0 {
            out.problem(&format!("{}: {left} messages after it were not read", self.name()));
        }
        is_last
    }
}

/// A step of an iteration over messages.
pub(crate) enum Step<'e> {
    /// A selected message.
    Message(&'e Entry<'e>),
    /// A stream has nothing for a while. What was printed so far is shown after this step.
    Pause,
}

/// Calls `with` for each message of each file that can be selected. Unreadable files, lost bytes and unreadable messages are
/// reported.
///
/// # Errors
/// The errors of `with`.
pub(crate) fn for_each_message(
    paths: &[PathBuf],
    asked: Asked<'_>,
    wanted: MessagePart,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    expect_all(paths);
    for path in paths {
        for (number, source) in asked.sources(path, out).into_iter().enumerate() {
            // What a path names is opened, and reported if it cannot be. Nobody named the files of a tree.
            if number > 0 && out.is_full() {
                break;
            }
            for_each_step_of(&source, asked, wanted, out, |out, step| match step {
                Step::Message(entry) => with(out, entry),
                Step::Pause => Ok(()),
            })?;
        }
    }
    Ok(())
}

/// [`for_each_message`] for the one message of a file that the flags, and a catalogue that is named, choose, the first that is selected or message 0, and for
/// the number of one of its objects: `object`, or the first that is selected, or object 0. The message has the bytes of
/// that object.
///
/// # Errors
/// The errors of `with`.
pub(crate) fn for_one_object(
    path: &PathBuf,
    (chosen, catalog): (&Chosen, Option<&Path>),
    object: Option<usize>,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, &Entry<'_>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let Chosen { choice, selection, digests } = chosen;
    if selection.is_empty() {
        let (object, asked) = (object.unwrap_or(0), Asked::all(choice.or_first()));
        return for_each_message(slice::from_ref(path), asked, MessagePart::Object(object), out, |out, entry| {
            with(out, entry, object)
        });
    }
    let asked = chosen.asked_of(Level::Any).by(catalog);
    let source = asked.source(path);
    if is_distant(path) && !source.is_cataloged() {
        return for_one_distant(path, chosen, object, out, with);
    }
    let Some(input) = source.open(asked, out) else { return Ok(()) };
    let Some(places) = choice.of(&input, out) else { return Ok(()) };
    let (mut reader, mut left) = (input.reader(), places.len());
    for place in places {
        left -= 1;
        // The payload of the selected object is read, and no other.
        let outline = reader.entry(place, MessagePart::Outline);
        let selected = outline.map(|entry| picked(&entry, selection, *digests, object, out));
        let read = match selected {
            Ok(None) => continue,
            Ok(Some(object)) => reader.entry(place, MessagePart::Object(object)).map(|entry| (entry, object)),
            Err(error) => Err(error),
        };
        match read {
            Ok((entry, object)) => return with(out, &entry, object),
            Err(error) => {
                if input.report_unread(out, place, left, &error) {
                    return Ok(());
                }
            }
        }
    }
    out.problem(&format!("{}: no message matches", input.name()));
    Ok(())
}

/// [`for_each_message`] of one source, for commands that hold output back: they also learn of pauses.
///
/// # Errors
/// The errors of `with`.
pub(crate) fn for_each_step_of(
    source: &Source,
    asked: Asked<'_>,
    wanted: MessagePart,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, Step<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let (path, choice, is_known) = (&source.path, asked.choice, source.is_cataloged());
    // What lies at an address and is wanted whole is read once, from start to end.
    let is_in_order = is_stream(path) || (is_distant(path) && wanted == MessagePart::Whole && !choice.is_one());
    if is_in_order && !is_known {
        return for_each_streamed(path, choice, out, with);
    }
    if is_distant(path) && !is_known {
        return for_each_distant(path, choice, wanted, out, with);
    }
    let Some(input) = source.open(asked, out) else { return Ok(()) };
    let Some(places) = choice.of(&input, out) else { return Ok(()) };
    input.for_each(out, places, wanted, |out, entry| with(out, Step::Message(entry)))?;
    Ok(())
}

/// Tells the progress how long these files are together, as far as that is known without opening them.
pub(crate) fn expect_all(paths: &[PathBuf]) {
    let lengths = paths.iter().filter_map(|path| fs::metadata(path).ok()).filter(fs::Metadata::is_file);
    meter::expect(lengths.map(|metadata| metadata.len()).sum());
}

/// [`for_each_step_of`] for a source at an address: a message is read when it is found.
fn for_each_distant(
    path: &Path,
    choice: MessageChoice,
    wanted: MessagePart,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, Step<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(source) = Distant::open_or_report(path, out) else { return Ok(()) };
    let mut buffer = Vec::new();
    source.for_each(choice, out, |out, source, found| match source.entry(found, wanted, &mut buffer) {
        Ok(entry) => with(out, Step::Message(&entry)).map(ControlFlow::Continue),
        Err(error) => Ok(source.report_unread_message(out, found, &error)),
    })
}

/// [`for_one_object`] for a source at an address.
fn for_one_distant(
    path: &Path,
    Chosen { choice, selection, digests }: &Chosen,
    object: Option<usize>,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, &Entry<'_>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let Some(source) = Distant::open_or_report(path, out) else { return Ok(()) };
    let (mut buffer, mut is_done, name) = (Vec::new(), false, source.name().to_string());
    let look = |out: &mut Out, source: &Distant, found: Found| {
        let outline = source.entry(found, MessagePart::Outline, &mut buffer);
        let selected = outline.map(|entry| picked(&entry, selection, *digests, object, out));
        let read = match selected {
            Ok(None) => return Ok(ControlFlow::Continue(())),
            // The payload of the selected object is read, and no other.
            Ok(Some(object)) => {
                source.entry(found, MessagePart::Object(object), &mut buffer).map(|entry| (entry, object))
            }
            Err(error) => Err(error),
        };
        match read {
            Ok((entry, object)) => {
                is_done = true;
                with(out, &entry, object).map(ControlFlow::Break)
            }
            Err(error) => {
                let flow = source.report_unread_message(out, found, &error);
                is_done = flow.is_break();
                Ok(flow)
            }
        }
    };
    source.for_each(*choice, out, look)?;
    if !is_done {
        out.problem(&format!("{name}: no message matches"));
    }
    Ok(())
}

/// The number of the selected object of a message: `object` if the message is selected, or the first object that is.
fn picked(
    entry: &Entry<'_>,
    selection: &Selection,
    digests: Digests,
    object: Option<usize>,
    out: &mut Out,
) -> Option<usize> {
    match object {
        Some(object) => selection.picks(out, entry, digests).then_some(object),
        None => selection.pick_object(out, entry, digests),
    }
}

/// [`for_each_step_of`] for a stream: each message is handed on when it has come.
fn for_each_streamed(
    path: &Path,
    choice: MessageChoice,
    out: &mut Out,
    mut with: impl FnMut(&mut Out, Step<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(mut stream) = Streamed::open_or_report(path, out) else { return Ok(()) };
    let mut seen = Seen::default();
    while !out.is_full()
        && let Some(next) = stream.next_or_report(out)
    {
        match next {
            Next::Message(entry) if seen.is_selected(choice, &entry) => with(out, Step::Message(&entry))?,
            Next::Message(_) | Next::Lost(_) => {}
            Next::Pause => {
                with(out, Step::Pause)?;
                out.flush()?;
            }
        }
    }
    if !out.is_full()
        && let Some(text) = seen.missing(choice, stream.message_count())
    {
        out.problem(&format!("{}: {text}", stream.name()));
    }
    Ok(())
}

/// What an iteration over a stream has seen of the message that flags name.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    is_found: bool,
    /// The last message before the named offset, and the first after it.
    before: Option<(usize, u64)>,
    behind: Option<(usize, u64)>,
}

impl Seen {
    /// Whether a message is selected.
    pub(crate) fn is_selected(&mut self, choice: MessageChoice, entry: &Entry<'_>) -> bool {
        let MessageChoice { message, at } = choice;
        let is_selected =
            message.is_none_or(|message| entry.index == message.into()) && at.is_none_or(|at| at == entry.offset);
        self.is_found |= is_selected;
        let place = entry.index.0.map(|index| (index, entry.offset));
        match at {
            Some(at) if entry.offset < at => self.before = place,
            Some(_) => self.behind = self.behind.or(place),
            None => {}
        }
        is_selected
    }

    /// A sentence on the named message, if the stream of `count` messages lacks it.
    pub(crate) fn missing(&self, choice: MessageChoice, count: usize) -> Option<String> {
        match choice {
            _ if self.is_found => None,
            MessageChoice { message: Some(index), .. } => Some(no_number(index, count)),
            MessageChoice { at: Some(offset), .. } => Some(none_at(offset, self.before.into_iter().chain(self.behind))),
            MessageChoice { message: None, at: None } => None,
        }
    }
}
