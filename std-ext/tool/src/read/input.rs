//! Files as the commands open them: positions of messages, and bytes read at positions.
//!
//! Regular files are read at positions, at most one message or one damaged region at a time. If another program
//! truncates the file, reading gives an error. Standard input and pipes are read to their end first, by commands that need
//! positions; the others read them as streams ([`crate::read::streamed`]).
//!
//! A caller chooses at opening what happens to lost bytes, which belong to no message:
//! [`open_or_report`](crate::read::opening::open_or_report) reports them.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

use tgm_core::scan::Segment;
use tgm_std::file::{Data, SourceName};
use tgm_std::{Archive, MessageLayout, TensogramError};

use crate::read::entry::{Place, end_of};
use crate::read::pipes;
use crate::show::progress::meter::Share;

/// Bytes that are copied at a time.
const CHUNK: u64 = 256 << 10;

/// A file whose messages are known.
#[derive(Debug)]
pub(crate) struct Input {
    name: String,
    archive: Archive<'static>,
    messages: Vec<MessageLayout>,
    segments: Vec<Segment>,
    /// For each of the first messages, whether it can be selected. All others can.
    candidates: Vec<bool>,
    /// How far the command has come in the file.
    pub(crate) progress: Share,
}

/// The part of a message that is read. Bytes of other parts are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessagePart {
    /// Everything except payloads and masks. Digests of objects cannot be checked.
    Outline,
    /// The outline, and the frame of this object.
    Object(usize),
    /// Every byte.
    Whole,
}

impl MessagePart {
    /// This part of the message at a place.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn of<'a>(
        self,
        archive: &'a Archive<'_>,
        layout: MessageLayout,
    ) -> Result<Cow<'a, [u8]>, TensogramError> {
        match self {
            Self::Outline => archive.outline_at(layout, None),
            Self::Object(object) => archive.outline_at(layout, Some(object)),
            Self::Whole => archive.message_at(layout),
        }
    }
}

impl Input {
    /// Opens a file and finds its messages. Only preambles, postambles and the bytes between messages
    /// of a regular file are read; likewise of a source at an address. "-" is standard input. The caller must report lost bytes.
    ///
    /// # Errors
    /// The errors of opening and reading.
    pub(crate) fn open(path: &Path) -> Result<Self, TensogramError> {
        Self::open_with(path, |length| Share::new(Some(length)))
    }

