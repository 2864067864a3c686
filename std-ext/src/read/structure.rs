//! The structure of a message that is not at hand: its metadata, and where its objects are.
//!
//! ```text
//! │ preamble │ metadata │ index │ object 0 │ preceder │ object 1 │ metadata │ index │ postamble │
//! └──── walked from the start ──┘          └── a gap ─┘          └─ walked, if the flags ─┘
//!                                    in the index: read             say that it counts
//! ```
//!
//! The index is believed if its entries lie side by side from the first frame to the last: then it can neither leave out an
//! object nor lead into one. A message without an index is walked from frame to frame. If anything is odd, nothing of this
//! counts, and all of the message is read, so that a caller gets the same error as with the whole message in memory.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use tgm_core::frame::{Frame, Walk, check_header, find_landmark};
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::index::{Index, IndexEntry};
use tgm_core::message::check_preamble;
use tgm_core::metadata::Metadata;
use tgm_core::wire::{
    FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FrameHeader, FrameType, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble,
    Preamble,
};
use zerocopy::FromBytes as _;

use super::known_bytes::KnownBytes;
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::{span, span_before, span_len};
use crate::model::hash;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::GlobalMetadata;
use crate::scan::MessageLayout;

/// Bytes after a frame in which the next frame begins, or else none is near.
const NEAR: u64 = (FRAME_ALIGNMENT + 2) as u64;

/// Why the structure is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Bytes are missing, and were asked for.
    Wait,
    /// The message is not as readers of its parts expect it. All of it has to be read.
    Odd,
}

/// Bytes of a message, asked for by their place in it.
#[derive(Debug)]
pub(super) struct Parts<'k, 'w> {
    pub(super) known: &'k KnownBytes,
    pub(super) wants: &'w mut MissingRanges,
    pub(super) layout: MessageLayout,
    pub(super) options: &'k ReadOptions,
}

impl<'k> Parts<'k, '_> {
    /// The range in the source.
    pub(super) fn place(&self, range: &Range<u64>) -> Range<u64> {
        let at = |offset: u64| span(self.layout.offset, offset.min(self.layout.length)).end;
        at(range.start)..at(range.end)
    }

    /// The bytes of a range of the message.
    pub(super) fn need(&mut self, range: &Range<u64>) -> Result<Cow<'k, [u8]>, Halt> {
        let place = self.place(range);
        if span_len(&place) < span_len(range) {
            return Err(Halt::Odd);
        }
        self.wants.need(self.known, &place).ok_or(Halt::Wait)
    }

    /// [`Self::need`], which asks for more if it has to ask: up to `ahead` bytes.
    fn need_ahead(&mut self, range: &Range<u64>, ahead: u64) -> Result<Cow<'k, [u8]>, Halt> {
        let more = self.place(&span(range.start, ahead));
        self.need(range).inspect_err(|halt| {
            if *halt == Halt::Wait {
                self.wants.push(more);
            }
        })
    }
}

/// A frame other than an object's.
#[derive(Clone, Debug)]
struct KeptFrame {
    /// Where it begins in the message.
    offset: u64,
    bytes: Vec<u8>,
}

impl KeptFrame {
    fn frame(&self) -> Result<Frame<'_>, Halt> {
        Ok(Frame::parse_at(&self.bytes, self.offset).map_err(|_| Halt::Odd)?.0)
    }
}

/// What a message holds, and where.
#[derive(Clone, Debug)]
pub(crate) struct Structure {
    flags: MessageFlags,
    /// The first metadata frame and the last one, which may be the same.
    metadata: (KeptFrame, Option<KeptFrame>),
    objects: Vec<IndexEntry>,
    /// For each object that has one: the number of the object, and its preceder.
    preceders: Vec<(usize, KeptFrame)>,
    /// Whether a frame that was read is flagged as having a digest.
    is_flagged: bool,
}

impl Structure {
    /// Reads the structure as far as it is known.
    pub(super) fn read(parts: &mut Parts<'_, '_>) -> Result<Self, Halt> {
        Reading::default().read(parts)
    }

    /// The number of objects.
    pub(crate) const fn len(&self) -> usize {
        self.objects.len()
    }

