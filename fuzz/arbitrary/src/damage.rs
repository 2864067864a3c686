//! Messages that are almost valid.

use arbitrary::{Arbitrary, Result, Unstructured};
use tgm_core::wire::{
    FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FrameFlags, FrameHeader, FrameType, POSTAMBLE_SIZE, PREAMBLE_SIZE, Preamble,
};

use tgm_std::hash::digest;

use crate::{Message, any, once_in};

/// A message that was valid, and was damaged.
///
/// Frames are damaged first; then lengths and digests are set right, if [`Self::repair`] says so; then bytes are damaged. So
/// damage is found by different checks: of lengths, of digests, or of what is inside of frames.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NearlyValid {
    /// The damaged message. A few times it is still valid.
    pub bytes: Vec<u8>,
    /// What was set right.
    pub repair: Repair,
    /// What was done, in order.
    pub damage: Vec<Damage>,
}

/// What is set right after frames were damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    Nothing,
    /// Lengths of frames and of the message, and places of descriptors.
    Lengths,
    /// Lengths and digests.
    LengthsAndDigests,
}

/// One thing that was done to a message. Frames are counted from 0 as they are at that time, bytes from the start of the
/// frame's body or of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// A frame was taken out.
    Removed(usize),
    /// A frame was put in again after itself.
    Repeated(usize),
    /// Two frames changed places.
    Exchanged(usize, usize),
    /// A frame got another type.
    Retyped(usize, FrameType),
    /// A frame got other flags.
    Reflagged(usize, FrameFlags),
    /// In the body of a frame, bytes were replaced by others.
    Spliced {
        /// The frame.
        frame: usize,
        /// The first byte of the body that was replaced.
        at: usize,
        /// How many were replaced at most.
        removed: usize,
        /// What stands there now.
        inserted: Vec<u8>,
    },
    /// A byte of the message was changed by exclusive or.
    Flipped(usize, u8),
    /// Eight bytes of the message, or as many as follow, were overwritten by a number.
    Overwritten(usize, u64),
    /// The bytes from this one on were cut off.
    Cut(usize),
    /// Bytes were put after the message.
    Followed(Vec<u8>),
}

impl<'a> Arbitrary<'a> for Repair {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        u.choose(&[Self::LengthsAndDigests, Self::Lengths, Self::Nothing]).copied()
    }
}

impl<'a> Arbitrary<'a> for NearlyValid {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let message: Message = u.arbitrary()?;
        Self::of(&message.bytes, u)
    }
}

impl NearlyValid {
    /// Damages a valid message.
    ///
    /// # Errors
    /// None in practice. `Result` is what [`Unstructured`] returns.
    pub fn of(message: &[u8], u: &mut Unstructured<'_>) -> Result<Self> {
        let (repair, mut damage) = (u.arbitrary()?, Vec::new());
        let mut draft = Draft::of(message);
        for _ in 0..u.int_in_range(0..=3_u8)? {
            damage.push(draft.damage(u)?);
        }
        let mut bytes = draft.assemble(repair);
        // Damage of bytes after a repair of digests is mostly found at once.
        let most = if damage.is_empty() || once_in(3, u)? { 3 } else { 0 };
        for _ in 0..u.int_in_range(0..=most)? {
            damage.push(damage_bytes(&mut bytes, u)?);
        }
        Ok(Self { bytes, repair, damage })
    }
}

/// A message in parts.
struct Draft {
    preamble: Vec<u8>,
    frames: Vec<Vec<u8>>,
    postamble: Vec<u8>,
}

impl Draft {
    fn of(message: &[u8]) -> Self {
        let frames = tgm_core::Message::parse(message).map(|message| message.frames());
        let frames = frames.into_iter().flatten().map_while(|frame| {
            let frame = frame.ok()?;
            let [start, end] = [frame.offset(), frame.end_offset()].map(|at| usize::try_from(at).ok());
            Some(message.get(start?..end?)?.to_vec())
        });
        let end = message.len().saturating_sub(POSTAMBLE_SIZE);
        let (front, postamble) = message.split_at(end);
        Self {
            preamble: front.get(..PREAMBLE_SIZE).unwrap_or(front).to_vec(),
            frames: frames.collect(),
            postamble: postamble.to_vec(),
        }
    }

    /// Damages a frame.
    fn damage(&mut self, u: &mut Unstructured<'_>) -> Result<Damage> {
        let count = self.frames.len();
        let frame = u.choose_index(count.max(1))?;
        let Some(bytes) = self.frames.get_mut(frame) else { return Ok(Damage::Removed(frame)) };
        Ok(match u.int_in_range(0..=7_u8)? {
            5 => {
                self.frames.remove(frame);
                Damage::Removed(frame)
            }
            6 => {
                let again = bytes.clone();
                self.frames.insert(frame, again);
                Damage::Repeated(frame)
            }
            7 => {
                let other = u.choose_index(count)?;
                self.frames.swap(frame, other);
                Damage::Exchanged(frame, other)
            }
            3 => {
                let frame_type: FrameType = any(u)?;
                put(bytes, FrameHeader::FRAME_TYPE_OFFSET, &frame_type.as_u16().to_be_bytes());
                Damage::Retyped(frame, frame_type)
            }
            4 => {
                let flags: FrameFlags = any(u)?;
                put(bytes, FLAGS_OFFSET, &flags.bits().to_be_bytes());
                Damage::Reflagged(frame, flags)
            }
            _ => {
                let body = FRAME_HEADER_SIZE..body_end(bytes);
                let at = u.choose_index(body.len().max(1))?;
                let removed = u.int_in_range(0..=8_usize)?;
                let inserted = inserted(removed, u)?;
                splice(bytes, at, removed, &inserted);
                Damage::Spliced { frame, at, removed, inserted }
            }
        })
    }

