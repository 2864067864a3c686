//! Reads those parts of a large message out of a file that a call wants.
//!
//! ```text
//! in the file   │ preamble │ metadata │ object 0 ·········· │ object 1 ·········· │ postamble │
//! in memory     │ preamble │ metadata │ head       tail     │ head  ranges   tail │ postamble │
//!                                       what is not read: zeros that the system has not even made yet
//! ```
//!
//! The buffer is as long as the message, so the functions that decode messages in memory decode this one too. They see
//! the same as in the whole message, because they want nothing else. Memory that is not read into takes only addresses.
//!
//! Frames are walked from header to header, as in memory. If the walk meets something unexpected, the whole message is
//! read. The decoder then reports what is wrong with it.

use std::fs::File;
use std::io;
use std::ops::Range;

use tgm_core::cbor::Cursor;
use tgm_core::descriptor::Stage;
use tgm_core::frame::{Walk, check_header, find_landmark};
use tgm_core::message::check_preamble;
use tgm_core::stored::window_of;
use tgm_core::wire::{
    DATA_OBJECT_FOOTER_SIZE, FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameFlags, FrameHeader, FrameType,
    ObjectTail, POSTAMBLE_SIZE, PREAMBLE_SIZE, Preamble,
};
use zerocopy::FromBytes as _;

use super::positioned::read_at;
use crate::decode::object_of_frame;

/// Messages up to this many bytes are read at once: to look for their parts takes about as long.
pub(super) const AT_ONCE: u64 = 256 << 10;
/// The least number of bytes that a read takes.
const GLANCE: usize = 4 << 10;
/// The greatest number of bytes that a read takes beyond those that are wanted.
const WINDOW: usize = 128 << 10;

/// The parts of a message that a call wants. Preamble, postamble, the headers and tails of all frames, and all frames
/// of other types than objects are always read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'a> {
    /// Everything up to the end of the first metadata frame.
    FirstMetadata,
    /// The descriptor of each object.
    Descriptors,
    /// All of one object.
    Object(usize),
    /// The descriptor of each object, and all of one object.
    DescriptorsAndObject(usize),
    /// The values of ranges of one object, each a first element and a count, and its masks.
    Ranges(usize, &'a [(u64, u64)]),
}

/// Reads what is `wanted` of the message that begins at `offset` of `file` into `bytes`. These are zeros, as many as
/// the message has bytes.
///
/// # Errors
/// Those of the file; [`io::ErrorKind::UnexpectedEof`] if it is shorter.
pub(super) fn read(file: &File, offset: u64, bytes: &mut [u8], wanted: Wanted<'_>) -> io::Result<()> {
    let mut reading = PartialRead { file, offset, bytes, have: 0..0 };
    if reading.walk(wanted)?.is_none() {
        // Read again from the start: what lies before the last read need not hang together.
        let all = 0..reading.bytes.len();
        reading.have = 0..0;
        reading.need(all)?;
    }
    Ok(())
}

/// A message of which parts were read.
struct PartialRead<'a> {
    file: &'a File,
    /// Where the message begins in the file.
    offset: u64,
    bytes: &'a mut [u8],
    /// The bytes that the last reads have filled without a gap. The next read that continues there is as long as all of
    /// them, up to a limit.
    have: Range<usize>,
}

