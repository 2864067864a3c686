//! The frames of a message, as the levels of a validation hand them on.

use tgm_core::frame::Frame;
use tgm_core::wire::{FRAME_HEADER_SIZE, FrameType, MessageFlags};

use crate::base::span::{span_len, tail};

/// The frames of a message that could be read.
pub(super) struct Structure<'a> {
    /// The message's bytes.
    pub(super) bytes: &'a [u8],
    pub(super) flags: MessageFlags,
    /// All frames except data objects, in order.
    pub(super) frames: Vec<Frame<'a>>,
    /// The data objects, in order.
    pub(super) objects: Vec<ObjectFrame<'a>>,
    /// The number of hash lists that level 2 has read or reported as unreadable.
    pub(super) hash_lists_read: usize,
}

/// A data object's frame.
pub(super) struct ObjectFrame<'a> {
    /// The object's number, which also counts objects that were left out.
    pub(super) index: usize,
    pub(super) frame: Frame<'a>,
    /// Whether a finding explains why the object cannot be decoded.
    pub(super) is_reported: bool,
    /// Whether it has a right digest.
    pub(super) has_good_digest: bool,
}

impl<'a> Structure<'a> {
    /// The frames of these types.
    pub(super) fn of_types<const N: usize>(&self, types: [FrameType; N]) -> impl Iterator<Item = &Frame<'a>> {
        self.frames.iter().filter(move |frame| types.contains(&frame.frame_type()))
    }
}

/// What encloses the frames.
pub(super) struct Envelope<'a> {
    /// The message.
    pub(super) bytes: &'a [u8],
    /// Where frames end: the postamble.
    pub(super) end: usize,
    /// Whether the message does not state its length.
    pub(super) is_open_ended: bool,
    pub(super) flags: MessageFlags,
    pub(super) reserved: u32,
}

/// The bit of a frame's type in what a walk has seen.
pub(super) const fn type_bit(frame_type: FrameType) -> u16 {
    1 << frame_type.as_u16()
}

/// The object's body from the descriptor on.
pub(super) fn cbor_of<'a>(frame: &Frame<'a>) -> &'a [u8] {
    // The frame has checked that cbor_offset lies between its header and its tail.
    tail(frame.body(), span_len(&(FRAME_HEADER_SIZE as u64..frame.cbor_offset())))
}