    /// Where the frame of object `index` is in the message.
    pub(crate) fn object(&self, index: usize) -> Option<IndexEntry> {
        self.objects.get(index).copied()
    }

    /// How to know which frames have a digest: Rule H of FORMAT §2, for messages whose writer flagged all frames or none.
    pub(crate) const fn presence(&self) -> HashPresence {
        if !self.is_flagged && self.flags.has(MessageFlags::HASHES_PRESENT) {
            HashPresence::All
        } else {
            HashPresence::Flagged
        }
    }

    /// Bytes of memory that this takes.
    pub(crate) fn byte_len(&self) -> u64 {
        let held = [Some(&self.metadata.0), self.metadata.1.as_ref()].into_iter().flatten();
        let held = held.chain(self.preceders.iter().map(|(_, held)| held));
        held.map(|held| held.bytes.len() as u64).sum::<u64>() + self.objects.len() as u64 * 16
    }

    /// The metadata of the first metadata frame.
    ///
    /// # Errors
    /// The errors of [`decode_metadata`](crate::decode::decode_metadata).
    pub(crate) fn first_metadata(&self) -> Result<Option<GlobalMetadata>> {
        let Ok(frame) = self.metadata.0.frame() else { return Ok(None) };
        to_owned::frame_metadata(&Metadata::of_frame(&frame)?, &MetadataBudget::by_default()).map(Some)
    }

    /// Checks the digests of the frames that [`Self::metadata`] comes from. A frame without a digest passes.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`] without an object.
    pub(crate) fn check_metadata(&self) -> Result<()> {
        let last = self.metadata.1.as_ref().unwrap_or(&self.metadata.0);
        for held in iter::once(last).chain(self.preceders.iter().map(|(_, held)| held)) {
            // The decoder of the whole message reports what is not a frame.
            let Ok(frame) = held.frame() else { continue };
            if let Verdict::Mismatch(mismatch) = hash::check(self.presence(), &frame) {
                return Err(TensogramError::hash_mismatch(None, mismatch));
            }
        }
        Ok(())
    }

    /// The metadata of the message: the last metadata frame, overridden by preceders. `None` if all of the message has to be
    /// read to find what is wrong.
    ///
    /// # Errors
    /// The errors of the limits.
    pub(crate) fn metadata(&self, options: &DecodeOptions, budget: &MetadataBudget) -> Result<Option<GlobalMetadata>> {
        options.limits.check_objects(self.objects.len())?;
        let Ok(frame) = self.metadata.1.as_ref().unwrap_or(&self.metadata.0).frame() else { return Ok(None) };
        let Ok(view) = Metadata::of_frame(&frame) else { return Ok(None) };
        if view.base_len() > self.objects.len() {
            return Ok(None);
        }
        let mut metadata = to_owned::frame_metadata(&view, budget)?;
        metadata.base.resize_with(self.objects.len(), Default::default);
        for (index, held) in &self.preceders {
            let (Ok(frame), Some(base)) = (held.frame(), metadata.base.get_mut(*index)) else { return Ok(None) };
            let Ok(preceder) = Metadata::of_frame(&frame) else { return Ok(None) };
            let Some(entry) = preceder.base_entry(0)? else { return Ok(None) };
            to_owned::override_by(base, &entry, budget)?;
        }
        Ok(Some(metadata))
    }
}

/// A structure that is being read. It is made again after each fetch: what is known is read quickly.
#[derive(Default)]
struct Reading {
    metadata: Vec<KeptFrame>,
    index: Option<Vec<IndexEntry>>,
    walked: Vec<IndexEntry>,
    preceders: Vec<(usize, KeptFrame)>,
    is_flagged: bool,
}

