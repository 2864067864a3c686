//! Frames of version 2, and the walk over them.
//!
//! ```text
//! FR type version flags total_length │ body … │ [cbor_offset] ENDF │ padding to a multiple of 8
//! └──────── FrameHeader, 16 ────────┘         └─ tail, 4 or 12 ───┘
//! ```
//!
//! The header equals that of version 3. The tail has no digest, and data objects have type 4.

use std::iter::FusedIterator;

use tgm_core::frame::{Landmark, Walk};
use tgm_core::wire::{END_MAGIC, FRAME_END, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameFlags, FrameHeader, FrameType, MAGIC};
use tgm_core::{ErrorKind, Result};
use zerocopy::big_endian::U64;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::base::span::tail;

/// The type number of data objects.
const OBJECT_TYPE: u16 = 4;

/// The last 12 bytes of a data object's frame.
#[derive(FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct ObjectTail {
    /// Bytes from the frame's first byte to the descriptor's.
    cbor_offset: U64,
    end: [u8; 4],
}

/// The last 16 bytes of a message.
#[derive(FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Postamble {
    _first_footer_offset: U64,
    pub(super) magic: [u8; 8],
}

/// A whole frame. Magic, type, length and `ENDF` are checked; the body is not.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    /// The frame's type, by the names of version 3.
    pub(super) frame_type: FrameType,
    pub(super) flags: FrameFlags,
    /// The bytes between header and tail.
    pub(super) body: &'a [u8],
    /// Bytes from the body's start to the descriptor; 0 in frames without a data object.
    pub(super) descriptor_start: usize,
    /// Bytes from the message's start.
    pub(super) offset: u64,
}

impl<'a> Frame<'a> {
    /// Reads the frame at the start of `bytes`, which lie `offset` bytes into the message. Returns it and the bytes
    /// after it.
    fn parse(bytes: &'a [u8], offset: u64) -> Result<(Self, &'a [u8])> {
        let at = |kind: ErrorKind, inside: usize| kind.at(offset + inside as u64);
        let (header, _) = FrameHeader::ref_from_prefix(bytes).map_err(|_| at(ErrorKind::Truncated, bytes.len()))?;
        if header.magic != *FRAME_MAGIC {
            return Err(at(ErrorKind::FrameMagic, 0));
        }
        let number = header.frame_type.get();
        let frame_type = frame_type(number).ok_or_else(|| at(ErrorKind::UnknownFrameType(number), 2))?;
        let len = usize::try_from(header.total_length.get()).map_err(|_| at(ErrorKind::TooLarge, 8))?;
        let (frame, rest) = bytes.split_at_checked(len).ok_or_else(|| at(ErrorKind::FrameExceedsMessage, 8))?;
        let behind_header = frame.get(FRAME_HEADER_SIZE..).ok_or_else(|| at(ErrorKind::FrameTooSmall, 8))?;
        let is_object = frame_type.is_data_object();
        let tail_len = if is_object { size_of::<ObjectTail>() } else { FRAME_END.len() };
        let body_len = behind_header.len().checked_sub(tail_len);
        let parts = body_len.and_then(|len| behind_header.split_at_checked(len));
        let (body, tail) = parts.ok_or_else(|| at(ErrorKind::FrameTooSmall, 8))?;
        if !frame.ends_with(FRAME_END) {
            return Err(at(ErrorKind::FrameEnd, len - FRAME_END.len()));
        }
        let descriptor_start = match ObjectTail::ref_from_bytes(tail) {
            Ok(tail) if is_object => {
                let start = tail.cbor_offset.get().checked_sub(FRAME_HEADER_SIZE as u64);
                let start = start.and_then(|start| usize::try_from(start).ok()).filter(|start| *start <= body.len());
                start.ok_or_else(|| at(ErrorKind::CborOffset, FRAME_HEADER_SIZE + body.len()))?
            }
            _ => 0,
        };
        Ok((Self { frame_type, flags: header.flags(), body, descriptor_start, offset }, rest))
    }

    /// Where the body starts, in bytes from the message's start.
    pub(super) const fn body_offset(&self) -> u64 {
        self.offset + FRAME_HEADER_SIZE as u64
    }
}

/// The type of a number: as in version 3, except that data objects have another number.
const fn frame_type(number: u16) -> Option<FrameType> {
    match number {
        OBJECT_TYPE => Some(FrameType::NTensorFrame),
        _ => match FrameType::from_u16(number) {
            Ok(FrameType::NTensorFrame) | Err(_) => None,
            Ok(other) => Some(other),
        },
    }
}

/// The first landmark in `gap`, and the number of bytes before it. If `open_ended`, the message ends at a postamble,
/// which has its magic 8 bytes on; a start magic of another message means that this one was cut short.
fn find_landmark(gap: &[u8], open_ended: bool) -> Option<(usize, Landmark)> {
    for at in 0..gap.len() {
        let rest = gap.get(at..)?;
        if rest.starts_with(FRAME_MAGIC) {
            return Some((at, Landmark::Frame));
        }
        if open_ended {
            let postamble = Postamble::ref_from_prefix(rest).ok();
            if postamble.is_some_and(|(postamble, _)| postamble.magic == *END_MAGIC) {
                return Some((at, Landmark::Postamble));
            }
            if rest.starts_with(MAGIC) {
                return None;
            }
        }
    }
    None
}

/// The frames of a message, in order, with the order checked; ends after an error.
#[derive(Clone)]
pub(super) struct Frames<'a> {
    rest: &'a [u8],
    walk: Walk,
    open_ended: bool,
    done: bool,
    steps: u64,
}

impl<'a> Frames<'a> {
    /// The frames in `bytes`, which lie `offset` bytes into the message. If `open_ended`, a postamble ends them.
    pub(super) const fn new(bytes: &'a [u8], offset: u64, open_ended: bool) -> Self {
        let walk = Walk::new(offset, offset + bytes.len() as u64);
        Self { rest: bytes, walk, open_ended, done: false, steps: 0 }
    }

    /// The position of the walk, in bytes from the message's start.
    pub(super) const fn position(&self) -> u64 {
        self.walk.position()
    }

    /// Steps so far: one for each frame, and one for each byte between frames.
    pub(super) const fn steps(&self) -> u64 {
        self.steps
    }

    fn step(&mut self) -> Result<Option<Frame<'a>>> {
        let Some((gap, landmark)) = find_landmark(self.rest, self.open_ended) else {
            self.steps += self.rest.len() as u64;
            if self.open_ended {
                return Err(ErrorKind::EndMagic.at(self.walk.position()));
            }
            return self.walk.finish().map(|()| None);
        };
        self.steps += gap as u64 + 1;
        self.rest = tail(self.rest, gap as u64);
        self.walk.skip(gap as u64);
        match landmark {
            Landmark::Postamble => self.walk.finish().map(|()| None),
            Landmark::Frame => {
                let (frame, rest) = Frame::parse(self.rest, self.walk.position())?;
                let len = self.rest.len() - rest.len();
                self.walk.enter(frame.frame_type, len as u64)?;
                self.rest = rest;
                Ok(Some(frame))
            }
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let frame = self.step().transpose();
        self.done = !matches!(frame, Some(Ok(_)));
        frame
    }
}

impl FusedIterator for Frames<'_> {}
