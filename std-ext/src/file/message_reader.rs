//! Whole messages from anything that can be read: pipes, sockets, standard input, files.
//!
//! ```text
//! reader ─► buffer ─┬─ reliable: scan of the bytes that have come ─┬─► message, junk
//!                   └─ lossy: push decoder ────────────────────────┘
//! ```

mod buffer;
mod held;
mod kept_junk;
mod lossy;
mod next_segment;
mod reliable;

use std::io::Read;
use std::ops::Deref;

use tgm_core::push::Link;
use tgm_core::scan::Segment;
use tgm_core::wire::MIN_MESSAGE_SIZE;

pub(super) use self::buffer::Buffer;
use self::kept_junk::KeptJunk;
use self::lossy::Lossy;
use self::next_segment::NextSegment;
use self::reliable::Reliable;
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve_more;

/// Options of [`MessageReader`].
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    /// Bytes of the longest message that is read: 4 GiB. A longer one is an error, and reading can go on after it.
    pub max_message_bytes: u64,
    /// Whether all bytes arrive, or some can be lost on the way. [`Link::Reliable`] by default.
    pub link: Link,
    /// How many of the first bytes of junk are kept for [`StreamPart::Junk`]: none by default.
    pub max_junk_bytes: usize,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self { max_message_bytes: 4 << 30, link: Link::Reliable, max_junk_bytes: 0 }
    }
}

/// A whole message of a stream. Its bytes are borrowed from the reader.
#[derive(Clone, Copy, Debug)]
pub struct MessageBytes<'r> {
    offset: u64,
    bytes: &'r [u8],
}

impl<'r> MessageBytes<'r> {
    /// Where the message begins, in bytes from the start of the stream.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The message.
    pub const fn as_bytes(&self) -> &'r [u8] {
        self.bytes
    }
}

impl Deref for MessageBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

/// A part of a stream: a message, or bytes between messages.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StreamPart<'r> {
    /// A whole message.
    Message(MessageBytes<'r>),
    /// Bytes that belong to no message.
    Junk {
        /// Where they begin, in bytes from the start of the stream.
        offset: u64,
        /// How many they are.
        length: u64,
        /// The first of them, at most [`StreamOptions::max_junk_bytes`].
        beginning: &'r [u8],
    },
}

/// Reads whole messages from `R`, one after the other, while the stream may stay open.
///
/// A message is returned as soon as its last byte is there. `R` need not seek, and a read may return any number of bytes.
/// Reads go to an own buffer, so `R` needs none.
///
/// ```
/// use tgm_std::DecodeOptions;
/// use tgm_std::file::MessageReader;
///
/// # let stream = std::fs::File::open("../tests/data/multi/three.tgm").unwrap(); // or standard input, or a socket
/// let mut reader = MessageReader::new(stream);
/// let mut count = 0;
/// while let Some(message) = reader.next_message()? {
///     let (metadata, objects) = tgm_std::decode(&message, &DecodeOptions::default())?;
///     println!("{} objects in the message at {}", objects.len(), message.offset());
///     count += 1;
/// }
/// assert_eq!(count, 3);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// # Three ways to read
/// | want | take | memory |
/// |---|---|---|
/// | messages, borrowed | [`Self::next_message`] | one buffer, used again for each message |
/// | messages, and the bytes between them | [`Self::next_part`] | the same |
/// | messages that outlive the reader | the [`Iterator`] | a vector for each message |
///
/// # Bytes that belong to no message
/// On a reliable stream, messages and junk are those that [`tgm_core::scan::scan`] finds in all bytes of the stream. Junk is
/// reported together with what follows it: only the next message, or the end of the stream, says where it ends. A
/// message whose writer was stopped stays open until the stream ends: its bytes may still come. Then they are junk.
///
/// In one case a stream is cut in another way than a scan of all bytes would cut it. Where damaged bytes would have to be
/// looked at for more than [`StreamOptions::max_message_bytes`], the place counts as junk.
///
/// On a lossy stream ([`Link::Lossy`]), a preamble inside a frame begins a new message, and a message whose frames are
/// damaged is junk. [`tgm_core::push`] has the rules. Digests are not checked in either case.
///
/// # Memory
/// The buffer holds one message, which [`StreamOptions::max_message_bytes`] limits, and what was read after it: at most
/// twice the longest message that came, and 128 KiB. A length that a message states takes no memory before the bytes come.
/// A message beyond the limit is reported when this many of its bytes were read. The rest is skipped.
///
/// # Errors
/// After an error, go on calling. Nothing is lost by [`TensogramError::Io`]: a reader that does not block gives
/// [`WouldBlock`](std::io::ErrorKind::WouldBlock), and the same call can be repeated when there is more.
/// [`Interrupted`](std::io::ErrorKind::Interrupted) is not reported. [`TensogramError::MessageTooLarge`] says which message
/// is longer than the limit; the next call skips it. After the end of the stream, all calls return `None`, and `R` is not
/// read again.
#[derive(Debug)]
pub struct MessageReader<R> {
    reader: R,
    finder: Finder,
    junk: KeptJunk,
    limit: u64,
}