impl Reading {
    fn read(mut self, parts: &mut Parts<'_, '_>) -> Result<Structure, Halt> {
        let length = parts.layout.length;
        let end = length.checked_sub(POSTAMBLE_SIZE as u64).ok_or(Halt::Odd)?;
        let head = parts.need_ahead(&(0..PREAMBLE_SIZE as u64), parts.options.header)?;
        let preamble = Preamble::ref_from_bytes(&head).map_err(|_| Halt::Odd)?;
        let stated = check_preamble(preamble, length).map_err(|_| Halt::Odd)?;
        if stated.is_some_and(|stated| stated != length) {
            return Err(Halt::Odd);
        }
        let flags = preamble.flags();
        let mut walk = Walk::new(PREAMBLE_SIZE as u64, end);
        let has_footer_index = flags.has(MessageFlags::FOOTER_INDEX);
        let mut footer = None;
        while walk.room() > 0 {
            let (frame_type, frame) = next_frame(&walk, parts, parts.options.header)?;
            let is_structure = !matches!(frame_type, FrameType::NTensorFrame | FrameType::PrecederMetadata);
            // At the first object: an index in the footer saves the walk over all objects.
            if !is_structure && self.index.is_none() && has_footer_index {
                footer = Some(self.read_footer(parts, end)?);
            }
            if !is_structure && self.index.is_some() {
                break;
            }
            walk.enter(frame_type, span_len(&frame)).map_err(|_| Halt::Odd)?;
            match frame_type {
                FrameType::NTensorFrame => {
                    self.walked.push(IndexEntry { offset: frame.start, length: span_len(&frame) });
                }
                _ => self.hold(parts, frame_type, &frame, self.walked.len())?,
            }
            skip_padding(&mut walk, parts, end)?;
        }
        let objects = match self.index.take() {
            Some(index) => {
                self.check_tiles(parts, &index, walk.position(), footer.unwrap_or(end), flags)?;
                index
            }
            None => self.walked,
        };
        // The footer's metadata counts where there is both.
        let mut metadata = self.metadata.into_iter();
        let first = metadata.next().ok_or(Halt::Odd)?;
        Ok(Structure {
            flags,
            metadata: (first, metadata.next_back()),
            objects,
            preceders: self.preceders,
            is_flagged: self.is_flagged,
        })
    }

    /// Reads a frame that does not hold an object.
    fn hold(
        &mut self,
        parts: &mut Parts<'_, '_>,
        frame_type: FrameType,
        place: &Range<u64>,
        objects: usize,
    ) -> Result<(), Halt> {
        if span_len(place) > parts.options.max_structure {
            return Err(Halt::Odd);
        }
        let held = KeptFrame { offset: place.start, bytes: parts.need(place)?.into_owned() };
        let frame = held.frame()?;
        self.is_flagged |= frame.has_hash_flag();
        match frame_type {
            FrameType::HeaderIndex | FrameType::FooterIndex => {
                self.index = Some(Index::parse(&frame).map_err(|_| Halt::Odd)?.iter().collect());
            }
            FrameType::HeaderMetadata | FrameType::FooterMetadata => self.metadata.push(held),
            FrameType::PrecederMetadata => self.preceders.push((objects, held)),
            _ => {}
        }
        Ok(())
    }

    /// Reads the frames after the objects, which the postamble leads to. Returns where they begin.
    fn read_footer(&mut self, parts: &mut Parts<'_, '_>, end: u64) -> Result<u64, Halt> {
        let ahead = parts.place(&span_before(end, parts.options.header));
        let tail = parts.need(&span(end, POSTAMBLE_SIZE as u64));
        let tail = tail.inspect_err(|_| parts.wants.push(ahead))?;
        let start = Postamble::ref_from_bytes(&tail).map_err(|_| Halt::Odd)?.first_footer_offset.get();
        if start < PREAMBLE_SIZE as u64 || start > end || end - start > parts.options.max_structure {
            return Err(Halt::Odd);
        }
        parts.need(&(start..end))?;
        let mut walk = Walk::new(start, end);
        while walk.room() > 0 {
            let (frame_type, frame) = next_frame(&walk, parts, 0)?;
            if matches!(frame_type, FrameType::NTensorFrame | FrameType::PrecederMetadata) {
                return Err(Halt::Odd);
            }
            self.hold(parts, frame_type, &frame, 0)?;
            // Only the order within the footer is checked here: the walk began in the middle.
            walk = Walk::new(frame.end, end);
            skip_padding(&mut walk, parts, end)?;
        }
        Ok(start)
    }

