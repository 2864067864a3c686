//! What one step of the machine yields, and the few bytes that it keeps.

use core::ops::Range;

use super::event::{FrameBegin, FrameEnd, MessageEnd, Part, TooLarge};
use crate::wire::Preamble;

/// As much as the largest of the fixed layouts.
pub(super) const SMALL: usize = 24;

/// What became of a step.
#[derive(Debug)]
pub(super) enum Progress<'i> {
    /// Something to tell.
    Tell(Step<'i>),
    /// Another state, or input consumed: go on.
    Moved,
    /// The input has been consumed, and more is needed.
    Hungry,
}

/// An event whose bytes are not looked up yet.
#[derive(Debug)]
pub(super) enum Step<'i> {
    Resynchronised { skipped: u64 },
    Preamble(Preamble),
    FrameBegin(FrameBegin),
    Cbor(Span<'i>),
    Descriptor(Span<'i>),
    Chunk { bytes: Span<'i>, part: Part, body_offset: u64 },
    TooLarge(TooLarge),
    FrameEnd(FrameEnd),
    MessageEnd(MessageEnd),
}

impl Step<'_> {
    /// The same for a step whose input was what is left of a carry, of which `at` bytes had been read.
    pub(super) fn carried<'i>(self, at: usize) -> Step<'i> {
        match self {
            Self::Resynchronised { skipped } => Step::Resynchronised { skipped },
            Self::Preamble(preamble) => Step::Preamble(preamble),
            Self::FrameBegin(begin) => Step::FrameBegin(begin),
            Self::Cbor(bytes) => Step::Cbor(bytes.carried(at)),
            Self::Descriptor(bytes) => Step::Descriptor(bytes.carried(at)),
            Self::Chunk { bytes, part, body_offset } => Step::Chunk { bytes: bytes.carried(at), part, body_offset },
            Self::TooLarge(too_large) => Step::TooLarge(too_large),
            Self::FrameEnd(end) => Step::FrameEnd(end),
            Self::MessageEnd(end) => Step::MessageEnd(end),
        }
    }
}

/// Where bytes lie.
#[derive(Clone, Debug)]
pub(super) enum Span<'i> {
    Input(&'i [u8]),
    Memory(Range<usize>),
    Carry(Range<usize>),
}

impl<'i> Span<'i> {
    /// The bytes, where those of the memory and of the carry are these.
    pub(super) fn bytes<'a>(self, memory: &'a [u8], carry: &'a [u8]) -> &'a [u8]
    where
        'i: 'a,
    {
        match self {
            Self::Input(bytes) => bytes,
            Self::Memory(range) => memory.get(range).unwrap_or_default(),
            Self::Carry(range) => carry.get(range).unwrap_or_default(),
        }
    }
}

impl Span<'_> {
    fn carried<'i>(self, at: usize) -> Span<'i> {
        match self {
            // Steps take bytes from the front of their input.
            Self::Input(bytes) => Span::Carry(at..at.saturating_add(bytes.len())),
            Self::Memory(range) => Span::Memory(range),
            Self::Carry(range) => Span::Carry(range),
        }
    }
}

/// Up to 24 bytes: a fixed layout that has not come whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    bytes: [u8; SMALL],
    len: usize,
}

impl Small {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; SMALL], len: 0 }
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let free = self.bytes.get_mut(self.len..).unwrap_or_default();
        self.len = self.len.saturating_add(copy(bytes, free));
    }

    pub(super) fn remove_first(&mut self) {
        let [_, rest @ ..] = self.bytes;
        let _ = copy(&rest, &mut self.bytes);
        self.len = self.len.saturating_sub(1);
    }
}

/// Bytes that were read ahead, while it was not clear what they are, and are still to be understood.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carry {
    small: Small,
    at: usize,
}

impl Carry {
    pub(super) const fn new() -> Self {
        Self { small: Small::new(), at: 0 }
    }

    pub(super) const fn set(&mut self, small: Small) {
        *self = Self { small, at: 0 };
    }

    pub(super) const fn clear(&mut self) {
        self.set(Small::new());
    }

    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &[u8] {
        self.small.as_slice().get(self.at..).unwrap_or_default()
    }

    pub(super) const fn advance(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.small.as_slice()
    }
}

/// Copies what fits; how many bytes that was.
pub(super) fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let count = from.len().min(to.len());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    count
}

/// Splits up to `limit` bytes off the front.
pub(super) fn split_front<'i>(input: &mut &'i [u8], limit: u64) -> &'i [u8] {
    let count = input.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
    let (front, rest) = input.split_at_checked(count).unwrap_or_default();
    *input = rest;
    front
}
