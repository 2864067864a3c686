//! `.zio` files: a sequence of messages, each packed into one buffer.
//!
//! A single buffer does not state its end, and a payload part may look like the start of another message. So the codec
//! that packs parts is applied once more: a file is `{ size message }*`, where a message is the single buffer of its
//! parts. Files can be appended to and joined end to end. Messages of 4 GiB and more do not fit.
//!
//! ```text
//! file     FF 00 00 01 2C  ‹message of 300 bytes›   9A ‹message of 154 bytes›  …
//! message  85 ZIO4TENS{…}  18 ‹coordinates›  30 ‹payload›
//! ```
//!
//! The bare buffer of one message is read as well. It has `ZIO` after its first size, which cannot stand there in a
//! sequence.

use std::io::{self, Cursor, Read, Write};

use tgm_std::TensogramError;

use crate::parts::Parts;
use crate::wire::{Error, ErrorKind as K, MAGIC, PackedParts, Size, parts};

/// The messages of a file, each as the buffer that [`Message::from_buffer`](super::Message::from_buffer) opens, with
/// the byte that it starts at. Ends after an error, which concerns the file's framing.
pub const fn messages(file: &[u8]) -> Messages<'_> {
    Messages { file, walk: parts(file), is_started: false }
}

/// The messages of a file. See [`messages`].
///
/// ```
/// use tgm_zio::file;
///
/// let row = [2, b'a', b'b', 1, b'c'];
/// let found: Vec<_> = file::messages(&row).map(Result::unwrap).collect();
/// assert_eq!(found, [(1, &b"ab"[..]), (4, b"c")]);
/// ```
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    file: &'a [u8],
    walk: PackedParts<'a>,
    is_started: bool,
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<(u64, &'a [u8]), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.is_started {
            self.is_started = true;
            if is_bare(self.file) {
                self.walk = parts(&[]);
                return Some(Ok((0, self.file)));
            }
        }
        let message = self.walk.next()?;
        let end = self.walk.offset();
        Some(message.map(|message| (end.saturating_sub(message.len() as u64), message)))
    }
}

impl std::iter::FusedIterator for Messages<'_> {}

/// Whether a file is the buffer of one message instead of a sequence.
fn is_bare(file: &[u8]) -> bool {
    let ([0xFF, _, _, _, _, behind_size @ ..] | [_, behind_size @ ..]) = file else { return false };
    behind_size.starts_with(&MAGIC)
}

/// Bytes of a file that tell a bare buffer from a sequence: a long size and the magic.
const HEAD: usize = 8;

/// Reads the messages of a stream one by one: the memory of one message is used at a time, and a message that came
/// through a pipe is there before the next one is sent.
///
/// Each is the byte that it starts at, and its buffer. Memory grows with the bytes that come, and not with a size that
/// is stated. Ends after an error.
///
/// ```
/// use tgm_zio::{Message, TensBuilder, TensorBuilder, file};
///
/// let mut stream = Vec::new();
/// for values in [[1.0_f32, 2.0], [3.0, 4.0]] {
///     file::write(&mut stream, &TensBuilder::new().tensor(TensorBuilder::new(&[2], &values)).build()?.parts)?;
/// }
/// let mut seen = 0;
/// for message in file::Reader::new(stream.as_slice()) {
///     let (_, buffer) = message?;
///     seen += Message::from_buffer(&buffer, tgm_std::ByteOrder::NATIVE)?.payloads().len();
/// }
/// assert_eq!(seen, 2);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    source: io::Chain<Cursor<Vec<u8>>, R>,
    offset: u64,
    index: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Row,
    End,
}

impl<R: Read> Reader<R> {
    /// A reader of what `source` gives. It reads small pieces, so a file is best buffered.
    pub fn new(source: R) -> Self {
        Self { source: Cursor::new(Vec::new()).chain(source), offset: 0, index: 0, state: State::Start }
    }

    /// Reads up to `len` bytes: fewer at the end of the source.
    fn take(&mut self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.by_ref().take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn message(&mut self) -> Result<Option<(u64, Vec<u8>)>, TensogramError> {
        if self.state == State::Start {
            self.state = State::Row;
            // The head is read in front of what follows.
            let mut head = Vec::new();
            self.source.get_mut().1.take(HEAD as u64).read_to_end(&mut head)?;
            let is_bare = is_bare(&head);
            *self.source.get_mut().0 = Cursor::new(head);
            if is_bare {
                self.state = State::End;
                return Ok(Some((0, self.take(u64::MAX)?)));
            }
        }
        let start = self.offset;
        let (len, size) = match self.take(1)?.first() {
            None => return Ok(None),
            Some(0xFF) => match <[u8; 4]>::try_from(self.take(4)?) {
                Ok(long) => (u64::from(u32::from_be_bytes(long)), 5),
                Err(_) => return Err(K::TruncatedSize.at(self.index, start).into()),
            },
            Some(short) => (u64::from(*short), 1),
        };
        let message = self.take(len)?;
        if (message.len() as u64) < len {
            return Err(K::TruncatedPart.at(self.index, start).into());
        }
        let place = start.saturating_add(size);
        self.offset = place.saturating_add(len);
        self.index = self.index.saturating_add(1);
        Ok(Some((place, message)))
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<(u64, Vec<u8>), TensogramError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::End {
            return None;
        }
        let message = self.message().transpose();
        if !matches!(message, Some(Ok(_))) {
            self.state = State::End;
        }
        message
    }
}

impl<R: Read> std::iter::FusedIterator for Reader<R> {}

/// Appends a message to a sequence.
///
/// # Errors
/// Errors of `sink`. A message that is too large gives `InvalidInput` before anything is written.
pub fn write(sink: &mut impl Write, message: &Parts<'_>) -> io::Result<()> {
    let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let len = message.encoded_len().map_err(invalid)?;
    let size = Size::of(0, usize::try_from(len).unwrap_or(usize::MAX)).map_err(invalid)?;
    sink.write_all(size.as_bytes())?;
    message.write_to(sink)
}
