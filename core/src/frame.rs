//! One frame, and the only walk over frames.
//!
//! ```text
//! FR type version flags total_length │ body … │ [cbor_offset] hash ENDF │ padding to a multiple of 8
//! └──────── FrameHeader, 16 ────────┘         └── tail, 12 or 20 ──────┘
//! ```
//!
//! [`Walk`] is the walk itself, without bytes: it is told the headers it meets, says where each frame ends, and keeps the
//! [`DecodePhase`]. [`Frames`] drives it over a slice; the scanner of files drives it over what it reads. What stands
//! between a frame and the next `FR` is stepped over, whatever it is (FORMAT §1.8): writers put zeros there.

use core::fmt;
use core::iter::FusedIterator;

use zerocopy::FromBytes;

use crate::error::{ErrorKind, Result};
#[cfg(feature = "hash")]
use crate::hash::presence::HashPresence;
use crate::phase::DecodePhase;
use crate::target::IS_SMALL;
#[cfg(feature = "hash")]
use crate::wire::MessageFlags;
use crate::wire::{
    DATA_OBJECT_FOOTER_SIZE, END_MAGIC, FRAME_ALIGNMENT, FRAME_END, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameFlags,
    FrameHeader, FrameTail, FrameType, ObjectTail, POSTAMBLE_SIZE,
};

/// A whole frame, borrowed from the bytes `'a`: magic, type, length and `ENDF` were checked, the body was not looked at.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    frame_type: FrameType,
    /// What settles whether the slot holds a digest. It takes a byte that alignment leaves free.
    #[cfg(feature = "hash")]
    pub(crate) presence: HashPresence,
    header: &'a FrameHeader,
    body: &'a [u8],
    tail: &'a FrameTail,
    cbor_offset: u64,
    offset: u64,
}