    /// Checks that the objects of the index lie side by side between `from` and `to`, and reads the preceders between them.
    fn check_tiles(
        &mut self,
        parts: &mut Parts<'_, '_>,
        index: &[IndexEntry],
        from: u64,
        to: u64,
        flags: MessageFlags,
    ) -> Result<(), Halt> {
        let mut at = from;
        let mut gaps = Vec::new();
        for (number, entry) in index.iter().enumerate() {
            let gap = entry.offset.checked_sub(at).ok_or(Halt::Odd)?;
            if gap >= FRAME_ALIGNMENT as u64 {
                gaps.push((number, at..entry.offset));
            }
            at = entry.offset.checked_add(entry.length).filter(|end| *end <= to).ok_or(Halt::Odd)?;
            if entry.length < FrameType::NTensorFrame.min_size() as u64 {
                return Err(Halt::Odd);
            }
        }
        if span_len(&(at..to)) >= FRAME_ALIGNMENT as u64 {
            // Frames after the objects: read if they can count, which the flags say.
            if flags.has(MessageFlags::FOOTER_METADATA) {
                // The number stands for "after all objects": see `read_gap`.
                gaps.push((usize::MAX, at..to));
            } else if !flags.has(MessageFlags::FOOTER_INDEX) && !flags.has(MessageFlags::FOOTER_HASHES) {
                return Err(Halt::Odd);
            }
        }
        let total: u64 = gaps.iter().map(|(_, gap)| span_len(gap)).sum();
        if total > parts.options.max_structure {
            return Err(Halt::Odd);
        }
        // All of them are asked for before the first is looked at.
        let mut halt = Ok(());
        for (_, gap) in &gaps {
            halt = parts.need(gap).map(|_| ()).and(halt);
        }
        halt?;
        gaps.into_iter().try_for_each(|(number, gap)| self.read_gap(parts, number, &gap))
    }

    /// Reads the preceder in front of object `number`, or the frames after all objects.
    fn read_gap(&mut self, parts: &mut Parts<'_, '_>, number: usize, gap: &Range<u64>) -> Result<(), Halt> {
        let mut walk = Walk::new(gap.start, gap.end);
        skip_padding(&mut walk, parts, gap.end)?;
        while walk.room() > 0 {
            let (frame_type, frame) = next_frame(&walk, parts, 0)?;
            let is_preceder = frame_type == FrameType::PrecederMetadata;
            let is_first = self.preceders.last().is_none_or(|(last, _)| *last != number);
            if is_preceder != (number != usize::MAX)
                || is_preceder && !is_first
                || frame_type == FrameType::NTensorFrame
            {
                return Err(Halt::Odd);
            }
            self.hold(parts, frame_type, &frame, number)?;
            walk = Walk::new(frame.end, gap.end);
            skip_padding(&mut walk, parts, gap.end)?;
        }
        Ok(())
    }
}

/// The type and place of the frame at the walk's position.
fn next_frame(walk: &Walk, parts: &mut Parts<'_, '_>, ahead: u64) -> Result<(FrameType, Range<u64>), Halt> {
    let start = walk.position();
    let header = parts.need_ahead(&span(start, FRAME_HEADER_SIZE as u64), ahead)?;
    let header = FrameHeader::ref_from_bytes(&header).map_err(|_| Halt::Odd)?;
    let (frame_type, length) = check_header(header, walk.room()).map_err(|_| Halt::Odd)?;
    Ok((frame_type, span(start, length)))
}

/// Steps over the padding after a frame, to the next frame or to `end`.
fn skip_padding(walk: &mut Walk, parts: &mut Parts<'_, '_>, end: u64) -> Result<(), Halt> {
    let near = walk.room().min(NEAR);
    if near == 0 {
        return Ok(());
    }
    let gap = span(walk.position(), near);
    let bytes = parts.need_ahead(&gap, FRAME_HEADER_SIZE as u64 + NEAR)?;
    match find_landmark(&bytes, false) {
        Some((padding, _)) => walk.skip(padding as u64),
        None if gap.end == end && near < NEAR => walk.skip(near),
        None => return Err(Halt::Odd),
    }
    Ok(())
}