    /// Opens a file whose progress is counted already.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn open_again(path: &Path, progress: Share) -> Result<Self, TensogramError> {
        Self::open_with(path, |_| progress)
    }

    fn open_with(path: &Path, progress: impl FnOnce(u64) -> Share) -> Result<Self, TensogramError> {
        let name = SourceName::of(path).to_string();
        if path == Path::new("-") || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Self::in_memory(name, pipes::open(path)?, progress);
        }
        Self::open_source(path, name, progress)
    }

    /// Opens what a tree has as a file: a regular file or a source at an address. The user did not name it, so no pipe is waited for.
    ///
    /// # Errors
    /// As [`Self::open`]; [`TensogramError::Io`] for anything else than a regular file.
    pub(crate) fn open_of_tree(path: &Path) -> Result<Self, TensogramError> {
        pipes::check_regular(path).map_err(|error| TensogramError::io(path, &error))?;
        Self::open_source(path, SourceName::of(path).to_string(), |length| Share::new(Some(length)))
    }

    fn open_source(path: &Path, name: String, progress: impl FnOnce(u64) -> Share) -> Result<Self, TensogramError> {
        // What has no messages is reported by the command, which knows what helps.
        Self::of_archive(name, Archive::open_unread(path)?, progress)
    }

    /// An open archive, whose messages are searched for.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn of_archive(
        name: String,
        archive: Archive<'static>,
        progress: impl FnOnce(u64) -> Share,
    ) -> Result<Self, TensogramError> {
        let (messages, segments) = (archive.layouts()?, archive.segments()?);
        Ok(Self::new(name, archive, messages, segments, progress))
    }

    fn in_memory(
        name: String,
        mut source: impl Read,
        progress: impl FnOnce(u64) -> Share,
    ) -> Result<Self, TensogramError> {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes)?;
        Self::of_archive(name, Archive::from_bytes(bytes), progress)
    }

    fn new(
        name: String,
        archive: Archive<'static>,
        messages: Vec<MessageLayout>,
        segments: Vec<Segment>,
        progress: impl FnOnce(u64) -> Share,
    ) -> Self {
        let length = segments.last().map_or(0, end_of);
        Self { name, archive, messages, segments, candidates: Vec::new(), progress: progress(length) }
    }

    /// An open archive of `length` bytes, whose messages are known: it is not searched.
    pub(crate) fn at_places(
        name: String,
        archive: Archive<'static>,
        messages: Vec<MessageLayout>,
        length: u64,
    ) -> Self {
        let mut segments = Vec::new();
        let mut end = 0;
        for message in &messages {
            let MessageLayout { offset, length } = *message;
            segments.extend(junk(end, offset).into_iter().chain([Segment::Message { offset, length }]));
            end = message.end();
        }
        segments.extend(junk(end, length));
        Self::new(name, archive, messages, segments, |length| Share::new(Some(length)))
    }

    /// The same input, of which these are the first messages that can be selected.
    pub(crate) fn among(self, candidates: Vec<bool>) -> Self {
        Self { candidates, ..self }
    }

    /// Whether a message can be selected, for all that is known without reading it.
    pub(crate) fn can_be(&self, index: usize) -> bool {
        self.candidates.get(index) != Some(&false)
    }

    /// Whether this is a file of this machine, which can be opened again.
    pub(crate) fn is_local_file(&self) -> bool {
        !self.is_distant() && self.archive.place().is_some()
    }

    /// Whether this is a source at an address.
    pub(crate) fn is_distant(&self) -> bool {
        self.archive.is_distant()
    }

    /// The file's name as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the file when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.segments.last().map_or(0, end_of)
    }

    /// The file for functions of the library that look through messages.
    pub(crate) fn data(&self) -> Data<'_> {
        (&self.archive).into()
    }

    /// The parts of the file from start to end: messages, and bytes that belong to none.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The length of the longest message.
    pub(crate) fn longest_message(&self) -> u64 {
        self.messages.iter().map(|message| message.length).max().unwrap_or(0)
    }

    /// How many messages there are.
    pub(crate) const fn message_count(&self) -> usize {
        self.messages.len()
    }

    /// The places of the messages with these numbers.
    pub(crate) fn places(&self, numbers: Range<usize>) -> impl ExactSizeIterator<Item = Place> + use<> {
        // Numbers that the file lacks have no place.
        let messages = self.messages.get(numbers.clone()).unwrap_or(&[]).to_vec();
        numbers.zip(messages).map(|(index, layout)| Place { index, offset: layout.offset, length: layout.length })
    }

    /// The places of all messages.
    pub(crate) fn all(&self) -> impl Iterator<Item = Place> + use<> {
        self.places(0..self.messages.len())
    }

    /// The number of the first message that begins at or after `offset`.
    pub(crate) fn message_from(&self, offset: u64) -> usize {
        self.messages.partition_point(|message| message.offset < offset)
    }

    /// `length` bytes from `offset` on.
    ///
    /// # Errors
    /// The errors of reading; [`io::ErrorKind::UnexpectedEof`] if the file is shorter by now.
    pub(crate) fn bytes(&self, offset: u64, length: u64) -> Result<Cow<'_, [u8]>, TensogramError> {
        if let Some(bytes) = self.borrowed(offset, length) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::new();
        self.read_into(offset, length, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// All bytes of the file.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub(crate) fn all_bytes(&self) -> Result<Cow<'_, [u8]>, TensogramError> {
        self.bytes(0, self.len())
    }

    /// Copies bytes to `sink` in chunks.
    ///
    /// # Errors
    /// Errors of [`Self::bytes`], and of writing.
    pub(crate) fn copy(&self, offset: u64, length: u64, sink: &mut dyn Write) -> io::Result<()> {
        let (mut at, end) = (offset, MessageLayout { offset, length }.end());
        while at < end {
            let some = CHUNK.min(end - at);
            self.progress.take_up(at, some, self.message_from(at));
            sink.write_all(&self.bytes(at, some).map_err(io::Error::other)?)?;
            at += some;
            self.progress.come_to(at, self.message_from(at));
        }
        Ok(())
    }

    /// Fills `buffer` with bytes of the file.
    pub(crate) fn read_into(&self, offset: u64, length: u64, buffer: &mut Vec<u8>) -> Result<(), TensogramError> {
        let too_large = || TensogramError::Encoding(format!("{length} bytes are too many for this machine").into());
        let len = usize::try_from(length).map_err(|_| too_large())?;
        // A longer buffer needs no more. Bytes of the read before stay until this read replaces them: only what the buffer grows by is filled with zeros.
        buffer.try_reserve_exact(len.saturating_sub(buffer.len())).map_err(|_| too_large())?;
        buffer.resize(len, 0);
        let read = self.archive.read_at(offset, buffer)?;
        if read == len { Ok(()) } else { Err(self.shorter(MessageLayout { offset, length: read as u64 }.end())) }
    }

    /// Fills `out` with bytes from `offset` on. Returns how many they are: fewer only at the end.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, TensogramError> {
        self.archive.read_at(offset, out)
    }

    /// The wanted parts of the message at a place.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub(crate) fn message(&self, place: Place, wanted: MessagePart) -> Result<Vec<u8>, TensogramError> {
        wanted.of(&self.archive, place.layout()).map(Cow::into_owned).map_err(|error| match error {
            TensogramError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.shorter(place.end()),
            other => other,
        })
    }

    /// The bytes at a position, if the file is in memory.
    pub(crate) fn borrowed(&self, offset: u64, length: u64) -> Option<&[u8]> {
        self.archive.bytes_at(offset..MessageLayout { offset, length }.end())
    }

    /// The error for a file that became shorter after it was opened: byte `position` is missing.
    pub(crate) fn shorter(&self, position: u64) -> TensogramError {
        shorter(self.len(), position)
    }
}

/// Bytes between messages, if there are any.
fn junk(start: u64, end: u64) -> Option<Segment> {
    end.checked_sub(start).filter(|length| *length > 0).map(|length| Segment::Junk { offset: start, length })
}

/// The error for a file that had `length` bytes when it was opened: byte `position` is missing.
pub(crate) fn shorter(length: u64, position: u64) -> TensogramError {
    let text = format!(
        "the file was truncated while it was read: it had {length} bytes and does not reach byte {position} any more"
    );
    TensogramError::Io(io::Error::new(io::ErrorKind::UnexpectedEof, text))
}

pub(crate) fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(length).ok()?)?)
}

#[cfg(test)]
mod tests;