impl<'a> Frame<'a> {
    /// Reads the frame that `bytes` begin with, and returns it with what follows it (padding included).
    ///
    /// Touches the header and the tail: O(1).
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`], [`ErrorKind::FrameMagic`], [`ErrorKind::UnknownFrameType`],
    /// [`ErrorKind::ReservedFrameType`], [`ErrorKind::FrameTooSmall`], [`ErrorKind::FrameExceedsMessage`],
    /// [`ErrorKind::FrameEnd`]; for data objects [`ErrorKind::CborOffset`].
    ///
    /// Format: FORMAT §1.4 to §1.6, §1.10 rows 8 to 11.
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8])> {
        Self::parse_at(bytes, 0)
    }

    /// [`Self::parse`] for bytes that lie `offset` bytes into the caller's slice.
    pub(crate) fn parse_at(bytes: &'a [u8], offset: u64) -> Result<(Self, &'a [u8])> {
        Self::parse_in_place(bytes, offset).map_err(|e| e.shift(offset))
    }

    /// [`Self::parse_at`] with errors that count from the frame.
    #[inline]
    fn parse_in_place(bytes: &'a [u8], offset: u64) -> Result<(Self, &'a [u8])> {
        let (header, _) =
            FrameHeader::ref_from_prefix(bytes).map_err(|_| ErrorKind::Truncated.at_index(bytes.len()))?;
        let (frame_type, length) = check_header(header, bytes.len() as u64)?;
        let at = FrameHeader::TOTAL_LENGTH_OFFSET;
        let length = usize::try_from(length).map_err(|_| ErrorKind::TooLarge.at_index(at))?;
        let (frame, rest) = bytes.split_at_checked(length).ok_or(ErrorKind::FrameExceedsMessage.at_index(at))?;
        let (front, tail) = FrameTail::ref_from_suffix(frame).map_err(|_| ErrorKind::FrameTooSmall.at_index(at))?;
        check_end(&tail.end, length as u64)?;
        let (front, cbor_offset) = match frame_type {
            FrameType::NTensorFrame => split_cbor_offset(frame)?,
            _ => (front, 0),
        };
        let body = front.get(FRAME_HEADER_SIZE..).ok_or(ErrorKind::FrameTooSmall.at_index(at))?;
        let frame = Self {
            frame_type,
            #[cfg(feature = "hash")]
            presence: HashPresence::Flagged,
            header,
            body,
            tail,
            cbor_offset,
            offset,
        };
        Ok((frame, rest))
    }

    /// What the frame holds.
    pub const fn frame_type(&self) -> FrameType {
        self.frame_type
    }

    /// The header as it lies in the bytes.
    pub const fn header(&self) -> &'a FrameHeader {
        self.header
    }

    /// The header's flags.
    pub const fn flags(&self) -> FrameFlags {
        self.header.flags()
    }

    /// What the digest covers: the CBOR of a metadata-like frame; payload, masks and descriptor of a data object.
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Where the body starts, in bytes from the start of the caller's slice.
    pub const fn body_offset(&self) -> u64 {
        self.offset.saturating_add(FRAME_HEADER_SIZE as u64)
    }

    /// The hash slot, whether or not it holds a digest (see [`crate::hash`]).
    pub const fn hash_slot(&self) -> u64 {
        self.tail.hash.get()
    }

    /// Bytes from the frame's first to its descriptor's; 0 for other types than the data object.
    pub const fn cbor_offset(&self) -> u64 {
        self.cbor_offset
    }

    /// Where the frame starts, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the frame without padding.
    pub const fn total_length(&self) -> u64 {
        self.header.total_length.get()
    }

    /// Where the frame ends and padding begins, in bytes from the start of the caller's slice.
    pub const fn end_offset(&self) -> u64 {
        self.offset.saturating_add(self.total_length())
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("type", &self.frame_type)
            .field("offset", &self.offset)
            .field("total_length", &self.total_length())
            .field("flags", &self.flags())
            .finish_non_exhaustive()
    }
}

/// Checks a frame header with `room` bytes from its start to where frames end; returns the type and the frame's length,
/// which lies between the type's minimum and `room`.
///
/// # Errors
/// Those of [`Frame::parse`] that a header can show.
pub fn check_header(header: &FrameHeader, room: u64) -> Result<(FrameType, u64)> {
    if header.magic != *FRAME_MAGIC {
        return Err(ErrorKind::FrameMagic.at(0));
    }
    let frame_type =
        FrameType::from_u16(header.frame_type.get()).map_err(|kind| kind.at_index(FrameHeader::FRAME_TYPE_OFFSET))?;
    let length = header.total_length.get();
    if length < frame_type.min_size() as u64 {
        return Err(ErrorKind::FrameTooSmall.at_index(FrameHeader::TOTAL_LENGTH_OFFSET));
    }
    if length > room {
        return Err(ErrorKind::FrameExceedsMessage.at_index(FrameHeader::TOTAL_LENGTH_OFFSET));
    }
    Ok((frame_type, length))
}

/// Checks the four bytes that end a frame of `length` bytes.
pub(crate) fn check_end(end: &[u8; 4], length: u64) -> Result<()> {
    let at = length.saturating_sub(FRAME_END.len() as u64);
    if end == FRAME_END { Ok(()) } else { Err(ErrorKind::FrameEnd.at(at)) }
}

/// Checks that the tail of a data object of `length` bytes points between header and tail; the `cbor_offset`.
pub(crate) fn check_cbor_offset(tail: &ObjectTail, length: u64) -> Result<u64> {
    let tail_start = length.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
    let cbor_offset = tail.cbor_offset.get();
    if cbor_offset < FRAME_HEADER_SIZE as u64 || cbor_offset > tail_start {
        return Err(ErrorKind::CborOffset.at(tail_start));
    }
    Ok(cbor_offset)
}

/// The part of a data-object frame before its tail, and its `cbor_offset`, checked.
fn split_cbor_offset(frame: &[u8]) -> Result<(&[u8], u64)> {
    let too_small = ErrorKind::FrameTooSmall.at_index(FrameHeader::TOTAL_LENGTH_OFFSET);
    let (front, tail) = ObjectTail::ref_from_suffix(frame).map_err(|_| too_small)?;
    Ok((front, check_cbor_offset(tail, frame.len() as u64)?))
}

/// The state of a walk from frame to frame, apart from any source of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    position: u64,
    end: u64,
    phase: DecodePhase,
}

impl Walk {
    /// A walk that begins at byte `position` and must not pass byte `end`.
    pub const fn new(position: u64, end: u64) -> Self {
        Self { position, end, phase: DecodePhase::Header }
    }

    /// Where the next frame is looked for.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Bytes left for frames.
    pub const fn room(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }

    /// Which frames may come next.
    pub const fn phase(&self) -> DecodePhase {
        self.phase
    }

    /// Steps over `bytes` that belong to no frame.
    pub const fn skip(&mut self, bytes: u64) {
        self.position = self.position.saturating_add(bytes);
    }

    /// Enters the frame of that type and length which starts at [`Self::position`]; the walk then stands behind it.
    ///
    /// # Errors
    /// [`ErrorKind::FrameOrder`], [`ErrorKind::PrecederWithoutObject`] at the frame.
    pub fn enter(&mut self, frame_type: FrameType, length: u64) -> Result<()> {
        self.phase = self.phase.after(frame_type).map_err(|kind| kind.at(self.position))?;
        self.position = self.position.saturating_add(length);
        Ok(())
    }

    /// Ends the walk.
    ///
    /// # Errors
    /// [`ErrorKind::DanglingPreceder`] where an object was due.
    pub fn finish(&self) -> Result<()> {
        self.phase.finish().map_err(|kind| kind.at(self.position))
    }
}

/// What stands at a place where a frame may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landmark {
    /// `FR`.
    Frame,
    /// The postamble of a message whose length is not known in advance.
    Postamble,
}

/// The first landmark in `gap`, and how many bytes stand before it: O(bytes before it).
///
/// With `open_ended` a postamble counts as one; it is recognised by its magic, 16 bytes on. It cannot be taken for a
/// frame: its first two bytes would be `FR` only for an offset above 2⁶² (FORMAT §2 row 21).
pub fn find_landmark(gap: &[u8], open_ended: bool) -> Option<(usize, Landmark)> {
    if gap.starts_with(FRAME_MAGIC) {
        return Some((0, Landmark::Frame));
    }
    let frame = gap.windows(FRAME_MAGIC.len()).position(|pair| pair == FRAME_MAGIC);
    let before_frame = frame.and_then(|at| gap.get(..at.saturating_add(POSTAMBLE_SIZE))).unwrap_or(gap);
    let mut places = before_frame.windows(POSTAMBLE_SIZE);
    let postamble = if open_ended { places.position(is_postamble) } else { None };
    match (frame, postamble) {
        // Where both could begin, it is a frame whose payload looks like an end magic.
        (Some(frame), Some(postamble)) if frame <= postamble => Some((frame, Landmark::Frame)),
        (_, Some(postamble)) => Some((postamble, Landmark::Postamble)),
        (frame, None) => frame.map(|at| (at, Landmark::Frame)),
    }
}

fn is_postamble(bytes: &[u8]) -> bool {
    bytes.ends_with(END_MAGIC)
}

/// The frames of a message, in order, with the order checked; ends after an error.
#[derive(Clone)]
pub struct Frames<'a> {
    /// From the walk's position to where frames end; if that is not known, to the end of the caller's bytes.
    rest: &'a [u8],
    walk: Walk,
    open_ended: bool,
    /// What settles which frames hold a digest, as far as the walk has come.
    #[cfg(feature = "hash")]
    pub(crate) presence: HashPresence,
    done: bool,
}

impl<'a> Frames<'a> {
    /// The frames in `bytes`, which lie `offset` bytes into the caller's slice and need not be those of a whole message: the
    /// walk ends at the first postamble that it meets between frames, and it is an error if there is none. To look into
    /// what [`crate::Message::parse`] refuses.
    pub const fn open_ended(bytes: &'a [u8], offset: u64) -> Self {
        Self::new(bytes, offset, true)
    }

    /// The frames in `bytes`; if not `open_ended`, they end with the bytes.
    pub(crate) const fn new(bytes: &'a [u8], offset: u64, open_ended: bool) -> Self {
        let end = offset.saturating_add(bytes.len() as u64);
        Self {
            rest: bytes,
            walk: Walk::new(offset, end),
            open_ended,
            #[cfg(feature = "hash")]
            presence: HashPresence::Flagged,
            done: false,
        }
    }

    /// The frames of a message with these flags.
    #[cfg(feature = "hash")]
    pub(crate) const fn of_message(mut self, flags: MessageFlags) -> Self {
        self.presence = HashPresence::promised(flags);
        self
    }

    /// Where the walk stands, in bytes from the start of the caller's slice: behind the last frame, or, when there are
    /// no more, where a message of unknown length has its postamble.
    pub const fn position(&self) -> u64 {
        self.walk.position()
    }

    /// The next frame. After an error, or behind the last one, there is nothing more to ask for.
    #[expect(clippy::inline_always, reason = "who looks for one frame need not make the others")]
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Result<Option<Frame<'a>>> {
        let landmark = match self.padding() {
            Some(padding) => Some((padding, Landmark::Frame)),
            None => find_landmark(self.rest, self.open_ended),
        };
        match landmark {
            Some((gap, Landmark::Frame)) => {
                self.skip(gap);
                self.frame().map(Some)
            }
            Some((gap, Landmark::Postamble)) => {
                self.skip(gap);
                self.walk.finish().map(|()| None)
            }
            None if self.open_ended => Err(ErrorKind::EndMagic.at(self.walk.position())),
            None => self.walk.finish().map(|()| None),
        }
    }

    /// Bytes before the next frame, if they are the zeros up to a multiple of eight that writers put there.
    ///
    /// What [`find_landmark`] finds as well, without looking at each byte. Where a postamble may stand it has to. Small
    /// machines have better use for the code's bytes.
    #[inline]
    fn padding(&self) -> Option<usize> {
        if self.open_ended || IS_SMALL {
            return None;
        }
        let word = u64::from_be_bytes(*self.rest.first_chunk()?);
        let padding = (self.walk.position().wrapping_neg() & (FRAME_ALIGNMENT as u64 - 1)) as u8;
        // Twice, for no bits are left where there is no padding.
        let is_zero = (word >> 1).wrapping_shr(63_u32.wrapping_sub(u32::from(padding).wrapping_mul(8))) == 0;
        let is_frame = self.rest.get(padding.into()..).is_some_and(|next| next.starts_with(FRAME_MAGIC));
        (is_zero && is_frame).then_some(padding.into())
    }

    fn skip(&mut self, gap: usize) {
        self.walk.skip(gap as u64);
        self.rest = self.rest.get(gap..).unwrap_or_default();
    }

    #[expect(clippy::inline_always, reason = "a part of the above")]
    #[inline(always)]
    fn frame(&mut self) -> Result<Frame<'a>> {
        let (frame, rest) = Frame::parse_at(self.rest, self.walk.position())?;
        self.walk.enter(frame.frame_type(), frame.total_length())?;
        self.rest = rest;
        #[cfg(feature = "hash")]
        let frame = frame.settled_by(&mut self.presence);
        Ok(frame)
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

impl fmt::Debug for Frames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("walk", &self.walk).field("done", &self.done).finish_non_exhaustive()
    }
}