impl PartialRead<'_> {
    /// Reads all that is wanted; `None` if the message is not as expected.
    fn walk(&mut self, wanted: Wanted<'_>) -> io::Result<Option<()>> {
        let end = self.bytes.len().saturating_sub(POSTAMBLE_SIZE);
        self.need(end..self.bytes.len())?;
        self.need(0..PREAMBLE_SIZE)?;
        let Ok((preamble, _)) = Preamble::ref_from_prefix(self.bytes) else { return Ok(None) };
        let Ok(length) = check_preamble(preamble, self.bytes.len() as u64) else { return Ok(None) };
        if length.is_some_and(|length| length != self.bytes.len() as u64) {
            return Ok(None);
        }
        let mut walk = Walk::new(PREAMBLE_SIZE as u64, end as u64);
        let mut objects = 0_usize;
        loop {
            let Some((frame_type, frame)) = self.next_frame(&mut walk)? else {
                // The walk is behind the last frame if no room is left; otherwise it is lost.
                return Ok((walk.room() == 0).then_some(()));
            };
            if frame_type == FrameType::NTensorFrame {
                let index = objects;
                objects = objects.saturating_add(1);
                let object = match wanted {
                    Wanted::Object(wanted) | Wanted::DescriptorsAndObject(wanted) if wanted == index => {
                        self.need(frame).map(Some)
                    }
                    Wanted::Ranges(wanted, ranges) if wanted == index => self.ranges(&frame, ranges),
                    Wanted::Descriptors | Wanted::DescriptorsAndObject(_) => self.descriptor(&frame),
                    _ => self.need(frame.end.saturating_sub(DATA_OBJECT_FOOTER_SIZE)..frame.end).map(Some),
                };
                if object?.is_none() {
                    return Ok(None);
                }
            } else {
                self.need(frame)?;
                let is_metadata = matches!(frame_type, FrameType::HeaderMetadata | FrameType::FooterMetadata);
                if is_metadata && matches!(wanted, Wanted::FirstMetadata) {
                    return Ok(Some(()));
                }
            }
        }
    }

    /// The type and place of the next frame, whose header is read. The walk then stands behind the frame and its
    /// padding. `None` if no frame stands there.
    fn next_frame(&mut self, walk: &mut Walk) -> io::Result<Option<(FrameType, Range<usize>)>> {
        let Ok(start) = usize::try_from(walk.position()) else { return Ok(None) };
        // A message that does not say where it ends is searched for a postamble where a frame would begin.
        self.need(start..start.saturating_add(FRAME_HEADER_SIZE + POSTAMBLE_SIZE))?;
        let Some(Ok((header, _))) = self.bytes.get(start..).map(FrameHeader::ref_from_prefix) else { return Ok(None) };
        let Ok((frame_type, length)) = check_header(header, walk.room()) else { return Ok(None) };
        if walk.enter(frame_type, length).is_err() {
            return Ok(None);
        }
        let Ok(end) = usize::try_from(walk.position()) else { return Ok(None) };
        self.padding(walk, end)?;
        Ok(Some((frame_type, start..end)))
    }

    /// Steps over the padding between a frame that ends at `end` and the next frame, or the end of all frames. If
    /// neither is near, the walk stays where it is, and finds no frame there.
    fn padding(&mut self, walk: &mut Walk, end: usize) -> io::Result<()> {
        let near = FRAME_ALIGNMENT + FRAME_MAGIC.len();
        self.need(end..end.saturating_add(near))?;
        let room = usize::try_from(walk.room()).unwrap_or(usize::MAX);
        let gap = self.bytes.get(end..).and_then(|rest| rest.get(..near.min(room))).unwrap_or_default();
        match find_landmark(gap, false) {
            Some((gap, _)) => walk.skip(gap as u64),
            None if room <= near => walk.skip(room as u64),
            None => {}
        }
        Ok(())
    }

    /// Reads an object's tail and descriptor; `None` if the descriptor does not lie in the frame.
    fn descriptor(&mut self, frame: &Range<usize>) -> io::Result<Option<()>> {
        let tail = frame.end.saturating_sub(DATA_OBJECT_FOOTER_SIZE);
        self.need(tail..frame.end)?;
        let Some(start) = self.descriptor_start(frame).filter(|start| (frame.start..=tail).contains(start)) else {
            return Ok(None);
        };
        let mut len = if self.is_descriptor_last(frame) { tail.saturating_sub(start) } else { GLANCE };
        loop {
            let end = start.saturating_add(len).min(tail);
            self.need(start..end)?;
            let mut cbor = Cursor::new(self.bytes.get(start..end).unwrap_or_default(), 0);
            // The end of a descriptor in front is the end of its CBOR, which shows once all of it is read.
            if end == tail || cbor.skip().is_ok() {
                return Ok(Some(()));
            }
            len = len.saturating_mul(4);
        }
    }

    fn descriptor_start(&self, frame: &Range<usize>) -> Option<usize> {
        let (_, tail) = ObjectTail::ref_from_suffix(self.bytes.get(frame.clone())?).ok()?;
        frame.start.checked_add(usize::try_from(tail.cbor_offset.get()).ok()?)
    }

    fn is_descriptor_last(&self, frame: &Range<usize>) -> bool {
        let header = self.bytes.get(frame.clone()).map(FrameHeader::ref_from_prefix);
        matches!(header, Some(Ok((header, _))) if header.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD))
    }

    /// Reads the bytes that hold the values of `ranges`, and all masks. Reads all of the frame if these bytes cannot be
    /// told, or are all of it.
    fn ranges(&mut self, frame: &Range<usize>, ranges: &[(u64, u64)]) -> io::Result<Option<()>> {
        if self.descriptor(frame)?.is_none() {
            return Ok(None);
        }
        let Some(places) = self.places_of(frame, ranges) else { return self.need(frame.clone()).map(Some) };
        for place in places {
            self.need(place)?;
        }
        Ok(Some(()))
    }

    /// Where the values of `ranges` and the masks lie, in order; `None` if decoding needs more of the payload.
    fn places_of(&self, frame: &Range<usize>, ranges: &[(u64, u64)]) -> Option<Vec<Range<usize>>> {
        let object = object_of_frame(self.bytes.get(frame.clone())?).ok()?;
        let descriptor = object.descriptor();
        // A compression or a filter leaves no element in any part of the payload.
        if matches!(descriptor.pending_stage(), Some(Stage::Compression(_) | Stage::Filter(_))) {
            return None;
        }
        let region = frame.start.checked_add(usize::try_from(object.region_offset()).ok()?)?;
        let place = |range: Range<u64>| {
            let at = |offset| region.checked_add(usize::try_from(offset).ok()?);
            Some(at(range.start)?..at(range.end)?)
        };
        let part =
            |&(start, count): &(u64, u64)| place(window_of(descriptor, &(start..start.checked_add(count)?)).ok()?);
        let mut places = ranges.iter().map(part).collect::<Option<Vec<_>>>()?;
        places.sort_unstable_by_key(|part| part.start);
        places.push(place(object.payload().len() as u64..object.region().len() as u64)?);
        Some(places)
    }

    /// Reads `wanted`, as far as the message has it, and some bytes behind it, because the next request is likely to be
    /// near.
    fn need(&mut self, wanted: Range<usize>) -> io::Result<()> {
        let len = self.bytes.len();
        let (start, end) = (wanted.start.min(len), wanted.end.min(len));
        if start >= self.have.start && end <= self.have.end {
            return Ok(());
        }
        // A small gap is read with the rest: that costs less than another read.
        let goes_on = (self.have.start..=self.have.end.saturating_add(GLANCE)).contains(&start);
        let (from, least) = if goes_on {
            (self.have.end, self.have.len().clamp(GLANCE, WINDOW))
        } else {
            self.have.start = start;
            (start, GLANCE)
        };
        let to = from.saturating_add(least).min(len).max(end);
        let out = self.bytes.get_mut(from..to).unwrap_or_default();
        let wanted = out.len();
        let read = read_at(self.file, self.offset.saturating_add(from as u64), out)?;
        if read < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.have.end = to;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
