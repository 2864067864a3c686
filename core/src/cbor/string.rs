//! Byte strings and texts as views of the bytes that encode them.

use core::fmt;
use core::iter::FusedIterator;

use super::cursor::{Check, Cursor, Head};

/// A byte string, in one piece or in chunks.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    content: Cursor<'a>,
    major: u8,
    indefinite: bool,
}

impl<'a> Bytes<'a> {
    /// The string that `head` begins, of which `content` is what follows.
    pub(super) const fn new(content: Cursor<'a>, head: &Head) -> Self {
        Self { content, major: head.major, indefinite: head.is_indefinite() }
    }

    /// The bytes, if they lie in one piece.
    pub const fn as_slice(&self) -> Option<&'a [u8]> {
        if self.indefinite { None } else { Some(self.content.rest()) }
    }

    /// The pieces that the bytes lie in.
    pub const fn chunks(&self) -> Chunks<'a> {
        Chunks { string: *self, done: false }
    }

    /// How many bytes there are, in all chunks.
    pub fn len(&self) -> usize {
        self.chunks().fold(0, |sum, chunk| sum.saturating_add(chunk.len()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks().all(<[u8]>::is_empty)
    }

    /// Whether the bytes, put together, are `other`.
    pub fn eq_bytes(&self, other: &[u8]) -> bool {
        if let Some(whole) = self.as_slice() {
            return whole == other;
        }
        let mut left = other;
        for chunk in self.chunks() {
            match left.split_at_checked(chunk.len()) {
                Some((front, rest)) if front == chunk => left = rest,
                _ => return false,
            }
        }
        left.is_empty()
    }
}

/// The pieces of a string.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    string: Bytes<'a>,
    done: bool,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.done {
            return None;
        }
        if !self.string.indefinite {
            self.done = true;
            return Some(self.string.content.rest());
        }
        let chunk = self.string.content.string_chunk(self.string.major, Check::Done).ok();
        self.done = chunk.is_none();
        chunk
    }
}

impl FusedIterator for Chunks<'_> {}

/// A text string.
#[derive(Clone, Copy)]
pub enum Text<'a> {
    /// In one piece, as every writer of the format leaves it.
    Whole(&'a str),
    /// In chunks, each of them UTF-8.
    Chunked(Bytes<'a>),
}

impl<'a> Text<'a> {
    /// The text, if it lies in one piece.
    pub const fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Whole(text) => Some(text),
            Self::Chunked(_) => None,
        }
    }

    /// The pieces that the text lies in.
    pub fn chunks(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (whole, chunks) = match *self {
            Self::Whole(text) => (Some(text), None),
            Self::Chunked(bytes) => (None, Some(bytes.chunks())),
        };
        let chunks = chunks.into_iter().flatten().map(|chunk| core::str::from_utf8(chunk).unwrap_or_default());
        whole.into_iter().chain(chunks)
    }

    /// Whether the text, put together, is empty.
    pub fn is_empty(&self) -> bool {
        self.chunks().all(str::is_empty)
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        match self {
            Self::Whole(text) => *text == other,
            Self::Chunked(bytes) => bytes.eq_bytes(other.as_bytes()),
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
