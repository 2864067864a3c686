//! One frame, and the only walk over frames.
//!
//! ```text
//! FR type version flags total_length │ body … │ [cbor_offset] hash ENDF │ padding to a multiple of 8
//! └──────── FrameHeader, 16 ────────┘         └── tail, 12 or 20 ──────┘
//! ```
//!
//! [`Walk`] is the walk without any bytes: its caller tells it each frame's type and length, and it keeps the position and
//! the [`DecodePhase`]. [`Frames`] uses it on a slice. The scanner uses it on a file, and the push decoder on a stream.
//! Bytes between a frame and the next `FR` are stepped over, whatever their values are (FORMAT §1.8); writers put zeros
//! there.

#[cfg(test)]
mod tests;

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

/// A whole frame, borrowed from the bytes `'a`.
///
/// Holding a `Frame` means: magic, type, length and `ENDF` are right. The body was not read.
///
/// ```
/// use tgm_core::Message;
/// use tgm_core::wire::FrameType;
///
/// # let bytes: &[u8] = include_bytes!("../samples/float32-little.tgm");
/// for frame in Message::parse(bytes)?.frames() {
///     let frame = frame?;
///     println!("{} at byte {}: {} bytes", frame.frame_type(), frame.offset(), frame.total_length());
/// }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    frame_type: FrameType,
    /// How to know whether the slot holds a digest. It takes a byte that alignment would leave unused.
    #[cfg(feature = "hash")]
    pub(crate) presence: HashPresence,
    header: &'a FrameHeader,
    body: &'a [u8],
    tail: &'a FrameTail,
    cbor_offset: u64,
    offset: u64,
}

impl<'a> Frame<'a> {
    /// Reads the frame that `bytes` begin with; returns it and the bytes after it, which may begin with padding.
    ///
    /// Reads the header and the tail: O(1).
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

    /// [`Self::parse`] for bytes that are `offset` bytes into a message, which need not be at hand. Errors and
    /// [`Self::offset`] count from the message's start.
    ///
    /// # Errors
    /// The errors of [`Self::parse`].
    pub fn parse_at(bytes: &'a [u8], offset: u64) -> Result<(Self, &'a [u8])> {
        Self::parse_in_place(bytes, offset).map_err(|e| e.shift(offset))
    }

    /// [`Self::parse_at`], with errors that count from the frame's start.
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

    /// The header, borrowed from the bytes.
    pub const fn header(&self) -> &'a FrameHeader {
        self.header
    }

    /// The header's flags.
    pub const fn flags(&self) -> FrameFlags {
        self.header.flags()
    }

    /// The body, which the digest covers. For a data object: payload, masks and descriptor; for other frames: their CBOR.
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Where the body starts, in bytes from the start of the caller's slice.
    pub const fn body_offset(&self) -> u64 {
        self.offset.saturating_add(FRAME_HEADER_SIZE as u64)
    }

    /// The value of the hash slot. [`crate::hash`] says whether it is a digest.
    pub const fn hash_slot(&self) -> u64 {
        self.tail.hash.get()
    }

    /// Bytes from the frame's start to its descriptor; 0 for frames that are not data objects.
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

/// Checks a frame header and returns the frame's type and length.
///
/// `room` is the number of bytes from the frame's start to where frames end. The length is at least the type's minimum and
/// at most `room`.
///
/// # Errors
/// The errors of [`Frame::parse`] that concern the header.
#[inline]
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

/// The digest in the last bytes of the frame of an object: 0 if it has none. `None` if these are fewer bytes than the tail of one.
/// It says whether a frame is the one that was there before. Nothing else is checked.
///
/// ```
/// let bytes = include_bytes!("../../tests/data/multi/three.tgm");
/// let object = tgm_core::Message::parse(bytes)?.object(0)?;
/// let end = usize::try_from(object.frame().end_offset()).unwrap();
/// assert_eq!(tgm_core::frame::stored_hash(&bytes[..end]), Some(object.frame().hash_slot()));
/// # Ok::<(), tgm_core::Error>(())
/// ```
pub fn stored_hash(end: &[u8]) -> Option<u64> {
    let (_, tail) = ObjectTail::ref_from_suffix(end).ok()?;
    Some(tail.hash.get())
}

/// Checks the four bytes that end a frame of `length` bytes.
pub(crate) fn check_end(end: &[u8; 4], length: u64) -> Result<()> {
    let at = length.saturating_sub(FRAME_END.len() as u64);
    if end == FRAME_END { Ok(()) } else { Err(ErrorKind::FrameEnd.at(at)) }
}

/// Returns the `cbor_offset` of a data object of `length` bytes, after the check that it is between header and tail.
pub(crate) fn check_cbor_offset(tail: &ObjectTail, length: u64) -> Result<u64> {
    let tail_start = length.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
    let cbor_offset = tail.cbor_offset.get();
    if cbor_offset < FRAME_HEADER_SIZE as u64 || cbor_offset > tail_start {
        return Err(ErrorKind::CborOffset.at(tail_start));
    }
    Ok(cbor_offset)
}

/// The part of a data object's frame before its tail, and the checked `cbor_offset`.
fn split_cbor_offset(frame: &[u8]) -> Result<(&[u8], u64)> {
    let too_small = ErrorKind::FrameTooSmall.at_index(FrameHeader::TOTAL_LENGTH_OFFSET);
    let (front, tail) = ObjectTail::ref_from_suffix(frame).map_err(|_| too_small)?;
    Ok((front, check_cbor_offset(tail, frame.len() as u64)?))
}

