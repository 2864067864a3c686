//! A message of a file, and its place.

use std::fmt;

use serde_json::Value as Json;

use tgm_core::scan::Segment;
use tgm_std::MessageLayout;

use crate::show::table::Cell;

/// The place of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which message of the file.
    pub(crate) index: usize,
    /// Bytes from the file's start.
    pub(crate) offset: u64,
    /// Bytes of the message.
    pub(crate) length: u64,
}

impl Place {
    pub(crate) const fn layout(self) -> MessageLayout {
        MessageLayout { offset: self.offset, length: self.length }
    }

    /// The byte after the message.
    pub(crate) const fn end(self) -> u64 {
        self.layout().end()
    }
}

/// The byte after a part of a file.
pub(crate) const fn end_of(segment: &Segment) -> u64 {
    MessageLayout { offset: segment.offset(), length: segment.length() }.end()
}

/// Which message of a file an entry is, from 0. `None` if only its offset was given, at an address: its number would cost a
/// request for each message before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageNumber(pub(crate) Option<usize>);

impl fmt::Display for MessageNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(index) => index.fmt(f),
            None => f.write_str("?"),
        }
    }
}

impl From<usize> for MessageNumber {
    fn from(index: usize) -> Self {
        Self(Some(index))
    }
}

impl From<MessageNumber> for Json {
    fn from(number: MessageNumber) -> Self {
        number.0.into()
    }
}

impl From<MessageNumber> for Cell {
    fn from(number: MessageNumber) -> Self {
        number.0.map_or_else(|| Self::from("?"), Self::from)
    }
}

/// A message of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'f> {
    /// The file's name as the user gave it.
    pub(crate) file: &'f str,
    /// Which message of the file.
    pub(crate) index: MessageNumber,
    /// Bytes from the file's start.
    pub(crate) offset: u64,
    /// The message's bytes. Parts that were not wanted ([`MessagePart`](crate::read::input::MessagePart)) are 0.
    pub(crate) bytes: &'f [u8],
}

impl<'f> Entry<'f> {
    /// The message at `place` of a file, which has these bytes.
    pub(crate) const fn new(file: &'f str, place: Place, bytes: &'f [u8]) -> Self {
        Self { file, index: MessageNumber(Some(place.index)), offset: place.offset, bytes }
    }

    /// The message's place as text.
    pub(crate) fn place(&self) -> String {
        match self.index.0 {
            Some(index) => format!("{}: message {index}", self.file),
            None => format!("{}: message at byte {}", self.file, self.offset),
        }
    }

    /// An object's place as text.
    pub(crate) fn object_place(&self, object: usize) -> String {
        format!("{}, object {object}", self.place())
    }

    /// Bytes of the message.
    pub(crate) const fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}