    /// Puts the parts together.
    fn assemble(mut self, repair: Repair) -> Vec<u8> {
        let repairs_lengths = repair != Repair::Nothing;
        for frame in &mut self.frames {
            let len = frame.len() as u64;
            if repairs_lengths {
                put(frame, FrameHeader::TOTAL_LENGTH_OFFSET, &len.to_be_bytes());
            }
            if repair == Repair::LengthsAndDigests && frame.get(FLAGS_OFFSET + 1).is_some_and(|flags| flags & 2 != 0) {
                let digest = digest(frame.get(FRAME_HEADER_SIZE..body_end(frame)).unwrap_or_default());
                let at = frame.len().saturating_sub(HASH_FROM_END);
                put(frame, at, &digest.to_be_bytes());
            }
        }
        let mut bytes = self.preamble;
        for frame in self.frames {
            bytes.extend(frame);
            bytes.resize(bytes.len().next_multiple_of(FRAME_ALIGNMENT), 0);
        }
        bytes.extend(&self.postamble);
        let (len, total) = (bytes.len() as u64, Preamble::TOTAL_LENGTH_OFFSET);
        let states_length = bytes.get(total..total + 8).is_some_and(|stated| stated != [0; 8]);
        if repairs_lengths && states_length {
            put(&mut bytes, total, &len.to_be_bytes());
            let at = bytes.len().saturating_sub(LENGTH_FROM_END);
            put(&mut bytes, at, &len.to_be_bytes());
        }
        bytes
    }
}

/// Bytes from a frame's start to its flags.
const FLAGS_OFFSET: usize = std::mem::offset_of!(FrameHeader, flags);
/// Bytes from a frame's end back to its digest.
const HASH_FROM_END: usize = 12;
/// Bytes from a data object's end back to the place of its descriptor.
const CBOR_OFFSET_FROM_END: usize = 20;
/// Bytes from a message's end back to its length.
const LENGTH_FROM_END: usize = 16;

/// Where the body of a frame ends.
fn body_end(frame: &[u8]) -> usize {
    let number = frame.get(FrameHeader::FRAME_TYPE_OFFSET..).and_then(|rest| rest.first_chunk());
    let frame_type = number.and_then(|number| FrameType::from_u16(u16::from_be_bytes(*number)).ok());
    let tail = frame_type.unwrap_or(FrameType::HeaderMetadata).tail_size();
    frame.len().saturating_sub(tail).max(FRAME_HEADER_SIZE.min(frame.len()))
}

/// What is put into a body: as many bytes as are taken out, or any.
fn inserted(removed: usize, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let len = if u.arbitrary()? { removed } else { u.int_in_range(0..=8_usize)? };
    Ok(u.bytes(len.min(u.len()))?.to_vec())
}

/// Replaces bytes of a body. The place of a descriptor after them moves with it.
fn splice(frame: &mut Vec<u8>, at: usize, removed: usize, inserted: &[u8]) {
    let body = FRAME_HEADER_SIZE..body_end(frame);
    let start = (body.start + at).min(body.end);
    let end = (start + removed).min(body.end);
    let is_object = frame.len() - body.end == CBOR_OFFSET_FROM_END;
    frame.splice(start..end, inserted.iter().copied());
    let place = frame.len().saturating_sub(CBOR_OFFSET_FROM_END);
    if is_object && let Some(offset) = frame.get(place..).and_then(|rest| rest.first_chunk()) {
        let offset = u64::from_be_bytes(*offset);
        if offset >= end as u64 {
            let moved = offset - (end - start) as u64 + inserted.len() as u64;
            put(frame, place, &moved.to_be_bytes());
        }
    }
}

/// Damages bytes, wherever they are.
fn damage_bytes(bytes: &mut Vec<u8>, u: &mut Unstructured<'_>) -> Result<Damage> {
    let at = u.choose_index(bytes.len().max(1))?;
    Ok(match u.int_in_range(0..=4_u8)? {
        0 | 1 => {
            let mask = u.int_in_range(1..=u8::MAX)?;
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= mask;
            }
            Damage::Flipped(at, mask)
        }
        2 => {
            let len = bytes.len() as u64;
            let number =
                *u.choose(&[0, 1, 7, len.wrapping_sub(1), len, len + 1, 1 << 32, 1 << 62, u64::MAX - 7, u64::MAX])?;
            put(bytes, at, &number.to_be_bytes());
            Damage::Overwritten(at, number)
        }
        3 => {
            bytes.truncate(at);
            Damage::Cut(at)
        }
        _ => {
            let magic = *u.choose(&[&b"TENSOGRM\0\x03"[..], b"39277777", b"FR", b"ENDF"])?;
            let piece = if u.arbitrary()? { magic.to_vec() } else { bytes.clone() };
            bytes.extend(&piece);
            Damage::Followed(piece)
        }
    })
}

/// Writes `new` over the bytes from `at` on, as far as there are bytes.
fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(at).zip(new) {
        *byte = *new;
    }
}