/// The state of a walk from frame to frame, without any source of bytes.
///
/// ```
/// use tgm_core::frame::Walk;
/// use tgm_core::wire::FrameType;
///
/// let mut walk = Walk::new(24, 200);
/// walk.enter(FrameType::HeaderMetadata, 37)?; // a frame from byte 24 to byte 61
/// walk.skip(3); // padding
/// assert_eq!((walk.position(), walk.room()), (64, 136));
/// # Ok::<(), tgm_core::Error>(())
/// ```
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

    /// Where the next frame is expected.
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

    /// Steps over a frame that starts at [`Self::position`], after the check that its type may come next.
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

/// What may be found where a frame may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landmark {
    /// A frame, which begins with `FR`.
    Frame,
    /// The postamble of a message whose length is not known in advance.
    Postamble,
}

/// The first landmark in `gap`, and how many bytes come before it: O(bytes before it).
///
/// With `open_ended` a postamble counts as a landmark. It is recognised by its magic, 16 bytes after its start. It cannot
/// be mistaken for a frame: its first two bytes would be `FR` only for an offset above 2⁶² (FORMAT §2 row 21).
pub fn find_landmark(gap: &[u8], open_ended: bool) -> Option<(usize, Landmark)> {
    if gap.starts_with(FRAME_MAGIC) {
        return Some((0, Landmark::Frame));
    }
    let frame = gap.windows(FRAME_MAGIC.len()).position(|pair| pair == FRAME_MAGIC);
    let before_frame = frame.and_then(|at| gap.get(..at.saturating_add(POSTAMBLE_SIZE))).unwrap_or(gap);
    let mut places = before_frame.windows(POSTAMBLE_SIZE);
    let postamble = if open_ended { places.position(is_postamble) } else { None };
    match (frame, postamble) {
        // `FR` comes first, so the frame begins here, and the end magic after it is part of the frame.
        (Some(frame), Some(postamble)) if frame <= postamble => Some((frame, Landmark::Frame)),
        (_, Some(postamble)) => Some((postamble, Landmark::Postamble)),
        (frame, None) => frame.map(|at| (at, Landmark::Frame)),
    }
}

/// The bits of a position that say how far it is from a multiple of [`FRAME_ALIGNMENT`].
const PADDING_MASK: u64 = FRAME_ALIGNMENT as u64 - 1;
const _: () = assert!(FRAME_ALIGNMENT == size_of::<u64>());

fn is_postamble(bytes: &[u8]) -> bool {
    bytes.ends_with(END_MAGIC)
}

/// The frames of a message, in order. It checks each frame and the order of frames, and it ends after an error.
#[derive(Clone)]
pub struct Frames<'a> {
    /// The bytes from the walk's position to where frames end. If that is not known: to the end of the caller's bytes.
    rest: &'a [u8],
    walk: Walk,
    open_ended: bool,
    /// How to know which frames hold a digest, as far as the walk has come.
    #[cfg(feature = "hash")]
    pub(crate) presence: HashPresence,
    done: bool,
}

impl<'a> Frames<'a> {
    /// The frames in `bytes`, which are `offset` bytes into the caller's slice and may be a part of a message.
    ///
    /// This looks into bytes that [`crate::Message::parse`] refuses. The walk ends at the first postamble between frames. Bytes
    /// without a postamble end the walk with an error.
    pub const fn open_ended(bytes: &'a [u8], offset: u64) -> Self {
        Self::new(bytes, offset, true)
    }

    /// The frames in `bytes`. They end with the bytes or, if `open_ended`, at the first postamble.
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

    /// The walk's position, in bytes from the start of the caller's slice: after the last frame. When all frames were read
    /// and the message does not state its length, this is where its postamble starts.
    pub const fn position(&self) -> u64 {
        self.walk.position()
    }

    /// Which frames may come next. [`crate::Message::frames_at`] goes on from here and [`Self::position`].
    pub const fn phase(&self) -> DecodePhase {
        self.walk.phase()
    }

    /// The same walk, as if the frames before had led to `phase`.
    pub(crate) const fn in_phase(mut self, phase: DecodePhase) -> Self {
        self.walk.phase = phase;
        self
    }

    /// The next frame. Must not be called after an error or after the last frame.
    #[expect(clippy::inline_always, reason = "a caller that looks for one frame then skips the construction of others")]
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

    /// The number of bytes before the next frame, if they are what writers put there: zeros up to a multiple of eight.
    ///
    /// [`find_landmark`] finds the same frame. This way reads one word instead of each byte:
    ///
    /// ```text
    /// padding = -position mod 8                            0 to 7 bytes
    /// the first `padding` bytes of the word are zero   ⇔   word >> (64 - 8 · padding) == 0
    /// `FR` follows them
    /// ```
    ///
    /// `None` if anything else is there. Also `None` if a postamble may come instead, which only [`find_landmark`] sees.
    #[inline]
    fn padding(&self) -> Option<usize> {
        if self.open_ended || IS_SMALL {
            return None;
        }
        let word = u64::from_be_bytes(*self.rest.first_chunk()?);
        let padding = (self.walk.position().wrapping_neg() & PADDING_MASK) as u8;
        // Two shifts: without padding a single shift would be by 64, which overflows.
        let is_zero = (word >> 1).wrapping_shr(63_u32.wrapping_sub(u32::from(padding).wrapping_mul(8))) == 0;
        let is_frame = self.rest.get(padding.into()..).is_some_and(|next| next.starts_with(FRAME_MAGIC));
        (is_zero && is_frame).then_some(padding.into())
    }

    fn skip(&mut self, gap: usize) {
        self.walk.skip(gap as u64);
        self.rest = self.rest.get(gap..).unwrap_or_default();
    }

    /// Reads the frame at the walk's position.
    #[expect(clippy::inline_always, reason = "a part of `step`")]
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
