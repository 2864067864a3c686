//! GRIB messages in any source: one after the other, with whatever lies between them.

use std::io::{self, Read};

use memchr::memmem;

use super::error::{GribError, GribErrorKind};
use super::sections::{Indicator, MAGIC, Message, Stated};

/// Bytes that are read at a time.
const PIECE: usize = 256 << 10;
/// Bytes that tell the edition and the length of a message.
const START: usize = 16;
/// Bytes without a message that are kept before they are reported.
const MOST_LOST: usize = 1 << 20;
/// The longest message that is read, unless the caller says another.
const LIMIT: u64 = 4 << 30;

/// What a source holds next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Found<'r> {
    /// A message.
    Message {
        /// Where it begins, in bytes from the start of the source.
        offset: u64,
        /// The message.
        bytes: &'r [u8],
    },
    /// Bytes that belong to no message.
    Other {
        /// Where they begin.
        offset: u64,
        /// How many they are.
        length: u64,
        /// What is wrong with them, if they begin like a message. Offsets count from the start of the source.
        error: Option<GribError>,
    },
}

/// Reads the messages of a source one at a time. It needs memory for the longest message.
///
/// Bytes that belong to no message are reported, and reading goes on after them. A message whose length is wrong costs
/// memory for the bytes that it claims, up to the limit and the end of the source.
///
/// ```
/// use tgm_convert::grib2::{Found, MessageReader};
///
/// let bytes = [b"junk", &b"GRIB\0\0\0\x02\0\0\0\0\0\0\0\x147777"[..]].concat();
/// let mut reader = MessageReader::new(&bytes[..]);
/// assert!(matches!(reader.read_next()?, Some(Found::Other { offset: 0, length: 4, .. })));
/// assert!(matches!(reader.read_next()?, Some(Found::Message { offset: 4, .. })));
/// assert!(reader.read_next()?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MessageReader<R> {
    source: R,
    limit: u64,
    buffer: Vec<u8>,
    /// Where the next bytes begin in `buffer`.
    start: usize,
    /// Where they begin in the source.
    offset: u64,
    /// How many of them were handed out.
    used: usize,
    is_at_end: bool,
}

impl<R: Read> MessageReader<R> {
    /// A reader from where `source` is.
    pub const fn new(source: R) -> Self {
        Self { source, limit: LIMIT, buffer: Vec::new(), start: 0, offset: 0, used: 0, is_at_end: false }
    }