/// How messages are found.
#[derive(Debug)]
enum Finder {
    Reliable(Box<Reliable>),
    Lossy(Box<Lossy>),
}

impl Finder {
    fn buffer(&self) -> &Buffer {
        match self {
            Self::Reliable(finder) => finder.buffer(),
            Self::Lossy(finder) => finder.buffer(),
        }
    }
}

impl<R: Read> MessageReader<R> {
    /// A reader of a reliable stream, with the default limit.
    pub fn new(reader: R) -> Self {
        Self::with_options(reader, &StreamOptions::default())
    }

    /// A reader with options.
    pub fn with_options(reader: R, options: &StreamOptions) -> Self {
        let finder = match options.link {
            Link::Reliable => Finder::Reliable(Box::new(Reliable::new())),
            Link::Lossy => Finder::Lossy(Box::new(Lossy::new())),
        };
        // No message is shorter, and a preamble has to fit.
        let limit = options.max_message_bytes.max(MIN_MESSAGE_SIZE as u64);
        Self { reader, finder, junk: KeptJunk::new(options.max_junk_bytes), limit }
    }

    /// The next message, borrowed until the next call. Junk is passed over. `None` at the end of the stream.
    ///
    /// # Errors
    /// [`TensogramError::Io`] of the reader; [`TensogramError::MessageTooLarge`]; [`TensogramError::Encoding`] if there is
    /// no memory. The call can be repeated.
    pub fn next_message(&mut self) -> Result<Option<MessageBytes<'_>>> {
        let place = self.find_message()?;
        Ok(place.map(|(offset, length)| self.message(offset, length)))
    }

    /// The next part of the stream: a message, or the junk before the next message. `None` at the end of the stream.
    ///
    /// # Errors
    /// The errors of [`Self::next_message`].
    pub fn next_part(&mut self) -> Result<Option<StreamPart<'_>>> {
        Ok(self.find()?.map(|segment| match segment {
            Segment::Message { offset, length } => StreamPart::Message(self.message(offset, length)),
            Segment::Junk { offset, length } => StreamPart::Junk { offset, length, beginning: self.junk.bytes() },
        }))
    }

    /// The reader below. Bytes that were read ahead are not in it any more.
    pub const fn get_ref(&self) -> &R {
        &self.reader
    }

    /// The reader below, for example to set a timeout. What is read from it directly is missing here.
    pub const fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    fn message(&self, offset: u64, length: u64) -> MessageBytes<'_> {
        MessageBytes { offset, bytes: self.finder.buffer().slice(offset, length) }
    }

    /// The place of the next message.
    fn find_message(&mut self) -> Result<Option<(u64, u64)>> {
        loop {
            match self.find()? {
                None => return Ok(None),
                Some(Segment::Message { offset, length }) => return Ok(Some((offset, length))),
                Some(Segment::Junk { .. }) => {}
            }
        }
    }

    /// The place of the next part.
    fn find(&mut self) -> Result<Option<Segment>> {
        let Self { reader, finder, junk, limit } = self;
        let found = match finder {
            Finder::Reliable(finder) => finder.next(reader, *limit, junk),
            Finder::Lossy(finder) => finder.next(reader, *limit, junk),
        }?;
        match found {
            None => Ok(None),
            Some(NextSegment::Message { offset, length }) => Ok(Some(Segment::Message { offset, length })),
            Some(NextSegment::Junk { offset, length }) => Ok(Some(Segment::Junk { offset, length })),
            Some(NextSegment::TooLarge { offset, length }) => {
                Err(TensogramError::MessageTooLarge { offset, length, limit: *limit })
            }
        }
    }
}

/// The messages, each in a vector of its own. Junk is passed over.
///
/// After an error the iterator goes on as [`MessageReader::next_message`] does. A program that stops at the first error ends
/// the loop itself.
impl<R: Read> Iterator for MessageReader<R> {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Result<Vec<u8>>> {
        let owned = |message: MessageBytes<'_>| {
            let mut bytes = Vec::new();
            reserve_more(&mut bytes, message.len())?;
            bytes.extend_from_slice(&message);
            Ok(bytes)
        };
        self.next_message().and_then(|message| message.map(owned).transpose()).transpose()
    }
}
