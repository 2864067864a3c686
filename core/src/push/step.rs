//! The result of one step of the machine, and the few bytes that the machine keeps.

use core::ops::Range;

use super::event::{FrameBegin, FrameEnd, MessageEnd, Part, TooLarge};
use crate::wire::{PREAMBLE_SIZE, Preamble};

/// Bytes of the largest fixed layout. The postamble has as many as the preamble.
pub(super) const SMALL: usize = PREAMBLE_SIZE;

/// The result of a step.
#[derive(Debug)]
pub(super) enum Progress<'i> {
    /// There is an event.
    Tell(Step<'i>),
    /// The state changed, or input was taken. Take another step.
    Moved,
    /// All input was taken, and more is needed.
    Hungry,
}

/// An event that says where its bytes are, but does not borrow them yet.
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
    /// The same step, with its input bytes counted in the carry. The input was the carry without its first `at` bytes.
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

/// Where bytes are.
#[derive(Clone, Debug)]
pub(super) enum Span<'i> {
    Input(&'i [u8]),
    Memory(Range<usize>),
    Carry(Range<usize>),
}

impl<'i> Span<'i> {
    /// The bytes, given the contents of the memory and of the carry.
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
            // A step takes its bytes from the front of its input, so they begin at `at`.
            Self::Input(bytes) => Span::Carry(at..at.saturating_add(bytes.len())),
            Self::Memory(range) => Span::Memory(range),
            Self::Carry(range) => Span::Carry(range),
        }
    }
}

/// Up to 24 bytes: the part of a fixed layout that has come.
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

/// Bytes that were read to see what comes next, and that must now be read as what they are.
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

/// Copies as many bytes as fit, and returns how many those were.
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