    /// Reads no message that is longer than `limit` bytes, instead of 4 GiB.
    #[must_use]
    pub const fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// The next message, or the bytes in front of it that belong to none. `None` at the end.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn read_next(&mut self) -> io::Result<Option<Found<'_>>> {
        self.step();
        let (mut lost, mut error) = (0_usize, None);
        // Bytes up to `lost` belong to no message.
        let length = loop {
            let Some(found) = self.find_magic(&mut lost)? else { break None };
            lost = found;
            match self.message_at(found)? {
                Ok(length) => break Some(length),
                Err(wrong) => {
                    error = error.or(Some(wrong.shift(self.offset + found as u64)));
                    lost = found + MAGIC.len();
                }
            }
        };
        let offset = self.offset;
        if lost > 0 {
            self.used = lost;
            // Such bytes can be the rest of a text, which needs no sentence.
            return Ok(Some(Found::Other { offset, length: lost as u64, error }));
        }
        let Some(length) = length else { return Ok(None) };
        self.used = length;
        Ok(Some(Found::Message { offset, bytes: self.next_bytes().get(..length).unwrap_or_default() }))
    }

    /// Leaves what was handed out after. The buffer is moved only after a piece of it, so that small messages cost little.
    fn step(&mut self) {
        self.start += self.used;
        self.offset += self.used as u64;
        self.used = 0;
        if self.start >= PIECE {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
    }

    /// The bytes that were not handed out. Positions count from the first of them.
    fn next_bytes(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Where "GRIB" stands from `from` on. `None` at the end, and after many bytes without it, with `from` moved there.
    fn find_magic(&mut self, from: &mut usize) -> io::Result<Option<usize>> {
        loop {
            let searched = self.next_bytes().get(*from..).unwrap_or_default();
            if let Some(found) = memmem::find(searched, MAGIC) {
                return Ok(Some(*from + found));
            }
            let len = self.next_bytes().len();
            if self.is_at_end {
                *from = len;
                return Ok(None);
            }
            // The next piece may complete the word.
            *from = (*from).max(len.saturating_sub(MAGIC.len() - 1));
            if *from >= MOST_LOST {
                return Ok(None);
            }
            self.fill(len + 1)?;
        }
    }

    /// The length of the message at `at`.
    fn message_at(&mut self, at: usize) -> io::Result<Result<usize, GribError>> {
        let mut wanted = START;
        let length = loop {
            self.fill(at.saturating_add(wanted))?;
            let start = self.next_bytes().get(at..).unwrap_or_default();
            match Indicator::parse(start).map(|indicator| indicator.length) {
                Err(error) => return Ok(Err(error)),
                Ok(Stated::Length(length)) if length > self.limit => return Ok(Err(self.too_long(length))),
                Ok(Stated::Length(length)) => break length,
                Ok(Stated::Wanted { bytes, .. }) if bytes as u64 > self.limit => {
                    return Ok(Err(self.too_long(bytes as u64)));
                }
                Ok(Stated::Wanted { length, .. }) if self.is_at_end => {
                    return Ok(Err(GribErrorKind::Truncated(length).at(start.len())));
                }
                Ok(Stated::Wanted { bytes, .. }) => wanted = bytes,
            }
        };
        self.fill(at.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)))?;
        let message = Message::parse(self.next_bytes().get(at..).unwrap_or_default());
        Ok(message.map(|(message, _)| message.as_bytes().len()))
    }

    const fn too_long(&self, length: u64) -> GribError {
        GribErrorKind::TooLong { length, limit: self.limit }.at(0)
    }

    /// Reads until there are `wanted` bytes or the source ends. The buffer grows as bytes come.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let missing = wanted.saturating_sub(self.next_bytes().len());
        if missing == 0 || self.is_at_end {
            return Ok(());
        }
        // Read ahead, so that small messages do not take two calls each.
        let missing = missing.max(PIECE) as u64;
        let read = self.source.by_ref().take(missing).read_to_end(&mut self.buffer)?;
        self.is_at_end = (read as u64) < missing;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// The shortest message that has a length and an end.
    fn short() -> Vec<u8> {
        [&b"GRIB\0\0\0\x02\0\0\0\0\0\0\0\x14"[..], b"7777"].concat()
    }

    /// Offset, length and whether it is a message, for everything in `bytes`, read byte by byte or at once.
    fn all(bytes: &[u8]) -> Vec<(u64, u64, bool)> {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let len = out.len().min(1);
                self.0.read(&mut out[..len])
            }
        }
        fn list(mut reader: MessageReader<impl Read>) -> Vec<(u64, u64, bool)> {
            let mut found = Vec::new();
            while let Some(next) = reader.read_next().unwrap() {
                found.push(match next {
                    Found::Message { offset, bytes } => (offset, bytes.len() as u64, true),
                    Found::Other { offset, length, .. } => (offset, length, false),
                });
            }
            found
        }
        let (slow, fast) = (list(MessageReader::new(Slow(bytes))), list(MessageReader::new(bytes)));
        assert_eq!(slow, fast);
        fast
    }

    #[test]
    fn messages_are_found_between_other_bytes() {
        let bytes = [b"GRI".to_vec(), short(), short(), b"GRIB 7777".to_vec(), short(), b"GRIB".to_vec()].concat();
        let expected = [(0, 3, false), (3, 20, true), (23, 20, true), (43, 9, false), (52, 20, true), (72, 4, false)];
        assert_eq!(all(&bytes), expected);
        assert_eq!(all(&[]), []);
    }

    #[test]
    fn a_length_that_lies_hides_no_message_behind_it() {
        for length in [0_u64, 19, 30, 1 << 40, u64::MAX] {
            let mut bytes = [short(), short(), short()].concat();
            bytes[28..36].copy_from_slice(&length.to_be_bytes());
            assert_eq!(all(&bytes), [(0, 20, true), (20, 20, false), (40, 20, true)], "{length}");
        }
    }

    #[test]
    fn the_limit_is_kept_and_the_error_names_it() {
        let bytes = [short(), short()].concat();
        let mut reader = MessageReader::new(&bytes[..]).limit(19);
        let Some(Found::Other { error: Some(error), length: 40, .. }) = reader.read_next().unwrap() else { panic!() };
        assert_eq!(error.kind(), GribErrorKind::TooLong { length: 20, limit: 19 });
    }
}
