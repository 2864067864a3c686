//! Byte strings and texts as views of the bytes that encode them.

use core::fmt;
use core::iter::FusedIterator;

use super::cursor::Cursor;
use super::head::Head;
use super::utf8::Check;
use crate::names::WireName;

/// A byte string, in one piece or in chunks.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    content: Cursor<'a>,
    major: u8,
    indefinite: bool,
}

impl<'a> Bytes<'a> {
    /// The string with this `head`, and with `content` after the head.
    pub(super) const fn new(content: Cursor<'a>, head: &Head) -> Self {
        Self { content, major: head.major, indefinite: head.is_indefinite() }
    }

    /// The bytes, if they are in one piece.
    pub const fn as_slice(&self) -> Option<&'a [u8]> {
        if self.indefinite { None } else { Some(self.content.rest()) }
    }

    /// The pieces, in order.
    pub const fn chunks(&self) -> Chunks<'a> {
        Chunks { string: *self, done: false }
    }

    /// The number of bytes in all pieces.
    pub fn len(&self) -> usize {
        self.chunks().fold(0, |sum, chunk| sum.saturating_add(chunk.len()))
    }

    /// Whether the string has no bytes.
    pub fn is_empty(&self) -> bool {
        self.chunks().all(<[u8]>::is_empty)
    }

    /// Whether the pieces, joined, equal `other`.
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

impl<'a> IntoIterator for Bytes<'a> {
    type Item = &'a [u8];
    type IntoIter = Chunks<'a>;

    fn into_iter(self) -> Chunks<'a> {
        self.chunks()
    }
}

/// The pieces of a byte string.
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
    /// In one piece. Every known writer of the format writes text like this.
    Whole(&'a str),
    /// In several pieces, each of which is UTF-8.
    Chunked(Bytes<'a>),
}

impl<'a> Text<'a> {
    /// The choice among the names of `K` that this text stands for.
    pub(crate) fn known<K: WireName>(self) -> Option<K> {
        match self {
            Self::Whole(text) => K::from_bytes(text.as_bytes()),
            Self::Chunked(bytes) => K::all().iter().copied().find(|k| bytes.eq_bytes(k.wire_name().as_bytes())),
        }
    }

    /// The text, if it is in one piece.
    pub const fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Whole(text) => Some(text),
            Self::Chunked(_) => None,
        }
    }

    /// The pieces, in order.
    pub fn chunks(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (whole, chunks) = match *self {
            Self::Whole(text) => (Some(text), None),
            Self::Chunked(bytes) => (None, Some(bytes.chunks())),
        };
        let chunks = chunks.into_iter().flatten().map(|chunk| core::str::from_utf8(chunk).unwrap_or_default());
        whole.into_iter().chain(chunks)
    }

    /// Whether the text is empty.
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
